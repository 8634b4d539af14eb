// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/assign/race_record.hpp>

#include <doctest/doctest.h>

#include <support/seed.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

using namespace straggle;
using assign::race_record;

TEST_CASE("race_record: copies that lose say that the task is to blame, copies that win the place") {
    race_record lose, win;
    CHECK(lose.of_task(1) == doctest::Approx(0.3));
    for (int i = 0; i < 60; ++i) {
        lose.observe(1, 0.8, 0, 0.55, false);
        win.observe(1, 0.8, 0, 0.55, true);
    }
    CHECK(lose.of_task(1) > 0.85);
    CHECK(win.of_task(1) < 0.1);
    CHECK(lose.of_task(2) > 0.6); // other kinds are warned as well
    CHECK(lose.corrected(0.6) < 0.2);
    CHECK(win.corrected(0.6) > 0.8);
    CHECK(lose.races() == 60);
    CHECK(win.won() == 60);
    CHECK(lose.won() == 0);
}

TEST_CASE("race_record: finds how many tasks are to blame, and then claims are true") {
    std::uint64_t const seed = straggle_test::seed_or(2);
    INFO("seed ", seed);
    std::mt19937_64 g(seed);
    auto const chance = [&](double p) { return std::uniform_real_distribution<>()(g) < p; };
    for (double const of_task : {0.0, 0.5, 0.9}) {
        CAPTURE(of_task);
        race_record record;
        double claimed = 0, won = 0;
        for (int i = 0; i < 2000; ++i) {
            double const by_place = std::uniform_real_distribution<>(0.4, 1)(g);
            double const t = record.of_task(3), p = (1 - t) * by_place;
            bool const wins = !chance(of_task) && chance(by_place);
            if (i >= 200) {
                claimed += record.corrected(p);
                won += wins ? 1 : 0;
            }
            record.observe(3, by_place, 0, p, wins);
        }
        CHECK(std::abs(claimed - won) / 1800 < 0.05);
    }
}

TEST_CASE("race_record: is stored and merged, and knows a bound") {
    race_record a({.most_kinds = 2}), b;
    for (std::uint32_t k = 0; k < 5; ++k)
        for (int i = 0; i < 10; ++i) a.observe(k, 0.9, 0.1, 0.7, k % 2 == 0);
    a.observe((std::numeric_limits<std::uint32_t>::max)(), 0.9, 0.1, 0.7, true);
    byte_writer out;
    a.write(out);
    race_record back({.most_kinds = 2});
    byte_reader in(out.payload());
    back.read(in);
    CHECK(in.finish() == status::ok);
    for (std::uint32_t k = 0; k < 5; ++k) CHECK(back.of_task(k) == a.of_task(k));
    CHECK(back.corrected(0.4) == a.corrected(0.4));
    CHECK(a.of_task(3) == a.of_task(4)); // no room: what all have shown
    b.merge(a);
    CHECK(b.races() == 51);
    CHECK(b.of_task(1) > b.of_task(0));
}
