// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Nodes that are provably slower than a good part of the fleet, by however little; variants for dependent
/// tasks, and with a bounded false discovery rate over the fleet.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/blacklist/selection.hpp>
#include <straggle/stats/student_t.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// ceil(q * others), at least 1: being slower than no node proves nothing. The small subtraction keeps 0.07 *
// 100 from becoming 8 by rounding.
inline std::size_t nodes_to_dominate(double q, std::size_t others) noexcept {
    double const exact = std::ceil(q * static_cast<double>(others) - 1e-9);
    return exact > 1 ? static_cast<std::size_t>(exact) : 1;
}

// The upper end that a node's lower end must exceed.
template <class Node, class High>
double domination_threshold(std::span<Node const> nodes, double q, High const& high,
                            std::vector<double>& highs) {
    highs.clear();
    for (Node const& node : nodes) highs.push_back(high(node));
    auto const kth = highs.begin() + static_cast<std::ptrdiff_t>(nodes_to_dominate(q, nodes.size() - 1) - 1);
    std::nth_element(highs.begin(), kth, highs.end());
    return *kth;
}

// The ends of a node's interval as the ranking has them.
inline constexpr auto low_end = [](auto const& node) noexcept { return node.ci.low; };
inline constexpr auto high_end = [](auto const& node) noexcept { return node.ci.high; };

