// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Each kind of action that does harm is found out and stopped, whichever part advises it; what a mitigator
// keeps is bounded whatever it is told; and it does not matter which of two mitigators that merge saw what.

#include "mitigate/small_cluster.hpp"
#include "support/allocations.hpp"

#include <straggle/assign/rank_places.hpp>
#include <straggle/mitigate/mitigator.hpp>
#include <straggle/mitigate/stages.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

using namespace straggle;
using mitigate::action_kind;
using mitigate::plan_note;
using straggle_test::ended_fields;
using straggle_test::ended_task;
using straggle_test::running_task;
using straggle_test::running_task_fields;
using straggle_test::told_host;
using straggle_test::told_host_fields;

namespace {

std::vector<told_host> hosts_of(int nodes) {
    std::vector<told_host> hosts;
    for (int n = 0; n < nodes; ++n) hosts.push_back({"node-" + std::to_string(n), 4, 0});
    return hosts;
}

// Wants a copy of every task, on the last node.
struct eager_copies {
    std::vector<mitigate::copy_row> wanted{};
    mitigate::copy_notes said{};
    bool observe_ended(mitigate::ended_row const&) { return true; }
    template <class CanRun>
    void plan(double, std::span<mitigate::running_row const> running,
              std::span<mitigate::place_row const> places, cluster_load const&, CanRun&&) {
        wanted.clear();
        for (mitigate::running_row const& r : running)
            wanted.push_back({.task_row = r.row,
                              .node_row = places.back().row,
                              .left = {4, 5, 6},
                              .there = {1, 2, 3},
                              .win_probability = 0.9,
                              .gain = 1,
                              .why = {2, 1.5, 1, "nonsense"}});
    }
    [[nodiscard]] std::span<mitigate::copy_row const> copies() const { return wanted; }
    [[nodiscard]] std::span<mitigate::kill_row const> kills() const { return {}; }
    [[nodiscard]] mitigate::copy_notes const& notes() const { return said; }
    void rank_places(mitigate::new_task const&, std::span<mitigate::place_row const>, cluster_load const&,
                     std::vector<assign::ranked_place>& out) {
        out.clear();
    }
    void finish_job(std::uint64_t) {}
};

} // namespace

TEST_CASE("mitigator: copies that make tasks longer are stopped, copies that help are not") {
    for (bool const harms : {true, false}) {
        mitigator_options o;
        o.effects.left_alone = 0.2;
        mitigator<ended_task, running_task, told_host, std::remove_const_t<decltype(ended_fields)>,
                  std::remove_const_t<decltype(running_task_fields)>,
                  std::remove_const_t<decltype(told_host_fields)>, node_stage, eager_copies>
            m(ended_fields, running_task_fields, told_host_fields, o, node_stage{}, eager_copies{});
        auto const hosts = hosts_of(6);
        double now = 0;
        int job = 0, advised = 0;
        for (; job < 1500 && !m.plan().has(plan_note::copy_stopped); ++job, now += 10) {
            std::string const name = "job-" + std::to_string(job);
            bool const alone = m.is_left_alone(name);
            std::vector<running_task> running;
            for (int t = 0; t < 4; ++t)
                running.push_back({name, hosts[static_cast<std::size_t>(t)].name, t, now});
            auto const& plan = m.decide(now + 1, running, hosts);
            if (plan.has(plan_note::copy_stopped)) break;
            CHECK(plan.copies().size() == (alone ? 0u : 4u));
            advised += static_cast<int>(plan.copies().size());
            for (int t = 0; t < 4; ++t)
                m.observe({name, running[static_cast<std::size_t>(t)].node, t, now,
                           now + 5 + 0.01 * ((t * 7 + job) % 30) + (alone ? 0 : (harms ? 3 : -2)),
                           attempt_status::success},
                          now + 9);
            m.finish(name);
        }
        CAPTURE(harms);
        CHECK(advised > 20);
        CHECK(m.effect_of(action_kind::copy).is_stopped == harms);
        CHECK((m.effect_of(action_kind::copy).value > 1) == harms);
        if (!harms) continue;
        std::vector<running_task> const running{{"job-x", "node-0", 1, now}};
        CHECK(m.decide(now + 1, running, hosts).copies().empty());
        CHECK_FALSE(m.effect_of(action_kind::exclusion).is_stopped); // the others go on
        m.resume(action_kind::copy);
        CHECK(m.decide(now + 2, running, hosts).copies().size() == (m.is_left_alone("job-x") ? 0u : 1u));
    }
}

