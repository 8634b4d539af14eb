// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// The safety of the loop: what must hold whatever happens to the cluster, its clock and its scheduler, and
// what must not change a decision.

#include "mitigate/small_cluster.hpp"
#include "support/seed.hpp"

#include <straggle/mitigate/mitigator.hpp>
#include <straggle/mitigate/stages.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace straggle;
using mitigate::plan_note;
using straggle_test::health;
using straggle_test::small_cluster;
using straggle_test::small_cluster_options;

namespace {

std::vector<std::string> log_of(small_cluster_options how, int steps = 1500) {
    how.is_checked = false;
    small_cluster c(how);
    c.healths[3] = health::slow;
    c.run(steps / 2);
    c.healths[9] = health::hangs;
    c.run(steps / 2);
    return c.log;
}
// What is decided about nodes and copies, in all.
int differences(std::vector<std::string> const& a, std::vector<std::string> const& b) {
    int n = 0;
    for (std::size_t i = 0; i < a.size(); ++i) n += a[i] != b[i] ? 1 : 0;
    return n;
}

} // namespace

TEST_CASE("mitigator: invariants hold after every step, whatever happens") {
    std::uint64_t const seed = straggle_test::seed_or(2024);
    int finished = 0;
    for (std::uint64_t round = 0; round < 8; ++round) {
        INFO("seed ", seed, ", round ", round);
        std::mt19937_64 random(seed + round);
        mitigator_options o;
        o.effects.left_alone = round % 2 == 0 ? 0.02 : 0;
        small_cluster c({.nodes = 6 + static_cast<int>(random() % 20),
                         .slots = 1 + static_cast<int>(random() % 5),
                         .between = 10 + static_cast<int>(random() % 30),
                         .seed = seed + round},
                        o);
        for (int i = 0; i < 1500; ++i) {
            if (random() % 40 == 0) {
                auto const node = random() % c.healths.size();
                // At most a third are anything but well, so that work goes on.
                std::size_t ill = 0;
                for (health const h : c.healths) ill += h != health::well ? 1u : 0u;
                c.healths[node] =
                    3 * ill < c.healths.size() ? static_cast<health>(random() % 5) : health::well;
            }
            if (random() % 400 == 0) c.clock_error += static_cast<double>(random() % 400) - 200;
            if (random() % 200 == 0) c.is_silent = random() % 2 == 0;
            if (random() % 300 == 0) {
                auto const bytes = c.m.serialize();
                REQUIRE(c.m.restore(bytes) == status::ok);
                REQUIRE(c.m.serialize() == bytes);
            }
            // Records that make no sense.
            if (random() % 10 == 0)
                c.m.observe({"job-0", "node-100", 1, std::nan(""), c.now(), attempt_status::success},
                            c.now());
            if (random() % 10 == 0)
                c.m.observe({"job-0", "node-100", 1, c.now() + 1e6, c.now() - 7, attempt_status::success},
                            c.now());
            c.step();
        }
        finished += c.finished_jobs;
    }
    CHECK(finished > 100); // else nothing was tried
}

TEST_CASE("mitigator: every node that is out of service is tried again within a stated time") {
    small_cluster c({.nodes = 20, .is_checked = false});
    c.healths[3] = health::slow;
    int out = 0, longest = 0;
    for (int i = 0; i < 20000; ++i) {
        c.step();
        out = c.state(3) == node_state::excluded ? out + 1 : 0;
        longest = std::max(longest, out);
    }
    // 160 windows with their jitter; a window is a few tasks long.
    CHECK(longest > 0);
    CHECK(longest < 16000);
}

TEST_CASE("mitigator: all times x 1000, shifted, or renamed nodes: the same decisions") {
    auto const plain = log_of({});
    CHECK(differences(plain, log_of({})) == 0);
    CHECK(differences(plain, log_of({.unit = 1000})) == 0);
    CHECK(differences(plain, log_of({.origin = 4096e6})) == 0);
    CHECK(differences(plain, log_of({.unit = 1024, .origin = -4096e6})) == 0);
    CHECK(differences(plain, log_of({.prefix = "another name for a machine "})) == 0);
    bool decided = false;
    for (auto const& line : plain) decided = decided || line.find('x') != std::string::npos;
    CHECK(decided); // else the comparison says nothing
}

