// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/rank/monitor.hpp>
#include <straggle/rank/rank_nodes.hpp>

#include "../support/allocations.hpp"
#include "../support/contract_trap.hpp"
#include "../support/monitor_cases.hpp"
#include "../support/seed.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

using namespace straggle;
using straggle_test::adds_up;
using straggle_test::attempt;
using straggle_test::difference;
using straggle_test::order_of_nodes;
using straggle_test::real_monitor;
using straggle_test::tick_monitor;

namespace {

struct named {
    std::string_view job, node;
    std::optional<double> took;
};
constexpr attempt_fields named_fields{.job = &named::job, .node = &named::node, .duration = &named::took};
using named_monitor = monitor<named, std::remove_const_t<decltype(named_fields)>>;

struct known_to_traits {
    int job, node;
    std::int64_t took;
};

static_assert(std::is_same_v<tick_monitor::time_type, std::int64_t>);
static_assert(std::is_same_v<named_monitor::job_id, std::string>);
static_assert(std::is_copy_constructible_v<tick_monitor> && std::is_move_assignable_v<tick_monitor>);
template <class Monitor>
concept gives_a_ranking = requires(Monitor m) { static_cast<Monitor>(m).ranking(); };
static_assert(gives_a_ranking<tick_monitor const&> && !gives_a_ranking<tick_monitor>);

// Eight attempts of one job on two nodes, all in the step of `end`.
void watch_job(tick_monitor& m, int job, std::int64_t end, std::int64_t usual = 100) {
    for (int i = 0; i < 8; ++i) m.observe({job, i % 2, usual + i * i, end});
}

} // namespace

template <>
struct straggle::task_traits<known_to_traits> {
    static constexpr attempt_fields fields{
        .job = &known_to_traits::job, .node = &known_to_traits::node, .duration = &known_to_traits::took};
};

TEST_CASE("monitor: nothing seen, nothing said") {
    tick_monitor m(straggle_test::ticks);
    CHECK(m.ranking().fleet_size() == 0);
    CHECK(m.rank().fleet_size() == 0);
    CHECK(m.rank(5).levels() == 0);
    CHECK(m.counts() == monitor_counts{});
    CHECK_FALSE(m.finish(3));
    m.clear();
    tick_monitor other(straggle_test::ticks);
    m.merge(other);
    CHECK(m.rank().attempts() == attempt_counts{});
    CHECK(m.pairs() + m.jobs() + m.nodes() == 0);
}

TEST_CASE("monitor: task_traits name the fields, and the rules are the caller's") {
    monitor<known_to_traits> m;
    std::vector<known_to_traits> all;
    for (int i = 0; i < 60; ++i) all.push_back({i % 3, i % 7, 100 + i * i % 90});
    for (auto const& a : all) m.observe(a);
    CHECK(difference(m.rank(), rank_nodes(all)) == "");
    rank_options const loose{.normalizer = rank::z_score{.min_tasks = 2},
                             .estimator = {stats::t_interval(0.5, stats::deviation_kind::population)},
                             .ranker = rank::p_cores(rank::edge_rule::open)};
    monitor<known_to_traits, std::remove_const_t<decltype(task_traits<known_to_traits>::fields)>,
            std::remove_const_t<decltype(loose)>>
        other({.ranking = loose});
    for (auto const& a : all) other.observe(a);
    CHECK(difference(other.rank(), rank_nodes(all, loose)) == "");
    CHECK(other.ranking().edges() == rank::edge_rule::open);
    CHECK(difference(other.rank(), m.rank()) != "");
}

TEST_CASE("monitor: every attempt is counted once, whatever is wrong with it") {
    struct loose {
        std::optional<int> job, node;
        std::optional<double> took;
        std::optional<bool> ok = true;
    };
    constexpr attempt_fields f{
        .job = &loose::job, .node = &loose::node, .duration = &loose::took, .status = &loose::ok};
    monitor<loose, std::remove_const_t<decltype(f)>> m(f);
    double const nan = std::numeric_limits<double>::quiet_NaN(),
                 inf = std::numeric_limits<double>::infinity();
    std::vector<loose> const all{
        {1, 1, 5.0}, {1, 2, 6.0},      {std::nullopt, 1, 5.0}, {1, std::nullopt, 5}, {1, 1, {}},
        {1, 1, nan}, {1, 1, inf},      {1, 1, -inf},           {1, 1, -5e-324},      {1, 1, -0.0},
        {1, 1, 0.0}, {1, 1, 5, false}, {1, 1, 5, {}}};
    for (loose const& a : all) m.observe(a);
    CHECK(m.counts().attempts == rank_nodes(all, f).attempts());
    CHECK(m.rank().attempts() == m.counts().attempts);
    CHECK(m.counts().attempts.used == 4);
    CHECK(adds_up(m.counts()));
}

