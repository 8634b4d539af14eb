// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/learn/kmeans.hpp>

#include <support/allocations.hpp>
#include <support/golden.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace straggle;

namespace {

struct points {
    std::vector<double> values;
    std::vector<std::uint32_t> label;
    std::size_t columns = 0;
    [[nodiscard]] learn::feature_matrix<double> matrix() const {
        return learn::feature_matrix(values, columns);
    }
};

// The rules of tests/golden/kmeans.py.
points table(std::string const& rule, std::size_t n, std::size_t d, std::size_t k, std::uint64_t seed) {
    std::uint64_t state = seed;
    auto const unit = [&state] {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<double>(state >> 11) * 0x1p-53;
    };
    points p;
    p.columns = d;
    for (std::size_t i = 0; i < n; ++i) {
        std::size_t label = i * 13 % k;
        if (rule == "unequal" && i % 8 != 0) label = 0;
        for (std::size_t c = 0; c < d; ++c) {
            double x = unit();
            if (rule == "blobs") x += c % k == label ? 8.0 : 0.0;
            if (rule == "unequal") x += c % k == label ? 4.0 : 0.0;
            if (rule == "offset") x = 1000.0 + x;
            if (rule == "grid") x = x < 0.25 ? 1.0 : 0.0;
            if (rule == "constant") x = c % 3 == 0 ? x : 5.0;
            p.values.push_back(x);
        }
        p.label.push_back(static_cast<std::uint32_t>(label));
    }
    return p;
}

double distance(std::span<double const> a, std::span<double const> b) {
    double sum = 0;
    for (std::size_t c = 0; c < a.size(); ++c) sum += (a[c] - b[c]) * (a[c] - b[c]);
    return sum;
}

// What must be true of any answer.
void check_answer(points const& p, learn::clustering const& c, std::size_t clusters) {
    auto const rows = p.matrix();
    REQUIRE(c.label.size() == rows.rows());
    REQUIRE(c.size.size() == clusters);
    std::vector<std::uint32_t> size(clusters);
    std::vector<double> center(clusters * p.columns);
    for (std::size_t i = 0; i < rows.rows(); ++i) {
        REQUIRE(c.label[i] < clusters);
        ++size[c.label[i]];
        for (std::size_t k = 0; k < p.columns; ++k) center[c.label[i] * p.columns + k] += rows.row(i)[k];
    }
    CHECK(size == c.size);
    double inertia = 0, scale = 0;
    for (double const x : p.values) scale = std::max(scale, std::fabs(x));
    for (std::size_t g = 0; g < clusters; ++g)
        for (std::size_t k = 0; k < p.columns; ++k) {
            double& x = center[g * p.columns + k];
            if (size[g] != 0) x /= size[g];
            CHECK(std::fabs(c.center(g)[k] - x) <= 1e-12 * scale);
        }
    for (std::size_t i = 0; i < rows.rows(); ++i) inertia += distance(rows.row(i), c.center(c.label[i]));
    CHECK(c.inertia == doctest::Approx(inertia).epsilon(1e-9).scale(1e-6));
    CHECK(c.inertia <= c.total * (1 + 1e-12));
}

} // namespace

TEST_CASE("kmeans: inertia and score as scikit-learn's") {
    for (auto const& row : straggle_test::golden_table("kmeans.csv")) {
        auto const n = row.integer<std::size_t>(1), k = row.integer<std::size_t>(3);
        points const p = table(row.text(0), n, row.integer<std::size_t>(2), k, row.integer<std::uint64_t>(4));
        INFO(row.text(0) << " n " << n << " k " << k);
        auto const score = learn::calinski_harabasz(p.matrix(), p.label);
        REQUIRE(score);
        CHECK(*score == doctest::Approx(row.real(6)).epsilon(1e-10));
        learn::kmeans solver;
        REQUIRE(solver.fit(p.matrix()) == status::ok);
        learn::clustering c;
        std::vector<double> inertia; // which optimum is found is chance, here and there
        for (std::uint64_t seed = 0; seed < 15; ++seed) {
            std::mt19937_64 engine(seed);
            REQUIRE(solver.group(k, engine, c) == status::ok);
            inertia.push_back(c.inertia);
        }
        check_answer(p, c, k);
        std::ranges::sort(inertia);
        CHECK(inertia[7] <= 1.01 * row.real(5));
        auto const again = learn::calinski_harabasz(p.matrix(), c.label);
        REQUIRE(again);
        CHECK(*c.score() == doctest::Approx(*again).epsilon(1e-10));
    }
}

TEST_CASE("kmeans: small cases have the best grouping there is") {
    std::mt19937_64 engine(3);
    for (int round = 0; round < 40; ++round) {
        std::size_t const n = 2 + engine() % 6, k = 1 + engine() % std::min<std::size_t>(n, 3);
        points p;
        p.columns = 2;
        for (std::size_t i = 0; i < 2 * n; ++i) p.values.push_back(static_cast<double>(engine() % 50));
        // All ways to put n rows into k groups.
        double least = std::numeric_limits<double>::max();
        std::size_t ways = 1;
        for (std::size_t i = 0; i < n; ++i) ways *= k;
        for (std::size_t way = 0; way < ways; ++way) {
            std::vector<double> sum(2 * k), size(k);
            double inertia = 0;
            for (std::size_t i = 0, rest = way; i < n; ++i, rest /= k) {
                sum[2 * (rest % k)] += p.values[2 * i];
                sum[2 * (rest % k) + 1] += p.values[2 * i + 1];
                size[rest % k] += 1;
            }
            for (std::size_t i = 0, rest = way; i < n; ++i, rest /= k)
                for (std::size_t c = 0; c < 2; ++c)
                    inertia += std::pow(p.values[2 * i + c] - sum[2 * (rest % k) + c] / size[rest % k], 2);
            least = std::min(least, inertia);
        }
        learn::kmeans solver({.restarts = 30, .tolerance = 0});
        REQUIRE(solver.fit(p.matrix()) == status::ok);
        learn::clustering c;
        REQUIRE(solver.group(k, engine, c) == status::ok);
        CHECK(c.inertia == doctest::Approx(least).epsilon(1e-9).scale(1e-6));
    }
}

