// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "mitigate/small_cluster.hpp"
#include "support/allocations.hpp"
#include "support/contract_trap.hpp"

#include <straggle/mitigate/mitigator.hpp>
#include <straggle/mitigate/reason.hpp>
#include <straggle/mitigate/stages.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace straggle;
using mitigate::plan_note;
using straggle_test::health;
using straggle_test::small_cluster;
using straggle_test::small_cluster_options;

TEST_CASE("mitigator: a slow node is found, excluded with its reason, and comes back when it is well again") {
    small_cluster c({.nodes = 20});
    c.healths[7] = health::slow;
    int found = 0;
    while (c.state(7) != node_state::excluded && ++found < 2000) c.step();
    REQUIRE(found < 2000);
    auto const& n = c.m.plan().nodes()[7];
    // What still runs is a lower bound, and has no interval.
    CHECK((n.slow.low > 1 || n.why.rule == "running_time"));
    CHECK(n.slow.value == doctest::Approx(2.5).epsilon(0.4));
    CHECK((n.causes & static_cast<std::uint8_t>(blacklist::cause::slow)) != 0);
    CHECK(n.left > 0);
    std::string const text = mitigate::reason(n);
    CHECK(text.find("times as long as elsewhere") != std::string::npos);
    CHECK(c.excluded() == 1);
    CHECK(c.m.published().operator bool());
    auto const seen = c.m.published();
    CHECK(seen->state("node-107") == node_state::excluded);
    CHECK(seen->state("node-108") == node_state::healthy);
    CHECK(seen->state("nobody") == node_state::healthy);
    CHECK(seen->size() >= 1);

    c.healths[7] = health::well;
    int back = 0;
    while (c.state(7) != node_state::healthy && ++back < 20000) c.step();
    CHECK(back < 20000);
}

TEST_CASE("mitigator: a node that hangs and one that fails everything go, copies save their tasks") {
    // Copies save its tasks before they have run for long, and are evidence themselves: a few nodes do
    // without an exclusion.
    int excluded = 0;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        small_cluster c({.nodes = 20, .is_checked = seed == 1, .seed = seed});
        c.run(400);
        c.healths[3] = health::hangs;
        for (int i = 0; i < 500 && c.state(3) != node_state::excluded; ++i) c.step();
        CAPTURE(seed);
        excluded += c.state(3) == node_state::excluded;
        CHECK(c.copies_run > 0);
        if (seed > 1) continue;
        c.run(1500);
        CHECK(c.state(3) != node_state::healthy);
    }
    CHECK(excluded >= 9);
    small_cluster f({.nodes = 20});
    f.run(400);
    f.healths[5] = health::fails;
    for (int i = 0; i < 1000 && f.state(5) != node_state::excluded; ++i) f.step();
    CHECK(f.state(5) == node_state::excluded);
    CHECK(f.failed_attempts <= 8 + 3); // it has four slots
}

