// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/evaluate/usual_time.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/seed.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

namespace {

using straggle::status;
using straggle::evaluate::find_usual_time;
using straggle::evaluate::harmless_errors;
using straggle::evaluate::most_tolerant_threshold;
using straggle::evaluate::straggler_rule;
using straggle::evaluate::straggler_share;
using straggle::evaluate::tolerance_of_guess;
using straggle::evaluate::usual_time;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

// The rule: strictly longer.
static_assert(!straggler_rule{}(12.0, 10.0) && straggler_rule{}(12.000001, 10.0));
static_assert(!straggler_rule{}(12.0, 10.0) && straggler_rule{}(12.5, 10.0));
static_assert(straggler_rule{1.0}.valid() && !straggler_rule{0.99}.valid() && !straggler_rule{nan}.valid() &&
              !straggler_rule{inf}.valid());

TEST_CASE("usual time: a quantile of the times that make sense, in any order") {
    std::vector<double> runs{61, 58, 60, nan, 75, 59, -1, inf, 60.5};
    std::mt19937_64 engine(straggle_test::seed_or(1));
    for (int i = 0; i < 50; ++i) {
        std::shuffle(runs.begin(), runs.end(), engine);
        std::vector<double> scratch = runs;
        auto const usual = find_usual_time(scratch);
        REQUIRE(usual.has_value());
        CHECK(*usual == usual_time{60.25, 6, 3}); // 58 59 60 | 60.5 61 75
        scratch = runs;
        CHECK(find_usual_time(scratch, 1.0)->time == 75.0);
        scratch = runs;
        CHECK(find_usual_time(scratch, 0.0)->time == 58.0);
    }
    std::vector<double> scratch = runs;
    CHECK(straggle_test::allocations_during([&] { (void)find_usual_time(scratch); }) == 0);
}

TEST_CASE("straggler rule: what is not a number is no straggler") {
    CHECK(!straggler_rule{}(nan, 10.0));
    CHECK(!straggler_rule{}(10.0, nan));
}

TEST_CASE("usual time: nothing where there is none") {
    std::vector<double> none, bad{nan, -1.0, inf}, zeros{0.0, 0.0, 5.0}, one{7.0};
    CHECK(find_usual_time(none).reason() == status::insufficient_evidence);
    CHECK(find_usual_time(bad).reason() == status::insufficient_evidence);
    CHECK(find_usual_time(zeros).reason() == status::out_of_domain);
    CHECK(find_usual_time(zeros, 1.0)->time == 5.0);
    for (double q : {-0.1, 1.1, nan}) CHECK(find_usual_time(one, q).reason() == status::out_of_domain);
    CHECK(*find_usual_time(one) == usual_time{7.0, 1, 0}); // its own usual time: no straggler
    CHECK(*straggler_share(one, 7.0) == 0.0);
}

TEST_CASE("straggler share: falls with the quantile, as table 5 does") {
    // Table 5 has 8.16, 0.66, 0.31, 0.16, 0.06 % at these quantiles; healthy runs and a few outliers look
    // alike.
    std::uint64_t const seed = straggle_test::seed_or(5);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    std::lognormal_distribution<double> healthy(0.0, 0.08);
    std::vector<double> times(3200);
    for (double& t : times) t = 60.0 * healthy(engine);
    for (std::size_t i = 0; i < 21; ++i) times[i] *= 1.6;
    double before = 1.0;
    for (double q : {0.25, 0.5, 0.6, 0.7, 0.9}) {
        std::vector<double> scratch = times;
        double const share = *straggler_share(times, find_usual_time(scratch, q)->time);
        CHECK(share < before);
        CHECK(share >= 0.001);
        before = share;
    }
    CHECK(straggler_share({}, 1.0).reason() == status::insufficient_evidence);
    for (double usual : {0.0, -1.0, nan, inf})
        CHECK(straggler_share(times, usual).reason() == status::out_of_domain);
    CHECK(straggler_share(times, 60.0, {.threshold = 0.5}).reason() == status::out_of_domain);
    times[7] = nan;
    CHECK(straggler_share(times, 60.0).reason() == status::out_of_domain);
}

// By hand. s_min = 2, eps_setting = 0.1: equation 11 allows 2 * 0.9 / 1.2 - 1 = 0.5, equation 12 allows
// 1 - 1.1 / 1.2 = 1 / 12.
TEST_CASE("tolerance of the guess: by hand") {
    CHECK(*tolerance_of_guess(2.0, 0.1) == doctest::Approx(1.0 / 12).epsilon(1e-14));
    CHECK(harmless_errors(2.0, 0.1)->high == doctest::Approx(0.5).epsilon(1e-14));
    CHECK(harmless_errors(2.0, 0.1)->low == doctest::Approx(-1.0 / 12).epsilon(1e-14));
    CHECK(*tolerance_of_guess(1.26, 0.0) == doctest::Approx(0.05).epsilon(1e-13)); // equation 11 binds
    CHECK(*tolerance_of_guess(1e300, 0.0) == doctest::Approx(1.0 / 6).epsilon(1e-14));
    // The only slowdown for which 1.2 is the best threshold, at the paper's own limit: 1.2 = 1.5 * 0.8.
    CHECK(std::fabs(*tolerance_of_guess(1.5, 0.2)) < 1e-15);
    // The paper's condition holds, 0.4 <= (3 - 1) / (3 + 1), but not equation 12: 1.4 > 1.2.
    CHECK(tolerance_of_guess(3.0, 0.4).reason() == status::insufficient_evidence);
    CHECK(harmless_errors(3.0, 0.4)->low == doctest::Approx(1.0 / 6).epsilon(1e-14)); // guess too high: fine
    CHECK(harmless_errors(3.0, 0.4)->high == doctest::Approx(0.5).epsilon(1e-14));
    // And not equation 11: s_min = 1.25, 0.1 <= 1 / 9, but 1.25 * 0.9 < 1.2.
    CHECK(tolerance_of_guess(1.25, 0.1).reason() == status::insufficient_evidence);
    CHECK(harmless_errors(1.25, 0.1).has_value());
    CHECK(harmless_errors(1.25, 0.12).reason() ==
          status::insufficient_evidence); // nor the paper's: 0.12 > 1 / 9
}

TEST_CASE("tolerance of the guess: bad arguments") {
    for (double bad : {0.0, -1.0, nan, inf}) {
        CHECK(tolerance_of_guess(bad, 0.1).reason() == status::out_of_domain);
        CHECK(tolerance_of_guess(2.0, 0.1, bad).reason() == status::out_of_domain);
        CHECK(most_tolerant_threshold(bad, 0.1).reason() == status::out_of_domain);
    }
    for (double bad : {-0.1, 1.0, nan, inf})
        CHECK(tolerance_of_guess(2.0, bad).reason() == status::out_of_domain);
    CHECK(tolerance_of_guess(1e308, 0.1, 1e-10).reason() == status::out_of_domain);
    CHECK(tolerance_of_guess(2.0, 0.1, 1.0).reason() == status::insufficient_evidence);
}

// Equations 11 and 12 in whole thousandths, without any rounding.
bool equation_11(long s, long setting, long guess, long slowdown) {
    return slowdown * (1000 + guess) <= s * (1000 - setting);
}
bool equation_12(long setting, long guess, long slowdown) {
    return 1000 * (1000 + setting) <= slowdown * (1000 - guess);
}

TEST_CASE("tolerance of the guess: equations 11 and 12 on a grid, and where the printed condition is wrong") {
    long printed_without_solution = 0, solutions = 0;
    for (long slowdown : {1100, 1200, 1500, 2000}) {
        for (long s = 1000; s <= 5000; s += 25) {
            for (long setting = 0; setting < 700; setting += 7) {
                INFO("slowdown ", slowdown, " s_min ", s, " eps_setting ", setting);
                double const real_s = static_cast<double>(s) / 1000,
                             real_setting = static_cast<double>(setting) / 1000;
                double const real_slowdown = static_cast<double>(slowdown) / 1000;
                auto const tolerance = tolerance_of_guess(real_s, real_setting, real_slowdown);
                bool const any = equation_11(s, setting, 0, slowdown) && equation_12(setting, 0, slowdown);
                bool const on_the_border =
                    slowdown * 1000 == s * (1000 - setting) || 1000 + setting == slowdown;
                if (!on_the_border) REQUIRE(tolerance.has_value() == any); // there rounding decides
                bool const printed = setting * (s + 1000) <= 1000 * (s - 1000);
                REQUIRE((printed || !any)); // necessary
                if (setting * (s + 1000) != 1000 * (s - 1000))
                    REQUIRE(harmless_errors(real_s, real_setting, real_slowdown).has_value() == printed);
                printed_without_solution += printed && !any;
                solutions += any;
                if (!tolerance) continue;
                long const inside = std::lround(std::floor(*tolerance * 1000 - 1e-6));
                if (inside < 0) continue;
                REQUIRE(equation_11(s, setting, inside, slowdown));
                REQUIRE(equation_12(setting, inside, slowdown));
                long const outside = std::lround(std::ceil(*tolerance * 1000 + 1e-6));
                REQUIRE(
                    !(equation_11(s, setting, outside, slowdown) && equation_12(setting, outside, slowdown)));
            }
        }
    }
    MESSAGE(solutions, " cases have a solution; ", printed_without_solution,
            " satisfy the printed condition and have none");
    CHECK(solutions > 1000);
    CHECK(printed_without_solution > 1000);
}

TEST_CASE("harmless errors: inside nobody is taken for somebody else, outside somebody is") {
    std::uint64_t const seed = straggle_test::seed_or(11);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    for (auto const& [s_min, setting, slowdown] :
         {std::tuple{2.0, 0.1, 1.2}, {3.0, 0.4, 1.2}, {1.5, 0.05, 1.3}, {1.6, 0.2, 1.2}}) {
        auto const errors = harmless_errors(s_min, setting, slowdown);
        REQUIRE(errors.has_value());
        double const width = errors->high - errors->low;
        auto const mistakes = [&](double error) {
            double const guess = 60.0 * (1 + error);
            int wrong = 0;
            for (int i = 0; i < 2000; ++i) {
                double const noise = i == 0 ? setting : i == 1 ? -setting : setting * (2 * unit(engine) - 1);
                double const slow = i < 2 ? s_min : s_min * (1 + unit(engine));
                wrong += straggler_rule{slowdown}(60.0 * (1 + noise), guess);
                wrong += !straggler_rule{slowdown}(60.0 * slow * (1 + noise), guess);
            }
            return wrong;
        };
        for (double part : {0.001, 0.25, 0.5, 0.75, 0.999}) CHECK(mistakes(errors->low + part * width) == 0);
        CHECK(mistakes(errors->low - 0.001) > 0);
        CHECK(mistakes(errors->high + 0.001) > 0);
    }
}

TEST_CASE("most tolerant slowdown: no other one allows a larger error") {
    for (double s_min : {1.2, 1.5, 2.0, 3.0, 10.0}) {
        for (double setting : {0.0, 0.05, 0.09}) {
            double const best = *most_tolerant_threshold(s_min, setting);
            CHECK(best == doctest::Approx((1 + setting + s_min * (1 - setting)) / 2).epsilon(1e-14));
            double const reached = *tolerance_of_guess(s_min, setting, best);
            for (double other = 1.001; other < s_min; other += 0.01)
                CHECK(tolerance_of_guess(s_min, setting, other).value_or(0.0) <= reached + 1e-15);
        }
        // At the paper's limit it is the paper's limit that makes it 0.
        double const limit = (s_min - 1) / (s_min + 1);
        CHECK(*most_tolerant_threshold(s_min, limit * (1 - 1e-12)) ==
              doctest::Approx(2 * s_min / (s_min + 1)).epsilon(1e-11));
    }
    CHECK(most_tolerant_threshold(1.5, 0.21).reason() == status::insufficient_evidence);
}

static_assert(tolerance_of_guess(2.0, 0.1).has_value() && !tolerance_of_guess(3.0, 0.4).has_value());

} // namespace
