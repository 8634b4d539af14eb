// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Options of a monitor: its windows, its rules, and its limits.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/rank/rank_options.hpp>

#include <cstddef>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI {

/// What the attempts of a window are scored against.
enum class score_baseline : std::uint8_t {
    whole_job, ///< everything known about their job by then
    window,    ///< their siblings in the same window, as in DSB algorithm 1
};

/// Options of a `monitor`.
/// @tparam Span lengths of time
/// @tparam Ranking a `rank_options`
template <class Span, class Ranking = rank_options<>>
struct monitor_options {
    /// Length of the window; zero: attempts never expire (but see `finish` and `clear`).
    Span window{};
    /// How far the window moves at a time; zero: by its own length. @pre `window` is a whole number of
    /// slides, at most 254
    Span slide{};
    /// How nodes are ranked; `counted` is ignored.
    Ranking ranking{};
    /// What scores are measured against.
    score_baseline baseline = score_baseline::whole_job;
    /// With windows, a job is forgotten when it has not been seen for this many times its longest attempt.
    /// Durations and times must use the same unit if neither has a known unit.
    /// @pre not negative
    double remember = 3;
    /// Limit on pairs of a job and a node, over all time steps: this bounds the memory.
    std::size_t max_pairs = std::size_t{1} << 24;
    /// Limit on jobs. For a job beyond it, the job without attempts in the window that was not seen for
    /// longest is forgotten; if there is none, the new job is dropped.
    std::size_t max_jobs = std::size_t{1} << 20;
    /// Limit on nodes with stored evidence.
    std::size_t max_nodes = std::size_t{1} << 20;
    /// Limit on node scores from finished jobs, over all time steps.
    std::size_t max_finished = std::size_t{1} << 22;
};

} // namespace straggle
