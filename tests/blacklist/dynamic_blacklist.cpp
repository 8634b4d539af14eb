// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "real_histories.hpp"

#include <straggle/blacklist/dynamic_blacklist.hpp>

#include <support/seed.hpp>
#include <support/shared_data.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace straggle;
using blacklist::cause;
using straggle_test::past_attempt;

namespace {

std::uint64_t const seed = straggle_test::seed_or(20261123);

struct attempt {
    std::string job, node;
    int task = 0;
    double start = 0, end = 0;
    attempt_status how = attempt_status::success;
};
struct running_task {
    std::string job, node;
    int task = 0;
    double start = 0;
};
struct host {
    std::string name;
    int slots = 4, busy = 0;
    std::string machine{};
    record::condition condition = record::condition::present;
};
constexpr attempt_fields fields{.job = &attempt::job,
                                .task = &attempt::task,
                                .node = &attempt::node,
                                .start = &attempt::start,
                                .end = &attempt::end,
                                .status = &attempt::how};
constexpr running_fields running_task_fields{.job = &running_task::job,
                                             .task = &running_task::task,
                                             .node = &running_task::node,
                                             .start = &running_task::start};
constexpr node_fields host_fields{.node = &host::name,
                                  .slots = &host::slots,
                                  .busy = &host::busy,
                                  .machine_class = &host::machine,
                                  .condition = &host::condition};
using by_attempts = decltype(dynamic_blacklist(fields));
using by_all = decltype(dynamic_blacklist(fields, running_task_fields, host_fields));
static_assert(std::same_as<by_all::node_id, std::string> && std::same_as<by_all::time_type, double>);

std::string name_of(std::size_t node) {
    return "node" + std::to_string(node);
}

// Jobs of some tasks per node; what runs over the end of a window is told as running. Nobody obeys.
struct fleet {
    std::vector<double> factors;
    double cv = 0.3, task = 8, every = 5, window = 10;
    int tasks = 80;
    std::mt19937_64 engine{seed};
    double now = 0, next_job = 0;
    int job = 0;
    std::vector<attempt> ahead{}; // not over yet
    std::vector<host> hosts{};

    explicit fleet(std::size_t nodes) : factors(nodes, 1.0) {
        for (std::size_t n = 0; n < nodes; ++n) hosts.push_back({.name = name_of(n)});
    }
    double length(std::size_t node) {
        double const sigma = std::sqrt(std::log1p(cv * cv));
        return task * factors[node] *
               std::exp(sigma * std::normal_distribution<>()(engine) - sigma * sigma / 2);
    }
    // Shows a window of it to a blacklist, and decides.
    template <class List>
    void step(List& list) {
        double const until = now + window;
        for (; next_job < until; next_job += every, ++job)
            for (int t = 0; t < tasks; ++t) {
                auto const n = static_cast<std::size_t>(t) % factors.size();
                double const start = next_job + 0.01 * static_cast<double>(t) / static_cast<double>(tasks);
                ahead.push_back({"job" + std::to_string(job), name_of(n), t, start, start + length(n)});
            }
        std::sort(ahead.begin(), ahead.end(), [](auto const& a, auto const& b) { return a.end < b.end; });
        std::size_t over = 0;
        while (over < ahead.size() && ahead[over].end <= until) list.observe(ahead[over++]);
        ahead.erase(ahead.begin(), ahead.begin() + static_cast<std::ptrdiff_t>(over));
        now = until;
        if constexpr (std::same_as<List, by_all>) {
            std::vector<running_task> running;
            for (attempt const& a : ahead)
                if (a.start < now) running.push_back({a.job, a.node, a.task, a.start});
            list.decide(now, running, hosts);
        } else {
            list.decide(now);
        }
    }
};

// The nodes that are ever called slow, deciding once per usual duration.
std::set<std::string> called_slow(std::vector<past_attempt> const& history) {
    dynamic_blacklist list(straggle_test::past_fields);
    std::set<std::string> named;
    double last = -1e300;
    for (past_attempt const& a : history) {
        list.observe(a);
        if (a.end - last < std::max(list.decisions().usual_duration(), 1e-3)) continue;
        last = a.end;
        auto const& d = list.decide(a.end);
        for (auto const verdicts : {d.blacklisted(), d.on_probation(), d.spared()})
            for (auto const& v : verdicts)
                if (blacklist::has(v.causes, cause::slow)) named.insert(v.id);
    }
    return named;
}

} // namespace

