// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How durations become scores, scores become intervals, and intervals become levels.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/rank/normalizer.hpp>
#include <straggle/rank/p_cores.hpp>
#include <straggle/rank/performance.hpp>

#include <cstdint>

namespace straggle::inline STRAGGLE_ABI {

/// Which successful attempts of one task count.
enum class completions : std::uint8_t {
    first_of_task, ///< the one that ended first (first in the range if no end is known)
    every_success, ///< all of them, as in DSB, which does not consider tasks with two successes
};

/// How nodes are ranked. Each part can be replaced by any type that models its concept.
/// @par Example
/// `rank_nodes(attempts, fields, rank_options{.normalizer = robust_z{}})`
template <class Normalizer = rank::z_score, class Estimator = rank::mean_interval<>,
          class Ranker = rank::p_cores>
struct rank_options {
    // Constraints would produce dozens of lines instead.
    static_assert(
        rank::normalizer<Normalizer>,
        "rank_options::normalizer is no rank::normalizer: it needs `status normalize(std::span<double> "
        "durations, std::span<double> scratch) const`, or `fit` for the moments of a job");
    static_assert(rank::interval_estimator<Estimator>,
                  "rank_options::estimator is no rank::interval_estimator: it needs "
                  "`outcome<rank::node_performance> estimate(rank::node_sample const&) const`");
    static_assert(rank::ranker<Ranker>,
                  "rank_options::ranker is no rank::ranker: it needs `outcome<std::size_t> "
                  "levels(std::span<double const> low, std::span<double const> high, "
                  "std::span<std::uint32_t> level)`");

    Normalizer normalizer{};                          ///< durations to scores
    Estimator estimator{};                            ///< scores to an interval
    Ranker ranker{};                                  ///< intervals to levels
    completions counted = completions::first_of_task; ///< has an effect only with the `task` field
    /// Whether to compute slowdowns, too. They take more time than the scores, and 12 bytes for each node of
    /// each job, 44 if it has several of the job's tasks.
    bool slowdowns = true;
};

} // namespace straggle

namespace straggle::inline STRAGGLE_ABI::detail {

template <class T>
inline constexpr bool is_rank_options = false;
template <class Normalizer, class Estimator, class Ranker>
inline constexpr bool is_rank_options<rank_options<Normalizer, Estimator, Ranker>> = true;

} // namespace straggle::detail
