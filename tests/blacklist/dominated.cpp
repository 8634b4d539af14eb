// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/blacklist/dominated.hpp>
#include <straggle/blacklist/selection.hpp>

#include <golden/welch.hpp>
#include <support/allocations.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace straggle;

namespace {

using node = ranked_node<std::uint64_t>;
using ids = std::vector<std::uint64_t>;

// Gives nodes their levels, and their order and places in a ranking.
std::vector<node> ranked(std::vector<node> nodes) {
    std::vector<double> low, high;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        nodes[i].seen = static_cast<std::uint32_t>(i);
        low.push_back(nodes[i].ci.low);
        high.push_back(nodes[i].ci.high);
    }
    std::vector<std::uint32_t> level(nodes.size());
    rank::p_cores cores;
    REQUIRE(cores.levels(low, high, level));
    for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].level = level[i];
    std::ranges::sort(nodes, {}, [](node const& n) { return std::pair(n.level, n.seen); });
    return nodes;
}

std::vector<node> nodes_with(std::vector<stats::interval> const& intervals) {
    std::vector<node> nodes;
    for (std::size_t i = 0; i < intervals.size(); ++i)
        nodes.push_back({.id = i,
                         .n = 10,
                         .mean = (intervals[i].low + intervals[i].high) / 2,
                         .sd = 1,
                         .ci = intervals[i]});
    return ranked(nodes);
}

// Nodes whose scores are standard normal, shifted by their slowdown; n scores each.
std::vector<node> simulated(std::mt19937_64& engine, std::vector<double> const& slowdown, std::size_t n) {
    static stats::t_interval const rule;
    std::normal_distribution<double> noise;
    std::vector<node> nodes;
    for (std::size_t i = 0; i < slowdown.size(); ++i) {
        rank::score_moments scores;
        for (std::size_t k = 0; k < n; ++k) scores.add(slowdown[i] + noise(engine));
        auto const p = rank::performance_of(scores, rule);
        nodes.push_back({.id = i, .n = n, .mean = p->mean, .sd = p->sd, .ci = p->ci});
    }
    return ranked(nodes);
}

struct selected {
    blacklist::selection_note note;
    ids who;
    std::vector<blacklist::candidate> candidates;
};

template <class Policy>
selected select(Policy const& policy, std::vector<node> const& nodes) {
    blacklist::selection_scratch scratch;
    selected s{};
    s.note = policy.select(std::span(nodes), scratch, s.candidates);
    for (blacklist::candidate const& c : s.candidates) s.who.push_back(nodes[c.node].id);
    return s;
}

// The definition: at least ceil(q * others) other nodes lie below the whole interval.
ids dominated_literally(std::vector<node> const& nodes, std::size_t needed) {
    ids result;
    for (node const& a : nodes) {
        std::size_t below = 0;
        for (node const& b : nodes) below += a.id != b.id && b.ci.high < a.ci.low;
        if (below >= needed) result.push_back(a.id);
    }
    std::ranges::sort(result);
    return result;
}

// Nodes of equal speed, but for some; tasks come by groups of one job on one node that share a part of their
// luck, so that two of a group correlate by `rho`.
std::vector<node> simulated_in_groups(std::mt19937_64& engine, std::vector<double> const& slowdown,
                                      std::size_t groups, std::size_t size, double rho) {
    static stats::t_interval const rule;
    std::normal_distribution<double> noise;
    std::vector<node> nodes;
    for (std::size_t i = 0; i < slowdown.size(); ++i) {
        rank::score_moments scores;
        for (std::size_t g = 0; g < groups; ++g) {
            double const shared = slowdown[i] + std::sqrt(rho) * noise(engine);
            for (std::size_t k = 0; k < size; ++k) scores.add(shared + std::sqrt(1 - rho) * noise(engine));
        }
        auto const p = rank::performance_of(scores, rule);
        nodes.push_back({.id = i, .n = groups * size, .mean = p->mean, .sd = p->sd, .ci = p->ci});
    }
    return ranked(nodes);
}

// R's p.adjust(p, "BH").
std::vector<double> adjusted(std::vector<double> const& p) {
    std::vector<std::size_t> order(p.size());
    for (std::size_t i = 0; i < p.size(); ++i) order[i] = i;
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return p[a] > p[b]; });
    std::vector<double> result(p.size());
    double least = 1;
    for (std::size_t i = 0; i < p.size(); ++i) {
        double const m = static_cast<double>(p.size()), rank = m - static_cast<double>(i);
        least = std::min(least, p[order[i]] * m / rank);
        result[order[i]] = least;
    }
    return result;
}

} // namespace

