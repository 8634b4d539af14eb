// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/assign/copy_worth.hpp>

#include <doctest/doctest.h>

#include <support/seed.hpp>

#include "goal_value.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

using namespace straggle;
using assign::copy_case;

namespace {

using times = std::array<double, 16>;

times some(std::mt19937_64& g, double scale) {
    times t;
    for (double& x : t) x = scale * std::exp(0.6 * std::normal_distribution<>()(g));
    std::sort(t.begin(), t.end());
    return t;
}

// The quantiles 1/16, 3/16, ..., 15/16 of a normal, by bisection.
std::array<double, 8> quantiles() {
    std::array<double, 8> z;
    for (int i = 0; i < 8; ++i) {
        double low = -4, high = 4;
        for (int k = 0; k < 60; ++k) {
            double const middle = (low + high) / 2;
            (0.5 * std::erfc(-middle / std::sqrt(2.0)) < (2 * i + 1) / 16.0 ? low : high) = middle;
        }
        z[static_cast<std::size_t>(i)] = low;
    }
    return z;
}

} // namespace

TEST_CASE("copy_worth: a copy that ends in 1 against a task that still takes 3") {
    times left, there;
    left.fill(3);
    there.fill(1);
    auto const fresh = assign::worth_of({left, there, 2, 1, 0});
    CHECK(fresh.saved == 2);
    CHECK(fresh.taken == 1);
    CHECK(fresh.saves());
    CHECK(fresh.win_probability == 1);
    // The task is what it is: its copy takes 5 there, too.
    auto const same = assign::worth_of({left, there, 2, 1, 1});
    CHECK(same.saved == 0);
    CHECK(same.taken == 3);
    CHECK_FALSE(same.saves());
    CHECK(same.win_probability == 0);
    // But on a node that is four times as fast it takes 5 / 4.
    CHECK(assign::worth_of({left, there, 2, 0.25, 1}).saved == doctest::Approx(1.75));
    auto const half = assign::worth_of({left, there, 2, 1, 0.5});
    CHECK(half.win_probability == 0.5);
    CHECK(half.by_place == 1);
    CHECK(half.by_task == 0);
}

TEST_CASE("copy_worth: a slot of a slow node yields less") {
    times left, there;
    left.fill(3);
    there.fill(1);
    auto const twice = assign::worth_of({left, there, 0, 0.5, 0});
    CHECK(twice.saved == 2);
    CHECK(twice.saved_there() == 1);
    CHECK_FALSE(twice.saves()); // 2 seconds of a slot that is half as fast, for 1 of the other
    CHECK(assign::worth_of({left, there, 0, 0.51, 0}).saves());
}

TEST_CASE("claim_of: what a copy would take, by the place and by the task") {
    times left, there;
    left.fill(30);
    there.fill(10);
    copy_case const c{left, there, 20, 0.5, 0};
    auto const claim = assign::claim_of(c, assign::worth_of(c));
    CHECK(claim.claimed == 1);
    CHECK(claim.place.mean == doctest::Approx(std::log(10)));
    CHECK(claim.task.mean == doctest::Approx(std::log(25)));
    CHECK(claim.task.variance == doctest::Approx(0));
    there.front() = 10 / std::exp(2.0);
    auto const wider = assign::claim_of(c, assign::worth_of(c));
    CHECK(wider.place.variance == doctest::Approx(4 * 15.0 / 256));
}

TEST_CASE("copy_worth: the same as races that are run") {
    std::uint64_t const seed = straggle_test::seed_or(13);
    INFO("seed ", seed);
    std::mt19937_64 g(seed);
    for (int round = 0; round < 20; ++round) {
        times const left = some(g, 2), there = some(g, 1);
        double const age = 1.5, relative = 0.5, of_task = 0.25;
        auto const w = assign::worth_of({left, there, age, relative, of_task});
        double saved = 0, taken = 0, wins = 0;
        constexpr int races = 40000;
        for (int i = 0; i < races; ++i) {
            double const r = left[g() % 16];
            bool const task = std::uniform_real_distribution<>()(g) < of_task;
            double const x = task ? (age + r) * relative : there[g() % 16];
            saved += std::max(r - x, 0.0);
            taken += std::min(r, x);
            wins += x < r ? 1 : 0;
        }
        CHECK(w.saved == doctest::Approx(saved / races).epsilon(0.05));
        CHECK(w.taken == doctest::Approx(taken / races).epsilon(0.02));
        CHECK(w.win_probability == doctest::Approx(wins / races).epsilon(0.05));
    }
}

