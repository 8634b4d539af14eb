// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/evaluate/task_outcome.hpp>

#include <doctest/doctest.h>

#include "../support/contract_trap.hpp"

#include <limits>

namespace {

using straggle::status;
using straggle::detail::rejection_of;
using straggle::evaluate::judge;
using straggle::evaluate::judging_options;
using straggle::evaluate::killed_attempts;
using straggle::evaluate::outcome_rejection;
using straggle::evaluate::straggler_rule;
using straggle::evaluate::task_outcome;
using straggle::evaluate::task_verdict;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

constexpr task_outcome ordinary{.usual = 60, .execution = 70};
constexpr task_outcome missed{.usual = 60, .execution = 120};
constexpr task_outcome false_alarm{.usual = 60, .execution = 70, .detected = 30};
constexpr task_outcome caught{.usual = 60, .execution = 120, .detected = 30}; // 90 remained
constexpr task_outcome fake{.usual = 60, .execution = 120, .detected = 61};   // 59 remained
constexpr task_outcome overtaken{.usual = 60,
                                 .execution = 90,
                                 .progress = 0.6,
                                 .detected = 40,
                                 .copies = 1,
                                 .copies_time = 50,
                                 .winner_time = 50}; // would have taken 150

static_assert(*judge(ordinary) == task_verdict{.execution = 70});
static_assert(*judge(missed) == task_verdict{.execution = 120, .straggler = true});
static_assert(*judge(false_alarm) == task_verdict{.execution = 70, .detected = true});
static_assert(*judge(caught) == task_verdict{.execution = 120, .straggler = true, .detected = true});
static_assert(*judge(fake) ==
              task_verdict{.execution = 120, .straggler = true, .detected = true, .fake = true});
static_assert(*judge(overtaken) == task_verdict{.execution = 150, .straggler = true, .detected = true});
// A threshold of 1.5 takes a task of 80 for ordinary.
static_assert(judge({.usual = 60, .execution = 80})->straggler);
static_assert(!judge({.usual = 60, .execution = 80}, {.straggler = {.threshold = 1.5}})->straggler);

TEST_CASE("task outcome: a fake positive had less than its usual time left") {
    task_outcome t = caught;
    t.detected = 60.0; // exactly the usual time remains
    CHECK(!judge(t)->fake);
    t.detected = 60.000001;
    CHECK(judge(t)->fake);
    t = false_alarm; // only a straggler can be fake: this is a false positive anyway
    t.detected = 69.0;
    CHECK(!judge(t)->fake);
    t = overtaken; // it would have taken 150, so 90 was the last moment
    t.detected = 90.0;
    t.copies_time = t.winner_time.emplace(1.0);
    CHECK(!judge(t)->fake);
    t.progress = 0.61;
    CHECK(judge(t)->fake);
}

TEST_CASE("task outcome: what an overtaken task would have taken") {
    task_outcome t = overtaken;
    CHECK(judge(t)->execution == doctest::Approx(150.0).epsilon(1e-15));
    CHECK(!judge(t)->at_least);

    SUBCASE("unknown, but late already") {
        for (auto progress :
             {std::optional<double>{}, std::optional<double>{0.0}, std::optional<double>{0.9e-4}}) {
            t.progress = progress;
            CHECK(*judge(t) ==
                  task_verdict{.execution = 90, .straggler = true, .detected = true, .at_least = true});
        }
        t.progress = 1e-4;
        CHECK(judge(t)->execution == doctest::Approx(900000.0));
    }
    SUBCASE("unknown, and not late yet") {
        t.execution = 72;
        t.progress = std::nullopt;
        CHECK(judge(t).reason() == status::insufficient_evidence);
        // As observed it looks like a false alarm: why this is not the default.
        auto const observed = judge(t, {.killed = killed_attempts::as_observed});
        CHECK(*observed == task_verdict{.execution = 72, .detected = true, .at_least = true});
    }
    SUBCASE("as observed, the progress is not looked at") {
        auto const observed = judge(t, {.killed = killed_attempts::as_observed});
        CHECK(*observed ==
              task_verdict{.execution = 90, .straggler = true, .detected = true, .at_least = true});
    }
    SUBCASE("a copy that lost changes nothing") {
        t.winner_time = std::nullopt;
        CHECK(*judge(t) == task_verdict{.execution = 90, .straggler = true, .detected = true, .fake = true});
    }
    SUBCASE("a better estimate than the progress") {
        t.progress = t.execution / 200.0;
        CHECK(judge(t)->execution == doctest::Approx(200.0).epsilon(1e-15));
    }
}

template <class Change>
void check_rejected(outcome_rejection reason, Change change) {
    task_outcome t = overtaken;
    REQUIRE(judge(t).has_value());
    change(t);
    INFO(to_string(reason));
    CHECK(rejection_of(t, {}) == reason);
    CHECK(judge(t).reason() ==
          (reason == outcome_rejection::out_of_range ? status::out_of_range : status::out_of_domain));
}

TEST_CASE("task outcome: what cannot be is rejected") {
    for (double bad : {nan, inf, -inf, -1.0}) {
        check_rejected(outcome_rejection::bad_usual, [&](task_outcome& t) { t.usual = bad; });
        check_rejected(outcome_rejection::bad_execution, [&](task_outcome& t) { t.execution = bad; });
        check_rejected(outcome_rejection::bad_progress, [&](task_outcome& t) { t.progress = bad; });
        check_rejected(outcome_rejection::bad_detection, [&](task_outcome& t) { t.detected = bad; });
        check_rejected(outcome_rejection::bad_copies, [&](task_outcome& t) { t.copies_time = bad; });
        check_rejected(outcome_rejection::bad_copies, [&](task_outcome& t) { t.winner_time = bad; });
    }
    check_rejected(outcome_rejection::bad_usual, [](task_outcome& t) { t.usual = 0; });
    check_rejected(outcome_rejection::bad_progress, [](task_outcome& t) { t.progress = 1.0001; });
    check_rejected(outcome_rejection::bad_detection, [](task_outcome& t) { t.detected = 90.001; });
    check_rejected(outcome_rejection::bad_copies, [](task_outcome& t) { t.copies = 0; });
    check_rejected(outcome_rejection::bad_copies, [](task_outcome& t) { t.winner_time = 50.001; });
    check_rejected(outcome_rejection::bad_copies, [](task_outcome& t) {
        t.copies = 0;
        t.copies_time = 0;
        t.winner_time = 0.0;
    });
    check_rejected(outcome_rejection::out_of_range, [](task_outcome& t) { t.usual = 1e-307; });
    check_rejected(outcome_rejection::out_of_range,
                   [](task_outcome& t) { t.execution = 1e308, t.progress = 0.1; });
    CHECK(judge({.usual = 1, .execution = 0}).has_value());
    CHECK(judge({.usual = 1, .execution = 0, .detected = 0}).has_value());
}

TEST_CASE("task outcome: judging has a contract") {
    static_assert(judging_options{}.valid());
    straggle_test::contract_trap const trap;
    for (judging_options const& bad :
         {judging_options{.straggler = {.threshold = 0.9}}, judging_options{.straggler = {.threshold = nan}},
          judging_options{.least_progress = 0}, judging_options{.least_progress = nan},
          judging_options{.least_progress = 1.1}}) {
        CHECK(!bad.valid());
        CHECK_THROWS_AS((void)judge(ordinary, bad), straggle_test::broken_contract);
    }
}

TEST_CASE("task outcome: names") {
    CHECK(to_string(outcome_rejection::bad_usual) == "bad_usual");
    CHECK(to_string(outcome_rejection::bad_copies) == "bad_copies");
    CHECK(to_string(outcome_rejection::out_of_range) == "out_of_range");
}

} // namespace
