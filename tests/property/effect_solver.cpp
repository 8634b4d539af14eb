// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What is solved in part says what is solved in all: a solver that keeps sums of what is final beside one
/// that is made to forget them before each round.
#include <straggle/rank/detail/node_effects.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace {

using namespace straggle::detail;

struct history {
    std::vector<effect_group> groups;
    std::vector<effect_cell> cells;
};

// A job on some of the nodes.
void add_job(history& h, std::mt19937_64& random, std::vector<double> const& truth, std::uint64_t window) {
    std::normal_distribution<double> normal;
    std::size_t const here = 5 + random() % 40;
    effect_group g{.window = window};
    double const shift = normal(random);
    for (std::size_t i = 0; i < here; ++i) {
        auto const node = static_cast<std::uint32_t>(random() % truth.size());
        double const tasks = 1 + static_cast<double>(random() % 4);
        h.cells.push_back({.node = node,
                           .tasks = tasks,
                           .mean = shift + truth[node] + 0.3 * normal(random) / std::sqrt(tasks)});
        ++g.cells;
        g.tasks += tasks;
    }
    h.groups.push_back(g);
}
// The first jobs are finished.
void solve(effect_solver& solver, history& h, std::size_t finished, std::uint64_t window,
           std::vector<std::uint32_t> const& slots, std::vector<node_effect>& out) {
    std::span<effect_group> const groups = h.groups;
    std::span<effect_cell const> const cells = h.cells;
    std::size_t split = 0;
    for (effect_group const& g : groups.first(finished)) split += g.cells;
    solver.solve({groups.first(finished), cells.first(split)},
                 {groups.subspan(finished), cells.subspan(split)}, window, slots, out);
}

} // namespace

TEST_CASE("many nodes of which little is known: one that moves is no reason to solve everything") {
    std::mt19937_64 random(20261127);
    std::vector<double> truth(1500);
    for (std::size_t i = 0; i < truth.size(); ++i) truth[i] = i % 50 == 7 ? 0.4 : 0.0;
    std::vector<std::uint32_t> const slots(truth.size(), 4);
    effect_solver fast, plain;
    std::vector<node_effect> by_fast(truth.size()), by_plain(truth.size());
    // Jobs in their order; the last 200 go on, and every round two are over and two begin.
    history jobs;
    for (int i = 0; i < 600; ++i) add_job(jobs, random, truth, 0);
    double squares = 0, most_off = 0;
    std::size_t compared = 0;
    for (std::uint64_t round = 0; round < 100; ++round) {
        if (round == 40) truth[11] = 1.1; // begins to be slow
        for (int job = 0; job < 2; ++job) add_job(jobs, random, truth, round / 30);
        history now = jobs, again = jobs;
        std::size_t const final_ones = jobs.groups.size() - 200;
        solve(fast, now, final_ones, round / 30, slots, by_fast);
        plain.forget();
        solve(plain, again, final_ones, round / 30, slots, by_plain);
        if (round < 5) continue; // nothing was known to begin from
        for (std::size_t i = 0; i < truth.size(); ++i) {
            // What has changed lately is a threshold.
            if (by_fast[i].groups != by_plain[i].groups || by_plain[i].groups == 0) continue;
            double const off = std::fabs(by_fast[i].log_slowdown - by_plain[i].log_slowdown) /
                               std::sqrt(by_plain[i].variance);
            most_off = std::max(most_off, off);
            squares += off * off;
            ++compared;
        }
    }
    double const usually = std::sqrt(squares / static_cast<double>(compared));
    MESSAGE("most off: " << most_off << " errors, usually " << usually);
    CHECK(compared > 140000);
    CHECK(most_off < 0.25);
    CHECK(usually < 0.05);
}

TEST_CASE("sums of what is final say what solving everything says, to a quarter of an error") {
    std::mt19937_64 random(20261122);
    std::vector<double> truth(80);
    for (std::size_t i = 0; i < truth.size(); ++i)
        truth[i] = i % 20 == 3 ? 0.4 : 0.01 * static_cast<double>(i % 3);
    std::vector<std::uint32_t> const slots(truth.size(), 4);
    effect_solver fast, plain;
    std::vector<node_effect> by_fast(truth.size()), by_plain(truth.size());
    history final_ones;
    double most_off = 0, most_variance = 0;
    std::size_t compared = 0, apart = 0;
    for (std::uint64_t round = 0; round < 400; ++round) {
        std::uint64_t const window = round / 5;
        if (round % 2 == 0) add_job(final_ones, random, truth, window);
        if (round == 250) truth[7] = 0.7; // changes, and is judged by what is recent
        history all = final_ones;
        for (int live = 0; live < 4; ++live) add_job(all, random, truth, window);
        history again = all;
        solve(fast, all, final_ones.groups.size(), window, slots, by_fast);
        plain.forget();
        solve(plain, again, final_ones.groups.size(), window, slots, by_plain);
        if (round < 50) continue;
        for (std::size_t i = 0; i < truth.size(); ++i) {
            REQUIRE(by_fast[i].component == by_plain[i].component);
            ++compared;
            // Whether a node has changed lately is a threshold, which both may cross in different rounds.
            if (by_fast[i].groups != by_plain[i].groups) {
                ++apart;
                continue;
            }
            REQUIRE(std::fabs(by_fast[i].tasks - by_plain[i].tasks) < 1e-6 * by_plain[i].tasks + 1e-9);
            double const error = std::sqrt(by_plain[i].variance);
            most_off =
                std::max(most_off, std::fabs(by_fast[i].log_slowdown - by_plain[i].log_slowdown) / error);
            most_variance =
                std::max(most_variance, std::fabs(by_fast[i].variance / by_plain[i].variance - 1));
        }
    }
    MESSAGE("most off: " << most_off << " errors, variance " << most_variance << ", apart " << apart << " of "
                         << compared);
    CHECK(apart * 1000 <= compared);
    CHECK(most_off < 0.25);
    CHECK(most_variance < 0.15);
}
