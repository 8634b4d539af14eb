// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// What a monitor says is what rank_nodes says of the same attempts: after every event of real and of random
// histories, in any order, in any number of shards.

#include "support/monitor_cases.hpp"
#include "support/seed.hpp"

#include <doctest/doctest.h>
#include <straggle/papers/dsb_2019.hpp>
#include <straggle/rank/monitor.hpp>
#include <straggle/rank/rank_nodes.hpp>

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <vector>

using namespace straggle;
using straggle_test::attempt;
using straggle_test::difference;
using straggle_test::order_of_nodes;
using straggle_test::real_attempt;
using straggle_test::real_monitor;
using straggle_test::tick_monitor;

namespace {

constexpr attempt_fields task_fields{.job = &real_attempt::job,
                                     .task = &real_attempt::task,
                                     .node = &real_attempt::node,
                                     .start = &real_attempt::start,
                                     .end = &real_attempt::end,
                                     .status = &real_attempt::status};
constexpr attempt_fields in_seconds{.job = &real_attempt::job,
                                    .node = &real_attempt::node,
                                    .end = &real_attempt::end,
                                    .duration = &real_attempt::seconds,
                                    .status = &real_attempt::status};

// What the documentation promises for floating durations.
constexpr double float_tolerance = 1e-12;

struct named_history {
    std::string name;
    std::size_t rank_every;
};

// Compares after one event in `every`, and after the last.
template <class Monitor, class Ranker, class Attempts>
void check_events(Monitor& m, Ranker& ranker, Attempts const& all, std::size_t every, double tolerance) {
    for (std::size_t i = 0; i < all.size(); ++i) {
        m.observe(all[i]);
        if (i % every != 0 && i + 1 != all.size()) continue;
        INFO("after event ", i);
        auto const& expected = ranker.rank(std::span(all).first(i + 1));
        REQUIRE(difference(m.rank(), expected, order_of_nodes::same, tolerance) == "");
    }
}

template <class Fields>
auto watch(Fields const& fields, auto const& rules) {
    using record = real_attempt;
    using ranking = std::remove_cvref_t<decltype(rules)>;
    return monitor<record, Fields, ranking>(fields, {.ranking = rules});
}

} // namespace

TEST_CASE("monitor: real histories, event by event, are what rank_nodes says") {
    for (auto const& [name, every] : {named_history{"hadoop-gridmix-a", 1}, named_history{"spark-groupon", 1},
                                      named_history{"hadoop-sls", 1}, named_history{"hadoop-19jobs", 50}}) {
        auto const rows = straggle_test::real_history(name);
        if (rows.empty()) continue;
        CAPTURE(name);
        rank_options<> const rules{.counted = completions::every_success};
        auto const& fields = straggle_test::real_fields;
        using fields_type = std::remove_cvref_t<decltype(fields)>;
        auto m = watch(fields, rules);
        node_ranker<real_attempt, fields_type> ranker(fields, rules);
        check_events(m, ranker, rows, every, 0);
        CHECK(straggle_test::adds_up(m.counts()));
        CHECK(m.counts().attempts == ranker.ranking().attempts());
        CHECK(m.rank().levels() >= 1);

        // Whatever `counted` says, and with a task field.
        auto with_tasks = watch(task_fields, rank_options<>{.counted = completions::first_of_task});
        for (auto const& row : rows) with_tasks.observe(row);
        CHECK(difference(with_tasks.rank(), rank_nodes(rows, task_fields, rules)) == "");

        auto backwards = watch(fields, rules);
        for (std::size_t i = rows.size(); i-- > 0;) backwards.observe(rows[i]);
        CHECK(difference(backwards.rank(), m.rank(), order_of_nodes::any) == "");

        auto papers = watch(fields, papers::dsb_2019::ranking());
        for (auto const& row : rows) papers.observe(row);
        CHECK(difference(papers.rank(), rank_nodes(rows, fields, papers::dsb_2019::ranking())) == "");

        auto floating = watch(in_seconds, rules);
        node_ranker<real_attempt, std::remove_const_t<decltype(in_seconds)>> again(in_seconds, rules);
        check_events(floating, again, rows, 20 * every, float_tolerance);
    }
}

