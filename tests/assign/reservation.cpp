// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/assign/reservation.hpp>

#include <support/contract_trap.hpp>
#include <support/seed.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace straggle;
using namespace straggle_test;

namespace {

std::vector<std::uint32_t> reserved_on(assign::reservation r, std::vector<std::uint32_t> const& nodes) {
    std::vector<std::uint32_t> kept;
    std::uint64_t before = 0;
    for (std::uint32_t const slots : nodes) {
        kept.push_back(r.reserved({.slots = slots, .before = before}));
        before += slots;
    }
    return kept;
}
using counts = std::vector<std::uint32_t>;

} // namespace

TEST_CASE("reservation: shared slots are for anybody, and nothing is reserved") {
    assign::reservation const r;
    CHECK(r == assign::reservation::shared());
    CHECK(r.is_shared());
    assign::node_slots const node{.slots = 8, .free = 3, .copies = 1};
    CHECK(r.reserved(node) == 0);
    CHECK(r.for_tasks(node) == 3);
    CHECK(r.for_copies(node) == 3);
    CHECK(r.for_copies(node, false) == 3);
}

TEST_CASE("reservation: the fractions of the evaluation framework on twenty nodes of eight slots") {
    counts const nodes(20, 8);
    auto const kept = [&](double x) {
        counts const on = reserved_on(assign::reservation(x), nodes);
        std::uint32_t sum = 0, least = 8, most = 0;
        for (std::uint32_t const n : on) {
            sum += n;
            least = std::min(least, n);
            most = std::max(most, n);
        }
        CHECK(most - least <= 1); // "evenly reserved across the nodes"
        return sum;
    };
    CHECK(kept(1) == 0);
    CHECK(kept(0.95) == 8);
    CHECK(kept(0.9) == 16);
    CHECK(kept(0.75) == 40);
    CHECK(kept(0.5) == 80);
    CHECK(kept(0) == 160);
    CHECK(reserved_on(assign::reservation(0.9), {4, 4, 4, 4, 4}) == counts{0, 0, 1, 0, 1});
    CHECK(reserved_on(assign::reservation(0.9), {10, 10}) == counts{1, 1});
    CHECK(reserved_on(assign::reservation(0.5), {1, 1, 1, 1}) == counts{0, 1, 0, 1});
}

TEST_CASE("reservation: with a fraction tasks and copies have slots of their own") {
    assign::reservation const r(0.75);
    CHECK(r.for_tasks({.slots = 8, .free = 8}) == 6);
    CHECK(r.for_copies({.slots = 8, .free = 8}) == 2);
    CHECK(r.for_tasks({.slots = 8, .free = 2}) == 0); // six tasks run
    CHECK(r.for_copies({.slots = 8, .free = 2}) == 2);
    CHECK(r.for_tasks({.slots = 8, .free = 6, .copies = 2}) == 6);
    CHECK(r.for_copies({.slots = 8, .free = 6, .copies = 2}) == 0);
    CHECK(r.for_copies({.slots = 8, .free = 6, .copies = 1}) == 1);
    CHECK(r.for_copies({.slots = 8, .free = 0, .copies = 1}) == 0); // seven tasks
    CHECK(r.for_tasks({.slots = 8, .free = 1, .copies = 7}) == 1);  // copies on slots of tasks
}

TEST_CASE("reservation: once no task waits copies may take any slot, which is all they can do with x = 1") {
    assign::node_slots const node{.slots = 8, .free = 5, .copies = 1};
    CHECK(assign::reservation(1).for_copies(node) == 0);
    CHECK(assign::reservation(1).for_copies(node, false) == 5);
    CHECK(assign::reservation(0.5).for_copies(node) == 3);
    CHECK(assign::reservation(0.5).for_copies(node, false) == 5);
    CHECK(assign::reservation(0.5).for_tasks(node) == 2);
}

TEST_CASE(
    "reservation: never more than the share, less than a slot below it, and all that is free is somebody's") {
    std::uint64_t const seed = seed_or(41);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    for (int i = 0; i < 300; ++i) {
        double const x = static_cast<double>(engine() % 101) / 100;
        assign::reservation const r(x);
        counts nodes(engine() % 40);
        for (std::uint32_t& n : nodes) n = static_cast<std::uint32_t>(engine() % 20);
        counts const kept = reserved_on(r, nodes);
        double all = 0, reserved = 0;
        std::uint64_t before = 0;
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            REQUIRE(kept[k] <= nodes[k]);
            all += nodes[k];
            reserved += kept[k];
            assign::node_slots node{.slots = nodes[k], .before = before};
            node.copies = static_cast<std::uint32_t>(engine() % (kept[k] + 1));
            auto const tasks = static_cast<std::uint32_t>(engine() % (nodes[k] - kept[k] + 1));
            node.free = node.slots - node.copies - tasks;
            CHECK(r.for_tasks(node) + r.for_copies(node) == node.free);
            before += nodes[k];
        }
        CHECK(reserved <= (1 - x) * all + 1e-6);
        CHECK(reserved > (1 - x) * all - 1 - 1e-6);
    }
}

TEST_CASE("reservation: what does not add up gives nobody more than is free") {
    std::uint64_t const seed = seed_or(42);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    for (int i = 0; i < 1000; ++i) {
        assign::reservation const r(static_cast<double>(engine() % 5) / 4);
        auto const any = [&] { return static_cast<std::uint32_t>(engine() % 6); };
        assign::node_slots const node{
            .slots = any(), .free = any(), .copies = any(), .before = engine() % 10};
        CHECK(r.for_tasks(node) <= node.free);
        CHECK(r.for_copies(node) <= node.free);
        CHECK(r.for_copies(node, false) == node.free);
        CHECK(r.reserved(node) <= node.slots);
    }
    constexpr auto huge = std::numeric_limits<std::uint32_t>::max();
    assign::node_slots const large{.slots = huge, .free = huge, .before = std::uint64_t{1} << 40};
    CHECK(assign::reservation(0).for_copies(large) == huge);
    CHECK(assign::reservation(1).for_tasks(large) == huge);
}

TEST_CASE("reservation: a share that makes no sense breaks the contract") {
    contract_trap const trap;
    CHECK_THROWS_AS(assign::reservation(-0.1), broken_contract);
    CHECK_THROWS_AS(assign::reservation(95), broken_contract);
    CHECK_THROWS_AS(assign::reservation(std::nan("")), broken_contract);
    static_assert(assign::reservation(0.5).for_copies({.slots = 4, .free = 4}) == 2);
    CHECK(assign::reservation(0.5) != assign::reservation(0.75));
    CHECK(assign::reservation(1) != assign::reservation());
}
