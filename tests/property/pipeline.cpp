// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// What must hold from records to decision, whatever the fleet. The seed is printed with every failure; the
// environment variable STRAGGLE_SEED replaces the fixed one.

#include <straggle/blacklist/blacklister.hpp>
#include <straggle/blacklist/dominated.hpp>
#include <straggle/blacklist/slower_by.hpp>
#include <straggle/blacklist/top_k_intersection.hpp>
#include <straggle/rank/normalize.hpp>
#include <straggle/rank/rank_nodes.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace straggle;

namespace {

struct attempt {
    int job;
    int node;
    std::int64_t took;
};
constexpr attempt_fields ticks{.job = &attempt::job, .node = &attempt::node, .duration = &attempt::took};
constexpr attempt_fields reals{.job = &attempt::job,
                               .node = &attempt::node,
                               .duration = [](attempt const& a) { return static_cast<double>(a.took) / 3; }};

std::uint64_t first_seed() {
    char const* const given = std::getenv("STRAGGLE_SEED");
    return given ? std::strtoull(given, nullptr, 10) : 20'190'717;
}

struct fleet {
    std::vector<attempt> attempts;
    int jobs, nodes;
};

// Jobs of any length, some too small, some without spread; nodes of any speed, some hardly used.
fleet random_fleet(std::mt19937_64& engine) {
    auto const up_to = [&](int most) { return 1 + static_cast<int>(engine() % static_cast<unsigned>(most)); };
    fleet f{{}, up_to(30), up_to(30)};
    std::lognormal_distribution<double> noise(0.0, 0.4);
    std::vector<double> speed(static_cast<std::size_t>(f.nodes));
    for (double& s : speed) s = engine() % 6 == 0 ? 1.8 : 1.0;
    for (int job = 0; job < f.jobs; ++job) {
        double const usual = std::pow(10.0, 2 + static_cast<double>(engine() % 5));
        bool const equal = engine() % 10 == 0;
        for (int task = up_to(40); task > 0; --task) {
            int const node = std::min(up_to(f.nodes), up_to(f.nodes)) - 1; // the last ones seldom
            double const took = equal ? usual : usual * speed[static_cast<std::size_t>(node)] * noise(engine);
            f.attempts.push_back({job, node, static_cast<std::int64_t>(took)});
        }
    }
    std::ranges::shuffle(f.attempts, engine);
    return f;
}

template <class Property>
void for_random_fleets(Property&& property) {
    for (std::uint64_t seed = first_seed(), end = seed + 60; seed < end; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 engine(seed);
        property(random_fleet(engine), engine);
    }
}

// Per node n, mean, deviation, interval and level; n alone for unranked ones.
using numbers = std::map<int, std::vector<double>>;

template <class Ranking>
numbers numbers_of(Ranking const& ranking) {
    numbers result;
    for (auto const& n : ranking.nodes())
        result[n.id] = {static_cast<double>(n.n),    n.mean, n.sd, n.ci.low, n.ci.high,
                        static_cast<double>(n.level)};
    for (auto const& n : ranking.unranked()) result[n.id] = {static_cast<double>(n.n)};
    return result;
}

// Levels and decisions may flip where two intervals all but touch.
template <class Ranking>
bool has_near_ties(Ranking const& ranking) {
    for (auto const& a : ranking.nodes())
        for (auto const& b : ranking.nodes())
            if (std::fabs(a.ci.high - b.ci.low) < 1e-9 && a.id != b.id) return true;
    return false;
}

void check_close(numbers const& a, numbers const& b, double tolerance) {
    REQUIRE(a.size() == b.size());
    for (auto const& [id, x] : a) {
        auto const& y = b.at(id);
        REQUIRE(x.size() == y.size());
        CHECK(x.front() == y.front());
        CHECK(x.back() == y.back());
        for (std::size_t k = 1; k + 1 < x.size(); ++k) CHECK(std::fabs(x[k] - y[k]) <= tolerance);
    }
}

template <class Blacklister, class Ranking>
std::set<int> blacklisted_by(Blacklister avoid, Ranking const& ranking) {
    std::set<int> ids;
    auto const decision = avoid.decide(ranking);
    for (auto const& v : decision.blacklisted()) ids.insert(v.id);
    return ids;
}
template <class Ranking>
std::set<int> blacklisted_by_default(Ranking const& ranking) {
    return blacklisted_by(blacklister{}, ranking);
}

} // namespace

