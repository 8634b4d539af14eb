// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#define LLVMFuzzerTestOneInput fuzz_one_log
#include "../fuzz/decision_log.cpp"
#undef LLVMFuzzerTestOneInput

#include "blacklist/windows.hpp"
#include "support/allocations.hpp"
#include "support/corpus.hpp"

#include <straggle/blacklist/blacklister.hpp>
#include <straggle/blacklist/dominated.hpp>
#include <straggle/blacklist/rolling_blacklister.hpp>
#include <straggle/blacklist/timed_limits.hpp>
#include <straggle/rank/rank_nodes.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace straggle;
using straggle_test::name_of;
using straggle_test::silent;
using straggle_test::window_of;

namespace {

using logged = straggle_rank::decision_record<std::string>;

// Twelve nodes; 3 and 7 are slow for a while, 5 always, and now and then a node has nothing to report.
std::vector<double> scores_of(int window) {
    std::mt19937_64 random(static_cast<std::uint64_t>(window) * 77 + 5);
    std::vector<double> scores;
    for (int node = 0; node < 12; ++node) {
        double score = static_cast<double>(random() % 1000) / 2500.0;
        if (node == 5 || ((node == 3 || node == 7) && window % 23 > 11)) score += 3;
        if (random() % 6 == 0) score = silent;
        scores.push_back(score);
    }
    return scores;
}

auto new_keeper() {
    return rolling_blacklister_of<std::string>(blacklist::dominated{}, blacklist::hysteresis<>{},
                                               blacklist::at_most(2), blacklist::rate_limit(0.5, 1),
                                               blacklist::at_most_slot_fraction<>(0.5));
}

std::vector<logged> history(int windows) {
    auto keeper = new_keeper();
    std::vector<logged> log;
    for (int w = 1; w <= windows; ++w) {
        auto const ranking = window_of(scores_of(w));
        keeper.decide(ranking, 10 * w);
        log.push_back(straggle_rank::record_of(ranking, keeper));
    }
    return log;
}

struct finding {
    std::size_t window = 0;
    straggle_rank::decision_difference what;
};
// Where a log and its replay first differ.
std::optional<finding> first_difference(std::vector<logged> const& log) {
    auto keeper = new_keeper();
    for (std::size_t i = 0; i < log.size(); ++i) {
        auto const difference = replay_decision(log[i], keeper);
        REQUIRE(difference.has_value());
        if (*difference) return finding{i, **difference};
    }
    return std::nullopt;
}

template <class Change>
std::optional<finding> after(std::vector<logged> log, Change&& change) {
    change(log);
    return first_difference(log);
}

// The first window with somebody in a list.
std::size_t first_with(std::vector<logged> const& log,
                       std::vector<straggle_rank::logged_verdict<std::string>> logged::* list) {
    std::size_t i = 0;
    while (i < log.size() && (log[i].*list).empty()) ++i;
    REQUIRE(i < log.size());
    return i;
}

// A ranking as deep as levels get: real intervals, points among them.
auto random_ranking(std::uint64_t seed) {
    struct task {
        int job, node;
        std::int64_t took;
    };
    std::mt19937_64 random(seed);
    std::vector<task> tasks;
    for (int i = 0; i < 600; ++i) {
        int const node = static_cast<int>(random() % 40);
        tasks.push_back(
            {i / 20, node, static_cast<std::int64_t>(random() % 5 + static_cast<unsigned>(node))});
    }
    constexpr attempt_fields fields{.job = &task::job, .node = &task::node, .duration = &task::took};
    return rank_nodes(tasks, fields,
                      rank_options{.ranker = rank::p_cores(seed % 2 == 0 ? rank::edge_rule::closed
                                                                         : rank::edge_rule::open)});
}

} // namespace

TEST_CASE("a ranking comes back from its nodes") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        auto const ranking = random_ranking(seed);
        CAPTURE(seed);
        REQUIRE(ranking.levels() > 1);
        std::vector<ranked_node<int>> nodes(ranking.nodes().begin(), ranking.nodes().end());
        std::vector<rank::unranked_node<int>> unranked(ranking.unranked().begin(), ranking.unranked().end());
        std::mt19937_64 random(seed);
        std::shuffle(nodes.begin(), nodes.end(), random); // the order does not matter, nor do levels
        std::reverse(unranked.begin(), unranked.end());
        for (auto& node : nodes) node.level = 99;
        auto const again = rank::ranking_from<int>(nodes, unranked, ranking.edges());
        REQUIRE(again.has_value());
        CHECK(again->levels() == ranking.levels());
        CHECK(again->edges() == ranking.edges());
        REQUIRE(again->nodes().size() == ranking.nodes().size());
        for (std::size_t i = 0; i < ranking.nodes().size(); ++i) {
            auto const &a = ranking.nodes()[i], &b = again->nodes()[i];
            CHECK(a.id == b.id);
            CHECK(a.n == b.n);
            CHECK(a.mean == b.mean);
            CHECK(a.sd == b.sd);
            CHECK(a.ci == b.ci);
            CHECK(a.level == b.level);
            CHECK(a.seen == b.seen);
        }
        REQUIRE(again->unranked().size() == ranking.unranked().size());
        for (std::size_t i = 0; i < ranking.unranked().size(); ++i) {
            CHECK(again->unranked()[i].id == ranking.unranked()[i].id);
            CHECK(again->unranked()[i].mean == ranking.unranked()[i].mean);
            CHECK(again->unranked()[i].seen == ranking.unranked()[i].seen);
        }
        for (std::size_t level = 0; level < ranking.levels(); ++level)
            CHECK(again->level(level).size() == ranking.level(level).size());
    }
}