TEST_CASE("mitigator: a gang by durations alone gets a note, one that says its waits gets no copies") {
    struct rank_ended {
        int job, task, node;
        double start, end;
        std::optional<double> waited;
    };
    struct rank_running {
        int job, task, node;
        double start;
        std::optional<double> waited;
    };
    struct rank_host {
        int name;
    };
    attempt_fields const ended{.job = &rank_ended::job,
                               .task = &rank_ended::task,
                               .node = &rank_ended::node,
                               .start = &rank_ended::start,
                               .end = &rank_ended::end,
                               .waited = &rank_ended::waited};
    running_fields const running{.job = &rank_running::job,
                                 .task = &rank_running::task,
                                 .node = &rank_running::node,
                                 .start = &rank_running::start,
                                 .waited = &rank_running::waited};
    std::vector<rank_host> hosts;
    for (int n = 0; n < 8; ++n) hosts.push_back({n});
    // A gang that runs for days ends no attempt: each of its steps is reported as one.
    mitigator days(ended, running, node_fields{.node = &rank_host::name}, mitigator_options{});
    std::size_t backups = 0;
    bool is_found = false;
    for (int step = 1; step <= 40; ++step) {
        double const now = 12.0 * step;
        std::vector<rank_running> rows;
        for (int n = 0; n < 6; ++n) {
            double const own = n == 2 ? 10 : 5 + 0.1 * ((step + n) % 7);
            days.observe({step, n, n, now - 11, now - 1, 10 - own}, now);
            rows.push_back({0, n, n, 0.0, step * (10 - own)});
        }
        days.decide(now, rows, hosts);
        backups += days.plan().copies().size();
        is_found = is_found || days.state(2) != node_state::healthy;
        for (int n = 0; n < 8; ++n)
            if (n != 2) CHECK(days.state(n) == node_state::healthy);
    }
    CHECK(is_found);
    CHECK(backups == 0);

    for (bool const says : {false, true}) {
        mitigator m(ended, running, node_fields{.node = &rank_host::name}, mitigator_options{});
        double now = 0;
        bool noted = false, was_slow = false;
        std::size_t copies = 0;
        for (int job = 0; job < 40; ++job, now += 12) {
            std::vector<rank_running> rows;
            for (int n = 0; n < 6; ++n) {
                double const own = n == 2 ? 10 : 5 + 0.1 * ((job + n) % 7);
                rows.push_back(
                    {job, n, n, now, says ? std::optional(9.0 - (std::min)(own, 9.0)) : std::nullopt});
            }
            m.decide(now + 9, rows, hosts);
            copies += m.plan().copies().size();
            for (int n = 0; n < 6; ++n) {
                double const own = n == 2 ? 10 : 5 + 0.1 * ((job + n) % 7);
                m.observe(
                    {job, n, n, now, now + 10 + 0.001 * n, says ? std::optional(10 - own) : std::nullopt},
                    now + 10.1);
            }
            m.decide(now + 10.1, std::vector<rank_running>{}, hosts);
            noted = noted || m.plan().has(plan_note::ends_coincide);
            for (int n = 0; n < 8; ++n)
                if (n != 2) CHECK(m.state(n) == node_state::healthy);
            was_slow = was_slow || m.state(2) != node_state::healthy;
        }
        CHECK(noted == !says);
        CHECK(copies == 0);
        CHECK(was_slow == says);
    }
}

TEST_CASE("mitigator: where nothing is wrong nothing is excluded") {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        small_cluster c({.nodes = 30, .between = 12, .seed = seed});
        int out = 0;
        for (int i = 0; i < 1500; ++i) {
            c.step();
            out += c.excluded();
        }
        CAPTURE(seed);
        CHECK(out == 0);
    }
}

TEST_CASE("mitigator: jobs end sooner than under a scheduler that does nothing") {
    double with = 0, without = 0;
    for (bool const obeys : {true, false}) {
        small_cluster c({.nodes = 20, .obeys = obeys});
        c.healths[2] = health::slow;
        c.healths[11] = health::slow;
        c.run(4000);
        (obeys ? with : without) = c.time_of_jobs / c.finished_jobs;
    }
    CAPTURE(with);
    CAPTURE(without);
    CHECK(with < 0.9 * without);
}

TEST_CASE("mitigator: the switch turns everything off, and it goes on learning") {
    mitigator_options o = mitigator_options{};
    o.is_enabled = false;
    small_cluster c({.nodes = 20}, o);
    c.healths[7] = health::slow;
    for (int i = 0; i < 1500; ++i) {
        c.step();
        REQUIRE(c.m.plan().has(plan_note::switched_off));
        REQUIRE(c.excluded() == 0);
        REQUIRE(c.m.plan().copies().empty());
    }
    CHECK(c.m.slowdown_of("node-107").low > 1.1);
    c.m.enable(true);
    for (int i = 0; i < 300 && c.state(7) != node_state::excluded; ++i) c.step();
    CHECK(c.state(7) == node_state::excluded);
    c.m.enable(false);
    c.step();
    CHECK(c.excluded() == 0);
    CHECK(c.m.plan().nodes()[7].state == node_state::healthy);
}

