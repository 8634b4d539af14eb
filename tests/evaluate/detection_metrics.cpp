// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/evaluate/detection_metrics.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/contract_trap.hpp"
#include "../support/golden.hpp"
#include "../support/seed.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

using straggle::outcome;
using straggle::status;
using straggle::evaluate::detection_counts;
using straggle::evaluate::detection_metrics;
using straggle::evaluate::job_tail;
using straggle::evaluate::judging_options;
using straggle::evaluate::killed_attempts;
using straggle::evaluate::outcome_rejection;
using straggle::evaluate::task_outcome;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double huge = (std::numeric_limits<double>::max)();

// Ten tasks by hand; usual time 100 each but for the last two, where it is 10.
constexpr task_outcome by_hand[] = {
    {.usual = 100, .execution = 100},                                                // ordinary
    {.usual = 100, .execution = 120},                                                // ordinary: not longer
    {.usual = 100, .execution = 300},                                                // missed: 3
    {.usual = 100, .execution = 90, .detected = 45, .copies = 1, .copies_time = 40}, // false alarm
    {.usual = 100,
     .execution = 250,
     .detected = 50,
     .copies = 1,
     .copies_time = 195},                              // caught: 0.5, copy lost
    {.usual = 100, .execution = 200, .detected = 150}, // fake: 1.5
    {.usual = 100,
     .execution = 180,
     .progress = 0.45,
     .detected = 70,
     .copies = 2,
     .copies_time = 190,
     .winner_time = 105}, // would take 400, caught: 0.7
    {.usual = 100,
     .execution = 110,
     .detected = 5,
     .copies = 1,
     .copies_time = 100,
     .winner_time = 100},                          // who knows
    {.usual = 10, .execution = 50},                // missed: 5
    {.usual = 10, .execution = 13, .detected = 1}, // caught: 0.1
};

template <std::size_t N>
constexpr detection_metrics metrics_of(task_outcome const (&tasks)[N], judging_options const& how = {}) {
    detection_metrics m(how);
    for (auto const& t : tasks) m.observe(t);
    return m;
}

// Everything may be computed by the compiler.
constexpr detection_metrics hand = metrics_of(by_hand);
static_assert(hand.counts() == detection_counts{.seen = 10,
                                                .tasks = {.true_positives = 4,
                                                          .false_positives = 1,
                                                          .false_negatives = 2,
                                                          .true_negatives = 2},
                                                .undecided = 1,
                                                .fakes = 1,
                                                .copies = 5,
                                                .effective_copies = 2});
static_assert(hand.counts().missed() == 2 && hand.counts().false_alarms() == 1);
static_assert(hand.counts().wasted_copies() == 3);
static_assert(*hand.straggler_ratio() == 6.0 / 9);
static_assert(*hand.precision() == 4.0 / 5 && *hand.precision_in_time() == 3.0 / 5);
static_assert(*hand.recall() == 4.0 / 6 && *hand.recall_in_time() == 3.0 / 6);
static_assert(*hand.f1() == 8.0 / 11 && *hand.f1_in_time() == 6.0 / 11);
static_assert(*hand.fake_positive_ratio() == 1.0 / 5);
static_assert(*hand.undetected_time() == (3.0 + 5.0) / 2);
static_assert(*hand.win_rate() == 2.0 / 5);
static_assert(sizeof(detection_metrics) <= 248);
static_assert(!detection_metrics{}.precision() && !job_tail{}.ratio());

TEST_CASE("detection metrics: an example") {
    // clang-format off
    //! [metrics]
    straggle::evaluate::detection_metrics metrics;
    metrics.observe({.usual = 60,         // seconds, as the task took in earlier runs
                 .execution = 90,     // until a copy finished and this attempt was killed
                 .progress = 0.6,     // done by then: it would have taken 150
                 .detected = 40,      // after it began
                 .copies = 1,
                 .copies_time = 50,
                 .winner_time = 50});
    metrics.observe({.usual = 60, .execution = 130}); // a straggler that was missed
    auto const recall = metrics.recall();         // 0.5
    auto const wins = metrics.win_rate();         // 1
    //! [metrics]
    // clang-format on
    CHECK(*recall == 0.5);
    CHECK(*wins == 1.0);
}

