// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The parts of the lost time of a history that are due to nodes, to input, to bad luck.
#pragma once

#include "history.hpp"

#include <straggle/detect/late_cause.hpp>
#include <straggle/record/slowdown.hpp>

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <cstdint>
#include <iosfwd>
#include <span>

namespace straggle_rank {

/// A share of the lost time, with its 95 % interval.
struct lost_share {
    double value = 0, low = 0, high = 0;
};

/// The time that late tasks lost relative to usual ones: those that took at least 1.5 times as long as usual
/// in their job.
struct lost_time {
    std::uint64_t tasks = 0; ///< compared with siblings
    std::uint64_t late = 0;  ///< of those
    std::uint64_t jobs = 0;  ///< with late tasks
    double share = 0;        ///< lost time, of the time of all tasks compared
    std::array<lost_share, straggle::detect::late_by_count> by{}; ///< shares of the lost time, by cause
};

/// @param of_nodes how slow each node is, by number
/// @par Cost
/// O(attempts log attempts), and 15 KiB of copying for each job
[[nodiscard]] lost_time lost_by_cause(history const& h, std::span<straggle::slowdown const> of_nodes);

/// A bar for each cause.
/// @param columns of the bars
/// @param filled the text that bars consist of
void print_causes(std::ostream& out, lost_time const& lost, std::size_t columns, char const* filled);
[[nodiscard]] nlohmann::ordered_json causes_json(lost_time const& lost);

} // namespace straggle_rank