TEST_CASE("dominated is its definition on random intervals") {
    std::mt19937_64 engine(1);
    for (int trial = 0; trial < 500; ++trial) {
        std::size_t const n = 2 + engine() % 30;
        std::vector<stats::interval> intervals;
        for (std::size_t i = 0; i < n; ++i) {
            double const low = static_cast<double>(engine() % 50); // ties and points, too
            intervals.push_back({low, low + static_cast<double>(engine() % 12)});
        }
        auto const nodes = nodes_with(intervals);
        std::size_t const eighths = 1 + engine() % 8;
        // ceil(eighths / 8 * others) in whole numbers
        std::size_t const needed = (eighths * (n - 1) + 7) / 8;
        auto const s = select(blacklist::dominated{.q = static_cast<double>(eighths) / 8}, nodes);
        for (blacklist::candidate const& c : s.candidates) {
            CHECK(c.value == nodes[c.node].ci.low);
            CHECK(c.value > c.threshold);
        }
        ids found = s.who;
        std::ranges::sort(found);
        CHECK(found == dominated_literally(nodes, needed));
        CHECK((s.note == blacklist::selection_note::all_overlap) == (nodes.back().level == 0));
    }
}

TEST_CASE("the share that has to be dominated") {
    // 0 and 1 are fast, 2 and 3 slower, 4 the slowest.
    auto const nodes = nodes_with({{0, 1}, {0, 1}, {2, 3}, {2, 3}, {4, 5}});
    CHECK(select(blacklist::dominated{}, nodes).who == ids{4, 2, 3}); // slower than 2 of 4
    CHECK(select(blacklist::dominated{.q = 0.51}, nodes).who == ids{4});
    CHECK(select(blacklist::dominated{.q = 1}, nodes).who == ids{4});
    CHECK(select(blacklist::dominated{.q = 0.01}, nodes).who == ids{4, 2, 3});
    // Nobody is slower than all the others.
    CHECK(select(blacklist::dominated{.q = 1}, nodes_with({{0, 1}, {4, 5}, {4, 5}})).who.empty());
}

TEST_CASE("dominated: what is provable and does not matter is left alone on request") {
    // Means in the middle: 0.5, 0.5, 2.5, 4.5.
    auto const nodes = nodes_with({{0, 1}, {0, 1}, {2, 3}, {4, 5}});
    CHECK(select(blacklist::dominated{.least_mean = 2.5}, nodes).who == ids{3, 2});
    CHECK(select(blacklist::dominated{.least_mean = 2.51}, nodes).who == ids{3});
    CHECK(select(blacklist::dominated{.q = 1, .least_mean = 5}, nodes).who.empty());
    CHECK(select(blacklist::dominated{.least_mean = -7}, nodes).who ==
          select(blacklist::dominated{}, nodes).who);
}

TEST_CASE("a share that is a whole number of nodes is not rounded up by rounding") {
    CHECK(detail::nodes_to_dominate(0.07, 100) == 7); // 7.000000000000001
    CHECK(detail::nodes_to_dominate(0.14, 50) == 7);
    CHECK(detail::nodes_to_dominate(0.1, 30) == 3);
    CHECK(detail::nodes_to_dominate(0.3, 10) == 3);
    CHECK(detail::nodes_to_dominate(0.7, 10) == 7);
    CHECK(detail::nodes_to_dominate(0.55, 20) == 11);
    CHECK(detail::nodes_to_dominate(0.5, 19) == 10);
    CHECK(detail::nodes_to_dominate(0.5, 1) == 1);
    CHECK(detail::nodes_to_dominate(1.0, 7) == 7);
    CHECK(detail::nodes_to_dominate(1e-12, 7) == 1);
    CHECK(detail::nodes_to_dominate(0.5, 0) == 1);
}

