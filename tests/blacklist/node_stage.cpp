// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "obedient_cluster.hpp"
#include "real_histories.hpp"

#include <support/shared_data.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace straggle;
using blacklist::cause;
using blacklist::node_row;
using blacklist::spared;
using record::condition;
using straggle_test::past_attempt;
using cluster = straggle_test::obedient_cluster;

namespace {

std::uint64_t const seed = straggle_test::seed_or(20261122);

std::vector<double> ten(std::uint32_t slow = 99, double factor = 1) {
    std::vector<double> factors(10, 1.0);
    if (slow < 10) factors[slow] = factor;
    return factors;
}

// The nodes that something is ever held against, with the causes.
std::map<std::string, unsigned> named_in(std::vector<past_attempt> const& history) {
    std::map<std::string, std::uint32_t> nodes;
    std::map<std::string, std::uint64_t> jobs, tasks;
    std::vector<std::string> names;
    std::vector<node_row> rows;
    for (past_attempt const& r : history) {
        if (!nodes.emplace(r.node, names.size()).second) continue;
        rows.push_back({.node = static_cast<std::uint32_t>(names.size())});
        names.push_back(r.node);
    }
    node_stage d;
    std::map<std::string, unsigned> named;
    double last = -1e300;
    for (past_attempt const& r : history) {
        d.observe({nodes[r.node], jobs.emplace(r.job, jobs.size()).first->second,
                   tasks.emplace(r.task, tasks.size()).first->second, r.start, r.end, r.status, r.is_copy},
                  r.end);
        if (r.end - last < std::max(d.usual_duration(), 1e-3)) continue;
        last = r.end;
        d.decide(r.end, {}, rows, {});
        for (auto const& v : d.verdicts()) named[names[v.node]] |= v.causes;
    }
    return named;
}

} // namespace

TEST_CASE("real histories: the one culprit its publishers name, and nobody where nodes are shuffled") {
    std::mt19937_64 engine(seed);
    unsigned shuffled_names = 0, runs = 0;
    for (std::string const file :
         {"bytedance-AR", "hadoop-19jobs", "hadoop-gridmix-a", "hadoop-sls", "spark-groupon"}) {
        auto const path = straggle_test::shared_file("data/" + file + ".csv");
        if (!path) continue;
        std::vector<past_attempt> history = straggle_test::read_history(*path);
        std::map<std::string, unsigned> const named = named_in(history);
        if (file == "bytedance-AR") {
            REQUIRE(named.size() == 1);
            CHECK(named.begin()->first == "pp0-dp0");
            CHECK(named.begin()->second == static_cast<unsigned>(cause::slow));
        }
        for (int run = 0; run < 2; ++run, ++runs) {
            straggle_test::shuffle_nodes(history, engine);
            for (auto const& [node, causes] : named_in(history))
                shuffled_names += (causes & static_cast<unsigned>(cause::slow)) != 0;
        }
    }
    CHECK(shuffled_names <= 1);
}

TEST_CASE("a healthy fleet is left alone") {
    cluster c(ten());
    for (int i = 0; i < 150; ++i) c.step();
    CHECK(c.decisions.verdicts().empty());
    CHECK(c.decisions.usual_duration() == doctest::Approx(1).epsilon(0.1));
}