TEST_CASE("mitigator: placement that makes jobs longer is stopped: nodes come in their order again") {
    mitigator_options o;
    o.effects.left_alone = 0.2;
    mitigator m(ended_fields, running_task_fields, told_host_fields, o);
    auto const hosts = hosts_of(6);
    std::vector<running_task> const none;
    double now = 0;
    int job = 0;
    for (; job < 1500 && !m.plan().has(plan_note::placement_stopped); ++job, now += 10) {
        std::string const name = "job-" + std::to_string(job);
        m.decide(now, none, hosts);
        auto const places = m.rank_places(name, hosts);
        REQUIRE(places.size() == hosts.size());
        double const longer = m.is_left_alone(name) ? 0 : 3;
        for (int t = 0; t < 4; ++t)
            m.observe({name, hosts[places[static_cast<std::size_t>(t)].row].name, t, now,
                       now + 5 + 0.01 * ((t * 7 + job) % 30) + (t == 3 ? longer : 0),
                       attempt_status::success},
                      now + 9);
        m.finish(name);
    }
    CHECK(job < 1500);
    REQUIRE(m.effect_of(action_kind::placement).is_stopped);
    auto const places = m.rank_places("job-x", hosts);
    REQUIRE(places.size() == hosts.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
        CHECK(places[i].row == i);
        CHECK(places[i].time == 0);
    }
    m.resume(action_kind::placement);
    CHECK_FALSE(m.effect_of(action_kind::placement).is_stopped);
}

TEST_CASE("mitigator: told in two halves to two that merge, the same nodes are found, as slow") {
    mitigator all(ended_fields, running_task_fields, told_host_fields);
    mitigator one(ended_fields, running_task_fields, told_host_fields);
    mitigator two(ended_fields, running_task_fields, told_host_fields);
    auto const hosts = hosts_of(12);
    std::vector<running_task> const none;
    for (int job = 0; job < 40; ++job) {
        std::vector<ended_task> ended;
        std::string const name = "job-" + std::to_string(job);
        for (int t = 0; t < 24; ++t) {
            int const node = t % 12;
            double const took = 20 + (t * 13 + job * 7) % 11 * (node == 4 ? 3 : 1) + (node == 4 ? 30 : 0);
            ended.push_back({name, hosts[static_cast<std::size_t>(node)].name, t, 100.0 * job,
                             100.0 * job + took, attempt_status::success});
        }
        double const now = 100.0 * job + 90;
        all.observe(ended, now);
        (job % 2 == 0 ? one : two).observe(ended, now);
        for (auto* const m : {&all, &one, &two}) {
            m->finish(name);
            m->decide(now, none, hosts);
        }
    }
    one.merge(two);
    for (double now = 4100; now < 4400; now += 60) {
        all.decide(now, none, hosts);
        one.decide(now, none, hosts);
    }
    for (std::uint32_t n = 0; n < 12; ++n) {
        CAPTURE(n);
        slowdown const a = all.slowdown_of(hosts[n].name), b = one.slowdown_of(hosts[n].name);
        CHECK(all.state(hosts[n].name) == one.state(hosts[n].name));
        CHECK(b.value == doctest::Approx(a.value).epsilon(0.02));
        CHECK((a.low > 1.1) == (n == 4));
        CHECK((b.low > 1.1) == (n == 4));
    }
}