TEST_CASE("the order of the records changes nothing") {
    for_random_fleets([](fleet f, std::mt19937_64& engine) {
        auto const before = rank_nodes(f.attempts, ticks);
        auto const real_before = rank_nodes(f.attempts, reals);
        std::ranges::shuffle(f.attempts, engine);
        auto const after = rank_nodes(f.attempts, ticks);
        CHECK(numbers_of(before) == numbers_of(after)); // bits
        CHECK(before.attempts() == after.attempts());
        CHECK(before.usable_jobs() == after.usable_jobs());
        CHECK(before.degenerate_jobs().size() == after.degenerate_jobs().size());
        CHECK(blacklisted_by_default(before) == blacklisted_by_default(after));
        if (!has_near_ties(real_before))
            check_close(numbers_of(real_before), numbers_of(rank_nodes(f.attempts, reals)), 1e-12);
    });
}

TEST_CASE("the names of nodes and jobs change nothing") {
    for_random_fleets([](fleet const& f, std::mt19937_64&) {
        auto const by_number = rank_nodes(f.attempts, ticks);
        auto const by_name = rank_nodes(
            f.attempts,
            attempt_fields{.job = [](attempt const& a) { return "job " + std::to_string(a.job * 7919 % 31); },
                           .node = [](attempt const& a) { return std::to_string(-a.node) + ".rack"; },
                           .duration = &attempt::took});
        REQUIRE(by_name.nodes().size() == by_number.nodes().size());
        for (std::size_t i = 0; i < by_name.nodes().size(); ++i) {
            auto const& a = by_name.nodes()[i];
            auto const& b = by_number.nodes()[i];
            CHECK(a.id == std::to_string(-b.id) + ".rack");
            CHECK(a.ci == b.ci);
            CHECK(a.level == b.level);
            CHECK(a.seen == b.seen);
        }
        auto const decided_by_name = blacklister{}.decide(by_name);
        auto const decided_by_number = blacklister{}.decide(by_number);
        REQUIRE(decided_by_name.blacklisted().size() == decided_by_number.blacklisted().size());
        for (std::size_t i = 0; i < decided_by_name.blacklisted().size(); ++i)
            CHECK(decided_by_name.blacklisted()[i].mean == decided_by_number.blacklisted()[i].mean);
    });
}

TEST_CASE("the unit of time changes nothing") {
    for_random_fleets([](fleet const& f, std::mt19937_64&) {
        auto const before = rank_nodes(f.attempts, reals);
        auto const seconds =
            attempt_fields{.job = &attempt::job, .node = &attempt::node, .duration = [](attempt const& a) {
                               return static_cast<double>(a.took) / 3 * 0x1p-10;
                           }};
        auto const after = rank_nodes(f.attempts, seconds);
        CHECK(numbers_of(before) == numbers_of(after)); // a power of two: bits
        CHECK(blacklisted_by_default(before) == blacklisted_by_default(after));
        auto const tick_ranking = rank_nodes(f.attempts, ticks);
        if (has_near_ties(tick_ranking)) return;
        auto finer = f.attempts;
        for (attempt& a : finer) a.took *= 1000;
        auto const fine = rank_nodes(finer, ticks);
        check_close(numbers_of(tick_ranking), numbers_of(fine), 1e-12);
        CHECK(blacklisted_by_default(tick_ranking) == blacklisted_by_default(fine));
    });
}

TEST_CASE("a constant added to all tasks of a job changes no score, and makes nobody slower") {
    for_random_fleets([](fleet f, std::mt19937_64& engine) {
        auto const before = rank_nodes(f.attempts, ticks);
        std::vector<std::int64_t> more(static_cast<std::size_t>(f.jobs));
        for (auto& m : more) m = static_cast<std::int64_t>(engine() % 1'000'000'000'000);
        for (attempt& a : f.attempts) a.took += more[static_cast<std::size_t>(a.job)];
        auto const after = rank_nodes(f.attempts, ticks);
        CHECK(numbers_of(before) == numbers_of(after)); // exact sums: bits
        blacklister const by_scores{blacklist::dominated{}};
        CHECK(blacklisted_by(by_scores, before) == blacklisted_by(by_scores, after));
        for (auto const& node : after.nodes()) // a larger part of each time is the same everywhere
            if (node.slow.is_known()) CHECK(std::fabs(node.slow.value - 1) < 1e-2);
    });
}

