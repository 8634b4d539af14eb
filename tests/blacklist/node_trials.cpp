// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Exclusions over time, by what a cluster that obeys sees of them: trials, limits, restarts, and how often
// states change.

#include "obedient_cluster.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

using namespace straggle;
using blacklist::cause;
using blacklist::node_row;
using blacklist::spared;
using record::condition;
using straggle_test::obedient_cluster;

namespace {

std::uint64_t const seed = straggle_test::seed_or(20261123);

constexpr int steps_per_day = 360;

} // namespace

TEST_CASE(
    "a trial by copies alone: lost races keep a slow node out, ever longer; one that recovered is back") {
    obedient_cluster f(10);
    f.copies_only = true;
    f.factors[3] = 2.5;
    REQUIRE(f.until(3, node_state::excluded, 40) <= 40);
    for (int trial = 0; trial < 4; ++trial) {
        REQUIRE(f.until(3, node_state::on_probation, 300) <= 300);
        bool was_healthy = false;
        for (int i = 0; i < 60 && f.decisions.state(3) != node_state::excluded; ++i) {
            f.step();
            was_healthy = was_healthy || f.decisions.state(3) == node_state::healthy;
        }
        CHECK_FALSE(was_healthy);
        CHECK(f.verdict(3).strikes == static_cast<std::uint32_t>(trial + 2));
    }
    f.factors[3] = 1;
    REQUIRE(f.until(3, node_state::on_probation, 300) <= 300);
    CHECK(f.until(3, node_state::healthy, 60) <= 60);
    for (int i = 0; i < 100; ++i) f.step();
    CHECK(f.decisions.state(3) == node_state::healthy);
}

TEST_CASE("nobody flaps: changes of state per node and day") {
    for (double const sigma : {0.1, 0.3, 1.0}) {
        obedient_cluster f(20);
        f.sigma = sigma;
        CHECK(f.changes(5 * steps_per_day) == 0); // healthy
    }
    for (double const factor : {1.2, 1.5, 3.0}) {
        obedient_cluster f(20);
        f.factors[7] = factor;
        int const slow = f.changes(5 * steps_per_day);
        MESSAGE(factor << " times as slow for five days: " << slow / 5.0 << " changes a day on that node");
        CHECK(slow <= 60); // found, five trials with longer and longer exclusions, then the longest ones
        CHECK(f.verdict(7).strikes >= 3);
        for (auto const& v : f.decisions.verdicts()) CHECK(v.node == 7);
    }
}

TEST_CASE("the last node of a failure domain stays") {
    obedient_cluster f(20);
    for (std::uint32_t n = 0; n < 20; ++n) f.rows[n].domain = 1 + n / 2;
    for (int i = 0; i < 20; ++i) f.step();
    f.factors[4] = f.factors[5] = 3;
    for (int i = 0; i < 15; ++i) f.step();
    int out = 0;
    for (std::uint32_t n = 4; n < 6; ++n) {
        bool const is_out = f.decisions.state(n) != node_state::last_resort;
        out += is_out;
        if (!is_out) CHECK(f.verdict(n).spared_by == spared::by_domain);
    }
    CHECK(out == 1);
}

TEST_CASE("nodes that went together do not come back together") {
    obedient_cluster f(40, {.first_exclusion = 20});
    for (int i = 0; i < 20; ++i) f.step();
    for (std::uint32_t n = 0; n < 6; ++n) f.failing[n] = 1;
    f.step();
    f.step();
    std::set<double> ends;
    for (std::uint32_t n = 0; n < 6; ++n) {
        REQUIRE(f.decisions.state(n) == node_state::excluded);
        auto const v = f.verdict(n);
        ends.insert(v.until);
        CHECK(v.until - v.since >= 20 * f.decisions.evidence().window_length());
        CHECK(v.until - v.since <= 25 * f.decisions.evidence().window_length());
    }
    CHECK(ends.size() == 6);
}

TEST_CASE("at most a quarter of the nodes is excluded at once, whatever the limits allow") {
    obedient_cluster f(40, {.share_of_slots = 1, .fail_open = 1});
    for (int i = 0; i < 20; ++i) f.step();
    f.busy = 0;
    for (std::uint32_t n = 0; n < 16; ++n) f.factors[n] = 3;
    std::size_t most = 0;
    bool was_capped = false;
    for (int i = 0; i < 12; ++i) {
        f.step();
        std::size_t out = 0;
        for (auto const& v : f.decisions.verdicts()) {
            out += v.state == node_state::excluded;
            was_capped = was_capped || v.spared_by == spared::by_action_cap;
        }
        most = std::max(most, out);
    }
    CHECK(was_capped);
    CHECK(most <= 14); // ten at once, and a few when the allowance grows again
}

