// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How a monitor watches: its windows, its rules, and what it may hold.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/rank/rank_options.hpp>

#include <cstddef>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI {

/// What the attempts of a window are scored against.
enum class score_baseline : std::uint8_t {
    whole_job, ///< all that is known of their job by then
    window,    ///< their siblings in the same window, as in DSB algorithm 1
};

/// How a `monitor` watches.
/// @tparam Span lengths of time
/// @tparam Ranking a `rank_options`
template <class Span, class Ranking = rank_options<>>
struct monitor_options {
    /// Length of the window; zero: everything counts for ever (but see `finish` and `clear`).
    Span window{};
    /// By how much the window moves; zero: by its own length. @pre `window` is a whole number of slides,
    /// at most 254
    Span slide{};
    /// How nodes are ranked; `counted` makes no difference here.
    Ranking ranking{};
    /// Against what scores are reckoned.
    score_baseline baseline = score_baseline::whole_job;
    /// With windows, a job is forgotten when nothing was seen of it for so many times its longest
    /// attempt. Durations and times have to be in the same unit where neither knows its own.
    /// @pre not below 0
    double remember = 3;
    /// Most pairs of a job and a node, of all steps of time together: what bounds the memory.
    std::size_t max_pairs = std::size_t{1} << 24;
    /// Most jobs. Where one more is seen, that of which nothing is in the window and nothing was seen
    /// for longest is forgotten; if there is none, the new one is dropped.
    std::size_t max_jobs = std::size_t{1} << 20;
    /// Most nodes with evidence that is held.
    std::size_t max_nodes = std::size_t{1} << 20;
    /// Most scores of nodes by finished jobs, of all steps of time together.
    std::size_t max_finished = std::size_t{1} << 22;
};

} // namespace straggle
