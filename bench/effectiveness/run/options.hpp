// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The command line of the laboratory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lab {

/// Seeds that anybody may look at while a default is chosen, and seeds for what is published. They never
/// meet.
inline constexpr std::uint64_t first_tuning_seed = 1, first_reporting_seed = 1000001;

struct options {
    std::filesystem::path table;        ///< of scenarios
    std::filesystem::path histories;    ///< a folder with real task times
    std::filesystem::path out;          ///< raw results; empty: none are kept
    std::filesystem::path causes;       ///< of late attempts; empty: they are not kept
    std::vector<std::string> scenarios; ///< patterns with *; empty: all
    std::vector<std::string> policies;  ///< names; empty: all
    std::uint64_t first_seed = first_tuning_seed;
    std::size_t seeds = 4;       ///< of each scenario
    std::size_t most_seeds = 0;  ///< while a comparison is undecided; 0: no more than `seeds`
    std::size_t drawn = 0;       ///< scenarios drawn instead of those of the table
    std::uint64_t draw_seed = 1; ///< of them
    bool edges = false;          ///< those at the edge of what is drawn instead
    std::size_t workers = 0;     ///< 0: one for each core
    bool held_out = false;       ///< those that are not to be looked at, and no others
    bool list = false;
    double deadlines = 0;        ///< so many times what a job usually takes; 0: there are none
    std::uint32_t due_every = 1; ///< each so many-th job has one
};

/// Prints what is wrong, or help, and leaves the program, if it has to.
options parse(int argc, char** argv);

/// Whether a name fits a pattern in which * stands for anything.
bool fits(std::string const& name, std::string const& pattern);

} // namespace lab
