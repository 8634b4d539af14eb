// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/predict/smoothed_progress.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/contract_trap.hpp"
#include "../support/golden.hpp"
#include "../support/seed.hpp"

#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using straggle::outcome;
using straggle::status;
using straggle::predict::exponential_rate;
using straggle::predict::simple_exponential;

using limits = std::numeric_limits<double>;
constexpr double nan = limits::quiet_NaN();
constexpr double inf = limits::infinity();

static_assert(straggle::predict::progress_estimator<exponential_rate>);
static_assert(straggle::predict::progress_estimator<simple_exponential>);
static_assert(sizeof(exponential_rate) == 56 && sizeof(simple_exponential) == 64, "as documented");

// The rules of tests/golden/smoothed_progress.py.
std::vector<std::pair<double, double>> readings(std::string rule, std::uint64_t seed, int n) {
    std::vector<std::pair<double, double>> all;
    double elapsed = 0, progress = 0;
    if (rule == "jitter") {
        straggle_test::golden_sequence next(seed);
        for (int i = 0; i < n; ++i) {
            elapsed += 0.25 + 8 * next.unit();
            double const x = next.unit();
            progress += x < 0.25 ? 0.0 : x / (2 * n);
            all.emplace_back(elapsed, progress);
        }
        return all;
    }
    bool const moved = rule.back() == '+';
    if (moved) rule.pop_back();
    std::vector<double> const speeds = rule == "constant"  ? std::vector{0.005, 0.005, 0.005, 0.005}
                                       : rule == "slowing" ? std::vector{0.005, 0.004, 0.002, 0.001}
                                                           : std::vector{0.005, 0.004, 0.002, 0.0, 0.003};
    if (moved) progress = speeds[0];
    for (int count = 0; progress <= 1.0; ++count) {
        elapsed += 1000.0;
        all.emplace_back(elapsed, progress);
        progress +=
            speeds.at(rule == "stall" && count > 1000 ? 4 : static_cast<std::size_t>(progress / 0.25));
    }
    return all;
}

double off(double got, double exact) {
    return exact == 0 ? std::fabs(got) : std::fabs(got / exact - 1);
}

TEST_CASE("smoothed progress: sums over all readings at 50 digits") {
    for (auto const& row : straggle_test::golden_table("smoothed_progress.csv")) {
        INFO(row.text(0), " seed ", row.text(1), " n ", row.text(2), " tau ", row.text(3), " warm up ",
             row.text(4));
        auto const points = readings(row.text(0), row.integer<std::uint64_t>(1), row.integer<int>(2));
        double const tau = row.real(3), rate = row.real(5), errors = row.real(7);
        std::optional<std::uint32_t> const warm_up =
            row.text(4).empty() ? std::nullopt : std::optional(row.integer<std::uint32_t>(4));
        auto const check = [&](auto& task) {
            for (auto const& [elapsed, progress] : points) REQUIRE(task.observe(elapsed, progress));
            if (warm_up ? points.size() <= *warm_up : !(points.back().second >= 1e-4)) {
                CHECK(task.remaining().reason() == status::insufficient_evidence);
                return;
            }
            // Each step rounds a few times, and the steps before it fade.
            CHECK(off(task.rate().value(), rate) <= 1e-13);
            if (row.text(6).empty())
                CHECK(task.remaining().reason() == status::out_of_range);
            else
                CHECK(off(task.remaining().value(), row.real(6)) <= 1e-13);
        };
        if (warm_up) {
            simple_exponential task({.tau = tau, .warm_up = *warm_up});
            check(task);
            if (points.size() > 1) {
                // A difference of speeds is good to some units in the last place of the speeds.
                double const noise = 1e-15 * 0.1 / (points[0].first < 100 ? 1 : 1000);
                double const n = static_cast<double>(points.size());
                CHECK(std::fabs(task.sum_of_squared_errors().value() - errors) <=
                      1e-12 * errors + n * noise * noise);
            }
        } else {
            exponential_rate task(tau);
            check(task);
        }
    }
}

