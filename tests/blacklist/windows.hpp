// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Rankings of windows with the scores a test wants, for tests about more than one window.
#pragma once

#include <straggle/rank/rank_nodes.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace straggle_test {

/// Durations already are scores.
struct as_is {
    straggle::status normalize(std::span<double>, std::span<double>) const { return straggle::status::ok; }
};

/// A node's interval is its mean, a quarter to either side.
struct within_a_quarter {
    straggle::outcome<straggle::stats::interval> operator()(std::uint64_t n, double mean,
                                                            double) const noexcept {
        if (n < 2) return straggle::status::insufficient_evidence;
        return straggle::stats::interval{mean - 0.25, mean + 0.25};
    }
    straggle::stats::deviation_kind deviation() const noexcept {
        return straggle::stats::deviation_kind::population;
    }
};

/// What one node did in a window: n tasks with a score each.
template <class NodeId>
struct report {
    NodeId node;
    std::uint64_t n;
    double score;
};

template <class NodeId>
auto ranking_of(std::vector<report<NodeId>> const& reports) {
    struct run {
        NodeId node;
        double score;
    };
    std::vector<run> runs;
    for (auto const& r : reports)
        for (std::uint64_t i = 0; i < r.n; ++i) runs.push_back({r.node, r.score});
    constexpr straggle::attempt_fields fields{
        .job = [](run const&) { return 0; }, .node = &run::node, .duration = &run::score};
    return straggle::rank_nodes(
        runs, fields,
        straggle::rank_options{.normalizer = as_is{},
                               .estimator = straggle::rank::mean_interval{within_a_quarter{}}});
}

/// Names too long for a small string, all of one length.
inline std::string name_of(std::size_t i) {
    return "a-node-with-a-name-too-long-for-a-small-string-" + std::to_string(100000 + i);
}

/// Nodes 0, 1, 2... with these scores, four tasks each; a score below -50 stands for a node without tasks.
inline auto window_of(std::vector<double> const& scores) {
    std::vector<report<std::string>> reports;
    for (std::size_t i = 0; i < scores.size(); ++i)
        if (scores[i] > -50) reports.push_back({name_of(i), 4, scores[i]});
    return ranking_of(reports);
}

/// For `window_of`: nothing is heard of this node.
inline constexpr double silent = -100;

} // namespace straggle_test