TEST_CASE("evidence about speed moves eight times in a usual task, however often a large cluster decides") {
    std::vector<node_row> rows;
    for (std::uint32_t n = 0; n < 10; ++n) rows.push_back({.node = n, .slots = 4});
    constexpr double last = 20;
    struct seen {
        double moved = 0, excluded = 0;
    };
    auto const run = [&](std::size_t others) {
        std::mt19937_64 engine(seed);
        std::uniform_real_distribution<double> length(0.9, 1.1);
        // Of jobs without an end, so that they say nothing.
        std::vector<running_attempt> running(others);
        for (std::size_t i = 0; i < others; ++i) running[i] = {.node = 5, .job = 1'000'000 + i};
        node_stage d;
        seen out;
        double before = 0;
        std::uint64_t step = 0;
        for (double now = 1; now < last; now += 1. / 64, ++step) {
            if (step % 4 == 0)
                for (node_row const& r : rows) {
                    double const took = length(engine) * (r.node == 3 ? 2 : 1);
                    d.observe({.node = r.node,
                               .job = step / 8,
                               .task = step * 10 + r.node,
                               .start = now - took,
                               .end = now},
                              now);
                }
            d.decide(now, running, rows, {});
            double const high = d.estimate_of(5).high;
            out.moved += std::exchange(before, high) != high ? 1.0 : 0.0;
            if (!(out.excluded > 0) && d.state(3) == node_state::excluded) out.excluded = now;
        }
        return out;
    };
    seen const small = run(0), large = run(300);
    CHECK(small.moved > 12 * last);
    CHECK(large.moved > 4 * last);
    CHECK(large.moved <= 8 * last);
    CHECK(small.excluded > 1);
    CHECK(large.excluded >= small.excluded);
    CHECK(large.excluded < small.excluded + 1);
}

TEST_CASE("ends alone show a node that became slow, in jobs that end and in one that does not") {
    constexpr double onset = 60;
    struct ended {
        double start, end;
        std::uint32_t node;
    };
    // Six nodes of one slot; the fourth becomes slower.
    auto const found_at = [&](double factor, bool is_endless, std::uint64_t of) {
        std::mt19937_64 engine(of);
        std::normal_distribution<double> normal;
        std::vector<ended> tasks;
        std::vector<node_row> rows;
        for (std::uint32_t n = 0; n < 6; ++n) {
            rows.push_back({.node = n});
            for (double now = 0; now < 400;) {
                double const length = std::exp(0.3 * normal(engine)) * (n == 3 && now > onset ? factor : 1);
                tasks.push_back({now, now + length, n});
                now += length;
            }
        }
        std::sort(tasks.begin(), tasks.end(), [](ended const& a, ended const& b) { return a.end < b.end; });
        node_stage d;
        double next = 1;
        for (std::uint64_t i = 0; i < tasks.size(); ++i) {
            for (; next < tasks[i].end; ++next) {
                d.decide(next, {}, rows, {});
                for (auto const& v : d.verdicts())
                    if (v.node != 3 || next < onset) return -next; // wrongly
                if (!d.verdicts().empty()) return next;
            }
            d.observe({tasks[i].node, is_endless ? 1 : i / 20, i, tasks[i].start, tasks[i].end},
                      tasks[i].end);
        }
        return 1e9;
    };
    for (double const factor : {1.5, 2.0, 3.0, 5.0, 10.0, 20.0})
        for (bool const is_endless : {false, true})
            for (std::uint64_t run = 0; run < 3; ++run) {
                CAPTURE(factor);
                CAPTURE(is_endless);
                double const at = found_at(factor, is_endless, seed + run);
                CHECK(at > onset);
                CHECK(at < onset + std::max(240.0, 20 * factor));
            }
}

TEST_CASE("a slow node is excluded, proves itself, and is back") {
    cluster c(ten(3, 2.5));
    CHECK(c.until(3, node_state::excluded, 40) <= 8);
    auto const v = c.verdict(3);
    CHECK(v.causes == static_cast<std::uint8_t>(cause::slow));
    CHECK(v.slow.low > 1.1);
    CHECK(v.slow.value == doctest::Approx(2.5).epsilon(0.3));
    CHECK(v.why.rule == "slowdown");
    CHECK(v.why.value > v.why.threshold);
    CHECK(v.strikes == 1);
    CHECK(v.until > v.since);
    CHECK(c.decisions.probe_slots(3) == 0);
    // It stays slow: it relapses, for longer.
    CHECK(c.until(3, node_state::on_probation, 60) <= 60);
    CHECK(c.decisions.probe_slots(3) == 1);
    CHECK(c.until(3, node_state::excluded, 60) <= 20);
    CHECK(c.verdict(3).strikes == 2);
    // It recovers: probation widens, then it is healthy.
    c.factors[3] = 1;
    CHECK(c.until(3, node_state::on_probation, 200) <= 200);
    CHECK(c.until(3, node_state::healthy, 60) <= 20);
    for (int i = 0; i < 60; ++i) c.step();
    CHECK(c.decisions.state(3) == node_state::healthy);
    for (std::uint32_t n = 0; n < 10; ++n)
        if (n != 3) CHECK(c.decisions.state(n) == node_state::healthy);
}

