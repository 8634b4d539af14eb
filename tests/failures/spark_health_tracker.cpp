// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/failures/spark_health_tracker.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>

using straggle::attempt_status;
using straggle::failures::spark_health_tracker;
using straggle::failures::spark_health_tracker_options;

namespace {

constexpr double T = 3600000; // milliseconds
constexpr std::uint32_t host_a = 0, host_b = 1;

void fail(spark_health_tracker& t, std::uint32_t node, std::uint32_t executor, std::uint64_t stage,
          std::uint64_t task, double at) {
    t.observe({.node = node,
               .executor = executor,
               .stage = stage,
               .task = task,
               .end = at,
               .as = attempt_status::failed});
}
// A stage in which tasks of an executor fail, and that succeeds.
void stage(spark_health_tracker& t, std::uint64_t stage, std::uint32_t node, std::uint32_t executor,
           int failures, double at) {
    for (int task = 0; task < failures; ++task)
        fail(t, node, executor, stage, static_cast<std::uint64_t>(task), at);
    t.end_stage(0, stage, true, at);
}
spark_health_tracker of_the_suite() {
    return spark_health_tracker({.timeout = T});
}

} // namespace

// Spark's BlacklistTrackerSuite and TaskSetBlacklistSuite, with their timeout.
TEST_CASE("spark_health_tracker: defaults") {
    constexpr spark_health_tracker_options o;
    static_assert(o.timeout == 3600);
    static_assert(o.task_max_task_attempts_per_executor == 1 && o.task_max_task_attempts_per_node == 2);
    static_assert(o.stage_max_failed_tasks_per_executor == 2 && o.stage_max_failed_executors_per_node == 2);
    static_assert(o.application_max_failed_tasks_per_executor == 2 &&
                  o.application_max_failed_executors_per_node == 2);
    static_assert(!o.kill_excluded_executors && !o.application_fetch_failure_enabled);
}

TEST_CASE("spark_health_tracker: failures of stages that fail never count") {
    spark_health_tracker t = of_the_suite();
    for (std::uint64_t s = 0; s < 10; ++s) {
        for (std::uint64_t task = 0; task < 4; ++task) fail(t, host_a, 1, s, task, 0);
        t.end_stage(0, s, false, 0);
    }
    CHECK(!t.is_executor_out(1));
    CHECK(!t.is_out(host_a));
}

TEST_CASE("spark_health_tracker: successes take nothing back") {
    spark_health_tracker t = of_the_suite();
    stage(t, 0, host_a, 1, 1, 0);
    for (std::uint64_t task = 0; task < 50; ++task)
        t.observe({.node = host_a, .executor = 1, .stage = 1, .task = task, .end = 1});
    t.end_stage(0, 1, true, 1);
    CHECK(!t.is_executor_out(1));
    stage(t, 2, host_a, 1, 1, 2);
    CHECK(t.is_executor_out(1));
}

TEST_CASE("spark_health_tracker: two executors of a host, then all are released, and the count begins anew") {
    spark_health_tracker t = of_the_suite();
    stage(t, 0, host_a, 1, 4, 0);
    CHECK(t.is_executor_out(1));
    CHECK(!t.is_out(host_a));
    stage(t, 1, host_a, 2, 4, 0);
    CHECK(t.is_executor_out(2));
    CHECK(t.is_out(host_a));
    t.advance(T);
    CHECK(t.is_out(host_a));
    t.advance(T + 1);
    CHECK(!t.is_executor_out(1));
    CHECK(!t.is_executor_out(2));
    CHECK(!t.is_out(host_a));
    stage(t, 2, host_a, 1, 1, T + 1);
    CHECK(!t.is_executor_out(1));
    CHECK(!t.is_out(host_a));
}

TEST_CASE("spark_health_tracker: a host is out from the second of its executors on") {
    spark_health_tracker t = of_the_suite();
    stage(t, 0, host_a, 1, 4, 0);
    stage(t, 1, host_a, 2, 4, T / 2);
    CHECK(t.is_out(host_a));
    CHECK(t.until(host_a) == T / 2 + T);
    t.advance(T + 1);
    CHECK(!t.is_executor_out(1));
    CHECK(t.is_executor_out(2));
    CHECK(t.is_out(host_a));
    t.advance(3 * T / 2 + 1);
    CHECK(!t.is_executor_out(2));
    CHECK(!t.is_out(host_a));
}

TEST_CASE("spark_health_tracker: failures run out") {
    spark_health_tracker t = of_the_suite();
    stage(t, 0, host_a, 1, 1, 0);
    stage(t, 1, host_a, 1, 1, T + 1); // the first has run out
    CHECK(!t.is_executor_out(1));
    stage(t, 2, host_a, 1, 1, 2 * T); // two within T
    CHECK(t.is_executor_out(1));
    t.advance(3 * T);
    CHECK(t.is_executor_out(1));
    t.advance(3 * T + 1);
    CHECK(!t.is_executor_out(1));
}

TEST_CASE("spark_health_tracker: the example of its documentation") {
    spark_health_tracker t({.timeout = 10});
    stage(t, 0, host_a, 1, 1, 0);
    stage(t, 1, host_a, 1, 1, 5);
    CHECK(t.is_executor_out(1));
    t.advance(15);
    CHECK(t.is_executor_out(1));
    t.advance(15.001);
    CHECK(!t.is_executor_out(1));
}

TEST_CASE("spark_health_tracker: the times of failures count, not those of the ends of stages") {
    spark_health_tracker t = of_the_suite();
    fail(t, host_a, 1, 0, 0, 0);
    fail(t, host_a, 1, 1, 0, 5 * T);
    t.end_stage(0, 0, true, 5 * T);
    t.end_stage(0, 1, true, 5 * T);
    CHECK(!t.is_executor_out(1));
}

