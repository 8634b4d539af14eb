// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/detect/mantri.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/contract_trap.hpp"
#include "../support/golden.hpp"
#include "../support/seed.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

using straggle::outcome;
using straggle::status;
using straggle::detect::detection_note;
using straggle::detect::finding;
using straggle::detect::job_view;
using straggle::detect::mantri;
using straggle::detect::running_task;
using straggle::detect::uncertain_time;

using limits = std::numeric_limits<double>;
constexpr double nan = limits::quiet_NaN();
constexpr double inf = limits::infinity();

struct a_time {
    double time;
    double operator()(running_task const&, job_view const&) const { return time; }
};
struct a_guess {
    uncertain_time time;
    uncertain_time operator()(running_task const&, job_view const&) const { return time; }
};
struct text {
    char const* operator()(running_task const&, job_view const&) const { return "soon"; }
};
static_assert(straggle::detect::straggler_detector<mantri<>>);
static_assert(straggle::detect::straggler_detector<mantri<a_time>>);
static_assert(straggle::detect::straggler_detector<mantri<a_guess>>);
static_assert(straggle::detect::uncertain_time_estimate<a_guess> &&
              !straggle::detect::uncertain_time_estimate<a_time>);
static_assert(!straggle::detect::uncertain_time_estimate<text> && !straggle::detect::time_estimate<text>);

job_view job_of(std::vector<running_task> const& running, std::vector<double> const& finished) {
    job_view job;
    job.running = running;
    job.finished = finished;
    for (double const t : finished) job.mean_finished += t / static_cast<double>(finished.size());
    job.tasks = running.size() + finished.size();
    return job;
}

template <class Detector>
std::vector<finding> suspects(Detector const& detector, job_view const& job,
                              detection_note note = detection_note::none) {
    straggle::detect::detector_scratch scratch;
    std::vector<finding> found = {{9, 9, 9, 9}};
    CHECK(detector.detect(job, scratch, found) == note);
    REQUIRE(found.front() == finding{9, 9, 9, 9}); // appended
    found.erase(found.begin());
    return found;
}

TEST_CASE("mantri: by hand") {
    // One attempt: a copy must be twice as fast. Of ten finished times 10, 20, ..., 100.
    std::vector<double> const finished = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
    std::vector<running_task> const running = {
        {.progress = 0.5, .elapsed = 41},   // 41 left: 10 and 20 are less than half of it
        {.progress = 0.5, .elapsed = 61},   // 10, 20, 30
        {.progress = 0.5, .elapsed = 60},   // 10, 20: 30 is exactly half
        {.progress = 0.25, .elapsed = 100}, // 300 left: all ten
        {.progress = 0, .elapsed = 500},    // nobody knows
    };
    job_view const job = job_of(running, finished);
    // An ordinary task that has just begun has 55 left: 10 and 20.
    CHECK(suspects(mantri<>{}, job) == std::vector<finding>{{3, 1.0, 0.25, 0.2}, {1, 0.3, 0.25, 0.2}});
    CHECK(suspects(mantri<>{.delta = 0.2}, job).size() == 2); // more than, not as much as
    CHECK(suspects(mantri<>{.delta = 0.19}, job).size() == 4);
    CHECK(suspects(mantri<>{.delta = 0.3}, job) == std::vector<finding>{{3, 1.0, 0.3, 0.2}});
    // A copy that takes 5 to start must take less than 61 / 2 - 5.
    CHECK(suspects(mantri<>{.start_up = 5}, job).size() == 1);
}

TEST_CASE("mantri: the more attempts run, the less a copy has to win") {
    std::vector<double> const finished = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
    for (std::uint32_t c = 1; c < 5; ++c) {
        // 121 left: c = 1 below 60.5 are 6, c = 2 below 80.7 are 8, c = 3 below 90.75 are 9, c = 4
        // below 96.8 9.
        std::vector<running_task> const running = {{.progress = 0.5, .elapsed = 121, .copies = c}};
        auto const found = suspects(mantri<>{.max_copies = 10}, job_of(running, finished));
        REQUIRE(found.size() == 1);
        CHECK(found[0].value == (c == 1 ? 0.6 : c == 2 ? 0.8 : 0.9));
        CHECK(suspects(mantri<>{}, job_of(running, finished)).size() == (c < 3 ? 1u : 0u));
    }
}

