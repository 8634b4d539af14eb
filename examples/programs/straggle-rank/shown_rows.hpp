// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Rows of a history that support what is said about a node, so that it can be checked by eye.
#pragma once

#include "decide.hpp"

#include <string>
#include <vector>

namespace straggle_rank {

/// Up to three attempts of a node that was named, each against its siblings elsewhere, of the kind that it
/// was named for:
/// - slow: "job3, end_ms 1767225660000: 119 s; elsewhere 58 s (median of 30)", those in the middle of all
///   that it ran, neither its best nor its worst;
/// - failing: "api, end_ms 1550: failed; elsewhere 1 of 30 failed", the last;
/// - killed: "api, end_ms 1550: killed after 10 s; elsewhere 0.10 s (median of 45)", the last;
/// - hung: "job3, start_ms 1767225660000: has run for 600 s; elsewhere 58 s (median of 30)", the longest.
/// @par Cost one pass over the attempts, and sorting those of the node's jobs
[[nodiscard]] std::vector<std::string> rows_behind(history const& h, verdict const& v);

} // namespace straggle_rank
