// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/stats/order.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/golden.hpp"
#include "../support/seed.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

using straggle::status;
using straggle::stats::median_and_mad_in_place;
using straggle::stats::median_in_place;
using straggle::stats::quantile_in_place;

using limits = std::numeric_limits<double>;
constexpr double nan = limits::quiet_NaN();
constexpr double inf = limits::infinity();

// The rules of tests/golden/order.py.
std::vector<double> values_of(std::string const& rule, std::size_t n, std::uint64_t seed) {
    std::vector<double> values(n);
    straggle_test::golden_sequence next(seed);
    for (double& value : values) {
        std::uint64_t const state = next();
        double const x = static_cast<double>(state >> 11) * 0x1p-53;
        if (rule == "uniform")
            value = x;
        else if (rule == "signed")
            value = 1024.0 * x - 512.0;
        else if (rule == "ties")
            value = static_cast<double>(state >> 61);
        else if (rule == "tail")
            value = 1.0 / (x + 0x1p-20);
        else
            FAIL("unknown rule ", rule);
    }
    return values;
}

TEST_CASE("order: quantiles of NumPy and R") {
    for (auto const& row : straggle_test::golden_table("order.csv")) {
        INFO(row.text(0), " n ", row.text(1), " q ", row.text(3));
        std::vector<double> values =
            values_of(row.text(0), row.integer<std::size_t>(1), row.integer<std::uint64_t>(2));
        double const largest = std::fabs(*std::max_element(
            values.begin(), values.end(), [](double a, double b) { return std::fabs(a) < std::fabs(b); }));
        auto const q = quantile_in_place(values, row.real(3));
        REQUIRE(q.has_value());
        // All three interpolate between the same two values, but round on different ways: the place in the
        // range is off by up to n ULP, times the step there.
        double const blur = 4e-16 * row.real(1) * largest;
        CHECK(std::fabs(*q - row.real(4)) <= blur);
        CHECK(std::fabs(*q - row.real(5)) <= blur);
        if (row.text(0) == "ties") CHECK(*q == doctest::Approx(row.real(4)).epsilon(1e-12));
    }
}

TEST_CASE("order: the ends and the places between") {
    std::vector<double> const sorted{-3, -1, 0, 2, 10};
    auto const q = [&](double at) {
        std::vector<double> v{2, -3, 10, 0, -1};
        return *quantile_in_place(v, at);
    };
    for (std::size_t i = 0; i < 5; ++i) CHECK(q(0.25 * static_cast<double>(i)) == sorted[i]);
    CHECK(q(0.125) == -2);
    CHECK(q(0.875) == 6);
    CHECK(q(limits::denorm_min()) == -3);
    CHECK(q(std::nextafter(1.0, 0.0)) <= 10);
}

TEST_CASE("order: a quantile agrees with sorting, stays between its neighbours and grows with q") {
    std::uint64_t const seed = straggle_test::seed_or(41);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    for (int round = 0; round < 500; ++round) {
        std::vector<double> values(1 + draw() % 50);
        for (double& v : values) v = static_cast<double>(static_cast<int>(draw() % 41) - 20) / 8;
        std::vector<double> sorted = values;
        std::sort(sorted.begin(), sorted.end());
        double before = sorted.front();
        for (int step = 0; step <= 64; ++step) { // multiples of 1/64 make the place exact
            double const q = step / 64.0, place = q * static_cast<double>(sorted.size() - 1);
            std::size_t const below = static_cast<std::size_t>(place);
            std::size_t const above = std::min(below + 1, sorted.size() - 1);
            auto const got = quantile_in_place(values, q);
            REQUIRE(got.has_value());
            double const fraction = place - std::floor(place);
            REQUIRE(*got == sorted[below] + fraction * (sorted[above] - sorted[below])); // all eighths: exact
            REQUIRE(*got >= before);
            before = *got;
        }
        std::sort(values.begin(), values.end());
        REQUIRE(values == sorted); // only moved about
    }
}

TEST_CASE("order: median of even and odd numbers of values") {
    std::vector<double> one{7}, two{1, 4}, three{9, -1, 2}, four{4, 1, 3, 2};
    CHECK(*median_in_place(one) == 7);
    CHECK(*median_in_place(two) == 2.5);
    CHECK(*median_in_place(three) == 2);
    CHECK(*median_in_place(four) == 2.5);
}