TEST_CASE("mitigator: the operator's word stands, whatever is measured") {
    using record::condition;
    std::vector<straggle_test::told_host> hosts{
        {"a", 4, 0}, {"b", 4, 0, condition::denied}, {"c", 4, 0, condition::away}, {"d", 4, 0}};
    std::vector<straggle_test::running_task> none;
    mitigator_options o;
    o.is_enabled = false;
    mitigator m(straggle_test::ended_fields, straggle_test::running_task_fields,
                straggle_test::told_host_fields, o);
    auto const& plan = m.decide(1.0, none, hosts);
    CHECK(plan.state(0) == node_state::healthy);
    CHECK(plan.state(1) == node_state::excluded);
    CHECK(plan.state(2) == node_state::away);
    CHECK(plan.state(99) == node_state::healthy);
    auto const places = m.rank_places("job", hosts);
    REQUIRE(places.size() >= 2);
    for (auto const& p : places) CHECK((p.row == 0 || p.row == 3));
    // Whether a node is there is told with each question, not only with each decision.
    hosts[0].condition = condition::away;
    hosts[2].condition = condition::present;
    auto const later = m.rank_places("job", hosts);
    REQUIRE(later.size() == 2);
    for (auto const& p : later) CHECK((p.row == 2 || p.row == 3));
}

TEST_CASE("mitigator: a task does not come back for ever to an idle node on which it fails") {
    // Two nodes, of which the faster one fails all: too few to take one out by what one task shows.
    std::vector<straggle_test::told_host> const hosts{{"a", 4, 0}, {"b", 4, 0}};
    mitigator m(straggle_test::ended_fields, straggle_test::running_task_fields,
                straggle_test::told_host_fields, mitigator_options{});
    std::vector<straggle_test::running_task> none;
    double now = 0;
    for (int i = 0; i < 400; ++i) { // b takes a tenth less time
        std::string const job = "job-" + std::to_string(i / 8), node = i % 2 == 0 ? "a" : "b";
        double const start = now;
        now += 2;
        m.observe({job, node, i % 8, start, start + (i % 2 == 0 ? 2 : 1.8)}, now);
        m.decide(now, none, hosts);
        if (i % 8 == 7) m.finish(job);
    }
    REQUIRE(m.rank_places("last", hosts).front().row == 1);
    for (int i = 0; i < 3; ++i) {
        m.observe({"last", "b", 0, now, now + 0.1, attempt_status::failed}, now + 0.1);
        m.decide(now += 1, none, hosts);
    }
    CHECK(m.rank_places("last", hosts).front().row == 0);
    CHECK(m.rank_places("last", hosts).size() == 2); // nothing is proved
    m.observe({"other", "b", 0, now, now + 1}, now + 1);
    m.decide(now += 1, none, hosts);
    CHECK(m.rank_places("last", hosts).front().row == 1);
}

TEST_CASE("mitigator: a task that not every node can run is placed where it can") {
    std::vector<straggle_test::told_host> hosts{{"a", 4, 0}, {"b", 4, 4}, {"c", 4, 0}, {"d", 4, 0}};
    std::vector<straggle_test::running_task> none;
    for (bool const enabled : {true, false}) {
        mitigator_options o;
        o.is_enabled = enabled;
        mitigator m(straggle_test::ended_fields, straggle_test::running_task_fields,
                    straggle_test::told_host_fields, o);
        (void)m.decide(1.0, none, hosts);
        straggle_test::running_task const task{};
        auto const labelled = [](straggle_test::running_task const&, straggle_test::told_host const& h) {
            return h.name >= "b";
        };
        auto const places = m.rank_places(task, hosts, mitigate::last_load, labelled);
        REQUIRE(places.size() == 2); // a cannot run it, b is full
        for (auto const& p : places) CHECK((p.row == 2 || p.row == 3));
        CHECK(m.rank_places(task, hosts).size() == 3);
        auto const by_name = [](straggle_test::told_host const& h) { return h.name >= "b"; };
        CHECK(m.rank_places("job", hosts, {.waiting = 3}, 5.0, by_name).size() == 2);
        CHECK(m.rank_places(task, hosts, {.waiting = 3}, labelled).size() == 2);
        auto const nowhere = [](auto const&, auto const&) { return false; };
        CHECK(m.rank_places(task, hosts, {.waiting = 3}, nowhere).empty());
    }
}