TEST_CASE("detection metrics: by hand") {
    CHECK(*hand.detection_latency() == doctest::Approx((0.5 + 1.5 + 0.7 + 0.1) / 4).epsilon(1e-15));
    auto const slots = hand.slots();
    CHECK(slots.copies == 40.0 + 195 + 190 + 100);
    CHECK(slots.total == 100.0 + 120 + 300 + 90 + 250 + 200 + 180 + 110 + 50 + 13 + slots.copies);
    CHECK(slots.wasted_copies == 40.0 + 195 + (190 - 105));
    CHECK(slots.overtaken == 180.0 + 110);
    CHECK(*hand.wasted_share() == doctest::Approx((320.0 + 290) / (1413 + 525)).epsilon(1e-15));
}

TEST_CASE("detection metrics: killed attempts as observed") {
    detection_metrics const m = metrics_of(by_hand, {.killed = killed_attempts::as_observed});
    CHECK(m.counts().undecided == 0);
    CHECK(m.counts().at_least == 2);
    CHECK(m.counts().false_alarms() == 2); // the task that was saved before it was late
    CHECK(*m.precision() == 4.0 / 6);
    CHECK(*m.undetected_time() == 4.0);
    CHECK(m.slots() == hand.slots());
}

TEST_CASE("detection metrics: the example of section 6.2, 0.5 and 0.14 make 0.36") {
    detection_metrics m;
    for (int i = 0; i < 100; ++i) {
        double const execution = i < 50 ? 200.0 : 100.0; // half of the detected are stragglers
        m.observe({.usual = 100, .execution = execution, .detected = i < 14 ? 130.0 : 40.0});
    }
    CHECK(*m.precision() == 0.5);
    CHECK(*m.fake_positive_ratio() == 0.14);
    CHECK(*m.precision_in_time() == 0.36);
}

TEST_CASE("detection metrics: nothing has no metrics") {
    detection_metrics m;
    auto const all = [&] {
        return std::vector<outcome<double>>{m.straggler_ratio(),   m.precision(),
                                            m.precision_in_time(), m.recall(),
                                            m.recall_in_time(),    m.f1(),
                                            m.f1_in_time(),        m.detection_latency(),
                                            m.undetected_time(),   m.fake_positive_ratio(),
                                            m.win_rate(),          m.wasted_share()};
    };
    for (auto const& x : all()) CHECK(x.reason() == status::insufficient_evidence);
    m.observe({.usual = 1, .execution = 0}); // a task that took no time
    CHECK(m.wasted_share().reason() == status::insufficient_evidence);
    CHECK(*m.straggler_ratio() == 0.0);
    m.observe({.usual = 1, .execution = 1});
    CHECK(*m.wasted_share() == 0.0);
    CHECK(m.f1().reason() == status::insufficient_evidence); // no straggler, no detection
    m.observe({.usual = 1, .execution = 5});                 // missed
    CHECK(m.precision().reason() == status::insufficient_evidence);
    CHECK(*m.recall() == 0.0);
    CHECK(*m.f1() == 0.0);
    CHECK(m.detection_latency().reason() == status::insufficient_evidence);
    CHECK(*m.undetected_time() == 5.0);
}

TEST_CASE("detection metrics: the impossible is counted by reason and changes nothing else") {
    detection_metrics m = hand;
    CHECK_FALSE(m.observe({.usual = 0, .execution = 1}));
    CHECK_FALSE(m.observe({.usual = 1, .execution = nan}));
    CHECK_FALSE(m.observe({.usual = 1, .execution = 1, .detected = 2}));
    CHECK_FALSE(m.observe({.usual = 1e-300, .execution = 1e300}));
    auto const& n = m.counts();
    CHECK(n[outcome_rejection::bad_usual] == 1);
    CHECK(n[outcome_rejection::bad_execution] == 1);
    CHECK(n[outcome_rejection::bad_detection] == 1);
    CHECK(n[outcome_rejection::out_of_range] == 1);
    CHECK(n.seen == n.judged() + n.undecided + n.total_rejected());
    CHECK(n.judged() == hand.counts().judged());
    CHECK(m.detection_latency() == hand.detection_latency());
    CHECK(m.slots() == hand.slots());
    CHECK_FALSE(m.observe(by_hand[7]));
}

