// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Dolly (Ananthanarayanan et al., NSDI 2013): each task of a small job is started c times at once, so that
/// no more than 5 % of the jobs of its size still have a straggler; a job is cloned as a whole or not at all,
/// while clones take no more than 5 % of the slots and 80 % of the slots are not exceeded. The share of
/// stragglers is measured: tasks that take more than twice their job's median.
#include "finished_times.hpp"
#include "free_slots.hpp"
#include "make_policy.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace lab {

namespace {

struct dolly_options {
    double stragglers_left = 0.05; ///< epsilon
    double budget = 0.05;          ///< beta: of the slots
    double utilization = 0.8;      ///< tau: of the slots
};

class dolly final : public policy {
  public:
    dolly(dolly_options const& how, setup const& where)
        : how_(how), slots_(where.slots), random_(where.seed, 105) {}

    void on_task_end(attempt_record const& a, double) override { finished_.add(a); }
    void on_job_end(std::uint32_t job, double) override {
        auto const& times = finished_[job].sorted;
        for (double const t : times) stragglers_ += t > 2 * times[times.size() / 2] ? 1 : 0;
        tasks_ += static_cast<double>(times.size());
        finished_.forget(job);
        clones_.erase(job);
    }

    void decide(cluster_view const& view, decisions& out) override {
        admit(view);
        free_.look(view, [](std::uint32_t) { return true; });
        for (job_view const& job : view.jobs) {
            auto const at = clones_.find(job.job);
            if (free_.none() || at->second.of_each == 0) continue;
            auto const running = view.running.subspan(job.first, job.count);
            for (running_attempt const& a : running) {
                if (!at->second.cloned.insert(a.task).second) continue;
                for (std::uint32_t i = 0; i < at->second.of_each; ++i)
                    if (auto const node = free_.take(running, a.task, random_))
                        out.copies.push_back({a.job, a.task, *node});
            }
        }
    }

  private:
    struct cloning {
        std::uint32_t of_each = 0; // beside the original
        std::set<std::uint32_t> cloned{};
    };

    // Handles jobs that are seen for the first time.
    void admit(cluster_view const& view) {
        double busy = view.waiting, clones = 0;
        for (node_view const& n : view.nodes) {
            busy += n.busy;
            clones += n.copies;
        }
        for (job_view const& job : view.jobs) // includes clones still to be started
            if (auto const at = clones_.find(job.job); at != clones_.end())
                clones += at->second.of_each * static_cast<double>(job.tasks - at->second.cloned.size());
        for (job_view const& job : view.jobs) {
            auto const [at, is_new] = clones_.try_emplace(job.job);
            if (!is_new) continue;
            double const share = (stragglers_ + 5) / (tasks_ + 100); // 5 % before anything is known
            double const left = 1 - std::pow(1 - how_.stragglers_left, 1.0 / job.tasks);
            double const c = std::ceil(std::log(left) / std::log(share));
            double const more = std::max(0.0, c - 1) * job.tasks;
            if (clones + more > how_.budget * slots_ || busy + more > how_.utilization * slots_) continue;
            at->second.of_each = static_cast<std::uint32_t>(std::max(0.0, c - 1));
            clones += more;
            busy += more;
        }
    }

    dolly_options how_;
    double slots_;
    draw random_;
    double stragglers_ = 0, tasks_ = 0; // of all finished jobs
    finished_times finished_;
    std::map<std::uint32_t, cloning> clones_; // by job
    free_slots free_;
};

add_policy const added({"dolly", "Dolly: clones of all tasks of small jobs, 5 % of the slots", true,
                        [](setup const& s) -> std::unique_ptr<policy> {
                            return std::make_unique<dolly>(dolly_options{}, s);
                        }});

} // namespace

} // namespace lab
