// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "real_histories.hpp"

#include <straggle/blacklist/blacklister.hpp>
#include <straggle/blacklist/dominated.hpp>
#include <straggle/blacklist/limits.hpp>
#include <straggle/blacklist/rolling_blacklister.hpp>
#include <straggle/blacklist/slower_by.hpp>
#include <straggle/rank/monitor.hpp>
#include <straggle/rank/rank_nodes.hpp>
#include <straggle/rank/sibling_normalizers.hpp>

#include <support/seed.hpp>
#include <support/shared_data.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

using namespace straggle;

namespace {

std::uint64_t const seed = straggle_test::seed_or(20261124);

template <class Time>
struct attempt {
    int job = 0, node = 0;
    Time took{}, end{};
};
template <class Time>
constexpr attempt_fields fields{.job = &attempt<Time>::job,
                                .node = &attempt<Time>::node,
                                .end = &attempt<Time>::end,
                                .duration = &attempt<Time>::took};

// Jobs of different length and spread, tasks on all nodes.
template <class Time>
std::vector<attempt<Time>> history(std::vector<double> const& factors, int jobs, int per_node,
                                   std::mt19937_64& engine, double sigma = 0) {
    std::vector<attempt<Time>> all;
    std::normal_distribution<double> normal;
    for (int job = 0; job < jobs; ++job) {
        double const usual = 1000 * std::exp(normal(engine)), s = sigma > 0 ? sigma : 0.1 + 0.05 * (job % 8);
        for (int t = 0; t < per_node; ++t)
            for (int n = 0; n < static_cast<int>(factors.size()); ++n)
                all.push_back({job, n,
                               static_cast<Time>(usual * factors[static_cast<std::size_t>(n)] *
                                                 std::exp(s * normal(engine))),
                               static_cast<Time>(job)});
    }
    return all;
}

template <class Selection, class Ranking>
std::size_t avoided(Selection selection, Ranking const& r) {
    auto const d = blacklister{selection}.decide(r);
    return d.blacklisted().size();
}

} // namespace

TEST_CASE("slowdowns of a ranking hold the truth of each node") {
    std::mt19937_64 engine(seed);
    int missed = 0, intervals = 0;
    for (int run = 0; run < 200; ++run) {
        std::vector<double> factors{1, 1, 1, 1, 1, 1, 1, 1.2, 1.5, 3};
        auto const r = rank_nodes(history<double>(factors, 12, 3, engine), fields<double>);
        for (auto const& node : r.nodes()) {
            REQUIRE(node.slow.is_known());
            CHECK(node.slow.tasks == node.n);
            CHECK(node.slow.low <= node.slow.value);
            CHECK(node.slow.value <= node.slow.high);
            double const truth = factors[static_cast<std::size_t>(node.id)];
            missed += node.slow.low > truth || truth > node.slow.high;
            ++intervals;
        }
    }
    CHECK(missed * 100 <= intervals * 8); // promised: 95 %
    CHECK(missed * 100 >= intervals * 2);
}

TEST_CASE("every normalizer and every reading gives the same slowdown; a monitor nearly the same") {
    std::mt19937_64 engine(seed);
    std::vector<double> const factors{1, 1, 1, 1, 1, 1, 1, 2};
    auto const ticks = history<std::int64_t>(factors, 20, 4, engine, 0.3);
    std::vector<attempt<double>> reals;
    for (auto const& a : ticks)
        reals.push_back({a.job, a.node, static_cast<double>(a.took), static_cast<double>(a.end)});
    auto const worst = [](auto const& r) {
        for (auto const& n : r.nodes())
            if (n.id == 7) return n.slow;
        return slowdown{};
    };
    auto const batch = rank_nodes(ticks, fields<std::int64_t>);
    CHECK(worst(batch).value == doctest::Approx(2).epsilon(0.1));
    CHECK(worst(batch).low > 1.1);
    CHECK(worst(rank_nodes(reals, fields<double>)).value ==
          doctest::Approx(worst(batch).value).epsilon(1e-6));
    CHECK(
        worst(rank_nodes(ticks, fields<std::int64_t>, rank_options{.normalizer = rank::robust_z{}})).value ==
        doctest::Approx(2).epsilon(0.15));
    CHECK(worst(rank_nodes(ticks, fields<std::int64_t>, rank_options{.normalizer = rank::ratio_to_median{}}))
              .value == doctest::Approx(2).epsilon(0.1));
    CHECK(worst(rank_nodes(ticks, fields<std::int64_t>, rank_options{.normalizer = rank::leave_one_out_z{}}))
              .low > 1.1);

    auto watch = monitor_of<attempt<std::int64_t>>(fields<std::int64_t>, {.window = 1000});
    for (auto const& a : ticks) watch.observe(a);
    watch.finish(3); // of a finished job only what it said is kept
    watch.finish(9);
    auto restored = monitor_of<attempt<std::int64_t>>(fields<std::int64_t>, {.window = 1000});
    REQUIRE(restored.restore(watch.serialize()) == status::ok);
    for (auto* m : {&watch, &restored}) {
        auto const& windowed = m->rank(1000);
        REQUIRE(windowed.nodes().size() == batch.nodes().size());
        for (std::size_t i = 0; i < batch.nodes().size(); ++i)
            CHECK(windowed.nodes()[i].slow.value ==
                  doctest::Approx(batch.nodes()[i].slow.value).epsilon(0.1));
    }
}

