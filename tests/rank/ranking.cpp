// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/papers/dsb_2019.hpp>
#include <straggle/rank/rank_nodes.hpp>
#include <straggle/rank/ranking.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace straggle;

namespace {

struct attempt {
    std::optional<std::string> job;
    std::optional<std::string> node;
    std::optional<double> took;
    attempt_status status = attempt_status::success;
    std::optional<int> task{};
    std::optional<double> end{};
};
constexpr attempt_fields with_ends{.job = &attempt::job,
                                   .task = &attempt::task,
                                   .node = &attempt::node,
                                   .end = &attempt::end,
                                   .duration = &attempt::took,
                                   .status = &attempt::status};
constexpr attempt_fields without_ends{.job = &attempt::job,
                                      .task = &attempt::task,
                                      .node = &attempt::node,
                                      .duration = &attempt::took,
                                      .status = &attempt::status};

struct contract_broken {};
struct throwing_contracts {
    base::contract_handler before =
        base::set_contract_handler([](base::contract_violation const&) { throw contract_broken{}; });
    throwing_contracts() = default;
    throwing_contracts(throwing_contracts const&) = delete;
    ~throwing_contracts() { base::set_contract_handler(before); }
};

// Five tasks of one job on five nodes, and one more task that ran twice, on nodes "p" and "q".
std::vector<attempt> race(attempt p, attempt q) {
    std::vector<attempt> attempts;
    for (int i = 0; i < 5; ++i)
        attempts.push_back({"job", "n" + std::to_string(i), 10.0 + i, attempt_status::success, i, 100.0});
    p.node = "p";
    q.node = "q";
    attempts.push_back(p);
    attempts.push_back(q);
    return attempts;
}

// The nodes with exactly one score.
template <class Ranking>
std::set<std::string> scored_once(Ranking const& ranking) {
    std::set<std::string> names;
    for (auto const& n : ranking.unranked())
        if (n.n == 1) names.insert(n.id);
    return names;
}

} // namespace

TEST_CASE("nothing in, nothing out") {
    std::vector<attempt> const none;
    auto const ranking = rank_nodes(none, with_ends);
    CHECK(ranking.levels() == 0);
    CHECK(ranking.nodes().empty());
    CHECK(ranking.unranked().empty());
    CHECK(ranking.level(0).empty());
    CHECK(ranking.degenerate_jobs().empty());
    CHECK(ranking.fleet_size() == 0);
    CHECK(ranking.attempts() == attempt_counts{});
    CHECK(ranking.scored_attempts() == 0);
    CHECK(ranking.usable_jobs() == 0);
    node_ranking<std::string> const fresh;
    CHECK(fresh.levels() == 0);
    CHECK(fresh.fleet_size() == 0);
    throwing_contracts const handler;
    CHECK_THROWS_AS((void)ranking.level(1), contract_broken);
}

TEST_CASE("one record") {
    auto const ranking = rank_nodes(std::vector<attempt>{{"j", "n", 3.0}}, with_ends);
    CHECK(ranking.levels() == 0);
    REQUIRE(ranking.unranked().size() == 1);
    CHECK(ranking.unranked()[0].id == "n");
    CHECK(ranking.unranked()[0].n == 0);
    REQUIRE(ranking.degenerate_jobs().size() == 1);
    CHECK(ranking.degenerate_jobs()[0].id == "j");
    CHECK(ranking.degenerate_jobs()[0].attempts == 1);
    CHECK(ranking.degenerate_jobs()[0].reason == status::insufficient_evidence);
    CHECK(ranking.attempts().used == 1);
    CHECK(ranking.fleet_size() == 1);
}

TEST_CASE("a million equal durations: no spread, no ranking, no blame") {
    struct plain {
        int job, node;
        std::int64_t took;
    };
    std::vector<plain> attempts(1'000'000);
    for (int i = 0; i < 1'000'000; ++i)
        attempts[static_cast<std::size_t>(i)] = {0, i % 1000, 1'723'000'000'123};
    auto const ticks = rank_nodes(
        attempts, attempt_fields{.job = &plain::job, .node = &plain::node, .duration = &plain::took});
    auto const reals = rank_nodes(attempts, attempt_fields{.job = &plain::job,
                                                           .node = &plain::node,
                                                           .duration = [](plain const&) { return 0.1; }});
    for (auto const* ranking : {&ticks, &reals}) {
        CHECK(ranking->nodes().empty());
        CHECK(ranking->unranked().size() == 1000);
        REQUIRE(ranking->degenerate_jobs().size() == 1);
        CHECK(ranking->degenerate_jobs()[0].attempts == 1'000'000);
        CHECK(ranking->degenerate_jobs()[0].reason == status::no_spread);
        CHECK(ranking->attempts().used == 1'000'000);
        CHECK(ranking->scored_attempts() == 0);
    }
}

