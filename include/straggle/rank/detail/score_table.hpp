// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/rank_nodes.hpp`: sums the scores of each node.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/rank/normalizer.hpp>
#include <straggle/rank/performance.hpp>
#include <straggle/stats/moments.hpp>
#include <straggle/stats/tick_moments.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Indexed by node number.
template <class Scores>
class score_table {
  public:
    void reset(std::size_t nodes) { rows_.assign(nodes, {}); }
    STRAGGLE_ALWAYS_INLINE void add(std::size_t node, double score) noexcept { rows_[node].add(score); }
    void add_group(std::size_t node, stats::tick_moments const& durations,
                   rank::affine_scale<std::int64_t> const& scale) {
        rows_[node].add_group(durations, scale);
    }
    [[nodiscard]] Scores const& operator[](std::size_t node) const noexcept { return rows_[node]; }

  private:
    std::vector<Scores> rows_;
};

// A score changes 32 bytes of its node, so two nodes share a cache line and a thousand fit the nearest cache:
// other data is stored apart.
template <std::same_as<rounded_score_moments> Scores>
class score_table<Scores> {
  public:
    void reset(std::size_t nodes) {
        sums_.assign(nodes, {});
        squares_.assign(nodes, 0.0);
    }
    STRAGGLE_ALWAYS_INLINE void add(std::size_t node, double score) noexcept {
        shifted_sums& sums = sums_[node];
        if (sums.add(rounded_score_moments::rounded(score))) [[unlikely]]
            sums.settle(squares_[node]);
    }
    [[nodiscard]] rounded_score_moments operator[](std::size_t node) const noexcept {
        shifted_sums const& s = sums_[node];
        return rounded_score_moments::from(
            stats::moments::from({s.origin(), s.count(), s.sum(), squares_[node] + s.block()}));
    }

  private:
    std::vector<shifted_sums> sums_;
    std::vector<double> squares_;
};

} // namespace straggle::detail
