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
using straggle::predict::average_rate;
using straggle::predict::average_rate_remaining;
using straggle::predict::reading_rejection;
using straggle::predict::remaining_at;
using straggle::predict::sibling_time;

using limits = std::numeric_limits<double>;
constexpr double nan = limits::quiet_NaN();
constexpr double inf = limits::infinity();

static_assert(straggle::predict::progress_estimator<average_rate>);
static_assert(straggle::predict::progress_estimator<sibling_time>);
static_assert(sizeof(average_rate) == 40 && sizeof(sibling_time) == 48, "as documented");

// The least that is an estimator, and near misses.
struct minimal {
    bool observe(double, double) noexcept { return true; }
    [[nodiscard]] outcome<double> remaining() const noexcept { return 7.0; }
    [[nodiscard]] outcome<double> rate() const noexcept { return 1.0; }
    [[nodiscard]] double elapsed() const noexcept { return 2.0; }
};
struct update_may_throw : minimal {
    bool observe(double, double) { return true; }
};
struct remaining_as_number : minimal {
    [[nodiscard]] double remaining() const noexcept { return -1.0; }
};
struct without_rate : minimal {
    void rate() const = delete;
};
struct without_elapsed : minimal {
    void elapsed() const = delete;
};
static_assert(straggle::predict::progress_estimator<minimal>);
static_assert(!straggle::predict::progress_estimator<update_may_throw>);
static_assert(!straggle::predict::progress_estimator<remaining_as_number>);
static_assert(!straggle::predict::progress_estimator<without_rate>);
static_assert(!straggle::predict::progress_estimator<without_elapsed>);

// Usable in constant expressions.
constexpr double left_of_a_quarter = [] {
    average_rate task;
    task.observe(10, 0.25);
    return task.remaining().value();
}();
static_assert(left_of_a_quarter == 30.0);

TEST_CASE("progress: readings that cannot be used are left out and counted") {
    average_rate task;
    CHECK(task.counts() == straggle::predict::reading_counts{});
    REQUIRE(task.observe(10, 0.25));
    CHECK(!task.observe(nan, 0.5));
    CHECK(!task.observe(inf, 0.5));
    CHECK(!task.observe(-inf, 0.5));
    CHECK(!task.observe(-1, 0.5));
    CHECK(task.counts()[reading_rejection::bad_time] == 4);
    CHECK(!task.observe(20, nan));
    CHECK(!task.observe(20, inf));
    CHECK(!task.observe(20, -0.01));
    CHECK(!task.observe(20, 1.01));
    CHECK(task.counts()[reading_rejection::bad_progress] == 4);
    CHECK(!task.observe(10, 0.5));
    CHECK(!task.observe(9, 0.5));
    CHECK(!task.observe(10, 0.25));
    CHECK(task.counts()[reading_rejection::time_stood_still] == 3);
    CHECK(!task.observe(20, 0.2));
    CHECK(task.counts()[reading_rejection::progress_fell] == 1);
    CHECK(task.counts().total_rejected() == 12);
    CHECK(task.counts().used == 1);
    // As if they had never come.
    CHECK(task.elapsed() == 10);
    CHECK(task.progress() == 0.25);
    CHECK(task.remaining() == outcome<double>(30.0));
    // No progress for a while is a reading.
    CHECK(task.observe(20, 0.25));
    CHECK(task.remaining() == outcome<double>(60.0));
}

TEST_CASE("progress: the start is (0, 0)") {
    average_rate task;
    CHECK(!task.observe(0, 0));
    CHECK(!task.observe(-0.0, 0));
    CHECK(!task.observe(limits::denorm_min(), 1)); // a step too small to divide by
    CHECK(task.counts()[reading_rejection::time_stood_still] == 3);
    CHECK(task.observe((limits::min)(), 1));
    CHECK(task.rate().has_value());
}

TEST_CASE("progress: names of the rejections") {
    CHECK(to_string(reading_rejection::bad_time) == "bad_time");
    CHECK(to_string(reading_rejection::bad_progress) == "bad_progress");
    CHECK(to_string(reading_rejection::time_stood_still) == "time_stood_still");
    CHECK(to_string(reading_rejection::progress_fell) == "progress_fell");
}

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

    average_rate task;
    CHECK(task.remaining().reason() == status::insufficient_evidence);
    CHECK(task.rate().reason() == status::insufficient_evidence);
    task.observe(40, 0.1);
    CHECK(task.rate().value() == doctest::Approx(0.0025).epsilon(1e-15));
    CHECK(task.remaining().value() == doctest::Approx(360).epsilon(1e-15));
}

