// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/detect/largest_gain.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/contract_trap.hpp"
#include "../support/golden.hpp"
#include "../support/seed.hpp"
#include "estimators.hpp"
#include "mapreduce_job.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using straggle::outcome;
using straggle::status;
using straggle::detect::detection_note;
using straggle::detect::finding;
using straggle::detect::gain_state;
using straggle::detect::job_view;
using straggle::detect::largest_gain;
using straggle::detect::running_task;
using straggle_test::average_rate;
using straggle_test::by_row;
using straggle_test::fading_rate;

using limits = std::numeric_limits<double>;
constexpr double nan = limits::quiet_NaN();
constexpr double inf = limits::infinity();

static_assert(straggle::detect::straggler_detector<largest_gain<>>);
static_assert(straggle::detect::straggler_detector<largest_gain<by_row<fading_rate>>>);

// A job whose finished tasks are given, sorted.
job_view job_of(std::vector<running_task> const& running, std::vector<double> const& finished,
                std::uint64_t tasks = 0) {
    job_view job;
    job.running = running;
    job.finished = finished;
    double sum = 0, squares = 0;
    for (double const t : finished) sum += t;
    double const n = static_cast<double>(finished.size());
    if (n > 0) job.mean_finished = sum / n;
    for (double const t : finished) squares += (t - job.mean_finished) * (t - job.mean_finished);
    if (n > 0) job.sd_finished = std::sqrt(squares / n);
    job.tasks = tasks ? tasks : running.size() + finished.size();
    return job;
}

template <class Detector>
std::vector<finding> suspects(Detector const& detector, job_view const& job,
                              detection_note note = detection_note::none) {
    straggle::detect::detector_scratch scratch;
    std::vector<finding> found;
    CHECK(detector.detect(job, scratch, found) == note);
    return found;
}

TEST_CASE("largest gain: by hand") {
    // Remaining by progress: 75, 300, 10 and 100; a copy takes 50.
    std::vector<running_task> const running = {
        {.progress = 0.25, .elapsed = 25},
        {.progress = 0.25, .elapsed = 100},
        {.progress = 0.9, .elapsed = 90},
        {.progress = 0.5, .elapsed = 100},
    };
    std::vector<double> const finished = {40, 50, 60};
    job_view const job = job_of(running, finished);

    auto const one = suspects(largest_gain<>{}, job, detection_note::cap_reached);
    CHECK(one == std::vector<finding>{{1, 300, 50, 50}});
    auto const all = suspects(largest_gain<>{.most = 10}, job);
    CHECK(all == std::vector<finding>{{1, 300, 50, 50}, {3, 100, 50, 50}, {0, 75, 50, 50}});
    CHECK(suspects(largest_gain<>{.most = 3}, job) == all);
    CHECK(suspects(largest_gain<>{.most = 2}, job, detection_note::cap_reached) ==
          std::vector<finding>{all[0], all[1]});

    largest_gain<> const rule;
    CHECK(rule.judge(running[1], job).state == gain_state::gains);
    CHECK(rule.judge(running[1], job).gain() == 250);
    CHECK(rule.judge(running[2], job).state == gain_state::too_late);
    CHECK(rule.judge(running[2], job).gain() == doctest::Approx(-40));
}

TEST_CASE("largest gain: suspects are appended, ties in the order of the view") {
    std::vector<running_task> const running(4, {.progress = 0.25, .elapsed = 100});
    std::vector<double> const finished = {50};
    straggle::detect::detector_scratch scratch;
    std::vector<finding> found = {{7, 1, 2, 3}};
    largest_gain<>{.most = 3}.detect(job_of(running, finished), scratch, found);
    REQUIRE(found.size() == 4);
    CHECK(found[0] == finding{7, 1, 2, 3});
    for (std::uint32_t i = 0; i < 3; ++i) CHECK(found[i + 1].task == i);
}

