// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "study.hpp"

#include <straggle/base/random.hpp>
#include <straggle/learn/boosted_trees_trainer.hpp>
#include <straggle/papers/ml_na_2017.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
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

template <class Month>
std::vector<period> pick(std::vector<Month> const& months, period Month::* which) {
    std::vector<period> all;
    for (Month const& m : months) all.push_back(m.*which);
    return all;
}

month_of_paper by_the_letter(straggle::learn::node_days<std::uint32_t> const& days, std::mt19937_64& engine) {
    namespace paper = straggle::papers::ml_na_2017;
    month_of_paper m;
    for (std::size_t row = 0; row < days.size(); ++row) m.carried.nodes.push_back(days.node(row));
    m.blank.nodes = m.carried.nodes;
    // Algorithm 1, with what it tried: `papers::ml_na_2017::label` keeps the labels only.
    straggle::learn::weak_node_finder find(paper::labeling);
    find(paper::tuples(days, m.carried.features), engine, m.found);
    m.carried.weak = m.found.weak;
    straggle::learn::weak_nodes other;
    find(days.table(m.blank.features, {.idle = straggle::learn::idle_days::missing, .look_back = 0}), engine,
         other);
    m.blank.weak = other.weak;
    std::vector<double> last;
    for (std::size_t row = 0; row < days.size(); ++row)
        for (std::size_t c = columns - straggle::learn::features_per_day; c < columns; ++c)
            last.push_back(m.carried.features[row * columns + c]);
    straggle::learn::weak_node_finder group({.most_weak = 1.0, .up_to_square_root = false});
    group(straggle::learn::feature_matrix<double>(last, straggle::learn::features_per_day), engine,
          m.three_features);
    return m;
}

} // namespace

gaps gaps_of(period const& p) {
    gaps g;
    double other = 0, other_nan = 0;
    for (std::size_t c = 0; c < columns; ++c) {
        std::size_t nan = 0;
        for (std::size_t row = 0; row < p.nodes.size(); ++row)
            nan += std::isnan(p.features[row * columns + c]);
        if (nan == p.nodes.size()) {
            g.columns += 1;
        } else {
            other += static_cast<double>(p.nodes.size());
            other_nan += static_cast<double>(nan);
        }
    }
    g.rest = other_nan / other;
    return g;
}

std::vector<period> study::carried() const {
    return pick(by_paper, &month_of_paper::carried);
}
std::vector<period> study::blank() const {
    return pick(by_paper, &month_of_paper::blank);
}
std::vector<period> study::last_days() const {
    return pick(months, &month::last_days);
}

namespace {

template <class Model>
grid table_of(std::vector<period> const& months, Model model) {
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

} // namespace

grid judge(std::vector<period> const& months, straggle::learn::boosted_trees_options const& how) {
    return table_of(months, straggle::papers::ml_na_2017::forecaster<std::uint32_t>(how));
}
grid forecast(std::vector<period> const& months) {
    return table_of(months,
                    straggle::learn::forecaster<std::uint32_t, straggle::learn::boosted_trees_trainer>());
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
        s.by_paper.push_back(by_the_letter(days, engine));
    }
    return s;
}

straggle::stats::confusion_matrix judge_third(study const& s, std::uint64_t seed,
                                              std::filesystem::path const& table) {
    std::vector<std::pair<period const*, std::size_t>> all; // machines in months
    for (month_of_paper const& m : s.by_paper)
        for (std::size_t i = 0; i < m.carried.nodes.size(); ++i) all.emplace_back(&m.carried, i);
    nine_months::dice random(seed);
    std::size_t const tested = all.size() / 3;
    straggle::base::sample_to_front(std::span(all), tested, random);
    auto const features = [](auto const& one) {
        return std::span(one.first->features).subspan(one.second * columns, columns);
    };
    std::ofstream out(table);
    for (std::size_t k = 0; k < all.size(); ++k) {
        out << (k < tested) << ',' << int{all[k].first->weak[all[k].second]};
        for (double const x : features(all[k])) {
            out << ',';
            if (!std::isnan(x)) out << static_cast<float>(x);
        }
        out << '\n';
    }
    std::vector<double> rows;
    std::vector<std::uint8_t> labels;
    for (auto const& one : std::span(all).subspan(tested)) {
        rows.insert(rows.end(), features(one).begin(), features(one).end());
        labels.push_back(one.first->weak[one.second]);
    }
    straggle::learn::boosted_trees_trainer model(straggle::papers::ml_na_2017::classifier);
    if (model.fit(straggle::learn::feature_matrix<double>(rows, columns), labels) != straggle::status::ok)
        throw std::runtime_error("nothing to learn from");
    straggle::stats::confusion_matrix counts;
    for (auto const& one : std::span(all).first(tested))
        counts.observe(one.first->weak[one.second] != 0, model.predict(features(one)) >= 0.5);
    return counts;
}

} // namespace ml_na
