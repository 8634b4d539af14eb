// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/rank/monitor_counts.hpp>

#include <doctest/doctest.h>

using straggle::monitor_counts;

TEST_CASE("monitor counts: every number adds up by its own") {
    monitor_counts a;
    a.too_old = 1;
    a.early = 2;
    a.over_capacity = 3;
    a.unfinished_jobs = 4;
    a.forgotten_jobs = 5;
    a.evicted_jobs = 6;
    a.attempts.seen = 7;
    monitor_counts sum = a;
    sum += a;
    CHECK(sum.too_old == 2);
    CHECK(sum.early == 4);
    CHECK(sum.over_capacity == 6);
    CHECK(sum.unfinished_jobs == 8);
    CHECK(sum.forgotten_jobs == 10);
    CHECK(sum.evicted_jobs == 12);
    CHECK(sum.attempts.seen == 14);
    sum = {};
    sum += a;
    CHECK(sum == a);
}
