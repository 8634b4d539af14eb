// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A cluster with weak machines under one scheduler, and the measurements: what the DSB experiments have in
/// common. In the first hour the scheduler learns; the time after that is measured.
#pragma once

#include "../cluster/engine.hpp"
#include "../policies/schedulers.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dsb {

/// A cluster as in the paper's table 1.
struct cluster_case {
    std::uint32_t nodes = 30;
    std::uint32_t cpu_faults = 5;    ///< the first machines
    std::uint32_t memory_faults = 5; ///< those after them
    bool come_and_go = false;        ///< faults last some hours, and are back some hours later
    double hours = 2;
    double spread = 0;              ///< how much machines differ by themselves: deviation of the logarithm
    bool shuffle_from_disk = false; ///< reduces fetch from the disk of a machine, avoided or not
    bool milder = false;            ///< faults at which jobs take the paper's time: memory 4x, disk 6x
    auto operator<=>(cluster_case const&) const = default;
};

inline constexpr double hour = 3600;

/// The measurements of a run, by index.
enum measure : std::size_t {
    word_count,      ///< mean response time of the jobs that arrived after the first hour, seconds
    sort,            ///< the same
    success,         ///< share of the copies started after the first hour that finished first
    copies,          ///< the number of these copies
    wasted,          ///< share of the slots' time spent on attempts that were killed
    avoided,         ///< machines avoided or on probation, mean over the windows
    healthy_avoided, ///< of those: without a fault in the window they were avoided in
    weak_found,      ///< share of the machines with a memory fault that are avoided, mean over the windows
    /// Times that a machine was avoided again after it had been back in full service, though nothing had
    /// changed: it has the same fault as before, or none.
    relapses,
    in_use, ///< share of the slots' time after the first hour in which an attempt ran
    measures
};

/// Everything that happens, except for the scheduler.
cluster::plan make_plan(cluster_case const& c, std::uint64_t seed);

/// Runs it: a number for each `measure`, NaN where there is none.
std::vector<double> observe(cluster_case const& c, std::string const& scheduler,
                            policies::scheduler_options how);

} // namespace dsb
