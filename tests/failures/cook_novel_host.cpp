// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/failures/cook_novel_host.hpp>

#include <doctest/doctest.h>

using straggle::attempt_status;
using straggle::failures::cook_novel_host;
using straggle::failures::failure_kind;

TEST_CASE("cook_novel_host: a task never runs again where it ran, but where it was preempted") {
    cook_novel_host rule;
    rule.observe({.node = 1, .job = 7, .task = 3, .as = attempt_status::failed});
    rule.observe({.node = 2, .job = 7, .task = 3, .as = attempt_status::killed});
    rule.observe({.node = 4, .job = 7, .task = 3, .as = attempt_status::success});
    CHECK(rule.is_out_for_task(1, 7, 3));
    CHECK(!rule.is_out_for_task(2, 7, 3));
    CHECK(rule.is_out_for_task(4, 7, 3));
    CHECK(!rule.is_out_for_task(1, 7, 4));
    CHECK(!rule.is_out_for_task(1, 8, 3));
    CHECK(!rule.is_out(1));
    rule.forget(7, 3);
    CHECK(!rule.is_out_for_task(1, 7, 3));
    CHECK(rule.attempts_consumed(7, 3) == 0);
}

// As in Cook's test-attempts-consumed: two unknown failures are two attempts; failures that are the cluster's
// own fault count beyond the limit of their kind.
TEST_CASE("cook_novel_host: attempts that a task has used up") {
    cook_novel_host rule;
    for (int i = 0; i < 2; ++i) rule.observe({.node = 1, .job = 1, .task = 1, .as = attempt_status::failed});
    CHECK(rule.attempts_consumed(1, 1) == 2);
    for (int i = 0; i < 5; ++i)
        rule.observe({.job = 1, .task = 1, .as = attempt_status::failed, .kind = failure_kind::mea_culpa});
    CHECK(rule.attempts_consumed(1, 1) == 2);
    rule.observe({.job = 1, .task = 1, .as = attempt_status::failed, .kind = failure_kind::mea_culpa});
    CHECK(rule.attempts_consumed(1, 1) == 3);
    cook_novel_host unlimited({.mea_culpa_failure_limit = -1});
    cook_novel_host strict({.disable_mea_culpa_retries = true});
    for (int i = 0; i < 20; ++i)
        for (cook_novel_host* const r : {&unlimited, &strict})
            r->observe({.job = 1, .task = 1, .as = attempt_status::failed, .kind = failure_kind::mea_culpa});
    CHECK(unlimited.attempts_consumed(1, 1) == 0);
    CHECK(strict.attempts_consumed(1, 1) == 20);
}

TEST_CASE("cook_novel_host: what there is no room for is counted") {
    cook_novel_host rule({.max_tasks = 4});
    for (std::uint64_t task = 0; task < 6; ++task)
        rule.observe({.node = 1, .job = 1, .task = task, .as = attempt_status::failed});
    CHECK(rule.refused() == 2);
    CHECK(rule.is_out_for_task(1, 1, 3));
    CHECK(!rule.is_out_for_task(1, 1, 5));
}