namespace {

// Whatever it is told is new each time: jobs, tasks, nodes, kinds.
struct new_attempt {
    std::string job, node, kind;
    double start = 0, end = 0;
    std::string task;
};
struct new_running {
    std::string job, node, kind, task;
    double start = 0;
};

} // namespace

TEST_CASE("mitigator: what it keeps is bounded, whatever it is told, and what is left out is counted") {
    mitigator_options o;
    o.most_nodes = 200;
    o.most_jobs = 300;
    o.nodes.evidence.max_nodes = 200;
    o.nodes.evidence.max_jobs = 300;
    o.nodes.evidence.max_attempts = 1 << 14;
    o.nodes.evidence.max_cells = 4096;
    o.copies.times.most_jobs = 300;
    o.copies.times.most_kinds = 300;
    auto m = mitigator_of<new_attempt, new_running, told_host>(attempt_fields{.job = &new_attempt::job,
                                                                              .task = &new_attempt::task,
                                                                              .node = &new_attempt::node,
                                                                              .start = &new_attempt::start,
                                                                              .end = &new_attempt::end,
                                                                              .kind = &new_attempt::kind},
                                                               running_fields{.job = &new_running::job,
                                                                              .task = &new_running::task,
                                                                              .node = &new_running::node,
                                                                              .start = &new_running::start,
                                                                              .kind = &new_running::kind},
                                                               told_host_fields, o);
    std::size_t held[2]{};
    std::uint64_t n = 0;
    for (int part = 0; part < 2; ++part) {
        for (int round = 0; round < 300; ++round) {
            double const now = 300.0 * part + round;
            std::vector<told_host> hosts;
            for (int i = 0; i < 20; ++i)
                hosts.push_back({"node-" + std::to_string(n + 3 * static_cast<unsigned>(i)), 4, 0});
            std::vector<new_running> running;
            for (int i = 0; i < 20; ++i, ++n) {
                std::string const s = std::to_string(n);
                m.observe({"job-" + s, "node-" + s, "kind-" + s, now - 3, now, "task-" + s}, now);
                running.push_back({"other-" + s, hosts[static_cast<std::size_t>(i)].name, "more-" + s,
                                   "task-" + s, now - 1});
            }
            m.decide(now, running, hosts);
            (void)m.rank_places("job-" + std::to_string(n), hosts);
        }
        held[part] = straggle_test::live_bytes();
    }
    CHECK(held[1] <= held[0] + held[0] / 20);
    CHECK(m.counts().no_room > 0);
    CHECK(m.serialize().size() < 4 << 20);
}

TEST_CASE("mitigator: every option reaches the part that it is for") {
    mitigator_options o;
    o.copies.least_win = 0.44;
    o.copies.times.most_jobs = 7;
    o.effects.left_alone = 0.5;
    o.effects.key = 9;
    o.hash_key = 5;
    mitigator m(ended_fields, running_task_fields, told_host_fields, o);
    CHECK(m.copy_part().options().least_win == 0.44);
    CHECK(m.copy_part().times().options().most_jobs == 7);
    mitigator_options other = o;
    other.effects.key = 10;
    mitigator rekeyed(ended_fields, running_task_fields, told_host_fields, other);
    other = o;
    other.hash_key = 6;
    mitigator rehashed(ended_fields, running_task_fields, told_host_fields, other);
    int alone = 0, by_key = 0, by_hash = 0;
    for (int job = 0; job < 400; ++job) {
        std::string const name = "job-" + std::to_string(job);
        alone += m.is_left_alone(name);
        by_key += m.is_left_alone(name) != rekeyed.is_left_alone(name);
        by_hash += m.is_left_alone(name) != rehashed.is_left_alone(name);
    }
    CHECK((alone > 140 && alone < 260));
    CHECK(by_key > 100);
    CHECK(by_hash > 100);
}
