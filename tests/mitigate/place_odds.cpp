// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/mitigate/detail/copy_candidates.hpp>
#include <straggle/mitigate/detail/place_odds.hpp>

#include <straggle/predict/sibling_times.hpp>

#include <support/seed.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

using namespace straggle;
using detail::place_odds;

namespace {
constexpr double by = 2.8284271247461903; // twice or four times
}

TEST_CASE("place_odds: what is known of a node is a part of how slow it may be") {
    CHECK(place_odds().mean() == 1);
    CHECK(place_odds({0.5, by}, 1).mean() == doctest::Approx(2)); // 1, or 2 and 4
    CHECK(place_odds({0.5, by}, 2).mean() == doctest::Approx(1.25));
    CHECK(place_odds({0.9, by}, 5).mean() == 1);
    CHECK(place_odds({0.5, by}, 1).mean_of([](double slow) { return slow; }) == doctest::Approx(2));
    mitigate::place_row p;
    p.slow = {2, 1.999, 2.001, 1000};
    double const known = detail::believed(p.slow);
    CHECK(known * place_odds(p.slow_now, known).mean() == doctest::Approx(2).epsilon(0.001));
    p.slow_now = {0.5, by};
    CHECK(known * place_odds(p.slow_now, known).mean() == doctest::Approx(2.5).epsilon(0.001));
}

TEST_CASE("place_odds: a slowdown by which the task would have ended long ago explains nothing") {
    predict::sibling_times times;
    for (int i = 0; i < 100; ++i) times.observe(1, 1, 9.5 + 0.01 * i);
    predict::time_outlook outlook;
    REQUIRE(times.outlook(1, 1, {}, outlook));
    place_odds const odds({0.6, by}, 1), young = odds.given(outlook, 5), old = odds.given(outlook, 30),
                                         ancient = odds.given(outlook, 500);
    CHECK(young.any() == doctest::Approx(0.6).epsilon(0.02));
    CHECK(old.chance[0] < 0.1); // twice as slow it would have ended at 20
    CHECK(old.chance[1] > 0.4);
    CHECK(ancient.any() < 0.1);
    CHECK(place_odds().given(outlook, 30).any() == 0);
}

TEST_CASE("left_after: the quantiles of a mixture, as drawing from it has them") {
    std::uint64_t const seed = straggle_test::seed_or(5);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    predict::sibling_times times;
    for (int i = 0; i < 400; ++i)
        times.observe(1, 1, 50 * std::exp(0.4 * std::normal_distribution<>()(engine)));
    predict::time_outlook outlook;
    REQUIRE(times.outlook(1, 1, {}, outlook));
    std::uniform_real_distribution<> any(0, 1);
    for (double const age : {0.0, 40.0, 90.0})
        for (double const chance : {0.1, 0.5, 0.9}) {
            CAPTURE(age);
            CAPTURE(chance);
            predict::time_points const plain = detail::left_after(outlook, age, 1);
            std::vector<double> drawn;
            for (int i = 0; i < 40000; ++i) {
                double const u = any(engine), slow = u >= chance ? 1 : u < chance / 2 ? 2 : 4;
                predict::time_points const left = detail::left_after(outlook, age, slow);
                drawn.push_back(left.at[static_cast<std::size_t>(any(engine) * 16)]);
            }
            std::sort(drawn.begin(), drawn.end());
            predict::time_points const mixed =
                detail::left_after(outlook, age, 1, place_odds({chance, by}, 1));
            CHECK(std::is_sorted(mixed.at.begin(), mixed.at.end()));
            for (std::size_t k = 0; k < 16; ++k) {
                // Where in the drawn ones it lies; a point of the mixture stands for at most a sixteenth of
                // one part.
                double const rank =
                    static_cast<double>(std::upper_bound(drawn.begin(), drawn.end(), mixed.at[k]) -
                                        drawn.begin()) /
                    40000;
                double const off = rank - (static_cast<double>(k) + 0.5) / 16;
                CHECK(off > -0.07);
                if (mixed.at[k] > plain.at[k]) CHECK(off < 0.07);
                CHECK(mixed.at[k] >= plain.at[k]);
            }
        }
    predict::time_points const plain = detail::left_after(outlook, 40, 1);
    CHECK(detail::left_after(outlook, 40, 1, place_odds({}, 1)).at == plain.at);
}