TEST_CASE("largest gain: Hadoop's states") {
    running_task const slow{.progress = 0.1, .elapsed = 100};
    std::vector<running_task> const running = {slow};
    std::vector<double> const finished = {50};
    largest_gain<> const rule;
    auto const state = [&](running_task const& t, std::uint64_t tasks = 2) {
        return rule.judge(t, job_of(running, finished, tasks)).state;
    };
    CHECK(state(slow) == gain_state::gains);
    CHECK(state({.progress = 0.1, .elapsed = 100, .copies = 2}) == gain_state::already_copied);
    CHECK(state({.progress = 0, .elapsed = 100}) == gain_state::too_new);
    CHECK(state({.progress = 0.5, .elapsed = 50}) == gain_state::too_late); // 50 against 50
    CHECK(state({.progress = 1, .elapsed = 50}) == gain_state::too_late);   // PROGRESS_IS_GOOD
    // One in twenty must have finished.
    CHECK(state(slow, 20) == gain_state::gains);
    CHECK(state(slow, 21) == gain_state::on_schedule);
    CHECK(rule.judge(slow, job_of(running, {})).state == gain_state::on_schedule);

    CHECK(suspects(rule, job_of({}, finished), detection_note::too_few_running).empty());
    CHECK(suspects(rule, job_of(running, {}), detection_note::too_few_finished).empty());
    CHECK(suspects(rule, job_of(running, finished, 21), detection_note::too_few_finished).empty());
    CHECK(suspects(largest_gain<>{.min_finished = 2}, job_of(running, finished),
                   detection_note::too_few_finished)
              .empty());

    CHECK(to_string(gain_state::gains) == "gains");
    CHECK(to_string(gain_state::on_schedule) == "on_schedule");
    CHECK(to_string(gain_state::already_copied) == "already_copied");
    CHECK(to_string(gain_state::too_new) == "too_new");
    CHECK(to_string(gain_state::too_late) == "too_late");
}

TEST_CASE("largest gain: a share of the tasks is not a matter of rounding") {
    std::vector<running_task> const running = {{.progress = 0.1, .elapsed = 100}};
    for (std::uint64_t n = 1; n <= 400; ++n) {
        std::vector<double> const enough(n, 5.0);
        CHECK(suspects(largest_gain<>{}, job_of(running, enough, 20 * n)).size() == 1);
        CHECK(
            suspects(largest_gain<>{}, job_of(running, enough, 20 * n + 1), detection_note::too_few_finished)
                .empty());
    }
    // 0.07 * 100 is a little more than 7 in double precision.
    std::vector<double> const seven(7, 5.0);
    CHECK(suspects(largest_gain<>{.min_share = 0.07}, job_of(running, seven, 100)).size() == 1);
}

TEST_CASE("largest gain: odd estimates") {
    std::vector<running_task> const running(5, {.progress = 0.5, .elapsed = 100});
    std::vector<double> const finished = {50};
    std::vector<outcome<double>> const left = {status::insufficient_evidence, nan, -3.0, 60.0,
                                               status::out_of_range};
    std::uint32_t row = 0;
    auto const by_turns = [&](running_task const&, job_view const&) { return left[row++ % 5]; };
    // A task that stands still gains more than any that moves; what is no time is no estimate.
    auto const found = suspects(largest_gain{.estimate = by_turns, .most = 5}, job_of(running, finished));
    CHECK(found == std::vector<finding>{{4, (limits::max)(), 50, 50}, {3, 60, 50, 50}});
    auto const negative = [](running_task const&, job_view const&) { return -1.0; };
    CHECK(largest_gain{negative}.judge(running[0], job_of(running, finished)).state == gain_state::too_new);
    CHECK(suspects(largest_gain<straggle::detect::average_rate_estimate, decltype(negative)>{.replacement =
                                                                                                 negative},
                   job_of(running, finished))
              .empty());
    auto const number = [](running_task const&, job_view const&) { return 51.0; };
    CHECK(suspects(largest_gain{number}, job_of(running, finished), detection_note::cap_reached).size() == 1);
    auto const endless = [](running_task const&, job_view const&) { return inf; };
    CHECK(suspects(largest_gain{endless}, job_of(running, finished)).empty());
    auto const unknown = [](running_task const&, job_view const&) -> outcome<double> {
        return status::insufficient_evidence;
    };
    CHECK(suspects(largest_gain<straggle::detect::average_rate_estimate, decltype(unknown)>{.replacement =
                                                                                                unknown},
                   job_of(running, finished))
              .empty());
}

