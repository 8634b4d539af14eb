// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The jobs that the benchmarks of detectors look at: by their scheduler and by the library.
#pragma once

#include "scheduler_job.hpp"

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace straggle_bench {

struct watched_job {
    scheduler_job job;
    progress_of_job watched;
};

/// The arguments: running tasks of a job, and which percentage of them is slow.
inline void sizes_and_shares(benchmark::internal::Benchmark* b) {
    b->ArgNames({"tasks", "slow"})->Unit(benchmark::kMicrosecond);
    for (std::int64_t const slow : {5, 50})
        for (std::int64_t const tasks : {1'000, 10'000, 100'000, 1'000'000}) b->Args({tasks, slow});
}

/// Jobs to be looked at in turn, sixteen if they are small: the branch predictor would learn a single small
/// one by heart. Made once, because benchmarks are started repeatedly.
inline std::vector<watched_job>& jobs_of(benchmark::State const& state) {
    static std::map<std::pair<std::int64_t, std::int64_t>, std::vector<watched_job>> made;
    std::vector<watched_job>& jobs = made[{state.range(0), state.range(1)}];
    if (!jobs.empty()) return jobs;
    std::size_t const count = state.range(0) < 100'000 ? 16 : 1;
    for (std::size_t k = 0; k < count; ++k) {
        scheduler_job job = make_job(static_cast<std::size_t>(state.range(0)),
                                     static_cast<std::uint32_t>(state.range(1)), 42 + k);
        progress_of_job watched = watch(job);
        jobs.push_back({std::move(job), std::move(watched)});
    }
    return jobs;
}

/// Benchmarks that have shown once that both name the same suspects: the check may take long.
class agreements {
  public:
    template <class Check>
    bool reached(benchmark::State const& state, Check check) {
        std::pair const key(state.range(0), state.range(1));
        if (reached_.contains(key)) return true;
        if (!check()) return false;
        reached_.insert(key);
        return true;
    }

  private:
    std::set<std::pair<std::int64_t, std::int64_t>> reached_;
};

} // namespace straggle_bench