TEST_CASE("every record is accounted for, every rejection by its reason") {
    double const nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
    std::vector<attempt> attempts{{"j", "a", 1.0},
                                  {"j", "b", 2.0},
                                  {"j", "a", 3.0},
                                  {"j", "b", 4.0},
                                  {"j", "c", 5.0},
                                  {"j", "c", nan},
                                  {"j", "c", inf},
                                  {"j", "c", -1.0},
                                  {"j", "c", std::nullopt},
                                  {"j", std::nullopt, 5.0},
                                  {std::nullopt, "c", 5.0},
                                  {"j", "c", 5.0, attempt_status::failed},
                                  {"j", "c", nan, attempt_status::killed},
                                  {"j", "c", 5.0, attempt_status::killed},
                                  {"only bad ones", "never seen", nan}};
    auto const ranking = rank_nodes(attempts, without_ends);
    attempt_counts const& c = ranking.attempts();
    CHECK(c.seen == attempts.size());
    CHECK(c.used == 5);
    CHECK(c.failed == 1);
    CHECK(c.killed == 2);
    CHECK(c.superseded == 0);
    CHECK(c[rejection::not_finite] == 3);
    CHECK(c[rejection::negative_duration] == 1);
    CHECK(c[rejection::missing_time] == 1);
    CHECK(c[rejection::missing_node] == 1);
    CHECK(c[rejection::missing_job] == 1);
    CHECK(c.total_rejected() == 7);
    CHECK(c.seen == c.used + c.failed + c.killed + c.superseded + c.total_rejected());
    CHECK(ranking.scored_attempts() == 5);
    CHECK(ranking.fleet_size() == 3); // a node without a used attempt is not there
    CHECK(ranking.degenerate_jobs().empty());

    // A bad record never poisons a statistic: without them all numbers are the same bits.
    auto const clean = rank_nodes(std::vector(attempts.begin(), attempts.begin() + 5), without_ends);
    REQUIRE(clean.nodes().size() == ranking.nodes().size());
    for (std::size_t i = 0; i < clean.nodes().size(); ++i) {
        CHECK(clean.nodes()[i].id == ranking.nodes()[i].id);
        CHECK(clean.nodes()[i].ci == ranking.nodes()[i].ci);
        CHECK(clean.nodes()[i].seen == ranking.nodes()[i].seen);
    }
}

TEST_CASE("start and end the wrong way round, and durations no tick can hold") {
    struct timed {
        int job, node;
        std::int64_t start, end;
    };
    std::int64_t const least = std::numeric_limits<std::int64_t>::min(), most = -(least + 1);
    std::vector<timed> const attempts{{0, 0, 10, 9}, {0, 0, least, most}, {0, 1, -5, 5}};
    auto const ranking = rank_nodes(
        attempts,
        attempt_fields{.job = &timed::job, .node = &timed::node, .start = &timed::start, .end = &timed::end});
    CHECK(ranking.attempts()[rejection::end_before_start] == 1);
    CHECK(ranking.attempts()[rejection::out_of_range] == 1);
    CHECK(ranking.attempts().used == 1);
    CHECK(ranking.fleet_size() == 1);
}