TEST_CASE("nobody waits for ever for probes") {
    for (bool const others_work : {true, false}) {
        CAPTURE(others_work);
        cluster c(ten(3, 3));
        REQUIRE(c.until(3, node_state::excluded, 40) <= 40);
        REQUIRE(c.until(3, node_state::on_probation, 60) <= 60);
        // No probe ever comes.
        int steps = 0;
        while (c.decisions.state(3) != node_state::healthy && steps < 400) {
            for (std::uint32_t n = 0; n < 10 && others_work; ++n)
                if (n != 3) c.decisions.observe({n, 1000000, n, c.now, c.now + 1}, c.now + 1);
            c.now += 4;
            c.decisions.decide(c.now, {}, c.rows, {});
            ++steps;
        }
        // While nothing happens anywhere that says little of a node.
        CHECK(steps < (others_work ? 40 : 320));
        CHECK(steps > (others_work ? 4 : 40));
    }
}

// Nodes of one slot, of which the third is slow, until that is on probation.
void begin_trial_of_one_slot(cluster& c) {
    c.busy = 0;
    c.sigma = 0.15;
    for (node_row& row : c.rows) row.slots = 1;
    REQUIRE(c.until(3, node_state::excluded, 60) <= 60);
    REQUIRE(c.until(3, node_state::on_probation, 60) <= 60);
}

TEST_CASE("few slow probes are enough to keep a node out") {
    cluster c(ten(3, 3));
    begin_trial_of_one_slot(c);
    // Two probes are all it gets in eight windows.
    int steps = 0;
    for (; c.decisions.state(3) == node_state::on_probation && steps < 40; ++steps) {
        c.resting = steps == 1 || steps == 4 ? 99 : 3;
        c.step();
    }
    CHECK(c.decisions.state(3) == node_state::excluded);
    CHECK(c.verdict(3).strikes == 2);
}

TEST_CASE("time alone gives no node back whose only probe was slow") {
    cluster c(ten(3, 3));
    begin_trial_of_one_slot(c);
    // A probe, and another one long after eight windows.
    for (int steps = 0; c.decisions.state(3) == node_state::on_probation && steps < 40; ++steps) {
        c.resting = steps == 1 || steps == 20 ? 99 : 3;
        c.step();
        if (steps == 12) CHECK(c.decisions.state(3) == node_state::on_probation);
    }
    CHECK(c.decisions.state(3) == node_state::excluded);
}

TEST_CASE("a black hole is out after eight failures at most, without a window") {
    node_stage d;
    std::vector<node_row> rows;
    for (std::uint32_t n = 0; n < 20; ++n) rows.push_back({.node = n, .slots = 2});
    double now = 0;
    int failures = 0;
    while (d.state(7) != node_state::excluded && failures < 50) {
        for (std::uint32_t n = 0; n < 20; ++n) {
            if (n == 7) continue;
            d.observe({n, 1, n + 1000u * static_cast<std::uint64_t>(failures), now, now + 1}, now);
        }
        d.observe(
            {7, 1, 500000u + static_cast<std::uint64_t>(failures), now, now + 0.01, attempt_status::failed},
            now);
        ++failures;
        now += 0.01;
        d.decide(now, {}, rows, {.waiting = 100000}); // whatever the load
    }
    CHECK(failures <= 8);
    REQUIRE(d.verdicts().size() == 1);
    CHECK(d.verdicts()[0].causes == static_cast<std::uint8_t>(cause::failing));
    CHECK(d.verdicts()[0].why.rule == "failures");
}

