// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// All of `learn/` in one object: from daily attempts, it labels, learns and forecasts by itself, and tracks
/// how good its forecasts have been.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/base/random.hpp>
#include <straggle/base/ranges.hpp>
#include <straggle/learn/boosted_trees_trainer.hpp>
#include <straggle/learn/classifier.hpp>
#include <straggle/learn/features.hpp>
#include <straggle/learn/forecast.hpp>
#include <straggle/learn/weak_nodes.hpp>
#include <straggle/record/attempt.hpp>
#include <straggle/stats/confusion_matrix.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::learn {

/// How an `outlook` forecasts.
struct outlook_options {
    std::size_t period = 30;                  ///< days of a period; at least 1
    feature_options features{.look_back = 3}; ///< how a period is described to the classifier
    weak_nodes_options grouping{};            ///< how weak nodes are found at the end of a period
    std::size_t most_periods = 12; ///< periods learned from; beyond, the oldest is dropped. At least 3
};

/// How good the forecasts were, each made before its period began.
struct forecast_record {
    stats::confusion_matrix forecast{}; ///< nodes: weak? forecast as weak?
    stats::confusion_matrix repeat{};   ///< the same for "as it was before"
    std::uint64_t better = 0;           ///< nodes for which only the forecast was right
    std::uint64_t worse = 0;            ///< nodes for which only "as it was before" was right

    /// Whether to act on the forecasts: see `learn::beats_repeat`.
    [[nodiscard]] constexpr bool is_better() const noexcept { return beats_repeat(better, worse); }
    friend constexpr bool operator==(forecast_record const&, forecast_record const&) = default;
};

/// Which nodes will be weak in the next period.
///
/// Call `observe` during a day, `close_day` at its end, `forecast` at any time. On the last day of a period,
/// the object finds its weak nodes, judges the forecast made for it, and learns the next one. It does not
/// give a forecast that has been no better so far than "as it was before": `forecast` returns
/// `status::insufficient_evidence`, and `so_far` its record. So no node is avoided because of it.
///
/// Source: ML-NA (Ouyang et al. 2017) in a loop. Ours: it forecasts the future from the last few days, and
/// compares itself with a forecast that needs no learning.
/// @tparam NodeId type of node names: `std::string` for text
/// @tparam Classifier any `classifier`
/// @par Example
/// `learn::outlook<std::string> next;  next.observe("host-7", score);  next.close_day(engine);
/// if (next.forecast(out) == status::ok) ...`
/// @par Cost
/// `observe` and `close_day` O(1), except at the end of a period: that of `weak_node_finder` and of the
/// classifier over `most_periods` periods. Memory for these periods
/// @par Guarantees
/// the same engine gives the same forecasts. Only allocation can throw; the period being closed is then lost
template <base::identifier NodeId, classifier Classifier = boosted_trees_trainer>
class outlook {
  public:
    /// Type of node names as arguments.
    using node_key = typename node_days<NodeId>::node_key;

    /// @param options how to forecast @param learner a classifier with the user's options
    /// @pre all within their bounds
    explicit outlook(outlook_options options = {}, Classifier learner = Classifier())
        : options_(options),
          days_(checked(options).period),
          find_(options.grouping),
          model_(forecast_from::period_before, std::move(learner)) {}

    /// Adds the score of an attempt of today.
    /// @return false, with no effect, for a score that is not a number
    bool observe(node_key node, double score) { return days_.observe(node, today_, score); }

    /// Scores attempts of today against their siblings (`rank::normalize`) and adds the scores: pass whole
    /// jobs.
    /// @param attempts a random access range of records @param fields an `attempt_fields`
    /// @return what became of the records
    template <std::ranges::random_access_range Attempts, class Fields>
        requires record::attempt_fields_for<Fields, std::ranges::range_value_t<Attempts>>
    attempt_counts observe_attempts(Attempts const& attempts, Fields const& fields) {
        return days_.observe_attempts(attempts, fields, [this](auto const&) { return today_; });
    }

