// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "study.hpp"

#include <straggle/base/random.hpp>
#include <straggle/learn/boosted_trees_trainer.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>

namespace ml_na {

namespace {

constexpr std::size_t columns = straggle::learn::features_per_day * nine_months::days_per_month;

double or_nothing(straggle::outcome<double> const& x) {
    return x ? *x : std::nan("");
}

std::vector<period> pick(std::vector<month> const& months, period month::* which) {
    std::vector<period> all;
    for (month const& m : months) all.push_back(m.*which);
    return all;
}

} // namespace

std::vector<period> study::whole() const {
    return pick(months, &month::whole);
}
std::vector<period> study::last_days() const {
    return pick(months, &month::last_days);
}

grid forecast(std::vector<period> const& months, straggle::learn::forecast_from from) {
    straggle::learn::forecaster<std::uint32_t, straggle::learn::boosted_trees_trainer> model(from);
    std::vector<straggle::learn::forecast_cell> cells;
    if (forecast_table(std::span<period const>(months), model, cells) != straggle::status::ok)
        throw std::runtime_error("months that do not fit");
    grid g;
    for (auto& row : g.share) row.fill(std::nan(""));
    auto const fill = [&](std::size_t row, std::size_t count,
                          straggle::stats::confusion_matrix straggle::learn::forecast_cell::* who) {
        straggle::stats::confusion_matrix all;
        for (std::size_t m = 1; m < nine_months::months; ++m) {
            straggle::stats::confusion_matrix here;
            for (straggle::learn::forecast_cell const& c : cells)
                if (c.first + c.count == m && (count == 0 || c.count == count)) here += c.*who;
            g.share[row][m - 1] = or_nothing(here.accuracy());
            all += here;
        }
        g.share[row][grid::accuracy] = or_nothing(all.accuracy());
        g.share[row][grid::precision] = or_nothing(all.precision());
        g.share[row][grid::recall] = or_nothing(all.recall());
    };
    for (std::size_t count = 1; count < nine_months::months; ++count)
        fill(grid::by_count + count - 1, count, &straggle::learn::forecast_cell::forecast);
    fill(grid::any, 0, &straggle::learn::forecast_cell::forecast);
    fill(grid::majority, 0, &straggle::learn::forecast_cell::majority);
    fill(grid::repeat, 0, &straggle::learn::forecast_cell::repeat);
    return g;
}

study look(std::uint64_t seed) {
    auto const all = nine_months::make(seed);
    study s{.stragglers = nine_months::count_stragglers(all)};
    std::mt19937_64 engine(seed);
    for (std::uint32_t m = 0; m < nine_months::months; ++m) {
        auto const begins = std::ranges::lower_bound(all, m * 30, {}, &nine_months::record::day);
        auto const ends = std::ranges::lower_bound(all, (m + 1) * 30, {}, &nine_months::record::day);
        straggle::learn::node_days<std::uint32_t> days(nine_months::days_per_month);
        days.observe_attempts(std::span(begins, ends), nine_months::fields,
                              [m](nine_months::record const& r) { return r.day - m * 30; });
        s.months.push_back(look_back(days, engine));
    }
    return s;
}

straggle::stats::confusion_matrix judge_third(study const& s, std::uint64_t seed) {
    std::vector<std::pair<period const*, std::size_t>> all; // machines in months
    for (month const& m : s.months)
        for (std::size_t i = 0; i < m.whole.nodes.size(); ++i) all.emplace_back(&m.whole, i);
    nine_months::dice random(seed);
    std::size_t const tested = all.size() / 3;
    straggle::base::sample_to_front(std::span(all), tested, random);
    auto const features = [](auto const& one) {
        return std::span(one.first->features).subspan(one.second * columns, columns);
    };
    std::vector<double> rows;
    std::vector<std::uint8_t> labels;
    for (auto const& one : std::span(all).subspan(tested)) {
        rows.insert(rows.end(), features(one).begin(), features(one).end());
        labels.push_back(one.first->weak[one.second]);
    }
    straggle::learn::boosted_trees_trainer model;
    if (model.fit(straggle::learn::feature_matrix<double>(rows, columns), labels) != straggle::status::ok)
        throw std::runtime_error("nothing to learn from");
    straggle::stats::confusion_matrix counts;
    for (auto const& one : std::span(all).first(tested))
        counts.observe(one.first->weak[one.second] != 0, model.predict(features(one)) >= 0.5);
    return counts;
}

} // namespace ml_na
