// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/failures/mr1_blacklist.hpp>

#include <doctest/doctest.h>

#include <cstdint>

using straggle::attempt_status;
using straggle::failures::mr1_blacklist;
using straggle::failures::mr1_reason;

namespace {

constexpr double day = 86400;
constexpr std::uint8_t failing = static_cast<std::uint8_t>(mr1_reason::exceeding_failures);
constexpr std::uint8_t unhealthy = static_cast<std::uint8_t>(mr1_reason::node_unhealthy);

// A job that avoids a tracker, and succeeds.
void avoid(mr1_blacklist& list, std::uint32_t node, std::uint64_t job, double now, bool succeeded = true) {
    for (int i = 0; i < 4; ++i) list.observe({.node = node, .job = job, .as = attempt_status::failed});
    list.end_job(job, succeeded, now);
}

mr1_blacklist three_trackers() {
    mr1_blacklist list({.max_tracker_blacklists = 1});
    list.set_nodes(3);
    return list;
}

} // namespace

// Hadoop 1's TestTaskTrackerBlacklisting: three trackers, one blacklist is enough.
TEST_CASE("mr1_blacklist: a job blacklists a tracker for a day") {
    mr1_blacklist list = three_trackers();
    avoid(list, 0, 1, 0);
    CHECK(list.blacklisted() == 1);
    CHECK(list.reasons(0) == failing);
    list.advance(day);
    CHECK(list.blacklisted() == 1);
    list.advance(day + 0.001);
    CHECK(list.blacklisted() == 0);
    CHECK(list.faults(0) == 0);
}

TEST_CASE("mr1_blacklist: nodes are unhealthy as long as they say so, all of them if need be") {
    mr1_blacklist list = three_trackers();
    for (std::uint32_t node = 0; node < 3; ++node) list.report_health(node, false, "ERROR");
    CHECK(list.blacklisted() == 3);
    for (std::uint32_t node = 0; node < 3; ++node) CHECK(list.reasons(node) == unhealthy);
    for (std::uint32_t node = 0; node < 3; ++node) list.report_health(node, true, "");
    CHECK(list.blacklisted() == 0);
}

TEST_CASE("mr1_blacklist: reasons are a set, and a node is back when it is empty") {
    mr1_blacklist list = three_trackers();
    avoid(list, 0, 1, 0);
    for (std::uint32_t node = 0; node < 3; ++node) list.report_health(node, false, "ERROR");
    CHECK(list.reasons(0) == (failing | unhealthy));
    CHECK(list.reasons(1) == unhealthy);
    CHECK(list.reasons(2) == unhealthy);
    CHECK(list.blacklisted() == 3);
    list.advance(day + 0.001);
    CHECK(list.reasons(0) == unhealthy);
    CHECK(list.blacklisted() == 3);
    for (std::uint32_t node = 0; node < 3; ++node) list.report_health(node, true, "");
    CHECK(list.blacklisted() == 0);
}

TEST_CASE("mr1_blacklist: becoming unhealthy counts once, being so does not") {
    mr1_blacklist list = three_trackers();
    list.report_health(1, false, "ERROR");
    list.report_health(1, false, "ERROR");
    CHECK(list.times_unhealthy(1) == 1);
    list.report_health(1, true, "");
    list.report_health(1, false, "ERROR");
    CHECK(list.times_unhealthy(1) == 2);
}

TEST_CASE("mr1_blacklist: reports are shown on one line, the last one counts") {
    mr1_blacklist list = three_trackers();
    list.report_health(2, false, "ERROR\nERROR");
    CHECK(list.report(2) == "ERROR:ERROR");
    list.report_health(2, false, "ERROR");
    CHECK(list.report(2) == "ERROR");
    list.report_health(2, false, "ERROR1");
    CHECK(list.report(2) == "ERROR1");
}

TEST_CASE(
    "mr1_blacklist: over jobs it takes four faults, half as many again as the mean, and half the cluster") {
    mr1_blacklist list;
    list.set_nodes(10);
    for (std::uint64_t job = 1; job <= 3; ++job) avoid(list, 0, job, 0);
    CHECK(!list.is_out(0));
    avoid(list, 0, 4, 0, false); // a job that fails blames no tracker
    CHECK(list.faults(0) == 3);
    avoid(list, 0, 5, 0);
    CHECK(list.is_out(0));

    // Where all have as many, none is out of the ordinary.
    mr1_blacklist even;
    even.set_nodes(4);
    for (std::uint64_t job = 0; job < 40; ++job) avoid(even, static_cast<std::uint32_t>(job % 4), job, 0);
    CHECK(even.faults(0) == 10);
    CHECK(even.faults(3) == 10);
    CHECK(even.blacklisted() < 4);

    // Half of the cluster and no more.
    mr1_blacklist half({.max_tracker_blacklists = 1, .average_blacklist_threshold = 0});
    half.set_nodes(6);
    for (std::uint32_t node = 0; node < 6; ++node)
        for (std::uint64_t k = 0; k < 20; ++k) avoid(half, node, 100 * node + k, 0);
    CHECK(half.blacklisted() <= 3);
}

TEST_CASE("mr1_blacklist: four faults are out of the ordinary where the others have two, not where they have "
          "three") {
    for (std::uint64_t const others : {2u, 3u}) {
        mr1_blacklist list;
        list.set_nodes(8);
        for (std::uint32_t node = 1; node < 8; ++node)
            for (std::uint64_t k = 0; k < others; ++k) avoid(list, node, 100 * node + k, 0);
        for (std::uint64_t k = 0; k < 4; ++k) avoid(list, 0, k, 0);
        CHECK(list.faults(0) == 4);
        CHECK(list.is_out(0) == (others == 2)); // 4 > 1.5 * 18 / 8, 4 < 1.5 * 25 / 8
        CHECK(list.blacklisted() == (others == 2 ? 1u : 0u));
    }
}

TEST_CASE("mr1_blacklist: a fault a day is forgiven, and the tracker is back with the first") {
    mr1_blacklist list;
    list.set_nodes(10);
    for (std::uint64_t job = 0; job < 5; ++job) avoid(list, 0, job, 0);
    CHECK(list.faults(0) == 5);
    CHECK(list.is_out(0));
    list.advance(day + 0.001);
    CHECK(list.faults(0) == 4);
    CHECK(!list.is_out(0));
    list.advance(2 * day);
    CHECK(list.faults(0) == 4);
    list.advance(2 * day + 0.003);
    CHECK(list.faults(0) == 3);
}

TEST_CASE("mr1_blacklist: a job avoids a tracker after four failures, and at most a quarter of them") {
    mr1_blacklist list;
    list.set_nodes(8);
    for (int i = 0; i < 3; ++i) list.observe({.node = 1, .job = 9, .as = attempt_status::failed});
    CHECK(!list.is_out_for_job(1, 9));
    list.observe({.node = 1, .job = 9, .as = attempt_status::failed});
    CHECK(list.is_out_for_job(1, 9));
    CHECK(!list.is_out_for_job(1, 8));
    CHECK(!list.is_out(1));
    for (int i = 0; i < 4; ++i) list.observe({.node = 2, .job = 9, .as = attempt_status::failed});
    // Two of eight: too many to be the trackers' fault.
    CHECK(!list.is_out_for_job(1, 9));
    CHECK(!list.is_out_for_job(2, 9));
    CHECK(list.refused() == 0);
}
