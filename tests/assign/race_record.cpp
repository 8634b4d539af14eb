// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/assign/race_record.hpp>

#include <straggle/base/archive.hpp>
#include <straggle/base/bytes.hpp>

#include <doctest/doctest.h>

#include <support/seed.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <vector>

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
    // But for this: at first two attempts may differ by anything, so that to meet the guess tells a little.
    CHECK(record.of_task(1) > 0.33);
    CHECK(record.of_task(1) < 0.5);
    double const before = record.of_task(1);
    for (int i = 0; i < 60; ++i) record.observe(1, same, std::exp(3.0), true);
    CHECK(record.of_task(1) == doctest::Approx(before).epsilon(0.05)); // once that is known, nothing any more
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

namespace {

// Races of tasks of which siblings take 10 and it looks as if they took 40: late because of what they are
// or, as often as not, because of where they run. What comes of them is drawn.
struct races {
    std::mt19937_64 g;
    double apart, doubt; // of two attempts; of what is said of the task's time
    double of_task = 0.7;

    double normal() { return std::normal_distribution<>()(g); }
    void run(race_record& record, int count) {
        for (int i = 0; i < count; ++i) {
            double const age = 16, task = 40 * std::exp(doubt * normal());
            if (!(task > age + 1)) continue;
            bool const hard = std::uniform_real_distribution<>()(g) < of_task;
            double const relative = 0.5 + 0.5 * std::uniform_real_distribution<>()(g);
            double const copy = hard ? task * relative * std::exp(apart * normal())
                                     : 10 * relative * std::exp(0.3 * normal());
            bool const won = copy < task - age;
            record.observe(1,
                           {.claimed = 0.5,
                            .age = age,
                            .relative = relative,
                            .place = {std::log(10 * relative), 0.09},
                            .task = {std::log(40 * relative), doubt * doubt}},
                           won ? copy : task - age, won);
        }
    }
};

} // namespace

TEST_CASE("race_record: learns by how much two attempts of one task differ") {
    std::uint64_t const seed = straggle_test::seed_or(4);
    INFO("seed ", seed);
    for (double const doubt : {0.05, 0.4})
        for (double const apart : {0.1, 0.2, 0.42, 0.8}) {
            CAPTURE(doubt);
            CAPTURE(apart);
            races r{std::mt19937_64(seed), apart, doubt};
            race_record record;
            CHECK(record.apart() == doctest::Approx(0.375)); // all are as likely
            // A copy that is that lucky looks as if the place were to blame: of 0.8 half may go unseen.
            auto const holds = [&](double truth) {
                return record.apart() > truth / (truth > 0.5 ? 2.5 : 2.1) && record.apart() < truth * 2.1;
            };
            r.run(record, 1000);
            CHECK(holds(apart));
            // What was is forgotten within some hundreds of races.
            r.apart = apart < 0.3 ? 0.42 : 0.1;
            r.run(record, 1000);
            CHECK(holds(r.apart));
        }
}

TEST_CASE("race_record: where the place is to blame nothing is learnt of two attempts") {
    race_record record({.of_task = 0});
    races r{std::mt19937_64(5), 0.1, 0.4, 0};
    // As many as count for nothing beside what is assumed: of_task stays about 0.
    r.run(record, 20);
    CHECK(record.of_task(1) < 0.1);
    CHECK(record.apart() == doctest::Approx(0.375).epsilon(0.1));
}