TEST_CASE("degenerate jobs are listed in order of first appearance, with the reason") {
    std::vector<attempt> attempts;
    for (int i = 0; i < 4; ++i) attempts.push_back({"few", "a", 1.0 + i});
    for (int i = 0; i < 7; ++i) attempts.push_back({"good", "b", 1.0 + i});
    for (int i = 0; i < 6; ++i) attempts.push_back({"equal", "c", 1.0});
    attempts.push_back({"lone", "a", 2.0});
    auto const ranking = rank_nodes(attempts, without_ends);
    REQUIRE(ranking.degenerate_jobs().size() == 3);
    CHECK(ranking.degenerate_jobs()[0].id == "few");
    CHECK(ranking.degenerate_jobs()[0].attempts == 4);
    CHECK(ranking.degenerate_jobs()[0].reason == status::insufficient_evidence);
    CHECK(ranking.degenerate_jobs()[1].id == "equal");
    CHECK(ranking.degenerate_jobs()[1].attempts == 6);
    CHECK(ranking.degenerate_jobs()[1].reason == status::no_spread);
    CHECK(ranking.degenerate_jobs()[2].id == "lone");
    CHECK(ranking.usable_jobs() == 1);
    CHECK(ranking.scored_attempts() == 7);
    // Nodes that ran in degenerate jobs only are not lost.
    REQUIRE(ranking.unranked().size() == 2);
    CHECK(ranking.unranked()[0].id == "a");
    CHECK(ranking.unranked()[1].id == "c");
    CHECK(ranking.unranked()[0].n == 0);
    CHECK(ranking.unranked()[0].seen == 0);
    CHECK(ranking.unranked()[1].seen == 2);
    // For the paper two tasks are enough.
    auto const as_printed = rank_nodes(attempts, without_ends, papers::dsb_2019::ranking());
    CHECK(as_printed.degenerate_jobs().size() == 2);
}

TEST_CASE("the first completion of a task wins") {
    auto const who = [](attempt p, attempt q, auto const& fields) {
        auto const ranking = rank_nodes(race(p, q), fields);
        CHECK(ranking.attempts().seen == 7);
        CHECK(ranking.attempts().used == 6);
        CHECK(ranking.attempts().superseded == 1);
        CHECK(ranking.scored_attempts() == 6);
        auto const once = scored_once(ranking);
        CHECK(once.contains("p") != once.contains("q"));
        return once.contains("p") ? 'p' : 'q';
    };
    auto const at = [](double took, std::optional<double> end) {
        return attempt{"job", {}, took, attempt_status::success, 99, end};
    };
    SUBCASE("by end time") {
        CHECK(who(at(50, 7), at(20, 9), with_ends) == 'p');
        CHECK(who(at(50, 9), at(20, 7), with_ends) == 'q');
    }
    SUBCASE("equal ends: the first in the range") {
        CHECK(who(at(50, 7), at(20, 7), with_ends) == 'p');
    }
    SUBCASE("a known end comes before a missing one") {
        CHECK(who(at(50, {}), at(20, 7), with_ends) == 'q');
        CHECK(who(at(50, 7), at(20, {}), with_ends) == 'p');
        CHECK(who(at(50, {}), at(20, {}), with_ends) == 'p');
    }
    SUBCASE("an end that is not a number is a missing one") {
        CHECK(who(at(50, std::nan("")), at(20, 7), with_ends) == 'q');
        CHECK(who(at(50, 7), at(20, std::nan("")), with_ends) == 'p');
    }
    SUBCASE("without ends: the first in the range") {
        CHECK(who(at(50, 9), at(20, 7), without_ends) == 'p');
    }
}

TEST_CASE("only successes of the same task of the same job compete") {
    auto const at = [](std::optional<int> task, char const* job = "job",
                       attempt_status status = attempt_status::success) {
        return attempt{job, {}, 20.0, status, task, 7.0};
    };
    CHECK(rank_nodes(race(at(98), at(99)), with_ends).attempts().superseded == 0);
    CHECK(rank_nodes(race(at(99), at(99, "other")), with_ends).attempts().superseded == 0);
    CHECK(rank_nodes(race(at({}), at({})), with_ends).attempts().superseded == 0); // unknown: each its own
    auto const killed = rank_nodes(race(at(99, "job", attempt_status::killed), at(99)), with_ends);
    CHECK(killed.attempts().superseded == 0);
    CHECK(killed.attempts().killed == 1);
    CHECK(scored_once(killed).contains("q"));
    // A rejected attempt has not completed anything either.
    auto rejected = race(at(99), at(99));
    rejected[5].took = std::nan("");
    CHECK(rank_nodes(rejected, with_ends).attempts().superseded == 0);
}

TEST_CASE("three completions in any order: one is kept, two are superseded") {
    for (auto const& ends : {std::vector{3.0, 2.0, 1.0}, {1.0, 2.0, 3.0}, {2.0, 1.0, 3.0}, {2.0, 3.0, 1.0}}) {
        std::vector<attempt> attempts = race({"job", {}, 20.0, attempt_status::success, 99, ends[0]},
                                             {"job", {}, 30.0, attempt_status::success, 99, ends[1]});
        attempts.push_back({"job", "r", 40.0, attempt_status::success, 99, ends[2]});
        auto const ranking = rank_nodes(attempts, with_ends);
        CHECK(ranking.attempts().superseded == 2);
        std::string const winner = ends[0] == 1.0 ? "p" : ends[1] == 1.0 ? "q" : "r";
        CHECK(scored_once(ranking).contains(winner));
    }
}