TEST_CASE("a slow node is named, and its verdict speaks of slowdown") {
    fleet f(10);
    f.factors[3] = 2;
    dynamic_blacklist list(fields);
    CHECK(list.decision().blacklisted().empty());
    for (int i = 0; i < 6; ++i) f.step(list);
    auto const& d = list.decision();
    REQUIRE(d.blacklisted().size() == 1);
    auto const& v = d.blacklisted()[0];
    CHECK(v.id == "node3");
    CHECK(v.state == node_state::excluded);
    CHECK(v.causes == static_cast<std::uint8_t>(cause::slow));
    CHECK(v.slow.value == doctest::Approx(2).epsilon(0.15));
    CHECK(v.slow.low > 1.1);
    CHECK(v.slow.high > 2);
    CHECK(v.n == v.slow.tasks);
    CHECK(v.rule == "slowdown");
    CHECK(v.value > v.threshold);
    CHECK(v.strikes == 1);
    CHECK(v.since > 0);
    CHECK(v.until > v.since);
    CHECK(d.state("node3") == node_state::excluded);
    CHECK(d.avoids("node3"));
    CHECK(d.find("node3") == &v);
    CHECK(d.find("node4") == nullptr);
    CHECK(d.state("node4") == node_state::healthy);
    CHECK(d.state("nobody") == node_state::healthy);
    CHECK(list.state("node3") == node_state::excluded);
    CHECK(list.slowdown_of("node4").is_known());
    CHECK(list.slowdown_of("node4").value == doctest::Approx(1).epsilon(0.1));
    CHECK_FALSE(list.slowdown_of("nobody").is_known());
    CHECK(list.estimate_of("node4") == list.slowdown_of("node4"));
    CHECK_FALSE(list.estimate_of("nobody").is_known());
    CHECK(list.counts().attempts.used == list.counts().attempts.seen);
    CHECK(list.failures_of("node3").attempts > 0);
    CHECK(list.failures_of("node3").failed == 0);
    list.forget("node3");
    CHECK(list.state("node3") == node_state::healthy);
}

TEST_CASE("it decides as node_stage does on numbers") {
    fleet f(12);
    f.factors[5] = 1.6;
    f.factors[7] = 3;
    dynamic_blacklist list(fields);
    node_stage twin;
    struct twin_feed { // the same facts, as numbers
        by_attempts& list;
        node_stage& twin;
        std::map<std::string, std::uint32_t> nodes{};
        double origin = 0;
        bool is_set = false;
        bool observe(attempt const& a) {
            if (!is_set) origin = a.end, is_set = true;
            auto const node = nodes.emplace(a.node, static_cast<std::uint32_t>(nodes.size())).first->second;
            std::uint64_t const job = detail::key_of(a.job, 0);
            bool const used =
                twin.observe({node, job, detail::key_of(a.task, job), a.start - origin, a.end - origin}, 0);
            CHECK(list.observe(a) == used);
            return used;
        }
        void decide(double now) {
            std::vector<blacklist::node_row> rows;
            for (std::uint32_t n = 0; n < nodes.size(); ++n) rows.push_back({.node = n});
            twin.decide(now - origin, {}, rows, {.slots = rows.size()});
            list.decide(now);
        }
    };
    twin_feed both{list, twin};
    for (int i = 0; i < 60; ++i) {
        f.step(both);
        for (auto const& [name, index] : both.nodes) {
            REQUIRE(list.state(name) == twin.state(index));
            REQUIRE(list.slowdown_of(name) == twin.slowdown_of(index));
        }
    }
    CHECK(list.state("node7") != node_state::healthy);
}