namespace {
// Next to nothing is known: no task, no status, no end, no progress, no slots; names are numbers.
struct bare_attempt {
    std::uint64_t job = 0;
    int node = 0;
    std::optional<std::int64_t> took{};
};
struct bare_running {
    std::uint64_t job = 0;
    std::optional<int> node{};
    std::int64_t start = 0;
};
struct bare_node {
    std::optional<int> id{};
};
} // namespace

TEST_CASE("mitigator: works where next to nothing is known, and counts what it cannot use") {
    mitigator m{
        attempt_fields{
            .job = &bare_attempt::job, .node = &bare_attempt::node, .duration = &bare_attempt::took},
        running_fields{.job = &bare_running::job, .node = &bare_running::node, .start = &bare_running::start},
        node_fields{.node = &bare_node::id}};
    std::vector<bare_node> nodes;
    for (int i = 0; i < 10; ++i) nodes.push_back({i});
    nodes.push_back({});
    nodes.push_back({3});
    bool found = false;
    for (std::int64_t t = 0; t < 4000 && !found; ++t) {
        std::vector<bare_attempt> ended;
        for (int n = 0; n < 10; ++n)
            if ((t + n) % 4 == 0)
                ended.push_back(
                    {static_cast<std::uint64_t>(t / 16), n, (n == 4 ? 300 : 100) + (t * 7 + n * 13) % 40});
        ended.push_back({1, 1, std::nullopt});
        ended.push_back({1, 1, -5});
        std::vector<bare_running> running{{7, 2, t * 100}, {8, {}, t * 100}, {9, 3, t * 100 + 50}};
        m.observe(ended, t * 100);
        m.decide(t * 100, running, nodes);
        REQUIRE(m.plan().copies().empty());
        REQUIRE(m.plan().nodes().size() == 12);
        found = m.state(4) == node_state::excluded;
    }
    CHECK(found);
    CHECK(m.counts().attempts[rejection::missing_time] > 0);
    CHECK(m.counts().attempts[rejection::negative_duration] > 0);
    CHECK(m.counts().running[record::running_rejection::missing_node] > 0);
    CHECK(m.counts().running[record::running_rejection::not_started] > 0);
    CHECK(m.counts().nodes_refused > 0);
    CHECK(m.counts().attempts.seen == m.counts().attempts.used + m.counts().attempts.failed +
                                          m.counts().attempts.killed + m.counts().attempts.total_rejected() +
                                          m.counts().other_clock + m.counts().no_room);
}

namespace {
using clock_type = std::chrono::system_clock;
struct timed_attempt {
    std::string_view job, node, kind;
    clock_type::time_point start, end;
    bool ok = true;
};
struct timed_running {
    std::string_view job, node;
    std::optional<float> done{};
    clock_type::time_point start;
};
struct timed_node {
    std::string name;
};
} // namespace

template <>
struct straggle::task_traits<timed_attempt> {
    static constexpr auto fields = straggle::attempt_fields{.job = &timed_attempt::job,
                                                            .node = &timed_attempt::node,
                                                            .start = &timed_attempt::start,
                                                            .end = &timed_attempt::end,
                                                            .status = &timed_attempt::ok,
                                                            .kind = &timed_attempt::kind};
};
template <>
struct straggle::task_traits<timed_running> {
    static constexpr auto fields = straggle::running_fields{.job = &timed_running::job,
                                                            .node = &timed_running::node,
                                                            .start = &timed_running::start,
                                                            .progress = &timed_running::done};
};
template <>
struct straggle::task_traits<timed_node> {
    static constexpr auto fields = straggle::node_fields{.node = &timed_node::name};
};

