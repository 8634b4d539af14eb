// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/predict/progress.hpp>

#include <straggle/stats/moments.hpp>
#include <straggle/stats/tick_moments.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/golden.hpp"
#include "../support/seed.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using straggle::outcome;
using straggle::status;
using straggle::predict::average_rate_remaining;

using limits = std::numeric_limits<double>;
constexpr double nan = limits::quiet_NaN();
constexpr double inf = limits::infinity();

static_assert(average_rate_remaining(10, 0.25).value() == 30.0); // usable in constant expressions

TEST_CASE("progress: average_rate by hand") {
    CHECK(average_rate_remaining(100, 0.8).value() == doctest::Approx(25).epsilon(1e-15));
    CHECK(average_rate_remaining(600, 0.5) == outcome<double>(600.0));
    CHECK(average_rate_remaining(600, 1) == outcome<double>(0.0));
    CHECK(average_rate_remaining(0, 0.5) == outcome<double>(0.0));
    // Hadoop's 1e-4: from there on a number, below it nothing.
    CHECK(average_rate_remaining(1, 1e-4).value() == doctest::Approx(9999).epsilon(1e-15));
    CHECK(average_rate_remaining(1, 0.9999e-4).reason() == status::insufficient_evidence);
    CHECK(average_rate_remaining(1e6, 0).reason() == status::insufficient_evidence);
    CHECK(average_rate_remaining(1e305, 1e-4).reason() == status::out_of_range);
    for (double bad : {nan, inf, -inf, -1.0}) {
        CHECK(average_rate_remaining(bad, 0.5).reason() == status::out_of_domain);
        CHECK(average_rate_remaining(1, bad).reason() == status::out_of_domain);
    }
    CHECK(average_rate_remaining(1, 1.5).reason() == status::out_of_domain);
}

TEST_CASE("progress: average_rate is exact for a task of constant speed") {
    // To the last bit where speed and progress are dyadic, else to three roundings.
    for (int i = 1; i <= 1024; ++i)
        REQUIRE(average_rate_remaining(i * 0.5, i / 1024.0).value() ==
                doctest::Approx(512 - i * 0.5).epsilon(4e-16));
    std::uint64_t const seed = straggle_test::seed_or(41);
    INFO("seed ", seed);
    straggle_test::golden_sequence next(seed);
    for (int k = 0; k < 200; ++k) {
        double const whole = std::exp(20 * next.unit() - 5);
        for (double p = next.unit() * 0.01 + 2e-4; p < 1; p += next.unit() * 0.05) {
            // 1 - p is off by half a unit in the last place of 1, the time by as much of itself.
            double const left = average_rate_remaining(p * whole, p).value();
            REQUIRE(std::fabs(left - (1 - p) * whole) <= 1e-15 * whole);
        }
    }
}

TEST_CASE("progress: average_rate falls with progress, grows with time, is never negative") {
    std::uint64_t const seed = straggle_test::seed_or(42);
    INFO("seed ", seed);
    straggle_test::golden_sequence next(seed);
    for (int k = 0; k < 20000; ++k) {
        double const t = 1000 * next.unit(), p = 1e-4 + (1 - 1e-4) * next.unit();
        double const more = p + (1 - p) * next.unit(), later = t + 100 * next.unit();
        double const left = average_rate_remaining(t, p).value();
        REQUIRE(left >= 0);
        REQUIRE(average_rate_remaining(t, more).value() <= left);
        REQUIRE(average_rate_remaining(later, p).value() >= left);
    }
}

TEST_CASE("progress: any reading at all") {
    // Never negative, never NaN, nothing allocated.
    std::uint64_t const seed = straggle_test::seed_or(43);
    INFO("seed ", seed);
    straggle_test::golden_sequence next(seed);
    double const odd[] = {nan, inf, -inf, 0, -0.0, 1, 1e-4, limits::denorm_min(), (limits::max)(), -1, 0.5};
    auto const any = [&] {
        return next() >> 62 == 0 ? odd[(next() >> 33) % std::size(odd)] : next.unit() * 2;
    };
    std::size_t const allocated = straggle_test::allocations_during([&] {
        for (int k = 0; k < 40000; ++k) {
            auto const left = average_rate_remaining(any(), any());
            if (left && !(*left >= 0 && *left <= (limits::max)())) FAIL("not a time: ", *left);
        }
    });
    CHECK(allocated == 0);
}

// Hadoop's and Tez's DataStatistics are the library's moments: the numbers of their TestDataStatistics, with
// its tolerance. What they call outlier(sigma) is the mean and so many population deviations.
TEST_CASE("progress: Hadoop's DataStatistics are moments") {
    auto const outlier = [](auto const& m, double sigma) {
        return m.mean() + sigma * std::sqrt(m.population_variance());
    };
    straggle::stats::moments one;
    CHECK(one.count() == 0); // Hadoop's mean of nothing is 0, Tez's the largest long; here there is none
    one.add(17.29);
    CHECK(one.count() == 1);
    CHECK(one.mean() == doctest::Approx(17.29).epsilon(1e-15));
    CHECK(one.population_variance() == 0);
    CHECK(outlier(one, 1) == doctest::Approx(17.29).epsilon(1e-15));

    straggle::stats::tick_moments two;
    two.add(17);
    two.add(29);
    CHECK(two.count() == 2);
    CHECK(two.mean() == 23);
    CHECK(two.population_variance() == 36);
    CHECK(outlier(two, 1) == 29);

    two.remove(17); // their observe(17, 29)
    two.add(29);
    CHECK(two.count() == 2);
    CHECK(two.mean() == 29);
    CHECK(two.population_variance() == 0);
}

} // namespace
