// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/predict/time_outlook.hpp>

#include <straggle/predict/sibling_times.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

using namespace straggle;
using predict::time_outlook;
using predict::time_points;

TEST_CASE("time_points: quantiles and mean of sixteen equally likely values") {
    time_points p;
    for (std::size_t i = 0; i < time_points::count; ++i) p.at[i] = static_cast<double>(i) + 0.5;
    for (double const q : {0.1, 0.25, 0.5, 0.75, 0.9}) CHECK(p.quantile(q) == doctest::Approx(16 * q));
    CHECK(p.quantile(0) == 0.5);
    CHECK(p.quantile(1) == 15.5);
    CHECK(p.mean() == doctest::Approx(8));
}

TEST_CASE("hazard_of: the logarithm of the library, to four units of its last place") {
    // Against long double, whose own error is a two-thousandth of that.
    CHECK(detail::hazard_of(0) == 0);
    for (int i = 1; i < 40000; ++i) {
        double const share = i < 20000 ? std::exp(-i / 1000.0) : (i - 20000) / 20000.0;
        if (!(share > 0)) continue;
        long double const exact = -std::log1p(-static_cast<long double>(share));
        CHECK(std::abs(static_cast<double>((static_cast<long double>(detail::hazard_of(share)) - exact) /
                                           exact)) < 4.5e-16);
    }
}

TEST_CASE("time_outlook: survival, and the times after an age, belong together") {
    predict::sibling_times times;
    for (int i = 1; i < 200; ++i)
        times.observe(1, 1, 10 * std::pow(1 - i / 200.0, -0.5)); // Pareto of index 2
    time_outlook out;
    REQUIRE(times.outlook(1, 1, {}, out));
    CHECK(out.survival(0) == 1);
    double last = 1;
    for (double t = 1; t < 1000; t *= 1.1) {
        double const s = out.survival(t);
        CHECK(s <= last);
        last = s;
    }
    for (double const age : {0.0, 5.0, 12.0, 20.0, 40.0}) {
        time_points const p = out.times_after(age);
        for (std::size_t i = 0; i < time_points::count; ++i) {
            CHECK(p.at[i] >= age);
            CHECK(out.survival_after(age, p.at[i]) ==
                  doctest::Approx(1 - (static_cast<double>(i) + 0.5) / 16));
        }
        CHECK(out.survival_after(age, out.median_after(age)) == doctest::Approx(0.5));
    }
    // The heavier the tail, the more is left the longer it runs.
    CHECK(out.median_after(40) - 40 > 2 * (out.median_after(15) - 15));
    // And beyond everything that has ever been seen it goes on like that.
    double const left = out.median_after(1e5) / 1e5;
    CHECK(out.times_after(1e5).quantile(0.5) > 1.2e5);
    CHECK(left >= 1);
}

TEST_CASE("time_outlook::early_for: below that age it is certain, and just above it is not") {
    for (double const power : {-0.1, -0.5, -2.0}) {
        predict::sibling_times times;
        for (int i = 1; i < 200; ++i) times.observe(1, 1, 10 * std::pow(1 - i / 200.0, power));
        time_outlook out;
        REQUIRE(times.outlook(1, 1, {}, out));
        for (double time = 1; time < 1e4; time *= 1.07)
            for (double const chance : {1e-9, 0.1, 0.5}) {
                double const early = out.early_for(time, chance);
                CHECK(early <= time);
                for (double const share : {1e-9, 0.5, 0.9, 0.999, 1.0})
                    if (early > 0) CHECK(out.survival_after(early * share, time) < chance);
                if (early > 0) CHECK(out.survival_after(early * 1.001, time) > 0.9 * chance);
                if (early == 0) CHECK(out.survival(time) > 0.999 * chance);
            }
    }
    CHECK(time_outlook().early_for(10, 0) == 0);
}

TEST_CASE("predict::log_factor_of: a slowdown whose 95 % interval is 1.96 standard errors to either side") {
    double const error = 0.05;
    auto const f = predict::log_factor_of({2, 2 * std::exp(-1.96 * error), 2 * std::exp(1.96 * error), 40});
    CHECK(f.mean == doctest::Approx(std::log(2.0)).epsilon(1e-14));
    CHECK(f.deviation == doctest::Approx(error).epsilon(1e-12)); // two exponentials and a logarithm
}
