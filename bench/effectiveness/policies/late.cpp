// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// LATE (Zaharia et al., OSDI 2008): when nothing of a job waits, of its tasks whose rate of progress is
/// below the 25th percentile, the one that will end last gets a copy, on a node that is not slow itself; at
/// most 10 % of the slots run copies. A task is not judged before it has run for a minute; of several
/// attempts the one that is furthest counts. Percentiles are interpolated.
#include "free_slots.hpp"
#include "make_policy.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace lab {

namespace {

struct late_options {
    double slow_task = 0.25;      ///< SlowTaskThreshold: a quantile
    double slow_node = 0.25;      ///< SlowNodeThreshold: a quantile
    double speculative_cap = 0.1; ///< SpeculativeCap: of the slots
    double lag = 60;              ///< seconds
};

class late final : public policy {
  public:
    late(late_options const& how, setup const& where)
        : how_(how), random_(where.seed, 102), done_(where.nodes, 0.0) {}

    void on_task_end(attempt_record const& a, double) override {
        if (a.how == ending::finished) done_[a.node] += 1;
    }
    void decide(cluster_view const& view, decisions& out) override {
        double copies = 0, slots = 0;
        for (node_view const& n : view.nodes) {
            copies += n.copies;
            slots += n.away ? 0 : n.slots;
        }
        double const most = how_.speculative_cap * slots + 1e-9;
        if (copies + 1 > most) return;
        slow_nodes(view);
        free_.look(view, [this](std::uint32_t n) { return !(progress_[n] < slow_below_); });
        for (job_view const& job : view.jobs) {
            if (job.waiting > 0) continue;
            for (running_attempt const* a : suspects(view, job)) {
                if (copies + 1 > most || free_.none()) return;
                auto const node = free_.take(view.running.subspan(job.first, job.count), a->task, random_);
                if (!node) continue;
                out.copies.push_back({a->job, a->task, *node});
                copies += 1;
            }
        }
    }

  private:
    static double rate(running_attempt const& a, double now) {
        double const ran = now - a.start;
        return ran > 0 ? a.progress.value_or(0) / ran : 0;
    }
    static double quantile(std::vector<double>& values, double q) {
        std::sort(values.begin(), values.end());
        double const place = q * static_cast<double>(values.size() - 1);
        auto const below = static_cast<std::size_t>(place);
        if (below + 1 == values.size()) return values[below];
        return std::lerp(values[below], values[below + 1], place - std::floor(place));
    }

    // Finds slow nodes by the total progress of their tasks, finished and running.
    void slow_nodes(cluster_view const& view) {
        progress_ = done_;
        for (running_attempt const& a : view.running) progress_[a.node] += a.progress.value_or(0);
        values_ = progress_;
        slow_below_ = quantile(values_, how_.slow_node);
    }

    std::vector<running_attempt const*> const& suspects(cluster_view const& view, job_view const& job) {
        suspects_.clear();
        values_.clear();
        auto const running = view.running.subspan(job.first, job.count);
        running_attempt const* furthest = nullptr;
        for (running_attempt const& a : running) {
            bool const is_next = furthest == nullptr || furthest->task != a.task;
            if (is_next || a.progress.value_or(0) > furthest->progress.value_or(0)) furthest = &a;
            bool const is_last = &a == &running.back() || (&a)[1].task != a.task;
            if (is_last && view.now > furthest->start) values_.push_back(rate(*furthest, view.now));
        }
        if (values_.size() < 2) return suspects_;
        double const slow = quantile(values_, how_.slow_task);
        for (running_attempt const& a : running)
            if (a.attempts == 1 && view.now - a.start >= how_.lag && rate(a, view.now) < slow)
                suspects_.push_back(&a);
        auto const left = [&](running_attempt const* a) {
            return (1 - a->progress.value_or(0)) / std::max(rate(*a, view.now), 1e-9);
        };
        std::sort(suspects_.begin(), suspects_.end(), [&](auto const* a, auto const* b) {
            double const x = left(a), y = left(b);
            return x > y || (!(y > x) && a->task < b->task);
        });
        return suspects_;
    }

    late_options how_;
    draw random_;
    free_slots free_;
    std::vector<double> done_, progress_; // by node: tasks
    double slow_below_ = 0;
    std::vector<double> values_;
    std::vector<running_attempt const*> suspects_;
};

add_policy const added({"late", "LATE: lowest rates of progress, latest end first, 10 % of the slots", true,
                        [](setup const& s) -> std::unique_ptr<policy> {
                            return std::make_unique<late>(late_options{}, s);
                        }});

} // namespace

} // namespace lab