// Selects the nodes whose lower end exceeds the upper ends of the share q of the others. `low(node)` and
// `high(node)` give the ends to use.
template <class Node, class Low, class High>
blacklist::selection_note
select_dominated(std::span<Node const> nodes, double q, double least_mean, Low const& low, High const& high,
                 blacklist::selection_scratch& scratch, std::vector<blacklist::candidate>& out) {
    STRAGGLE_EXPECTS(q > 0.0 && q <= 1.0 && is_finite(least_mean));
    if (nodes.size() < 2) return blacklist::selection_note::too_few_nodes;
    double const threshold = domination_threshold(nodes, q, high, scratch.values);
    std::size_t const first = out.size();
    for (std::uint32_t i = 0; i < nodes.size(); ++i)
        if (threshold < low(nodes[i]) && nodes[i].mean >= least_mean)
            out.push_back({i, low(nodes[i]), threshold});
    worst_first(nodes, std::span(out).subspan(first));
    return nodes.back().level == 0 ? blacklist::selection_note::all_overlap : blacklist::selection_note::none;
}

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::blacklist {

/// A node is weak if its whole interval lies above the whole intervals of at least ceil(q * (ranked - 1))
/// other nodes; q = 1/2 by default. `slower_by` also requires a minimum difference.
///
/// Source: ours. The paper's level 0 is an absence of evidence ("no node is provably slower"); this policy
/// requires evidence. Of twenty equal nodes with fifty tasks each, level 0 selects 96 %, `dominated{0.5}`
/// 0.01 %, and it still finds 99.8 % of the nodes that are slow by one deviation.
///
/// With much data, a node can be significantly slower but only slightly: `least_mean` sets how much slower it
/// must be to matter.
///
/// Verdict: value = lower end of the node's interval, threshold = upper end it had to exceed.
/// @par Cost
/// O(nodes) expected, plus sorting the selected; allocates nothing in the steady state
struct dominated {
    static constexpr std::string_view name = "dominated";

    double q = 0.5; ///< share of the other ranked nodes, in (0, 1]
    /// Minimum mean score of a selected node; any finite number.
    double least_mean = (std::numeric_limits<double>::lowest)();

    template <class Node>
    selection_note select(std::span<Node const> nodes, selection_scratch& scratch,
                          std::vector<candidate>& out) const {
        return detail::select_dominated(nodes, q, least_mean, detail::low_end, detail::high_end, scratch,
                                        out);
    }
};

/// `dominated` for dependent tasks: treats intervals as wider by the square root of `design_effect`.
///
/// An interval assumes that the scores of a node are independent. Tasks of one job on one node share its disk
/// and its ups and downs: n of them carry as much information as n / `design_effect` independent ones. The
/// plain interval is then too short: of thirty nodes judged every hour, a healthy one is avoided every few
/// hours.
///
/// Source: the design effect of Kish 1965, Survey Sampling, 8.2: 1 + (m - 1) rho for groups of m with
/// correlation rho; for tasks in groups of four with rho = 1/3 it is 2. The constant is ours. On the
/// simulated cluster of the experiments, in 104 runs without a weak node, `dominated` names a healthy node in
/// 40 of 15 871 node windows and this policy in none; it still finds nodes that are weak for a whole window
/// in 94 to 100 % of them (`dominated`: 99 to 100). Intervals from the variance between the pairs of a job
/// and a node, or with a design effect estimated from them, named 2 and 6, and found less.
///
/// Its cost when tasks are independent: of nodes slow by one deviation, with twenty nodes of fifty tasks
/// each, it finds 91 % in a window, `dominated` 99.8 %. A `rolling_blacklister` tries again in the next
/// window.
///
/// Verdict: value = lower end of the node's widened interval, threshold = upper end it had to exceed.
/// @par Cost
/// as `dominated`
struct clearly_dominated {
    static constexpr std::string_view name = "clearly_dominated";

    double q = 0.5;             ///< share of the other ranked nodes, in (0, 1]
    double design_effect = 2.0; ///< scores worth one independent score, at least 1
    /// Minimum mean score of a selected node; any finite number.
    double least_mean = (std::numeric_limits<double>::lowest)();

    template <class Node>
    selection_note select(std::span<Node const> nodes, selection_scratch& scratch,
                          std::vector<candidate>& out) const {
        STRAGGLE_EXPECTS(design_effect >= 1.0 && detail::is_finite(design_effect));
        double const more = std::sqrt(design_effect) - 1.0;
        return detail::select_dominated(
            nodes, q, least_mean,
            [more](Node const& node) { return node.ci.low - more * (node.mean - node.ci.low); },
            [more](Node const& node) { return node.ci.high + more * (node.ci.high - node.mean); }, scratch,
            out);
    }
};

/// `dominated` with the false discovery rate over the fleet held at alpha: of all nodes it selects, at most
/// that share is expected to be no slower than the rest, regardless of the size of the fleet.
///
/// Source: ours; Welch's one-sided t-test of each node against all others together (Welch 1947,
/// doi:10.1093/biomet/34.1-2.28), then the step-up procedure of Benjamini and Hochberg (1995,
/// doi:10.1111/j.2517-6161.1995.tb02031.x) over all ranked nodes. A node that is not `dominated{q}` counts
/// with p = 1, which keeps the p-values valid.
///
/// Verdict: value = p-value, threshold = largest p-value that passes.
/// @par Cost
/// O(nodes log nodes); allocates nothing in the steady state
struct dominated_fdr {
    static constexpr std::string_view name = "dominated_fdr";

    double q = 0.5;      ///< share of the other ranked nodes, in (0, 1]
    double alpha = 0.05; ///< false discovery rate, in (0, 1)
    stats::deviation_kind deviation =
        stats::deviation_kind::sample; ///< must match the ranking's interval rule

    template <class Node>
    selection_note select(std::span<Node const> nodes, selection_scratch& scratch,
                          std::vector<candidate>& out) const {
        STRAGGLE_EXPECTS(q > 0.0 && q <= 1.0 && alpha > 0.0 && alpha < 1.0);
        if (nodes.size() < 2) return selection_note::too_few_nodes;
        double const threshold = detail::domination_threshold(nodes, q, detail::high_end, scratch.values);

        // pools[i] = all nodes from i on; `before` = all nodes before i. Moments are never subtracted.
        std::vector<detail::pooled_moments>& from = scratch.pools;
        from.assign(nodes.size() + 1, {});
        for (std::size_t i = nodes.size(); i-- > 0;) from[i] = from[i + 1].with(pool_of(nodes[i]));
        detail::pooled_moments before;
        std::size_t const first = out.size();
        for (std::uint32_t i = 0; i < nodes.size(); ++i) {
            if (threshold < nodes[i].ci.low) {
                double const p = slower_by_chance(pool_of(nodes[i]), before.with(from[i + 1]));
                out.push_back({i, p, 0});
            }
            before = before.with(pool_of(nodes[i]));
        }
        auto const found = std::span(out).subspan(first);
        std::sort(found.begin(), found.end(), [nodes](candidate const& a, candidate const& b) {
            return a.value < b.value ||
                   (!(b.value < a.value) && detail::is_worse(nodes[a.node], nodes[b.node]));
        });
        double const step = alpha / static_cast<double>(nodes.size());
        std::size_t pass = found.size();
        while (pass > 0 && !(found[pass - 1].value <= step * static_cast<double>(pass))) --pass;
        for (candidate& c : found.first(pass)) c.threshold = step * static_cast<double>(pass);
        out.resize(first + pass);
        return nodes.back().level == 0 ? selection_note::all_overlap : selection_note::none;
    }

  private:
    template <class Node>
    detail::pooled_moments pool_of(Node const& node) const noexcept {
        double const n = static_cast<double>(node.n);
        double const degrees = deviation == stats::deviation_kind::sample ? n - 1 : n;
        return {n, node.mean, node.sd * node.sd * degrees};
    }

    // P(a difference of means at least this large) if the node were like the rest.
    static double slower_by_chance(detail::pooled_moments const& node,
                                   detail::pooled_moments const& rest) noexcept {
        double const a = node.m2 / (node.n - 1) / node.n;
        double const b = rest.m2 / (rest.n - 1) / rest.n;
        double const difference = node.mean - rest.mean;
        if (!(a + b > 0)) return difference > 0 ? 0.0 : 1.0;
        double const dof = (a + b) * (a + b) / (a * a / (node.n - 1) + b * b / (rest.n - 1));
        return stats::student_t_cdf_upper(difference / std::sqrt(a + b), dof).value_or(1.0);
    }
};

} // namespace straggle::blacklist