TEST_CASE("a poisonous task blames no node, and a fleet of failures is the jobs' fault") {
    node_stage d;
    std::vector<node_row> rows;
    for (std::uint32_t n = 0; n < 10; ++n) rows.push_back({.node = n});
    double now = 0;
    for (std::uint64_t t = 0; t < 400; ++t) {
        // Each task fails on node 2 first, then elsewhere.
        d.observe({2, 9, t, now, now + 1, attempt_status::failed}, now);
        d.observe({static_cast<std::uint32_t>(3 + t % 5), 9, t, now, now + 1, attempt_status::failed}, now);
        now += 1;
        d.decide(now, {}, rows, {});
        CHECK(d.verdicts().empty());
    }
    // A task that fails again and again on one node counts once.
    for (int i = 0; i < 30; ++i) d.observe({4, 10, 1, now, now + 1, attempt_status::failed}, now);
    d.decide(now + 1, {}, rows, {});
    CHECK(d.verdicts().empty());
}

TEST_CASE("where tasks wait for slots a slow node works, as a last resort") {
    cluster c(ten(3, 1.6));
    c.busy = 4;
    c.waiting = 200;
    CHECK(c.until(3, node_state::last_resort, 40) <= 25);
    CHECK(c.verdict(3).spared_by == spared::by_load);
    CHECK_FALSE(c.decisions.load_allows_exclusion());
    // The queue is gone.
    c.busy = 1;
    c.waiting = 0;
    CHECK(c.until(3, node_state::excluded, 200) <= 200);
    // It comes back: the node is in service again, at once or after its probation.
    c.busy = 4;
    c.waiting = 200;
    for (int i = 0; i < 200 && c.decisions.state(3) != node_state::last_resort; ++i) c.step();
    CHECK(c.decisions.state(3) == node_state::last_resort);
    // And when it is as fast as the others it is healthy.
    c.factors[3] = 1;
    CHECK(c.until(3, node_state::healthy, 100) <= 60);
}

TEST_CASE("of several slow nodes none is excluded once it has recovered, and their ratios are those of now") {
    // Requests to eight servers, of which two are five times as slow for half a minute.
    for (std::uint64_t run = 0; run < 5; ++run) {
        CAPTURE(run);
        std::mt19937_64 engine(seed + run);
        std::normal_distribution<double> normal;
        node_stage d({.windows_per_error = 100000, .longest_exclusion = 20, .probes_with_tasks = true});
        std::vector<node_row> rows;
        for (std::uint32_t n = 0; n < 8; ++n) rows.push_back({.node = n, .slots = 4});
        std::array<double, 8> share{}, credit{};
        share.fill(1);
        std::array<node_state, 8> was{};
        std::array<double, 2> found{99, 99};
        for (int tick = 0; tick < 700; ++tick) {
            double const now = tick * 0.1;
            bool const is_bad = now >= 20 && now < 50;
            for (int i = 0; i < 30; ++i) {
                for (std::size_t n = 0; n < 8; ++n) credit[n] += share[n];
                auto const to =
                    static_cast<std::size_t>(std::max_element(credit.begin(), credit.end()) - credit.begin());
                for (std::size_t n = 0; n < 8; ++n) credit[to] -= share[n];
                double const takes =
                    (is_bad && (to == 2 || to == 5) ? 0.05 : 0.01) * std::exp(0.8 * normal(engine));
                double const end = now + 0.1 * (i + 1) / 30;
                d.observe({static_cast<std::uint32_t>(to), 1, no_task, end - takes, end}, end);
            }
            d.decide(now + 0.1, {}, rows, {});
            for (std::uint32_t n = 0; n < 8; ++n) {
                node_state const is = d.state(n);
                bool const is_victim = n == 2 || n == 5;
                if (is_bad && is_victim && is != node_state::healthy)
                    found[n == 5] = std::min(found[n == 5], now - 20);
                bool const is_new =
                    is == node_state::excluded && was[n] != is && was[n] != node_state::on_probation;
                CHECK_FALSE((is_new && (!is_victim || now < 20 || now > 51)));
                share[n] = is == node_state::excluded       ? 0.0
                           : is == node_state::on_probation ? 0.05 * d.probe_slots(n)
                                                            : 1.0;
                was[n] = is;
            }
            if (tick == 480)
                for (auto const& v : d.verdicts())
                    if (v.state == node_state::last_resort) {
                        CHECK(v.slow.value > 3.5);
                        CHECK(v.slow.value < 7);
                    }
        }
        for (double const after : found) CHECK(after < 4);
        CHECK(d.verdicts().empty());
    }
}

