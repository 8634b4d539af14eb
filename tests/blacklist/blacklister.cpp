// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/blacklist/blacklister.hpp>
#include <straggle/papers/dsb_2019.hpp>

#include <support/allocations.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace straggle;

namespace {

struct score {
    std::string node;
    double value;
};
// Durations already are scores, and a node's interval is mean +- deviation: any interval can be had from the
// scores at its ends.
struct as_is {
    status normalize(std::span<double>, std::span<double>) const { return status::ok; }
};
struct one_deviation {
    outcome<stats::interval> operator()(std::uint64_t n, double mean, double sd) const noexcept {
        if (n < 2) return status::insufficient_evidence;
        return stats::interval{mean - sd, mean + sd};
    }
    stats::deviation_kind deviation() const noexcept { return stats::deviation_kind::population; }
};
constexpr attempt_fields fields{
    .job = [](score const&) { return 0; }, .node = &score::node, .duration = &score::value};

using ranking_type = node_ranking<std::string, int>;

std::string name_of(std::size_t i) {
    return "a-node-with-a-name-too-long-for-a-small-string-" + std::to_string(1000 + i);
}

ranking_type ranking_of(std::vector<stats::interval> const& intervals,
                        rank::edge_rule rule = rank::edge_rule::closed) {
    std::vector<score> scores;
    for (std::size_t i = 0; i < intervals.size(); ++i) {
        scores.push_back({name_of(i), intervals[i].low});
        scores.push_back({name_of(i), intervals[i].high});
    }
    return rank_nodes(scores, fields,
                      rank_options{.normalizer = as_is{},
                                   .estimator = rank::mean_interval{one_deviation{}},
                                   .ranker = rank::p_cores(rule)});
}

// The same with slowdowns: a score of 1 is a tenth.
ranking_type with_slowdowns(ranking_type const& ranking) {
    std::vector<ranked_node<std::string>> nodes(ranking.nodes().begin(), ranking.nodes().end());
    for (auto& node : nodes)
        node.slow = {1 + node.mean / 10, 1 + node.ci.low / 10, 1 + node.ci.high / 10, node.n};
    return *rank::ranking_from<std::string, int>(nodes, ranking.unranked(), ranking.edges());
}

std::vector<stats::interval> random_intervals(std::mt19937_64& engine, std::size_t n) {
    std::vector<stats::interval> intervals;
    for (std::size_t i = 0; i < n; ++i) {
        double const low = static_cast<double>(engine() % 30);
        intervals.push_back({low, low + 2.0 * static_cast<double>(engine() % 4)}); // points, too
    }
    return intervals;
}

template <class Decision>
std::vector<std::string> names(Decision const& decision) {
    std::vector<std::string> result;
    for (auto const& v : decision.blacklisted()) result.push_back(v.id);
    return result;
}

// Selects no node, and says so.
struct never_weak {
    static constexpr std::string_view name = "never_weak";
    template <class Node>
    blacklist::selection_note select(std::span<Node const>, blacklist::selection_scratch&,
                                     std::vector<blacklist::candidate>&) const {
        return blacklist::selection_note::unreachable_threshold;
    }
};

// What is written as the type of a member is what is deduced.
static_assert(std::same_as<decltype(blacklister{}), blacklister<>>);
static_assert(std::same_as<decltype(blacklister()), blacklister<>>);
static_assert(
    std::same_as<decltype(blacklister(blacklist::weakest_level{})), blacklister<blacklist::weakest_level>>);
static_assert(std::same_as<decltype(blacklister(blacklist::top_k_intersection(3))),
                           blacklister<blacklist::top_k_intersection<>>>);
static_assert(std::same_as<decltype(blacklister(blacklist::weakest_level{}, blacklist::at_most(3))),
                           blacklister<blacklist::weakest_level, blacklist::at_most>>);
static_assert(
    std::same_as<decltype(blacklister(blacklist::dominated{}, blacklist::at_most(3), blacklist::fail_open())),
                 blacklister<blacklist::dominated, blacklist::at_most, blacklist::fail_open>>);

} // namespace