TEST_CASE("detection metrics: too large for a double is said, and harms nothing but that sum") {
    detection_metrics m;
    for (int i = 0; i < 3; ++i)
        m.observe({.usual = huge, .execution = huge, .copies = 1, .copies_time = huge});
    CHECK(m.wasted_share().reason() == status::out_of_range);
    for (int i = 0; i < 3; ++i) m.observe({.usual = 1, .execution = huge});
    CHECK(m.undetected_time().reason() == status::out_of_range);
    CHECK(*m.recall() == 0.0);
    CHECK(*m.win_rate() == 0.0);
}

// Tasks of every kind, also impossible ones.
task_outcome any_task(std::mt19937_64& engine) {
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    std::lognormal_distribution<double> spread(0.0, 0.5);
    task_outcome t{.usual = 60 * spread(engine), .execution = 70 * spread(engine)};
    if (unit(engine) < 0.5) t.detected = t.execution * unit(engine);
    if (unit(engine) < 0.5) {
        t.copies = 1 + static_cast<std::uint32_t>(3 * unit(engine));
        t.copies_time = 100 * unit(engine);
        if (unit(engine) < 0.5) t.winner_time = t.copies_time * unit(engine);
        if (t.winner_time && unit(engine) < 0.8) t.progress = unit(engine);
    }
    if (unit(engine) < 0.02) t.usual = nan;
    if (unit(engine) < 0.02) t.detected = 2 * t.execution;
    return t;
}

// Written again, in long double and from the formulas of the paper.
struct plainly {
    long double tp = 0, fp = 0, fn = 0, fakes = 0, latency = 0, undetected = 0, wasted = 0;

    static long double wide(double x) { return static_cast<long double>(x); }

    explicit plainly(std::vector<task_outcome> const& tasks) {
        for (auto const& t : tasks) {
            if (!(t.usual > 0) || (t.detected && *t.detected > t.execution)) continue;
            wasted += wide(t.copies_time) - wide(t.winner_time.value_or(0.0));
            bool const known = !t.winner_time || (t.progress && *t.progress >= 1e-4);
            double const took = t.winner_time && known ? t.execution / *t.progress : t.execution;
            bool const straggler = took > 1.2 * t.usual;
            if (!known && !straggler) continue;
            if (!t.detected) {
                fn += straggler;
                undetected += wide(straggler ? took / t.usual : 0.0);
            } else if (straggler) {
                ++tp;
                latency += wide(*t.detected / t.usual);
                fakes += known && took - *t.detected < t.usual;
            } else {
                ++fp;
            }
        }
    }
};

TEST_CASE("detection metrics: against the formulas written again, merged in any split and order") {
    std::uint64_t const seed = straggle_test::seed_or(20190712);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    for (int round = 0; round < 20; ++round) {
        std::vector<task_outcome> tasks(1 + engine() % 3000);
        for (auto& t : tasks) t = any_task(engine);
        detection_metrics all;
        for (auto const& t : tasks) all.observe(t);

        plainly const right(tasks);
        auto const same = [](outcome<double> const& x, long double part, long double whole) {
            REQUIRE(x.has_value() == (whole > 0));
            if (x) CHECK(straggle_test::ulps_off(*x, static_cast<double>(part / whole)) <= 2);
        };
        same(all.precision(), right.tp, right.tp + right.fp);
        same(all.precision_in_time(), right.tp - right.fakes, right.tp + right.fp);
        same(all.recall(), right.tp, right.tp + right.fn);
        same(all.recall_in_time(), right.tp - right.fakes, right.tp + right.fn);
        same(all.detection_latency(), right.latency, right.tp);
        same(all.undetected_time(), right.undetected, right.fn);
        same(all.fake_positive_ratio(), right.fakes, right.tp + right.fp);
        CHECK(all.slots().wasted_copies == doctest::Approx(static_cast<double>(right.wasted)).epsilon(1e-13));
        if (auto const p = all.precision(), r = all.recall(); p && r && *p + *r > 0)
            CHECK(*all.f1() == doctest::Approx(2 * *p * *r / (*p + *r)).epsilon(1e-14));
        if (auto const p = all.precision())
            CHECK(*all.precision_in_time() ==
                  doctest::Approx(*p - *all.fake_positive_ratio()).epsilon(1e-14));
        auto const& n = all.counts();
        CHECK(n.seen == n.judged() + n.undecided + n.total_rejected());
        CHECK(n.fakes <= n.caught());
        CHECK(n.caught() <= (std::min)(n.stragglers(), n.detected()));

        std::vector<detection_metrics> parts(1 + engine() % 7);
        std::shuffle(tasks.begin(), tasks.end(), engine);
        for (auto const& t : tasks) parts[engine() % parts.size()].observe(t);
        detection_metrics merged;
        for (auto const& p : parts) merged.merge(p);
        CHECK(merged.counts() == all.counts());
        CHECK(merged.detection_latency() == all.detection_latency()); // to the bit
        CHECK(merged.undetected_time() == all.undetected_time());
        CHECK(merged.slots() == all.slots());
    }
}

