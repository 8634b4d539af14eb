// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/stats/interval.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/golden.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace {

using straggle::status;
using straggle::stats::confidence_level;
using straggle::stats::deviation_kind;
using straggle::stats::interval;
using straggle::stats::standard_deviation;
using straggle::stats::t_interval;

static_assert(straggle::stats::interval_rule<t_interval>);
static_assert(interval{1, 1}.is_point() && !interval{1, 2}.is_point());
static_assert(interval{1, 2} == interval{1, 2} && interval{1, 2} != interval{1, 3});

TEST_CASE("interval: algorithm 2 with both denominators") {
    for (auto const& row : straggle_test::golden_table("interval.csv")) {
        INFO("n ", row.text(0), " level ", row.real(3), " ", row.text(4));
        std::uint64_t const n = row.integer<std::uint64_t>(0);
        deviation_kind const kind =
            row.text(4) == "sample" ? deviation_kind::sample : deviation_kind::population;
        t_interval const rule(*confidence_level::from(row.real(3)), kind);
        CHECK(rule.deviation() == kind);
        auto const sd = standard_deviation(n, row.real(2), kind);
        REQUIRE(sd.has_value());
        auto const got = rule(n, row.real(1), *sd);
        REQUIRE(got.has_value());
        // The quantile is good to a few ULP, then there are five roundings on the way.
        double const half = (row.real(6) - row.real(5)) / 2;
        double const blur = 4e-15 * half + 2 * straggle_test::ulp_of(row.real(1));
        CHECK(std::fabs(got->low - row.real(5)) <= blur);
        CHECK(std::fabs(got->high - row.real(6)) <= blur);
        CHECK(got->low <= got->high);
        CHECK(got->is_point() == (row.real(2) == 0));
    }
}

// R: t.test(c(1, 2, 4, 9))$conf.int, to the last digit R prints with %a.
TEST_CASE("interval: the one R's t.test gives") {
    auto const sd = standard_deviation(4, 38, deviation_kind::sample);
    auto const got = t_interval{}(4, 4, *sd);
    REQUIRE(got.has_value());
    CHECK(got->low == doctest::Approx(-0x1.a9c7c899adf0cp+0).epsilon(1e-14));
    CHECK(got->high == doctest::Approx(0x1.3538f91335be2p+3).epsilon(1e-14));
}

TEST_CASE("interval: the default is the sample's deviation at 95 %") {
    CHECK(t_interval{}.deviation() == deviation_kind::sample);
    auto const a = t_interval{}(7, 1.0, 2.0), b = t_interval{0.95}(7, 1.0, 2.0);
    CHECK(*a == *b);
}

TEST_CASE("interval: fewer than two values have none") {
    for (deviation_kind const kind : {deviation_kind::sample, deviation_kind::population}) {
        t_interval const rule(0.95, kind);
        CHECK(rule(0, 0.0, 0.0).reason() == status::insufficient_evidence);
        CHECK(rule(1, 3.0, 0.0).reason() == status::insufficient_evidence);
        CHECK(rule(1, 3.0, 1.0).reason() == status::insufficient_evidence);
        CHECK(rule(2, 3.0, 1.0).has_value());
    }
}

TEST_CASE("interval: no deviation makes a point") {
    for (std::uint64_t const n : {std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{1000000}}) {
        auto const got = t_interval{}(n, -1.25, 0.0);
        REQUIRE(got.has_value());
        CHECK(got->is_point());
        CHECK(got->low == -1.25);
    }
}

TEST_CASE("interval: shrinks with evidence and grows with confidence") {
    double wider = std::numeric_limits<double>::infinity();
    for (std::uint64_t n = 2; n < 300; ++n) {
        auto const got = t_interval{}(n, 0.0, 1.0);
        REQUIRE(got->high < wider);
        REQUIRE(got->low == -got->high);
        wider = got->high;
        REQUIRE(t_interval{0.99}(n, 0.0, 1.0)->high > got->high);
        REQUIRE(t_interval{0.9}(n, 0.0, 1.0)->high < got->high);
    }
    // As n grows it becomes the normal interval: 1.959964 / sqrt(n).
    auto const large = t_interval{}(std::uint64_t{1} << 60, 0.0, 1.0);
    CHECK(large->high == doctest::Approx(1.9599639845400543 * 0x1p-30).epsilon(1e-14));
}

TEST_CASE("interval: standard deviations") {
    CHECK(*standard_deviation(5, 16, deviation_kind::sample) == 2);
    CHECK(*standard_deviation(4, 16, deviation_kind::population) == 2);
    CHECK(*standard_deviation(1, 0, deviation_kind::population) == 0);
    CHECK(standard_deviation(1, 0, deviation_kind::sample).reason() == status::insufficient_evidence);
    CHECK(standard_deviation(0, 0, deviation_kind::sample).reason() == status::insufficient_evidence);
    CHECK(standard_deviation(0, 0, deviation_kind::population).reason() == status::insufficient_evidence);
    // The population's understates by sqrt((n-1)/n): 29 % at n = 2.
    double const ratio = *standard_deviation(2, 1, deviation_kind::population) /
                         *standard_deviation(2, 1, deviation_kind::sample);
    CHECK(ratio == doctest::Approx(std::sqrt(0.5)).epsilon(1e-15));
}

TEST_CASE("interval: allocates nothing") {
    double seen = 0;
    CHECK(straggle_test::allocations_during([&] { seen = t_interval{}(10, 1.0, 2.0)->high; }) == 0);
    CHECK(seen > 1);
}

} // namespace
