// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which node will be weak in the next period? Learns from periods with known weak nodes, and predicts from
/// the features of a period how likely each of its nodes is to be weak.
///
/// Source: X. Ouyang et al., ML-NA (ICPADS 2017), section IV.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/learn/classifier.hpp>
#include <straggle/learn/feature_matrix.hpp>
#include <straggle/stats/confusion_matrix.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::learn {

/// The data on nodes in one period, such as a month.
template <base::identifier NodeId>
struct node_period {
    std::vector<NodeId> nodes;      ///< each at most once
    std::vector<double> features;   ///< one row per node; NaN for unknown values
    std::vector<std::uint8_t> weak; ///< 1 for weak nodes, else 0; empty if unknown
};

/// What a forecast is based on.
enum class forecast_from : std::uint8_t {
    /// The features of the previous period: a forecast that is available when the period begins.
    period_before,
    /// The features of the period itself, as in ML-NA: no forecast, but a judgment in hindsight.
    same_period,
};

/// The forecast for one node.
template <base::identifier NodeId>
struct node_forecast {
    NodeId id{};            ///< the node
    double probability = 0; ///< probability of being weak
    friend bool operator==(node_forecast const&, node_forecast const&) = default;
};

/// Whether forecasts are better than "as it was before". Among the nodes for which exactly one of the two was
/// right, the forecast must be right for more, and by more than chance (one-sided sign test at 5 %). A
/// forecast that is not better is no reason to act.
/// @param better nodes for which only the forecast was right
/// @param worse nodes for which only "as it was before" was right
/// @par Cost
/// O(1)
/// @par Guarantees
/// noexcept; usable in constant expressions
[[nodiscard]] constexpr bool beats_repeat(std::uint64_t better, std::uint64_t worse) noexcept {
    if (better <= worse) return false;
    double const more = static_cast<double>(better - worse), all = static_cast<double>(better + worse);
    return more * more > 1.645 * 1.645 * all;
}

} // namespace straggle::learn

namespace straggle::inline STRAGGLE_ABI::detail {

// The examples of some periods, and an index of the nodes of one.
template <class NodeId>
class forecast_examples {
  public:
    std::vector<double> rows;
    std::vector<std::uint8_t> labels;

    // Whether sizes match and no node occurs twice.
    [[nodiscard]] bool is_sound(learn::node_period<NodeId> const& p, std::size_t columns) {
        if (!p.nodes.empty() && columns == 0) return false;
        if (p.features.size() != p.nodes.size() * columns) return false;
        if (!p.weak.empty() && p.weak.size() != p.nodes.size()) return false;
        find_in(p);
        return ids_.size() == p.nodes.size();
    }
    void find_in(learn::node_period<NodeId> const& p) {
        ids_.clear();
        for (NodeId const& id : p.nodes) ids_.insert(id);
    }
    // The place of a node in the period of the last `find_in`; its number of nodes if it is not there.
    [[nodiscard]] std::size_t place(NodeId const& id) const {
        auto const at = ids_.find(id);
        return at == ids_.none ? ids_.size() : at;
    }
    void add(std::span<double const> row, std::uint8_t label) {
        rows.insert(rows.end(), row.begin(), row.end());
        labels.push_back(label);
    }
    void clear() noexcept {
        rows.clear();
        labels.clear();
    }

