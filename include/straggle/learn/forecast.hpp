// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which node will be weak in the next period? Learns from periods whose weak nodes are known, looks at the
/// features of a period, and says how likely each of its nodes is to be weak.
///
/// Source: X. Ouyang et al., ML-NA (ICPADS 2017), section IV.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/learn/classifier.hpp>
#include <straggle/learn/feature_matrix.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::learn {

/// What is known of the nodes in one period, such as a month.
template <base::identifier NodeId>
struct node_period {
    std::vector<NodeId> nodes;      ///< each at most once
    std::vector<double> features;   ///< a row per node; NaN where something is not known
    std::vector<std::uint8_t> weak; ///< 1 for the weak nodes, else 0; empty while that is not known
};

/// What a forecast of a period looks at.
enum class forecast_from : std::uint8_t {
    /// The features of the period before: a forecast that is there when the period begins.
    period_before,
    /// The features of the period itself, as ML-NA does: no forecast, but a judgement on what was seen of it.
    same_period,
};

/// The forecast for one node.
template <base::identifier NodeId>
struct node_forecast {
    NodeId id{};            ///< the node
    double probability = 0; ///< of being weak
    friend bool operator==(node_forecast const&, node_forecast const&) = default;
};

/// Nodes by what they were and what was said of them.
struct class_counts {
    std::uint64_t weak_found = 0;    ///< weak, and said to be
    std::uint64_t false_alarms = 0;  ///< not weak, but said to be
    std::uint64_t weak_missed = 0;   ///< weak, but not said to be
    std::uint64_t good_left_out = 0; ///< neither weak nor said to be

    /// Takes in one node.
    constexpr void add(bool weak, bool said) noexcept {
        ++(weak ? (said ? weak_found : weak_missed) : (said ? false_alarms : good_left_out));
    }
    /// Takes in those of another count.
    constexpr class_counts& operator+=(class_counts const& other) noexcept {
        weak_found += other.weak_found;
        false_alarms += other.false_alarms;
        weak_missed += other.weak_missed;
        good_left_out += other.good_left_out;
        return *this;
    }
    /// How many nodes.
    [[nodiscard]] constexpr std::uint64_t total() const noexcept {
        return weak_found + false_alarms + weak_missed + good_left_out;
    }
    /// Share of the nodes of which the right thing was said (ML-NA equation 3);
    /// `status::insufficient_evidence` for none, as for the next two.
    [[nodiscard]] constexpr outcome<double> accuracy() const {
        return ratio(weak_found + good_left_out, total());
    }
    /// Share of the nodes said to be weak that are.
    [[nodiscard]] constexpr outcome<double> precision() const {
        return ratio(weak_found, weak_found + false_alarms);
    }
    /// Share of the weak nodes that were said to be.
    [[nodiscard]] constexpr outcome<double> recall() const {
        return ratio(weak_found, weak_found + weak_missed);
    }
    friend constexpr bool operator==(class_counts const&, class_counts const&) = default;

  private:
    [[nodiscard]] static constexpr outcome<double> ratio(std::uint64_t part, std::uint64_t whole) {
        if (whole == 0) return status::insufficient_evidence;
        return static_cast<double>(part) / static_cast<double>(whole);
    }
};

} // namespace straggle::learn

namespace straggle::inline STRAGGLE_ABI::detail {

// The examples of some periods, and where nodes are.
template <class NodeId>
class forecast_examples {
  public:
    std::vector<double> rows;
    std::vector<std::uint8_t> labels;