TEST_CASE("mantri: too little to go by") {
    std::vector<double> const finished = {1, 1, 1, 1, 1};
    std::vector<running_task> const running = {{.progress = 0.5, .elapsed = 100}};
    CHECK(suspects(mantri<>{}, job_of(running, finished)).size() == 1);
    CHECK(suspects(mantri<>{}, job_of({}, finished), detection_note::too_few_running).empty());
    CHECK(suspects(mantri<>{}, job_of(running, {1, 1, 1, 1}), detection_note::too_few_finished).empty());
    CHECK(suspects(mantri<>{.min_finished = 1}, job_of(running, {1})).size() == 1);
}

TEST_CASE("mantri: order and ties") {
    std::vector<double> const finished = {1, 1, 1, 1, 50};
    std::vector<running_task> const running = {
        {.progress = 0.5, .elapsed = 10}, // 0.8
        {.progress = 0.5, .elapsed = 20}, // 0.8, more left
        {.progress = 0.5, .elapsed = 10}, // 0.8
        {.progress = 0.5, .elapsed = 101},
    };
    std::vector<std::uint32_t> order;
    for (finding const& s : suspects(mantri<>{}, job_of(running, finished))) order.push_back(s.task);
    CHECK(order == std::vector<std::uint32_t>{3, 1, 0, 2});
    std::vector<running_task> const equal(100, running[0]);
    auto const found = suspects(mantri<>{}, job_of(equal, finished));
    REQUIRE(found.size() == 100);
    for (std::uint32_t i = 0; i < 100; ++i) CHECK(found[i].task == i);
}

TEST_CASE("mantri: odd estimates") {
    std::vector<double> const finished = {1, 2, 3, 4, 5};
    std::vector<running_task> const running(1);
    job_view const job = job_of(running, finished);
    for (double bad : {nan, inf, -inf}) {
        CHECK(suspects(mantri<a_time>{{bad}}, job).empty());
        CHECK(suspects(mantri<a_guess>{{{bad, 1}}}, job).empty());
        CHECK(suspects(mantri<a_guess>{{{100, bad}}}, job).empty());
    }
    CHECK(suspects(mantri<a_guess>{{{100, -1}}}, job).empty());
    CHECK(suspects(mantri<a_time>{{-5}}, job).empty());
    CHECK(suspects(mantri<a_time>{{(limits::max)()}}, job) == std::vector<finding>{{0, 1, 0.25, 0.2}});
    auto const still = [](running_task const&, job_view const&) -> outcome<double> {
        return status::out_of_range;
    };
    CHECK(suspects(mantri{still}, job) == std::vector<finding>{{0, 1, 0.25, 0.2}});
    auto const unknown = [](running_task const&, job_view const&) -> outcome<uncertain_time> {
        return status::insufficient_evidence;
    };
    CHECK(suspects(mantri{unknown}, job).empty());
    // A guess without doubt is a time.
    CHECK(suspects(mantri<a_guess>{{{5, 0}}}, job) == suspects(mantri<a_time>{{5}}, job));
}

TEST_CASE("mantri: probabilities of mpmath and SciPy") {
    for (auto const& row : straggle_test::golden_table("mantri.csv")) {
        INFO("n ", row.text(0), " mean ", row.real(2), " sd ", row.real(3), " copies ", row.text(4),
             " start up ", row.real(5));
        std::vector<double> finished(row.integer<std::size_t>(0));
        straggle_test::golden_sequence next(row.integer<std::uint64_t>(1));
        for (double& t : finished) t = 10 + 90 * next.unit();
        std::sort(finished.begin(), finished.end());
        std::vector<running_task> const running = {{.copies = row.integer<std::uint32_t>(4)}};
        double const p = row.real(6);
        auto const found = suspects(
            mantri<a_guess>{.estimate = {{row.real(2), row.real(3)}}, .delta = 0, .start_up = row.real(5)},
            job_of(running, finished));
        // erfc is right to some units in the last place; what lies nine deviations off, 1e-19, is left out.
        CHECK(std::fabs((found.empty() ? 0 : found[0].value) - p) <= 1e-18 + 1e-14 * p);
    }
}