TEST_CASE("a slow node whose long tasks end is slow, and hangs only once nothing ends there") {
    for (std::uint64_t run = 0; run < 5; ++run) {
        CAPTURE(run);
        std::mt19937_64 engine(seed + run);
        std::lognormal_distribution<double> length(0, 0.3);
        node_stage decisions;
        std::vector<node_row> rows;
        for (std::uint32_t n = 0; n < 4; ++n) rows.push_back({.node = n, .slots = 4, .busy = 4});
        struct task {
            std::uint64_t id;
            double start, end;
        };
        std::array<std::array<task, 4>, 4> slots{};
        std::uint64_t next = 0;
        double const stuck_since = 300;
        int wrong = 0, late = 0;
        bool hung = false;
        for (double now = 0.5; now < 600 && !hung; now += 0.5) {
            std::vector<running_attempt> running;
            for (std::uint32_t n = 0; n < 4; ++n)
                for (std::uint32_t k = 0; k < 4; ++k) {
                    task& t = slots[n][k];
                    while (t.end <= now) {
                        if (t.end > 0) decisions.observe({n, t.id / 100, t.id, t.start, t.end}, now);
                        t.id = next++;
                        t.start = t.end;
                        t.end = n == 3 && t.start > stuck_since
                                    ? 1e300
                                    : t.start + length(engine) * (n == 3 ? 6.0 : 1.0);
                    }
                    running.push_back(
                        {.node = n, .job = next / 100, .task = 1000000 + n * 4 + k, .start = t.start});
                }
            decisions.decide(now, running, rows, {.waiting = 200});
            for (auto const& v : decisions.verdicts()) {
                bool const names = blacklist::has(v.causes, cause::hung);
                wrong += names && (v.node != 3 || now < stuck_since);
                hung = hung || (names && v.node == 3 && now > stuck_since);
            }
            if (now > stuck_since) ++late;
            if (now > 100 && now < stuck_since) CHECK(decisions.state(3) == node_state::last_resort);
        }
        CHECK(wrong == 0);
        CHECK(hung);
        CHECK(late / 2 < 2 * 8 * 6); // in usual times; it takes 6 for a task
    }
}