TEST_CASE("smoothed progress: Hadoop's three forecasts") {
    struct {
        char const* rule;
        double tau, literal, moved; // sums of squared errors, as our replay of the Java code gives them
    } const cases[] = {{"constant", 10000, 1.42e-10, 0},
                       {"slowing", 800, 6.95e-11, 4.2e-11},
                       {"stall", 800, 1.54e-10, 1.3e-10}};
    for (auto const& c : cases) {
        INFO(c.rule);
        // As in TestSimpleExponentialForecast, where the first reading is 0; and with one that is not, as the
        // numbers of our replay in the reference data have it.
        for (bool const moved : {false, true}) {
            simple_exponential task({.tau = c.tau, .warm_up = 12});
            std::size_t n = 0;
            for (auto const& [elapsed, progress] : readings(std::string(c.rule) + (moved ? "+" : ""), 0, 0)) {
                REQUIRE(task.observe(elapsed, progress));
                ++n;
                REQUIRE(task.rate().has_value() == (n > 12)); // Hadoop's -1 until then
                REQUIRE(task.is_warm() == (n > 12));
            }
            double const errors = task.sum_of_squared_errors().value();
            CHECK(errors < 1e-6);
            double const expected = moved ? c.moved : c.literal;
            CHECK(std::fabs(errors - expected) <= 0.03 * expected + 1e-36);
        }
    }
}

TEST_CASE("smoothed progress: exponential_rate by hand") {
    exponential_rate task;
    CHECK(task.remaining().reason() == status::insufficient_evidence);
    REQUIRE(task.observe(20, 0.2)); // 0.01 per second
    CHECK(task.rate().value() == doctest::Approx(0.01).epsilon(1e-15));
    CHECK(task.remaining().value() == doctest::Approx(80).epsilon(1e-15));
    REQUIRE(task.observe(80, 0.26)); // 0.001 per second, for tau: 0.001 + 0.009 / e
    CHECK(task.rate().value() == doctest::Approx(0.001 + 0.009 * std::exp(-1)).epsilon(1e-14));
    CHECK(task.remaining().value() == doctest::Approx(0.74 / (0.001 + 0.009 * std::exp(-1))).epsilon(1e-14));
    REQUIRE(task.observe(6080, 0.26)); // a hundred tau without progress
    CHECK(task.rate().value() == doctest::Approx(0.00431092 * std::exp(-100)).epsilon(1e-5));
    REQUIRE(task.observe(6081, 1));
    CHECK(task.remaining() == outcome<double>(0.0));
}

// Hadoop's update, sign and all (ExponentiallySmoothedTaskRuntimeEstimator.EstimateVector.incorporate).
class hadoop_rate {
  public:
    explicit hadoop_rate(double tau) : tau_(tau) {}
    void observe(double time, double progress) {
        double const weight = rate_ < 0 ? 0.0 : std::exp((time - time_) / tau_);
        rate_ = rate_ * weight + (progress - progress_) / (time - time_) * (1.0 - weight);
        time_ = time;
        progress_ = progress;
    }
    [[nodiscard]] double rate() const { return rate_; }

  private:
    double tau_, rate_ = -1, time_ = 0, progress_ = 0;
};

TEST_CASE("smoothed progress: Hadoop's sign makes a task that slows down look faster") {
    exponential_rate ours(60);
    hadoop_rate theirs(60);
    double progress = 0;
    auto const run = [&](int from, int to, double speed) {
        for (int t = from + 1; t <= to; ++t) {
            progress += speed;
            ours.observe(t, progress);
            theirs.observe(t, progress);
        }
    };
    run(0, 20, 0.01);
    // Nothing to tell them apart while the speed is constant: that is why Hadoop's own test passes.
    CHECK(ours.rate().value() == doctest::Approx(0.01).epsilon(1e-12));
    CHECK(theirs.rate() == doctest::Approx(0.01).epsilon(1e-12));
    run(20, 80, 0.001);
    CHECK(ours.rate().value() == doctest::Approx(0.001 + 0.009 * std::exp(-1)).epsilon(1e-12)); // 0.0043
    CHECK(theirs.rate() == doctest::Approx(0.001 + 0.009 * std::exp(1)).epsilon(1e-12));        // 0.0255
    // Of what is left ours expects at least 74 % of what it takes at the true speed; theirs 4 %.
    CHECK((1 - progress) / theirs.rate() < 0.05 * (1 - progress) / 0.001);
    run(80, 260, 0.001);
    CHECK(ours.rate().value() == doctest::Approx(0.001).epsilon(0.17));
    CHECK(theirs.rate() > 0.4); // it runs away
}

