// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/learn/forecast.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using namespace straggle;

namespace {

// The smallest classifier there is: weak above the middle between the class means of the first feature. It
// notes what it was given.
struct halfway {
    static constexpr std::string_view name = "halfway";
    double edge = 0.5;
    std::vector<double>* seen_rows = nullptr;
    std::vector<std::uint8_t>* seen_labels = nullptr;

    status fit(learn::feature_matrix<double> const& rows, std::span<std::uint8_t const> labels) {
        if (seen_rows) seen_rows->assign(rows.values().begin(), rows.values().end());
        if (seen_labels) seen_labels->assign(labels.begin(), labels.end());
        if (rows.empty()) return status::insufficient_evidence;
        double sum[2] = {0, 0}, n[2] = {0, 0};
        for (std::size_t i = 0; i < rows.rows(); ++i) {
            sum[labels[i]] += rows.row(i)[0];
            n[labels[i]] += 1;
        }
        edge = n[0] > 0 && n[1] > 0 ? (sum[0] / n[0] + sum[1] / n[1]) / 2 : n[1] > 0 ? -1e300 : 1e300;
        return status::ok;
    }
    [[nodiscard]] double predict(std::span<double const> row) const { return row[0] > edge ? 1.0 : 0.0; }
};
static_assert(learn::classifier<halfway>);

using period = learn::node_period<std::string>;

// Features by node, of one column.
period month(std::vector<std::string> nodes, std::vector<double> features, std::vector<std::uint8_t> weak) {
    return {std::move(nodes), std::move(features), std::move(weak)};
}

std::vector<period> three_months() {
    return {month({"a", "b", "c"}, {0, 1, 0}, {0, 0, 1}), month({"c", "a", "d"}, {2, 5, 6}, {1, 0, 1}),
            month({"a", "d", "e"}, {7, 8, 9}, {0, 1, 1})};
}

} // namespace

TEST_CASE("forecast: pairs the features of a period with the labels of the next") {
    std::vector<double> rows;
    std::vector<std::uint8_t> labels;
    auto const months = three_months();
    learn::forecaster<std::string, halfway> before(learn::forecast_from::period_before,
                                                   {.seen_rows = &rows, .seen_labels = &labels});
    REQUIRE(before.fit(months) == status::ok);
    CHECK(rows == std::vector<double>{0, 0, 5, 6}); // c and a of the first month, a and d of the second
    CHECK(labels == std::vector<std::uint8_t>{1, 0, 0, 1});
    learn::forecaster<std::string, halfway> same(learn::forecast_from::same_period,
                                                 {.seen_rows = &rows, .seen_labels = &labels});
    REQUIRE(same.fit(std::span(months).first(2)) == status::ok);
    CHECK(rows == std::vector<double>{0, 1, 0, 2, 5, 6});
    CHECK(labels == std::vector<std::uint8_t>{0, 0, 1, 1, 0, 1});
}

TEST_CASE("forecast: one probability per node, without a look at the labels") {
    learn::forecaster<std::string, halfway> model(learn::forecast_from::same_period);
    std::vector<period> const months{month({"a", "b"}, {1, 3}, {0, 1})};
    REQUIRE(model.fit(months) == status::ok);
    std::vector<learn::node_forecast<std::string>> out;
    REQUIRE(model.forecast(month({"x", "y"}, {9, 0}, {}), out) == status::ok);
    CHECK(out == std::vector<learn::node_forecast<std::string>>{{"x", 1.0}, {"y", 0.0}});
    REQUIRE(model.forecast(month({"x", "y"}, {9, 0}, {0, 1}), out) == status::ok);
    CHECK(out == std::vector<learn::node_forecast<std::string>>{{"x", 1.0}, {"y", 0.0}});
}

