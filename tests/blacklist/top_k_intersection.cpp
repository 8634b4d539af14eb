// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/blacklist/top_k_intersection.hpp>

#include <support/allocations.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

using namespace straggle;

namespace {

using node = ranked_node<std::uint64_t>;
using ids = std::vector<std::uint64_t>;

template <class Policy>
ids select(Policy policy, std::vector<node> const& nodes) {
    blacklist::selection_scratch scratch;
    std::vector<blacklist::candidate> candidates;
    (void)policy.select(std::span(nodes), scratch, candidates);
    ids result;
    for (blacklist::candidate const& c : candidates) result.push_back(nodes[c.node].id);
    return result;
}

// The example of DSB section 4.2.4: ten nodes of level 0, M1 to M10, in descending order of deviation; in
// descending order of mean M7 comes before M6. Two nodes of level 1 have nothing to do with it.
std::vector<node> paper_example() {
    std::vector<node> nodes;
    for (std::uint32_t i = 1; i <= 10; ++i)
        nodes.push_back({.id = i, .n = 30, .mean = 10.0 - i, .sd = 20.0 - i, .ci = {0, 20}, .seen = i});
    std::swap(nodes[5].mean, nodes[6].mean);
    std::ranges::reverse(nodes); // the order of first appearance is not the order of weakness
    for (std::uint32_t i = 0; i < 10; ++i) nodes[i].seen = i;
    nodes.push_back({.id = 11, .n = 30, .mean = 100, .sd = 100, .ci = {-2, -1}, .level = 1, .seen = 11});
    nodes.push_back({.id = 12, .n = 30, .mean = 100, .sd = 100, .ci = {-2, -1}, .level = 1, .seen = 12});
    return nodes;
}

// Section 4.2.4 in words: both orders sorted, intersection and union as sets.
struct literal_choice {
    std::set<std::uint64_t> common, single;
};
literal_choice choose_literally(std::vector<node> nodes, std::size_t k) {
    std::erase_if(nodes, [](node const& n) { return n.level != 0; });
    auto by_mean = nodes, by_sd = nodes;
    std::ranges::sort(by_mean, {}, [](node const& n) { return std::pair(-n.mean, n.seen); });
    std::ranges::sort(by_sd, {}, [](node const& n) { return std::pair(-n.sd, n.seen); });
    std::set<std::uint64_t> a, b;
    for (std::size_t i = 0; i < k; ++i) {
        a.insert(by_mean[i].id);
        b.insert(by_sd[i].id);
    }
    literal_choice c;
    std::ranges::set_intersection(a, b, std::inserter(c.common, c.common.end()));
    std::ranges::set_symmetric_difference(a, b, std::inserter(c.single, c.single.end()));
    return c;
}

std::vector<node> random_nodes(std::mt19937_64& engine, std::size_t n, unsigned values) {
    std::vector<node> nodes;
    for (std::uint32_t i = 0; i < n; ++i)
        nodes.push_back({.id = i,
                         .n = 2 + engine() % 3,
                         .mean = static_cast<double>(engine() % values),
                         .sd = static_cast<double>(engine() % values),
                         .ci = {0, 1},
                         .seen = i});
    return nodes;
}

} // namespace

TEST_CASE("the paper's example: five common nodes, the sixth by chance from M6 and M7") {
    auto const nodes = paper_example();
    int sixth_is_m6 = 0;
    int const seeds = 2000;
    for (int seed = 0; seed < seeds; ++seed) {
        std::mt19937_64 engine(static_cast<std::uint64_t>(seed));
        auto found = select(blacklist::top_k_intersection(6, engine), nodes);
        REQUIRE(found.size() == 6);
        std::ranges::sort(found);
        CHECK(std::equal(found.begin(), found.begin() + 5, ids{1, 2, 3, 4, 5}.begin()));
        CHECK((found[5] == 6 || found[5] == 7));
        sixth_is_m6 += found[5] == 6;
    }
    // Four deviations of a fair coin.
    CHECK(sixth_is_m6 > seeds / 2 - 90);
    CHECK(sixth_is_m6 < seeds / 2 + 90);
}

TEST_CASE("the paper's example, deterministic: the sixth is the one with the worse mean") {
    CHECK(select(blacklist::top_k_intersection(6), paper_example()) == ids{1, 2, 3, 4, 5, 7});
}

TEST_CASE("as many as there are, or none") {
    auto const nodes = paper_example();
    CHECK(select(blacklist::top_k_intersection(10), nodes) == ids{1, 2, 3, 4, 5, 7, 6, 8, 9, 10});
    CHECK(select(blacklist::top_k_intersection(11), nodes).size() == 10);
    CHECK(select(blacklist::top_k_intersection(1000), nodes).size() == 10);
    CHECK(select(blacklist::top_k_intersection(9), nodes).size() == 9);
    CHECK(select(blacklist::top_k_intersection(1), nodes) == ids{1});
    CHECK(select(blacklist::top_k_intersection(0), nodes).empty());
    CHECK(select(blacklist::top_k_intersection(3), {}).empty());
    std::mt19937 engine;
    CHECK(select(blacklist::top_k_intersection(0, engine), nodes).empty());
    CHECK(select(blacklist::top_k_intersection(10, engine), nodes).size() == 10);
    CHECK((engine == std::mt19937{})); // nothing to draw, nothing drawn
}