TEST_CASE("of two nodes, the one that hung is tried again, after twice as long each time") {
    std::mt19937_64 engine(seed);
    std::lognormal_distribution<double> length(0, 0.2);
    node_stage decisions;
    std::vector<node_row> const rows{{.node = 0, .slots = 1, .busy = 1}, {.node = 1, .slots = 1, .busy = 1}};
    struct task {
        std::uint64_t id = 0;
        double start = 0, end = 0;
        bool runs = false;
    };
    std::array<task, 2> on;
    std::uint64_t next = 0;
    std::vector<double> without; // how long node 1 was given nothing, each time
    double hung_since = 0;
    bool was_hung = false;
    for (double now = 0.25; now < 4000 && (without.size() < 3 || now < hung_since + 400); now += 0.25) {
        bool const hangs = now > 100 && without.size() < 3;
        for (std::uint32_t n = 0; n < 2; ++n) {
            task& t = on[n];
            if (t.runs && t.end <= now) {
                decisions.observe({n, t.id / 10, t.id, t.start, t.end}, now);
                t.runs = false;
            }
            if (t.runs && n == 1 && was_hung) { // the scheduler stops it
                decisions.observe({n, t.id / 10, t.id, t.start, now, attempt_status::killed}, now);
                t.runs = false;
            }
            if (!t.runs && (n == 0 || !was_hung))
                t = {next++, now, n == 1 && hangs ? 1e300 : now + length(engine), true};
        }
        std::vector<running_attempt> running;
        for (std::uint32_t n = 0; n < 2; ++n)
            if (on[n].runs)
                running.push_back({.node = n, .job = on[n].id / 10, .task = on[n].id, .start = on[n].start});
        decisions.decide(now, running, rows, {.waiting = 50});
        bool hung = false;
        for (auto const& v : decisions.verdicts()) {
            hung = hung || blacklist::has(v.causes, cause::hung);
            CHECK(v.node == 1);
            CHECK(v.state == node_state::last_resort);
        }
        if (hung && !was_hung) hung_since = now;
        if (!hung && was_hung) without.push_back(now - hung_since);
        was_hung = hung;
    }
    REQUIRE(without.size() == 3);
    CHECK(without[1] > 1.5 * without[0]); // twice, with up to a quarter of jitter
    CHECK(without[2] > 1.5 * without[1]);
    CHECK(decisions.verdicts().empty()); // it has recovered
}

TEST_CASE("limits: a fifth of the slots, one node of three, none of two") {
    cluster c({1, 1, 1, 1, 1, 1, 3, 3, 3, 1});
    // Three have become slow, there is room for two.
    std::vector<double> const later = c.factors;
    c.factors = ten();
    for (int i = 0; i < 20; ++i) c.step();
    c.factors = later;
    for (int i = 0; i < 12; ++i) c.step();
    int out = 0, spared_ones = 0;
    for (std::uint32_t n = 6; n < 9; ++n) {
        out +=
            c.decisions.state(n) == node_state::excluded || c.decisions.state(n) == node_state::on_probation;
        spared_ones +=
            c.decisions.state(n) == node_state::last_resort && c.verdict(n).spared_by == spared::by_limit;
    }
    CHECK(out == 2);
    CHECK(spared_ones == 1);

    cluster three({1, 1, 3});
    CHECK(three.until(2, node_state::excluded, 60) <= 60);
    cluster two({1, 3});
    for (int i = 0; i < 60; ++i) two.step();
    CHECK(two.decisions.state(1) != node_state::excluded);

    // A share of nothing is no node, not one.
    cluster none({1, 1, 3}, {.share_of_slots = 0});
    CHECK(none.until(2, node_state::last_resort, 60) <= 60);
    for (int i = 0; i < 20; ++i) {
        none.step();
        CHECK(none.decisions.state(2) == node_state::last_resort);
        CHECK(none.verdict(2).spared_by == spared::by_limit);
    }
}

TEST_CASE("the operator has the last word") {
    cluster c(ten(3, 3));
    c.rows[3].word = condition::pinned;
    c.rows[5].word = condition::denied;
    c.rows[6].word = condition::away;
    for (int i = 0; i < 30; ++i) c.step();
    CHECK(c.decisions.state(3) == node_state::last_resort);
    CHECK(c.verdict(3).spared_by == spared::by_operator);
    CHECK(c.decisions.state(5) == node_state::excluded);
    CHECK(c.decisions.state(6) == node_state::away);
    for (node_row& row : c.rows) row.word = condition::present;
    c.step();
    CHECK(c.decisions.state(6) == node_state::healthy);
    CHECK(c.decisions.state(3) == node_state::excluded);
}

