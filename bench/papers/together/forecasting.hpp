// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A blacklist that asks a forecast, too: what machines were like in the last windows, and in which of them
/// they were weak, says who will be in the next.
#pragma once

#include "../policies/blacklists.hpp"

#include <straggle/blacklist/blacklister.hpp>
#include <straggle/blacklist/forecast_weak.hpp>
#include <straggle/learn/boosted_trees_trainer.hpp>
#include <straggle/learn/features.hpp>
#include <straggle/learn/forecast.hpp>
#include <straggle/rank/rank_nodes.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace together {

/// How likely each machine is to be weak in this window.
using forecasts = std::map<std::uint32_t, double>;
struct forecast_of {
    std::shared_ptr<forecasts const> all;
    straggle::outcome<double> operator()(std::uint32_t node) const {
        auto const at = all->find(node);
        if (at == all->end()) return straggle::status::insufficient_evidence;
        return at->second;
    }
};

/// ML-NA on windows instead of months, and thirds of them instead of days; learned anew after each.
class forecasting {
  public:
    explicit forecasting(double window) : window_(window) {}

    void ended(cluster::attempt_record const& a) { ended_.push_back(a); }
    /// The window is over.
    void learn() {
        straggle::learn::node_days<std::uint32_t> days(parts);
        days.observe_attempts(ended_, policies::attempt_fields, [this](cluster::attempt_record const& a) {
            return static_cast<std::uint32_t>(std::fmod(a.end, window_) / window_ * parts);
        });
        // Not the weakest group, which there is always: where all are equal, nobody was weak.
        auto const ranking = straggle::rank_nodes(ended_, policies::attempt_fields);
        auto const& weak = provable_.decide(ranking);
        ended_.clear();
        straggle::learn::node_period<std::uint32_t> p;
        days.table(p.features, {.look_back = parts});
        for (std::size_t i = 0; i < days.size(); ++i) {
            p.nodes.push_back(days.node(i));
            p.weak.push_back(weak.avoids(days.node(i)) ? 1 : 0);
        }
        periods_.push_back(std::move(p));
        expected_->clear();
        if (model_.fit(periods_) != straggle::status::ok ||
            model_.forecast(periods_.back(), next_) != straggle::status::ok)
            return;
        for (auto const& n : next_) (*expected_)[n.id] = n.probability;
    }
    forecast_of expected() const { return {expected_}; }

  private:
    static constexpr std::size_t parts = 3;
    double window_;
    std::vector<cluster::attempt_record> ended_;
    straggle::blacklister<straggle::blacklist::clearly_dominated, straggle::record::unlimited> provable_;
    std::vector<straggle::learn::node_period<std::uint32_t>> periods_;
    straggle::learn::forecaster<std::uint32_t, straggle::learn::boosted_trees_trainer> model_;
    std::vector<straggle::learn::node_forecast<std::uint32_t>> next_;
    std::shared_ptr<forecasts> expected_ = std::make_shared<forecasts>();
};

/// A `policies::kept_blacklist` whose selection asks the forecast, which learns before each decision.
template <class Selection>
class forecast_blacklist : public policies::kept_blacklist<Selection> {
    using base = policies::kept_blacklist<Selection>;

  public:
    forecast_blacklist(double window, std::uint32_t nodes, forecasting forecast, Selection selection)
        : base(window, nodes, std::move(selection)), forecast_(std::move(forecast)) {}

    void ended(cluster::attempt_record const& a, double now) {
        base::ended(a, now);
        forecast_.ended(a);
    }
    void round(double now) {
        if (base::is_due(now)) forecast_.learn();
        base::round(now);
    }

  private:
    forecasting forecast_;
};

} // namespace together