TEST_CASE("a fleet that differs by one per cent is left alone, however much is known") {
    std::mt19937_64 engine(seed);
    std::vector<double> factors;
    for (int n = 0; n < 20; ++n) factors.push_back(1 + 0.01 * std::normal_distribution<>()(engine));
    dynamic_blacklist list(fields);
    double now = 0;
    attempt a;
    for (int job = 0; job < 1000; ++job) { // 1e5 tasks for each node
        a.job = std::to_string(job);
        for (int t = 0; t < 2000; ++t) {
            auto const n = static_cast<std::size_t>(t % 20);
            a.node = name_of(n);
            a.task = t;
            a.start = now;
            a.end = now + factors[n] * std::exp(0.3 * std::normal_distribution<>()(engine));
            list.observe(a);
        }
        list.finish_job(a.job);
        now += 4;
        auto const& d = list.decide(now);
        REQUIRE(d.blacklisted().empty());
        REQUIRE(d.spared().empty());
    }
}

TEST_CASE("real histories: the culprit that its publishers name, and nobody where nodes are shuffled") {
    std::mt19937_64 engine(seed);
    std::size_t names = 0, runs = 0;
    for (std::string const file :
         {"bytedance-AR", "hadoop-19jobs", "hadoop-gridmix-a", "hadoop-sls", "spark-groupon"}) {
        auto const path = straggle_test::shared_file("data/" + file + ".csv");
        if (!path) continue;
        std::vector<past_attempt> history = straggle_test::read_history(*path);
        if (file == "bytedance-AR") CHECK(called_slow(history) == std::set<std::string>{"pp0-dp0"});
        for (int run = 0; run < (history.size() < 5000 ? 4 : 1); ++run, ++runs) {
            straggle_test::shuffle_nodes(history, engine);
            names += called_slow(history).size();
        }
    }
    MESSAGE(names, " names in ", runs, " shuffled histories");
    CHECK(names <= 1);
}

TEST_CASE("ten nodes, tasks of eight minutes: found whatever the window, and nobody else") {
    for (double const window : {10.0, 30.0, 60.0})
        for (double const factor : {1.5, 2.0, 4.0}) {
            fleet f(10);
            f.window = window;
            f.factors[4] = factor;
            dynamic_blacklist list(fields, running_task_fields, host_fields);
            int named = 0, windows = 0, others = 0;
            // By then the evidence suffices: 8 tasks of cv 0.3 in each window of ten minutes.
            int const from = window < 20 ? 10 : 5, steps = static_cast<int>(600 / window) + from;
            for (int i = 0; i < steps; ++i) {
                f.step(list);
                for (std::size_t n = 0; n < 10; ++n)
                    if (n != 4 && list.state(name_of(n)) != node_state::healthy) ++others;
                if (i < from) continue;
                ++windows;
                named += list.state("node4") != node_state::healthy;
            }
            CAPTURE(window);
            CAPTURE(factor);
            // Nobody obeys: after a trial without a probe it would be back, but it goes on to work.
            CHECK(named >= windows * 95 / 100);
            CHECK(others == 0);
        }
}

TEST_CASE("what one window cannot prove ten can") {
    int late = 0, wrong = 0;
    constexpr int runs = 40;
    for (int run = 0; run < runs; ++run) {
        fleet f(10);
        f.engine.seed(seed + static_cast<std::uint64_t>(run));
        f.cv = 1;
        f.task = 1;
        f.every = 5;
        f.window = 10;
        f.tasks = 100; // ten for each node in a job, twenty in a window
        f.factors[6] = 2;
        dynamic_blacklist list(fields);
        int found = 0;
        for (int i = 1; i <= 12 && found == 0; ++i) {
            f.step(list);
            if (list.state("node6") != node_state::healthy) found = i;
        }
        late += found == 0 || found > 8;
        for (std::size_t n = 0; n < 10; ++n) wrong += n != 6 && list.state(name_of(n)) != node_state::healthy;
    }
    CHECK(late <= runs / 20 + 2);
    CHECK(wrong == 0);
}

