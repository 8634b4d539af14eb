// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/blacklist/cooldown.hpp>

#include <doctest/doctest.h>

#include <support/allocations.hpp>
#include <support/contract_trap.hpp>
#include <support/seed.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <string>

using namespace straggle;

TEST_CASE("cooldown: a node is out for a task's time after the second task it made late") {
    //! [cooldown]
    blacklist::cooldown<std::string> slow_now;
    double const usual = 60;                                // a task takes a minute
    slow_now.observe("host-7", 100, usual, 30);             // its task gets a copy, at 100 s, of 30 nodes
    bool const by_one = slow_now.avoids("host-7", 100);     // false: one task says little
    slow_now.observe("host-7", 130, usual, 30);             // a second task
    bool const by_two = slow_now.avoids("host-7", 189);     // true: until 190
    bool const crowded = slow_now.avoids("host-7", 189, 4); // false: four tasks wait
    bool const later = slow_now.avoids("host-7", 190);      // false
    //! [cooldown]
    CHECK_FALSE(by_one);
    CHECK(by_two);
    CHECK_FALSE(crowded);
    CHECK_FALSE(later);
    CHECK_FALSE(slow_now.avoids("host-8", 100));
    CHECK(slow_now.blocked(189) == 1);
    CHECK(slow_now.blocked(190) == 0);
    CHECK(slow_now.spared() == 0);
    CHECK(slow_now.observe("host-7", 200, usual, 30)); // what was late before still counts
    CHECK(slow_now.avoids("host-7", 259));
    CHECK_FALSE(slow_now.observe("host-7", 500, usual, 30)); // by now it does not
    slow_now.clear();
    CHECK_FALSE(slow_now.avoids("host-7", 259));
}

TEST_CASE("cooldown: never more than a share of the fleet, and who is in is not refused") {
    blacklist::cooldown<int> block({.stragglers = 1, .lasts = 10, .most = 0.2});
    CHECK(block.observe(1, 0, 1, 10));
    CHECK(block.observe(2, 1, 1, 10));
    CHECK_FALSE(block.observe(3, 2, 1, 10));
    CHECK_FALSE(block.avoids(3, 2));
    CHECK(block.spared() == 1);
    CHECK(block.observe(2, 5, 1, 10));  // anew
    CHECK(block.observe(3, 10, 1, 10)); // the first one is over
    CHECK(block.avoids(2, 14));
    CHECK_FALSE(block.avoids(1, 14));
    CHECK(block.blocked(14) == 2);
    CHECK_FALSE(blacklist::cooldown<int>({.stragglers = 1}).observe(1, 0, 1, 4)); // a fifth of four is none
    CHECK(blacklist::cooldown<int>({.stragglers = 1}).observe(1, 0, 1, 5));
    CHECK_FALSE(blacklist::cooldown<int>({.stragglers = 1, .most = 0}).observe(1, 0, 1, 1000));
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(),
                     inf = std::numeric_limits<double>::infinity();
    for (double const none : {nan, inf}) {
        CHECK_FALSE(blacklist::cooldown<int>({.stragglers = 1}).observe(1, none, 1, 100));
        CHECK_FALSE(blacklist::cooldown<int>({.stragglers = 1}).observe(1, 0, none, 100));
    }
    CHECK_FALSE(blacklist::cooldown<int>({.stragglers = 1}).observe(1, 0, 0, 100));
}

TEST_CASE("cooldown: as a table of all nodes would have it, in any unit of time") {
    auto const seed = straggle_test::seed_or(20261122);
    INFO("seed ", seed);
    std::mt19937_64 random(seed);
    struct row {
        double until = -1, counts_until = -1;
        std::uint32_t stragglers = 0;
    };
    for (int round = 0; round < 50; ++round) {
        std::size_t const fleet = 1 + random() % 40;
        double const most = static_cast<double>(random() % 5) / 4, unit = round % 2 == 0 ? 1 : 1024;
        auto const needed = static_cast<std::uint32_t>(1 + random() % 3);
        blacklist::cooldown<std::uint32_t> block(
            {.stragglers = needed, .remembers = 5, .lasts = 8, .most = most});
        std::map<std::uint32_t, row> rows;
        double now = 0;
        for (int step = 0; step < 300; ++step) {
            now += static_cast<double>(random() % 3);
            auto const node = static_cast<std::uint32_t>(random() % fleet);
            std::size_t out = 0;
            for (auto const& [n, r] : rows) out += now < r.until ? 1 : 0;
            row& r = rows[node];
            bool expected = now < r.until;
            if (!expected) {
                if (!(now < r.counts_until)) r.stragglers = 0;
                r.counts_until = now + 5;
                bool const room =
                    4.0 * static_cast<double>(out + 1) <= most * 4.0 * static_cast<double>(fleet);
                expected = ++r.stragglers >= needed && room;
            }
            REQUIRE(block.observe(node, now * unit, unit, fleet) == expected);
            if (expected) r.until = now + 8;
            for (std::uint32_t n = 0; n < fleet; ++n)
                REQUIRE(block.avoids(n, now * unit) == (rows.contains(n) && now < rows[n].until));
        }
    }
}

TEST_CASE("cooldown: allocates nothing in the steady state; options that make no sense break the contract") {
    blacklist::cooldown<std::string> block({.lasts = 2, .most = 1});
    auto const turn = [&block](int begin) {
        for (int i = 0; i < 50; ++i) block.observe(i % 2 == 0 ? "host-a" : "host-b", begin + i, 1, 9);
    };
    turn(0);
    CHECK(straggle_test::allocations_during([&] { turn(100); }) == 0);
    straggle_test::contract_trap const trap;
    CHECK_THROWS_AS(blacklist::cooldown<int>({.lasts = 0}), straggle_test::broken_contract);
    CHECK_THROWS_AS(blacklist::cooldown<int>({.stragglers = 0}), straggle_test::broken_contract);
    CHECK_THROWS_AS(blacklist::cooldown<int>({.remembers = -1}), straggle_test::broken_contract);
    CHECK_THROWS_AS(blacklist::cooldown<int>({.most = 1.5}), straggle_test::broken_contract);
}