TEST_CASE("two generations: a group that was always slow is nobody's fault, one that became slow is") {
    std::vector<double> factors(20, 1.0);
    for (std::size_t n = 0; n < 8; ++n) factors[n] = 1.3;
    cluster untold(factors);
    for (int i = 0; i < 80; ++i) untold.step();
    CHECK(untold.decisions.verdicts().size() <= 1); // one may have been told from its group at first
    // A node of the slow generation that becomes slower is at fault.
    untold.factors[2] = 2.6;
    CHECK(untold.until(2, node_state::excluded, 60) <= 40);

    cluster told(factors);
    for (std::size_t n = 0; n < 20; ++n) told.rows[n].machine_class = n < 8 ? 1 : 2;
    for (int i = 0; i < 80; ++i) told.step();
    CHECK(told.decisions.verdicts().empty());
    told.factors[12] = 2;
    CHECK(told.until(12, node_state::excluded, 60) <= 30);

    cluster became(std::vector<double>(20, 1.0));
    for (int i = 0; i < 30; ++i) became.step();
    became.factors = factors;
    for (std::size_t n = 0; n < 8; ++n) became.factors[n] = 1.6;
    for (int i = 0; i < 60; ++i) became.step();
    int found = 0;
    for (std::uint32_t n = 0; n < 20; ++n) found += became.decisions.state(n) != node_state::healthy;
    CHECK(found >= 7);
}

TEST_CASE("the nodes of a slower class that get work first are not excluded before the class is known") {
    std::vector<double> factors(60, 1.0);
    for (std::size_t n = 0; n < 60; n += 3) factors[n] = 1.5;
    cluster c(factors);
    c.sigma = 0.1;
    for (std::uint32_t n = 0; n < 60; ++n) {
        c.rows[n].machine_class = n % 3 == 0 ? 1 : 2;
        if (n % 3 == 0 && n >= 18) c.rows[n].slots = 0; // reserved for others
    }
    for (int i = 0; i < 20; ++i) {
        c.step();
        for (std::uint32_t n = 0; n < 60; ++n) CHECK(c.decisions.state(n) == node_state::healthy);
    }
    c.factors[3] = 4;
    CHECK(c.until(3, node_state::excluded, 40) <= 20);
}

TEST_CASE("without leave nothing new is excluded, and what stands goes on") {
    cluster c(ten(3, 3));
    c.may_exclude = false;
    for (int i = 0; i < 20; ++i) c.step();
    CHECK(c.decisions.state(3) == node_state::last_resort);
    CHECK(c.verdict(3).spared_by == spared::by_caller);
    c.may_exclude = true;
    c.step();
    CHECK(c.decisions.state(3) == node_state::excluded);
    c.may_exclude = false;
    c.step();
    CHECK(c.decisions.state(3) == node_state::excluded);
}

TEST_CASE("time that goes back, or is none, decides nothing") {
    cluster c(ten(3, 3));
    REQUIRE(c.until(3, node_state::excluded, 40) <= 40);
    c.decisions.decide(-5, {}, {}, {});
    c.decisions.decide(std::nan(""), {}, {}, {});
    CHECK(c.decisions.state(3) == node_state::excluded);
}

TEST_CASE("all times multiplied by 1000: the same decisions") {
    cluster a(ten(3, 2)), b(ten(3, 2));
    b.unit = 1000;
    for (int i = 0; i < 80; ++i) {
        a.step();
        b.step();
        for (std::uint32_t n = 0; n < 10; ++n) CHECK(a.decisions.state(n) == b.decisions.state(n));
    }
}

TEST_CASE("after a restart it decides as it would have") {
    cluster a(ten(3, 2));
    REQUIRE(a.until(3, node_state::excluded, 60) <= 60);
    byte_writer out;
    a.decisions.write(out);
    cluster b(ten(3, 2));
    byte_reader in(out.payload());
    REQUIRE(b.decisions.read(in) == status::ok);
    REQUIRE(in.at_end());
    b.engine = a.engine;
    b.now = a.now;
    b.job = a.job;
    for (int i = 0; i < 60; ++i) {
        a.step();
        b.step();
        for (std::uint32_t n = 0; n < 10; ++n) REQUIRE(a.decisions.state(n) == b.decisions.state(n));
    }
    for (std::size_t size = 0; size < out.payload().size(); size += 131) {
        node_stage c;
        byte_reader part(out.payload().first(size));
        CHECK(c.read(part) != status::ok);
    }
}