TEST_CASE("a fleet that differs by one per cent has nobody to avoid, however much is known") {
    std::mt19937_64 engine(seed);
    std::vector<double> factors;
    for (int n = 0; n < 20; ++n) factors.push_back(1 + 0.01 * std::normal_distribution<>()(engine));
    auto const r = rank_nodes(history<double>(factors, 500, 20, engine, 0.3), fields<double>);
    CHECK(r.levels() > 1); // provably slower some are
    CHECK(avoided(blacklist::slower_by{}, r) == 0);
    CHECK(avoided(blacklist::dominated{}, r) > 0);
}

TEST_CASE("over windows only what is plainly slow goes, unless the caller says otherwise") {
    std::mt19937_64 engine(seed);
    std::vector<double> const factors{1, 1, 1, 1, 1, 1, 1, 1, 1.3, 3};
    auto const r = rank_nodes(history<double>(factors, 40, 4, engine), fields<double>);
    blacklister at_sight{blacklist::slower_by{}, blacklist::at_most{10}};
    auto const at_once = at_sight.decide(r);
    CHECK(at_once.blacklisted().size() == 2);
    rolling_blacklister<int> by_itself;
    CHECK(by_itself.decide(r, 0).avoids(9));
    CHECK_FALSE(by_itself.decision().avoids(8));
    rolling_blacklister<int> told{blacklist::slower_by{}};
    CHECK(told.decide(r, 0).blacklisted().size() + told.decision().spared().size() == 2);
    // A margin makes the proof reach further.
    double const low = r.nodes()[0].slow.low;
    blacklister strict{blacklist::slower_by{.least_slowdown = low - 0.01, .margin = 2}};
    auto const none = strict.decide(r);
    CHECK(none.blacklisted().empty());
}

TEST_CASE("worst first, with a verdict that tells the slowdown; of two or three nodes too") {
    std::mt19937_64 engine(seed);
    auto const r = rank_nodes(history<double>({1, 1, 1, 1.4, 1, 3, 1, 1, 1, 1, 1, 1}, 20, 4, engine, 0.2),
                              fields<double>);
    auto const d = blacklister{}.decide(r);
    REQUIRE(d.blacklisted().size() == 2);
    CHECK(d.blacklisted()[0].id == 5);
    CHECK(d.blacklisted()[1].id == 3);
    CHECK(d.rule() == "slower_by");
    auto const& v = d.blacklisted()[1];
    CHECK(v.state == node_state::excluded);
    CHECK(v.causes == static_cast<std::uint8_t>(blacklist::cause::slow));
    CHECK(v.slow.value == doctest::Approx(1.4).epsilon(0.15));
    CHECK(v.value <= v.slow.low); // the proof is for all nodes at once
    CHECK(v.threshold == 1.1);
    CHECK(avoided(blacklist::slower_by{2.0}, r) == 1);
    CHECK(blacklister{}.decide(node_ranking<int>{}).note() == blacklist::selection_note::too_few_nodes);
    // Too few scores for an interval.
    auto const few = rank_nodes(history<double>({1, 1, 1, 9}, 1, 5, engine, 0.1), fields<double>);
    for (auto const& node : few.nodes()) CHECK_FALSE(node.slow.is_known());
    CHECK(avoided(blacklist::slower_by{}, few) == 0);
}

TEST_CASE("real histories: one culprit where there is one, nobody where nodes are shuffled") {
    std::mt19937_64 engine(seed);
    std::size_t names = 0, runs = 0;
    for (std::string const file : {"bytedance-AR", "hadoop-19jobs", "hadoop-gridmix-a", "hadoop-sls",
                                   "spark-groupon", "spark-speculation"}) {
        auto const path = straggle_test::shared_file("data/" + file + ".csv");
        if (!path) continue;
        std::vector<straggle_test::past_attempt> rows = straggle_test::read_history(*path);
        if (file == "bytedance-AR") {
            auto const d = blacklister{}.decide(rank_nodes(rows, straggle_test::past_fields));
            REQUIRE(d.blacklisted().size() == 1);
            CHECK(d.blacklisted()[0].id == "pp0-dp0");
            CHECK(d.blacklisted()[0].slow.low > 1.5); // on average: not all of its operations are slow
            CHECK(d.spared().empty());
        }
        for (int run = 0; run < 10; ++run, ++runs) {
            straggle_test::shuffle_nodes(rows, engine);
            auto const d = blacklister{}.decide(rank_nodes(rows, straggle_test::past_fields));
            names += d.blacklisted().size() + d.spared().size();
        }
    }
    MESSAGE(names, " names in ", runs, " shuffled histories");
    CHECK(names <= runs / 20);
}
