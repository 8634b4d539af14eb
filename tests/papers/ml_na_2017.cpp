// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/papers/ml_na_2017.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

using namespace straggle;
namespace ml_na = straggle::papers::ml_na_2017;

TEST_CASE("ml_na_2017: the tuple is cumulative, so that only leading days are empty") {
    // Nobody on day 0; a on days 1 and 3, b on day 2 alone.
    learn::node_days<std::string> month(5);
    month.observe("a", 1, 1.0);
    month.observe("a", 1, 3.0);
    month.observe("b", 2, -1.0);
    month.observe("a", 3, 5.0);
    std::vector<double> values;
    auto const t = ml_na::tuples(month, values);
    REQUIRE(t.rows() == 2);
    REQUIRE(t.columns() == 15);
    auto const a = t.row(0), b = t.row(1);
    // Figure 7: all three are NaN for all nodes until there is a task.
    for (std::size_t c = 0; c < 3; ++c) CHECK((std::isnan(a[c]) && std::isnan(b[c])));
    CHECK(a[3] == 2);
    CHECK(a[4] == 1);
    CHECK(a[5] == 1); // 2 tasks against none
    CHECK((std::isnan(b[3]) && std::isnan(b[4])));
    CHECK(b[5] == -1);
    // Day 2: a is idle, and has what it had.
    CHECK(a[6] == 2);
    CHECK(a[7] == 1);
    CHECK(b[6] == -1);
    CHECK(b[7] == 0);
    // Day 3: 1, 3 and 5.
    CHECK(a[9] == 3);
    CHECK(a[10] == doctest::Approx(std::sqrt(8.0 / 3)).epsilon(1e-15));
    CHECK(b[9] == -1);
    // Day 4: nobody runs anything, and nothing changes.
    for (std::size_t c = 12; c < 15; ++c) CHECK((a[c] == a[c - 3] && b[c] == b[c - 3]));
}

TEST_CASE("ml_na_2017: presets") {
    CHECK(learn::node_days<int>(ml_na::days_per_month).columns() + 1 == 91);
    CHECK(ml_na::labeling.most_groups == 10);
    CHECK_FALSE(ml_na::labeling.up_to_square_root);
    CHECK(ml_na::classifier.eta == 0.1);
    CHECK(ml_na::classifier.max_depth == 12);
    CHECK(ml_na::forecaster<int>().from() == learn::forecast_from::same_period);
}

TEST_CASE("ml_na_2017: months are labelled, learned from and judged") {
    std::mt19937_64 random(5), engine(6);
    std::vector<learn::node_period<int>> months;
    for (int m = 0; m < 4; ++m) {
        learn::node_days<int> days(ml_na::days_per_month);
        for (std::size_t day = 3; day < 30; ++day) // the first three days are empty, as in month 7
            for (int node = 0; node < 30; ++node)
                for (int i = 0; i < 4; ++i)
                    days.observe(node, day,
                                 static_cast<double>(random() % 100) / 100 - 0.5 +
                                     (node % 10 == m ? 1.2 : 0));
        learn::node_period<int> p;
        REQUIRE(ml_na::label(days, engine, p) == status::ok);
        for (std::size_t i = 0; i < p.nodes.size(); ++i) CHECK(p.weak[i] == (p.nodes[i] % 10 == m ? 1 : 0));
        months.push_back(std::move(p));
    }
    ml_na::forecaster<int> model;
    std::vector<learn::forecast_cell> table;
    REQUIRE(learn::forecast_table(std::span<learn::node_period<int> const>(months), model, table) ==
            status::ok);
    CHECK(table.size() == 6); // table III: windows of 1, 2 and 3 months
    for (auto const& cell : table) CHECK(*cell.forecast.accuracy() > 0.9);
}