TEST_CASE("forecast: the table by hand") {
    // The feature of a node tells what it will be; the labels of a month say what it was.
    std::vector<period> const months{month({"a", "b", "c", "d"}, {0, 9, 0, 0}, {1, 0, 0, 0}),
                                     month({"a", "b", "c", "d"}, {0, 0, 9, 0}, {0, 1, 0, 0}),
                                     month({"a", "b", "c", "d"}, {9, 0, 0, 0}, {0, 0, 1, 0}),
                                     month({"a", "b", "c", "e"}, {0, 0, 0, 0}, {1, 0, 0, 1})};
    learn::forecaster<std::string, halfway> model;
    std::vector<learn::forecast_cell> table;
    REQUIRE(learn::forecast_table(std::span<period const>(months), model, table) == status::ok);
    REQUIRE(table.size() == 3); // (1, 2 -> 3), (2, 3 -> 4), (1, 2, 3 -> 4)
    CHECK(table[0].first == 0);
    CHECK(table[0].count == 2);
    CHECK(table[0].forecast == stats::confusion_matrix{.true_positives = 1, .true_negatives = 3});
    CHECK(table[0].majority == stats::confusion_matrix{.false_negatives = 1, .true_negatives = 3});
    CHECK(table[0].repeat ==
          stats::confusion_matrix{.false_positives = 1, .false_negatives = 1, .true_negatives = 2});
    CHECK(table[1].first == 1);
    // Of e nothing is known.
    for (std::size_t const k : {1u, 2u})
        CHECK(table[k].forecast ==
              stats::confusion_matrix{.true_positives = 1, .false_negatives = 1, .true_negatives = 2});
    CHECK(table[2].count == 3);
    CHECK(*table[2].forecast.accuracy() == 0.75);
    CHECK(*table[2].forecast.precision() == 1);
    CHECK(*table[2].forecast.recall() == 0.5);
    CHECK(table[0].majority.precision().reason() == status::insufficient_evidence);
    // By the month's own features it is another task.
    learn::forecaster<std::string, halfway> same(learn::forecast_from::same_period);
    REQUIRE(learn::forecast_table(std::span<period const>(months), same, table) == status::ok);
    CHECK(table.size() == 3 + 2 + 1);
}

TEST_CASE("forecast: labels of the tested period, and of later ones, touch nothing that is said") {
    std::mt19937_64 engine(11);
    for (auto const from : {learn::forecast_from::period_before, learn::forecast_from::same_period}) {
        std::vector<period> months;
        for (int m = 0; m < 6; ++m) {
            period p;
            for (int k = 0; k < 12; ++k) {
                p.nodes.push_back("n" + std::to_string(k));
                p.features.push_back(static_cast<double>(engine() % 100));
                p.weak.push_back(engine() % 3 == 0);
            }
            months.push_back(std::move(p));
        }
        // Who is said to be weak in month 4, learning from those before.
        auto const said = [&](std::vector<period> const& all, std::vector<double>& rows,
                              std::vector<std::uint8_t>& labels) {
            learn::forecaster<std::string, halfway> model(from, {.seen_rows = &rows, .seen_labels = &labels});
            REQUIRE(model.fit(std::span(all).subspan(1, 3)) == status::ok);
            std::vector<learn::node_forecast<std::string>> out;
            REQUIRE(model.forecast(all[from == learn::forecast_from::same_period ? 4 : 3], out) ==
                    status::ok);
            return out;
        };
        std::vector<double> rows, rows2;
        std::vector<std::uint8_t> labels, labels2;
        auto const first = said(months, rows, labels);
        learn::forecaster<std::string, halfway> model(from);
        std::vector<learn::forecast_cell> table, table2;
        REQUIRE(learn::forecast_table(std::span<period const>(months), model, table) == status::ok);
        bool moved = false;
        for (int round = 0; round < 20; ++round) {
            auto permuted = months;
            for (std::size_t m : {4u, 5u}) std::ranges::shuffle(permuted[m].weak, engine);
            moved = moved || permuted[4].weak != months[4].weak;
            CHECK(said(permuted, rows2, labels2) == first);
            CHECK(rows == rows2);
            CHECK(labels == labels2);
            // In the table nobody else is named in a month tested whose labels were permuted, nor are the
            // months before judged otherwise.
            REQUIRE(learn::forecast_table(std::span<period const>(permuted), model, table2) == status::ok);
            REQUIRE(table2.size() == table.size());
            for (std::size_t c = 0; c < table.size(); ++c) {
                std::size_t const tested = table[c].first + table[c].count;
                if (tested < 4) CHECK(table2[c].forecast == table[c].forecast);
                if (tested == 4) {
                    auto const named = [](stats::confusion_matrix const& k) {
                        return k.true_positives + k.false_positives;
                    };
                    CHECK(named(table2[c].forecast) == named(table[c].forecast));
                    CHECK(named(table2[c].repeat) == named(table[c].repeat));
                }
            }
        }
        CHECK(moved);
    }
}