TEST_CASE("no nodes make an empty ranking") {
    auto const ranking = rank::ranking_from<int>({}, {});
    REQUIRE(ranking.has_value());
    CHECK(ranking->levels() == 0);
    CHECK(ranking->fleet_size() == 0);
}

TEST_CASE("what cannot be a ranking is none") {
    using node = ranked_node<int>;
    double const nan = std::numeric_limits<double>::quiet_NaN();
    double const infinity = std::numeric_limits<double>::infinity();
    node const good{.id = 1, .n = 3, .mean = 1, .sd = 0.5, .ci = {0.5, 1.5}, .level = 0, .seen = 0};
    auto const reason = [&](auto&& change) {
        std::vector<node> nodes{good, good};
        std::vector<rank::unranked_node<int>> unranked{{.id = 9, .n = 1, .mean = 0, .seen = 2}};
        nodes[1].id = 2;
        nodes[1].seen = 1;
        change(nodes[1], unranked[0]);
        return rank::ranking_from<int>(nodes, unranked).reason();
    };
    CHECK(reason([](node&, auto&) {}) == status::ok);
    CHECK(reason([](node& n, auto&) { n.ci = {2, 1}; }) == status::out_of_domain);
    CHECK(reason([&](node& n, auto&) { n.ci.low = nan; }) == status::out_of_domain);
    CHECK(reason([&](node& n, auto&) { n.ci.high = infinity; }) == status::out_of_domain);
    CHECK(reason([&](node& n, auto&) { n.mean = nan; }) == status::out_of_domain);
    CHECK(reason([&](node& n, auto&) { n.sd = nan; }) == status::out_of_domain);
    CHECK(reason([](node& n, auto&) { n.sd = -1; }) == status::out_of_domain);
    CHECK(reason([](node& n, auto&) { n.n = 0; }) == status::out_of_domain);
    CHECK(reason([](node& n, auto&) { n.seen = 0; }) == status::out_of_domain);
    CHECK(reason([](node& n, auto&) { n.seen = 3; }) == status::out_of_domain);
    CHECK(reason([](node& n, auto&) { n.slow = {1.2, 1.1, 1.3, 40}; }) == status::ok);
    CHECK(reason([&](node& n, auto&) { n.slow = {1, 0, infinity, 2}; }) == status::ok);
    CHECK(reason([&](node& n, auto&) { n.slow.value = nan; }) == status::out_of_domain);
    CHECK(reason([](node& n, auto&) { n.slow = {0, 0, 2, 40}; }) == status::out_of_domain);
    CHECK(reason([&](node& n, auto&) { n.slow.low = nan; }) == status::out_of_domain);
    CHECK(reason([](node& n, auto&) { n.slow = {1.2, 1.4, 1.3, 40}; }) == status::out_of_domain);
    CHECK(reason([&](node& n, auto&) { n.slow.high = nan; }) == status::out_of_domain);
    CHECK(reason([&](node&, auto& u) { u.mean = infinity; }) == status::out_of_domain);
    CHECK(reason([](node&, auto& u) { u.seen = 4000000000; }) == status::out_of_domain);
}

