// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/blacklist/dominated.hpp>
#include <straggle/blacklist/selection.hpp>
#include <straggle/blacklist/top_k_intersection.hpp>

#include <support/literal_p_cores.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using namespace straggle;

namespace {

using node = ranked_node<std::uint64_t>;

// Nodes with these intervals, in the order a ranking has: by level, then as given. The id is the place given.
std::vector<node> nodes_with(std::vector<stats::interval> const& intervals) {
    std::vector<straggle_test::machine> machines;
    for (stats::interval const& i : intervals) machines.push_back({.low = i.low, .high = i.high});
    auto const levels =
        straggle_test::literal_levels(machines, straggle_test::literal_rule::not_same_point).value();
    std::vector<node> nodes;
    for (std::uint32_t i = 0; i < intervals.size(); ++i)
        nodes.push_back({.id = i,
                         .n = 10,
                         .mean = (intervals[i].low + intervals[i].high) / 2,
                         .sd = 1,
                         .ci = intervals[i],
                         .level = levels[i],
                         .seen = i});
    std::ranges::sort(nodes, {}, [](node const& n) { return std::pair(n.level, n.seen); });
    return nodes;
}

struct selected {
    blacklist::selection_note note;
    std::vector<std::uint64_t> ids;
    std::vector<blacklist::candidate> candidates;
};

template <class Policy>
selected select(Policy policy, std::vector<node> const& nodes) {
    blacklist::selection_scratch scratch;
    selected s{};
    s.note = policy.select(std::span(nodes), scratch, s.candidates);
    for (blacklist::candidate const& c : s.candidates) s.ids.push_back(nodes[c.node].id);
    return s;
}

using ids = std::vector<std::uint64_t>;

// Near misses of a policy.
struct no_name {
    template <class Node>
    blacklist::selection_note select(std::span<Node const>, blacklist::selection_scratch&,
                                     std::vector<blacklist::candidate>&) const;
};
struct no_note {
    [[maybe_unused]] static constexpr std::string_view name = "no_note";
    template <class Node>
    void select(std::span<Node const>, blacklist::selection_scratch&,
                std::vector<blacklist::candidate>&) const;
};
struct no_scratch {
    [[maybe_unused]] static constexpr std::string_view name = "no_scratch";
    template <class Node>
    blacklist::selection_note select(std::span<Node const>, std::vector<blacklist::candidate>&) const;
};
struct minimal {
    static constexpr char const* name = "minimal";
    template <class Node>
    blacklist::selection_note select(std::span<Node const>, blacklist::selection_scratch&,
                                     std::vector<blacklist::candidate>&);
};

static_assert(blacklist::selection_policy<blacklist::weakest_level> &&
              blacklist::selection_policy<blacklist::dominated> &&
              blacklist::selection_policy<blacklist::dominated_fdr> &&
              blacklist::selection_policy<blacklist::top_k_intersection<>> &&
              blacklist::selection_policy<blacklist::top_k_intersection<std::mt19937_64>> &&
              blacklist::selection_policy<minimal>);
static_assert(!blacklist::selection_policy<no_name> && !blacklist::selection_policy<no_note> &&
              !blacklist::selection_policy<no_scratch> && !blacklist::selection_policy<int>);

} // namespace

TEST_CASE("weakest_level takes all of level 0, worst mean first") {
    auto const nodes = nodes_with({{0, 1}, {4, 6}, {5, 6}, {2, 3}, {3, 7}});
    auto const s = select(blacklist::weakest_level{}, nodes);
    CHECK(s.note == blacklist::selection_note::none);
    CHECK(s.ids == ids{2, 1, 4}); // means 5.5, 5, 5: the tie goes to the one seen first
    for (blacklist::candidate const& c : s.candidates) {
        CHECK(c.value == nodes[c.node].ci.high);
        CHECK(c.threshold == 5.0); // the largest lower end of all
        CHECK(c.value > c.threshold);
    }
}

TEST_CASE("weakest_level: one level only") {
    auto const overlapping = nodes_with({{0, 3}, {1, 4}, {2, 5}});
    CHECK(select(blacklist::weakest_level{}, overlapping).note == blacklist::selection_note::all_overlap);
    CHECK(select(blacklist::weakest_level{}, overlapping).ids.empty());
    auto const all = select(blacklist::weakest_level{.when_all_overlap = true}, overlapping);
    CHECK(all.note == blacklist::selection_note::none);
    CHECK(all.ids == ids{2, 1, 0});
    // One node alone overlaps with everybody there is.
    auto const one = nodes_with({{0, 1}});
    CHECK(select(blacklist::weakest_level{}, one).note == blacklist::selection_note::all_overlap);
    CHECK(select(blacklist::weakest_level{.when_all_overlap = true}, one).ids == ids{0});
}