TEST_CASE("kmeans: at the end every row is with its nearest centre, with and without a table of pairs") {
    for (std::size_t const n : {300u, 2048u, 2049u}) {
        points const p = table("uniform", n, 4, 6, n);
        learn::kmeans solver({.restarts = 2, .tolerance = 0});
        REQUIRE(solver.fit(p.matrix()) == status::ok);
        learn::clustering c;
        std::mt19937_64 engine(5);
        REQUIRE(solver.group(6, engine, c) == status::ok);
        check_answer(p, c, 6);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t g = 0; g < 6; ++g)
                CHECK(distance(p.matrix().row(i), c.center(c.label[i])) <=
                      distance(p.matrix().row(i), c.center(g)) * (1 + 1e-9));
        learn::clustering same;
        std::mt19937_64 again(5);
        REQUIRE(solver.group(6, again, same) == status::ok);
        CHECK(same.label == c.label);
        CHECK(same.inertia == c.inertia);
    }
}

TEST_CASE("kmeans: fewer different rows than groups") {
    points p;
    p.columns = 2;
    for (int i = 0; i < 30; ++i) p.values.insert(p.values.end(), {i % 3 == 0 ? 1.0 : 2.0, 7.0});
    learn::kmeans solver;
    REQUIRE(solver.fit(p.matrix()) == status::ok);
    learn::clustering c;
    std::mt19937_64 engine(7);
    REQUIRE(solver.group(5, engine, c) == status::ok);
    check_answer(p, c, 5);
    CHECK(c.groups() == 2);
    CHECK(c.inertia == 0);
    CHECK(c.score().reason() == status::no_spread);
    // All equal, a million of them.
    std::vector<double> const equal(1'000'000, 3.0);
    REQUIRE(solver.fit(learn::feature_matrix(equal, 1)) == status::ok);
    REQUIRE(solver.group(4, engine, c) == status::ok);
    CHECK(c.groups() == 1);
    CHECK(c.inertia == 0);
    CHECK(c.score().reason() == status::insufficient_evidence);
}

TEST_CASE("kmeans: one group, a group for each row, and more groups than rows") {
    points const p = table("uniform", 9, 2, 3, 1);
    learn::kmeans solver;
    REQUIRE(solver.fit(p.matrix()) == status::ok);
    learn::clustering c;
    std::mt19937_64 engine(8);
    REQUIRE(solver.group(1, engine, c) == status::ok);
    CHECK(c.inertia == doctest::Approx(c.total));
    CHECK(c.score().reason() == status::insufficient_evidence);
    REQUIRE(solver.group(9, engine, c) == status::ok);
    CHECK(c.inertia == doctest::Approx(0).epsilon(1e-20));
    CHECK(std::set<std::uint32_t>(c.label.begin(), c.label.end()).size() == 9);
    CHECK(solver.group(10, engine, c) == status::insufficient_evidence);
    CHECK(solver.group(0, engine, c) == status::out_of_domain);
}

TEST_CASE("kmeans: tables that are none") {
    learn::kmeans solver;
    CHECK(solver.fit(learn::feature_matrix<double>{}) == status::insufficient_evidence);
    for (double const bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        std::vector<double> const values{1, bad, 2, 3};
        CHECK(solver.fit(learn::feature_matrix(values, 2)) == status::out_of_domain);
        CHECK(learn::calinski_harabasz(learn::feature_matrix(values, 2), std::vector<std::uint32_t>{0, 1})
                  .reason() == status::out_of_domain);
    }
    std::vector<double> const huge{1e200, -1e200};
    CHECK(solver.fit(learn::feature_matrix(huge, 1)) == status::out_of_range);
    learn::clustering c;
    std::mt19937_64 engine(9);
    CHECK(solver.group(1, engine, c) == status::insufficient_evidence); // nothing is left of it
}

TEST_CASE("kmeans: scores of groupings that have none") {
    std::vector<double> const values{1, 2, 3, 4};
    auto const score = [&](std::vector<std::uint32_t> const& label) {
        return learn::calinski_harabasz(learn::feature_matrix(values, 1), label);
    };
    CHECK(score({7, 7, 7, 7}).reason() == status::insufficient_evidence);
    CHECK(score({0, 1, 2, 3}).reason() == status::insufficient_evidence);
    // By hand: means 1.5 and 3.5 of 2.5: between 4 * 1, within 4 * 0.25.
    CHECK(*score({9, 9, 4, 4}) == doctest::Approx((4.0 / 1) / (1.0 / 2)));
    std::vector<double> const twice{1, 1, 5, 5};
    CHECK(learn::calinski_harabasz(learn::feature_matrix(twice, 1), std::vector<std::uint32_t>{0, 0, 1, 1})
              .reason() == status::no_spread);
}

TEST_CASE("kmeans: allocates nothing once it has seen a table as large") {
    points const p = table("uniform", 500, 7, 5, 2), large = table("uniform", 3000, 7, 5, 2);
    for (points const* x : {&p, &large}) {
        learn::kmeans solver;
        learn::clustering c;
        auto const work = [&] {
            std::mt19937_64 engine(10);
            (void)solver.fit(x->matrix());
            for (std::size_t const k : {8u, 3u}) (void)solver.group(k, engine, c);
        };
        work();
        CHECK(straggle_test::allocations_during(work) == 0);
    }
}
