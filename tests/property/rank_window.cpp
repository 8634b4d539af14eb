// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// One window of all that is known: by its definition, attempt for attempt, in numbers of more digits.

#include <straggle/rank/rank_nodes.hpp>

#include "../support/monitor_cases.hpp"
#include "../support/rank_window.hpp"
#include "../support/seed.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace straggle;
using straggle_test::attempt;
using straggle_test::difference;

TEST_CASE("rank_window: with everything in the window it is rank_nodes, to the bit") {
    std::mt19937_64 draw(straggle_test::seed_or(11));
    straggle_test::time_window<std::int64_t> const always{(std::numeric_limits<std::int64_t>::min)(),
                                                          (std::numeric_limits<std::int64_t>::max)()};
    for (int round = 0; round < 40; ++round) {
        auto const all = straggle_test::random_history(draw, 300);
        CHECK(difference(straggle_test::rank_window(all, always, straggle_test::ticks),
                         rank_nodes(all, straggle_test::ticks)) == "");
        CHECK(difference(straggle_test::rank_window(all, always, straggle_test::reals),
                         rank_nodes(all, straggle_test::reals), straggle_test::order_of_nodes::same,
                         1e-12) == "");
    }
}

TEST_CASE("rank_window: what ended in the window, each against its whole job") {
    std::uint64_t const seed = straggle_test::seed_or(12);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    std::size_t ranked = 0;
    for (int round = 0; round < 60; ++round) {
        auto all = straggle_test::random_history(draw, 200);
        for (attempt& a : all)
            if (draw() % 9 == 0) a.status = attempt_status::failed;
        std::int64_t const from = all[draw() % 100].end, until = from + 1 + static_cast<int>(draw() % 300);
        auto const found = straggle_test::rank_window(
            all, straggle_test::time_window<std::int64_t>{from, until}, straggle_test::ticks);
        std::map<int, std::vector<long double>> jobs, scores;
        std::uint64_t used = 0, failed = 0;
        for (attempt const& a : all) {
            bool const inside = a.end >= from && a.end < until, good = a.status == attempt_status::success;
            if (good) jobs[a.job].push_back(static_cast<long double>(a.took));
            if (inside) ++(good ? used : failed);
        }
        CHECK(found.attempts().used == used);
        CHECK(found.attempts().failed == failed);
        CHECK(found.attempts().seen == used + failed);
        for (attempt const& a : all) {
            if (a.end < from || a.end >= until || a.status != attempt_status::success) continue;
            auto const& siblings = jobs[a.job];
            long double const n = static_cast<long double>(siblings.size());
            long double mean = 0, squares = 0;
            for (long double const x : siblings) mean += x / n;
            for (long double const x : siblings) squares += (x - mean) * (x - mean);
            if (siblings.size() < 5 || !(squares > 1e-6L)) continue;
            scores[a.node].push_back((static_cast<long double>(a.took) - mean) / std::sqrt(squares / n));
        }
        for (auto const& node : found.nodes()) {
            long double sum = 0;
            for (long double const z : scores[node.id]) sum += z;
            CHECK(node.n == scores[node.id].size());
            CHECK(std::fabs(node.mean - static_cast<double>(sum) / static_cast<double>(node.n)) <= 1e-12);
            ++ranked;
        }
    }
    CHECK(ranked > 100);
}

TEST_CASE(
    "rank_window: a node whose tasks end when their siblings have left the window is seen all the same") {
    // 9 nodes take about 100, one takes 300; windows of 150 hold the slow one's tasks alone.
    std::vector<attempt> all;
    for (int job = 0; job < 20; ++job)
        for (int task = 0; task < 20; ++task) {
            int const node = task % 10;
            std::int64_t const took = (node == 7 ? 300 : 100) + task % 7;
            all.push_back({job, node, took, 1000 * job + took});
        }
    std::size_t alone = 0, against_all = 0;
    for (int job = 0; job < 20; ++job) {
        straggle_test::time_window<std::int64_t> const window{1000 * job + 200, 1000 * job + 350};
        std::vector<attempt> inside;
        for (attempt const& a : all)
            if (a.end >= window.from && a.end < window.until) inside.push_back(a);
        auto const itself = rank_nodes(inside, straggle_test::ticks);
        for (auto const& n : itself.nodes()) alone += n.mean > 1 ? 1u : 0u;
        auto const whole = straggle_test::rank_window(all, window, straggle_test::ticks);
        for (auto const& n : whole.nodes()) against_all += n.id == 7 && n.mean > 1 ? 1u : 0u;
    }
    CHECK(alone == 0);
    CHECK(against_all == 20);
}