  private:
    interner<NodeId> ids_;
};

// Number of features per node in the first period with nodes; 0 if there is none, or if its
// features do not divide evenly.
template <class NodeId>
std::size_t feature_columns(std::span<learn::node_period<NodeId> const> periods) noexcept {
    for (auto const& p : periods)
        if (!p.nodes.empty())
            return p.features.size() % p.nodes.size() == 0 ? p.features.size() / p.nodes.size() : 0;
    return 0;
}

template <class NodeId>
std::span<double const> features_of(learn::node_period<NodeId> const& p, std::size_t node,
                                    std::size_t columns) {
    return std::span(p.features).subspan(node * columns, columns);
}

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::learn {

/// Learns from periods with known weak nodes and forecasts others.
///
/// @tparam NodeId type of node names: `std::string` for text
/// @tparam Classifier any `classifier`, such as `boosted_trees_trainer`
/// @par Example
/// `forecaster<std::string, boosted_trees_trainer> f;  f.fit(months);  f.forecast(months.back(), out);`
/// @par Cost
/// that of the classifier; copies the examples. Allocates nothing besides the classifier once it has seen as
/// many
/// @par Guarantees
/// deterministic if the classifier is
template <base::identifier NodeId, classifier Classifier>
class forecaster {
  public:
    /// @param from what a forecast is based on
    /// @param learner a classifier with the user's options
    explicit forecaster(forecast_from from = forecast_from::period_before, Classifier learner = Classifier())
        : from_(from), learner_(std::move(learner)) {}

    /// Learns from scratch, from these periods only. `period_before` pairs the features of each period with
    /// the labels of the next one, for nodes that are in both.
    /// @param periods in order of time, with their labels
    /// @return `status::insufficient_evidence` without examples, `status::out_of_domain` for periods with
    /// mismatched sizes, duplicate nodes or labels other than 0 and 1, or the classifier's status
    status fit(std::span<node_period<NodeId> const> periods) {
        examples_.clear();
        std::size_t const columns = detail::feature_columns(periods);
        for (auto const& p : periods) {
            if (!examples_.is_sound(p, columns)) return status::out_of_domain;
            for (std::uint8_t const label : p.weak)
                if (label > 1) return status::out_of_domain;
        }
        for (std::size_t k = 0; k < periods.size(); ++k) {
            auto const& labelled = periods[k];
            if (labelled.weak.empty()) continue;
            if (from_ == forecast_from::same_period) {
                for (std::size_t i = 0; i < labelled.nodes.size(); ++i)
                    examples_.add(detail::features_of(labelled, i, columns), labelled.weak[i]);
            } else if (k > 0) {
                auto const& before = periods[k - 1];
                examples_.find_in(before);
                for (std::size_t i = 0; i < labelled.nodes.size(); ++i)
                    if (std::size_t const at = examples_.place(labelled.nodes[i]); at < before.nodes.size())
                        examples_.add(detail::features_of(before, at, columns), labelled.weak[i]);
            }
        }
        if (examples_.labels.empty()) return status::insufficient_evidence;
        status const s = learner_.fit(feature_matrix<double>(examples_.rows, columns), examples_.labels);
        if (s == status::ok) columns_ = columns;
        return s;
    }

    /// How likely each node is to be weak: in the next period for `period_before`, in this one for
    /// `same_period`. Ignores the labels of the period.
    /// @param seen a period
    /// @param out replaced; in the order of the nodes
    /// @return `status::out_of_domain` for a period with mismatched sizes, other columns than learned, or
    /// duplicate nodes
    status forecast(node_period<NodeId> const& seen, std::vector<node_forecast<NodeId>>& out) {
        out.clear();
        std::size_t const columns = detail::feature_columns(std::span(&seen, 1));
        if (!examples_.is_sound(seen, columns)) return status::out_of_domain;
        if (columns_ > 0 && columns != columns_ && !seen.nodes.empty()) return status::out_of_domain;
        for (std::size_t i = 0; i < seen.nodes.size(); ++i)
            out.push_back({seen.nodes[i], learner_.predict(detail::features_of(seen, i, columns))});
        return status::ok;
    }

    /// What forecasts are based on.
    [[nodiscard]] forecast_from from() const noexcept { return from_; }
    /// Number of learned features per node; 0 before learning.
    [[nodiscard]] std::size_t columns() const noexcept { return columns_; }
    /// The classifier, to store it or to change its options.
    [[nodiscard]] Classifier& learner() noexcept { return learner_; }
    /// The classifier.
    [[nodiscard]] Classifier const& learner() const noexcept { return learner_; }

  private:
    std::size_t columns_ = 0;
    forecast_from from_;
    Classifier learner_;
    detail::forecast_examples<NodeId> examples_;
};

/// One cell of a table of forecasts: learned from some periods, tested on the next.
struct forecast_cell {
    std::size_t first = 0;              ///< first period learned from, from 0
    std::size_t count = 0;              ///< number of periods learned from; the tested one is `first + count`
    status learned = status::ok;        ///< why nothing was learned; the forecast then names no node
    stats::confusion_matrix forecast{}; ///< the classifier, at a probability of one half
    stats::confusion_matrix majority{}; ///< "all are like the majority": the most frequent label learned from
    stats::confusion_matrix repeat{};   ///< "all are what they were in the last period learned from"
    std::uint64_t better = 0;           ///< nodes for which the forecast was right and `repeat` wrong
    std::uint64_t worse = 0;            ///< nodes for which `repeat` was right and the forecast wrong
};

/// Table III of ML-NA: every window of periods, each tested on the period after it, next to two forecasts
/// without learning, which the paper omits.
///
/// All three forecasts call a node not weak if it was absent from the previous period. Nothing is learned
/// from a tested period or later ones.
/// @param periods in order of time, all with labels
/// @param model does the learning, and keeps the last model
/// @param out replaced: cells by size of the window, then by period. `period_before` needs two periods to
/// learn from
/// @return `status::out_of_domain` for periods without labels or with mismatched sizes, else `status::ok`
/// @par Cost
/// that of the classifier times the number of windows
template <base::identifier NodeId, classifier Classifier>
status forecast_table(std::span<node_period<NodeId> const> periods, forecaster<NodeId, Classifier>& model,
                      std::vector<forecast_cell>& out) {
    out.clear();
    bool const before = model.from() == forecast_from::period_before;
    std::size_t const columns = detail::feature_columns(periods);
    detail::forecast_examples<NodeId> known;
    for (auto const& p : periods) {
        if (p.weak.size() != p.nodes.size() || !known.is_sound(p, columns)) return status::out_of_domain;
        for (std::uint8_t const label : p.weak)
            if (label > 1) return status::out_of_domain;
    }
    std::vector<node_forecast<NodeId>> said;
    for (std::size_t count = before ? 2 : 1; count < periods.size(); ++count)
        for (std::size_t first = 0; first + count < periods.size(); ++first) {
            forecast_cell cell{.first = first, .count = count};
            auto const window = periods.subspan(first, count);
            auto const& last = window.back();
            auto const& tested = periods[first + count];
            cell.learned = model.fit(window);
            said.clear();
            if (cell.learned == status::ok)
                if (status const s = model.forecast(before ? last : tested, said); s != status::ok) return s;
            std::size_t weak = 0, all = 0;
            for (auto const& p : window)
                for (std::uint8_t const label : p.weak) {
                    weak += label;
                    ++all;
                }
            bool const most_weak = 2 * weak > all;
            known.find_in(last);
            for (std::size_t i = 0; i < tested.nodes.size(); ++i) {
                bool const is_weak = tested.weak[i] != 0;
                std::size_t const at = known.place(tested.nodes[i]);
                bool const is_known = at < last.nodes.size();
                std::size_t const row = before ? at : i;
                bool const named =
                    cell.learned == status::ok && row < said.size() && said[row].probability >= 0.5;
                bool const was_weak = is_known && last.weak[at] != 0;
                cell.forecast.observe(is_weak, named);
                cell.majority.observe(is_weak, most_weak);
                cell.repeat.observe(is_weak, was_weak);
                if (named != was_weak) ++(named == is_weak ? cell.better : cell.worse);
            }
            out.push_back(cell);
        }
    return status::ok;
}

} // namespace straggle::learn
