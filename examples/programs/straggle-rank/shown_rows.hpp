// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Rows of a history that show what is said of a node, so that it can be checked by eye.
#pragma once

#include "history.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace straggle_rank {

/// Up to three attempts of a node against their siblings elsewhere: "job3, end_ms 1767225660000: 119 s;
/// elsewhere 58 s (median of 30)". Those in the middle of all that it ran, neither its best nor its worst.
/// @par Cost one pass over the attempts, and sorting those of the node's jobs
[[nodiscard]] std::vector<std::string> rows_of_slow(history const& h, std::uint32_t node);

/// The last three attempts that failed on a node: "api, end_ms 1550: failed; elsewhere 1 of 30 failed".
[[nodiscard]] std::vector<std::string> rows_of_failing(history const& h, std::uint32_t node);

} // namespace straggle_rank