TEST_CASE("monitor: random histories, event by event") {
    std::uint64_t const seed = straggle_test::seed_or(41);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    std::size_t joined = 0, wide_jobs = 0, levels = 0;
    for (int round = 0; round < 60; ++round) {
        CAPTURE(round);
        auto const all = straggle_test::random_history(draw, 20 + draw() % 300);
        tick_monitor exact(straggle_test::ticks);
        node_ranker<attempt, std::remove_const_t<decltype(straggle_test::ticks)>> exactly(
            straggle_test::ticks);
        check_events(exact, exactly, all, 1, 0);
        real_monitor real(straggle_test::reals);
        node_ranker<attempt, std::remove_const_t<decltype(straggle_test::reals)>> really(
            straggle_test::reals);
        check_events(real, really, all, 1, float_tolerance);
        joined += all.size() - exact.pairs();
        wide_jobs += exact.pairs() > 9 * exact.jobs() ? 1u : 0u;
        levels += exact.rank().levels() > 1 ? 1u : 0u;
    }
    CHECK(joined > 2000); // attempts that were not the first of their job and node
    CHECK(wide_jobs > 5); // jobs with an index
    CHECK(levels > 10);
}

TEST_CASE("monitor: any order of arrival gives the same bits on ticks, and the same numbers on reals") {
    std::uint64_t const seed = straggle_test::seed_or(42);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    for (int round = 0; round < 60; ++round) {
        CAPTURE(round);
        auto all = straggle_test::random_history(draw, 500);
        auto const expected = rank_nodes(all, straggle_test::ticks);
        auto const real_expected = rank_nodes(all, straggle_test::reals);
        for (int shuffle = 0; shuffle < 4; ++shuffle) {
            std::shuffle(all.begin(), all.end(), draw);
            tick_monitor exact(straggle_test::ticks);
            real_monitor real(straggle_test::reals);
            for (attempt const& a : all) {
                REQUIRE(exact.observe(a));
                REQUIRE(real.observe(a));
            }
            REQUIRE(difference(exact.rank(), expected, order_of_nodes::any) == "");
            REQUIRE(difference(real.rank(), real_expected, order_of_nodes::any, float_tolerance) == "");
            // And in the order of this arrival.
            REQUIRE(difference(exact.rank(), rank_nodes(all, straggle_test::ticks)) == "");
        }
    }
}

TEST_CASE("monitor: durations of every size give the bits of rank_nodes") {
    // Squares beyond 64 and 128 bits, sums beyond 64, offsets that a double cannot hold.
    std::uint64_t const seed = straggle_test::seed_or(43);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    for (int round = 0; round < 200; ++round) {
        CAPTURE(round);
        std::vector<attempt> all;
        int const shift = 1 + static_cast<int>(draw() % 62);
        for (int i = 0; i < 120; ++i) {
            auto const size = round % 3 == 0 ? static_cast<int>(1 + draw() % 62) : shift;
            auto const took = round % 7 == 0 ? INT64_MAX - static_cast<std::int64_t>(draw() % 3)
                                             : static_cast<std::int64_t>(draw() >> size);
            all.push_back({static_cast<int>(draw() % 3), static_cast<int>(draw() % 6), took});
        }
        tick_monitor m(straggle_test::ticks);
        for (attempt const& a : all) m.observe(a);
        REQUIRE(difference(m.rank(), rank_nodes(all, straggle_test::ticks)) == "");
        tick_monitor back(straggle_test::ticks);
        REQUIRE(back.restore(m.serialize()) == status::ok);
        REQUIRE(difference(back.rank(), m.rank()) == "");
    }
}

TEST_CASE("monitor: eight shards merged in any tree are one monitor") {
    std::uint64_t const seed = straggle_test::seed_or(44);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    for (int round = 0; round < 60; ++round) {
        CAPTURE(round);
        auto const all = straggle_test::random_history(draw, 600);
        std::vector<tick_monitor> shards(8, tick_monitor(straggle_test::ticks));
        std::vector<real_monitor> real_shards(8, real_monitor(straggle_test::reals));
        tick_monitor one(straggle_test::ticks);
        int const by = round % 3; // any shard, that of the job, that of the node
        for (attempt const& a : all) {
            std::size_t const s = by == 0   ? draw() % 8
                                  : by == 1 ? static_cast<std::size_t>(a.job) % 8
                                            : static_cast<std::size_t>(a.node) % 8;
            shards[s].observe(a);
            real_shards[s].observe(a);
            one.observe(a);
        }
        while (shards.size() > 1) {
            std::size_t const from = draw() % shards.size();
            std::swap(shards[from], shards.back());
            std::swap(real_shards[from], real_shards.back());
            tick_monitor const last = shards.back();
            real_monitor const real_last = real_shards.back();
            shards.pop_back();
            real_shards.pop_back();
            std::size_t const to = draw() % shards.size();
            shards[to].merge(last);
            real_shards[to].merge(real_last);
        }
        REQUIRE(difference(shards[0].rank(), one.rank(), order_of_nodes::any) == "");
        REQUIRE(shards[0].counts() == one.counts());
        REQUIRE(shards[0].pairs() == one.pairs());
        REQUIRE(difference(real_shards[0].rank(), rank_nodes(all, straggle_test::reals), order_of_nodes::any,
                           float_tolerance) == "");
    }
}
