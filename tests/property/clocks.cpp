// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Clocks of a cluster differ: nodes stamp ends by theirs, and the scheduler passes such an end on as the
/// time it is. Over skews from a microsecond to two task lengths, of one node or all, and over drift: what is
/// not used is what a clock beyond the slack has stamped, and the clock never seems to jump.

#include <support/plain_cluster.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using namespace straggle_test;

struct outcome {
    std::uint64_t of_skewed = 0, of_others = 0;           // ends
    std::uint64_t used_of_skewed = 0, used_of_others = 0; // of these
    std::uint64_t jumps = 0, noted = 0, plans = 0;        // plans that say so
    std::uint64_t running = 0, used_running = 0, excluded = 0;
    std::uint64_t other_clock = 0;
};

constexpr std::uint32_t nodes = 20, slots = 2;
constexpr double task_length = 60, step = 2;

// `skew_of(node, now)`: how much its clock is ahead; 0: not skewed.
template <class SkewOf>
outcome run(std::uint64_t seed, bool own_now, SkewOf skew_of) {
    auto m = make_mitigator();
    std::mt19937_64 random(seed);
    std::vector<plain_host> hosts;
    for (std::uint32_t n = 0; n < nodes; ++n) hosts.push_back({n, slots});
    struct task {
        running row;
        double length;
    };
    std::vector<task> tasks;
    std::vector<running> rows;
    std::vector<std::uint32_t> busy(nodes, 0);
    outcome out;
    std::uint32_t next = 0;
    for (double now = 1000; now < 1000 + 40 * task_length; now += step) {
        for (std::size_t i = 0; i < tasks.size();) {
            task const t = tasks[i];
            double const end = t.row.start + t.length;
            if (end > now) {
                ++i;
                continue;
            }
            double const skew = skew_of(t.row.node, end);
            bool const used = m.observe(ended{t.row.job, t.row.task, t.row.node, t.row.start, end + skew},
                                        own_now ? now : end + skew);
            ++(skew != 0 ? out.of_skewed : out.of_others);
            if (used) ++(skew != 0 ? out.used_of_skewed : out.used_of_others);
            --busy[t.row.node];
            tasks[i] = tasks.back();
            tasks.pop_back();
        }
        for (std::uint32_t n = 0; n < nodes; ++n)
            for (; busy[n] < slots; ++busy[n], ++next)
                tasks.push_back(
                    {{next / 50, next, n, now},
                     task_length * std::exp(0.3 * (static_cast<double>(random() % 2001) / 500 - 2))});
        rows.clear();
        for (task const& t : tasks) rows.push_back(t.row);
        auto const& plan = m.decide(now, rows, hosts);
        using straggle::mitigate::plan_note;
        ++out.plans;
        out.jumps += plan.has(plan_note::clock_went_back) || plan.has(plan_note::clock_jumped);
        out.noted += plan.has(plan_note::node_clock_ahead);
        for (auto const& n : plan.nodes()) out.excluded += n.state == straggle::node_state::excluded;
    }
    out.running = m.counts().running.seen;
    out.used_running = m.counts().running.used;
    out.other_clock = m.counts().other_clock;
    return out;
}

// A tenth of the longest attempt of late, at least: the longest takes about twice the usual time.
constexpr double within = task_length / 10, beyond = task_length / 2;
constexpr double skews[] = {1e-6, 1e-3, 0.02, 1, within, beyond, task_length, 2 * task_length};

void check(outcome const& o, double skew) {
    CHECK(o.jumps == 0);
    CHECK(o.used_running == o.running);
    CHECK(o.used_of_others == o.of_others);
    CHECK(o.other_clock == o.of_skewed - o.used_of_skewed);
    CHECK((o.noted != 0) == (o.other_clock != 0));
    if (skew <= step) CHECK(o.used_of_skewed == o.of_skewed);
    // Until it is known how long attempts take, the slack is a step.
    if (skew <= within) CHECK(o.used_of_skewed + o.of_skewed / 50 + 1 >= o.of_skewed);
    CHECK(o.excluded == 0);
}

} // namespace

TEST_CASE("clocks: one node's is ahead: within the slack nothing is lost, beyond it only its own attempts") {
    for (double const skew : skews)
        for (bool const own_now : {false, true}) {
            CAPTURE(skew);
            CAPTURE(own_now);
            auto const o =
                run(7, own_now, [&](std::uint32_t node, double) { return node == 3 ? skew : 0.0; });
            check(o, skew);
            REQUIRE(o.of_skewed > 20);
            if (skew >= task_length) CHECK(o.used_of_skewed < o.of_skewed / 4);
        }
}

TEST_CASE("clocks: one node's is behind") {
    for (double const skew : skews) {
        if (skew > within) continue; // then its attempts seem to end before they began
        CAPTURE(skew);
        check(run(8, false, [&](std::uint32_t node, double) { return node == 3 ? -skew : 0.0; }), skew);
    }
}

TEST_CASE("clocks: all nodes are ahead of the scheduler") {
    for (double const skew : skews) {
        CAPTURE(skew);
        auto const o = run(9, false, [&](std::uint32_t, double) { return skew; });
        CHECK(o.jumps == 0);
        CHECK(o.used_running == o.running);
        CHECK(o.excluded == 0);
        if (skew <= step) CHECK(o.used_of_skewed == o.of_skewed);
        // Until it is known how long attempts take, the slack is a step.
        if (skew <= within) CHECK(o.used_of_skewed + o.of_skewed / 50 + 1 >= o.of_skewed);
        // Beyond it they agree with one another, and the scheduler's clock is the one that is behind.
        CHECK(o.used_of_skewed > o.of_skewed * 3 / 4);
    }
}

TEST_CASE("clocks: each node's differs by a little, and drifts") {
    for (double const rate : {1e-6, 1e-4, 2e-3}) {
        CAPTURE(rate);
        auto const o = run(10, false, [&](std::uint32_t node, double end) {
            return (static_cast<double>(node) - 10) / 10 * (1e-3 + rate * (end - 1000));
        });
        CHECK(o.jumps == 0);
        CHECK(o.used_running == o.running);
        CHECK(o.used_of_skewed + o.used_of_others == o.of_skewed + o.of_others);
        CHECK(o.excluded == 0);
    }
}

TEST_CASE("mitigator: jobs that are named otherwise where they end never meet, and a note says so") {
    using straggle::mitigate::plan_note;
    for (bool const is_other : {false, true}) {
        auto m = make_mitigator();
        std::vector<plain_host> const hosts{{0, 4}, {1, 4}};
        std::vector<running> rows;
        bool noted = false;
        for (std::uint32_t i = 0; i < 60; ++i) {
            double const now = 1000 + i;
            rows.push_back({i / 10, i, i % 2, now});
            if (i >= 10) {
                running const r = rows.front();
                rows.erase(rows.begin());
                (void)m.observe(
                    ended{r.job + (is_other ? 1000 : 0), r.task, r.node, is_other ? now - 5 : r.start, now},
                    now);
            }
            noted = m.decide(now, rows, hosts).has(plan_note::names_disagree);
        }
        CHECK(noted == is_other);
    }
}
