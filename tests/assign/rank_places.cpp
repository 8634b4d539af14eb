// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/assign/rank_places.hpp>

#include <doctest/doctest.h>

#include <support/allocations.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

using namespace straggle;
using assign::free_place;
using assign::ranked_place;

namespace {
constexpr double inf = std::numeric_limits<double>::infinity();
std::vector<ranked_place> ranked(std::vector<free_place> const& nodes, double usual, double wait,
                                 std::uint64_t task = 0) {
    std::vector<ranked_place> out;
    assign::rank_places(nodes, usual, wait, task, out);
    return out;
}
} // namespace

TEST_CASE("rank_places: the fastest free node first; what is full, excluded or away not at all") {
    auto const out = ranked({{10, 1, 4, node_state::healthy, 1.5},
                             {11, 2, 4, node_state::healthy, 1.0},
                             {12, 0, 4, node_state::healthy, 0.5},
                             {13, 4, 4, node_state::excluded, 0.5},
                             {14, 4, 4, node_state::away, 0.5},
                             {15, 4, 4, node_state::on_probation, 0.5},
                             {16, 1, 4, node_state::healthy, 0.8}},
                            60, 0);
    REQUIRE(out.size() == 3);
    CHECK(out[0] == ranked_place{16, 48});
    CHECK(out[1] == ranked_place{11, 60});
    CHECK(out[2] == ranked_place{10, 90});
    CHECK(ranked({}, 1, 1).empty());
}

TEST_CASE("rank_places: a last resort is for tasks that end there sooner than they would by waiting") {
    std::vector<free_place> nodes{{1, 0, 4, node_state::healthy, 1.0},
                                  {2, 1, 4, node_state::last_resort, 1.5}};
    CHECK(ranked(nodes, 60, 10).empty());     // 90 against 10 + 60
    CHECK(ranked(nodes, 60, 40).size() == 1); // 90 against 100
    CHECK(ranked(nodes, 0, 40).empty());      // the task's time is not known
    CHECK(ranked(nodes, 0, inf).size() == 1); // but no healthy slot will ever be free
    nodes[0].free = 1;
    CHECK(ranked(nodes, 60, 40).size() == 1); // why wait
    CHECK(ranked(nodes, 60, 40)[0].row == 1);
}

TEST_CASE("rank_places: a node that fails comes after all others of its state, and is not left out") {
    auto const out = ranked({{.row = 10, .free = 4, .slots = 4, .slowdown = 0.5, .fails = true},
                             {.row = 11, .free = 1, .slots = 4, .slowdown = 3},
                             {.row = 12, .free = 4, .slots = 4, .slowdown = 0.6, .fails = true}},
                            60, 0);
    REQUIRE(out.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) CHECK(out[i].row == (std::array<std::uint32_t, 3>{11, 10, 12})[i]);
}

TEST_CASE("rank_places: ties go to the emptier node, then spread over tasks, in whatever order nodes come") {
    std::vector<free_place> nodes;
    for (std::uint32_t i = 0; i < 8; ++i)
        nodes.push_back({i, i == 0 ? 1u : 3u, 4, node_state::healthy, i == 1 ? 1.01 : 1.0, false, i + 5});
    CHECK(ranked(nodes, 1, 0).back().row == 0);
    std::set<std::uint32_t> first;
    for (std::uint64_t task = 0; task < 100; ++task) {
        auto const out = ranked(nodes, 1, 0, task);
        first.insert(out[0].row);
        CHECK(ranked(nodes, 1, 0, task) == out);
        std::reverse(nodes.begin(), nodes.end());
        CHECK(ranked(nodes, 1, 0, task) == out);
    }
    CHECK(first.size() == 7);
}

TEST_CASE("rank_places: where company slows tasks, an empty node comes before a faster one that is crowded") {
    std::vector<free_place> nodes{{.row = 0, .free = 1, .slots = 5, .slowdown = 1, .crowding = 0.4},
                                  {.row = 1, .free = 5, .slots = 5, .slowdown = 1.3, .crowding = 0.4}};
    // All others are busy: 0.4 for the task, and as much for them.
    auto const out = ranked(nodes, 10, 0);
    REQUIRE(out.size() == 2);
    CHECK(out[0].row == 1);
    CHECK(out[0].end == 13);
    CHECK(out[1].end == doctest::Approx(10 * std::exp(0.4)));
    for (free_place& n : nodes) n.crowding = 0;
    CHECK(ranked(nodes, 10, 0)[0].row == 0);

    // One after the other, as each would be ranked by then.
    for (free_place& n : nodes) n.crowding = 0.4;
    nodes[0].free = 5;
    std::vector<detail::queued_place> queue;
    std::vector<ranked_place> filled, one;
    auto twin = nodes;
    CHECK(assign::fill_places(nodes, 10, 0, 3, 10, queue, filled) == 10);
    for (ranked_place const& p : filled) {
        assign::rank_places(twin, 10, 0, 3, one);
        CHECK(one.front() == p);
        --twin[p.row].free;
    }
}

TEST_CASE("rank_places: allocates nothing with memory that is there") {
    std::vector<free_place> nodes(500, free_place{0, 1, 4, node_state::healthy, 1.2});
    std::vector<ranked_place> out;
    assign::rank_places(nodes, 1, 0, 0, out);
    CHECK(straggle_test::allocations_during([&] { assign::rank_places(nodes, 1, 0, 7, out); }) == 0);
}
