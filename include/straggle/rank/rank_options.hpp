// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How durations become scores, scores intervals, and intervals levels.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/rank/normalizer.hpp>
#include <straggle/rank/p_cores.hpp>
#include <straggle/stats/interval.hpp>

#include <cstdint>

namespace straggle::inline STRAGGLE_ABI {

/// Which successful attempts of one task count.
enum class completions : std::uint8_t {
    first_of_task, ///< the one that ended first (first in the range where no end is known)
    every_success, ///< all of them, as in DSB, which knows no tasks with two successes
};

/// How nodes are ranked. Each part can be replaced by any type that models its concept.
/// @par Example
/// `rank_nodes(attempts, fields, rank_options{.normalizer = robust_z{}})`
template <class Normalizer = rank::z_score, class Interval = stats::t_interval>
struct rank_options {
    // Constraints would say the same in dozens of lines.
    static_assert(
        rank::normalizer<Normalizer>,
        "rank_options::normalizer is no rank::normalizer: it needs `status normalize(std::span<double> "
        "durations, std::span<double> scratch) const`, or `fit` for the moments of a job");
    static_assert(stats::interval_rule<Interval>,
                  "rank_options::interval_of_mean is no stats::interval_rule: it needs `outcome<interval> "
                  "operator()(n, mean, deviation) const noexcept` and `deviation() const noexcept`");

    Normalizer normalizer{};                          ///< durations to scores
    Interval interval_of_mean{};                      ///< scores to an interval
    rank::edge_rule edges = rank::edge_rule::closed;  ///< intervals to levels
    completions counted = completions::first_of_task; ///< needs the `task` field to make a difference
    /// Whether to tell slowdowns, too. They need what each job has on each node together: for floating
    /// durations another pass, and 16 bytes per record.
    bool slowdowns = true;
};

} // namespace straggle

namespace straggle::inline STRAGGLE_ABI::detail {

template <class T>
inline constexpr bool is_rank_options = false;
template <class Normalizer, class Interval>
inline constexpr bool is_rank_options<rank_options<Normalizer, Interval>> = true;

} // namespace straggle::detail