TEST_CASE("mitigator: rows in another order, or told in parts: the same nodes are found") {
    // The order decides ties, so what is compared is told to mitigators whose scheduler does not obey.
    for (bool const in_parts : {false, true}) {
        mitigator a(straggle_test::ended_fields, straggle_test::running_task_fields,
                    straggle_test::told_host_fields);
        mitigator b(straggle_test::ended_fields, straggle_test::running_task_fields,
                    straggle_test::told_host_fields);
        small_cluster c({.nodes = 20, .obeys = false, .is_checked = false});
        c.healths[4] = health::slow;
        std::mt19937_64 random(7);
        int excluded = 0;
        for (int i = 0; i < 1500; ++i) {
            c.step();
            std::vector<straggle_test::ended_task> ended;
            for (int k = 0; k < 12; ++k) {
                auto const node = random() % 20;
                double const took = 20 + static_cast<double>(random() % 40) * (node == 4 ? 3 : 1);
                ended.push_back({"job-" + std::to_string(i / 4), "node-" + std::to_string(100 + node),
                                 12 * i + k, c.now() - took, c.now(), attempt_status::success});
            }
            auto running = c.running();
            auto hosts = c.hosts();
            a.observe(ended, c.now());
            a.decide(c.now(), running, hosts);
            if (in_parts) {
                std::vector<straggle_test::ended_task> const first(ended.begin(), ended.begin() + 5),
                    second(ended.begin() + 5, ended.end());
                b.observe(first, c.now());
                b.observe(second, c.now());
            } else {
                std::reverse(ended.begin(), ended.end());
                std::reverse(running.begin(), running.end());
                b.observe(ended, c.now());
            }
            b.decide(c.now(), running, hosts);
            for (auto const& h : hosts) REQUIRE(a.state(h.name) == b.state(h.name));
            excluded += a.state("node-104") == node_state::excluded;
        }
        CHECK(excluded > 0);
    }
}

TEST_CASE("mitigator: the clock goes back or ahead: nothing new is decided, and then it goes on") {
    for (double const jump : {-500.0, 5000.0}) {
        CAPTURE(jump);
        small_cluster c({.nodes = 20});
        c.run(600);
        c.clock_error = jump;
        c.healths[6] = health::hangs;
        c.step();
        CHECK(c.m.plan().has(jump < 0 ? plan_note::clock_went_back : plan_note::clock_jumped));
        for (int i = 0; i < 30; ++i) {
            CHECK(c.m.plan().copies().empty());
            CHECK(c.excluded() == 0);
            c.step();
        }
        CHECK(c.m.counts().other_clock > 0);
        c.run(2500);
        CHECK(c.excluded() + c.copies_run > 0);
        CHECK_FALSE(c.m.plan().has(plan_note::clock_jumped));
    }
}

TEST_CASE("mitigator: whatever the clock reads, once or from the beginning, nothing new is decided, and then "
          "it goes on") {
    constexpr double wild[] = {std::numeric_limits<double>::infinity(),
                               -std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN(),
                               (std::numeric_limits<double>::max)(),
                               std::numeric_limits<double>::lowest(),
                               1e18,
                               -1e18};
    for (int const before : {0, 3, 800})
        for (double const reading : wild) {
            CAPTURE(before);
            CAPTURE(reading);
            small_cluster c({.nodes = 20, .is_checked = false});
            c.run(before);
            c.clock_error = reading;
            int const out = c.excluded();
            c.run(2);
            CHECK(c.excluded() <= out);
            c.clock_error = 0;
            c.run(20);
            c.healths[7] = health::slow;
            int found = 0;
            while (c.state(7) != node_state::excluded && ++found < 3000) c.step();
            CHECK(found < 3000);
        }
}

TEST_CASE("mitigator: a clock that counts from somewhere else for good is followed") {
    for (double const ahead : {1e12, -1e12}) {
        small_cluster c({.nodes = 20, .is_checked = false});
        c.run(800);
        c.clock_error = ahead;
        c.run(200);
        c.healths[7] = health::slow;
        int found = 0;
        while (c.state(7) != node_state::excluded && ++found < 3000) c.step();
        CAPTURE(ahead);
        CHECK(found < 3000);
    }
}