TEST_CASE("provably faster and slower are counted as the edge rule has it") {
    std::mt19937_64 engine(1);
    for (rank::edge_rule const rule : {rank::edge_rule::closed, rank::edge_rule::open}) {
        for (int trial = 0; trial < 300; ++trial) {
            auto const ranking = ranking_of(random_intervals(engine, 1 + engine() % 25), rule);
            // Everybody is a candidate.
            auto const decision =
                blacklister(blacklist::top_k_intersection(1000), record::unlimited{}).decide(ranking);
            auto const all =
                blacklister(blacklist::weakest_level{.when_all_overlap = true}, record::unlimited{})
                    .decide(ranking);
            CHECK(decision.blacklisted().size() == ranking.level(0).size());
            CHECK(all.blacklisted().size() == ranking.level(0).size());
            auto const edge = [&](ranked_node<std::string> const& a, ranked_node<std::string> const& b) {
                if (rule == rank::edge_rule::open) return a.ci.high < b.ci.low;
                bool const same_point = a.ci.is_point() && a.ci == b.ci;
                return a.ci.high <= b.ci.low && !same_point;
            };
            detail::interval_census census;
            census.take(ranking.nodes(), rule);
            for (auto const& node : ranking.nodes()) {
                std::size_t faster = 0, slower = 0;
                for (auto const& other : ranking.nodes()) {
                    faster += edge(other, node);
                    slower += edge(node, other);
                }
                CHECK(census.faster(node.ci) == faster);
                CHECK(census.slower(node.ci) == slower);
                for (auto const& v : decision.blacklisted()) {
                    if (v.id != node.id) continue;
                    CHECK(v.provably_faster == faster);
                    CHECK(v.provably_slower == slower);
                    CHECK(slower == 0); // level 0
                }
            }
        }
    }
}

TEST_CASE("blacklisted and spared are each worst first, and together all the weak") {
    std::mt19937_64 engine(2);
    for (int trial = 0; trial < 100; ++trial) {
        auto const ranking = ranking_of(random_intervals(engine, 20));
        auto const all = blacklister(blacklist::dominated{.q = 0.2}, record::unlimited{}).decide(ranking);
        auto const some = blacklister(blacklist::dominated{.q = 0.2}, blacklist::at_most(2)).decide(ranking);
        CHECK(all.spared().empty());
        CHECK(some.blacklisted().size() == std::min<std::size_t>(2, all.blacklisted().size()));
        CHECK(some.blacklisted().size() + some.spared().size() == all.blacklisted().size());
        for (std::size_t i = 0; i < all.blacklisted().size(); ++i) {
            std::size_t const taken = some.blacklisted().size();
            auto const& v = i < taken ? some.blacklisted()[i] : some.spared()[i - taken];
            CHECK(v.id == all.blacklisted()[i].id);
            CHECK(v.spared_by == (i < taken ? "" : "at_most"));
            if (i > 0) CHECK(all.blacklisted()[i - 1].mean >= all.blacklisted()[i].mean);
        }
    }
}

TEST_CASE("an empty ranking, and a ranking in which nobody is weak") {
    blacklister b;
    auto const none = b.decide(ranking_type{});
    CHECK(none.blacklisted().empty());
    CHECK(none.spared().empty());
    CHECK(none.note() == blacklist::selection_note::too_few_nodes);
    auto const overlap = b.decide(ranking_of({{0, 2}, {1, 3}, {1, 2}}));
    CHECK(overlap.blacklisted().empty());
    CHECK(overlap.note() == blacklist::selection_note::all_overlap);
    CHECK(overlap.rule() == "slower_by");
    std::mt19937_64 engine(3);
    auto const inert =
        blacklister(never_weak{}, record::unlimited{}).decide(ranking_of(random_intervals(engine, 6)));
    CHECK(inert.note() == blacklist::selection_note::unreachable_threshold);
}

TEST_CASE("the defaults: slower by a tenth, and a fifth of the slots") {
    std::vector<stats::interval> intervals(10, stats::interval{0, 2});
    for (std::size_t i : {2u, 5u, 8u})
        intervals[i] = {10.0 + static_cast<double>(i), 13.0 + static_cast<double>(i)};
    auto const decision = blacklister{}.decide(with_slowdowns(ranking_of(intervals)));
    CHECK(names(decision) == std::vector{name_of(8), name_of(5)});
    REQUIRE(decision.spared().size() == 1);
    CHECK(decision.spared()[0].id == name_of(2));
    CHECK(decision.spared()[0].spared_by == "share_of_slots");
}

TEST_CASE("a decision that is filled again holds nothing of the one before") {
    blacklister b(blacklist::dominated{}, blacklist::at_most(2));
    blacklist_decision<std::string> decision;
    std::vector<stats::interval> intervals(10, stats::interval{0, 2});
    intervals[1] = intervals[2] = intervals[3] = {10, 12};
    b.decide(ranking_of(intervals), decision);
    CHECK(decision.blacklisted().size() == 2);
    CHECK(decision.spared().size() == 1);
    b.decide(ranking_of(std::vector<stats::interval>(10, stats::interval{0, 2})), decision);
    CHECK(decision.blacklisted().empty());
    CHECK(decision.spared().empty());
    CHECK(decision.note() == blacklist::selection_note::all_overlap);
    intervals[1] = intervals[3] = {0, 2};
    b.decide(ranking_of(intervals), decision);
    CHECK(names(decision) == std::vector{name_of(2)});
    CHECK(decision.spared().empty());
}