TEST_CASE("copy_worth: attempts that differ, all pairs one by one") {
    std::uint64_t const seed = straggle_test::seed_or(16);
    INFO("seed ", seed);
    std::mt19937_64 g(seed);
    std::uniform_real_distribution<> any(0, 1);
    auto const z = quantiles();
    for (int round = 0; round < 200; ++round) {
        times const left = some(g, 2), there = some(g, 1);
        copy_case const c{left, there, 3 * any(g), 0.3 + any(g), any(g), any(g)};
        double place_saved = 0, task_saved = 0, place_taken = 0, task_taken = 0, wins = 0, possible = 0;
        for (double const r : left) {
            for (double const x : there) {
                place_saved += std::max(r - x, 0.0) / 256;
                place_taken += std::min(r, x) / 256;
            }
            for (double const luck : z) {
                double const x = (c.age + r) * c.relative * std::exp(c.apart * luck);
                possible += 1;
                task_saved += std::max(r - x, 0.0);
                task_taken += std::min(r, x);
                wins += x < r ? 1 : 0;
            }
        }
        auto const w = assign::worth_of(c);
        if (possible > 0) {
            CHECK(w.by_task == doctest::Approx(wins / possible).epsilon(1e-9));
            CHECK(w.saved ==
                  doctest::Approx((1 - c.of_task) * place_saved + c.of_task * task_saved / possible)
                      .epsilon(1e-9));
            CHECK(w.taken ==
                  doctest::Approx((1 - c.of_task) * place_taken + c.of_task * task_taken / possible)
                      .epsilon(1e-9));
        }
        // That any two attempts differ is a chance for the copy where it had none.
        copy_case alike = c;
        alike.apart = 0;
        if (c.relative >= 1) CHECK(assign::worth_of(alike).by_task == 0);
    }
}

TEST_CASE("copy_worth: as many times as one likes, some of them equal, all pairs one by one") {
    std::uint64_t const seed = straggle_test::seed_or(19);
    INFO("seed ", seed);
    std::mt19937_64 g(seed);
    std::uniform_real_distribution<> any(0, 1);
    for (std::size_t const size : {1u, 2u, 15u, 16u, 17u, 32u, 100u}) {
        CAPTURE(size);
        for (int round = 0; round < 20; ++round) {
            std::vector<double> left(size), there(1 + g() % 40);
            for (double& x : left) x = round % 2 == 0 ? 1 + static_cast<double>(g() % 4) : 4 * any(g);
            for (double& x : there) x = round % 2 == 0 ? 1 + static_cast<double>(g() % 4) : 3 * any(g);
            std::sort(left.begin(), left.end());
            std::sort(there.begin(), there.end());
            // Equal times, a copy as fast as the task or slower.
            double const relative = std::array{0.5, 1.0, 1.5, any(g)}[g() % 4];
            copy_case const c{left, there, round % 3 == 0 ? 0.0 : any(g), relative, 0.4};
            double saved = 0, taken = 0, wins = 0, task_saved = 0, task_taken = 0, task_wins = 0,
                   possible = 0;
            for (double const r : left) {
                for (double const x : there) {
                    saved += std::max(r - x, 0.0);
                    taken += std::min(r, x);
                    wins += x < r ? 1 : 0;
                }
                double const same = (c.age + r) * relative;
                possible += 1;
                task_saved += std::max(r - same, 0.0);
                task_taken += std::min(r, same);
                task_wins += same < r ? 1 : 0;
            }
            double const pairs = static_cast<double>(size * there.size());
            double const of_task = possible > 0 ? 0.4 : 0.0, each = possible > 0 ? 1 / possible : 0.0;
            auto const w = assign::worth_of(c);
            CHECK(w.by_place == doctest::Approx(wins / pairs).epsilon(1e-12));
            CHECK(w.by_task == doctest::Approx(task_wins * each).epsilon(1e-12));
            CHECK(
                w.saved ==
                doctest::Approx((1 - of_task) * saved / pairs + of_task * task_saved * each).epsilon(1e-12));
            CHECK(
                w.taken ==
                doctest::Approx((1 - of_task) * taken / pairs + of_task * task_taken * each).epsilon(1e-12));
        }
    }
}