TEST_CASE("mitigator: a feed that has gone stale: nothing new, and exclusions expire") {
    small_cluster c({.nodes = 20, .is_checked = false});
    c.healths[7] = health::slow;
    for (int i = 0; i < 2000 && c.excluded() == 0; ++i) c.step();
    REQUIRE(c.excluded() == 1);
    auto const running = c.running();
    auto const hosts = c.hosts();
    double const stopped = c.now();
    bool stale = false, out = true;
    for (int i = 1; i < 6000; ++i) {
        auto const& plan = c.m.decide(stopped + i, running, hosts);
        stale = stale || plan.has(plan_note::stale_feed);
        if (stale) CHECK(plan.copies().empty());
        out = plan.state(7) == node_state::excluded;
    }
    CHECK(stale);
    CHECK_FALSE(out);
}

TEST_CASE("mitigator: state that is old is not acted on before something new is known") {
    small_cluster c({.nodes = 20, .is_checked = false});
    c.healths[7] = health::slow;
    for (int i = 0; i < 2000 && c.excluded() == 0; ++i) c.step();
    REQUIRE(c.excluded() == 1);
    auto const bytes = c.m.serialize();
    REQUIRE(c.m.restore(bytes) == status::ok);
    c.m.decide(c.now() + 1, c.running(), c.hosts());
    CHECK(c.m.plan().state(7) == node_state::excluded); // fresh: it goes on
    REQUIRE(c.m.restore(bytes) == status::ok);
    auto const& plan = c.m.decide(c.now() + 1e5, c.running(), c.hosts());
    CHECK(plan.has(plan_note::old_state));
    CHECK(plan.state(7) == node_state::healthy);
    CHECK(plan.copies().empty());
}

TEST_CASE("mitigator: no node, or none with a slot") {
    small_cluster c({.nodes = 20, .is_checked = false});
    c.run(100);
    std::vector<straggle_test::told_host> none, full{{"node-100", 0, 0}};
    CHECK(c.m.decide(c.now(), c.running(), none).has(plan_note::empty_fleet));
    CHECK(c.m.plan().nodes().empty());
    CHECK(c.m.plan().copies().empty());
    CHECK(c.m.decide(c.now(), c.running(), full).has(plan_note::empty_fleet));
    CHECK(c.m.rank_places("job-1", none).empty());
    c.run(100);
    CHECK_FALSE(c.m.plan().has(plan_note::empty_fleet));
}

TEST_CASE(
    "mitigator: the cap of actions holds, across a restart too; a plan that nobody obeys charges nothing") {
    mitigator_options o = mitigator_options{};
    o.actions = {.most = 3, .period = 1e6};
    small_cluster c({.nodes = 20}, o);
    for (int n : {2, 5, 8, 11, 14}) c.healths[static_cast<std::size_t>(n)] = health::slow;
    c.run(1500);
    std::uint64_t const done = c.m.actions();
    CHECK(done >= 3);
    CHECK(done <= 5); // what was under way when the last one was charged
    CHECK(c.m.plan().has(plan_note::action_limit));
    int const copies = c.copies_run;
    REQUIRE(c.m.restore(c.m.serialize()) == status::ok);
    CHECK(c.m.actions() == done);
    c.run(300);
    CHECK(c.copies_run == copies);
    CHECK(c.m.actions() == done);

    small_cluster shadow({.nodes = 20, .obeys = false}, o);
    shadow.healths[2] = health::slow;
    shadow.run(2000);
    CHECK(shadow.m.actions() == 0);
    bool advised = false;
    for (auto const& line : shadow.log) advised = advised || line.find('x') != std::string::npos;
    CHECK(advised);
}