// Hadoop's own table for its slow node detector; it demands a relative error of at most 1e-5.
struct hdfs_case {
    std::vector<double> data;
    double median, mad;
};
std::vector<hdfs_case> const hdfs_table{
    {{9.6502431302}, 9.6502431302, 0},
    {{1.72168104625, 11.7872544459}, 6.75446774606, 7.4616095611},
    {{76.2635686249, 27.0652018553, 1.3868476443, 49.7194624164, 47.385680883, 57.8721199173},
     48.5525716497,
     22.837202532},
    {{86.0573389581, 93.2399572424, 64.9545429122, 35.8509730085, 1.6534313654},
     64.9545429122,
     41.9360180373},
    {{5.00127007366, 37.9790589127, 67.5784746266}, 37.9790589127, 43.8841594039},
    {{1.43442932944, 70.6769829947, 37.47579656, 51.1126141394, 72.2465914419, 32.2930549225, 39.677459781},
     39.677459781,
     16.9537852208},
    {{26.7913745214, 68.9833706658, 29.3882180746, 68.3455244453, 74.9277265022, 12.1469972942, 72.5395402683,
      7.87917492506, 33.3253447774, 72.2753759125},
     50.8354346113,
     31.9881230079},
    {{38.6482290705, 88.0690746319, 50.6673611649, 64.5329814115, 25.2580979294, 59.6709630711, 71.5406993741,
      81.3073035091, 20.5549547284},
     59.6709630711,
     31.1683520683},
    {{87.352734249, 65.4760359094, 28.9206803169, 36.5908574008, 87.7407653175, 99.3704511335, 41.3227434076,
      46.2713494909, 3.49940920921},
     46.2713494909,
     28.4729106898},
    {{95.3251533286, 27.2777870437, 43.73477168}, 43.73477168, 24.3991619317},
};

TEST_CASE("order: median and MAD of Hadoop's slow node detector") {
    for (hdfs_case const& c : hdfs_table) {
        std::vector<double> values = c.data;
        auto const got = median_and_mad_in_place(values);
        REQUIRE(got.has_value());
        CHECK(std::fabs(got->median - c.median) <= 1e-5 * c.median);
        CHECK(std::fabs(got->mad - c.mad) <= 1e-5 * c.mad);
    }
}

TEST_CASE("order: the scale of the MAD is the reciprocal of a normal quartile, to four digits") {
    CHECK(straggle::stats::normal_consistency ==
          doctest::Approx(1 / 0.67448975019608171).epsilon(5e-5 / 1.4826));
}

TEST_CASE("order: no values, bad values, bad places") {
    std::vector<double> none;
    CHECK(quantile_in_place(none, 0.5).reason() == status::insufficient_evidence);
    CHECK(median_in_place(none).reason() == status::insufficient_evidence);
    CHECK(median_and_mad_in_place(none).reason() == status::insufficient_evidence);
    for (double const bad : {nan, -nan, inf, -inf})
        for (std::size_t place = 0; place < 4; ++place) {
            std::vector<double> values{1, 2, 3, 4};
            values[place] = bad;
            CHECK(quantile_in_place(values, 0.0).reason() == status::out_of_domain);
            CHECK(median_in_place(values).reason() == status::out_of_domain);
            CHECK(median_and_mad_in_place(values).reason() == status::out_of_domain);
        }
    for (double const q : {nan, inf, -inf, -0.1, 1.1, std::nextafter(1.0, 2.0), -limits::denorm_min()}) {
        std::vector<double> values{1, 2, 3};
        CHECK(quantile_in_place(values, q).reason() == status::out_of_domain);
        CHECK(quantile_in_place(none, q).reason() == status::out_of_domain);
    }
    std::vector<double> values{3};
    CHECK(*quantile_in_place(values, -0.0) == 3);
}

TEST_CASE("order: values of any finite size have a finite median, or none") {
    double const most = limits::max();
    std::vector<double> ends{-most, most};
    CHECK(*median_in_place(ends) == 0);
    for (double const q : {0.01, 0.25, 0.75, 0.99}) {
        auto const got = quantile_in_place(ends, q);
        REQUIRE(got.has_value());
        CHECK(*got == doctest::Approx((2 * q - 1) * most).epsilon(1e-14));
    }
    // The deviations from the median do not fit a double here, nor does the scaled MAD there.
    for (std::vector<double> values : {std::vector<double>{-most, -most, most, most, most},
                                       {-most, most},
                                       {0, most, most},
                                       {0, 0.9 * most}}) {
        auto const got = median_and_mad_in_place(values);
        if (got) {
            CHECK(std::isfinite(got->median));
            CHECK(std::isfinite(got->mad));
        } else {
            CHECK(got.reason() == status::out_of_range);
        }
    }
}

TEST_CASE("order: equal values, one and a million") {
    for (std::size_t const n : {1u, 2u, 1000000u})
        for (double const x : {0.0, -2.5, 1e300}) {
            std::vector<double> values(n, x);
            for (double const q : {0.0, 0.3, 0.5, 1.0}) REQUIRE(*quantile_in_place(values, q) == x);
            auto const center = median_and_mad_in_place(values);
            REQUIRE(center.has_value());
            REQUIRE(*center == straggle::stats::median_and_mad{x, 0});
        }
}

TEST_CASE("order: allocates nothing") {
    std::vector<double> values = values_of("uniform", 10001, 1);
    double seen = 0;
    CHECK(straggle_test::allocations_during([&] {
              seen = *quantile_in_place(values, 0.9) + *median_in_place(values) +
                     median_and_mad_in_place(values)->mad;
          }) == 0);
    CHECK(seen > 0);
}

} // namespace