TEST_CASE("an exclusion that begins before any task ended lasts until lengths are known") {
    node_decisions d;
    std::vector<node_row> rows;
    for (std::uint32_t n = 0; n < 10; ++n) rows.push_back({.node = n, .slots = 4});
    double now = 0;
    std::vector<straggle::running_attempt> runs; // siblings that show that it is not the job
    for (std::uint32_t n = 1; n < 10; ++n)
        runs.push_back({.node = n, .job = 1, .task = 1000 + n, .start = -5});
    for (std::uint64_t task = 0; task < 40 && d.state(0) != node_state::excluded; ++task, now += 1) {
        d.observe({0, 1, task, now, now + 1, attempt_status::failed}, now);
        d.decide(now, runs, rows, {});
    }
    REQUIRE(d.state(0) == node_state::excluded);
    for (int i = 0; i < 50; ++i, now += 1) {
        d.decide(now, {}, rows, {});
        REQUIRE(d.state(0) == node_state::excluded);
    }
    int steps = 0;
    for (; steps < 200 && d.state(0) == node_state::excluded; ++steps, now += 1) {
        for (std::uint32_t n = 1; n < 10; ++n) d.observe({n, 1, 1000 + n, now - 10, now}, now);
        d.decide(now, {}, rows, {});
    }
    CHECK(steps > 10);
    CHECK(d.state(0) == node_state::on_probation);
}

TEST_CASE("restarted at any time it decides as it would have") {
    for (std::uint64_t round = 0; round < 12; ++round) {
        CAPTURE(round);
        obedient_cluster a(12);
        a.engine.seed(seed + round);
        a.copies_only = round % 2 != 0;
        std::mt19937_64 draw(seed * 7 + round);
        auto const disturb = [&](obedient_cluster& f, std::uint64_t r) {
            std::uint32_t const n = static_cast<std::uint32_t>(r % 12);
            switch (r / 12 % 6) {
            case 0:
                f.factors[n] = 2.5;
                break;
            case 1:
                f.failing[n] = 0.9;
                break;
            case 2:
                f.rows[n].word = condition::denied;
                break;
            case 3:
                f.rows[n].word = condition::away;
                break;
            case 4:
                f.decisions.forget_node(n);
                break;
            default:
                f.factors[n] = 1;
                f.failing[n] = 0;
                f.rows[n].word = condition::present;
            }
        };
        int const before = 20 + static_cast<int>(draw() % 100);
        for (int i = 0; i < before; ++i) {
            if (draw() % 10 == 0) disturb(a, draw());
            a.step();
        }
        byte_writer out;
        a.decisions.write(out);
        obedient_cluster b(12);
        byte_reader in(out.payload());
        REQUIRE(b.decisions.read(in) == status::ok);
        REQUIRE(in.at_end());
        b.factors = a.factors;
        b.failing = a.failing;
        b.rows = a.rows;
        b.engine = a.engine;
        b.now = a.now;
        b.job = a.job;
        b.copies_only = a.copies_only;
        for (int i = 0; i < 80; ++i) {
            if (draw() % 10 == 0) {
                std::uint64_t const r = draw();
                disturb(a, r);
                disturb(b, r);
            }
            a.step();
            b.step();
            CAPTURE(i);
            REQUIRE(a.decisions.verdicts().size() == b.decisions.verdicts().size());
            for (std::size_t k = 0; k < a.decisions.verdicts().size(); ++k) {
                auto const &x = a.decisions.verdicts()[k], &y = b.decisions.verdicts()[k];
                REQUIRE(x.node == y.node);
                REQUIRE(x.state == y.state);
                REQUIRE(x.causes == y.causes);
                REQUIRE(x.strikes == y.strikes);
                REQUIRE(x.probe_slots == y.probe_slots);
                REQUIRE(x.until == y.until);
            }
        }
    }
}

TEST_CASE("a node that was given four hard neighbours at once is blamed now and then, not each time") {
    // In every fourth window four neighbours of a job are thirty times as long; they begin together on a
    // node.
    struct attempt {
        std::uint32_t node;
        std::uint64_t job, task;
        double start, end;
    };
    std::mt19937_64 engine(seed);
    std::normal_distribution<double> normal;
    node_decisions decisions;
    std::vector<node_row> rows;
    for (std::uint32_t n = 0; n < 10; ++n) rows.push_back({.node = n, .slots = 4, .busy = 4});
    std::vector<attempt> runs;
    std::vector<running_attempt> running;
    std::set<std::uint32_t> named;
    int batches = 0, verdicts = 0;
    for (std::uint64_t job = 1; job <= 2000; ++job) {
        double const now = 10 * static_cast<double>(job);
        auto const hard = static_cast<std::uint32_t>(engine() % 40); // a node, or none
        for (std::uint32_t n = 0; n < 10; ++n) {
            if (std::any_of(runs.begin(), runs.end(), [&](attempt const& a) { return a.node == n; }))
                continue;
            batches += n == hard;
            for (std::uint64_t k = 0; k < 4; ++k)
                runs.push_back(
                    {n, job, n * 4 + k, now, now + (n == hard ? 150 : 5) * std::exp(0.3 * normal(engine))});
        }
        running.clear();
        for (std::size_t i = 0; i < runs.size();)
            if (attempt const a = runs[i]; a.end <= now + 10) {
                decisions.observe({a.node, a.job, a.task, a.start, a.end}, a.end);
                runs[i] = runs.back();
                runs.pop_back();
            } else {
                running.push_back({a.node, a.job, a.task, a.start});
                ++i;
            }
        decisions.decide(now + 10, running, rows, {});
        for (std::uint32_t n = 0; n < 10; ++n)
            if (decisions.state(n) == node_state::healthy)
                named.erase(n);
            else
                verdicts += named.insert(n).second;
    }
    CHECK(batches > 300);
    MESSAGE(verdicts << " verdicts for " << batches << " batches");
    CHECK(verdicts >= 1); // a node that hangs would look like that
    CHECK(verdicts <= batches / 20);
}