TEST_CASE("mitigator: jobs that are left alone get nothing, and their effect is seen") {
    mitigator_options o;
    o.effects.left_alone = 0.3;
    small_cluster c({.nodes = 20, .between = 14}, o);
    c.healths[7] = health::slow;
    c.healths[12] = health::slow;
    int copies_for_them = 0;
    for (int i = 0; i < 12000; ++i) {
        c.step();
        auto const running = c.running();
        for (auto const& line : {c.log.back()})
            for (std::size_t at = line.find("job-"); at != std::string::npos; at = line.find("job-", at + 1))
                copies_for_them += c.m.is_left_alone(line.substr(at, line.find('/', at) - at));
    }
    CHECK(copies_for_them == 0);
    auto const e = c.m.effect_of(mitigate::action_kind::placement);
    CHECK(e.alone > 20);
    CHECK(e.treated > 20);
    CHECK(e.value < 1);
    CHECK_FALSE(e.is_stopped);
}

TEST_CASE("mitigator: a job that is left alone ends, whichever row the black hole is in") {
    for (std::size_t hole = 0; hole < 6; ++hole) {
        mitigator_options o;
        o.effects.left_alone = 0.5;
        small_cluster c({.nodes = 6, .tasks = 12, .between = 40}, o);
        c.healths[hole] = health::fails;
        c.run(400);
        int const at_first = c.failed_attempts;
        c.run(1600);
        CAPTURE(hole);
        CHECK(at_first < 30);
        CHECK(c.failed_attempts - at_first < 30); // now and then it is tried
        CHECK(c.finished_jobs > c.jobs_begun - 6);
    }
}

TEST_CASE("mitigator: a job that is left alone keeps away from a node that hangs") {
    mitigator_options o;
    o.effects.left_alone = 0.5;
    small_cluster c({.nodes = 6, .tasks = 12, .between = 40}, o);
    c.healths[0] = health::hangs;
    c.run(2000);
    int const at_first = c.attempts_on(0);
    c.run(2000);
    CHECK(c.attempts_on(0) <= at_first + 5); // probes
    CHECK(c.finished_jobs > c.jobs_begun - 12);
}

TEST_CASE(
    "mitigator: nodes are drawn fairly for jobs that are left alone, those that are only slow among them") {
    mitigator_options o;
    o.effects.left_alone = 0.5;
    small_cluster c({.nodes = 8, .tasks = 12, .between = 30}, o);
    c.healths[3] = health::slow;
    for (int i = 0; i < 3000 && c.state(3) != node_state::excluded; ++i) c.step();
    REQUIRE(c.state(3) == node_state::excluded);
    int job = 0;
    while (!c.m.is_left_alone("draw-" + std::to_string(job))) ++job;
    auto hosts = c.hosts();
    for (auto& h : hosts) h.busy = 0;
    std::vector<int> first(8, 0);
    auto const draw = [&] {
        first.assign(8, 0);
        for (int i = 0; i < 4000; ++i)
            ++first[c.m.rank_places("draw-" + std::to_string(job), hosts).front().row];
    };
    draw();
    for (int const n : first) CHECK((n > 400 && n < 600));
    for (auto& h : hosts) h.busy = h.name == hosts[3].name ? 0 : 3; // of the others a quarter is free
    draw();
    for (int const n : first) CHECK((n > 400 && n < 600)); // no more than its share
    for (auto& h : hosts) h.busy = h.name == hosts[3].name ? 0 : 4;
    CHECK(c.m.rank_places("draw-" + std::to_string(job), hosts).empty()); // it waits as the others do
}

