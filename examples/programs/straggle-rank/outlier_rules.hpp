// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The outlier rules of HDFS, LogDevice, Envoy, gRPC and Hadoop 1 as selection policies. They use only the
/// nodes' mean scores and no confidence: for comparison, and for users of those systems.
#pragma once

#include <straggle/blacklist/selection.hpp>
#include <straggle/stats/moments.hpp>
#include <straggle/stats/order.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace straggle_rank {

/// Higher mean first, then earlier seen.
template <class Node>
bool is_worse(Node const& a, Node const& b) noexcept {
    return a.mean > b.mean || (!(b.mean > a.mean) && a.seen < b.seen);
}

/// Appends the nodes whose mean is above the threshold, worst first.
template <class Node>
void select_above(std::span<Node const> nodes, double threshold,
                  std::vector<straggle::blacklist::candidate>& out) {
    auto const first = static_cast<std::ptrdiff_t>(out.size());
    for (std::uint32_t i = 0; i < nodes.size(); ++i)
        if (nodes[i].mean > threshold) out.push_back({i, nodes[i].mean, threshold});
    std::sort(out.begin() + first, out.end(),
              [nodes](auto const& a, auto const& b) { return is_worse(nodes[a.node], nodes[b.node]); });
}

/// Mean above max(low, ratio * median, median + deviations * MAD) of the fleet.
///
/// Source: HDFS `OutlierDetector` (slow peers and disks), whose numbers are the defaults except for `low`,
/// which there is a latency in milliseconds.
///
/// Verdict: value = mean, threshold as above.
/// @par Cost
/// O(nodes) expected, plus sorting the selected; allocates nothing in the steady state
struct median_mad {
    static constexpr std::string_view name = "median_mad";

    double deviations = 3;     ///< scaled MADs above the median
    double low = 0;            ///< nodes below are never weak; in units of score
    double ratio = 3;          ///< times the median
    std::size_t min_nodes = 3; ///< with fewer, no node is an outlier

    template <class Node>
    straggle::blacklist::selection_note select(std::span<Node const> nodes,
                                               straggle::blacklist::selection_scratch& scratch,
                                               std::vector<straggle::blacklist::candidate>& out) const {
        if (nodes.size() < min_nodes) return straggle::blacklist::selection_note::too_few_nodes;
        scratch.values.clear();
        for (Node const& node : nodes) scratch.values.push_back(node.mean);
        straggle::outcome<straggle::stats::median_and_mad> const center =
            straggle::stats::median_and_mad_in_place(std::span(scratch.values));
        if (!center) return straggle::blacklist::selection_note::too_few_nodes;
        double threshold = low;
        threshold = (std::max)(threshold, ratio * center->median);
        threshold = (std::max)(threshold, center->median + deviations * center->mad);
        select_above(nodes, threshold, out);
        return straggle::blacklist::selection_note::none;
    }
};

/// The largest set of up to k nodes that is clear of the rest: all of them at or above mean + sigmas *
/// deviation + margin * mean of the remaining nodes, and none of the remaining ones. Unlike with a plain
/// mean-and-sigma rule, outliers do not mask one another.
///
/// Source: LogDevice `OutlierDetection` with its RMSD method; there `margin` is 0.75, for positive latencies.
///
/// Verdict: value = mean, threshold as above.
/// @par Cost
/// O(nodes log nodes); allocates nothing in the steady state
struct leave_top_k_out {
    static constexpr std::string_view name = "leave_top_k_out";

    std::size_t k = 3; ///< maximum number of nodes to select
    double sigmas = 5; ///< population deviations of the rest above its mean
    double margin = 0; ///< share of the rest's mean on top; only meaningful for positive scores

    template <class Node>
    straggle::blacklist::selection_note select(std::span<Node const> nodes,
                                               straggle::blacklist::selection_scratch& scratch,
                                               std::vector<straggle::blacklist::candidate>& out) const {
        if (nodes.size() < 2) return straggle::blacklist::selection_note::too_few_nodes;
        std::vector<std::uint32_t>& order = scratch.order;
        order.resize(nodes.size());
        for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
        std::sort(order.begin(), order.end(),
                  [nodes](std::uint32_t a, std::uint32_t b) { return is_worse(nodes[a], nodes[b]); });
        straggle::stats::moments rest;
        std::size_t take = (std::min)(k, nodes.size() - 1);
        for (std::size_t i = nodes.size(); i-- > take;) rest.add(nodes[order[i]].mean);
        for (; take > 0; --take) {
            double const mean = rest.mean();
            double const threshold = mean + sigmas * std::sqrt(rest.population_variance()) + margin * mean;
            if (nodes[order[take - 1]].mean >= threshold && !(nodes[order[take]].mean >= threshold)) {
                for (std::uint32_t node : std::span(order).first(take))
                    out.push_back({node, nodes[node].mean, threshold});
                break;
            }
            rest.add(nodes[order[take - 1]].mean);
        }
        return straggle::blacklist::selection_note::none;
    }
};

/// Mean above the fleet's mean by more than `sigmas` population deviations.
///
/// Source: Envoy and gRPC success-rate outlier detection (1.9, at least 5 hosts), Hadoop 1 slow trackers.
/// Among n nodes, none can be more than sqrt(n - 1) deviations from the mean: if `sigmas` is not below that,
/// the policy reports `unreachable_threshold` instead of never selecting anything.
///
/// Verdict: value = mean, threshold = mean of the fleet + sigmas * deviation.
/// @par Cost
/// O(nodes), plus sorting the selected; allocates nothing
struct mean_plus_sigmas {
    static constexpr std::string_view name = "mean_plus_sigmas";

    double sigmas = 1.9;       ///< population deviations above the mean
    std::size_t min_nodes = 5; ///< with fewer, no node is an outlier

    template <class Node>
    straggle::blacklist::selection_note select(std::span<Node const> nodes,
                                               straggle::blacklist::selection_scratch&,
                                               std::vector<straggle::blacklist::candidate>& out) const {
        if (nodes.empty() || nodes.size() < min_nodes)
            return straggle::blacklist::selection_note::too_few_nodes;
        if (!(sigmas < std::sqrt(static_cast<double>(nodes.size() - 1))))
            return straggle::blacklist::selection_note::unreachable_threshold;
        straggle::stats::moments fleet;
        for (Node const& node : nodes) fleet.add(node.mean);
        select_above(nodes, fleet.mean() + sigmas * std::sqrt(fleet.population_variance()), out);
        return straggle::blacklist::selection_note::none;
    }
};

} // namespace straggle_rank
