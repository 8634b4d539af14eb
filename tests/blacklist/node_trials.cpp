// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Exclusions over time, by what a cluster that obeys sees of them: trials, limits, restarts, and how often
// states change.

#include <straggle/blacklist/node_decisions.hpp>

#include <support/seed.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

using namespace straggle;
using blacklist::cause;
using blacklist::node_row;
using blacklist::spared;
using record::condition;

namespace {

std::uint64_t const seed = straggle_test::seed_or(20261123);

// Every step is four minutes, in which each slot that may works off one task of about a minute.
struct fleet {
    std::vector<double> factors, failing;
    node_decisions decisions;
    std::vector<node_row> rows{};
    double sigma = 0.3;
    bool copies_only = false; // what is on trial gets copies of tasks that have just begun
    std::mt19937_64 engine{seed};
    double now = 0;
    std::uint64_t job = 1;

    explicit fleet(std::size_t nodes, node_decisions_options const& options = {})
        : factors(nodes, 1.0), failing(nodes, 0.0), decisions(options) {
        for (std::uint32_t n = 0; n < nodes; ++n) rows.push_back({.node = n, .slots = 4, .busy = 2});
    }
    double length(std::uint32_t n) {
        return factors[n] * std::exp(sigma * std::normal_distribution<>()(engine));
    }
    void step() {
        std::uniform_real_distribution<double> any;
        for (std::uint32_t n = 0; n < rows.size(); ++n) {
            node_state const s = decisions.state(n);
            if (s == node_state::excluded || s == node_state::away || rows[n].word == condition::away)
                continue;
            bool const on_trial = s == node_state::on_probation;
            for (std::uint32_t k = 0; k < (on_trial ? decisions.probe_slots(n) : 4); ++k) {
                std::uint64_t const task = n * 100u + k;
                if (on_trial && copies_only) {
                    race(n, task);
                    continue;
                }
                bool const fails = any(engine) < failing[n];
                decisions.observe(
                    {n, job, task, now, now + length(n), fails ? ended_as::failed : ended_as::success}, now);
            }
        }
        decisions.finish_job(job++);
        now += 4;
        decisions.decide(now, {}, rows, {});
    }
    // A copy on `n` against its original elsewhere, which began a moment before.
    void race(std::uint32_t n, std::uint64_t task) {
        std::uint32_t const other = n == 0 ? 1 : 0;
        double const original = length(other), copy = 0.03 + length(n);
        bool const wins = copy < original;
        double const end = now + std::min(copy, original);
        decisions.observe({other, job, task, now, end, wins ? ended_as::outrun : ended_as::success}, end);
        decisions.observe({n, job, task, now + 0.03, end, wins ? ended_as::success : ended_as::outrun, true},
                          end);
    }
    int until(std::uint32_t node, node_state state, int most) {
        for (int i = 1; i <= most; ++i) {
            step();
            if (decisions.state(node) == state) return i;
        }
        return most + 1;
    }
    [[nodiscard]] blacklist::node_verdict verdict(std::uint32_t node) const {
        for (auto const& v : decisions.verdicts())
            if (v.node == node) return v;
        return {};
    }
    // Changes of state of all nodes in so many steps.
    int changes(int steps) {
        int all = 0;
        std::vector<node_state> before(rows.size());
        for (std::uint32_t n = 0; n < rows.size(); ++n) before[n] = decisions.state(n);
        for (int i = 0; i < steps; ++i) {
            step();
            for (std::uint32_t n = 0; n < rows.size(); ++n) {
                all += decisions.state(n) != before[n];
                before[n] = decisions.state(n);
            }
        }
        return all;
    }
};
constexpr int steps_per_day = 360;

} // namespace

TEST_CASE(
    "a trial by copies alone: lost races keep a slow node out, ever longer; one that recovered is back") {
    fleet f(10);
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
        fleet f(20);
        f.sigma = sigma;
        CHECK(f.changes(5 * steps_per_day) == 0); // healthy
    }
    for (double const factor : {1.2, 1.5, 3.0}) {
        fleet f(20);
        f.factors[7] = factor;
        int const slow = f.changes(5 * steps_per_day);
        MESSAGE(factor << " times as slow for five days: " << slow / 5.0 << " changes a day on that node");
        CHECK(slow <= 60); // found, five trials with longer and longer exclusions, then the longest ones
        CHECK(f.verdict(7).strikes >= 3);
        for (auto const& v : f.decisions.verdicts()) CHECK(v.node == 7);
    }
}

TEST_CASE("the last node of a failure domain stays") {
    fleet f(20);
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
    fleet f(40, {.first_exclusion = 20});
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
    fleet f(40, {.share_of_slots = 1, .fail_open = 1});
    for (int i = 0; i < 20; ++i) f.step();
    for (std::uint32_t n = 0; n < 16; ++n) f.rows[n].busy = 0, f.factors[n] = 3;
    for (std::uint32_t n = 16; n < 40; ++n) f.rows[n].busy = 0;
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
    for (std::uint64_t task = 0; task < 40 && d.state(0) != node_state::excluded; ++task, now += 1) {
        d.observe({0, 1, task, now, now + 1, ended_as::failed}, now);
        d.decide(now, {}, rows, {});
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
        fleet a(12);
        a.engine.seed(seed + round);
        a.copies_only = round % 2 != 0;
        std::mt19937_64 draw(seed * 7 + round);
        auto const disturb = [&](fleet& f, std::uint64_t r) {
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
        fleet b(12);
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