TEST_CASE("mitigator: tasks placed at once go where they would go one after the other") {
    std::size_t placed = 0, last_resorts = 0, waited = 0;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        INFO("seed ", seed);
        mitigator_options o;
        o.effects.left_alone = 0;
        o.is_enabled = seed != 6;
        if (seed % 2 == 1) o.nodes.most_out = 0; // slow nodes are a last resort
        small_cluster c({.nodes = 10, .tasks = 15, .between = 25, .seed = seed}, o);
        c.healths[2] = c.healths[3] = c.healths[4] = health::slow; // more than may be excluded
        c.healths[5] = health::fails;
        if (seed == 3) c.healths[6] = health::hangs;
        std::mt19937_64 random(seed);
        for (int i = 0; i < 1500; ++i) {
            c.step();
            if (i % 20 != 0) continue;
            auto hosts = c.hosts();
            if (i % 40 == 0)
                for (auto& h : hosts) h.busy = static_cast<int>(random() % 5);
            if (i % 60 == 0)
                for (auto& h : hosts)
                    if (c.m.state(h.name) == node_state::healthy) h.busy = 4;
            std::string const job = i % 3 == 0 ? "job-new" : "job-" + std::to_string(c.jobs_begun - 1);
            cluster_load const load =
                i % 80 < 40 ? mitigate::last_load : cluster_load{.waiting = random() % 200};
            std::string const out = hosts[static_cast<std::size_t>(i / 20) % hosts.size()].name;
            auto const can_run = [&](straggle_test::told_host const& h) { return h.name != out; };
            for (bool const is_restricted : {false, true}) {
                constexpr std::size_t tasks = 50; // more than there are slots
                std::vector<mitigate::planned_place> at_once;
                for (auto const& p : is_restricted
                                         ? c.m.place_tasks(job, tasks, hosts, load, detail::unknown, can_run)
                                         : c.m.place_tasks(job, tasks, hosts, load))
                    at_once.push_back(p);
                auto one_by_one = hosts;
                for (std::size_t k = 0; k <= at_once.size(); ++k) {
                    auto const places = is_restricted
                                            ? c.m.rank_places(job, one_by_one, load, detail::unknown, can_run)
                                            : c.m.rank_places(job, one_by_one, load);
                    REQUIRE(places.empty() == (k == at_once.size()));
                    if (places.empty()) break;
                    REQUIRE(places.front().row == at_once[k].row);
                    REQUIRE(places.front().time == at_once[k].time);
                    ++one_by_one[at_once[k].row].busy;
                    ++placed;
                    last_resorts +=
                        c.m.state(one_by_one[at_once[k].row].name) == node_state::last_resort ? 1u : 0u;
                }
                waited += std::any_of(one_by_one.begin(), one_by_one.end(),
                                      [](auto const& h) { return h.busy < h.slots; })
                              ? 1u
                              : 0u;
            }
        }
    }
    CHECK(placed > 1000);
    CHECK(last_resorts > 20);
    CHECK(waited > 20);
}

TEST_CASE("mitigator: tasks of a job left alone, placed at once, are drawn fairly") {
    mitigator_options o;
    o.effects.left_alone = 0.5;
    small_cluster c({.nodes = 8, .tasks = 12, .between = 30}, o);
    c.healths[3] = health::slow;
    for (int i = 0; i < 3000 && c.state(3) != node_state::excluded; ++i) c.step();
    REQUIRE(c.state(3) == node_state::excluded);
    int job = 0;
    while (!c.m.is_left_alone("draw-" + std::to_string(job))) ++job;
    auto hosts = c.hosts();
    for (auto& h : hosts) h.busy = h.name == hosts[3].name ? 0 : 3; // of the others a quarter is free
    std::vector<int> tasks(8, 0);
    for (int i = 0; i < 2000; ++i)
        for (auto const& p : c.m.place_tasks("draw-" + std::to_string(job), 2, hosts)) ++tasks[p.row];
    for (int const n : tasks) CHECK((n > 400 && n < 600));
    auto const all = c.m.place_tasks("draw-" + std::to_string(job), 100, hosts);
    std::vector<int> slots(8, 0);
    for (auto const& p : all) ++slots[p.row];
    for (std::size_t n = 0; n < 8; ++n) CHECK((n == 3 ? slots[n] <= 4 : slots[n] == 1));
}

TEST_CASE("mitigator: a name that never ends is not left alone all the time") {
    mitigator_options o;
    o.effects.left_alone = 0.5;
    mitigator m(straggle_test::ended_fields, straggle_test::running_task_fields,
                straggle_test::told_host_fields, o);
    std::vector<straggle_test::told_host> const hosts{{"a", 4, 0}, {"b", 4, 0}, {"c", 4, 0}};
    std::string service = "service";
    while (!m.is_left_alone(service)) service += '+';
    std::vector<straggle_test::running_task> const none;
    for (int i = 0; i < 60; ++i) {
        if (i == 5) CHECK(m.is_left_alone(service));
        m.observe({service, "a", i, i * 2.0, i * 2.0 + 2}, i * 2.0 + 2);
        (void)m.decide(i * 2.0 + 2, none, hosts);
    }
    CHECK_FALSE(m.is_left_alone(service));
}

