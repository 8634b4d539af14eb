// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/failures/storm_blacklist.hpp>

#include <doctest/doctest.h>

#include <vector>

using straggle::failures::storm_blacklist;
using straggle::failures::storm_supervisor;

namespace {

// Storm's TestBlacklistScheduler: three supervisors of four slots.
storm_blacklist of_the_test() {
    return storm_blacklist(
        {.tolerance_time_secs = 200, .tolerance_count = 2, .resume_time_secs = 300, .monitor_freq_secs = 10});
}
std::vector<storm_supervisor> const all{{0, 4}, {1, 4}, {2, 4}};
std::vector<storm_supervisor> const without_0{{1, 4}, {2, 4}};
std::vector<storm_supervisor> const only_2{{2, 4}};

} // namespace

TEST_CASE("storm_blacklist: missing twice, out for five minutes") {
    storm_blacklist list = of_the_test();
    list.schedule(all, 0);
    list.schedule(without_0, 0);
    CHECK(!list.is_out(0));
    list.schedule(without_0, 0);
    list.schedule(all, 0);
    CHECK(list.is_out(0));
    for (int tick = 0; tick < 300 / 10 - 2; ++tick) {
        list.schedule(all, 0);
        REQUIRE(list.is_out(0));
    }
    list.schedule(all, 0);
    CHECK(!list.is_out(0));
    CHECK(!list.is_last_resort(0));
    CHECK(!list.is_out(1));
}

TEST_CASE("storm_blacklist: released at once when slots are short, and used last") {
    storm_blacklist list = of_the_test();
    list.schedule(all, 0);
    list.schedule(without_0, 0);
    list.schedule(without_0, 0);
    list.schedule(all, 8); // what is left has as many
    CHECK(list.is_out(0));
    list.schedule(all, 9);
    CHECK(!list.is_out(0));
    CHECK(list.is_last_resort(0));
}

TEST_CASE("storm_blacklist: no more are released than are needed") {
    storm_blacklist list = of_the_test();
    list.schedule(all, 0);
    list.schedule(only_2, 0);
    list.schedule(only_2, 0);
    list.schedule(all, 0);
    CHECK(list.is_out(0));
    CHECK(list.is_out(1));
    list.schedule(all, 5);
    CHECK(static_cast<int>(list.is_out(0)) + static_cast<int>(list.is_out(1)) == 1);
}

TEST_CASE("storm_blacklist: attempts that fail count for the round they are told in") {
    storm_blacklist list({.tolerance_count = 3});
    for (int i = 0; i < 2; ++i) list.observe({.node = 1, .as = straggle::attempt_status::failed});
    list.advance(0);
    CHECK(!list.is_out(1));
    for (int i = 0; i < 31; ++i) list.advance(0); // out of the 30 rounds that are looked back at
    list.observe({.node = 1, .as = straggle::attempt_status::failed});
    list.observe({.node = 1, .as = straggle::attempt_status::success});
    list.advance(0);
    CHECK(!list.is_out(1));
    for (int i = 0; i < 2; ++i) list.observe({.node = 1, .as = straggle::attempt_status::failed});
    list.advance(0);
    CHECK(list.is_out(1));
    CHECK(list.refused() == 0);
}