TEST_CASE("mitigator: a call that is repeated counts its running attempts once; bad progress is counted") {
    struct plain_running {
        std::string job, node;
        std::optional<double> progress;
        double start;
    };
    struct plain_ended {
        std::string job, node;
        double start, end;
    };
    mitigator m(attempt_fields{.job = &plain_ended::job,
                               .node = &plain_ended::node,
                               .start = &plain_ended::start,
                               .end = &plain_ended::end},
                running_fields{.job = &plain_running::job,
                               .node = &plain_running::node,
                               .start = &plain_running::start,
                               .progress = &plain_running::progress},
                node_fields{.node = &timed_node::name});
    std::vector<plain_running> const running{{"j", "a", -1.0, 5},         {"j", "b", 2.0, 5},
                                             {"j", "c", std::nan(""), 5}, {"j", "d", std::nullopt, 5},
                                             {"j", "e", 0.5, 5},          {"j", "e", 0.5, 900}};
    std::vector<timed_node> const nodes{{"a"}, {"b"}, {"c"}, {"d"}, {"e"}};
    for (int i = 0; i < 3; ++i) {
        m.decide(10.0, running, nodes);
        auto const& c = m.counts().running;
        CHECK(c.seen == 6);
        CHECK(c.used == 5);
        CHECK(c.misreported == 3);
        CHECK(c.unreported == 1);
        CHECK(c[record::running_rejection::not_started] == 1);
    }
    m.decide(11.0, running, nodes);
    CHECK(m.counts().running.seen == 12);
}

TEST_CASE("mitigator: records with traits, clocks with a unit, pointers to records") {
    mitigator<timed_attempt, timed_running, timed_node> m;
    clock_type::time_point const t{std::chrono::hours(400000)};
    CHECK(
        m.observe(timed_attempt{"j", "n", "k", t, t + std::chrono::seconds(5)}, t + std::chrono::seconds(6)));
    CHECK_FALSE(
        m.observe(timed_attempt{"j", "n", "k", t, t - std::chrono::seconds(5)}, t + std::chrono::seconds(6)));
    std::vector<timed_running> const running{{"j", "n", 0.5F, t}};
    std::vector<timed_node> const nodes{{"n"}, {"o"}};
    m.decide(t + std::chrono::seconds(7), running, nodes);
    CHECK(m.counts().running.used == 1);
    CHECK(m.rank_places("j", nodes).size() <= 2);
    auto c = mitigator_of<timed_attempt const*, timed_running, timed_node>(
        attempt_fields{.job = [](timed_attempt const* a) { return a->job; },
                       .node = [](timed_attempt const* a) { return a->node; },
                       .duration = [](timed_attempt const* a) { return a->end - a->start; }},
        task_traits<timed_running>::fields, task_traits<timed_node>::fields);
    timed_attempt const a{"j", "n", "k", t, t + std::chrono::seconds(5)};
    CHECK(c.observe(&a, t));
}

TEST_CASE("mitigator: in the steady state nothing is allocated") {
    small_cluster c({.nodes = 20, .is_checked = false});
    c.healths[7] = health::slow;
    c.run(3000);
    auto const running = c.running();
    auto const hosts = c.hosts();
    straggle_test::ended_task const again{"job-1", "node-103", 3, c.now() - 30, c.now() - 1};
    c.m.observe(again, c.now());
    (void)c.m.place_tasks(running.front().job, 100, hosts);
    std::size_t const n = straggle_test::allocations_during([&] {
        for (int i = 0; i < 10; ++i) {
            c.m.observe(again, c.now());
            c.m.decide(c.now() + 0.01 * i, running, hosts, {.waiting = 3});
            (void)c.m.rank_places(running.front().job, hosts);
            (void)c.m.place_tasks(running.front().job, 100, hosts);
            (void)c.m.published();
        }
    });
    CHECK(n == 0);
}

