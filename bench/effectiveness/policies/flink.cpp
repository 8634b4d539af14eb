// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Flink's speculative execution (ExecutionTimeBasedSlowTaskDetector, SpeculativeScheduler): once 75 % of a
/// stage's tasks have finished, what has run for 1.5 times their median per byte, and for a minute, is slow:
/// it gets one copy, and its node gets nothing new for a minute. How many nodes may be blocked is not
/// limited; with a limit, a fifth of them.
#include "finished_times.hpp"
#include "free_slots.hpp"
#include "make_policy.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace lab {

namespace {

struct flink_options {
    double multiplier = 1.5; ///< baseline-multiplier
    double ratio = 0.75;     ///< baseline-ratio
    double lower_bound = 60; ///< baseline-lower-bound, seconds
    double block = 60;       ///< block-slow-node-duration, seconds
    double most_blocked = 1; ///< share of the nodes; not in Flink
};

class flink final : public policy {
  public:
    flink(flink_options const& how, setup const& where)
        : how_(how), random_(where.seed, 104), blocked_until_(where.nodes, 0.0) {}

    void on_task_end(attempt_record const& a, double) override {
        if (a.how == ending::finished) of_input_[a.job].push_back(a.took() / (a.input > 0 ? a.input : 1));
    }
    void on_job_end(std::uint32_t job, double) override { of_input_.erase(job); }

    void decide(cluster_view const& view, decisions& out) override {
        slow_.clear();
        for (job_view const& job : view.jobs) find_slow(view, job);
        for (running_attempt const* a : slow_) block(a->node, view.now);
        for (std::uint32_t n = 0; n < blocked_until_.size(); ++n)
            out.nodes[n] = blocked_until_[n] > view.now ? service::none : service::normal;
        free_.look(view, [&](std::uint32_t n) { return out.nodes[n] == service::normal; });
        for (running_attempt const* a : slow_) {
            if (free_.none()) return;
            if (a->attempts > 1) continue; // max-concurrent-executions
            auto const job = std::find_if(view.jobs.begin(), view.jobs.end(),
                                          [&](job_view const& j) { return j.job == a->job; });
            auto const running = view.running.subspan(job->first, job->count);
            if (auto const node = free_.take(running, a->task, random_))
                out.copies.push_back({a->job, a->task, *node});
        }
    }

  private:
    void find_slow(cluster_view const& view, job_view const& job) {
        auto const at = of_input_.find(job.job);
        if (at == of_input_.end()) return;
        std::vector<double>& times = at->second;
        auto const needed = static_cast<std::size_t>(std::lround(how_.ratio * job.tasks));
        if (static_cast<double>(times.size()) < how_.ratio * job.tasks || needed == 0) return;
        sorted_ = times;
        std::sort(sorted_.begin(), sorted_.end());
        double const threshold = how_.multiplier * sorted_[needed / 2]; // of the first to finish
        for (running_attempt const& a : view.running.subspan(job.first, job.count)) {
            double const ran = view.now - a.start;
            if (ran >= how_.lower_bound && ran / (a.input > 0 ? a.input : 1) >= threshold)
                slow_.push_back(&a);
        }
    }

    void block(std::uint32_t node, double now) {
        double blocked = 1;
        for (double const until : blocked_until_) blocked += until > now ? 1 : 0;
        bool const is_new = !(blocked_until_[node] > now);
        if (is_new && blocked > how_.most_blocked * static_cast<double>(blocked_until_.size())) return;
        blocked_until_[node] = now + how_.block;
    }

    flink_options how_;
    draw random_;
    std::vector<double> blocked_until_;                     // by node
    std::map<std::uint32_t, std::vector<double>> of_input_; // by job: times per byte
    std::vector<double> sorted_;
    std::vector<running_attempt const*> slow_;
    free_slots free_;
};

add_policy const as_it_is({"flink", "Flink: after 75 %, 1.5 times the median; blocks slow nodes for a minute",
                           true, [](setup const& s) -> std::unique_ptr<policy> {
                               return std::make_unique<flink>(flink_options{}, s);
                           }});
add_policy const limited({"flink_limited", "the same, but a fifth of the nodes are blocked at most", true,
                          [](setup const& s) -> std::unique_ptr<policy> {
                              return std::make_unique<flink>(flink_options{.most_blocked = 0.2}, s);
                          }});

} // namespace

} // namespace lab