    /// Ends the day.
    /// @param engine for grouping the nodes
    /// @return `status::ok` within a period; at its end, why its weak nodes could not be found
    /// (`weak_node_finder`; the period is then not learned from), or why there is no forecast yet:
    /// `status::insufficient_evidence` before two periods are known
    template <base::random_engine Engine>
    status close_day(Engine& engine) {
        if (++today_ < options_.period) return status::ok;
        today_ = 0;
        return close_period(engine);
    }

    /// How likely each node of the last complete period is to be weak in the current one.
    /// @param out replaced; empty unless the status is ok
    /// @return `status::insufficient_evidence` while forecasts have not been better than "as it was before"
    /// (`so_far().is_better()`), or if there is none
    status forecast(std::vector<node_forecast<NodeId>>& out) const {
        out.clear();
        if (!so_far_.is_better() || next_.empty()) return status::insufficient_evidence;
        out = next_;
        return status::ok;
    }
    /// The forecast for the current period regardless of its quality, for display. Empty if there is none.
    [[nodiscard]] std::span<node_forecast<NodeId> const> unproven() const& noexcept { return next_; }
    void unproven() const&& = delete;

    /// How good the forecasts have been.
    [[nodiscard]] forecast_record const& so_far() const noexcept { return so_far_; }
    /// The day within the period, from 0.
    [[nodiscard]] std::size_t day() const noexcept { return today_; }
    /// The periods learned from, the oldest first.
    [[nodiscard]] std::span<node_period<NodeId> const> periods() const& noexcept { return periods_; }
    void periods() const&& = delete;

  private:
    static outlook_options const& checked(outlook_options const& options) {
        STRAGGLE_EXPECTS(options.period > 0 && options.most_periods >= 3);
        return options;
    }

    template <class Engine>
    status close_period(Engine& engine) {
        node_period<NodeId> ended;
        status const labelled = find_(days_.table(ended.features), engine, found_);
        if (labelled == status::ok) ended.weak = found_.weak;
        days_.table(ended.features, options_.features);
        for (std::size_t i = 0; i < days_.size(); ++i) ended.nodes.push_back(days_.node(i));
        days_.clear();
        if (labelled == status::ok) judge(ended);
        if (periods_.size() == options_.most_periods) periods_.erase(periods_.begin());
        periods_.push_back(std::move(ended));
        next_.clear();
        status const learned = model_.fit(periods_);
        if (learned == status::ok) {
            if (status const s = model_.forecast(periods_.back(), next_); s != status::ok) return s;
        }
        return labelled != status::ok ? labelled : learned;
    }

    // Compares the forecast with the period that ended, for nodes that had one.
    void judge(node_period<NodeId> const& ended) {
        if (next_.empty() || periods_.empty()) return;
        node_period<NodeId> const& before = periods_.back();
        if (before.weak.empty()) return;
        interner<NodeId> places;
        for (NodeId const& id : before.nodes) places.insert(id); // the order of `next_`
        for (std::size_t i = 0; i < ended.nodes.size(); ++i) {
            auto const at = places.find(ended.nodes[i]);
            if (at == places.none) continue;
            bool const weak = ended.weak[i] != 0, was = before.weak[at] != 0,
                       said = next_[at].probability >= 0.5;
            so_far_.forecast.observe(weak, said);
            so_far_.repeat.observe(weak, was);
            if (said != was) ++(said == weak ? so_far_.better : so_far_.worse);
        }
    }

    outlook_options options_;
    node_days<NodeId> days_; // of the current period
    weak_node_finder find_;
    weak_nodes found_;
    forecaster<NodeId, Classifier> model_;
    std::vector<node_period<NodeId>> periods_;
    std::vector<node_forecast<NodeId>> next_;
    forecast_record so_far_;
    std::size_t today_ = 0;
};

} // namespace straggle::learn