TEST_CASE("mitigator: a restart changes no decision; bytes of anything else are refused") {
    small_cluster a({.nodes = 20}), b({.nodes = 20});
    for (auto* const c : {&a, &b}) {
        c->healths[7] = health::slow;
        c->run(900);
    }
    auto const bytes = a.m.serialize();
    REQUIRE(a.m.restore(bytes) == status::ok);
    CHECK(a.m.serialize() == bytes);
    a.run(600);
    b.run(600);
    std::size_t same = 0;
    for (std::size_t i = 0; i < a.log.size(); ++i) same += a.log[i].substr(0, 20) == b.log[i].substr(0, 20);
    CHECK(same == a.log.size());

    auto const before = a.m.serialize();
    auto cut = bytes;
    cut.pop_back();
    CHECK(a.m.restore(cut) == status::truncated);
    cut = bytes;
    cut[cut.size() / 2] ^= std::byte{1};
    CHECK(a.m.restore(cut) == status::corrupt);
    CHECK(a.m.restore({}) == status::truncated);
    byte_writer other;
    CHECK(a.m.restore(std::move(other).seal(frame_kind("none"), 1)) == status::wrong_kind);
    CHECK(a.m.serialize() == before);
    mitigator numbers{
        attempt_fields{
            .job = &bare_attempt::job, .node = &bare_attempt::node, .duration = &bare_attempt::took},
        running_fields{.job = &bare_running::job, .node = &bare_running::node, .start = &bare_running::start},
        node_fields{.node = &bare_node::id}};
    CHECK(numbers.restore(bytes) == status::wrong_kind);
}

TEST_CASE("mitigator: what another one has learnt is taken in, its exclusions are not") {
    small_cluster a({.nodes = 20}), b({.nodes = 20});
    a.healths[7] = health::slow;
    // Its first exclusion: a trial begins with a clean slate, and races alone may end it.
    auto const is_known = [&a] {
        return a.state(7) == node_state::excluded && a.m.slowdown_of("node-107").tasks > 0;
    };
    for (int step = 0; step < 4000 && !is_known(); ++step) a.step();
    REQUIRE(is_known());
    b.run(5);
    REQUIRE(b.m.slowdown_of("node-107").tasks == 0);
    auto const plan = b.m.plan();
    b.m.merge(a.m);
    CHECK(b.excluded() == 0); // until it decides itself, on what both have seen
    auto const seen = b.m.published();
    CHECK(seen->state("node-107") == node_state::healthy);
    CHECK(plan.nodes().size() == b.m.plan().nodes().size());
    b.step();
    // b has run for five seconds, in which nothing ends: what it knows of the node is what ended at a.
    CHECK(b.m.slowdown_of("node-107").tasks > 0);
    straggle_test::contract_trap trap;
    CHECK_THROWS_AS(b.m.merge(b.m), straggle_test::broken_contract);
}

TEST_CASE("mitigator: parts can be of the caller's own types") {
    struct blind {
        blind() = default;
        explicit blind(int) {}
        bool observe(ended_attempt const&, double) { return true; }
        void decide(double, std::span<running_attempt const>, std::span<blacklist::node_row const>,
                    cluster_load const&, bool) {}
        [[nodiscard]] node_state state(std::uint32_t) const { return node_state::healthy; }
        [[nodiscard]] slowdown slowdown_of(std::uint32_t) const { return {}; }
        [[nodiscard]] std::uint32_t probe_slots(std::uint32_t) const { return 1; }
        [[nodiscard]] std::span<blacklist::node_verdict const> verdicts() const { return {}; }
        void finish_job(std::uint64_t) {}
        void forget_node(std::uint32_t) {}
    };
    using own = mitigator<straggle_test::ended_task, straggle_test::running_task, straggle_test::told_host,
                          std::remove_const_t<decltype(straggle_test::ended_fields)>,
                          std::remove_const_t<decltype(straggle_test::running_task_fields)>,
                          std::remove_const_t<decltype(straggle_test::told_host_fields)>, blind>;
    own m(straggle_test::ended_fields, straggle_test::running_task_fields, straggle_test::told_host_fields,
          {}, blind{}, mitigate::speculator<>{});
    std::vector<straggle_test::running_task> none;
    std::vector<straggle_test::told_host> hosts{{"a", 4, 0}};
    CHECK(m.decide(1.0, none, hosts).nodes().size() == 1);
    auto const bytes = m.serialize();
    CHECK(m.restore(bytes) == status::ok);
}