TEST_CASE("largest gain: numbers that are none") {
    std::vector<double> const finished = {50};
    std::vector<running_task> const running = {{.progress = nan, .elapsed = 100},
                                               {.progress = 0.5, .elapsed = nan}};
    std::vector<average_rate> table(2);
    for (auto& t : table) t.observe(100, 0.1);
    CHECK(suspects(largest_gain<>{}, job_of(running, finished)).empty());
    auto const found = suspects(largest_gain{by_row<average_rate>{table}}, job_of({running[1]}, finished));
    CHECK(found.empty());
}

// TestSpeculativeExecutionWithMRApp: five maps, of which four end and one falls behind. Times in ms.
TEST_CASE("largest gain: Hadoop's MapReduce application, silent task") {
    // All at 0.8 after 2000 ms, four end; the fifth is not heard of again. Its silence counts as no progress.
    std::vector<double> const finished(4, 2000.0);
    std::vector<average_rate> table(1);
    table[0].observe(2000, 0.8);
    std::vector<running_task> running = {{.progress = 0.8, .elapsed = 2000}};
    CHECK(suspects(largest_gain{by_row(table)}, job_of(running, finished, 5)).empty());
    running[0].elapsed = 20000;
    table[0].observe(20000, table[0].progress());
    auto const found = suspects(largest_gain{by_row(table)}, job_of(running, finished, 5));
    REQUIRE(found.size() == 1);
    CHECK(found[0].value == doctest::Approx(5000).epsilon(1e-14));
    CHECK(found[0].threshold == 2000);
    CHECK(suspects(largest_gain<>{}, job_of(running, finished, 5)) == found); // the snapshot says the same
}

TEST_CASE("largest gain: Hadoop's MapReduce application, stalled task") {
    // All at 0.5 after 1000 ms, four end at 2000; the fifth is at 0.75 then, and still at 15000.
    std::vector<double> const finished(4, 2000.0);
    std::vector<fading_rate> smoothed(1, fading_rate(60000));
    std::vector<average_rate> table(1);
    auto const report = [&](double elapsed, double progress) {
        smoothed[0].observe(elapsed, progress);
        table[0].observe(elapsed, progress);
    };
    report(1000, 0.5);
    report(2000, 0.75);
    std::vector<running_task> running = {{.progress = 0.75, .elapsed = 2000}};
    CHECK(suspects(largest_gain{by_row(table)}, job_of(running, finished, 5)).empty());
    report(15000, 0.75);
    running[0].elapsed = 15000;
    auto const found = suspects(largest_gain{by_row(table)}, job_of(running, finished, 5));
    REQUIRE(found.size() == 1);
    CHECK(found[0].value == doctest::Approx(5000).epsilon(1e-14));
    // With a memory of a minute thirteen silent seconds do not outweigh the quick start yet.
    CHECK(suspects(largest_gain{by_row(smoothed)}, job_of(running, finished, 5)).empty());
    report(300000, 0.75);
    running[0].elapsed = 300000;
    CHECK(suspects(largest_gain{by_row(smoothed)}, job_of(running, finished, 5)).size() == 1);
}

// What our replay of TestRuntimeEstimators found, for all its estimators alike; three copies win there, which
// is what the Java test asks for.
void check_replay(auto const& job, std::vector<straggle_test::mapreduce_event> const& events, double second) {
    std::vector<straggle_test::mapreduce_event> const expected = {
        {160000, "copy map 0", 291000},   {210000, "copy map 40", second},    {260000, "copy map 80", 141000},
        {270000, "copy map 120", 131000}, {402000, "copy wins: map 0"},       {451000, "copy wins: map 40"},
        {460000, "copy wins: map 80"},    {601000, "original wins: map 120"},
    };
    REQUIRE(events.size() == expected.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
        INFO("event ", i);
        CHECK(events[i].time == expected[i].time);
        CHECK(events[i].what == expected[i].what);
        CHECK(events[i].gain == doctest::Approx(expected[i].gain).epsilon(1e-9)); // sums of 200 speeds
    }
    CHECK(job.won() == 3);
    CHECK(job.end() == 1201000);
}
// 145 maps have ended by then, 50 of them after 150 s and 95 after 200 s. Hadoop cuts their mean to whole
// milliseconds, which makes 208242.
constexpr double second_gain = 391000 - (50 * 150000 + 95 * 200000) / 145.0;

