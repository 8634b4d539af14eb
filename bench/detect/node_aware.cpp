// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// One look at a job by `node_aware`, against the rule as a scheduler would write it from its description
/// (support/plain_node_aware.hpp). Both must name the same suspects. Otherwise like straggler_scan.cpp.

#include "support/plain_node_aware.hpp"
#include "support/watched_jobs.hpp"

#include <straggle/detect/node_aware.hpp>
#include <straggle/detect/straggler_scan.hpp>

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace {

namespace plain = straggle_bench::plain;
using straggle_bench::watched_job;

// The sums over siblings are added up in different orders: two tasks that differ by rounding may change
// places.
bool the_same(std::span<straggle::detect::finding const> ours, plain::stragglers const& theirs) {
    if (ours.empty() || ours.size() != theirs.size()) return false;
    std::size_t moved = 0;
    for (std::size_t i = 0; i < theirs.size(); ++i) {
        if (std::fabs(ours[i].value / theirs[i].value - 1) > 1e-9) return false;
        moved += ours[i].task != theirs[i].task ? 1u : 0u;
    }
    return moved <= theirs.size() / 1000;
}

void BM_straggle(benchmark::State& state) {
    auto& jobs = straggle_bench::jobs_of(state);
    straggle::detect::straggler_scan scan{straggle::detect::node_aware<>{}};
    static straggle_bench::agreements agreements;
    auto const same = [&] {
        for (watched_job& j : jobs) {
            plain::histories const past = plain::history_of(j.job);
            {
                scan(j.watched.view());
                if (!the_same(scan.findings(), plain::node_aware_rule(j.job, past)())) return false;
            }
        }
        return true;
    };
    if (!agreements.reached(state, same)) return state.SkipWithError("not the same suspects");
    for (watched_job& j : jobs) scan(j.watched.view()); // makes room
    std::size_t next = 0;
    for (auto _ : state) benchmark::DoNotOptimize(scan(jobs[next++ % jobs.size()].watched.view()).size());
    state.counters["suspects"] = static_cast<double>(scan.findings().size());
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

void BM_plain(benchmark::State& state) {
    auto const& jobs = straggle_bench::jobs_of(state);
    std::vector<plain::histories> past;
    for (watched_job const& j : jobs) past.push_back(plain::history_of(j.job));
    std::size_t next = 0;
    for (auto _ : state) {
        std::size_t const k = next++ % jobs.size();
        benchmark::DoNotOptimize(plain::node_aware_rule(jobs[k].job, past[k])().data());
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(BM_straggle)->Apply(straggle_bench::sizes_and_shares)->Name("BM_node_aware/straggle");
BENCHMARK(BM_plain)->Apply(straggle_bench::sizes_and_shares)->Name("BM_node_aware/plain");

} // namespace