TEST_CASE("one node, two nodes, none") {
    for (double const q : {0.01, 0.5, 1.0}) {
        CHECK(select(blacklist::dominated{.q = q}, {}).note == blacklist::selection_note::too_few_nodes);
        auto const one = select(blacklist::dominated{.q = q}, nodes_with({{0, 1}}));
        CHECK(one.note == blacklist::selection_note::too_few_nodes);
        CHECK(one.who.empty());
        CHECK(select(blacklist::dominated{.q = q}, nodes_with({{0, 1}, {2, 3}})).who == ids{1});
        auto const overlap = select(blacklist::dominated{.q = q}, nodes_with({{0, 2}, {1, 3}}));
        CHECK(overlap.who.empty());
        CHECK(overlap.note == blacklist::selection_note::all_overlap);
        // Touching is not provably below, and neither is the same point.
        CHECK(select(blacklist::dominated{.q = q}, nodes_with({{0, 1}, {1, 2}})).who.empty());
        CHECK(select(blacklist::dominated{.q = q}, nodes_with({{1, 1}, {1, 1}})).who.empty());
    }
}

TEST_CASE("q has to be a share") {
    struct broken {};
    auto const before = base::set_contract_handler([](base::contract_violation const&) { throw broken{}; });
    auto const nodes = nodes_with({{0, 1}, {2, 3}});
    for (double const q : {0.0, -0.1, 1.0001, std::nan("")}) {
        CHECK_THROWS_AS((void)select(blacklist::dominated{.q = q}, nodes), broken);
        CHECK_THROWS_AS((void)select(blacklist::dominated_fdr{.q = q}, nodes), broken);
    }
    for (double const alpha : {0.0, 1.0, std::nan("")})
        CHECK_THROWS_AS((void)select(blacklist::dominated_fdr{.alpha = alpha}, nodes), broken);
    base::set_contract_handler(before);
}

TEST_CASE("twenty equal nodes of fifty tasks: the paper's rule blames them, dominated does not") {
    std::mt19937_64 engine(20);
    int blamed_by_level = 0, all_blamed = 0, dominated_nodes = 0;
    int const windows = 2000;
    for (int w = 0; w < windows; ++w) {
        auto const nodes = simulated(engine, std::vector<double>(20, 0.0), 50);
        auto const weakest = select(blacklist::weakest_level{.when_all_overlap = true}, nodes).who.size();
        blamed_by_level += static_cast<int>(weakest);
        all_blamed += weakest == 20;
        dominated_nodes += static_cast<int>(select(blacklist::dominated{}, nodes).who.size());
    }
    double const share = blamed_by_level / (20.0 * windows);
    CHECK(share > 0.94); // 96 %
    CHECK(share < 0.98);
    CHECK(all_blamed > 0.55 * windows); // 60 %
    CHECK(all_blamed < 0.65 * windows);
    CHECK(dominated_nodes < 0.0004 * 20 * windows); // 0.01 %
}

TEST_CASE("dominated finds nodes slow by one deviation") {
    std::mt19937_64 engine(21);
    std::vector<double> slowdown(20, 0.0);
    slowdown[7] = 1.0;
    int found = 0, alone = 0;
    int const windows = 4000;
    for (int w = 0; w < windows; ++w) {
        auto const who = select(blacklist::dominated{}, simulated(engine, slowdown, 50)).who;
        found += std::ranges::count(who, 7u) == 1;
        alone += who == ids{7};
    }
    CHECK(found >= 0.99 * windows);
    CHECK(alone >= 0.98 * windows);
}

TEST_CASE("clearly_dominated is its definition on random intervals") {
    std::mt19937_64 engine(2);
    auto const real = [&] { return static_cast<double>(engine() >> 11) * 0x1p-53; };
    for (int trial = 0; trial < 500; ++trial) {
        std::size_t const n = 2 + engine() % 30;
        double const effect = trial % 3 == 0 ? 1.0 : 1.0 + 4 * real();
        std::vector<node> nodes, wide;
        for (std::size_t i = 0; i < n; ++i) {
            // Lopsided, as a rule that is no t_interval may have them.
            double const mean = 10 * real(), below = real(), above = real(), by = std::sqrt(effect);
            nodes.push_back({.id = i, .n = 10, .mean = mean, .sd = 1, .ci = {mean - below, mean + above}});
            wide.push_back(
                {.id = i, .n = 10, .mean = mean, .sd = 1, .ci = {mean - by * below, mean + by * above}});
        }
        std::size_t const eighths = 1 + engine() % 8, needed = (eighths * (n - 1) + 7) / 8;
        double const q = static_cast<double>(eighths) / 8;
        nodes = ranked(nodes);
        auto const s = select(blacklist::clearly_dominated{.q = q, .design_effect = effect}, nodes);
        ids found = s.who;
        std::ranges::sort(found);
        CHECK(found == dominated_literally(wide, needed)); // reals: no ties that rounding could break
        for (blacklist::candidate const& c : s.candidates) {
            node const& as_wide = wide[nodes[c.node].id];
            CHECK(std::abs(c.value - as_wide.ci.low) < 1e-12); // of numbers up to 12
            CHECK(c.value > c.threshold);
        }
        for (std::size_t k = 1; k < s.candidates.size(); ++k)
            CHECK(nodes[s.candidates[k - 1].node].mean >= nodes[s.candidates[k].node].mean);
        if (effect == 1.0) {
            auto const plain = select(blacklist::dominated{.q = q}, nodes);
            CHECK(plain.who == s.who);
            CHECK(plain.note == s.note);
            for (std::size_t k = 0; k < plain.candidates.size(); ++k) {
                CHECK(plain.candidates[k].value == s.candidates[k].value);
                CHECK(plain.candidates[k].threshold == s.candidates[k].threshold);
            }
        }
    }
}

