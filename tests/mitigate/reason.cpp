// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/mitigate/reason.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

using namespace straggle;
using mitigate::reason;

TEST_CASE("reason: how slow a node is, as people say it") {
    CHECK(reason(slowdown{1.31, 1.24, 1.39, 116}) ==
          "takes 1.31 times as long as elsewhere (1.24 to 1.39), 116 tasks");
    CHECK(reason(slowdown{}) == "not known well enough, 0 tasks");
    CHECK(reason(slowdown{.value = 2, .tasks = 3}) ==
          "at least 2.00 times as long as elsewhere; 3 attempts still running");
    CHECK(reason(slowdown{.value = 2}) ==
          "at least 2.00 times as long as elsewhere; its attempts were stopped before they ended");
    CHECK(reason(slowdown{2, 1, 4, 1}) == "takes 2.00 times as long as elsewhere (1.00 to 4.00), 1 task");
}

TEST_CASE("reason: where a node stands") {
    mitigate::planned_node n{.row = 4,
                             .state = node_state::excluded,
                             .slow = {1.31, 1.24, 1.39, 116},
                             .why = {1.31, 1.1, 1, "slowdown"},
                             .causes = static_cast<std::uint8_t>(blacklist::cause::slow)};
    CHECK(reason(n) == "excluded: takes 1.31 times as long as elsewhere (1.24 to 1.39), 116 tasks "
                       "(slowdown: 1.31 against 1.10)");
    n.causes = 2 | 4 | 8;
    n.why = {};
    CHECK(reason(n) == "excluded: the operator denies it; its tasks do not end; its tasks fail");
    n.causes = 1 | 4;
    n.why = {1, 0.5, 0.2, "failures"};
    CHECK(reason(n) == "excluded: its tasks fail; takes 1.31 times as long as elsewhere (1.24 to 1.39), 116 "
                       "tasks (failures: 1.00 against 0.50)");
    n = {.why = {1, 0.9, 0.2, "failures"}, .spared_by = blacklist::spared::by_fail_open};
    CHECK(reason(n) == "healthy: its tasks fail (failures: 1.00 against 0.90); in service, since so many "
                       "nodes look bad that the measurement is in doubt");
    CHECK(reason(mitigate::planned_node{}) == "healthy: no evidence against it");
    n = {.state = node_state::last_resort,
         .slow = {1.31, 1.24, 1.39, 116},
         .causes = static_cast<std::uint8_t>(blacklist::cause::slow),
         .spared_by = blacklist::spared::by_limit};
    CHECK(reason(n) ==
          "last_resort: takes 1.31 times as long as elsewhere (1.24 to 1.39), 116 tasks; in service, "
          "since too many slots would be out");
}

TEST_CASE("reason: why a task has a copy") {
    mitigate::planned_copy c{.left = {10, 20, 90},
                             .there = {4, 5.25, 8},
                             .win_probability = 0.913,
                             .gain = 12.5,
                             .cost = 0.5,
                             .why = {61, 40, 22, "late"}};
    CHECK(reason(c) ==
          "copy: what is left takes 20 (10 to 90), there 5.25 (4 to 8); 91 % likely to win, gains 12.5 "
          "for 0.5 (late: 61 against 40, usual 22)");
    c.cause.probability = {0.93, 0, 0, 0, 0.07};
    c.cause.times = {2.1, 1, 1, 1, 1.2};
    CHECK(reason(c).ends_with("usual 22); late because of its node (93 %), 2.10 times as long by it"));
    c.is_probe = true;
    CHECK(reason(c).starts_with("probe: "));
}

TEST_CASE("reason: why a task is late") {
    CHECK(reason(detect::late_cause{}) == "late, cause unknown");
    mitigate::planned_suspect s{.left = {10, 20, 90}};
    s.cause.probability = {0.1, 0, 0.55, 0, 0.35};
    s.cause.times = {1, 1, 1.6, 1, 1.3};
    CHECK(reason(s) == "late because of the crowd on its node (55 %), 1.60 times as long by it; or of itself "
                       "(35 %); what is left takes 20 (10 to 90)");
    for (auto const by : {detect::late_by::input, detect::late_by::kind}) {
        s.cause.probability = {};
        s.cause.probability[static_cast<std::size_t>(by)] = 1;
        CHECK(reason(s.cause).starts_with(by == detect::late_by::input ? "late because of its input (100 %)"
                                                                       : "late because of its whole job"));
    }
}

TEST_CASE("reason: of a job with a deadline") {
    mitigate::planned_job j{.end = {33, 42, 61},
                            .deadline = 30,
                            .miss_probability = 0.96,
                            .least_probability = 0.12,
                            .copies = 1,
                            .planned = 2};
    CHECK(reason(j) == "deadline in 30: its times are not known yet");
    j.is_known = true;
    CHECK(reason(j) ==
          "deadline in 30: ends in 42 (33 to 61), 96 % likely to miss it, at least 12 % with copies; "
          "1 copy runs, 2 planned");
    j.least_probability = 0.97;
    CHECK(j.is_lost());
    CHECK(reason(j).ends_with("nothing can help"));
    j.deadline = -4;
    CHECK(reason(j) == "deadline missed by 4: ends in 42 (33 to 61)");
}

TEST_CASE("reason: why an attempt is to be killed") {
    CHECK(reason(mitigate::planned_kill{3}) == "its node hangs, and a copy of it runs");
}

TEST_CASE("reason: what a kind of action does") {
    std::string out;
    append_reason(out, mitigate::action_kind::copy, mitigate::effect{0.91, 0.84, 0.98, 812, 19, false});
    CHECK(out == "copy: 0.91 times as long (0.84 to 0.98), 812 treated, 19 left alone");
    out.clear();
    append_reason(out, mitigate::action_kind::exclusion,
                  mitigate::effect{.treated = 3, .alone = 1, .is_stopped = true});
    CHECK(out == "exclusion: not known yet, 3 treated, 1 left alone, stopped");
}

TEST_CASE("reason: every note has words") {
    for (std::size_t n = 0; n < mitigate::plan_note_count; ++n) {
        CHECK(reason(static_cast<mitigate::plan_note>(n)).size() > 10);
        CHECK(reason(static_cast<mitigate::plan_note>(n)) != "unknown");
    }
}