TEST_CASE("every rule that a node may be excluded by is stored") {
    for (std::string_view const rule :
         {"", "slowdown", "running_time", "hung", "killed", "failures", "denied", "races"}) {
        CAPTURE(rule);
        detail::exclusion_record before;
        before.why = {3, 2, 1, rule};
        byte_writer out;
        base::write_fields(out, before);
        auto const bytes = std::move(out).seal(frame_kind("test"), 1);
        auto const frame = open_frame(bytes, frame_kind("test"), 1);
        REQUIRE(frame);
        byte_reader in = frame->payload;
        detail::exclusion_record after;
        base::read_fields(in, after);
        CHECK(in.finish() == status::ok);
        CHECK(after.why.rule == rule);
    }
}

TEST_CASE("a node that is gone is forgotten") {
    cluster c(ten(3, 3));
    REQUIRE(c.until(3, node_state::excluded, 40) <= 40);
    c.decisions.forget_node(3);
    CHECK(c.decisions.state(3) == node_state::healthy);
    c.factors[3] = 1;
    for (int i = 0; i < 40; ++i) c.step();
    CHECK(c.decisions.state(3) == node_state::healthy);
}

// Exclusions over time, by what a cluster that obeys sees of them: trials, limits, restarts, and how often
// states change.

namespace {

std::uint64_t const trial_seed = straggle_test::seed_or(20261123);

constexpr int steps_per_day = 360;

} // namespace

TEST_CASE(
    "a trial by copies alone: lost races keep a slow node out, ever longer; one that recovered is back") {
    cluster f(10);
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

TEST_CASE(
    "a node on probation that ended nothing stays where it is given ordinary tasks, but not indefinitely") {
    auto const steps_of_trial = [](bool probes_with_tasks) {
        cluster f(10, {.probes_with_tasks = probes_with_tasks});
        f.factors[3] = 2.5;
        REQUIRE(f.until(3, node_state::excluded, 40) <= 40);
        f.resting = 3;
        REQUIRE(f.until(3, node_state::on_probation, 60) <= 60);
        return f.until(3, node_state::healthy, 200);
    };
    CHECK(steps_of_trial(false) <= 10);
    int const steps = steps_of_trial(true);
    CHECK(steps >= 60);
    CHECK(steps <= 70);
}

TEST_CASE("nobody flaps: changes of state per node and day") {
    for (double const sigma : {0.1, 0.3, 1.0}) {
        cluster f(20);
        f.sigma = sigma;
        CHECK(f.changes(5 * steps_per_day) == 0); // healthy
    }
    for (double const factor : {1.2, 1.5, 3.0}) {
        cluster f(20);
        f.factors[7] = factor;
        int const slow = f.changes(5 * steps_per_day);
        MESSAGE(factor << " times as slow for five days: " << slow / 5.0 << " changes a day on that node");
        CHECK(slow <= 60); // found, five trials with longer and longer exclusions, then the longest ones
        CHECK(f.verdict(7).strikes >= 3);
        for (auto const& v : f.decisions.verdicts()) CHECK(v.node == 7);
    }
}

TEST_CASE("the last node of a failure domain stays") {
    cluster f(20);
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
    cluster f(40, {.first_exclusion = 20});
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
    cluster f(40, {.share_of_slots = 1, .fail_open = 1});
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
    node_stage d;
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
        cluster a(12);
        a.engine.seed(trial_seed + round);
        a.copies_only = round % 2 != 0;
        std::mt19937_64 draw(trial_seed * 7 + round);
        auto const disturb = [&](cluster& f, std::uint64_t r) {
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
        cluster b(12);
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
    // In every fourth window four neighbors of a job are thirty times as long; they begin together on a
    // node.
    struct attempt {
        std::uint32_t node;
        std::uint64_t job, task;
        double start, end;
    };
    std::mt19937_64 engine(trial_seed);
    std::normal_distribution<double> normal;
    node_stage decisions;
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
