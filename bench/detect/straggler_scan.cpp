// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// One look at a job by each rule, 1e3 to 1e6 running tasks, few (5 %) or many (50 %) of them suspects:
/// `straggler_scan` over the view of a `job_progress` against the rule as a scheduler would write it over its
/// own tasks (support/plain_rules.hpp). Both must name the same suspects in the same order.
///
/// job_progress.cpp measures the cost of reading a snapshot. Nothing changes between looks here, so the
/// library has the finished tasks sorted already. The rivals sum up and select anew.

#include "support/plain_rules.hpp"
#include "support/watched_jobs.hpp"

#include <straggle/detect/average_time.hpp>
#include <straggle/detect/flink.hpp>
#include <straggle/detect/hierarchical.hpp>
#include <straggle/detect/largest_gain.hpp>
#include <straggle/detect/late.hpp>
#include <straggle/detect/late_with_caps.hpp>
#include <straggle/detect/mantri.hpp>
#include <straggle/detect/over_median.hpp>
#include <straggle/detect/progress_gap.hpp>
#include <straggle/detect/straggler_scan.hpp>

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstddef>
#include <string>

namespace {

namespace plain = straggle_bench::plain;
using straggle_bench::scheduler_job;

template <class Suspects>
bool the_same(Suspects const& ours, plain::stragglers const& theirs) {
    if (ours.empty() || ours.size() != theirs.size()) return false;
    for (std::size_t i = 0; i < theirs.size(); ++i)
        if (ours[i].task != theirs[i].task || std::fabs(ours[i].value / theirs[i].value - 1) > 1e-12)
            return false;
    return true;
}

template <class Rule, class Plain>
void compare(char const* name, Rule rule, Plain plain_rule) {
    std::string const kernel = std::string("BM_") + name;
    benchmark::RegisterBenchmark((kernel + "/straggle").c_str(), [=](benchmark::State& state) {
        auto& jobs = straggle_bench::jobs_of(state);
        straggle::detect::straggler_scan scan{rule};
        static straggle_bench::agreements agreements;
        auto const same = [&] {
            for (auto& j : jobs) {
                scan(j.watched.view());
                if (!the_same(scan.findings(), plain_rule(j.job))) return false;
            }
            return true;
        };
        if (!agreements.reached(state, same)) return state.SkipWithError("not the same suspects");
        for (auto& j : jobs) scan(j.watched.view()); // makes room
        std::size_t next = 0;
        for (auto _ : state) benchmark::DoNotOptimize(scan(jobs[next++ % jobs.size()].watched.view()).size());
        state.counters["suspects"] = static_cast<double>(scan.findings().size());
        state.SetItemsProcessed(state.iterations() * state.range(0));
    })->Apply(straggle_bench::sizes_and_shares);
    benchmark::RegisterBenchmark((kernel + "/plain").c_str(), [=](benchmark::State& state) {
        auto const& jobs = straggle_bench::jobs_of(state);
        std::size_t next = 0;
        for (auto _ : state) benchmark::DoNotOptimize(plain_rule(jobs[next++ % jobs.size()].job).data());
        state.SetItemsProcessed(state.iterations() * state.range(0));
    })->Apply(straggle_bench::sizes_and_shares);
}

[[maybe_unused]] bool const registered = [] {
    using job = scheduler_job const&;
    using namespace straggle;
    compare("progress_gap", detect::progress_gap{.gap = 0.1, .over = detect::task_scope::running},
            [](job j) { return plain::progress_gap(j, 0.1); });
    compare("late", detect::late{.alpha = 0.5}, [](job j) { return plain::late(j, 0.5); });
    compare("hierarchical_late", detect::hierarchical{detect::late{.alpha = 0.5}},
            [](job j) { return plain::hierarchical_late(j, 0.5, 0.9); });
    compare("average_time", detect::average_time{}, [](job j) { return plain::average_time(j, 1.0); });
    compare("over_median", detect::over_median{.quantile = 0.5},
            [](job j) { return plain::over_median(j, 1.5, 0.5); });
    compare("flink", detect::flink{.multiplier = 1.3, .ratio = 0.5, .lower_bound = 30},
            [](job j) { return plain::flink(j, 1.3, 0.5, 30); });
    compare("largest_gain", detect::largest_gain<>{}, [](job j) { return plain::largest_gain(j); });
    compare("mantri", detect::mantri<>{}, [](job j) { return plain::mantri(j, 0.25, 3); });
    compare("late_with_caps", detect::late_with_caps{},
            [](job j) { return plain::late_with_caps(j, 0.25, 0.1, 60); });
    return true;
}();

} // namespace