TEST_CASE("every attempt is accounted for") {
    for_random_fleets([](fleet const& f, std::mt19937_64&) {
        auto const ranking = rank_nodes(f.attempts, ticks);
        CHECK(ranking.attempts().seen == f.attempts.size());
        CHECK(ranking.attempts().used == f.attempts.size());
        std::uint64_t scored = 0, degenerate = 0;
        for (auto const& n : ranking.nodes()) scored += n.n;
        for (auto const& n : ranking.unranked()) scored += n.n;
        for (auto const& j : ranking.degenerate_jobs()) degenerate += j.attempts;
        CHECK(scored == ranking.scored_attempts());
        CHECK(scored + degenerate == f.attempts.size());
        CHECK(ranking.usable_jobs() + ranking.degenerate_jobs().size() <= static_cast<std::size_t>(f.jobs));
        CHECK(ranking.fleet_size() <= static_cast<std::size_t>(f.nodes));
    });
}

TEST_CASE("the scores of a job have mean 0 and deviation 1, and so has the whole fleet") {
    for_random_fleets([](fleet const& f, std::mt19937_64&) {
        auto const scores = rank::normalize(f.attempts, ticks);
        std::vector<double> sum(scores.jobs.size()), squares(scores.jobs.size()), count(scores.jobs.size());
        for (auto const& a : scores.attempts) {
            sum[a.job] += a.score;
            squares[a.job] += a.score * a.score;
            ++count[a.job];
        }
        for (std::size_t j = 0; j < count.size(); ++j) {
            CHECK(std::fabs(sum[j]) < 1e-11);
            CHECK(squares[j] == doctest::Approx(count[j]).epsilon(1e-12));
        }
        // And the ranking is made of these scores.
        std::map<int, std::vector<double>> by_node;
        for (auto const& a : scores.attempts) by_node[scores.nodes[a.node]].push_back(a.score);
        auto const ranking = rank_nodes(f.attempts, ticks);
        for (auto const& node : ranking.nodes()) {
            auto const& own = by_node.at(node.id);
            REQUIRE(own.size() == node.n);
            double total = 0;
            for (double z : own) total += z;
            CHECK(node.mean == doctest::Approx(total / static_cast<double>(node.n)).epsilon(1e-12));
            CHECK(node.ci.low <= node.mean);
            CHECK(node.mean <= node.ci.high);
        }
        for (auto const& node : ranking.unranked()) CHECK(node.n < 2);
    });
}

TEST_CASE("a node whose tasks of a job all get slower by the same has a worse mean") {
    // In one job: mean score of a group of b others out of n, distance D: (b/n) D / sqrt(W + (n-b)b/n^2 D^2),
    // which rises with D.
    for_random_fleets([](fleet f, std::mt19937_64& engine) {
        int const node = f.attempts[engine() % f.attempts.size()].node;
        auto const before = numbers_of(rank_nodes(f.attempts, ticks));
        for (attempt& a : f.attempts)
            if (a.node == node) a.took += 5000;
        auto const after = numbers_of(rank_nodes(f.attempts, ticks));
        auto const &x = before.at(node), &y = after.at(node);
        if (x.size() == 6 && y.size() == 6 && x[0] == y[0]) CHECK(y[1] >= x[1] - 1e-12);
    });
}

TEST_CASE("running everything twice over sharpens the intervals and moves no mean") {
    for_random_fleets([](fleet f, std::mt19937_64&) {
        rank::z_score const any_job{.min_tasks = 2};
        auto const once = numbers_of(rank_nodes(f.attempts, ticks, rank_options{.normalizer = any_job}));
        std::size_t const size = f.attempts.size();
        f.attempts.reserve(2 * size);
        for (std::size_t i = 0; i < size; ++i) f.attempts.push_back(f.attempts[i]);
        auto const twice = numbers_of(rank_nodes(f.attempts, ticks, rank_options{.normalizer = any_job}));
        for (auto const& [id, x] : once) {
            auto const& y = twice.at(id);
            CHECK(y[0] == 2 * x[0]);
            if (x.size() != 6) continue;
            REQUIRE(y.size() == 6);
            CHECK(y[1] == doctest::Approx(x[1]).epsilon(1e-12));
            CHECK(y[4] - y[3] <= x[4] - x[3]);
        }
    });
}