TEST_CASE("smoothed progress: simple_exponential says nothing until it is warm") {
    simple_exponential task;
    for (int i = 1; i <= 24; ++i) {
        REQUIRE(task.observe(i, i / 100.0));
        REQUIRE(task.remaining().reason() == status::insufficient_evidence);
        REQUIRE(task.rate().reason() == status::insufficient_evidence);
    }
    CHECK(!task.observe(24, 0.3)); // a reading that is not used does not warm
    CHECK(!task.is_warm());
    REQUIRE(task.observe(25, 0.25));
    CHECK(task.is_warm());
    CHECK(task.remaining().value() == doctest::Approx(75).epsilon(1e-12));

    simple_exponential done;
    done.observe(3, 1);
    CHECK(done.remaining() == outcome<double>(0.0)); // nothing to forecast
    CHECK(done.rate().reason() == status::insufficient_evidence);
}

TEST_CASE("smoothed progress: a task that reports nothing but its life stands still") {
    simple_exponential task;
    for (int i = 1; i <= 25; ++i) REQUIRE(task.observe(i, 0));
    CHECK(task.rate() == outcome<double>(0.0));
    CHECK(task.remaining().reason() == status::out_of_range); // Hadoop: 116 days
    CHECK(task.sum_of_squared_errors() == outcome<double>(0.0));
    exponential_rate other;
    for (int i = 1; i <= 25; ++i) REQUIRE(other.observe(i, 0));
    CHECK(other.remaining().reason() == status::insufficient_evidence); // below 1e-4, as for linear
}

TEST_CASE("smoothed progress: a slow reporter has a longer memory") {
    // Every 60 s; at the 25th reading the memory becomes the 1500 s the task has lived.
    simple_exponential task;
    for (int i = 1; i <= 24; ++i) task.observe(60 * i, 0.01 * i);
    task.observe(1500, 0.24); // one reading without progress
    double const rate = 0.01 / 60;
    CHECK(task.rate().value() == doctest::Approx(rate * std::exp(-60 / 1500.0)).epsilon(1e-12));
    task.observe(1560, 0.24);
    CHECK(task.rate().value() == doctest::Approx(rate * std::exp(-120 / 1500.0)).epsilon(1e-12));
    // One that reports each second keeps the 120 s.
    simple_exponential quick;
    for (int i = 1; i <= 24; ++i) quick.observe(i, 0.01 * i);
    quick.observe(25, 0.24);
    CHECK(quick.rate().value() == doctest::Approx(0.01 * std::exp(-1 / 120.0)).epsilon(1e-12));
}

TEST_CASE("smoothed progress: errors of the forecast") {
    simple_exponential task({.tau = 10, .warm_up = 0});
    CHECK(task.sum_of_squared_errors().reason() == status::insufficient_evidence);
    task.observe(1, 0.1);
    CHECK(task.sum_of_squared_errors().reason() == status::insufficient_evidence);
    task.observe(2, 0.3); // forecast 0.1, came 0.2
    CHECK(task.sum_of_squared_errors().value() == doctest::Approx(0.01).epsilon(1e-12));
    simple_exponential wild({.tau = 10, .warm_up = 0});
    wild.observe(1e-300, 0);
    wild.observe(2e-300, 0.5);
    CHECK(wild.sum_of_squared_errors().reason() == status::out_of_range);
}

TEST_CASE("smoothed progress: constant speed is kept to the last bit") {
    exponential_rate a;
    simple_exponential b({.tau = 3, .warm_up = 0});
    for (int i = 1; i <= 1024; ++i) {
        a.observe(i * 0.25, i / 1024.0);
        b.observe(i * 0.25, i / 1024.0);
        REQUIRE(a.rate() == outcome<double>(4 / 1024.0));
        REQUIRE(b.rate() == outcome<double>(4 / 1024.0));
        REQUIRE(a.remaining() == outcome<double>(256 - i * 0.25));
    }
    CHECK(b.sum_of_squared_errors() == outcome<double>(0.0));
}