TEST_CASE("every_success counts them all, as the paper does") {
    auto const p = attempt{"job", {}, 50.0, attempt_status::success, 99, 7.0};
    auto const q = attempt{"job", {}, 20.0, attempt_status::success, 99, 9.0};
    auto const ranking =
        rank_nodes(race(p, q), with_ends, rank_options{.counted = completions::every_success});
    CHECK(ranking.attempts().used == 7);
    CHECK(ranking.attempts().superseded == 0);
    CHECK(ranking.scored_attempts() == 7);
    CHECK(rank_nodes(race(p, q), with_ends, papers::dsb_2019::ranking()).attempts().used == 7);
}

TEST_CASE("a node whose every attempt was superseded has no used attempt and is not in the fleet") {
    auto const p = attempt{"job", {}, 50.0, attempt_status::success, 99, 7.0};
    auto const q = attempt{"job", {}, 20.0, attempt_status::success, 99, 9.0};
    CHECK(rank_nodes(race(p, q), with_ends).fleet_size() == 6);
    CHECK(rank_nodes(race(q, p), with_ends).fleet_size() == 6);
}

TEST_CASE("levels hold every ranked node once, weakest first, in order of first appearance") {
    struct plain {
        int job, node;
        double took;
    };
    std::mt19937_64 engine(11);
    for (rank::edge_rule const rule : {rank::edge_rule::closed, rank::edge_rule::open}) {
        std::vector<plain> attempts;
        for (int i = 0; i < 4000; ++i) {
            int const node = static_cast<int>(engine() % 70);
            attempts.push_back(
                {static_cast<int>(engine() % 25), node, static_cast<double>(engine() % 1000) + 15.0 * node});
        }
        auto const ranking = rank_nodes(
            attempts, attempt_fields{.job = &plain::job, .node = &plain::node, .duration = &plain::took},
            rank_options{.ranker = rank::p_cores(rule)});
        CHECK(ranking.edges() == rule);
        REQUIRE(ranking.levels() > 2);
        std::set<int> seen;
        std::size_t place = 0;
        for (std::size_t l = 0; l < ranking.levels(); ++l) {
            CHECK(!ranking.level(l).empty());
            std::uint32_t last = 0;
            for (auto const& node : ranking.level(l)) {
                CHECK(&node == &ranking.nodes()[place++]);
                CHECK(node.level == l);
                CHECK((&node == &ranking.level(l).front() || node.seen > last));
                last = node.seen;
                CHECK(seen.insert(node.id).second);
                // Peeling: everybody above level 0 is provably faster than somebody one level below.
                bool has_edge = l == 0;
                if (l > 0)
                    for (auto const& slower : ranking.level(l - 1))
                        has_edge = has_edge || node.ci.high <= slower.ci.low;
                CHECK(has_edge);
            }
        }
        CHECK(place == ranking.nodes().size());
        CHECK(seen.size() + ranking.unranked().size() == ranking.fleet_size());
        throwing_contracts const handler;
        CHECK_THROWS_AS((void)ranking.level(ranking.levels()), contract_broken);
    }
}

TEST_CASE("the edge rule decides on touching intervals") {
    struct fixed { // every node's interval is its mean and a whole unit above
        outcome<stats::interval> operator()(std::uint64_t, double mean, double) const noexcept {
            return stats::interval{mean, mean + 1};
        }
        stats::deviation_kind deviation() const noexcept { return stats::deviation_kind::population; }
    };
    struct as_is {
        status normalize(std::span<double>, std::span<double>) const { return status::ok; }
    };
    std::vector<attempt> const touching{{"j", "fast", 1.0}, {"j", "slow", 2.0}};
    auto const levels = [&](rank::edge_rule rule) {
        return rank_nodes(touching, without_ends,
                          rank_options{.normalizer = as_is{},
                                       .estimator = rank::mean_interval{fixed{}},
                                       .ranker = rank::p_cores(rule)})
            .levels();
    };
    CHECK(levels(rank::edge_rule::closed) == 2);
    CHECK(levels(rank::edge_rule::open) == 1);
}

