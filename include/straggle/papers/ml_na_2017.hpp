// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// ML-NA, exactly as in the paper: its 91-tuple, its labels, its classifier, and what it predicts.
///
/// | | `papers::ml_na_2017` | default | why the default differs |
/// |---|---|---|---|
/// | features | of all days so far | of the last 3 days | what a node is like now tells more |
/// | groups | 2 to 10 | at most the root of the number of nodes | 9 groups of 65 nodes are accidents |
/// | looks at | the month it judges | the month before | a forecast is there before its month |
/// | acts | always | if better than "as it was before" | a forecast may be worth nothing |
///
/// Source: X. Ouyang, C. Wang, R. Yang, G. Yang, P. Townend, J. Xu, ML-NA: a machine learning based node
/// performance analyzer utilizing straggler statistics (ICPADS 2017).
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/base/random.hpp>
#include <straggle/learn/boosted_trees_trainer.hpp>
#include <straggle/learn/feature_matrix.hpp>
#include <straggle/learn/features.hpp>
#include <straggle/learn/forecast.hpp>
#include <straggle/learn/weak_nodes.hpp>

#include <cstddef>
#include <limits>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::papers::ml_na_2017 {

/// Days of a month (section III.A): with three features per day, plus the node, this is the paper's 91-tuple.
inline constexpr std::size_t days_per_month = 30;

/// k from 2 to 10, and at most a quarter of the nodes weak (section III.B, table I). The paper does not say
/// what to do if the next-best number of groups also has too large a weak group; `learn::choose_group_count`
/// continues.
inline constexpr learn::weak_nodes_options labeling{
    .least_groups = 2, .most_groups = 10, .most_weak = 0.25, .up_to_square_root = false};

/// XGBoost with eta 0.1 and depth 12 (section IV.B); the rest are its defaults.
inline constexpr learn::boosted_trees_options classifier{.eta = 0.1, .max_depth = 12};
/// The other setting, of figure 6(b).
inline constexpr learn::boosted_trees_options other_classifier{.eta = 0.3, .max_depth = 9};

/// The tuples of all nodes, without the node: mean score, deviation and number of tasks, each from day 1 to
/// d.
///
/// As the tuple is cumulative, a day without a task of the node has the values of the previous day, and only
/// the days before its first task lack mean and deviation (NaN). Its number of tasks is then known: 0. But
/// before any node has run a task, the number is NaN as well: all numbers are equal and cannot be normalized.
/// This explains the NaN in all three columns of figure 7, which the paper has for the first three days of
/// its seventh month.
/// @param month the history of the nodes
/// @param values receives the values
/// @return a view of `values`, a row per node in order of first appearance
/// @par Cost
/// that of `learn::node_days::table`
template <base::identifier NodeId>
learn::feature_matrix<double> tuples(learn::node_days<NodeId> const& month, std::vector<double>& values) {
    month.table(values, {.idle = learn::idle_days::carried, .look_back = 0});
    std::size_t const columns = month.columns();
    for (std::size_t day = 0; day < month.days(); ++day) {
        std::size_t const mean = learn::features_per_day * day, number = mean + 2;
        bool any = false;
        for (std::size_t row = 0; row < month.size(); ++row)
            any = any || !detail::is_nan(values[row * columns + mean]);
        if (any) break;
        for (std::size_t row = 0; row < month.size(); ++row)
            values[row * columns + number] = std::numeric_limits<double>::quiet_NaN();
    }
    return learn::feature_matrix<double>(values, columns);
}

/// A month with tuples and labels (algorithm 1).
/// @param month the history of the nodes
/// @param engine for the seeds of the groups
/// @param out replaced
/// @return as `learn::weak_node_finder`; the labels are empty unless the status is ok
/// @par Cost
/// that of `learn::weak_node_finder`
template <base::identifier NodeId, base::random_engine Engine>
status label(learn::node_days<NodeId> const& month, Engine& engine, learn::node_period<NodeId>& out) {
    out.nodes.clear();
    out.weak.clear();
    for (std::size_t row = 0; row < month.size(); ++row) out.nodes.push_back(month.node(row));
    learn::weak_node_finder find(labeling);
    learn::weak_nodes found;
    status const s = find(tuples(month, out.features), engine, found);
    if (s == status::ok) out.weak = found.weak;
    return s;
}

/// Section IV: learns from months and judges another month by its own tuples. Passed to
/// `learn::forecast_table`, it gives table III; it judges a month in hindsight and does not predict one.
/// @tparam NodeId type of node names
template <base::identifier NodeId>
struct forecaster : learn::forecaster<NodeId, learn::boosted_trees_trainer> {
    /// @param how `classifier`, or `other_classifier`
    explicit forecaster(learn::boosted_trees_options const& how = classifier)
        : learn::forecaster<NodeId, learn::boosted_trees_trainer>(learn::forecast_from::same_period,
                                                                  learn::boosted_trees_trainer(how)) {}
};

} // namespace straggle::papers::ml_na_2017