TEST_CASE("copy_worth: a copy of a hard task wins as often as races do in which attempts differ") {
    std::uint64_t const seed = straggle_test::seed_or(17);
    INFO("seed ", seed);
    std::mt19937_64 g(seed);
    for (double const apart : {0.1, 0.4, 0.8}) {
        CAPTURE(apart);
        for (int round = 0; round < 10; ++round) {
            times const left = some(g, 4), there = some(g, 1);
            auto const w = assign::worth_of({left, there, 1.5, 0.9, 1, apart});
            double saved = 0, taken = 0, wins = 0;
            constexpr int races = 40000;
            for (int i = 0; i < races; ++i) {
                double const r = left[g() % 16];
                double const x = (1.5 + r) * 0.9 * std::exp(apart * std::normal_distribution<>()(g));
                saved += std::max(r - x, 0.0);
                taken += std::min(r, x);
                wins += x < r ? 1 : 0;
            }
            // Eight values stand for a normal, and lack its tails.
            CHECK(std::abs(w.win_probability - wins / races) < 0.03);
            CHECK(std::abs(w.saved - saved / races) < 0.04 * taken / races);
            CHECK(w.taken == doctest::Approx(taken / races).epsilon(0.04));
        }
    }
}

TEST_CASE("copy_worth: what is no difference between attempts is none") {
    std::mt19937_64 g(18);
    times const left = some(g, 3), there = some(g, 1);
    auto const alike = assign::worth_of({left, there, 1, 0.7, 0.5});
    for (double const apart : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
        auto const w = assign::worth_of({left, there, 1, 0.7, 0.5, apart});
        CHECK(w.win_probability == alike.win_probability);
        CHECK(w.saved == alike.saved);
    }
}

TEST_CASE("copy_worth: the gain of a deadline is what its value says of both cases") {
    using assign::job_goal;
    std::mt19937_64 g(19);
    for (int round = 0; round < 50; ++round) {
        times const left = some(g, 3), there = some(g, 1);
        job_goal const goal{.deadline = 0.3 * round, .weight = 2, .missed = 7};
        for (double const of_task : {0.0, 1.0}) {
            auto const gain = assign::gain_of({left, there, 1, 0.8, of_task}, goal, 1);
            double expected = 0, pairs = 0;
            for (double const r : left)
                for (double const x : there) {
                    double const copy = of_task > 0 ? (r + 1) * 0.8 : x;
                    expected += straggle_test::value_of_end(std::min(r, copy), goal) -
                                straggle_test::value_of_end(r, goal);
                    ++pairs;
                }
            CHECK(gain.in_time + gain.after == doctest::Approx(expected / pairs));
            CHECK(gain.in_time == doctest::Approx(2 * 7 * gain.probability));
            auto const in_doubt = assign::gain_of({left, there, 1, 0.8, of_task}, goal, 0.5);
            CHECK(in_doubt.probability == doctest::Approx(gain.probability / 2));
        }
    }
    times const left{5, 6}, there{1, 2};
    auto const missed = assign::gain_of({left, there, 1}, {.deadline = -3, .missed = 7}, 0.5);
    CHECK(missed.probability == 0);
    CHECK(missed.after == doctest::Approx(assign::worth_of({left, there, 1}).saved));
}