TEST_CASE("detection metrics: the unit of time does not matter") {
    std::mt19937_64 engine(straggle_test::seed_or(3));
    detection_metrics seconds, other;
    for (int i = 0; i < 2000; ++i) {
        task_outcome t = any_task(engine);
        seconds.observe(t);
        for (double* x : {&t.usual, &t.execution, &t.copies_time}) *x *= 0x1p10;
        if (t.detected) *t.detected *= 0x1p10;
        if (t.winner_time) *t.winner_time *= 0x1p10;
        other.observe(t);
    }
    CHECK(seconds.counts() == other.counts());
    CHECK(seconds.detection_latency() == other.detection_latency());
    CHECK(seconds.undetected_time() == other.undetected_time());
    CHECK(seconds.wasted_share() == other.wasted_share());
    CHECK(seconds.slots().total * 0x1p10 == other.slots().total);
}

TEST_CASE("detection metrics: times of very different size, exactly") {
    // Plain summing loses each of the small ones; exactly it is 2^60 + 10^6 (a multiple of the spacing, 256).
    detection_metrics m;
    m.observe({.usual = 1, .execution = 0x1p60});
    for (int i = 0; i < 999936; ++i) m.observe({.usual = 1, .execution = 1});
    CHECK(m.slots().total == 0x1p60 + 999936);
    CHECK(std::fmod(999936.0, 256.0) == 0.0);
}

TEST_CASE("detection metrics: allocate nothing, and are merged only with their like") {
    detection_metrics m, other({.straggler = {.threshold = 1.5}});
    CHECK(straggle_test::allocations_during([&] {
              for (auto const& t : by_hand) m.observe(t);
              m.merge(hand);
          }) == 0);
    straggle_test::contract_trap const trap;
    CHECK_THROWS_AS(m.merge(other), straggle_test::broken_contract);
    CHECK_THROWS_AS(detection_metrics({.least_progress = 0}), straggle_test::broken_contract);
}

TEST_CASE("job tail: the longest task against the mean") {
    job_tail tail;
    CHECK(tail.ratio().reason() == status::insufficient_evidence);
    tail.observe(0.0);
    CHECK(tail.ratio().reason() == status::insufficient_evidence);
    for (double t : {10.0, 20.0, 30.0, 90.0}) CHECK(tail.observe(t));
    for (double t : {nan, -1.0, std::numeric_limits<double>::infinity()}) CHECK_FALSE(tail.observe(t));
    CHECK(tail.tasks() == 5);
    CHECK(*tail.ratio() == 3.0); // 90 / 30
    job_tail equal;
    for (int i = 0; i < 7; ++i) equal.observe(0.1);
    CHECK(*equal.ratio() >= 1.0);
    CHECK(*equal.ratio() == doctest::Approx(1.0).epsilon(1e-15));
    job_tail too_much;
    for (int i = 0; i < 3; ++i) too_much.observe(huge);
    CHECK(too_much.ratio().reason() == status::out_of_range);

    std::mt19937_64 engine(straggle_test::seed_or(4));
    std::lognormal_distribution<double> times(3.0, 1.0);
    job_tail all, parts[3], merged;
    for (int i = 0; i < 1000; ++i) {
        double const t = times(engine);
        all.observe(t);
        parts[engine() % 3].observe(t);
    }
    for (auto const& p : parts) merged.merge(p);
    CHECK(merged.ratio() == all.ratio());
}

} // namespace