TEST_CASE("race_record: one race and two attempts, the integral over the task's time written out") {
    auto const density = [](double x, double mean, double deviation) {
        double const z = (x - mean) / deviation;
        return std::exp(-z * z / 2) / (deviation * std::sqrt(2 * 3.14159265358979));
    };
    auto const beyond = [](double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); };
    std::array<double, 4> const differ{0.1, 0.2, 0.4, 0.8};
    for (bool const won : {true, false})
        for (double const took : {6.0, 12.0, 25.0, 60.0}) {
            CAPTURE(won);
            CAPTURE(took);
            assign::race_claim const c{.claimed = 0.5,
                                       .age = 15,
                                       .relative = 0.8,
                                       .place = {std::log(10.0), 0.09},
                                       .task = {std::log(40.0), 0.16}};
            double const log = std::log(took), least = std::log((c.age + took) * c.relative);
            double const task_deviation = std::sqrt(0.16 + 0.01);
            double weights = 0, mean = 0;
            for (double const d : differ) {
                double by_task = 0;
                if (won) {
                    double const step = 1e-4;
                    for (double t = least + step / 2; t < least + 8; t += step)
                        by_task += density(t, c.task.mean, task_deviation) * density(log, t, d) * step;
                    by_task /= std::max(beyond((least - c.task.mean) / task_deviation), 0.05);
                } else {
                    by_task = beyond((log - least) / d);
                }
                double const place_deviation = std::sqrt(0.09 + 0.01);
                double const by_place = won ? density(log, c.place.mean, place_deviation)
                                            : beyond((log - c.place.mean) / place_deviation);
                double const w = 0.5 * by_task + 0.5 * by_place + 0.05;
                weights += w;
                mean += w * d;
            }
            race_record record;
            record.observe(1, c, took, won);
            CHECK(record.apart() == doctest::Approx(mean / weights).epsilon(1e-5));
        }
}

TEST_CASE("race_record: what two attempts differ by is stored and merged") {
    race_record all, first, second;
    races r{std::mt19937_64(6), 0.2, 0.3}, again = r;
    r.run(all, 40);
    r.run(all, 40);
    again.run(first, 40);
    again.run(second, 40);
    first.merge(second);
    CHECK(first.apart() == doctest::Approx(all.apart()).epsilon(0.1));
    CHECK(first.apart() < 0.3);
    byte_writer out;
    base::write_fields(out, all);
    race_record back;
    byte_reader in(out.payload());
    base::read_fields(in, back);
    CHECK(in.finish() == status::ok);
    CHECK(back.apart() == all.apart());
    again = r; // and goes on as if it had not been stored
    r.run(all, 5);
    again.run(back, 5);
    CHECK(back.apart() == all.apart());
    race_record many; // a merge is bounded as well
    for (int i = 0; i < 50; ++i) many.merge(all);
    r.apart = 0.8;
    r.run(many, 600);
    CHECK(many.apart() > 0.5);
}

TEST_CASE("race_record: bytes that claim the impossible are refused") {
    race_record record;
    for (int i = 0; i < 5; ++i) record.observe(1, claim, 60, false);
    byte_writer out;
    base::write_fields(out, record);
    std::vector<std::byte> const good(out.payload().begin(), out.payload().end());
    // The last five numbers: four logarithms of how likely a difference is, and races.
    for (double const bad :
         {1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
          -std::numeric_limits<double>::infinity()})
        for (std::size_t i = 0; i < 5; ++i) {
            if (i == 4 && bad > 0 && bad < 2) continue; // one race is fine
            CAPTURE(bad);
            CAPTURE(i);
            std::vector<std::byte> bytes = good;
            std::memcpy(bytes.data() + bytes.size() - 40 + 8 * i, &bad, 8);
            race_record back;
            byte_reader in(bytes);
            base::read_fields(in, back);
            CHECK(in.finish() != status::ok);
            CHECK(std::isfinite(back.apart()));
        }
    for (std::size_t n = 0; n < good.size(); ++n) {
        race_record back;
        byte_reader in(std::span<std::byte const>(good).first(n));
        base::read_fields(in, back);
        CHECK(in.finish() != status::ok);
    }
}

TEST_CASE("race_record: is stored and merged, and knows a bound") {
    race_record a({.most_kinds = 2}), b;
    for (std::uint32_t k = 0; k < 5; ++k)
        for (int i = 0; i < 10; ++i) a.observe(k, claim, k % 2 == 0 ? 10 : 60, k % 2 == 0);
    a.observe((std::numeric_limits<std::uint32_t>::max)(), claim, 10, true);
    byte_writer out;
    base::write_fields(out, a);
    race_record back({.most_kinds = 2});
    byte_reader in(out.payload());
    base::read_fields(in, back);
    CHECK(in.finish() == status::ok);
    for (std::uint32_t k = 0; k < 5; ++k) CHECK(back.of_task(k) == a.of_task(k));
    CHECK(back.corrected(0.4) == a.corrected(0.4));
    CHECK(a.of_task(3) == a.of_task(4)); // no room: what all have shown
    b.merge(a);
    CHECK(b.races() == 51);
    CHECK(b.of_task(1) > b.of_task(0));
}
