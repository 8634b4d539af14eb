// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// From a history to ranked nodes: where the run-time choices of the command line meet the library's types.
#pragma once

#include "history.hpp"
#include "options.hpp"

#include <straggle/rank/ranking.hpp>

#include <vector>

namespace straggle_rank {

using ranking = straggle::node_ranking<std::uint32_t, std::uint32_t>;

/// Ranks the nodes.
[[nodiscard]] ranking rank(history const& h, options const& o);

/// What one attempt shows about its node.
struct score {
    std::uint32_t node = 0, job = 0;
    double value = 0;
};

/// The scores of all attempts that have one.
[[nodiscard]] std::vector<score> scores(history const& h, options const& o);

/// The spread of a node's scores, for a box plot.
struct box {
    std::uint64_t n = 0;
    double low_whisker = 0, q1 = 0, median = 0, q3 = 0, high_whisker = 0; ///< Tukey: within 1.5 (q3 - q1)
    std::vector<double> outliers; ///< beyond the whiskers; the most extreme ones if there are many
};

/// A box for every node of the history that has scores.
[[nodiscard]] std::vector<box> boxes(history const& h, options const& o);

} // namespace straggle_rank