TEST_CASE("spark_health_tracker: limits for a task and a stage of 2, 3, 2 and 3") {
    spark_health_tracker t({.timeout = T,
                            .task_max_task_attempts_per_executor = 2,
                            .task_max_task_attempts_per_node = 3,
                            .stage_max_failed_tasks_per_executor = 2,
                            .stage_max_failed_executors_per_node = 3});
    // The same task twice on one executor counts twice for the task, once for the stage.
    fail(t, host_a, 1, 0, 0, 0);
    CHECK(!t.is_executor_out_for_task(1, 0, 0, 0));
    fail(t, host_a, 1, 0, 0, 1);
    CHECK(t.is_executor_out_for_task(1, 0, 0, 0));
    CHECK(!t.is_out_for_task(host_a, 0, 0, 0));
    CHECK(!t.is_executor_out_for_stage(1, 0, 0));
    fail(t, host_a, 2, 0, 0, 2); // the third attempt on the node
    CHECK(t.is_out_for_task(host_a, 0, 0, 0));
    CHECK(!t.is_out_for_task(host_a, 0, 0, 1));
    fail(t, host_a, 1, 0, 1, 3); // a second task
    CHECK(t.is_executor_out_for_stage(1, 0, 0));
    CHECK(!t.is_executor_out_for_stage(1, 0, 1));
    fail(t, host_a, 2, 0, 1, 4);
    CHECK(t.is_executor_out_for_stage(2, 0, 0));
    CHECK(!t.is_out_for_stage(host_a, 0, 0));
    fail(t, host_a, 3, 0, 2, 5);
    fail(t, host_a, 3, 0, 3, 6);
    CHECK(t.is_out_for_stage(host_a, 0, 0)); // the third executor
    CHECK(!t.is_out(host_a));
    t.end_stage(0, 0, false, 7);
    CHECK(!t.is_out_for_stage(host_a, 0, 0));
    CHECK(!t.is_executor_out_for_task(1, 0, 0, 0));
}

TEST_CASE("spark_health_tracker: executors on two hosts never exclude a host") {
    spark_health_tracker t = of_the_suite();
    stage(t, 0, host_a, 1, 4, 0);
    stage(t, 1, host_b, 2, 4, 0);
    CHECK(t.is_executor_out(1));
    CHECK(t.is_executor_out(2));
    CHECK(!t.is_out(host_a));
    CHECK(!t.is_out(host_b));
    for (std::uint64_t task = 0; task < 4; ++task) {
        fail(t, host_a, 1, 2, task, 1);
        fail(t, host_b, 2, 2, task, 1);
    }
    CHECK(t.is_executor_out_for_stage(1, 0, 2));
    CHECK(!t.is_out_for_stage(host_a, 0, 2));
    CHECK(!t.is_out_for_stage(host_b, 0, 2));
}

TEST_CASE("spark_health_tracker: what is excluded is killed where asked for") {
    spark_health_tracker t({.timeout = T, .kill_excluded_executors = true});
    stage(t, 0, host_a, 1, 2, 0);
    REQUIRE(t.kills().size() == 1);
    CHECK(t.kills()[0].executor == 1);
    stage(t, 1, host_a, 2, 2, 0);
    REQUIRE(t.kills().size() == 3);
    CHECK(t.kills()[2].executor == straggle::failures::no_executor);
    CHECK(t.kills()[2].node == host_a);
    t.forget_kills();
    CHECK(t.kills().empty());
}

TEST_CASE("spark_health_tracker: a failure to fetch excludes at once where switched on") {
    spark_health_tracker off = of_the_suite();
    off.observe_fetch_failure(host_a, 1, false, 0);
    CHECK(!off.is_executor_out(1));
    spark_health_tracker t({.timeout = T, .application_fetch_failure_enabled = true});
    t.observe_fetch_failure(host_a, 1, false, 0);
    CHECK(t.is_executor_out(1));
    CHECK(!t.is_out(host_a));
    t.observe_fetch_failure(host_b, 2, true, 0);
    CHECK(t.is_out(host_b));
    t.advance(T + 1);
    CHECK(!t.is_executor_out(1));
    CHECK(!t.is_out(host_b));
}

TEST_CASE("spark_health_tracker: without executors a node is its only one") {
    spark_health_tracker t({.timeout = T, .application_max_failed_executors_per_node = 1});
    for (std::uint64_t task = 0; task < 2; ++task)
        t.observe({.node = host_b, .task = task, .end = 1, .as = attempt_status::failed});
    t.end_stage(0, 0, true, 2);
    CHECK(t.is_out(host_b));
    CHECK(t.is_executor_out(straggle::failures::no_executor, host_b));
    CHECK(!t.is_executor_out(straggle::failures::no_executor, host_a));
    CHECK(!t.is_executor_out(host_b)); // an executor of that number is another
}

TEST_CASE(
    "spark_health_tracker: a long life takes no more memory than its bound, and says what it left out") {
    spark_health_tracker t({.timeout = 100, .max_failures = 64, .max_nodes = 16});
    for (std::uint64_t s = 0; s < 5000; ++s) {
        for (std::uint64_t task = 0; task < 8; ++task)
            fail(t, static_cast<std::uint32_t>(s % 16), static_cast<std::uint32_t>(s % 16), s, task,
                 static_cast<double>(s));
        t.end_stage(0, s, s % 2 == 0, static_cast<double>(s));
    }
    CHECK(t.refused() == 0);
    for (std::uint64_t task = 0; task < 65; ++task) fail(t, 0, 0, 9999, task, 6000);
    CHECK(t.refused() > 0);
}