TEST_CASE("clearly_dominated: few nodes, a least mean, numbers that make no sense") {
    CHECK(select(blacklist::clearly_dominated{}, nodes_with({})).note ==
          blacklist::selection_note::too_few_nodes);
    CHECK(select(blacklist::clearly_dominated{}, nodes_with({{0, 1}})).note ==
          blacklist::selection_note::too_few_nodes);
    // 2.5 -+ 0.5 and 0.5 -+ 0.5, widened by the root of 2: 1.79 to 3.21, -0.21 to 1.21.
    auto const two = nodes_with({{0, 1}, {2, 3}});
    CHECK(select(blacklist::clearly_dominated{}, two).who == ids{1});
    CHECK(
        select(blacklist::clearly_dominated{.design_effect = 4}, two).who.empty()); // 1.5 does not exceed 1.5
    CHECK(select(blacklist::clearly_dominated{.design_effect = 3.9}, two).who == ids{1});
    CHECK(select(blacklist::clearly_dominated{.least_mean = 2.5}, two).who == ids{1});
    CHECK(select(blacklist::clearly_dominated{.least_mean = 2.6}, two).who.empty());
    CHECK(select(blacklist::clearly_dominated{}, nodes_with({{1, 1}, {1, 1}, {2, 2}})).who ==
          ids{2}); // points stay

    struct broken {};
    auto const before = base::set_contract_handler([](base::contract_violation const&) { throw broken{}; });
    for (double const effect : {0.99, 0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
        CHECK_THROWS_AS((void)select(blacklist::clearly_dominated{.design_effect = effect}, two), broken);
    CHECK_THROWS_AS((void)select(blacklist::clearly_dominated{.q = 0}, two), broken);
    base::set_contract_handler(before);
}

TEST_CASE("clearly_dominated where tasks come by fours that correlate by a third") {
    // Design effect 1 + 3/3 = 2: thirty equal nodes, ten groups each.
    std::mt19937_64 engine(22);
    std::vector<double> const equal(30, 0.0);
    int const windows = 3000;
    int holds = 0, wide_holds = 0, plain = 0, clearly = 0;
    for (int w = 0; w < windows; ++w) {
        auto const nodes = simulated_in_groups(engine, equal, 10, 4, 1.0 / 3);
        for (node const& n : nodes) {
            holds += n.ci.low <= 0 && 0 <= n.ci.high;
            double const half = std::sqrt(2.0) * (n.ci.high - n.mean);
            wide_holds += std::abs(n.mean) <= half;
        }
        plain += static_cast<int>(select(blacklist::dominated{}, nodes).who.size());
        clearly += static_cast<int>(select(blacklist::clearly_dominated{}, nodes).who.size());
    }
    double const cases = 30.0 * windows;
    CHECK(holds > 0.82 * cases); // 83 %
    CHECK(holds < 0.85 * cases);
    CHECK(wide_holds > 0.94 * cases); // 94.5 %
    CHECK(wide_holds < 0.96 * cases);
    CHECK(plain > 0.0025 * cases);   // 0.37 %
    CHECK(clearly < 0.0003 * cases); // 0.01 %
}

TEST_CASE("clearly_dominated: what it costs where tasks are independent") {
    std::mt19937_64 engine(23);
    std::vector<double> slowdown(20, 0.0);
    slowdown[7] = 1.0;
    int found = 0;
    int const windows = 4000;
    for (int w = 0; w < windows; ++w) {
        auto const who = select(blacklist::clearly_dominated{}, simulated(engine, slowdown, 50)).who;
        found += std::ranges::count(who, 7u) == 1;
    }
    CHECK(found > 0.89 * windows); // 91 %; three standard errors are 1.3
    CHECK(found < 0.94 * windows);
}

TEST_CASE("dominated_fdr: p-values of a one-sided Welch test") {
    for (auto const& fleet : straggle_test::welch_fleets) {
        for (std::size_t target = 0; target < fleet.size(); ++target) {
            for (auto const kind : {stats::deviation_kind::sample, stats::deviation_kind::population}) {
                // The target's interval lies above all others, whatever its scores: it alone is tested.
                std::vector<node> nodes;
                for (std::size_t i = 0; i < fleet.size(); ++i) {
                    double const n = static_cast<double>(fleet[i].n);
                    double const sd = fleet[i].sample_sd *
                                      (kind == stats::deviation_kind::sample ? 1 : std::sqrt((n - 1) / n));
                    nodes.push_back({.id = i,
                                     .n = fleet[i].n,
                                     .mean = fleet[i].mean,
                                     .sd = sd,
                                     .ci = i == target ? stats::interval{9, 10} : stats::interval{0, 1}});
                }
                double const nearly_one = 1 - 1e-12;
                auto const s =
                    select(blacklist::dominated_fdr{.alpha = nearly_one, .deviation = kind}, ranked(nodes));
                double const cut = nearly_one / static_cast<double>(fleet.size());
                CAPTURE(fleet[target].p);
                REQUIRE(s.candidates.size() == (fleet[target].p <= cut ? 1 : 0));
                if (s.candidates.empty()) continue;
                CHECK(s.who == ids{target});
                // The tail is computed to a few ULP; the statistic carries the cancellation of the means.
                CHECK(std::fabs(s.candidates[0].value / fleet[target].p - 1) < 1e-11);
                CHECK(s.candidates[0].threshold == doctest::Approx(cut));
            }
        }
    }
}

TEST_CASE("the textbook procedure of this test is R's p.adjust") {
    // p.adjust(c(...), "BH") of R 4.2 on the fifteen p-values of Benjamini and Hochberg's example.
    std::vector<double> const p{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                                0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0};
    std::vector<double> const by_r{0.00150000000, 0.00300000000, 0.00950000000, 0.03562500000, 0.06030000000,
                                   0.06385714286, 0.06385714286, 0.06450000000, 0.07650000000, 0.48600000000,
                                   0.58118181818, 0.71487500000, 0.75323076923, 0.81321428571, 1.00000000000};
    auto const found = adjusted(p);
    for (std::size_t i = 0; i < p.size(); ++i) CHECK(found[i] == doctest::Approx(by_r[i]).epsilon(1e-9));
}

TEST_CASE("dominated_fdr selects what Benjamini and Hochberg would") {
    std::mt19937_64 engine(22);
    std::size_t selected_in_all = 0;
    for (int trial = 0; trial < 200; ++trial) {
        std::vector<double> slowdown(12, 0.0);
        for (std::size_t i = 0; i < 4; ++i) slowdown[i] = 0.2 * static_cast<double>(engine() % 5);
        auto const nodes = simulated(engine, slowdown, 20);
        // Each p-value on its own: let the others of the fleet be no candidates.
        std::vector<double> p(nodes.size(), 1.0);
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            auto lonely = nodes;
            for (std::size_t k = 0; k < nodes.size(); ++k)
                lonely[k].ci = k == i ? stats::interval{9, 10} : stats::interval{0, 1};
            auto const s = select(blacklist::dominated_fdr{.alpha = 1 - 1e-12}, lonely);
            bool const can_be =
                std::ranges::count(select(blacklist::dominated{.q = 0.2}, nodes).who, nodes[i].id) == 1;
            if (!s.candidates.empty() && can_be) p[i] = s.candidates[0].value;
        }
        auto const q_values = adjusted(p);
        for (double const alpha : {0.001, 0.01, 0.05, 0.2}) {
            auto found = select(blacklist::dominated_fdr{.q = 0.2, .alpha = alpha}, nodes);
            ids expected;
            for (std::size_t i = 0; i < nodes.size(); ++i)
                if (q_values[i] <= alpha) expected.push_back(nodes[i].id);
            std::ranges::sort(expected);
            CHECK(std::ranges::is_sorted(found.candidates, {}, &blacklist::candidate::value)); // worst first
            for (blacklist::candidate const& c : found.candidates) CHECK(c.value <= c.threshold);
            std::ranges::sort(found.who);
            CHECK(found.who == expected);
            selected_in_all += expected.size();
        }
    }
    CHECK(selected_in_all > 200);
}

TEST_CASE("dominated_fdr holds the false discovery rate") {
    std::mt19937_64 engine(23);
    double const alpha = 0.1;
    int const windows = 2000;
    SUBCASE("no node is slow: any discovery is false") {
        int false_alarms = 0;
        for (int w = 0; w < windows; ++w)
            false_alarms += !select(blacklist::dominated_fdr{.q = 0.05, .alpha = alpha},
                                    simulated(engine, std::vector<double>(20, 0.0), 10))
                                 .who.empty();
        // alpha and three deviations of the count
        CHECK(false_alarms <= windows * alpha + 3 * std::sqrt(windows * alpha * (1 - alpha)));
    }
    SUBCASE("a fifth of the nodes is slow") {
        std::vector<double> slowdown(20, 0.0);
        for (std::size_t i = 0; i < 4; ++i) slowdown[i] = 1.2;
        double false_share = 0, found = 0;
        for (int w = 0; w < windows; ++w) {
            auto const who =
                select(blacklist::dominated_fdr{.q = 0.05, .alpha = alpha}, simulated(engine, slowdown, 30))
                    .who;
            auto const wrong = std::ranges::count_if(who, [](std::uint64_t id) { return id >= 4; });
            if (!who.empty()) false_share += static_cast<double>(wrong) / static_cast<double>(who.size());
            found += static_cast<double>(who.size()) - static_cast<double>(wrong);
        }
        CHECK(false_share / windows <= alpha + 3 * std::sqrt(alpha * (1 - alpha) / windows));
        CHECK(found / (4.0 * windows) > 0.95);
    }
}

TEST_CASE("dominated_fdr selects no more than dominated") {
    std::mt19937_64 engine(24);
    for (int trial = 0; trial < 200; ++trial) {
        std::vector<double> slowdown(10, 0.0);
        for (double& s : slowdown) s = 0.3 * static_cast<double>(engine() % 6);
        auto const nodes = simulated(engine, slowdown, 5 + engine() % 40);
        auto loose = select(blacklist::dominated{}, nodes).who,
             strict = select(blacklist::dominated_fdr{}, nodes).who;
        std::ranges::sort(loose);
        std::ranges::sort(strict);
        CHECK(std::ranges::includes(loose, strict));
    }
}

TEST_CASE("dominated_fdr: fleets without any spread, and fleets of one") {
    auto const point = [](std::uint64_t id, double x) {
        return node{.id = id, .n = 5, .mean = x, .sd = 0, .ci = {x, x}};
    };
    auto const s = select(blacklist::dominated_fdr{}, ranked({point(0, 1), point(1, 2)}));
    CHECK(s.who == ids{1});
    CHECK(s.candidates[0].value == 0.0);
    CHECK(select(blacklist::dominated_fdr{}, ranked({point(0, 1), point(1, 1)})).who.empty());
    CHECK(select(blacklist::dominated_fdr{}, ranked({point(0, 1)})).note ==
          blacklist::selection_note::too_few_nodes);
    CHECK(select(blacklist::dominated_fdr{}, {}).note == blacklist::selection_note::too_few_nodes);
}

TEST_CASE("selecting again allocates nothing") {
    std::mt19937_64 engine(25);
    std::vector<double> slowdown(60, 0.0);
    for (std::size_t i = 0; i < 10; ++i) slowdown[i] = 2.0;
    auto const nodes = simulated(engine, slowdown, 30);
    blacklist::selection_scratch scratch;
    std::vector<blacklist::candidate> out;
    auto const run = [&] {
        out.clear();
        (void)blacklist::dominated{}.select(std::span(nodes), scratch, out);
        out.clear();
        (void)blacklist::dominated_fdr{}.select(std::span(nodes), scratch, out);
    };
    run();
    CHECK(out.size() == 10);
    CHECK(straggle_test::allocations_during(run) == 0);
}