TEST_CASE("turning slow into fast turns the intervals round") {
    for_random_fleets([](fleet f, std::mt19937_64&) {
        auto const before = numbers_of(rank_nodes(f.attempts, ticks));
        for (attempt& a : f.attempts) a.took = 1'000'000'000'000 - a.took;
        auto const after = numbers_of(rank_nodes(f.attempts, ticks));
        REQUIRE(after.size() == before.size());
        for (auto const& [id, x] : before) {
            auto const& y = after.at(id);
            REQUIRE(y.size() == x.size());
            CHECK(y[0] == x[0]);
            if (x.size() != 6) continue;
            CHECK(std::fabs(y[1] + x[1]) <= 1e-12);
            CHECK(std::fabs(y[2] - x[2]) <= 1e-12);
            CHECK(std::fabs(y[3] + x[4]) <= 1e-11); // the critical value of one degree of freedom is 12.7
            CHECK(std::fabs(y[4] + x[3]) <= 1e-11);
        }
    });
}

TEST_CASE("whoever has all siblings faster is in the weakest level") {
    for_random_fleets([](fleet const& f, std::mt19937_64&) {
        auto const ranking = rank_nodes(f.attempts, ticks);
        if (ranking.levels() == 0) return;
        // The node with the largest lower end and the one with the largest upper end have no edge out.
        auto const nodes = ranking.nodes();
        CHECK(std::ranges::max_element(nodes, {}, [](auto const& n) { return n.ci.low; })->level == 0);
        CHECK(std::ranges::max_element(nodes, {}, [](auto const& n) { return n.ci.high; })->level == 0);
        // A whole interval above another whole interval is never in a better level.
        for (auto const& a : nodes)
            for (auto const& b : nodes)
                if (a.ci.low > b.ci.low && a.ci.high > b.ci.high) CHECK(a.level <= b.level);
    });
}

TEST_CASE("decisions: nested policies, and never more than the limits allow") {
    int fleets_with_weak_nodes = 0;
    for_random_fleets([&](fleet const& f, std::mt19937_64&) {
        auto const ranking = rank_nodes(f.attempts, ticks);
        auto const weak = [&](auto policy) {
            std::set<int> ids;
            auto const decision = blacklister(policy, record::unlimited{}).decide(ranking);
            for (auto const& v : decision.blacklisted()) ids.insert(v.id);
            return ids;
        };
        auto previous = weak(blacklist::dominated{.q = 0.01});
        for (double const q : {0.25, 0.5, 0.75, 1.0}) {
            auto const stricter = weak(blacklist::dominated{.q = q});
            CHECK(std::ranges::includes(previous, stricter));
            CHECK(std::ranges::includes(stricter, weak(blacklist::dominated_fdr{.q = q})));
            previous = stricter;
        }
        CHECK(std::ranges::includes(weak(blacklist::dominated_fdr{.alpha = 0.2}),
                                    weak(blacklist::dominated_fdr{.alpha = 0.01})));
        if (ranking.levels() > 1) { // slower than everybody else is in nobody's shadow
            CHECK(
                std::ranges::includes(weak(blacklist::weakest_level{}), weak(blacklist::dominated{.q = 1})));
            CHECK(std::ranges::includes(weak(blacklist::weakest_level{}),
                                        weak(blacklist::top_k_intersection(3))));
        }
        CHECK(weak(blacklist::top_k_intersection(3)).size() <= 3);
        auto const decision = blacklister{}.decide(ranking);
        auto const fleet = ranking.fleet_size(); // a fifth, or one node from three on
        CHECK(decision.blacklisted().size() <= (fleet < 3 ? 0 : fleet < 10 ? 1 : fleet / 5));
        CHECK(decision.blacklisted().size() + decision.spared().size() ==
              weak(blacklist::slower_by{}).size());
        fleets_with_weak_nodes += !weak(blacklist::slower_by{}).empty();
    });
    CHECK(fleets_with_weak_nodes > 5); // of 60
}
