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

/// Seeds that may be looked at while a default is chosen, and seeds for published results. They never
/// overlap.
inline constexpr std::uint64_t first_tuning_seed = 1, first_reporting_seed = 1000001;

struct options {
    std::filesystem::path table;        ///< of the scenarios
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
    bool edges = false;          ///< scenarios at the edge of that range instead
    std::size_t workers = 0;     ///< 0: one for each core
    bool held_out = false;       ///< the held-out scenarios, and no others
    bool list = false;
    double deadlines = 0;        ///< in units of a job's usual time; 0: none
    std::uint32_t due_every = 1; ///< every n-th job has one
};

/// Parses the command line; prints an error or help and exits if necessary.
options parse(int argc, char** argv);

/// Whether a name matches a pattern, in which * stands for any text.
bool fits(std::string const& name, std::string const& pattern);

} // namespace lab
