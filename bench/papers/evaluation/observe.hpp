// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The cluster and the job of the evaluation framework, and one run of them under one detector.
#pragma once

#include "../cluster/engine.hpp"
#include "detecting.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace evaluation {

/// Percentages of the machines with one, two, three and four cores at work.
struct scenario {
    char const* name;
    std::array<std::uint32_t, 4> percent;
};
inline constexpr std::array<scenario, 4> scenarios{
    {{"C1", {35, 35, 5, 25}}, {"C2", {25, 25, 25, 25}}, {"C3", {10, 10, 5, 75}}, {"C4", {5, 5, 0, 90}}}};
inline constexpr scenario homogeneous{"homogeneous", {0, 0, 0, 100}};

/// @param input which data: the work of each task; @param seed all randomness of a run
cluster::plan make_plan(scenario const& where, std::uint64_t input, std::uint64_t seed);

/// The times of the maps of a run without copies, by task.
std::vector<double> map_times(scenario const& where, std::uint64_t input, std::uint64_t seed);
/// How slow each machine is, from such a run: the median of its maps' times over what they usually take.
std::vector<double> slowdown_of(scenario const& where, std::uint64_t input, std::uint64_t seed,
                                std::vector<double> const& usual);

/// Figure 1: a machine of four cores that runs this many tasks at once: mean time of a task, watts, and watts
/// by `evaluate::power_model`.
std::vector<double> one_machine(std::uint32_t tasks, std::uint64_t seed);

/// The measurements of a run, by index.
enum measure : std::size_t {
    precision,        ///< fake positives are mistakes, as the paper says
    precision_of_all, ///< they are not
    recall,
    latency,
    fake,
    undetected,
    ratio, ///< of stragglers
    seconds,
    joules,
    joules_of_model, ///< by evaluate/power from the schedule
    copies,
    won,
    measures
};

/// How a run is made.
struct run_options {
    /// Those of `papers::evaluation_2019`: Default, LATE (equation 10 corrected), "LATE as printed, ms" and
    /// "LATE as printed, s" (by the unit of time), Hierarchical, "Default, job's lag"; "node_aware cold",
    /// "node_aware warm", or "node_aware all": warm, and names those that no copy could overtake, too.
    std::string detector;
    double lag = 20;      ///< the first three name a task only after this many seconds
    double for_tasks = 1; ///< share of the slots for normal tasks; above 1: shared
    std::uint64_t input = 1;
    std::uint64_t seed = 1;
};
/// Runs the job: a number for each `measure`, NaN where there is none.
/// @param known what a warm detector knows; all are judged by its usual times
std::vector<double> observe(scenario const& where, run_options const& how, history const& known);

} // namespace evaluation
