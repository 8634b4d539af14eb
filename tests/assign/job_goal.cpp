// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/assign/job_goal.hpp>

#include <doctest/doctest.h>

using straggle::assign::job_goal;
using straggle::assign::time_or_deadline;

static_assert(straggle::assign::end_value<time_or_deadline>);
static_assert(straggle::assign::end_value<decltype([](double t, job_goal const&) { return -t; })>);
static_assert(!straggle::assign::end_value<decltype([](double t) { return t; })>);

TEST_CASE("job_goal: without a deadline each unit of time counts, as often as its weight says") {
    constexpr time_or_deadline value;
    CHECK_FALSE(job_goal{}.has_deadline());
    CHECK(value(3, {}) - value(5, {}) == 2);
    CHECK(value(3, {.weight = 4}) - value(5, {.weight = 4}) == 8);
}

TEST_CASE("job_goal: time before a deadline costs nothing, missing it costs, and then time counts again") {
    constexpr time_or_deadline value;
    constexpr job_goal goal{.deadline = 10, .weight = 2, .missed = 30};
    CHECK(goal.has_deadline());
    CHECK(value(1, goal) == 0);
    CHECK(value(10, goal) == 0); // in time
    CHECK(value(11, goal) == -2 * (30 + 1));
    CHECK(value(11, goal) - value(15, goal) == 2 * 4);
}
