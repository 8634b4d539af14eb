// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/failures/tez_blacklist.hpp>

#include <doctest/doctest.h>

#include <cstdint>

using straggle::attempt_status;
using straggle::failures::tez_blacklist;
using straggle::failures::tez_node_state;

namespace {

void fail(tez_blacklist& list, std::uint32_t node, std::uint64_t id) {
    list.observe({.node = node, .id = id, .as = attempt_status::failed});
}

} // namespace

// Tez's TestAMNodeTracker with two failures per node and 33 %.
TEST_CASE("tez_blacklist: the only node is forced to be active") {
    tez_blacklist list({.maxtaskfailures_per_node = 2});
    list.set_nodes(1);
    fail(list, 0, 1);
    fail(list, 0, 1); // the same attempt again
    CHECK(list.state(0) == tez_node_state::active);
    CHECK(!list.is_ignored());
    fail(list, 0, 2);
    CHECK(list.state(0) == tez_node_state::forced_active);
    CHECK(list.is_ignored());
    CHECK(!list.is_out(0));
}

TEST_CASE("tez_blacklist: ignored with two nodes of four, not with two of eight") {
    tez_blacklist list({.maxtaskfailures_per_node = 2});
    list.set_nodes(4);
    fail(list, 1, 1);
    fail(list, 1, 2);
    CHECK(list.state(1) == tez_node_state::blacklisted); // 1 < 1.32
    CHECK(list.is_out(1));
    fail(list, 2, 3);
    fail(list, 2, 4);
    CHECK(list.is_ignored()); // 2 >= 1.32
    CHECK(list.state(1) == tez_node_state::forced_active);
    CHECK(list.state(2) == tez_node_state::forced_active);
    list.set_nodes(8); // 2 < 2.64
    CHECK(!list.is_ignored());
    CHECK(list.state(1) == tez_node_state::blacklisted);
    CHECK(list.state(2) == tez_node_state::blacklisted);
    CHECK(list.state(3) == tez_node_state::active);
}

TEST_CASE("tez_blacklist: ten failures by default") {
    tez_blacklist list;
    list.set_nodes(100);
    for (std::uint64_t id = 0; id < 9; ++id) fail(list, 5, id);
    CHECK(!list.is_out(5));
    fail(list, 5, 9);
    CHECK(list.is_out(5));
    CHECK(list.refused() == 0);
}
