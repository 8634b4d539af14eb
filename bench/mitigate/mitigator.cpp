// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The cost of one decision of a mitigator that remembers as much as its limits allow, on a cluster of 500 or
/// 10 000 nodes of four slots at a load of 70 %; a usual task takes 30 rounds of the scheduler.
///
/// The rival is one plain pass over the same running tasks with Spark's rule: when three quarters of a job
/// have ended, it finds what runs longer than 1.5 times their median. It knows no nodes, and decides nothing
/// else.
#include "support/lcg.hpp"

#include <straggle/mitigate/mitigator.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <deque>
#include <utility>
#include <vector>

namespace {

struct ended {
    std::uint32_t job, task, node;
    double start, end;
};
struct running {
    std::uint32_t job, task, node;
    double start, progress, work;
};
struct host {
    std::uint32_t id, slots, busy;
};

auto make_mitigator() {
    return straggle::mitigator(
        straggle::attempt_fields{.job = &ended::job,
                                 .task = &ended::task,
                                 .node = &ended::node,
                                 .start = &ended::start,
                                 .end = &ended::end},
        straggle::running_fields{.job = &running::job,
                                 .task = &running::task,
                                 .node = &running::node,
                                 .start = &running::start,
                                 .progress = &running::progress},
        straggle::node_fields{.node = &host::id, .slots = &host::slots, .busy = &host::busy});
}

// Jobs of 20 to 200 tasks on nodes of which one in fifty is 1.5 times as slow.
class cluster {
  public:
    explicit cluster(std::uint32_t nodes) {
        for (std::uint32_t n = 0; n < nodes; ++n) hosts_.push_back({n, 4, 0});
    }
    decltype(make_mitigator()) mitigator = make_mitigator();

    // One round of the scheduler, except for the decision.
    void step(double passed) {
        now_ += passed;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < running_.size(); ++i) {
            running& r = running_[i];
            r.progress = std::min((now_ - r.start) / r.work, 1.0);
            if (now_ < r.start + r.work) {
                running_[kept++] = r;
                continue;
            }
            (void)mitigator.observe(ended{r.job, r.task, r.node, r.start, r.start + r.work}, now_);
            --hosts_[r.node].busy;
            job_times& j = jobs_[r.job - first_job_];
            j.times.insert(std::upper_bound(j.times.begin(), j.times.end(), r.work), r.work);
            if (j.times.size() == j.tasks) mitigator.finish(r.job);
        }
        running_.resize(kept);
        while (!jobs_.empty() && jobs_.front().times.size() == jobs_.front().tasks) {
            jobs_.pop_front();
            ++first_job_;
        }
        auto const wanted = static_cast<std::size_t>(2.8 * static_cast<double>(hosts_.size()));
        while (running_.size() < wanted) launch();
    }
    void decide() { benchmark::DoNotOptimize(mitigator.decide(now_, running_, hosts_).copies().size()); }
    // Spark's checkSpeculatableTasks, over what it keeps itself: sorted times of the tasks that ended.
    std::size_t spark() {
        std::size_t suspects = 0;
        for (running const& r : running_) {
            job_times const& j = jobs_[r.job - first_job_];
            if (4 * j.times.size() < 3 * j.tasks || j.times.empty()) continue;
            if (now_ - r.start > 1.5 * j.times[j.times.size() / 2]) ++suspects;
        }
        return suspects;
    }
    [[nodiscard]] std::size_t tasks() const { return running_.size(); }

  private:
    struct job_times {
        std::size_t tasks = 0;
        std::vector<double> times{};
    };
    double uniform() { return random_.uniform(); }
    void launch() {
        if (left_ == 0) {
            left_ = static_cast<std::uint32_t>(20 * std::pow(10, uniform()));
            jobs_.push_back({left_, {}});
        }
        std::uint32_t node;
        do node = static_cast<std::uint32_t>(uniform() * static_cast<double>(hosts_.size()));
        while (hosts_[node].busy == 4);
        ++hosts_[node].busy;
        auto const job = static_cast<std::uint32_t>(first_job_ + jobs_.size() - 1);
        double const spread = uniform() + uniform() + uniform() + uniform() - 2; // deviation 0.58
        running_.push_back(
            {job, ++task_, node, now_, 0, 60 * std::exp(0.5 * spread) * (node % 50 == 7 ? 1.5 : 1)});
        --left_;
    }

    straggle_bench::lcg random_{.state = 7};
    std::vector<host> hosts_;
    std::vector<running> running_;
    std::deque<job_times> jobs_;
    std::uint32_t first_job_ = 1, task_ = 0, left_ = 0;
    double now_ = 0;
};

// Runs until it remembers as much as its limits allow.
cluster& full(std::uint32_t nodes) {
    static cluster small_one(500), large_one(10000);
    static bool made[2] = {};
    bool const is_large = nodes > 500;
    cluster& c = is_large ? large_one : small_one;
    if (!std::exchange(made[is_large ? 1 : 0], true))
        for (int i = 0; i < (is_large ? 150 : 400); ++i) {
            c.step(is_large ? 2 : 15);
            c.decide();
        }
    return c;
}

template <class Work>
void rounds(benchmark::State& state, Work work) {
    cluster& c = full(static_cast<std::uint32_t>(state.range(0)));
    std::vector<double> times;
    for (auto _ : state) {
        c.step(2);
        std::clock_t const begin = std::clock(); // processor time: others may be busy
        work(c);
        times.push_back(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
        state.SetIterationTime(times.back());
    }
    std::sort(times.begin(), times.end());
    state.counters["tasks"] = static_cast<double>(c.tasks());
    state.counters["median_us"] = 1e6 * times[times.size() / 2];
    state.counters["worst_us"] = 1e6 * times.back();
}
void decision(benchmark::State& state) {
    rounds(state, [](cluster& c) { c.decide(); });
}
void spark_pass(benchmark::State& state) {
    cluster& c = full(static_cast<std::uint32_t>(state.range(0)));
    for (auto _ : state) benchmark::DoNotOptimize(c.spark());
    state.counters["tasks"] = static_cast<double>(c.tasks());
}
BENCHMARK(decision)->Arg(500)->Arg(10000)->Iterations(120)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(spark_pass)->Arg(500)->Arg(10000)->Unit(benchmark::kMicrosecond);

} // namespace