namespace {
// Says that the best nodes are the worst, and copies what has just begun.
struct harmful_nodes {
    std::vector<blacklist::node_verdict> said;
    bool observe(ended_attempt const&, double) { return true; }
    void decide(double now, std::span<running_attempt const>, std::span<blacklist::node_row const> rows,
                cluster_load const&, bool) {
        said.clear();
        // All but four nodes are out: jobs queue up for what is left, unless they are left alone.
        for (std::size_t i = 4; i < rows.size(); ++i)
            said.push_back({.node = rows[i].node,
                            .state = node_state::excluded,
                            .slow = {2, 1.5, 3, 9},
                            .why = {2, 1.1, 1, "nonsense"},
                            .causes = 1,
                            .since = now,
                            .until = now + 1});
    }
    [[nodiscard]] node_state state(std::uint32_t) const { return node_state::healthy; }
    [[nodiscard]] slowdown slowdown_of(std::uint32_t) const { return {}; }
    [[nodiscard]] std::uint32_t probe_slots(std::uint32_t) const { return 1; }
    [[nodiscard]] std::span<blacklist::node_verdict const> verdicts() const { return said; }
    void finish_job(std::uint64_t) {}
    void forget_node(std::uint32_t) {}
};
} // namespace

TEST_CASE("mitigator: a part that does harm is found out and stopped") {
    mitigator_options o;
    o.effects.left_alone = 0.2;
    using namespace straggle_test;
    mitigator<ended_task, running_task, told_host, std::remove_const_t<decltype(ended_fields)>,
              std::remove_const_t<decltype(running_task_fields)>,
              std::remove_const_t<decltype(told_host_fields)>, harmful_nodes>
        m(ended_fields, running_task_fields, told_host_fields, o, harmful_nodes{}, mitigate::speculator<>{});
    std::vector<told_host> hosts;
    for (int n = 0; n < 12; ++n) hosts.push_back({"node-" + std::to_string(n), 4, 0});
    std::vector<running_task> running;
    // Jobs of eight tasks; one that obeys takes twice as long as one that is left alone.
    double now = 0;
    int job = 0;
    for (; job < 3000 && !m.plan().has(plan_note::exclusion_stopped); ++job, now += 10) {
        std::string const name = "job-" + std::to_string(job);
        bool const alone = m.is_left_alone(name);
        running.clear();
        for (int t = 0; t < 8; ++t)
            running.push_back({name, hosts[static_cast<std::size_t>(t) % 4].name, t, now});
        m.decide(now, running, hosts);
        m.decide(now + 1, running, hosts);
        for (int t = 0; t < 8; ++t)
            m.observe({name, running[static_cast<std::size_t>(t)].node, t, now,
                       now + 5 + 0.01 * (t * 7 + job) / 3 + (alone || t != 7 ? 0 : 5),
                       attempt_status::success},
                      now + 9);
        m.finish(name);
    }
    CHECK(job < 3000);
    REQUIRE(m.plan().has(plan_note::exclusion_stopped));
    running.clear();
    m.decide(now, running, hosts);
    for (auto const& n : m.plan().nodes()) CHECK(n.state == node_state::healthy);
    m.resume(mitigate::action_kind::exclusion);
    CHECK_FALSE(m.effect_of(mitigate::action_kind::exclusion).is_stopped);
}

TEST_CASE("mitigator: twice the fleet, the same nodes are found") {
    for (int const nodes : {20, 40}) {
        small_cluster c({.nodes = nodes, .tasks = nodes, .is_checked = false});
        for (int n = 3; n < nodes; n += 20) c.healths[static_cast<std::size_t>(n)] = health::slow;
        std::vector<int> out(static_cast<std::size_t>(nodes), 0);
        for (int i = 0; i < 2500; ++i) {
            c.step();
            for (int n = 0; n < nodes; ++n)
                out[static_cast<std::size_t>(n)] += c.state(n) == node_state::excluded;
        }
        CAPTURE(nodes);
        for (int n = 0; n < nodes; ++n) CHECK((out[static_cast<std::size_t>(n)] > 0) == (n % 20 == 3));
    }
}
