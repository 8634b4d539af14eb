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

namespace {

// A task that has run for 20 and looks to take 80 more, on a node as fast as the other one; siblings take 10.
assign::race_claim const claim{.claimed = 0.9,
                               .age = 20,
                               .relative = 1,
                               .place = {std::log(10.0), 0.09},
                               .task = {std::log(100.0), 0.09}};

} // namespace

TEST_CASE("race_record: how long copies take says whether the place or the task is to blame") {
    race_record lose, win, slow;
    CHECK(lose.of_task(1) == doctest::Approx(0.5));
    for (int i = 0; i < 60; ++i) {
        lose.observe(1, claim, 60, false); // the task ended after 80: its copy had not by 60
        win.observe(1, claim, 10, true);
        // The copy's node is three times as fast, so it wins in any case; but it takes as long as the task.
        slow.observe(1,
                     {.claimed = 0.9,
                      .age = 5,
                      .relative = 1 / 3.0,
                      .place = {std::log(10.0), 0.09},
                      .task = {std::log(40.0), 0.09}},
                     40, true);
    }
    CHECK(lose.of_task(1) > 0.85);
    CHECK(slow.of_task(1) > 0.85);
    CHECK(win.of_task(1) < 0.1);
    CHECK(lose.of_task(2) > 0.6); // other kinds are warned as well
    CHECK(lose.corrected(0.6) < 0.2);
    CHECK(win.corrected(0.6) > 0.6);
    CHECK(lose.races() == 60);
    CHECK(win.won() == 60);
    CHECK(lose.won() == 0);
}

TEST_CASE("race_record: where both would take as long nothing is learnt of whose fault it is") {
    race_record record;
    assign::race_claim const same{
        .claimed = 0.9, .age = 0, .relative = 0.5, .place = {3, 0.04}, .task = {3, 0.04}};
    for (int i = 0; i < 60; ++i) record.observe(1, same, std::exp(3.0), true);
    CHECK(record.of_task(1) == doctest::Approx(0.5).epsilon(0.02));
}

TEST_CASE("race_record: finds how many tasks are to blame, and then claims are true") {
    std::uint64_t const seed = straggle_test::seed_or(2);
    INFO("seed ", seed);
    std::mt19937_64 g(seed);
    auto const chance = [&](double p) { return std::uniform_real_distribution<>()(g) < p; };
    auto const normal = [&] { return std::normal_distribution<>()(g); };
    for (double const of_task : {0.0, 0.5, 0.9}) {
        CAPTURE(of_task);
        race_record record;
        double claimed = 0, won = 0;
        for (int i = 0; i < 2000; ++i) {
            double const left_log = std::uniform_real_distribution<>(2.3, 3.3)(g), age = 20;
            assign::race_claim now{.age = age, .place = {std::log(10.0), 0.09}};
            now.task = {std::log(age + std::exp(left_log)), 0.01};
            double const left = std::exp(left_log + 0.1 * normal());
            double const by_place =
                0.5 * std::erfc((now.place.mean - left_log) / std::sqrt(0.09 + 0.01) / 1.4142);
            now.claimed = (1 - record.of_task(3)) * by_place;
            // As long as the task itself, or as any of its siblings.
            double const there = chance(of_task) ? (age + left) * std::exp(0.1 * normal())
                                                 : std::exp(now.place.mean + 0.3 * normal());
            bool const wins = there < left;
            if (i >= 200) {
                claimed += record.corrected(now.claimed);
                won += wins ? 1 : 0;
            }
            record.observe(3, now, wins ? there : left, wins);
        }
        CHECK(std::abs(record.of_task(3) - of_task) < 0.1);
        CHECK(std::abs(claimed - won) / 1800 < 0.05);
    }
}

TEST_CASE("race_record: a copy that was stopped teaches as far as it had outlived a copy of a usual task") {
    race_record early, late, task;
    for (int i = 0; i < 60; ++i) {
        early.observe_stopped(1, claim, 2); // too soon for either
        late.observe_stopped(1, claim, 40);
    }
    CHECK(early.of_task(1) == doctest::Approx(0.5).epsilon(0.01));
    CHECK(late.of_task(1) > 0.8);
    CHECK(late.of_task(1, claim, 40) > late.of_task(1));
    CHECK(task.of_task(1, claim, 2) == doctest::Approx(0.5).epsilon(0.01));
    CHECK(task.of_task(1, claim, 40) > 0.9);
    // Nobody lost: claims stay as they are, and a few races are learnt from as if none had been stopped.
    CHECK(late.races() == 0);
    CHECK(late.corrected(0.6) == task.corrected(0.6));
    for (int i = 0; i < 20; ++i) {
        early.observe(1, claim, 10, true);
        task.observe(1, claim, 10, true);
    }
    CHECK(early.of_task(1) == doctest::Approx(task.of_task(1)).epsilon(0.01));
    // An answer that is certain before cannot change.
    race_record certain({.of_task = 1});
    certain.observe_stopped(1, claim, 40);
    CHECK(certain.of_task(1) == 1);
}

TEST_CASE("race_record: is stored and merged, and knows a bound") {
    race_record a({.most_kinds = 2}), b;
    for (std::uint32_t k = 0; k < 5; ++k)
        for (int i = 0; i < 10; ++i) a.observe(k, claim, k % 2 == 0 ? 10 : 60, k % 2 == 0);
    a.observe((std::numeric_limits<std::uint32_t>::max)(), claim, 10, true);
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