TEST_CASE("mantri: the definition, task by task") {
    std::uint64_t const seed = straggle_test::seed_or(71);
    INFO("seed ", seed);
    straggle_test::golden_sequence next(seed);
    straggle::detect::detector_scratch scratch;
    std::vector<finding> found;
    for (int k = 0; k < 300; ++k) {
        std::vector<running_task> running(1 + next() % 30);
        for (running_task& t : running)
            t = {.progress = next.unit(),
                 .elapsed = std::floor(100 * next.unit()),
                 .copies = 1 + static_cast<std::uint32_t>(next() >> 63)};
        std::vector<double> finished(5 + next() % 30);
        for (double& t : finished) t = std::floor(50 * next.unit()); // with ties and zeros
        std::sort(finished.begin(), finished.end());
        job_view const job = job_of(running, finished);
        mantri<> const rule{.delta = next.unit() * 0.9, .start_up = k % 2 ? 3.0 : 0.0};
        found.clear();
        REQUIRE(rule.detect(job, scratch, found) == detection_note::none);
        std::size_t expected = 0;
        for (std::uint32_t i = 0; i < running.size(); ++i) {
            running_task const& t = running[i];
            auto const left = straggle::predict::average_rate_remaining(t.elapsed, t.progress);
            if (!left) continue;
            double const c = t.copies;
            double wins = 0;
            for (double const x : finished) wins += *left > (x + rule.start_up) * ((c + 1) / c);
            double const p = wins / static_cast<double>(finished.size());
            auto const it =
                std::find_if(found.begin(), found.end(), [&](finding const& s) { return s.task == i; });
            REQUIRE((it != found.end()) == (p > rule.delta));
            if (it != found.end()) REQUIRE(it->value == p);
            expected += p > rule.delta;
        }
        REQUIRE(found.size() == expected);
        for (std::size_t i = 1; i < found.size(); ++i) REQUIRE(found[i - 1].value >= found[i].value);
        std::size_t const allocated = straggle_test::allocations_during([&] {
            found.clear();
            rule.detect(job, scratch, found);
        });
        REQUIRE(allocated == 0);
    }
}

TEST_CASE("mantri: doubt makes the probability smooth, and it grows with the time left") {
    std::vector<double> const finished = {10, 20, 30, 40, 50};
    std::vector<running_task> const running(1);
    job_view const job = job_of(running, finished);
    double last = 0;
    for (double mean = 0; mean <= 200; mean += 0.5) {
        auto const found = suspects(mantri<a_guess>{.estimate = {{mean, 10}}, .delta = 0}, job);
        double const p = found.empty() ? 0 : found[0].value;
        REQUIRE(p >= last);
        REQUIRE(p <= 1);
        REQUIRE(p - last < 0.02); // at most 0.5 times the density, 1 / (10 sqrt(2 pi)), times what overlaps
        last = p;
    }
    CHECK(last == 1);
}

TEST_CASE("mantri: broken contracts") {
    straggle_test::contract_trap const trap;
    straggle::detect::detector_scratch scratch;
    std::vector<finding> found;
    for (auto const& bad : {mantri<>{.delta = 1}, mantri<>{.delta = -0.1}, mantri<>{.delta = nan},
                            mantri<>{.start_up = -1}, mantri<>{.start_up = nan}, mantri<>{.min_finished = 0}})
        CHECK_THROWS_AS(bad.detect({}, scratch, found), straggle_test::broken_contract);
}

} // namespace
