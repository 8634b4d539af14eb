// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/predict/recent_rate.hpp>

#include <straggle/predict/smoothed_progress.hpp>

#include <doctest/doctest.h>

#include <support/allocations.hpp>
#include <support/contract_trap.hpp>
#include <support/seed.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace straggle;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
static_assert(predict::progress_estimator<predict::recent_rate>);
static_assert(sizeof(predict::recent_rate) == 56, "as documented");

// A task that did 0.6 in 40 s and does 0.001 a second since then, a reading a second.
template <class Estimator>
void half_way(Estimator& task, int until) {
    for (int t = 1; t <= until; ++t) REQUIRE(task.observe(t, t <= 40 ? 0.015 * t : 0.6 + 0.001 * (t - 40)));
}

} // namespace

TEST_CASE("recent_rate: a task that becomes slow on the way is seen to be") {
    predict::recent_rate task;
    half_way(task, 40);
    CHECK(*task.remaining() == doctest::Approx(40 * 0.4 / 0.6));
    CHECK(task.even_progress() == doctest::Approx(0.6));
    half_way(task = predict::recent_rate(), 100);
    predict::average_rate average;
    half_way(average, 100);
    CHECK(*average.remaining() == doctest::Approx(51.5).epsilon(0.001)); // 100 x 0.34 / 0.66
    // The old speed counts exp(-60 / 30) still: 0.34 / (0.001 + 0.014 e^-2).
    CHECK(*task.remaining() == doctest::Approx(0.34 / (0.001 + 0.014 * std::exp(-2))));
    CHECK(*task.rate() == doctest::Approx(0.001 + 0.014 * std::exp(-2)));
    CHECK(*predict::average_rate_remaining(100, task.even_progress()) == doctest::Approx(*task.remaining()));
    predict::exponential_rate lately(30); // it is that, as it is the slower
    half_way(lately, 100);
    CHECK(*task.remaining() == doctest::Approx(*lately.remaining()));
}

TEST_CASE("recent_rate: a task that becomes faster is believed by its average") {
    predict::recent_rate task;
    REQUIRE(task.observe(50, 0.1));
    REQUIRE(task.observe(60, 0.4));
    CHECK(*task.remaining() == *predict::average_rate_remaining(60, 0.4));
    CHECK(*task.rate() == 0.4 / 60);
    CHECK(task.even_progress() == 0.4);
}

TEST_CASE("recent_rate: a launch that takes long is no slow work") {
    predict::recent_rate task; // 40 s until it works, then 0.02 a second
    for (int t = 1; t <= 40; ++t) REQUIRE(task.observe(t, 0));
    for (int t = 41; t <= 60; ++t) REQUIRE(task.observe(t, 0.02 * (t - 40)));
    CHECK(*task.rate() == 0.4 / 60); // the average is slower than what it does
    for (int t = 61; t <= 70; ++t) REQUIRE(task.observe(t, 0.4 + 0.005 * (t - 60)));
    // Since its first difference 0.02, then ten seconds of 0.005.
    CHECK(*task.rate() == doctest::Approx((std::min)(0.45 / 70, 0.005 + 0.015 * std::exp(-10.0 / 30))));
}

TEST_CASE("recent_rate: before two readings tell a difference, the average counts") {
    predict::recent_rate waited, at_once;
    for (int t = 1; t <= 10; ++t) REQUIRE(waited.observe(t, 0));
    CHECK(waited.remaining().reason() == status::insufficient_evidence);
    CHECK(waited.rate().reason() == status::insufficient_evidence);
    CHECK(waited.even_progress() == 0);
    REQUIRE(waited.observe(12, 0.1));
    REQUIRE(at_once.observe(12, 0.1));
    CHECK(*waited.remaining() == *at_once.remaining());
    CHECK(*waited.remaining() == doctest::Approx(108));
}

TEST_CASE("recent_rate: never less than average_rate, never a progress that is more than was told") {
    auto const seed = straggle_test::seed_or(20261122);
    INFO("seed ", seed);
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> unit;
    for (int round = 0; round < 200; ++round) {
        predict::recent_rate task(1 + 60 * unit(random));
        double t = 0, p = 0;
        while (p < 1) {
            t += 0.1 + 5 * unit(random);
            p = std::fmin(1.0, p + (unit(random) < 0.3 ? 0.0 : 0.05 * unit(random)));
            REQUIRE(task.observe(t, p));
            auto const average = predict::average_rate_remaining(t, p), left = task.remaining();
            REQUIRE(left.has_value() == average.has_value());
            REQUIRE(task.even_progress() >= 0);
            REQUIRE(task.even_progress() <= p);
            if (!left) continue;
            REQUIRE(*left >= *average);
            REQUIRE(*predict::average_rate_remaining(t, task.even_progress()) ==
                    doctest::Approx(*left).epsilon(1e-9));
        }
        CHECK(*task.remaining() == 0);
        CHECK(task.even_progress() == 1);
    }
}

TEST_CASE("recent_rate: a task that stands still, and readings that are none") {
    predict::recent_rate task(0.01);
    REQUIRE(task.observe(10, 0.5));
    REQUIRE(task.observe(1000, 0.5)); // exp(-99000) is 0
    CHECK(task.remaining().reason() == status::out_of_range);
    CHECK(task.even_progress() == 0);
    CHECK_FALSE(task.observe(999, 0.6));
    CHECK_FALSE(task.observe(1001, 0.4));
    CHECK_FALSE(task.observe(no_number, 0.6));
    CHECK_FALSE(task.observe(1001, no_number));
    CHECK_FALSE(task.observe(1001, 1.5));
    CHECK(task.counts().total_rejected() == 5);
    CHECK(task.progress() == 0.5);
    REQUIRE(task.observe(1001, 1));
    CHECK(*task.remaining() == 0);
}

TEST_CASE("recent_rate: allocates nothing; a memory of no time breaks the contract") {
    CHECK(straggle_test::allocations_during([] {
              predict::recent_rate task;
              for (int t = 1; t <= 100; ++t) (void)task.observe(t, 0.005 * t);
              (void)task.even_progress();
          }) == 0);
    straggle_test::contract_trap const trap;
    CHECK_THROWS_AS(predict::recent_rate(0), straggle_test::broken_contract);
    CHECK_THROWS_AS((predict::recent_rate{no_number}), straggle_test::broken_contract);
}
