// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Hadoop MRv2's DefaultSpeculator with LegacyTaskRuntimeEstimator: each job's master looks once a second, or
/// 15 seconds after it has made a copy, and copies the one task that gains most: whose estimated end is
/// furthest behind that of a copy, which takes the mean of the finished tasks. Not before 5 % of the tasks
/// have finished, not while tasks of the job wait, at most max(10, 1 % of its tasks, 10 % of its running
/// ones) at a time.
#include "finished_times.hpp"
#include "free_slots.hpp"
#include "make_policy.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace lab {

namespace {

struct hadoop_options {
    double retry_after_none = 1;  ///< soonest-retry-after-no-speculate, seconds
    double retry_after_copy = 15; ///< soonest-retry-after-speculate, seconds
    double least_copies = 10;     ///< minimum-allowed-tasks
    double of_tasks = 0.01;       ///< speculative-cap-total-tasks
    double of_running = 0.1;      ///< speculative-cap-running-tasks
    double least_finished = 0.05; ///< MINIMUM_COMPLETE_PROPORTION_TO_SPECULATE
};

class hadoop final : public policy {
  public:
    hadoop(hadoop_options const& how, setup const& where) : how_(how), random_(where.seed, 103) {}

    void on_task_end(attempt_record const& a, double) override { finished_.add(a); }
    void on_job_end(std::uint32_t job, double) override {
        finished_.forget(job);
        not_before_.erase(job);
    }
    void decide(cluster_view const& view, decisions& out) override {
        free_.look(view, [](std::uint32_t) { return true; });
        for (job_view const& job : view.jobs) {
            double& next = not_before_[job.job];
            if (view.now < next) continue;
            next = view.now + how_.retry_after_none;
            auto const running = view.running.subspan(job.first, job.count);
            running_attempt const* const task = best(view.now, job, running);
            if (!task) continue;
            auto const node = free_.take(running, task->task, random_);
            if (!node) continue;
            out.copies.push_back({task->job, task->task, *node});
            next = view.now + how_.retry_after_copy;
        }
    }

  private:
    running_attempt const* best(double now, job_view const& job,
                                std::span<running_attempt const> running) const {
        auto const& times = finished_[job.job];
        auto const n = static_cast<double>(times.sorted.size());
        if (job.waiting > 0 || n < 1 || n < how_.least_finished * job.tasks - 1e-9) return nullptr;
        double copied = 0, tasks = 0, most = 0;
        running_attempt const* found = nullptr;
        for (running_attempt const& a : running) {
            tasks += 1.0 / a.attempts;
            if (a.attempts > 1) {
                copied += 1.0 / a.attempts;
                continue;
            }
            if (!a.progress || !(a.reported > a.start)) continue; // no status yet
            double const end = a.start + (a.reported - a.start) / std::max(*a.progress, 1e-4);
            double const gain = end - (now + times.mean());
            if (end >= now && gain > most) {
                most = gain;
                found = &a;
            }
        }
        double const cap = // an integer in Hadoop
            std::floor(std::max({how_.least_copies, how_.of_tasks * job.tasks, how_.of_running * tasks}));
        return copied < cap ? found : nullptr;
    }

    hadoop_options how_;
    finished_times finished_;
    std::map<std::uint32_t, double> not_before_; // by job
    free_slots free_;
    draw random_;
};

add_policy const added({"hadoop", "Hadoop MRv2: the task that gains most, one per job and 15 s", true,
                        [](setup const& s) -> std::unique_ptr<policy> {
                            return std::make_unique<hadoop>(hadoop_options{}, s);
                        }});

} // namespace

} // namespace lab