template <class Estimator>
void replay(Estimator const& fresh) {
    straggle_test::mapreduce_job<Estimator> job(fresh);
    auto const& events =
        job.run([](std::span<Estimator const> table) { return largest_gain{by_row(table)}; });
    check_replay(job, events, second_gain);
}

TEST_CASE("largest gain: Hadoop's 350 tasks, progress of the snapshot") {
    CHECK(std::ceil(second_gain) == 208242);
    straggle_test::mapreduce_job<average_rate> job({});
    auto const& events = job.run([](auto const&) { return largest_gain<>{}; });
    check_replay(job, events, second_gain);
}

TEST_CASE("largest gain: Hadoop's 350 tasks, linear") {
    replay(average_rate());
}

TEST_CASE("largest gain: Hadoop's 350 tasks, exponential rate") {
    replay(fading_rate(60000));
}

// ExponentiallySmoothedTaskRuntimeEstimator as it is in Hadoop: the old speed counts exp(+dt / 60 s).
class hadoop_rate {
  public:
    void observe(double elapsed, double progress) {
        if (!(elapsed > elapsed_)) return;
        double const weight = rate_ < 0 ? 0.0 : std::exp((elapsed - elapsed_) / 60000);
        rate_ = rate_ * weight + (progress - progress_) / (elapsed - elapsed_) * (1.0 - weight);
        elapsed_ = elapsed;
        progress_ = progress;
    }
    [[nodiscard]] outcome<double> remaining(double elapsed) const {
        if (!(rate_ > 0)) return status::insufficient_evidence; // Hadoop: an end in the past, all is well
        double const left = (1 - progress_) / rate_ - (elapsed - elapsed_);
        return left > 0 ? left : 0.0;
    }

  private:
    double rate_ = -1, elapsed_ = 0, progress_ = 0;
};

TEST_CASE("largest gain: Hadoop's 350 tasks, exponential rate with Hadoop's sign") {
    // Maps of constant speed cannot tell: a test that passes with either sign.
    replay(hadoop_rate());
}

TEST_CASE("largest gain: any job") {
    // Each suspect gains, no other task gains more, and nothing is allocated in the steady state.
    std::uint64_t const seed = straggle_test::seed_or(61);
    INFO("seed ", seed);
    straggle_test::golden_sequence next(seed);
    straggle::detect::detector_scratch scratch;
    std::vector<finding> found;
    for (int k = 0; k < 500; ++k) {
        std::vector<running_task> running(1 + next() % 60);
        for (running_task& t : running)
            t = {.progress = next.unit(),
                 .elapsed = 200 * next.unit(),
                 .copies = 1 + static_cast<std::uint32_t>(next() >> 62)};
        std::vector<double> finished(5 + next() % 20);
        for (double& t : finished) t = 100 * next.unit();
        std::sort(finished.begin(), finished.end());
        job_view const job = job_of(running, finished);
        largest_gain<> const rule{.most = 1 + next() % 5};
        found.clear();
        detection_note const note = rule.detect(job, scratch, found);
        std::size_t gains = 0, larger = 0;
        for (running_task const& t : running) {
            auto const j = rule.judge(t, job);
            gains += j.state == gain_state::gains;
            if (!found.empty())
                larger +=
                    j.state == gain_state::gains && j.gain() > found.back().value - found.back().threshold;
        }
        REQUIRE(found.size() == (std::min)(gains, rule.most));
        REQUIRE((note == detection_note::cap_reached) == (gains > rule.most));
        if (!found.empty()) REQUIRE(larger < found.size());
        for (std::size_t i = 1; i < found.size(); ++i)
            REQUIRE(found[i - 1].value - found[i - 1].threshold >= found[i].value - found[i].threshold);
        std::size_t const allocated = straggle_test::allocations_during([&] {
            found.clear();
            rule.detect(job, scratch, found);
        });
        REQUIRE(allocated == 0);
    }
}

TEST_CASE("largest gain: at least one suspect may be named") {
    straggle_test::contract_trap const trap;
    straggle::detect::detector_scratch scratch;
    std::vector<finding> found;
    CHECK_THROWS_AS(largest_gain<>{.most = 0}.detect({}, scratch, found), straggle_test::broken_contract);
}

} // namespace
