// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A cluster and its work as one row of the frozen table (scenarios.csv), and what a seed makes of it.
#pragma once

#include "../cluster/plan.hpp"
#include "histories.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lab {

/// One row. The words are those of the table; what they mean stands with `make_plan`.
struct scenario {
    std::string name;
    std::uint32_t nodes = 0;
    std::uint32_t slots = 0; ///< of each node
    std::uint32_t generations = 1;
    std::string durations;
    std::string fault;
    double load = 0; ///< work offered over what all nodes could do at their design speed
    std::uint32_t min_tasks = 0, max_tasks = 0; ///< of a job
    double task_seconds = 0;                    ///< of a usual task on a usual slot
    progress_mode progress = progress_mode::exact;
    bool copies_first = false;
    bool classes_told = false;
    double failures = 0; ///< share of attempts
    double away = 0;     ///< share of the time that a node is not there
    bool needs_histories() const { return durations == "history"; }
};

/// Reads a table. @throws std::runtime_error with file and line if it is not one
std::vector<scenario> read_scenarios(std::filesystem::path const& file);

/// What happens in a scenario, but for the policy: the same for a seed everywhere.
plan make_plan(scenario const& what, std::uint64_t seed, histories const& seen);

/// The load on what the nodes can really do while jobs arrive: faults and absences deducted.
double healthy_load(scenario const& what, plan const& made);

} // namespace lab