TEST_CASE("nodes that hang, fail, are pinned, denied or away") {
    dynamic_blacklist list(fields, running_task_fields, host_fields);
    std::vector<host> hosts;
    for (std::size_t n = 0; n < 12; ++n) hosts.push_back({.name = name_of(n)});
    hosts[1].condition = record::condition::denied;
    hosts[2].condition = record::condition::away;
    double now = 0;
    std::vector<running_task> stuck;
    for (int t = 0; t < 4; ++t) stuck.push_back({"job0", "node5", 1000 + t, 0});
    std::mt19937_64 engine(seed);
    int failures = 0, out_after = 0;
    for (int job = 0; job < 30; ++job) {
        for (int t = 0; t < 36; ++t) {
            auto const n = static_cast<std::size_t>(3 + t % 9);
            if (n == 5) continue; // nothing ends there
            attempt a{"job" + std::to_string(job), name_of(n), t, now,
                      now + 1 + 0.3 * std::generate_canonical<double, 53>(engine)};
            if (n == 7) {
                a.how = attempt_status::failed;
                ++failures;
            }
            list.observe(a);
            if (out_after == 0 && n == 7) {
                list.decide(now + 1.5, stuck, hosts);
                if (list.state("node7") == node_state::excluded) out_after = failures;
            }
        }
        now += 2;
        list.decide(now, stuck, hosts, {.waiting = 100000});
    }
    CHECK(out_after > 0);
    CHECK(out_after <= 8);
    auto const& d = list.decision();
    CHECK(d.state("node1") == node_state::excluded);
    CHECK(d.find("node1")->causes == static_cast<std::uint8_t>(cause::denied));
    CHECK(d.state("node2") == node_state::away);
    REQUIRE(d.away().size() == 1);
    // Its tasks were not killed: it stays out, or is on its way back there.
    REQUIRE(d.find("node5") != nullptr);
    CHECK(blacklist::has(d.find("node5")->causes, cause::hung));
    auto const fails = list.failures_of("node7");
    CHECK(fails.failed == static_cast<std::uint64_t>(failures));
    CHECK(fails.attempts == fails.failed);
    CHECK(fails.low > 0.8);
    CHECK(fails.high == doctest::Approx(1));
    CHECK(fails.elsewhere == 0);
    CHECK(list.counts().running.used > 0);
}

TEST_CASE("after a restart it decides as it would have; damage changes nothing") {
    fleet f(10);
    f.factors[3] = 2;
    f.factors[8] = 1.4;
    by_all a(fields, running_task_fields, host_fields);
    for (int i = 0; i < 12; ++i) f.step(a);
    auto const bytes = a.serialize();
    by_all b(fields, running_task_fields, host_fields);
    REQUIRE(b.restore(bytes) == status::ok);
    CHECK(b.serialize() == bytes);
    CHECK(b.state("node3") == a.state("node3"));
    fleet g = f;
    for (int i = 0; i < 60; ++i) {
        f.step(a);
        g.step(b);
        for (std::size_t n = 0; n < 10; ++n) REQUIRE(a.state(name_of(n)) == b.state(name_of(n)));
    }
    auto const before = b.serialize();
    for (std::size_t size = 0; size < bytes.size(); size += 997)
        CHECK(b.restore(std::span(bytes).first(size)) != status::ok);
    CHECK(b.serialize() == before);
}

TEST_CASE("shards that began at other times share what they learned") {
    fleet f(10);
    f.factors[2] = 2;
    by_attempts one(fields), other(fields), whole(fields);
    struct split {
        by_attempts &one, &other, &whole;
        int k = 0;
        bool observe(attempt const& a) {
            whole.observe(a);
            return (a.end > 40 && k++ % 2 != 0 ? other : one).observe(a);
        }
        void decide(double now) {
            one.decide(now);
            if (now > 40) other.decide(now);
            whole.decide(now);
        }
    };
    split both{one, other, whole};
    for (int i = 0; i < 8; ++i) f.step(both);
    one.merge(other);
    one.decide(f.now);
    CHECK(one.slowdown_of("node2").tasks > whole.slowdown_of("node2").tasks * 8 / 10);
    CHECK(one.slowdown_of("node2").value == doctest::Approx(whole.slowdown_of("node2").value).epsilon(0.1));
}