TEST_CASE("a ranker of one's own decides on the levels, and has to count them") {
    struct by_place { // each node in a level of its own, as they appear
        std::size_t counted;
        outcome<std::size_t> levels(std::span<double const> low, std::span<double const>,
                                    std::span<std::uint32_t> level) {
            for (std::uint32_t i = 0; i < level.size(); ++i) level[i] = i;
            return counted == 0 ? low.size() : counted;
        }
    };
    std::vector<attempt> attempts;
    for (int i = 0; i < 24; ++i) attempts.push_back({"j", std::string(1, "dabc"[i % 4]), 1.0 + i});
    auto const ranking = rank_nodes(attempts, without_ends, rank_options{.ranker = by_place{0}});
    REQUIRE(ranking.levels() == 4);
    CHECK(ranking.level(0)[0].id == "d");
    CHECK(ranking.level(3)[0].id == "c");
    throwing_contracts const handler;
    CHECK_THROWS_AS((void)rank_nodes(attempts, without_ends, rank_options{.ranker = by_place{3}}),
                    contract_broken);
}

TEST_CASE("an estimator may go by slowdowns: intervals are theirs, and who has none is unranked") {
    std::vector<attempt> attempts;
    for (int job = 0; job < 12; ++job)
        for (int i = 0; i < 12; ++i)
            attempts.push_back({"j" + std::to_string(job),
                                i % 3 == 0   ? "slow"
                                : i % 3 == 1 ? "a"
                                             : "b",
                                (i % 3 == 0 ? 40.0 : 20.0) + (7 * i + job) % 5});
    for (int i = 0; i < 4; ++i) attempts.push_back({"j0", "new", 20.0 + i});
    auto const by_scores = rank_nodes(attempts, without_ends);
    auto const ranking =
        rank_nodes(attempts, without_ends, rank_options{.estimator = rank::slowdown_interval{}});
    REQUIRE(ranking.levels() == 2);
    REQUIRE(ranking.level(0).size() == 1);
    auto const& slow = ranking.level(0)[0];
    CHECK(slow.id == "slow");
    CHECK(slow.ci == stats::interval{slow.slow.low, slow.slow.high});
    CHECK(slow.slow.low > 1.5);
    CHECK(slow.slow == by_scores.level(0)[0].slow);
    CHECK(slow.mean == by_scores.level(0)[0].mean);
    REQUIRE(ranking.unranked().size() == 1);
    CHECK(ranking.unranked()[0].id == "new");
    CHECK(ranking.unranked()[0].n == 4);
    rank_options<rank::z_score, rank::slowdown_interval> without{.slowdowns = false};
    CHECK(rank_nodes(attempts, without_ends, without).levels() == 0);
}

TEST_CASE("an interval rule that gives no interval breaks the contract") {
    struct backward {
        double low, high;
        outcome<stats::interval> operator()(std::uint64_t, double, double) const noexcept {
            return stats::interval{low, high};
        }
        stats::deviation_kind deviation() const noexcept { return stats::deviation_kind::population; }
    };
    std::vector<attempt> attempts;
    for (int i = 0; i < 8; ++i) attempts.push_back({"j", i % 2 ? "a" : "b", 1.0 + i});
    throwing_contracts const handler;
    auto const rank = [&](double low, double high) {
        return rank_nodes(attempts, without_ends,
                          rank_options{.estimator = rank::mean_interval{backward{low, high}}});
    };
    CHECK_THROWS_AS((void)rank(2, 1), contract_broken);
    CHECK_THROWS_AS((void)rank(std::nan(""), 1), contract_broken);
    CHECK(rank(1, 2).levels() == 1);
}

TEST_CASE("a ranking can be copied, moved out of a ranker and kept") {
    std::vector<attempt> attempts;
    for (int i = 0; i < 8; ++i) attempts.push_back({"j", i % 2 ? "a" : "b", 1.0 + i});
    node_ranker<attempt, std::remove_cvref_t<decltype(without_ends)>> ranker(without_ends);
    CHECK(ranker.ranking().levels() == 0);
    auto const copy = ranker.rank(attempts);
    (void)ranker.rank(std::vector<attempt>{});
    CHECK(ranker.ranking().levels() == 0);
    CHECK(copy.nodes().size() == 2);
    (void)ranker.rank(attempts);
    auto const moved = std::move(ranker).ranking();
    CHECK(moved.nodes().size() == 2);
    CHECK(moved.nodes()[0].id == copy.nodes()[0].id);
}