TEST_CASE("a record holds the ranking and the decision") {
    auto const ranking = window_of({0.1, 5, silent, 0.2, 0, 6, 0.3, 0.1, 0, 0, 0.4, 0.2});
    auto keeper = rolling_blacklister_of<std::string>(
        blacklist::dominated{}, blacklist::escalating{.base = 3, .max = 8}, blacklist::at_most(1));
    auto const& decision = keeper.decide(ranking, 7);
    auto const r = straggle_rank::record_of(ranking, keeper);
    CHECK(r.window == 7);
    CHECK(r.edges == ranking.edges());
    CHECK(r.nodes.size() == 11);
    CHECK(r.rule == "dominated");
    CHECK(r.excluding == "escalating");
    CHECK(r.note == decision.note());
    REQUIRE(r.blacklisted.size() == 1);
    straggle_rank::logged_verdict<std::string> const& v = r.blacklisted[0];
    verdict<std::string> const& d = decision.blacklisted()[0];
    CHECK(v.id == name_of(5));
    CHECK(v.n == 4);
    CHECK(v.mean == d.mean);
    CHECK(v.sd == d.sd);
    CHECK(v.ci == d.ci);
    CHECK(v.level == d.level);
    CHECK(v.provably_faster == 10);
    CHECK(v.provably_slower == 0);
    CHECK(v.value == d.value);
    CHECK(v.threshold == d.threshold);
    CHECK(v.rule == "dominated");
    CHECK(v.spared_by.empty());
    CHECK(v.strikes == 1);
    CHECK(v.since == 7);
    CHECK(v.until == 10);
    REQUIRE(r.spared.size() == 1);
    CHECK(r.spared[0].id == name_of(1));
    CHECK(r.spared[0].spared_by == "at_most");
    CHECK(r.on_probation.empty());
    REQUIRE(r.exclusions.has_value());
    REQUIRE(r.exclusions->size() == 1);
    CHECK((*r.exclusions)[0].id == name_of(5));
    CHECK((*r.exclusions)[0].state == keeper.exclusion_of(name_of(5)));

    logged const plain = straggle_rank::record_of(ranking, decision, 3);
    CHECK(plain.window == 3);
    CHECK(plain.blacklisted == r.blacklisted);
    CHECK(!plain.exclusions.has_value());

    auto const once = blacklister(blacklist::dominated{}, record::unlimited{}).decide(ranking);
    CHECK(straggle_rank::record_of(ranking, once, 0).excluding.empty());
    CHECK(straggle_rank::record_of(ranking, once, 0).blacklisted.size() == 2);
}

TEST_CASE("a log is decided on again to the bit") {
    auto const log = history(200);
    first_with(log, &logged::blacklisted);
    first_with(log, &logged::on_probation);
    first_with(log, &logged::spared);
    CHECK(!first_difference(log));
}

TEST_CASE("without exclusions a log can be replayed, too") {
    auto log = history(60);
    for (logged& r : log) r.exclusions.reset();
    CHECK(!first_difference(log));
}

TEST_CASE("a log with a named fleet needs the fleet") {
    std::vector<std::string> fleet;
    for (std::size_t i = 0; i < 30; ++i) fleet.push_back(name_of(i));
    auto const decide = [&](auto&& use) {
        // A fifth of 30 nodes is 6; of the 12 that report it is 2.
        rolling_blacklister<std::string, blacklist::clearly_dominated> keeper;
        for (int w = 1; w <= 20; ++w) {
            auto const ranking = window_of({5, 5, 5, 5, 0, 0.1, 0, 0.2, 0.1, 0, 0.1, 0});
            keeper.decide(ranking, w, std::span<std::string const>(fleet));
            use(straggle_rank::record_of(ranking, keeper));
        }
    };
    rolling_blacklister<std::string, blacklist::clearly_dominated> with, without;
    std::size_t different = 0;
    decide([&](logged const& r) {
        CHECK(r.blacklisted.size() + r.on_probation.size() == 4);
        CHECK(!*straggle_rank::replay_decision(r, with, fleet));
        different += static_cast<std::size_t>((*straggle_rank::replay_decision(r, without)).has_value());
    });
    CHECK(different == 20);
}