TEST_CASE("monitor: an attempt that was censored counts as if it had ended when it was killed") {
    std::uint64_t const seed = straggle_test::seed_or(61);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    constexpr attempt_fields untold{
        .job = &attempt::job, .node = &attempt::node, .end = &attempt::end, .duration = &attempt::took};
    for (int trial = 0; trial < 60; ++trial) {
        auto history = straggle_test::random_history(draw, 200);
        tick_monitor told(straggle_test::ticks, {.window = 400, .slide = 100});
        monitor<attempt, std::remove_const_t<decltype(untold)>> all(untold, {.window = 400, .slide = 100});
        bool const by_clock = trial % 2 == 0;
        for (attempt a : history) {
            if (draw() % 5 == 0) a.status = attempt_status::killed;
            std::int64_t const now = a.end + static_cast<std::int64_t>(draw() % 150);
            if (by_clock) {
                bool const entered =
                    a.status == attempt_status::killed ? told.observe_censored(a, now) : told.observe(a, now);
                CHECK(entered == all.observe(a, now));
            } else {
                bool const entered =
                    a.status == attempt_status::killed ? told.observe_censored(a) : told.observe(a);
                CHECK(entered == all.observe(a));
            }
        }
        CHECK(told.counts() == all.counts());
        CHECK(told.counts().attempts.killed == 0);
        CHECK(difference(told.rank(), all.rank()) == "");
    }
}

TEST_CASE("monitor: an attempt that was censored never makes its node look slower than the truth would") {
    std::uint64_t const seed = straggle_test::seed_or(62);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    int lower = 0;
    for (int trial = 0; trial < 300; ++trial) {
        tick_monitor truth(straggle_test::ticks), censored(straggle_test::ticks),
            left_out(straggle_test::ticks);
        // Jobs with one task on each of ten nodes; on node 0 it would take long, and a copy saves some.
        for (int job = 0; job < 6; ++job)
            for (int node = 0; node < 10; ++node) {
                attempt a{job, node, 100 + static_cast<std::int64_t>(draw() % 60), 0};
                bool const killed = node == 0 && job % 2 == 0;
                if (killed) a.took += 100 + static_cast<std::int64_t>(draw() % 400);
                truth.observe(a);
                if (killed) {
                    a.took =
                        150 + static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(a.took - 150));
                    a.status = attempt_status::killed;
                    CHECK(censored.observe_censored(a));
                } else {
                    censored.observe(a);
                }
                left_out.observe(a);
            }
        auto const mean_of = [](tick_monitor& m, int node) {
            for (auto const& n : m.rank().nodes())
                if (n.id == node) return n.mean;
            return std::nan("");
        };
        // To the last bit of the grid of scores.
        CHECK(mean_of(censored, 0) <= mean_of(truth, 0) + 1e-12);
        lower += mean_of(left_out, 0) < mean_of(censored, 0);
    }
    CHECK(lower > 270); // left out, it is further from the truth
}

TEST_CASE("monitor: records that name no status can be censored, too, and allocate nothing once known") {
    named_monitor m(named_fields);
    named const slow{"a job with a name too long for a small string", "n", 9.0};
    for (double took : {1.0, 2.0, 3.0, 4.0}) m.observe({slow.job, "m", took});
    CHECK(m.observe_censored(slow));
    CHECK(!m.observe_censored({slow.job, "n", std::nullopt}));
    CHECK(m.counts().attempts.used == 5);
    CHECK(m.counts().attempts.rejected[rejection::missing_time] == 1);
    CHECK(straggle_test::allocations_during([&] { m.observe_censored(slow); }) == 0);
}