TEST_CASE("deciding again into the same decision allocates nothing") {
    std::mt19937_64 engine(4);
    auto const first_letters = [](std::string const& id) { return std::string_view(id).substr(0, 30); };
    auto const check = [&](auto blacklister) {
        auto const many = with_slowdowns(ranking_of(random_intervals(engine, 200)));
        blacklist_decision<std::string> decision;
        blacklister.decide(many, decision);
        CHECK(decision.blacklisted().size() + decision.spared().size() > 2);
        CHECK(straggle_test::allocations_during([&] { blacklister.decide(many, decision); }) == 0);
        // Fewer weak nodes in between do not give the memory back.
        auto const calm =
            with_slowdowns(ranking_of(std::vector<stats::interval>(200, stats::interval{0, 2})));
        blacklister.decide(calm, decision);
        CHECK(straggle_test::allocations_during([&] { blacklister.decide(many, decision); }) == 0);
    };
    SUBCASE("the defaults") {
        check(blacklister{});
    }
    SUBCASE("level 0") {
        check(blacklister(blacklist::weakest_level{}, record::unlimited{}));
    }
    SUBCASE("false discoveries and every limit") {
        check(blacklister(blacklist::dominated_fdr{}, blacklist::at_most(9),
                          blacklist::at_most_slot_fraction(0.9), blacklist::at_least_healthy_slots(1),
                          blacklist::fail_open(1.0, 0.1), blacklist::one_per_domain(first_letters)));
    }
    SUBCASE("top k") {
        check(blacklister(blacklist::top_k_intersection(3), blacklist::at_most(3)));
    }
}

TEST_CASE("dsb_2019: without number all of level 0 goes, without any limit") {
    auto const ranking = ranking_of({{0, 1}, {5, 7}, {5, 8}, {6, 8}, {5, 9}});
    auto const decision = papers::dsb_2019::blacklist().decide(ranking);
    CHECK(decision.rule() == "weakest_level");
    CHECK(decision.blacklisted().size() == 4);
    CHECK(decision.spared().empty());
    // All overlap: "we can either blacklist no nodes or specify a certain number".
    auto const overlap = ranking_of({{0, 4}, {1, 5}, {2, 6}});
    auto const nobody = papers::dsb_2019::blacklist().decide(overlap);
    CHECK(nobody.blacklisted().empty());
    std::mt19937_64 engine(5);
    auto const two = papers::dsb_2019::blacklist(2, engine).decide(overlap);
    CHECK(two.blacklisted().size() == 2);
}

TEST_CASE("dsb_2019: with number at most k, drawn by the caller's engine") {
    // Level 0 has four; by mean 3 2 1 0, by deviation 0 1 2 3: k = 2 leaves none common, all four single.
    auto const ranking = ranking_of({{10, 30}, {12, 29}, {14, 28}, {16, 27}, {1, 2}});
    REQUIRE(ranking.level(0).size() == 4);
    std::set<std::set<std::string>> seen;
    std::mt19937_64 engine(6);
    for (int i = 0; i < 200; ++i) {
        auto const chosen = names(papers::dsb_2019::blacklist(2, engine).decide(ranking));
        CHECK(chosen.size() == 2);
        seen.insert({chosen.begin(), chosen.end()});
    }
    CHECK(seen.size() == 6); // every pair of four
    auto const four = papers::dsb_2019::blacklist(9, engine).decide(ranking);
    CHECK(four.blacklisted().size() == 4);
}

TEST_CASE("dsb_2019: its options are those the paper prints") {
    auto const options = papers::dsb_2019::ranking();
    CHECK(options.normalizer.min_tasks == 2);
    CHECK(options.estimator.rule.deviation() == stats::deviation_kind::population);
    CHECK(options.ranker.rule() == rank::edge_rule::closed);
    CHECK(options.counted == completions::every_success);
    auto const wide = papers::dsb_2019::ranking(0.99).estimator.rule(10, 0.0, 1.0);
    auto const usual = options.estimator.rule(10, 0.0, 1.0);
    REQUIRE(wide);
    REQUIRE(usual);
    // t(0.975, 9) = 2.262157163, t(0.995, 9) = 3.249835542 (tables)
    CHECK(usual->high == doctest::Approx(2.262157163 / std::sqrt(10.0)).epsilon(1e-9));
    CHECK(wide->high == doctest::Approx(3.249835542 / std::sqrt(10.0)).epsilon(1e-9));
}