TEST_CASE("what was changed in a log is found") {
    auto const log = history(60);
    auto const found_at = [&](std::size_t window, straggle_rank::decision_difference const& what,
                              auto&& change) {
        auto const found = after(log, [&](std::vector<logged>& l) { change(l[window]); });
        REQUIRE(found.has_value());
        CHECK(found->window == window);
        CHECK(found->what.list == what.list);
        CHECK(found->what.place == what.place);
        CHECK(found->what.field == what.field);
    };
    std::size_t const out = first_with(log, &logged::blacklisted);
    std::size_t const trial = first_with(log, &logged::on_probation);
    std::size_t const spared = first_with(log, &logged::spared);
    using verdicts = straggle_rank::logged_verdict<std::string>;
    auto const in_verdict = [&](std::string_view field, auto&& change) {
        found_at(out, {"blacklisted", 0, field}, [&](logged& r) { change(r.blacklisted[0]); });
    };
    in_verdict("id", [](verdicts& v) { v.id += "x"; });
    in_verdict("n", [](verdicts& v) { ++v.n; });
    in_verdict("mean", [](verdicts& v) { v.mean = std::nextafter(v.mean, 100.0); });
    in_verdict("sd", [](verdicts& v) { v.sd += 1; });
    in_verdict("ci", [](verdicts& v) { v.ci.low -= 1e-9; });
    in_verdict("level", [](verdicts& v) { ++v.level; });
    in_verdict("provably_faster", [](verdicts& v) { ++v.provably_faster; });
    in_verdict("provably_slower", [](verdicts& v) { ++v.provably_slower; });
    in_verdict("value", [](verdicts& v) { v.value += 1; });
    in_verdict("threshold", [](verdicts& v) { v.threshold += 1; });
    in_verdict("rule", [](verdicts& v) { v.rule = "whim"; });
    in_verdict("spared_by", [](verdicts& v) { v.spared_by = "at_most"; });
    in_verdict("strikes", [](verdicts& v) { ++v.strikes; });
    in_verdict("since", [](verdicts& v) { --v.since; });
    in_verdict("until", [](verdicts& v) { ++v.until; });
    in_verdict("probe_slots", [](verdicts& v) { ++v.probe_slots; });
    found_at(out, {"blacklisted", log[out].blacklisted.size(), "count"},
             [](logged& r) { r.blacklisted.push_back(r.blacklisted[0]); });
    found_at(out, {"blacklisted", 0, "count"}, [](logged& r) { r.blacklisted.clear(); });
    found_at(trial, {"on_probation", 0, "strikes"}, [](logged& r) { ++r.on_probation[0].strikes; });
    found_at(spared, {"spared", 0, "spared_by"}, [](logged& r) { r.spared[0].spared_by = "unlimited"; });
    found_at(9, {"", 0, "rule"}, [](logged& r) { r.rule = "whim"; });
    found_at(9, {"", 0, "excluding"}, [](logged& r) { r.excluding = "whim"; });
    found_at(9, {"", 0, "note"},
             [](logged& r) { r.note = blacklist::selection_note::unreachable_threshold; });
    found_at(9, {"nodes", 2, "level"}, [](logged& r) { r.nodes[2].level += 5; });
    found_at(9, {"nodes", 0, "id"}, [](logged& r) { std::swap(r.nodes[0], r.nodes.back()); });
    found_at(out, {"exclusions", 0, "state"},
             [](logged& r) { (*r.exclusions)[0].state.state = node_state::on_probation; });
    found_at(out, {"exclusions", 0, "probe_sum"}, [](logged& r) { (*r.exclusions)[0].state.probe_sum += 1; });
    found_at(out, {"exclusions", 0, "weak_streak"},
             [](logged& r) { ++(*r.exclusions)[0].state.weak_streak; });
}

TEST_CASE("evidence that was changed makes another decision") {
    auto const log = history(60);
    std::size_t const out = first_with(log, &logged::blacklisted);
    std::string const who = log[out].blacklisted[0].id;
    auto const found = after(log, [&](std::vector<logged>& l) {
        for (auto& node : l[out].nodes)
            if (node.id == who) node.mean = node.ci.low = node.ci.high = -10;
    });
    REQUIRE(found.has_value());
    CHECK(found->window == out);
}

TEST_CASE("a record that cannot be of any decision changes nothing") {
    auto const log = history(30);
    auto keeper = new_keeper();
    REQUIRE(!*replay_decision(log[0], keeper));
    auto const refuses = [&](logged const& r) {
        CHECK(straggle_rank::replay_decision(r, keeper).reason() == status::out_of_domain);
        CHECK(keeper.decision().window() == log[0].window);
    };
    refuses(log[0]); // again
    logged twins = log[1];
    twins.nodes[1].id = twins.nodes[0].id;
    refuses(twins);
    logged wrong_way = log[1];
    wrong_way.nodes[1].ci = {1, 0};
    refuses(wrong_way);
    logged backwards = log[1];
    backwards.window = -5;
    refuses(backwards);
    CHECK(!*replay_decision(log[1], keeper));
}

TEST_CASE("windows before zero are windows") {
    rolling_blacklister<std::string, blacklist::clearly_dominated> original, again;
    for (std::int64_t w = -3; w < 3; ++w) {
        auto const ranking = window_of({0.1, 5, 0.3, 0.2, 0, 0.1});
        original.decide(ranking, w);
        auto const difference = replay_decision(straggle_rank::record_of(ranking, original), again);
        REQUIRE(difference.has_value());
        CHECK(!*difference);
    }
}

TEST_CASE("writing into the same logged allocates nothing in the steady state") {
    auto keeper = new_keeper();
    auto const ranking = window_of(scores_of(3));
    logged r;
    auto const write = [&] { straggle_rank::record_of(ranking, keeper.decision(), 3, r); };
    for (int w = 1; w < 40; ++w) keeper.decide(window_of(scores_of(w)), w);
    write();
    CHECK(straggle_test::allocations_during(write) == 0);
}

TEST_CASE("decision log: the corpus of the fuzzer") {
    straggle_test::replay_corpus(__FILE__, "decision_log", fuzz_one_log);
}