namespace {

struct plain { // a duration and optional times
    int job = 0, node = 0;
    std::optional<double> took;
};
constexpr attempt_fields plain_fields{.job = &plain::job, .node = &plain::node, .duration = &plain::took};

} // namespace

TEST_CASE("records with durations are timed by the caller; what is missing is counted") {
    dynamic_blacklist list(plain_fields);
    std::mt19937_64 engine(seed);
    double now = 0;
    for (int job = 0; job < 12; ++job) {
        for (int t = 0; t < 80; ++t)
            list.observe(
                {job, t % 8, (t % 8 == 3 ? 2.5 : 1.0) * (1 + std::generate_canonical<double, 53>(engine))},
                now += 0.05);
        list.decide(now);
    }
    CHECK(list.decision().avoids(3));
    list.observe({1, 1, std::nullopt}, now);
    list.observe({1, 1, std::nan("")}, now);
    list.observe({1, 1, -1.0}, now);
    CHECK(list.counts().attempts[rejection::missing_time] == 1);
    CHECK(list.counts().attempts.total_rejected() == 3);
    // The clock never goes back.
    list.decide(now - 5);
    CHECK(list.decision().avoids(3));
}

namespace {

// A rank of a job whose ranks all wait for the slowest: they begin and end together.
struct rank_attempt {
    int job, node;
    double start, end, waited;
};
constexpr attempt_fields rank_fields{.job = &rank_attempt::job,
                                     .node = &rank_attempt::node,
                                     .start = &rank_attempt::start,
                                     .end = &rank_attempt::end,
                                     .waited = &rank_attempt::waited};
constexpr attempt_fields rank_fields_without_waits{.job = &rank_attempt::job,
                                                   .node = &rank_attempt::node,
                                                   .start = &rank_attempt::start,
                                                   .end = &rank_attempt::end};
// 16 nodes, of which node 5 is twice as slow.
template <class Each>
void run_gangs(int jobs, Each&& each) {
    std::mt19937_64 engine(seed);
    double now = 0;
    for (int job = 0; job < jobs; ++job) {
        std::vector<double> work;
        for (int n = 0; n < 16; ++n)
            work.push_back(10 * std::exp(0.1 * std::normal_distribution<>()(engine)) * (n == 5 ? 2 : 1));
        double const longest = *std::max_element(work.begin(), work.end());
        each(job, now, longest, work);
        now += longest + 1;
    }
}

} // namespace

TEST_CASE("the slow node of a gang is named by work, not by durations") {
    dynamic_blacklist by_work(rank_fields);
    dynamic_blacklist by_duration(rank_fields_without_waits);
    int found_after = 0;
    run_gangs(30, [&](int job, double start, double longest, std::vector<double> const& work) {
        for (int n = 0; n < 16; ++n) {
            rank_attempt const a{job, n, start, start + longest, longest - work[static_cast<std::size_t>(n)]};
            by_work.observe(a);
            by_duration.observe(a);
        }
        by_work.decide(start + longest);
        by_duration.decide(start + longest);
        for (int n = 0; n < 16; ++n) {
            if (n != 5) CHECK_FALSE(by_work.decision().avoids(n));
            CHECK_FALSE(by_duration.decision().avoids(n));
        }
        if (found_after == 0 && by_work.decision().avoids(5)) found_after = job + 1;
    });
    CHECK(found_after > 0);
    CHECK(found_after <= 10);
    CHECK(by_work.estimate_of(5).value == doctest::Approx(2).epsilon(0.1));
    CHECK(by_work.estimate_of(4).value == doctest::Approx(1).epsilon(0.1));
}

TEST_CASE("merged with one whose clock has nothing in common with its own it can still be stored") {
    dynamic_blacklist a(fields), b(fields), c(fields);
    a.observe({"j", "n", 1, 1e308, 1e308});
    a.decide(1e308);
    b.observe({"j", "m", 2, -1e308, -1e308});
    b.decide(-1e308);
    a.merge(b);
    CHECK(c.restore(a.serialize()) == status::ok);
}