TEST_CASE("weakest_level: nobody to judge") {
    CHECK(select(blacklist::weakest_level{}, {}).note == blacklist::selection_note::too_few_nodes);
    CHECK(select(blacklist::weakest_level{}, {}).ids.empty());
    CHECK(select(blacklist::weakest_level{.when_all_overlap = true}, {}).ids.empty());
}

TEST_CASE("weakest_level is algorithm 3 on random intervals") {
    std::mt19937_64 engine(1);
    for (int trial = 0; trial < 300; ++trial) {
        std::vector<stats::interval> intervals;
        std::size_t const n = 1 + engine() % 30;
        for (std::size_t i = 0; i < n; ++i) {
            double const low = static_cast<double>(engine() % 40);
            intervals.push_back({low, low + static_cast<double>(engine() % 10)});
        }
        std::vector<straggle_test::machine> machines;
        for (stats::interval const& i : intervals) machines.push_back({.low = i.low, .high = i.high});
        straggle_test::literal_edges(machines, straggle_test::literal_rule::not_same_point);
        auto const weakest = straggle_test::literal_weakest(machines);
        auto found = select(blacklist::weakest_level{.when_all_overlap = true}, nodes_with(intervals)).ids;
        std::ranges::sort(found);
        CHECK(found == ids(weakest.begin(), weakest.end()));
        auto const cautious = select(blacklist::weakest_level{}, nodes_with(intervals)).ids;
        CHECK(cautious.size() == (weakest.size() == n ? 0 : weakest.size()));
    }
}

TEST_CASE("policies append to what is there") {
    auto const nodes = nodes_with({{0, 1}, {2, 3}, {4, 5}, {4, 6}, {10, 11}, {10, 10.5}});
    auto const appends = [&](auto policy) {
        blacklist::selection_scratch scratch;
        std::vector<blacklist::candidate> out{{77, 1.0, 2.0}};
        (void)policy.select(std::span(nodes), scratch, out);
        auto const alone = select(policy, nodes);
        REQUIRE(out.size() == alone.candidates.size() + 1);
        CHECK(out.size() > 1);
        CHECK(out[0].node == 77);
        CHECK(out[0].threshold == 2.0);
        for (std::size_t i = 0; i < alone.candidates.size(); ++i) {
            CHECK(out[i + 1].node == alone.candidates[i].node);
            CHECK(out[i + 1].threshold == alone.candidates[i].threshold);
        }
    };
    appends(blacklist::weakest_level{});
    appends(blacklist::dominated{});
    appends(blacklist::dominated_fdr{});
    appends(blacklist::top_k_intersection(1));
}

TEST_CASE("ties go to the node seen first") {
    auto const nodes = nodes_with({{0, 1}, {5, 7}, {5, 7}, {5, 7}});
    CHECK(select(blacklist::weakest_level{}, nodes).ids == ids{1, 2, 3});
    CHECK(select(blacklist::dominated{.q = 0.1}, nodes).ids == ids{1, 2, 3});
}

TEST_CASE("names of notes") {
    CHECK(to_string(blacklist::selection_note::none) == "none");
    CHECK(to_string(blacklist::selection_note::all_overlap) == "all_overlap");
    CHECK(to_string(blacklist::selection_note::too_few_nodes) == "too_few_nodes");
    CHECK(to_string(blacklist::selection_note::unreachable_threshold) == "unreachable_threshold");
    CHECK(to_string(static_cast<blacklist::selection_note>(200)) == "unknown");
}

TEST_CASE("pooled moments are those of all values together") {
    std::mt19937_64 engine(2);
    std::normal_distribution<double> draw(3.0, 2.0);
    detail::pooled_moments pooled;
    std::vector<double> all;
    for (int part = 0; part < 8; ++part) {
        std::vector<double> values(engine() % 20); // none, too
        for (double& v : values) v = draw(engine) + part;
        all.insert(all.end(), values.begin(), values.end());
        detail::pooled_moments p;
        p.n = static_cast<double>(values.size());
        for (double v : values) p.mean += v / p.n;
        for (double v : values) p.m2 += (v - p.mean) * (v - p.mean);
        pooled = part % 2 ? pooled.with(p) : p.with(pooled);
    }
    long double mean = 0, m2 = 0;
    for (double v : all) mean += static_cast<long double>(v);
    mean /= static_cast<long double>(all.size());
    for (double v : all) m2 += std::pow(static_cast<long double>(v) - mean, 2);
    CHECK(pooled.n == static_cast<double>(all.size()));
    CHECK(pooled.mean == doctest::Approx(static_cast<double>(mean)).epsilon(1e-14));
    CHECK(pooled.m2 == doctest::Approx(static_cast<double>(m2)).epsilon(1e-13));
}
