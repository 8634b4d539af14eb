// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "rank.hpp"

#include "attempt_list.hpp"

#include <straggle/rank/normalize.hpp>
#include <straggle/rank/rank_nodes.hpp>
#include <straggle/rank/sibling_normalizers.hpp>
#include <straggle/stats/order.hpp>

#include <algorithm>
#include <utility>

namespace straggle_rank {

namespace {

template <class Normalizer>
auto ranking_options(options const& o, Normalizer normalizer) {
    // The command line was checked: the level is valid.
    straggle::stats::confidence_level const level = *straggle::stats::confidence_level::from(o.confidence);
    return straggle::rank_options<Normalizer>{.normalizer = normalizer,
                                              .estimator = {straggle::stats::t_interval(level, o.deviation)},
                                              .ranker = straggle::rank::p_cores(o.edge),
                                              .counted = o.counted};
}

// Calls visit(rank_options).
template <class Visit>
auto with_normalizer(options const& o, Visit&& visit) {
    switch (o.normalizer) {
    case normalizer::robust:
        return visit(ranking_options(o, straggle::rank::robust_z{o.min_tasks}));
    case normalizer::leave_one_out:
        return visit(ranking_options(o, straggle::rank::leave_one_out_z{o.min_tasks}));
    case normalizer::ratio:
        return visit(ranking_options(o, straggle::rank::ratio_to_median{o.min_tasks}));
    case normalizer::work_rate:
        return visit(ranking_options(o, straggle::rank::work_rate<>{straggle::rank::z_score{o.min_tasks}}));
    case normalizer::z:
        break;
    }
    return visit(ranking_options(o, straggle::rank::z_score{o.min_tasks}));
}

// Scores in ascending order.
double quantile(std::span<double> sorted, double q) {
    return *straggle::stats::quantile_in_place(sorted, q);
}

void keep_most_extreme(std::vector<double>& sorted, std::size_t most) {
    if (sorted.size() <= most) return;
    auto const half = static_cast<std::ptrdiff_t>(most / 2);
    sorted.erase(sorted.begin() + half, sorted.end() - half);
}

box box_of(std::vector<double>& scores) {
    box b;
    b.n = scores.size();
    if (scores.empty()) return b;
    b.q1 = quantile(scores, 0.25);
    b.median = quantile(scores, 0.5);
    b.q3 = quantile(scores, 0.75);
    double const reach = 1.5 * (b.q3 - b.q1);
    std::sort(scores.begin(), scores.end());
    auto const first = std::lower_bound(scores.begin(), scores.end(), b.q1 - reach);
    auto const last = std::upper_bound(scores.begin(), scores.end(), b.q3 + reach);
    b.low_whisker = *first;
    b.high_whisker = *(last - 1);
    b.outliers.assign(scores.begin(), first);
    b.outliers.insert(b.outliers.end(), last, scores.end());
    keep_most_extreme(b.outliers, 24);
    return b;
}

} // namespace

ranking rank(history const& h, options const& o) {
    return with_attempts(h, [&](auto const& attempts, auto const& fields) {
        return with_normalizer(o,
                               [&](auto const& how) { return straggle::rank_nodes(attempts, fields, how); });
    });
}

std::vector<score> scores(history const& h, options const& o) {
    auto const [scored, nodes, jobs, counts] =
        with_attempts(h, [&](auto const& attempts, auto const& fields) {
            return with_normalizer(
                o, [&](auto const& how) { return straggle::rank::normalize(attempts, fields, how); });
        });
    std::vector<score> all;
    all.reserve(scored.size());
    for (straggle::rank::normalized_attempt const& a : scored)
        all.push_back({nodes[a.node], jobs[a.job], a.score});
    return all;
}

std::vector<box> boxes(history const& h, options const& o) {
    std::vector<std::vector<double>> by_node(h.nodes.size());
    for (score const& s : scores(h, o)) by_node[s.node].push_back(s.value);
    std::vector<box> result;
    for (std::vector<double>& of_node : by_node) result.push_back(box_of(of_node));
    return result;
}

} // namespace straggle_rank
