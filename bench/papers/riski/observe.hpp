// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The cluster and the jobs of the RiskI paper, and one run of them under one scheduler.
#pragma once

#include "../cluster/engine.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace riski {

/// What arrives where.
struct riski_case {
    std::string kind = "BBP";  ///< or Sort
    std::string sizes = "mix"; ///< fifty jobs as in figure 11; small, medium, large: twenty of that size
    double interval = 60;      ///< seconds between two jobs
    double neighbors = 1;      ///< how heterogeneous: 1, 2 and 8 for the paper's testbeds 1, 2, 3; 0: none
    bool table_1 = false;      ///< machines are as fast as the paper's table 1 says, all the time
    bool table_3 = false;      ///< slots for maps and for reduces, as table 3 has them: 8 on nodes 3 and 4
};

/// Figure 11 in five parts: medium jobs, small ones, small and large by turns, large ones, medium ones.
inline constexpr std::array<std::size_t, 6> parts{0, 13, 23, 40, 45, 50};

/// The measurements of a run, by index.
enum measure : std::size_t {
    mean,   ///< response time of the jobs, seconds
    median, ///< the same
    p99,    ///< the same: nearly that of the slowest of fifty jobs
    copies,
    won,    ///< copies that finished first
    killed, ///< originals killed as their copy was launched
    wasted, ///< share of the slots' time spent on attempts that were killed
    copies_in_part,
    won_in_part = copies_in_part + parts.size() - 1,
    measures = won_in_part + parts.size() - 1
};

/// Runs it: a number for each `measure`. Some jobs come before those that are measured, so that schedulers
/// have something to learn from.
/// @param scheduler "no copies", "LATE"; "RiskI", all of `papers::riski_2014`, and "RiskI as printed", its
/// misprints included; "expected gain", "straggle", "straggle priced"; or RiskI changed step by step: "with
/// similar_tasks" (the library's predictor), "racing" (nothing is killed before the copy is done), "and by
/// progress" (what a straggler still takes), "and node_aware" (who is one)
std::vector<double> observe(riski_case const& c, std::string const& scheduler, std::uint64_t seed);

/// Times of 128 equal maps on the four machines of table 1, first of all, then machine by machine: mean,
/// deviation, longest over shortest. Then those of one map, run 20 times on a machine of four cores while 1
/// to 8 maps run there at once: mean, longest over shortest.
std::vector<double> observe_equal_tasks(std::uint64_t seed);

/// How many earlier executions of such maps on the machine a prediction could use: at least this many, and
/// fewer than the next.
inline constexpr std::array<std::uint32_t, 6> executions{1, 2, 4, 8, 16, 32};
/// What predictions of maps were like, for each of `executions`: width of the range over its mean, share of
/// the maps whose time was in the range, error of the median over the time.
std::vector<double> observe_predictions(riski_case const& c, std::uint64_t seed);

} // namespace riski