    // Whether sizes fit and nothing is there twice.
    [[nodiscard]] bool is_sound(learn::node_period<NodeId> const& p, std::size_t columns) {
        if (p.features.size() != p.nodes.size() * columns) return false;
        if (!p.weak.empty() && p.weak.size() != p.nodes.size()) return false;
        find_in(p);
        return ids_.size() == p.nodes.size();
    }
    void find_in(learn::node_period<NodeId> const& p) {
        ids_.clear();
        for (NodeId const& id : p.nodes) ids_.insert(id);
    }
    // The place of a node in the period of the last `find_in`, or no place of it.
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

template <class NodeId>
std::span<double const> features_of(learn::node_period<NodeId> const& p, std::size_t node,
                                    std::size_t columns) {
    return std::span(p.features).subspan(node * columns, columns);
}

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::learn {

/// Learns from periods whose weak nodes are known and forecasts others.
///
/// @tparam NodeId how nodes are named: `std::string` for text
/// @tparam Classifier any `classifier`, such as `boosted_trees_trainer`
/// @par Example
/// `forecaster<std::string, boosted_trees_trainer> f(90);  f.learn(months);  f.forecast(months.back(), out);`
/// @par Cost that of the classifier; copies the examples. Allocates nothing beside the classifier once it has
/// seen as many
/// @par Guarantees deterministic if the classifier is
template <base::identifier NodeId, classifier Classifier>
class forecaster {
  public:
    /// @param columns features of a node
    /// @param from what a forecast looks at
    /// @param learner a classifier with the user's options
    /// @pre `columns > 0`
    explicit forecaster(std::size_t columns, forecast_from from = forecast_from::period_before,
                        Classifier learner = Classifier())
        : columns_(columns), from_(from), learner_(std::move(learner)) {
        STRAGGLE_EXPECTS(columns > 0);
    }

    /// Learns from scratch, from these periods and nothing else. `period_before` pairs the features of each
    /// period with the labels of the next one, for nodes that are in both.
    /// @param periods in order of time, with their labels
    /// @return `status::insufficient_evidence` where there is no example, `status::out_of_domain` for periods
    /// whose sizes do not fit, nodes named twice or labels that are not 0 or 1, or what the classifier says
    status learn(std::span<node_period<NodeId> const> periods) {
        examples_.clear();
        for (auto const& p : periods) {
            if (!examples_.is_sound(p, columns_)) return status::out_of_domain;
            for (std::uint8_t const label : p.weak)
                if (label > 1) return status::out_of_domain;
        }
        for (std::size_t k = 0; k < periods.size(); ++k) {
            auto const& labelled = periods[k];
            if (labelled.weak.empty()) continue;
            if (from_ == forecast_from::same_period) {
                for (std::size_t i = 0; i < labelled.nodes.size(); ++i)
                    examples_.add(detail::features_of(labelled, i, columns_), labelled.weak[i]);
            } else if (k > 0) {
                auto const& before = periods[k - 1];
                examples_.find_in(before);
                for (std::size_t i = 0; i < labelled.nodes.size(); ++i)
                    if (std::size_t const at = examples_.place(labelled.nodes[i]); at < before.nodes.size())
                        examples_.add(detail::features_of(before, at, columns_), labelled.weak[i]);
            }
        }
        if (examples_.labels.empty()) return status::insufficient_evidence;
        return learner_.fit(feature_matrix<double>(examples_.rows, columns_), examples_.labels);
    }

    /// How likely each node is to be weak: in the next period for `period_before`, in this one for
    /// `same_period`. Labels of the period are not looked at.
    /// @param seen a period
    /// @param out replaced; in the order of the nodes
    /// @return `status::out_of_domain` for a period whose sizes do not fit or that names a node twice
    status forecast(node_period<NodeId> const& seen, std::vector<node_forecast<NodeId>>& out) {
        out.clear();
        if (!examples_.is_sound(seen, columns_)) return status::out_of_domain;
        for (std::size_t i = 0; i < seen.nodes.size(); ++i)
            out.push_back({seen.nodes[i], learner_.predict(detail::features_of(seen, i, columns_))});
        return status::ok;
    }

    /// What is looked at.
    [[nodiscard]] forecast_from from() const noexcept { return from_; }
    /// Features of a node.
    [[nodiscard]] std::size_t columns() const noexcept { return columns_; }
    /// The classifier, to store it or to change its options.
    [[nodiscard]] Classifier& learner() noexcept { return learner_; }
    /// The classifier.
    [[nodiscard]] Classifier const& learner() const noexcept { return learner_; }

  private:
    std::size_t columns_;
    forecast_from from_;
    Classifier learner_;
    detail::forecast_examples<NodeId> examples_;
};

/// One cell of a table of forecasts: learned from some periods, tested on the one after.
struct forecast_cell {
    std::size_t first = 0;       ///< first period learned from, from 0
    std::size_t count = 0;       ///< how many; the one tested is `first + count`
    status learned = status::ok; ///< why nothing was learned; the forecast is then that of nobody
    class_counts forecast{};     ///< the classifier, at a probability of one half
    class_counts majority{};     ///< "all are what most were": the class of most labels learned from
    class_counts repeat{};       ///< "all are what they were in the last period learned from"
};

/// Table III of ML-NA: every window of periods, each tested on the period after it, beside two forecasts that
/// need no learning and which the paper leaves out.
///
/// Nodes that a forecast knows nothing of, because they were not there in the period before, are said not to
/// be weak by all three. Nothing is learned from a period that is tested or comes after it.
/// @param periods in order of time, all with labels
/// @param model does the learning; what it has learned last stays in it
/// @param out replaced: cells by size of the window, then by period. `period_before` needs two periods to
/// learn from
/// @return `status::out_of_domain` for periods without labels or that do not fit, else `status::ok`
/// @par Cost as many times that of the classifier as there are windows
template <base::identifier NodeId, classifier Classifier>
status forecast_table(std::span<node_period<NodeId> const> periods, forecaster<NodeId, Classifier>& model,
                      std::vector<forecast_cell>& out) {
    out.clear();
    bool const before = model.from() == forecast_from::period_before;
    detail::forecast_examples<NodeId> known;
    for (auto const& p : periods) {
        if (p.weak.size() != p.nodes.size() || !known.is_sound(p, model.columns()))
            return status::out_of_domain;
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
            cell.learned = model.learn(window);
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
                cell.forecast.add(is_weak, named);
                cell.majority.add(is_weak, most_weak);
                cell.repeat.add(is_weak, is_known && last.weak[at] != 0);
            }
            out.push_back(cell);
        }
    return status::ok;
}

} // namespace straggle::learn
