// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A cluster that many jobs share, with and without weak machines, under one scheduler.
#pragma once

#include "../cluster/engine.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace together {

struct scenario {
    char const* name;
    std::uint32_t cpu_faults;    ///< the first machines
    std::uint32_t memory_faults; ///< those after them
    bool come_and_go = false;    ///< faults last half an hour and more, and are back as much later
};
inline constexpr std::array<scenario, 3> scenarios{
    {{"weak machines", 3, 3}, {"faults come and go", 5, 5, true}, {"no weak machines", 0, 0}}};

/// What is known of a run, by number.
enum measure : std::size_t {
    mean,   ///< response time of the jobs that arrived after `learned`, seconds
    p99,    ///< the same: the 99th percentile
    wasted, ///< slot-seconds of attempts that were killed and started after that
    used,   ///< slot-seconds of all that did
    joules, ///< of the whole run
    copies,
    won,         ///< share of them that finished first
    found,       ///< share of the weak machines that are avoided or on probation, mean over the windows
    healthy_out, ///< healthy machines that are
    measures
};
inline constexpr double learned = 1800; ///< seconds that a scheduler has to learn

/// Everything that happens, but for the scheduler.
cluster::plan make_plan(scenario const& where, std::uint64_t seed);

/// Runs it under a scheduler (see `schedulers`): a number for each `measure`, NaN where there is none.
std::vector<double> observe(scenario const& where, std::string const& scheduler, std::uint64_t seed);

} // namespace together
