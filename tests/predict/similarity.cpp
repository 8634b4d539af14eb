// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/predict/similarity.hpp>

#include "../support/allocations.hpp"
#include "../support/contract_trap.hpp"
#include "../support/seed.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace straggle;

namespace {

constexpr auto numeric = predict::factor_kind::numeric;
constexpr auto categorical = predict::factor_kind::categorical;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// Definition 1 as it stands, in more digits.
double literal_distance(std::vector<predict::factor_kind> const& kinds, std::vector<double> const& x,
                        std::vector<double> const& y, std::vector<double> const& ranges,
                        std::vector<double> const& weights) {
    long double sum = 0;
    for (std::size_t k = 0; k < kinds.size(); ++k) {
        long double d = 0;
        if (std::isnan(x[k]) != std::isnan(y[k]))
            d = 1;
        else if (std::isnan(x[k]))
            d = 0;
        else if (kinds[k] == categorical)
            d = x[k] == y[k] ? 0 : 1;
        else if (ranges[k] > 0)
            d = (static_cast<long double>(x[k]) - static_cast<long double>(y[k])) /
                static_cast<long double>(ranges[k]);
        sum += static_cast<long double>(weights[k]) * d * d;
    }
    return static_cast<double>(std::sqrt(sum));
}

double uniform(std::mt19937_64& draw) {
    return static_cast<double>(draw() >> 11) * 0x1p-53;
}

struct pair_of_rows {
    std::vector<predict::factor_kind> kinds;
    std::vector<double> x, y, ranges, weights;
    explicit pair_of_rows(std::mt19937_64& draw) {
        std::size_t const factors = 1 + draw() % 20;
        for (std::size_t k = 0; k < factors; ++k) {
            kinds.push_back(draw() % 3 == 0 ? categorical : numeric);
            double const scale = std::exp(40 * uniform(draw) - 20);
            auto const value = [&] {
                if (draw() % 8 == 0) return predict::missing_factor;
                return kinds[k] == categorical ? static_cast<double>(draw() % 3) : scale * uniform(draw);
            };
            x.push_back(value());
            y.push_back(value());
            ranges.push_back(draw() % 10 == 0 ? 0 : scale);
            weights.push_back(draw() % 6 == 0 ? 0 : uniform(draw));
        }
    }
};

} // namespace

TEST_CASE("similarity: the difference of two values of a factor") {
    CHECK(predict::factor_difference(numeric, 2, 5, 10) == 0.3);
    CHECK(predict::factor_difference(numeric, 5, 2, 10) == 0.3);
    CHECK(predict::factor_difference(numeric, -5, 20, 10) == 2.5); // outside the range
    CHECK(predict::factor_difference(numeric, 5, 5, 10) == 0);
    CHECK(predict::factor_difference(numeric, 2, 5, 0) == 0);
    CHECK(predict::factor_difference(numeric, 2, 5, 0x1p-1023) == 0);
    CHECK(predict::factor_difference(numeric, 0, 0x1p-1022, 0x1p-1022) == 1);
    CHECK(predict::factor_difference(categorical, 2, 5, 10) == 1);
    CHECK(predict::factor_difference(categorical, 5, 5, 0) == 0);
    CHECK(predict::factor_difference(categorical, -0.0, 0.0, 0) == 0);
    for (predict::factor_kind const kind : {numeric, categorical})
        for (double const range : {0.0, 1.0, 1e300}) {
            CHECK(predict::factor_difference(kind, predict::missing_factor, 5, range) == 1);
            CHECK(predict::factor_difference(kind, 5, predict::missing_factor, range) == 1);
            CHECK(predict::factor_difference(kind, predict::missing_factor, predict::missing_factor, range) ==
                  0);
            CHECK(predict::factor_difference(kind, -not_a_number, predict::missing_factor, range) ==
                  0); // any NaN
        }
    CHECK(predict::factor_difference(numeric, predict::largest_factor, -predict::largest_factor,
                                     2 * predict::largest_factor) == 1);
    static_assert(predict::factor_difference(numeric, 1, 2, 4) == 0.25);
}

