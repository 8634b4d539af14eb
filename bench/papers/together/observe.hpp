// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A cluster that many jobs share, with and without weak machines, driven by a policy of the laboratory.
#pragma once

#include "../cluster/plan.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace together {

struct scenario {
    char const* name;
    std::uint32_t cpu_faults = 0;    ///< the first machines
    std::uint32_t memory_faults = 0; ///< those after them
    bool come_and_go = false;        ///< faults last half an hour and more, and are back as much later
    double gap = 75;                 ///< mean seconds between two jobs
    double spread = 0;               ///< how much machines differ by themselves: deviation of the logarithm
};
inline constexpr std::array<scenario, 6> scenarios{
    {{.name = "weak machines", .cpu_faults = 3, .memory_faults = 3},
     {.name = "weak machines come and go", .cpu_faults = 5, .memory_faults = 5, .come_and_go = true},
     {.name = "busy with weak machines", .cpu_faults = 3, .memory_faults = 3, .gap = 34},
     {.name = "no weak machines"},
     {.name = "busy with none weak", .gap = 30},
     {.name = "machines differ by 20 %", .spread = 0.2}}};

/// The measurements of a run, by index.
enum measure : std::size_t {
    mean,        ///< response time of the jobs that arrived after `learned`, seconds
    p99,         ///< the same: the 99th percentile
    wasted,      ///< slot-seconds of attempts that were killed
    used,        ///< slot-seconds of all
    joules,      ///< of the whole run
    copies,      ///< on machines in service
    won,         ///< share of them that finished first
    trials,      ///< copies on machines out of service, to see whether they have recovered
    healthy_out, ///< machine-hours of healthy machines out of service
    weak_out,    ///< machine-hours of weak machines out of service
    weak,        ///< machine-hours of weak machines
    load,        ///< arriving computation relative to what the cores can do, faults deducted
    measures
};
inline constexpr double learned = 1800; ///< seconds that a scheduler has to learn

/// Everything that happens, except for the policy.
cluster::plan make_plan(scenario const& where, std::uint64_t seed);

/// Runs it under a policy of the laboratory: a number for each `measure`, NaN where there is none.
std::vector<double> observe(scenario const& where, std::string_view policy, std::uint64_t seed);

} // namespace together
