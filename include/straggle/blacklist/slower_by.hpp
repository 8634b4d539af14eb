// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Nodes that are provably slower, and by enough to matter: the default for rankings.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/blacklist/selection.hpp>
#include <straggle/stats/student_t.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::blacklist {

/// A node is weak if its tasks provably take more than `least_slowdown` times as long as those of the median
/// node. The default of a `blacklister` and of a `rolling_blacklister`.
///
/// With enough tasks every difference is significant, and most are not worth avoiding a node: a fleet whose
/// nodes differ by one percent has none to avoid. `dominated` requires only significance.
///
/// Source: ours. The interval is `ranked_node::slow` of each node. Among many nodes some look slow by chance,
/// so the required confidence grows with the number of nodes (Bonferroni). A ranking contains neither running
/// attempts nor failures, and has no memory between windows: if you can pass attempts, use a
/// `dynamic_blacklist`.
///
/// A ranking is wrong about one of its nodes in one case of twenty. To decide repeatedly, set a `margin`. A
/// `rolling_blacklister` uses `over_windows()` by default: it also cannot tell whether the other nodes can
/// carry a node's work.
///
/// Verdict: value = lower end of the slowdown, threshold = `least_slowdown`.
/// @par Cost
/// O(nodes), plus sorting the selected; allocates nothing in the steady state
struct slower_by {
    static constexpr std::string_view name = "slower_by";

    double least_slowdown = 1.1; ///< at least 1
    double margin = 1;           ///< factor on the confidence distance; at least 1

    /// Nodes that are clearly slow, for repeated decisions at any load.
    [[nodiscard]] static constexpr slower_by over_windows() noexcept { return {1.5, 1.6}; }

    /// See `selection_policy`.
    template <class Node>
    selection_note select(std::span<Node const> nodes, selection_scratch&,
                          std::vector<candidate>& out) const {
        STRAGGLE_EXPECTS(least_slowdown >= 1 && margin >= 1);
        if (nodes.size() < 2) return selection_note::too_few_nodes;
        std::size_t const first = out.size();
        double const one = 1.959964, tail = 0.025 / static_cast<double>(nodes.size());
        double const reach = margin * stats::student_t_quantile_upper(tail, 1e9).value_or(8.0) / one;
        for (std::uint32_t i = 0; i < nodes.size(); ++i) {
            auto const& s = nodes[i].slow;
            if (!s.is_known() || !(s.low > least_slowdown)) continue;
            double const low = s.value * std::pow(s.low / s.value, reach);
            if (low > least_slowdown) out.push_back({i, low, least_slowdown});
        }
        std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                  [nodes](candidate const& a, candidate const& b) {
                      auto const &x = nodes[a.node], &y = nodes[b.node];
                      return x.slow.value > y.slow.value ||
                             (!(y.slow.value > x.slow.value) && x.seen < y.seen);
                  });
        return nodes.back().level == 0 ? selection_note::all_overlap : selection_note::none;
    }
};

} // namespace straggle::blacklist