TEST_CASE("similarity: what a row may hold") {
    static_assert(predict::is_factor_value(0) && predict::is_factor_value(predict::largest_factor) &&
                  predict::is_factor_value(-predict::largest_factor));
    static_assert(predict::is_factor_value(predict::missing_factor) &&
                  predict::is_missing_factor(predict::missing_factor));
    for (double const good : {-0.0, 1e-320, -1e300, not_a_number, -not_a_number})
        CHECK(predict::is_factor_value(good));
    for (double const bad :
         {infinity, -infinity, std::nextafter(predict::largest_factor, infinity), -1.7e308})
        CHECK(!predict::is_factor_value(bad));
    for (double const known : {0.0, infinity, -infinity, 1e-320, (std::numeric_limits<double>::max)()})
        CHECK(!predict::is_missing_factor(known));
    for (double const missing : {not_a_number, -not_a_number, std::numeric_limits<double>::signaling_NaN()})
        CHECK(predict::is_missing_factor(missing));
}

TEST_CASE("similarity: the distance is that of definition 1") {
    std::uint64_t const seed = straggle_test::seed_or(5101);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    for (int round = 0; round < 20'000; ++round) {
        pair_of_rows const p(draw);
        double const d = predict::weighted_distance(p.kinds, p.x, p.y, p.ranges, p.weights);
        double const expected = literal_distance(p.kinds, p.x, p.y, p.ranges, p.weights);
        // The bound of the documentation, and a rounding of the expected one.
        double const bound = (static_cast<double>(p.kinds.size()) / 2 + 7) * 0x1p-53;
        REQUIRE(std::abs(d - expected) <= bound * expected);
        REQUIRE(predict::weighted_distance(p.kinds, p.y, p.x, p.ranges, p.weights) == d);
        REQUIRE(predict::weighted_distance(p.kinds, p.x, p.x, p.ranges, p.weights) == 0);
    }
}

TEST_CASE("similarity: distances that are known without rounding") {
    std::vector<predict::factor_kind> const kinds{numeric, categorical, numeric};
    std::vector<double> const ranges{10, 1, 4}, weights{0.25, 4, 1};
    auto const distance = [&](std::vector<double> const& x, std::vector<double> const& y) {
        return predict::weighted_distance(kinds, x, y, ranges, weights);
    };
    CHECK(distance({0, 7, 2}, {10, 7, 2}) == 0.5);
    CHECK(distance({0, 7, 2}, {0, 8, 2}) == 2);
    CHECK(distance({0, 7, 0}, {0, 7, 3}) == 0.75);
    CHECK(distance({predict::missing_factor, 7, 2}, {3, 7, 2}) == 0.5);
    CHECK(distance({3, predict::missing_factor, 2}, {3, 7, 2}) == 2);
    CHECK(distance({3, 7, 2}, {3, 7, predict::missing_factor}) == 1);
    CHECK(distance({predict::missing_factor, 7, 2}, {predict::missing_factor, 7, 2}) == 0);
    CHECK(predict::weighted_distance({}, {}, {}, {}, {}) == 0);
}

TEST_CASE("similarity: nothing breaks at the ends of the numbers") {
    std::vector<predict::factor_kind> const kinds{numeric};
    auto const distance = [&](double x, double y, double range, double weight) {
        std::vector<double> const a{x}, b{y}, r{range}, w{weight};
        return predict::weighted_distance(kinds, a, b, r, w);
    };
    double const all = 2 * predict::largest_factor, least = (std::numeric_limits<double>::min)();
    CHECK(distance(predict::largest_factor, -predict::largest_factor, all, 1) == doctest::Approx(1));
    CHECK(distance(1e-300, 3e-300, 4e-300, 1) == doctest::Approx(0.5));
    CHECK(distance(0, least, least, 1) == doctest::Approx(1));
    CHECK(distance(0, 5e-324, 5e-324, 1) == 0); // the range counts as none
    CHECK(distance(0, 1, 1, 1e300) == doctest::Approx(1e150));
    CHECK(distance(predict::largest_factor, 0, least, 1) == infinity);
    CHECK(distance(3, 3, least, 1e308) == 0);
    CHECK(distance(predict::missing_factor, 3, 1, 1e308) == doctest::Approx(1e154));
    for (double const x :
         {0.0, 1.0, -1e300, predict::largest_factor, -predict::largest_factor, predict::missing_factor})
        for (double const y : {0.0, 1e-300, predict::largest_factor, predict::missing_factor})
            for (double const range : {0.0, 5e-324, least, 1.0, 1e300, all})
                for (double const weight : {0.0, 5e-324, 1.0, 1.7e308})
                    CHECK(distance(x, y, range, weight) >= 0); // not NaN
}