TEST_CASE("monitor: numbers that no calculation should meet") {
    double const tiny = 1e-200, huge = 1e300;
    std::string_view const hostile("\0\xff\xfe,\"\n", 6);
    std::string const long_name(100'000, 'x');
    named_monitor m(named_fields);
    for (std::string_view const job : {std::string_view("tiny"), std::string_view("huge"), hostile,
                                       std::string_view(""), std::string_view(long_name)})
        for (int i = 0; i < 12; ++i) {
            double const k = 1.0 + i % 5;
            double const took = job == "tiny" ? tiny * k : job == "huge" ? huge * k : k * (i + 1);
            std::string_view const node = i % 3 == 0   ? hostile
                                          : i % 3 == 1 ? std::string_view(long_name)
                                                       : "";
            CHECK(m.observe({job, node, took}));
        }
    for (double const took : {5e-324, 1e-308, 1e308, 0.0, std::numeric_limits<double>::max(), 1.0})
        for (int i = 0; i < 3; ++i) m.observe({"every size", "n", took});
    for (double const took : {1e-161, 2e-161, 3e-161, 5e-161, 9e-161, 1e-162})
        m.observe({"denormal", "n", took});
    auto const check = [](auto const& ranking) {
        for (auto const& n : ranking.nodes()) {
            CHECK(std::isfinite(n.mean));
            CHECK(std::isfinite(n.sd));
            CHECK(n.ci.low <= n.ci.high);
        }
    };
    auto const& ranking = m.rank();
    check(ranking);
    CHECK(ranking.fleet_size() == 4);
    std::size_t out_of_range = 0;
    for (auto const& j : ranking.degenerate_jobs())
        out_of_range += j.reason == status::out_of_range ? 1u : 0u;
    CHECK(out_of_range == 2); // squares beyond 1e308
    named_monitor back(named_fields);
    REQUIRE(back.restore(m.serialize()) == status::ok);
    CHECK(difference(back.rank(), m.rank()) == "");
    for (std::string_view const job : {"tiny", "huge", "denormal"}) CHECK(m.finish(job));
    check(m.rank());
}

TEST_CASE("monitor: a million equal values have no spread") {
    tick_monitor m(straggle_test::ticks);
    real_monitor r(straggle_test::reals);
    for (int i = 0; i < 1'000'000; ++i) {
        m.observe({1, i % 3, INT64_MAX});
        r.observe({1, i % 3, 1'000'003});
    }
    REQUIRE(m.rank().degenerate_jobs().size() == 1);
    CHECK(m.ranking().degenerate_jobs()[0].reason == status::no_spread);
    CHECK(m.ranking().degenerate_jobs()[0].attempts == 1'000'000);
    REQUIRE(r.rank().degenerate_jobs().size() == 1);
    CHECK(r.ranking().degenerate_jobs()[0].reason == status::no_spread);
    m.observe({1, 0, INT64_MAX - 1}); // one tick is a spread
    CHECK(m.rank().usable_jobs() == 1);
}

TEST_CASE("monitor: finish gives memory back and changes no bit") {
    std::mt19937_64 draw(straggle_test::seed_or(61));
    for (int round = 0; round < 30; ++round) {
        CAPTURE(round);
        bool const windows = round % 2 == 1;
        tick_monitor m(straggle_test::ticks);
        if (windows) m = tick_monitor(straggle_test::ticks, {.window = 120, .slide = 40});
        tick_monitor whole = m;
        auto const all = straggle_test::random_history(draw, 400);
        std::size_t last_of[64] = {}, given_back = 0, kept = 0;
        for (std::size_t i = 0; i < all.size(); ++i) last_of[all[i].job] = i;
        for (std::size_t i = 0; i < all.size(); ++i) {
            m.observe(all[i]);
            whole.observe(all[i]);
            if (last_of[all[i].job] != i) continue;
            auto const& before = m.rank();
            bool usable = true;
            for (auto const& j : before.degenerate_jobs()) usable = usable && j.id != all[i].job;
            if (!usable) continue; // what such a job could not say is dropped
            std::size_t const jobs = m.jobs(), pairs = m.pairs();
            if (m.finish(all[i].job)) {
                ++given_back;
                CHECK(m.jobs() == jobs - 1);
                CHECK(m.pairs() < pairs);
            } else {
                ++kept;
                CHECK(m.jobs() == jobs);
                CHECK(m.pairs() == pairs);
            }
            REQUIRE(difference(m.rank(), whole.rank()) == "");
            if (windows) REQUIRE(difference(m.rank(all[i].end + 30), whole.rank(all[i].end + 30)) == "");
        }
        CHECK(m.counts() == whole.counts());
        if (!windows) CHECK(kept == 0);
        CHECK((given_back > 0 || windows));
    }
}

TEST_CASE("monitor: finishing is refused, dropped or begun anew") {
    tick_monitor m(straggle_test::ticks, {.window = 20, .slide = 10});
    watch_job(m, 1, 5);
    m.observe({1, 0, 90, 15});
    CHECK_FALSE(m.finish(1)); // its attempts are in two steps
    CHECK_FALSE(m.finish(2)); // unknown
    CHECK(m.jobs() == 1);
    watch_job(m, 3, 15);
    CHECK(m.finish(3));
    CHECK_FALSE(m.finish(3));
    CHECK(m.rank().usable_jobs() == 2);
    m.observe({3, 7, 100, 16}); // a job of its own now
    CHECK(m.rank().degenerate_jobs().size() == 1);
    CHECK(m.finish(3)); // too small to say anything: dropped, and its node with it
    CHECK(m.rank().degenerate_jobs().empty());
    CHECK(m.nodes() == 2);
    CHECK(m.rank().usable_jobs() == 2);
    CHECK(m.rank(20).usable_jobs() == 2);
    CHECK(m.rank(30).usable_jobs() == 2); // what is left of job 1 is scored against all it has said
    CHECK(m.rank(40).usable_jobs() == 0); // finished jobs leave with their step
    CHECK(m.rank(60).fleet_size() == 0);
    CHECK(m.nodes() == 0);
}

TEST_CASE("monitor: max_pairs bounds the memory, and what it keeps out is counted") {
    tick_monitor m(straggle_test::ticks, {.max_pairs = 4});
    for (int i = 0; i < 100; ++i) m.observe({i % 3, i % 4, 10 + i});
    CHECK(m.pairs() == 4);
    CHECK(m.counts().over_capacity > 0);
    CHECK(m.counts().attempts.used + m.counts().over_capacity == 100);
    CHECK(adds_up(m.counts()));
    CHECK(m.rank().attempts().used == m.counts().attempts.used);
    CHECK(m.rank().attempts().seen == m.rank().attempts().used);
    std::size_t const jobs = m.jobs(), nodes = m.nodes();
    for (int i = 0; i < 100; ++i) CHECK_FALSE(m.observe({100 + i, 100 + i, 1}));
    CHECK(m.jobs() == jobs);
    CHECK(m.nodes() == nodes);
    tick_monitor none(straggle_test::ticks, {.max_pairs = 0});
    CHECK_FALSE(none.observe({1, 1, 1}));
    CHECK(none.nodes() == 0);

    // And when merging.
    tick_monitor a(straggle_test::ticks, {.max_pairs = 3}), b(straggle_test::ticks, {.max_pairs = 3});
    for (int i = 0; i < 12; ++i) {
        a.observe({1, i % 3, 10 + i});
        b.observe({1, i % 3 + 2, 10 + i});
    }
    a.merge(b);
    CHECK(a.pairs() == 3);
    CHECK(a.counts().attempts.used == 16);
    CHECK(a.counts().over_capacity == 8);
    CHECK(adds_up(a.counts()));
    CHECK(a.rank().attempts().used == 16);
    CHECK(a.rank().attempts().seen == 16);
}

TEST_CASE("monitor: clear forgets everything but the options") {
    tick_monitor m(straggle_test::ticks, {.window = 20, .slide = 10, .max_pairs = 10}), fresh = m;
    watch_job(m, 1, 55);
    watch_job(m, 2, 56);
    m.finish(2);
    m.clear();
    CHECK(m.serialize() == fresh.serialize());
    CHECK(m.counts() == monitor_counts{});
    CHECK(m.pairs() + m.jobs() + m.nodes() == 0);
    watch_job(m, 3, -700); // an earlier time is welcome
    watch_job(fresh, 3, -700);
    CHECK(m.counts().attempts.used == 8);
    CHECK(difference(m.rank(), fresh.rank()) == "");
    CHECK(m.serialize() == fresh.serialize());
}

TEST_CASE("monitor: merging shards whose clocks stand differently") {
    std::mt19937_64 draw(straggle_test::seed_or(62));
    int other_counts = 0;
    for (int round = 0; round < 60; ++round) {
        CAPTURE(round);
        // A shard that is blind for a while could forget jobs that go on elsewhere.
        tick_monitor const empty(straggle_test::ticks, {.window = 120, .slide = 40, .remember = 1e9});
        std::vector<tick_monitor> shards(3, empty);
        tick_monitor one = empty;
        auto const all = straggle_test::random_history(draw, 300);
        std::size_t const part = 1 + draw() % 100;
        for (std::size_t i = 0; i < all.size(); ++i) {
            one.observe(all[i]);
            // Each shard goes blind at another time.
            std::size_t const s = i / part % 3;
            shards[s].observe(all[i]);
        }
        auto const merged = [](tick_monitor x, tick_monitor const& y) {
            x.merge(y);
            return x;
        };
        tick_monitor left = merged(merged(shards[0], shards[1]), shards[2]);
        tick_monitor right = merged(shards[0], merged(shards[1], shards[2]));
        tick_monitor turned = merged(shards[2], merged(shards[1], shards[0]));
        tick_monitor with_nothing = merged(merged(empty, left), empty);
        REQUIRE(difference(left.rank(), one.rank(), order_of_nodes::any) == "");
        for (tick_monitor* other : {&right, &turned, &with_nothing}) {
            REQUIRE(difference(other->rank(), left.rank(), order_of_nodes::any) == "");
            REQUIRE(other->pairs() == left.pairs());
            REQUIRE(other->jobs() == left.jobs());
            REQUIRE(other->nodes() == left.nodes());
            REQUIRE(adds_up(other->counts()));
            other_counts += other->counts() == left.counts() ? 0 : 1;
        }
        std::int64_t const now = all.back().end - 30;
        REQUIRE(difference(left.rank(now), one.rank(now), order_of_nodes::any) == "");
    }
    CHECK(other_counts == 0);
}

TEST_CASE("monitor: merging keeps what finished jobs have said") {
    tick_monitor a(straggle_test::ticks, {.window = 40, .slide = 10}), b = a, one = a;
    for (int job = 0; job < 6; ++job) {
        watch_job(job % 2 == 0 ? a : b, job, 5 * job, 100 + 30 * job);
        watch_job(one, job, 5 * job, 100 + 30 * job);
    }
    for (int job = 0; job < 4; ++job) CHECK((job % 2 == 0 ? a : b).finish(job));
    tick_monitor c = b;
    c.merge(a);
    a.merge(b);
    CHECK(difference(a.rank(), one.rank(), order_of_nodes::any) == "");
    CHECK(difference(c.rank(), one.rank(), order_of_nodes::any) == "");
    CHECK(a.jobs() == 2);
    CHECK(a.counts() == one.counts());
    CHECK(difference(a.rank(50), one.rank(50), order_of_nodes::any) == "");
    CHECK(difference(a.rank(60), one.rank(60), order_of_nodes::any) == "");
    straggle_test::contract_trap const trap;
    CHECK_THROWS_AS(a.merge(a), straggle_test::broken_contract);
    CHECK_THROWS_AS(a.merge(tick_monitor(straggle_test::ticks)), straggle_test::broken_contract);
    CHECK_THROWS_AS(a.merge(tick_monitor(straggle_test::ticks, {.window = 30, .slide = 10})),
                    straggle_test::broken_contract);
    CHECK_THROWS_AS(a.merge(tick_monitor(straggle_test::ticks, {.window = 80, .slide = 20})),
                    straggle_test::broken_contract);
    CHECK(difference(a.rank(60), one.rank(60), order_of_nodes::any) == "");
}

TEST_CASE("monitor: allocates nothing for pairs it knows, nor for ranking again") {
    std::mt19937_64 draw(straggle_test::seed_or(63));
    for (bool const windows : {false, true}) {
        auto const all = straggle_test::random_history(draw, 3000);
        tick_monitor::options how;
        if (windows) how = {.window = 20'000, .slide = 10'000};
        tick_monitor m(straggle_test::ticks, how);
        real_monitor r(straggle_test::reals);
        for (attempt const& a : all) {
            m.observe(a);
            r.observe(a);
        }
        CHECK(straggle_test::allocations_during([&] {
                  for (attempt const& a : all) {
                      m.observe(a, all.back().end);
                      r.observe(a);
                  }
              }) == 0);
        for (int warm = 0; warm < 3; ++warm) {
            (void)m.rank();
            (void)m.rank(all.back().end);
            (void)r.rank();
        }
        CHECK(straggle_test::allocations_during([&] {
                  (void)m.rank();
                  (void)m.rank(all.back().end);
                  (void)r.rank();
              }) == 0);
    }
}