TEST_CASE("from the next levels, the worst mean first, where level 0 holds fewer than k") {
    auto nodes = paper_example();
    nodes.push_back({.id = 13, .n = 30, .mean = 99, .sd = 1, .ci = {-4, -3}, .level = 2, .seen = 13});
    nodes.push_back({.id = 14, .n = 30, .mean = 200, .sd = 1, .ci = {-4, -3}, .level = 2, .seen = 14});
    nodes[11].mean = 101;
    auto const filled = [&](std::size_t k) {
        return select(blacklist::top_k_intersection(k, blacklist::fill_from::next_levels), nodes);
    };
    CHECK(filled(6) == ids{1, 2, 3, 4, 5, 7}); // level 0 is enough
    CHECK(filled(10) == select(blacklist::top_k_intersection(10), nodes));
    CHECK(filled(11) == ids{1, 2, 3, 4, 5, 7, 6, 8, 9, 10, 12});
    CHECK(filled(13) == ids{1, 2, 3, 4, 5, 7, 6, 8, 9, 10, 12, 11, 14});
    CHECK(filled(100).size() == 14);
    std::mt19937 engine;
    auto const drawn =
        select(blacklist::top_k_intersection(11, engine, blacklist::fill_from::next_levels), nodes);
    CHECK(drawn == filled(11));
}

TEST_CASE("places left are filled by worse mean, then more scores, then first seen") {
    // k = 1: the worst by mean and the worst by deviation differ; both are single.
    auto const pair = [](node a, node b) {
        a.sd = 1;
        b.sd = 2;
        node const c{.id = 3, .n = 5, .mean = 0, .sd = 0, .ci = {0, 1}, .seen = 2};
        return select(blacklist::top_k_intersection(1), {a, b, c});
    };
    CHECK(pair({.id = 1, .n = 5, .mean = 2, .ci = {}, .seen = 0},
               {.id = 2, .n = 9, .mean = 1, .ci = {}, .seen = 1}) == ids{1});
    // Of equal means the worse deviation is common with the first by mean only if it was seen first.
    CHECK(pair({.id = 1, .n = 5, .mean = 2, .ci = {}, .seen = 0},
               {.id = 2, .n = 9, .mean = 2, .ci = {}, .seen = 1}) == ids{2});
    CHECK(pair({.id = 1, .n = 9, .mean = 2, .ci = {}, .seen = 0},
               {.id = 2, .n = 9, .mean = 2, .ci = {}, .seen = 1}) == ids{1});
}

TEST_CASE("always the common nodes, the rest from the singles, never more than k") {
    std::mt19937_64 engine(1);
    for (int trial = 0; trial < 500; ++trial) {
        std::size_t const n = 1 + engine() % 25, k = engine() % (n + 2);
        auto const nodes = random_nodes(engine, n, trial % 2 ? 5u : 1000u); // with many ties and without
        auto const fixed = select(blacklist::top_k_intersection(k), nodes);
        auto const random = select(blacklist::top_k_intersection(k, engine), nodes);
        CHECK(fixed.size() == std::min(n, k));
        CHECK(random.size() == std::min(n, k));
        if (k >= n) continue;
        auto const [common, single] = choose_literally(nodes, k);
        for (auto const& found : {fixed, random}) {
            std::set<std::uint64_t> const chosen(found.begin(), found.end());
            CHECK(chosen.size() == k);
            CHECK(std::ranges::includes(chosen, common));
            for (std::uint64_t id : chosen) CHECK((common.contains(id) || single.contains(id)));
        }
    }
}

TEST_CASE("the random fill is uniform over all singles") {
    // k = 3, no node common: 6 singles, each must be drawn half of the time.
    std::vector<node> nodes;
    for (std::uint32_t i = 0; i < 6; ++i)
        nodes.push_back(
            {.id = i, .n = 5, .mean = i < 3 ? 9.0 : 1.0, .sd = i < 3 ? 1.0 : 9.0, .ci = {}, .seen = i});
    nodes.push_back({.id = 6, .n = 5, .mean = 0, .sd = 0, .ci = {}, .seen = 6});
    std::map<std::uint64_t, int> drawn;
    std::mt19937_64 engine(4);
    int const trials = 10'000;
    for (int i = 0; i < trials; ++i)
        for (std::uint64_t id : select(blacklist::top_k_intersection(3, engine), nodes)) ++drawn[id];
    CHECK(drawn.size() == 6);
    for (auto const& [id, times] : drawn) { // five deviations: 250
        CHECK(times > trials / 2 - 250);
        CHECK(times < trials / 2 + 250);
    }
}

TEST_CASE("the verdict tells the mean and where the cut is") {
    auto const nodes = paper_example();
    blacklist::selection_scratch scratch;
    std::vector<blacklist::candidate> out;
    auto policy = blacklist::top_k_intersection(6);
    CHECK(policy.select(std::span(nodes), scratch, out) == blacklist::selection_note::none);
    REQUIRE(out.size() == 6);
    for (blacklist::candidate const& c : out) {
        CHECK(c.value == nodes[c.node].mean);
        CHECK(c.threshold == 4.0); // the sixth largest mean
        CHECK(c.value >= c.threshold);
    }
    out.clear();
    CHECK(policy.select(std::span<node const>{}, scratch, out) == blacklist::selection_note::too_few_nodes);
}

TEST_CASE("selecting again allocates nothing") {
    std::mt19937_64 engine(3);
    auto const nodes = random_nodes(engine, 500, 1000);
    blacklist::selection_scratch scratch;
    std::vector<blacklist::candidate> out;
    blacklist::top_k_intersection fixed(40);
    blacklist::top_k_intersection random(40, engine);
    (void)fixed.select(std::span(nodes), scratch, out);
    for (int i = 0; i < 20; ++i) { // the number of singles varies with the data only
        out.clear();
        CHECK(straggle_test::allocations_during([&] {
                  (void)fixed.select(std::span(nodes), scratch, out);
                  out.clear();
                  (void)random.select(std::span(nodes), scratch, out);
              }) == 0);
    }
}