TEST_CASE("similarity: similarities add up to what is left of the squared distance") {
    std::mt19937_64 draw(straggle_test::seed_or(5102));
    for (int round = 0; round < 5'000; ++round) {
        pair_of_rows p(draw);
        double total = 0;
        for (double& w : p.weights) total += (w += 0.01);
        for (double& w : p.weights) w /= total;
        std::vector<double> s(p.kinds.size());
        predict::factor_similarities(p.kinds, p.x, p.y, p.ranges, s);
        double sum = 0;
        for (std::size_t k = 0; k < s.size(); ++k) {
            double const d = predict::factor_difference(p.kinds[k], p.x[k], p.y[k], p.ranges[k]);
            REQUIRE(s[k] == 1 - d * d);
            sum += p.weights[k] * s[k];
        }
        double const d = predict::weighted_distance(p.kinds, p.x, p.y, p.ranges, p.weights);
        REQUIRE(sum == doctest::Approx(1 - d * d).epsilon(1e-13)); // sums of up to 20 numbers of at most 1
    }
    std::vector<predict::factor_kind> const kinds{numeric, numeric, categorical};
    std::vector<double> const x{0, 0, 1}, y{30, predict::missing_factor, 1}, ranges{10, 10, 1};
    std::vector<double> s(3);
    predict::factor_similarities(kinds, x, y, ranges, s);
    CHECK(s == std::vector<double>{0, 0, 1}); // three ranges away is not less than nothing alike
}

TEST_CASE("similarity: rows of different lengths are a broken contract") {
    straggle_test::contract_trap const trap;
    std::vector<predict::factor_kind> const kinds{numeric, numeric};
    std::vector<double> const two{1, 2}, one{1};
    std::vector<double> out(2), short_out(1);
    using broken = straggle_test::broken_contract;
    CHECK_THROWS_AS((void)predict::weighted_distance(kinds, one, two, two, two), broken);
    CHECK_THROWS_AS((void)predict::weighted_distance(kinds, two, one, two, two), broken);
    CHECK_THROWS_AS((void)predict::weighted_distance(kinds, two, two, one, two), broken);
    CHECK_THROWS_AS((void)predict::weighted_distance(kinds, two, two, two, one), broken);
    CHECK_THROWS_AS(predict::factor_similarities(kinds, one, two, two, out), broken);
    CHECK_THROWS_AS(predict::factor_similarities(kinds, two, one, two, out), broken);
    CHECK_THROWS_AS(predict::factor_similarities(kinds, two, two, one, out), broken);
    CHECK_THROWS_AS(predict::factor_similarities(kinds, two, two, two, short_out), broken);
}

TEST_CASE("similarity: allocates nothing") {
    std::vector<predict::factor_kind> const kinds(20, numeric);
    std::vector<double> const x(20, 1.0), y(20, 2.0), ones(20, 1.0);
    std::vector<double> out(20);
    double d = 0;
    CHECK(straggle_test::allocations_during([&] {
              d = predict::weighted_distance(kinds, x, y, ones, ones);
              predict::factor_similarities(kinds, x, y, ones, out);
          }) == 0);
    CHECK(d == doctest::Approx(std::sqrt(20.0)));
}