TEST_CASE("smoothed progress: how readings are spaced does not matter while the speed is the same") {
    // exp(-a) exp(-b) = exp(-(a + b)): one step or many.
    exponential_rate one(7), many(7);
    one.observe(10, 0.5);
    many.observe(10, 0.5);
    one.observe(30, 0.6);
    for (int i = 1; i <= 20; ++i) many.observe(10 + i, 0.5 + i * 0.005);
    CHECK(one.rate().value() == doctest::Approx(many.rate().value()).epsilon(1e-12));
}

TEST_CASE("smoothed progress: less progress is never less to come") {
    // Two tasks alike but for the last reading: the one that did more has the higher rate and less to come.
    // And the rate lies between the speeds seen.
    std::uint64_t const seed = straggle_test::seed_or(51);
    INFO("seed ", seed);
    straggle_test::golden_sequence next(seed);
    for (int k = 0; k < 2000; ++k) {
        exponential_rate a(1 + 100 * next.unit());
        simple_exponential b({.tau = 1 + 100 * next.unit(), .warm_up = 3});
        double t = 0, p = 0, slowest = inf, fastest = 0;
        for (int i = 0; i < 10; ++i) {
            double const dt = 0.1 + 10 * next.unit(), dp = 0.09 * next.unit();
            a.observe(t + dt, p + dp);
            b.observe(t + dt, p + dp);
            slowest = (std::min)(slowest, (p + dp - p) / (t + dt - t));
            fastest = (std::max)(fastest, (p + dp - p) / (t + dt - t));
            t += dt;
            p += dp;
        }
        REQUIRE(a.rate().value() >= slowest * (1 - 1e-12));
        REQUIRE(a.rate().value() <= fastest * (1 + 1e-12));
        REQUIRE(b.rate().value() >= slowest * (1 - 1e-12));
        REQUIRE(b.rate().value() <= fastest * (1 + 1e-12));
        auto more_a = a;
        auto more_b = b;
        double const dp = (1 - p) * next.unit();
        a.observe(t + 5, p + dp / 2);
        b.observe(t + 5, p + dp / 2);
        more_a.observe(t + 5, p + dp);
        more_b.observe(t + 5, p + dp);
        REQUIRE(more_a.rate().value() >= a.rate().value());
        REQUIRE(more_b.rate().value() >= b.rate().value());
        REQUIRE(more_a.remaining().value() <= a.remaining().value());
        REQUIRE(more_b.remaining().value() <= b.remaining().value());
    }
}

TEST_CASE("smoothed progress: any readings at all") {
    std::uint64_t const seed = straggle_test::seed_or(52);
    INFO("seed ", seed);
    straggle_test::golden_sequence next(seed);
    double const odd[] = {nan,    inf, -inf, 0, -0.0, 1, 1e-4, limits::denorm_min(), (limits::max)(),
                          1e-308, -1};
    auto const any = [&] {
        return next() >> 62 == 0 ? odd[(next() >> 33) % std::size(odd)] : next.unit() * 2;
    };
    std::size_t const allocated = straggle_test::allocations_during([&] {
        for (int k = 0; k < 2000; ++k) {
            exponential_rate a(k % 7 == 0 ? 1e-300 : k % 7 == 1 ? 1e300 : 60);
            simple_exponential b({.tau = k % 5 == 0 ? 1e-300 : 60.0, .warm_up = 2});
            for (int i = 0; i < 20; ++i) {
                double const t = i * any(), p = any();
                bool const used = a.observe(t, p);
                if (used != b.observe(t, p)) FAIL("the two disagree about a reading");
                for (auto const& left : {a.remaining(), b.remaining()})
                    if (left && !(*left >= 0 && *left <= (limits::max)())) FAIL("not a time: ", *left);
                for (auto const& rate : {a.rate(), b.rate(), b.sum_of_squared_errors()})
                    if (rate && !(*rate >= 0 && *rate <= (limits::max)())) FAIL("not a number: ", *rate);
            }
        }
    });
    CHECK(allocated == 0);
}

TEST_CASE("smoothed progress: a memory has a length") {
    straggle_test::contract_trap const trap;
    for (double bad : {nan, inf, 0.0, -1.0}) {
        CHECK_THROWS_AS(exponential_rate{bad}, straggle_test::broken_contract);
        CHECK_THROWS_AS(simple_exponential({.tau = bad}), straggle_test::broken_contract);
    }
}

} // namespace
