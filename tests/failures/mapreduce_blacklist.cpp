// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/failures/mapreduce_blacklist.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>

using straggle::attempt_status;
using straggle::failures::mapreduce_blacklist;

namespace {

void fail(mapreduce_blacklist& list, std::uint32_t node) {
    list.observe({.node = node, .as = attempt_status::failed});
}

} // namespace

// Hadoop's TestRMContainerAllocator.testIgnoreBlacklisting: nodes known, blacklisted, whether that is
// ignored, and what the resource manager is told in the next heartbeat.
TEST_CASE("mapreduce_blacklist: the list is ignored while it is a third of the cluster") {
    mapreduce_blacklist list({.maxtaskfailures_per_tracker = 1});
    auto const heartbeat = [&](std::size_t known, std::size_t additions, std::size_t removals) {
        auto const sent = list.heartbeat(known);
        CHECK(sent.additions.size() == additions);
        CHECK(sent.removals.size() == removals);
    };
    heartbeat(1, 0, 0);
    CHECK(!list.is_ignored());
    fail(list, 1);
    heartbeat(1, 1, 0); // blacklisted,
    CHECK(list.is_ignored());
    heartbeat(1, 0, 1); // and at once released
    heartbeat(2, 0, 0); // 50 %
    CHECK(list.is_ignored());
    heartbeat(3, 0, 0); // 33 %
    CHECK(list.is_ignored());
    CHECK(!list.is_out(1));
    heartbeat(4, 0, 0); // 25 %
    CHECK(!list.is_ignored());
    CHECK(list.is_out(1));
    heartbeat(4, 1, 0);
    fail(list, 2);
    heartbeat(4, 1, 0); // 50 %
    CHECK(list.is_ignored());
    heartbeat(4, 0, 2);
    fail(list, 3); // remembered while the list is ignored
    heartbeat(5, 0, 0);
    CHECK(list.is_ignored());
    CHECK(list.size() == 3);
    heartbeat(9, 0, 0); // 33 %
    CHECK(list.is_ignored());
    heartbeat(10, 0, 0); // 30 %
    CHECK(!list.is_ignored());
    heartbeat(10, 3, 0);
    CHECK(list.is_out(3)); // the node that failed meanwhile gets nothing
}

TEST_CASE("mapreduce_blacklist: the part that is ignored is rounded down") {
    struct row {
        std::size_t known, blacklisted;
        bool ignored;
    };
    for (row const r : {row{1, 0, false}, row{1, 1, true}, row{2, 1, true}, row{3, 1, true}, row{4, 1, false},
                        row{4, 2, true}, row{5, 3, true}, row{9, 3, true}, row{10, 3, false}}) {
        mapreduce_blacklist list({.maxtaskfailures_per_tracker = 1});
        for (std::uint32_t node = 0; node < r.blacklisted; ++node) fail(list, node);
        list.set_nodes(r.known);
        list.advance();
        CHECK(list.is_ignored() == r.ignored);
    }
    mapreduce_blacklist list({.maxtaskfailures_per_tracker = 1, .ignore_threshold_node_percent = -1});
    fail(list, 0);
    list.heartbeat(1);
    CHECK(!list.is_ignored());
    CHECK(list.is_out(0));
}

// TestRMContainerAllocator.testBlackListedNodes.
TEST_CASE("mapreduce_blacklist: one failure each on two nodes of three") {
    mapreduce_blacklist list({.maxtaskfailures_per_tracker = 1, .ignore_threshold_node_percent = -1});
    list.heartbeat(3);
    fail(list, 1);
    fail(list, 2);
    auto const sent = list.heartbeat(3);
    CHECK(sent.additions.size() == 2);
    CHECK(sent.removals.empty());
    CHECK(list.is_out(1));
    CHECK(list.is_out(2));
    CHECK(!list.is_out(3));
}

TEST_CASE("mapreduce_blacklist: three failures by default, and none counts that was no failure") {
    mapreduce_blacklist list;
    list.set_nodes(10);
    for (attempt_status const as : {attempt_status::success, attempt_status::killed, attempt_status::outrun,
                                    attempt_status::failed, attempt_status::failed})
        list.observe({.node = 4, .as = as});
    CHECK(!list.is_out(4));
    fail(list, 4);
    CHECK(list.is_out(4));
    mapreduce_blacklist off({.node_blacklisting_enable = false});
    for (int i = 0; i < 9; ++i) fail(off, 4);
    CHECK(!off.is_out(4));
    mapreduce_blacklist full({.max_nodes = 4});
    fail(full, 4);
    CHECK(full.refused() == 1);
}
