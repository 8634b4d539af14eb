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

TEST_CASE("cooldown: a node is out for a minute after the last task it made late") {
    //! [cooldown]
    blacklist::cooldown<std::string> slow_now;
    slow_now.block("host-7", 100, 30);                   // its task gets a copy, at 100 s, among 30 nodes
    bool const at_once = slow_now.avoids("host-7", 100); // true
    slow_now.block("host-7", 130, 30);                   // another one
    bool const still = slow_now.avoids("host-7", 189);   // true: until 190
    bool const later = slow_now.avoids("host-7", 190);   // false
    //! [cooldown]
    CHECK(at_once);
    CHECK(still);
    CHECK_FALSE(later);
    CHECK_FALSE(slow_now.avoids("host-8", 100));
    CHECK(slow_now.blocked(189) == 1);
    CHECK(slow_now.blocked(190) == 0);
    CHECK(slow_now.spared() == 0);
    slow_now.block("host-7", 500, 30); // and once more, when it was over
    CHECK(slow_now.avoids("host-7", 559));
    slow_now.clear();
    CHECK_FALSE(slow_now.avoids("host-7", 559));
}

TEST_CASE("cooldown: never more than a share of the fleet, and who is in is not refused") {
    blacklist::cooldown<int> block({.lasts = 10, .most = 0.2});
    CHECK(block.block(1, 0, 10));
    CHECK(block.block(2, 1, 10));
    CHECK_FALSE(block.block(3, 2, 10));
    CHECK_FALSE(block.avoids(3, 2));
    CHECK(block.spared() == 1);
    CHECK(block.block(2, 5, 10));  // anew
    CHECK(block.block(3, 10, 10)); // the first one is over
    CHECK(block.avoids(2, 14));
    CHECK_FALSE(block.avoids(1, 14));
    CHECK(block.blocked(14) == 2);
    CHECK_FALSE(blacklist::cooldown<int>().block(1, 0, 4)); // a fifth of four is none
    CHECK(blacklist::cooldown<int>().block(1, 0, 5));
    CHECK_FALSE(blacklist::cooldown<int>({.most = 0}).block(1, 0, 1000));
    CHECK_FALSE(blacklist::cooldown<int>().block(1, std::numeric_limits<double>::quiet_NaN(), 100));
    CHECK_FALSE(blacklist::cooldown<int>().block(1, std::numeric_limits<double>::infinity(), 100));
}

TEST_CASE("cooldown: as a table of all nodes would have it") {
    auto const seed = straggle_test::seed_or(20261122);
    INFO("seed ", seed);
    std::mt19937_64 random(seed);
    for (int round = 0; round < 50; ++round) {
        std::size_t const fleet = 1 + random() % 40;
        double const most = static_cast<double>(random() % 5) / 4;
        blacklist::cooldown<std::uint32_t> block({.lasts = 8, .most = most});
        std::map<std::uint32_t, double> until;
        double now = 0;
        for (int step = 0; step < 300; ++step) {
            now += static_cast<double>(random() % 3);
            auto const node = static_cast<std::uint32_t>(random() % fleet);
            std::size_t out = 0;
            for (auto const& [n, end] : until) out += now < end ? 1 : 0;
            bool const is_out = until.contains(node) && now < until[node];
            bool const room = 4.0 * static_cast<double>(out + 1) <= most * 4.0 * static_cast<double>(fleet);
            bool const expected = is_out || room;
            REQUIRE(block.block(node, now, fleet) == expected);
            if (expected) until[node] = now + 8;
            for (std::uint32_t n = 0; n < fleet; ++n)
                REQUIRE(block.avoids(n, now) == (until.contains(n) && now < until[n]));
        }
    }
}

TEST_CASE("cooldown: allocates nothing in the steady state; options that make no sense break the contract") {
    blacklist::cooldown<std::string> block({.lasts = 2, .most = 1});
    auto const turn = [&block](int begin) {
        for (int i = 0; i < 50; ++i) block.block(i % 2 == 0 ? "host-a" : "host-b", begin + i, 9);
    };
    turn(0);
    CHECK(straggle_test::allocations_during([&] { turn(100); }) == 0);
    straggle_test::contract_trap const trap;
    CHECK_THROWS_AS(blacklist::cooldown<int>({.lasts = 0}), straggle_test::broken_contract);
    CHECK_THROWS_AS(blacklist::cooldown<int>({.most = 1.5}), straggle_test::broken_contract);
}
