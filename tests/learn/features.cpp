// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/learn/features.hpp>
#include <straggle/rank/rank_nodes.hpp>

#include <support/allocations.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace straggle;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

struct score_of_day {
    int node;
    std::size_t day;
    double score;
};

// The definition, letter by letter: all scores of days 0 to d.
struct definition {
    std::vector<score_of_day> const& scores;
    int nodes;

    [[nodiscard]] std::vector<double> upto(int node, std::size_t day) const {
        std::vector<double> all;
        for (auto const& s : scores)
            if (s.node == node && s.day <= day) all.push_back(s.score);
        return all;
    }
    [[nodiscard]] double feature(int node, std::size_t day, learn::day_feature kind) const {
        if (kind == learn::day_feature::attempts) {
            double sum = 0, squares = 0;
            for (int k = 0; k < nodes; ++k) sum += static_cast<double>(upto(k, day).size());
            double const mean = sum / nodes;
            for (int k = 0; k < nodes; ++k)
                squares += std::pow(static_cast<double>(upto(k, day).size()) - mean, 2);
            double const sd = std::sqrt(squares / nodes);
            return sd > 0 ? (static_cast<double>(upto(node, day).size()) - mean) / sd : 0;
        }
        auto const all = upto(node, day);
        if (all.empty()) return no_number;
        double sum = 0, squares = 0;
        for (double x : all) sum += x;
        double const mean = sum / static_cast<double>(all.size());
        for (double x : all) squares += (x - mean) * (x - mean);
        return kind == learn::day_feature::mean_score ? mean
                                                      : std::sqrt(squares / static_cast<double>(all.size()));
    }
};

struct attempt {
    std::string job, host;
    double took;
    unsigned day;
};
constexpr attempt_fields fields{.job = &attempt::job, .node = &attempt::host, .duration = &attempt::took};

} // namespace

TEST_CASE("features: columns are day by day mean, deviation and number") {
    CHECK(learn::feature_of_column(0) == learn::day_feature::mean_score);
    CHECK(learn::feature_of_column(1) == learn::day_feature::sd_score);
    CHECK(learn::feature_of_column(89) == learn::day_feature::attempts);
    CHECK(learn::day_of_column(0) == 0);
    CHECK(learn::day_of_column(89) == 29);
    CHECK(learn::node_days<int>(30).columns() == 90);
}

TEST_CASE("features: by hand") {
    learn::node_days<std::string> days(3);
    CHECK(days.observe("a", 0, 1.0));
    CHECK(days.observe("a", 0, 3.0));
    CHECK(days.observe("b", 2, -1.0));
    REQUIRE(days.size() == 2);
    CHECK(days.node(0) == "a");
    CHECK(days.row_of("b") == 1);
    CHECK(days.row_of("c") == 2);
    std::vector<double> memory;
    auto const t = days.table(memory);
    REQUIRE(t.rows() == 2);
    REQUIRE(t.columns() == 9);
    auto const a = t.row(0), b = t.row(1);
    // a: 1 and 3 on the first day, nothing after; what was known stays.
    for (std::size_t const day : {0u, 1u, 2u}) {
        CHECK(a[3 * day] == 2);
        CHECK(a[3 * day + 1] == 1);
        CHECK(a[3 * day + 2] == 1); // 2 against 0 attempts, then 2 against 1
    }
    CHECK(std::isnan(b[0]));
    CHECK(std::isnan(b[1]));
    CHECK(b[2] == -1);
    CHECK(std::isnan(b[3]));
    CHECK(b[6] == -1);
    CHECK(b[7] == 0);
    CHECK(b[8] == -1);
    // The other reading: every idle day is missing.
    auto const p = days.table(memory, {.idle = learn::idle_days::missing});
    for (std::size_t c = 3; c < 9; ++c) CHECK(std::isnan(p.row(0)[c]));
    CHECK(p.row(0)[0] == 2);
    for (std::size_t c = 0; c < 6; ++c) CHECK(std::isnan(p.row(1)[c]));
    CHECK(p.row(1)[8] == 0); // the only one that day
}

TEST_CASE("features: equal to the definition on random days, whatever the order and the parts") {
    std::mt19937_64 engine(6);
    for (int round = 0; round < 20; ++round) {
        int const nodes = 1 + static_cast<int>(engine() % 6);
        std::size_t const days = 1 + engine() % 7;
        std::vector<score_of_day> scores;
        for (int k = 0; k < nodes; ++k) scores.push_back({k, engine() % days, 0.25});
        for (std::uint64_t i = engine() % 60; i > 0; --i)
            scores.push_back({static_cast<int>(engine() % static_cast<std::uint64_t>(nodes)), engine() % days,
                              static_cast<double>(engine() % 1000) / 100 - 5});
        learn::node_days<int> table(days), merged(days);
        for (int k = 0; k < nodes; ++k) table.observe(k, days - 1, 0); // fixes the order of the rows
        table.clear();
        std::map<std::pair<int, std::size_t>, stats::moments> parts;
        for (auto const& s : scores) {
            CHECK(table.observe(s.node, s.day, s.score));
            parts[{s.node, s.day}].add(s.score);
        }
        for (auto const& [place, m] : parts) CHECK(merged.merge(place.first, place.second, m));
        std::vector<double> memory, memory2;
        auto const t = table.table(memory), m = merged.table(memory2);
        definition const by_letter{scores, nodes};
        for (std::size_t row = 0; row < t.rows(); ++row)
            for (std::size_t c = 0; c < t.columns(); ++c) {
                double const expected =
                    by_letter.feature(table.node(row), learn::day_of_column(c), learn::feature_of_column(c));
                double const got = t.row(row)[c], other = m.row(merged.row_of(table.node(row)))[c];
                INFO("row " << row << " column " << c);
                if (std::isnan(expected)) {
                    CHECK(std::isnan(got));
                    CHECK(std::isnan(other));
                    continue;
                }
                CHECK(got == doctest::Approx(expected).epsilon(1e-12)); // sums of at most 66 numbers below 5
                CHECK(other == doctest::Approx(expected).epsilon(1e-12));
            }
    }
}