TEST_CASE("mitigator: moves, for tasks that cannot run twice, only where a whole run elsewhere is shorter") {
    int moves = 0, of_slow = 0;
    for (std::uint64_t const seed : {1u, 2u, 3u, 4u, 5u, 6u}) {
        for (bool const has_slow : {true, false}) {
            mitigator_options options;
            options.copies.moves = true;
            options.nodes.share_of_slots = 0; // the slow node keeps its tasks
            small_cluster c({.is_checked = false, .seed = seed}, options);
            for (int step = 0; step < 700; ++step) {
                if (step == 300 && has_slow) c.healths[5] = seed % 2 != 0 ? health::slow : health::hangs;
                c.step();
                CHECK(c.m.plan().copies().empty());
                for (auto const& m : c.m.plan().moves()) {
                    CHECK(m.there.high < m.left.low);
                    CHECK(m.gain > 0);
                    CHECK(m.gain < m.left.high);
                    CHECK(m.win_probability >= 0.9);
                    CHECK(mitigate::reason(m).starts_with("move: what is left takes "));
                    ++moves;
                    of_slow += has_slow ? 1 : 0;
                }
            }
        }
    }
    CHECK(of_slow > 0);
    CHECK(moves == of_slow); // where nothing is wrong, nothing moves
}

TEST_CASE("mitigator: a task that begins anew on its slow node each time is moved ever more rarely") {
    mitigator_options options;
    options.copies.moves = true;
    options.nodes.share_of_slots = 0; // the slow node keeps its tasks
    straggle_test::small_mitigator m(straggle_test::ended_fields, straggle_test::running_task_fields,
                                     straggle_test::told_host_fields, options);
    std::vector<straggle_test::told_host> hosts{{"n0", 4}, {"n1", 4}, {"n2", 4}, {"n3", 4}};
    double now = 0;
    auto const end_job = [&](std::string const& job, int first) {
        for (int task = first; task < 8; ++task)
            m.observe({job, hosts[static_cast<std::size_t>(task % 4)].name, task, now,
                       now + (task % 4 == 0 ? 50 : 10) + 0.1 * task},
                      now + 55);
    };
    for (int job = 0; job < 12; ++job, now += 60) end_job("j" + std::to_string(job), 0);
    end_job("q", 1);
    straggle_test::running_task slow{"q", "n0", 0, now};
    int moves = 0;
    for (double const end = now + 5000; now < end; now += 5) {
        std::vector<straggle_test::running_task> const running{slow};
        if (m.decide(now, running, hosts).moves().empty()) continue;
        ++moves;
        slow = {"q", "n0", 0, now};
    }
    CHECK(moves > 0);
    CHECK(moves <= 2 + 9); // at intervals that double from a usual time
}

TEST_CASE("no copy and no new attempt goes to a node where the task has failed while another one is free") {
    straggle_test::small_mitigator m(straggle_test::ended_fields, straggle_test::running_task_fields,
                                     straggle_test::told_host_fields, straggle::mitigator_options{});
    std::vector<straggle_test::told_host> hosts{{"n0", 4}, {"n1", 4}, {"n2", 4}};
    double now = 0;
    for (int job = 0; job < 4; ++job, now += 20)
        for (int task = 0; task < 6; ++task)
            m.observe({"j" + std::to_string(job), hosts[static_cast<std::size_t>(task % 3)].name, task, now,
                       now + 10 + 0.1 * task},
                      now + 11);
    for (int task = 1; task < 6; ++task)
        m.observe({"q", hosts[static_cast<std::size_t>(task % 3)].name, task, now, now + 10 + 0.1 * task},
                  now + 11);
    for (int i = 0; i < 2; ++i, now += 2)
        m.observe({"q", "n2", 0, now, now + 1, straggle::attempt_status::failed}, now + 1);
    straggle_test::running_task const again{"q", "n0", 0, now};
    std::size_t copies = 0;
    for (double const end = now + 200; now < end; now += 5) {
        std::vector<straggle_test::running_task> const running{again};
        for (auto const& c : m.decide(now, running, hosts).copies()) {
            ++copies;
            CHECK(hosts[c.node_row].name == "n1");
        }
    }
    CHECK(copies > 0);
    auto const places = m.rank_places(again, hosts);
    CHECK(places.size() == 2);
    for (auto const& p : places) CHECK(hosts[p.row].name != "n2");
    std::vector<straggle_test::told_host> const only{{"n2", 4}};
    CHECK(m.rank_places(again, only).size() == 1); // better there than nowhere
}