TEST_CASE("forecast: better than as it was before, or not to be told from chance") {
    using learn::beats_repeat;
    static_assert(!beats_repeat(0, 0) && !beats_repeat(5, 5) && !beats_repeat(4, 9));
    static_assert(!beats_repeat(2, 0) && beats_repeat(3, 0)); // 3 > 1.645 sqrt(3)
    static_assert(!beats_repeat(55, 45) && beats_repeat(60, 40));
    // In the table by hand: c is right for the forecast alone, a and b were weak before.
    std::vector<period> const months{month({"a", "b", "c", "d"}, {0, 9, 0, 0}, {1, 0, 0, 0}),
                                     month({"a", "b", "c", "d"}, {0, 0, 9, 0}, {0, 1, 0, 0}),
                                     month({"a", "b", "c", "d"}, {9, 0, 0, 0}, {0, 0, 1, 0})};
    learn::forecaster<std::string, halfway> model;
    std::vector<learn::forecast_cell> table;
    REQUIRE(learn::forecast_table(std::span<period const>(months), model, table) == status::ok);
    REQUIRE(table.size() == 1);
    CHECK(table[0].better == 2); // b is not weak again, c becomes it
    CHECK(table[0].worse == 0);
}

TEST_CASE("forecast: periods that do not fit") {
    learn::forecaster<std::string, halfway> model;
    auto const learn = [&](period const& p) { return model.fit(std::vector{p, p}); };
    CHECK(learn(month({"a"}, {1}, {0})) == status::ok);
    CHECK(model.columns() == 1); // by the data
    CHECK(learn(month({"a", "b"}, {1, 2, 3}, {0, 0})) == status::out_of_domain);
    CHECK(model.fit(std::vector{month({"a"}, {1}, {0}), month({"a"}, {1, 2}, {0})}) == status::out_of_domain);
    CHECK(model.columns() == 1);
    CHECK(learn(month({"a"}, {1}, {0, 1})) == status::out_of_domain);
    CHECK(learn(month({"a"}, {1}, {2})) == status::out_of_domain);
    CHECK(learn(month({"a", "a"}, {1, 2}, {0, 1})) == status::out_of_domain);
    CHECK(learn(month({"a"}, {1}, {})) == status::insufficient_evidence);
    CHECK(learn(month({}, {}, {})) == status::insufficient_evidence);
    CHECK(model.fit({}) == status::insufficient_evidence);
    std::vector<learn::node_forecast<std::string>> out{{"left over", 1}};
    CHECK(model.forecast(month({"a"}, {}, {}), out) == status::out_of_domain);
    CHECK(out.empty());
    std::vector<learn::forecast_cell> table;
    std::vector<period> const unlabelled{month({"a"}, {1}, {0}), month({"a"}, {1}, {})};
    CHECK(learn::forecast_table(std::span<period const>(unlabelled), model, table) == status::out_of_domain);
    CHECK(learn::forecast_table(std::span<period const>{}, model, table) == status::ok);
    CHECK(table.empty());
    // Nobody in common: nothing to learn from, nobody is named, and the cell says why.
    std::vector<period> const strangers{month({"a"}, {1}, {0}), month({"b"}, {1}, {1}),
                                        month({"b"}, {1}, {1})};
    REQUIRE(learn::forecast_table(std::span<period const>(strangers), model, table) == status::ok);
    REQUIRE(table.size() == 1);
    CHECK(table[0].learned == status::insufficient_evidence);
    CHECK(table[0].forecast == stats::confusion_matrix{.false_negatives = 1});
    CHECK(table[0].repeat == stats::confusion_matrix{.true_positives = 1});
}