TEST_CASE("features: looking back on some days only") {
    learn::node_days<int> days(5);
    std::vector<std::vector<double>> const scores{{1, 2}, {}, {5}, {}, {}};
    for (std::size_t d = 0; d < 5; ++d)
        for (double const x : scores[d]) days.observe(1, d, x);
    days.observe(2, 4, -1.0);
    std::vector<double> memory;
    auto const t = days.table(memory, {.look_back = 2});
    std::vector<double> means, counts;
    for (std::size_t d = 0; d < 5; ++d) {
        means.push_back(t.row(0)[3 * d]);
        counts.push_back(t.row(0)[3 * d + 2]);
    }
    CHECK(means == std::vector<double>{1.5, 1.5, 5, 5, 5}); // what was known last stays
    CHECK(counts == std::vector<double>{1, 1, 1, 1, -1});   // in the end the other node has had more
    CHECK(t.row(0)[1] == 0.5);
    CHECK(t.row(0)[7] == 0);
    // As far as the period goes is the same as all of it, up to rounding.
    std::vector<double> all, far_back;
    auto const whole = days.table(all), back = days.table(far_back, {.look_back = 9});
    for (std::size_t c = 0; c < whole.columns(); ++c)
        CHECK(back.row(0)[c] == doctest::Approx(whole.row(0)[c]).epsilon(1e-14));
}

TEST_CASE("features: the last day of records is their ranking") {
    std::mt19937_64 engine(7);
    std::vector<attempt> attempts;
    for (int job = 0; job < 40; ++job)
        for (int i = 0; i < 12; ++i)
            attempts.push_back({"job " + std::to_string(job), "host " + std::to_string(engine() % 9),
                                static_cast<double>(10 + engine() % 50), static_cast<unsigned>(job / 8)});
    attempts.push_back({"job 0", "host 1", -1.0, 0});
    learn::node_days<std::string> days(5);
    attempt_counts const counts = days.observe_attempts(attempts, fields, &attempt::day);
    CHECK(counts.used == 480);
    CHECK(counts.total_rejected() == 1);
    auto const ranking = rank_nodes(attempts, fields);
    std::vector<double> memory;
    auto const t = days.table(memory);
    REQUIRE(t.rows() == ranking.nodes().size());
    for (auto const& node : ranking.nodes()) {
        auto const row = t.row(days.row_of(node.id));
        double const n = static_cast<double>(node.n);
        CHECK(row[12] ==
              doctest::Approx(node.mean).epsilon(1e-9).scale(1)); // scores are rounded to 2^-44 there
        CHECK(row[13] == doctest::Approx(node.sd * std::sqrt((n - 1) / n)).epsilon(1e-9));
    }
}

TEST_CASE("features: what is no score is left out") {
    learn::node_days<int> days(2);
    CHECK_FALSE(days.observe(1, 0, no_number));
    CHECK_FALSE(days.observe(1, 0, infinity));
    CHECK_FALSE(days.observe(1, 2, 0.0));
    CHECK_FALSE(days.merge(1, 0, stats::moments{}));
    CHECK_FALSE(days.merge(1, 2, stats::moments::from({0, 1, 0, 0})));
    CHECK_FALSE(days.merge(1, 0, stats::moments::from({no_number, 1, 0, 0})));
    CHECK(days.size() == 0);
    std::vector<double> memory;
    CHECK(days.table(memory).empty());
    std::vector<attempt> const out{
        {"j", "a", 1, 7}, {"j", "a", 2, 7}, {"j", "b", 3, 7}, {"j", "b", 4, 7}, {"j", "b", 5, 7}};
    CHECK(days.row_of(3) == 0);
    learn::node_days<std::string> named(2);
    CHECK(named.observe_attempts(out, fields, &attempt::day).used == 5);
    CHECK(named.size() == 0);
}

TEST_CASE("features: tables without gaps") {
    std::vector<double> const values{1, no_number, no_number, 2, no_number, 6, 3, no_number, 8};
    learn::complete_features whole;
    REQUIRE(learn::complete(learn::feature_matrix(values, 3), whole) == status::ok);
    CHECK(whole.columns == std::vector<std::uint32_t>{0, 2});
    CHECK(whole.values == std::vector<double>{1, 7, 2, 6, 3, 8});
    CHECK(whole.matrix().rows() == 3);
    std::vector<double> const none{no_number, no_number};
    CHECK(learn::complete(learn::feature_matrix(none, 1), whole) == status::insufficient_evidence);
    CHECK(learn::complete(learn::feature_matrix<double>{}, whole) == status::insufficient_evidence);
    std::vector<double> const bad{1, infinity};
    CHECK(learn::complete(learn::feature_matrix(bad, 1), whole) == status::out_of_domain);
}

TEST_CASE("features: allocates nothing once all nodes are known") {
    learn::node_days<std::string> days(30);
    std::vector<double> memory;
    learn::complete_features whole;
    auto const month = [&] {
        days.clear();
        for (std::size_t i = 0; i < 1000; ++i)
            days.observe(i % 2 == 0 ? "a node with a rather long name"
                                    : "another node with a rather long name",
                         i % 30, static_cast<double>(i % 7));
        (void)learn::complete(days.table(memory), whole);
    };
    month();
    CHECK(straggle_test::allocations_during(month) == 0);
}