TEST_CASE("progress: average_rate is exact for a task of constant speed") {
    // To the last bit where speed and progress are dyadic, else to three roundings.
    average_rate task;
    for (int i = 1; i <= 1024; ++i) {
        REQUIRE(task.observe(i * 0.5, i / 1024.0));
        REQUIRE(task.remaining().value() == doctest::Approx(512 - i * 0.5).epsilon(4e-16));
    }
    std::uint64_t const seed = straggle_test::seed_or(41);
    INFO("seed ", seed);
    straggle_test::golden_sequence next(seed);
    for (int k = 0; k < 200; ++k) {
        double const whole = std::exp(20 * next.unit() - 5);
        average_rate t;
        for (double p = next.unit() * 0.01 + 2e-4; p < 1; p += next.unit() * 0.05) {
            t.observe(p * whole, p);
            // 1 - p is off by half a unit in the last place of 1, the time by as much of itself.
            REQUIRE(std::fabs(t.remaining().value() - (1 - p) * whole) <= 1e-15 * whole);
            REQUIRE(t.rate().value() == doctest::Approx(1 / whole).epsilon(1e-15));
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

TEST_CASE("progress: sibling_time by hand") {
    sibling_time task;
    CHECK(task.remaining().reason() == status::insufficient_evidence);
    CHECK(task.rate().reason() == status::insufficient_evidence);
    task.observe(30, 0.9);
    CHECK(task.remaining().reason() == status::insufficient_evidence); // progress is no evidence here

    CHECK(task.expect(100));
    CHECK(task.remaining() == outcome<double>(70.0));
    CHECK(task.rate() == outcome<double>(0.01));
    CHECK(task.expect(100, 1.5));
    CHECK(task.remaining() == outcome<double>(120.0));
    task.observe(149, 0.9);
    CHECK(task.remaining() == outcome<double>(1.0));
    task.observe(151, 0.9);
    CHECK(task.remaining() == outcome<double>(0.0)); // overdue

    for (double bad : {nan, inf, -inf, 0.0, -1.0}) {
        CHECK(!task.expect(bad));
        CHECK(!task.expect(100, bad));
    }
    CHECK(!task.expect(1e200, 1e200));
    CHECK(!task.expect(1e-200, 1e-200));
    CHECK(task.rate().value() == doctest::Approx(1 / 150.0)); // what was expected before still is

    sibling_time done;
    done.observe(5, 1);
    CHECK(done.remaining() == outcome<double>(0.0)); // known without knowing what is usual
}

TEST_CASE("progress: the time left at a later moment") {
    average_rate task;
    CHECK(remaining_at(task, 5).reason() == status::insufficient_evidence);
    task.observe(10, 0.25);
    CHECK(remaining_at(task, 10) == outcome<double>(30.0));
    CHECK(remaining_at(task, 25) == outcome<double>(15.0));
    CHECK(remaining_at(task, 40) == outcome<double>(0.0));
    CHECK(remaining_at(task, 1e300) == outcome<double>(0.0));
    CHECK(remaining_at(task, 4) == outcome<double>(36.0)); // a look back: the end is where it is
    for (double bad : {nan, inf, -inf, -1.0})
        CHECK(remaining_at(task, bad).reason() == status::out_of_domain);
    CHECK(remaining_at(minimal{}, 3) == outcome<double>(6.0));
    // Silence told as no progress: the end moves away.
    task.observe(25, task.progress());
    CHECK(remaining_at(task, 25) == outcome<double>(75.0));
}

TEST_CASE("progress: any readings at all") {
    // Never negative, never NaN, nothing allocated.
    std::uint64_t const seed = straggle_test::seed_or(43);
    INFO("seed ", seed);
    straggle_test::golden_sequence next(seed);
    double const odd[] = {nan, inf, -inf, 0, -0.0, 1, 1e-4, limits::denorm_min(), (limits::max)(), -1, 0.5};
    auto const any = [&] {
        return next() >> 62 == 0 ? odd[(next() >> 33) % std::size(odd)] : next.unit() * 2;
    };
    std::size_t const allocated = straggle_test::allocations_during([&] {
        for (int k = 0; k < 2000; ++k) {
            average_rate a;
            sibling_time b;
            b.expect(any(), any());
            for (int i = 0; i < 20; ++i) {
                double const t = i * any(), p = any();
                bool const used = a.observe(t, p);
                if (used != b.observe(t, p)) FAIL("the two disagree about a reading");
                for (auto const& left : {a.remaining(), b.remaining(), remaining_at(a, t)})
                    if (left && !(*left >= 0 && *left <= (limits::max)())) FAIL("not a time: ", *left);
                for (auto const& rate : {a.rate(), b.rate()})
                    if (rate && !(*rate >= 0 && *rate <= (limits::max)())) FAIL("not a rate: ", *rate);
            }
            if (a.counts().used + a.counts().total_rejected() != 20) FAIL("not all readings were counted");
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
