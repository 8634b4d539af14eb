// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/detect/remaining_time.hpp>

#include <straggle/detect/job_progress.hpp>
#include <straggle/detect/largest_gain.hpp>
#include <straggle/detect/straggler_scan.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "estimators.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace {

using straggle::outcome;
using straggle::status;
using straggle::detect::job_view;
using straggle::detect::running_task;
using straggle_test::by_row;
using straggle_test::fading_rate;

static_assert(straggle::detect::time_estimate<straggle::detect::average_rate_estimate>);
static_assert(straggle::detect::time_estimate<by_row<fading_rate>>);
static_assert(straggle::detect::time_estimate<straggle::detect::mean_replacement>);

// A function object of the user, and near misses.
struct a_number {
    double operator()(running_task const&, job_view const&) const { return 1; }
};
struct not_const {
    double operator()(running_task const&, job_view const&) { return 1; }
};
struct of_the_task_alone {
    double operator()(running_task const&) const { return 1; }
};
struct text {
    std::string operator()(running_task const&, job_view const&) const { return "soon"; }
};
static_assert(straggle::detect::time_estimate<a_number>);
static_assert(!straggle::detect::time_estimate<not_const>);
static_assert(!straggle::detect::time_estimate<of_the_task_alone>);
static_assert(!straggle::detect::time_estimate<text>);

TEST_CASE("remaining time: from the snapshot") {
    straggle::detect::average_rate_estimate const linear;
    CHECK(linear({.progress = 0.25, .elapsed = 10}, {}) == outcome<double>(30.0));
    CHECK(linear({.progress = 0, .elapsed = 10}, {}).reason() == status::insufficient_evidence);
    CHECK(linear({.progress = std::numeric_limits<double>::quiet_NaN(), .elapsed = 10}, {}).reason() ==
          status::out_of_domain);
    CHECK(linear({.progress = 0.5, .elapsed = std::numeric_limits<double>::quiet_NaN()}, {}).reason() ==
          status::out_of_domain);
}

TEST_CASE("remaining time: rows are those of the user's range") {
    // A snapshot that is left out does not move the others' rows.
    struct snapshot {
        int host;
        double done, since;
    };
    std::vector<snapshot> const tasks = {{1, 0.5, 0}, {1, 7.0, 0}, {2, 0.25, 20}};
    std::vector<fading_rate> table(3);
    table[0].observe(60, 0.5);
    table[2].observe(40, 0.25);
    straggle::detect::job_progress<int, double> job;
    job.running(tasks,
                straggle::running_fields{
                    .node = &snapshot::host, .start = &snapshot::since, .progress = &snapshot::done},
                60.0);
    job_view const view = job.view();
    REQUIRE(view.running.size() == 2);
    by_row const estimate(table);
    CHECK(estimate(view.running[0], view).value() == doctest::Approx(60).epsilon(1e-14));
    CHECK(estimate(view.running[1], view).value() == doctest::Approx(120).epsilon(1e-14));
}

struct reported {
    std::string host;
    double done;
    double started;
};
constexpr straggle::running_fields fields{
    .node = &reported::host, .start = &reported::started, .progress = &reported::done};

TEST_CASE("remaining time: a table beside the tasks") {
    std::vector<reported> tasks = {{"host-1", 0, 0}, {"host-2", 0, 0}, {"host-3", 0, 90}};
    std::string found;
    double now = 0;
    auto const next_second = [&] {
        now += 1;
        tasks[0].done = now / 120;
        tasks[1].done = (std::min)(now, 60.0) / 100; // halts after a minute
        tasks[2].done = (std::max)(now - 90, 0.0) / 80;
        return now <= 100;
    };
    straggle::detect::job_progress<std::string, double> job;
    for (int i = 0; i < 5; ++i) job.observe("host-1", 80.0);
    //! [table]
    // Beside the tasks, in their order; what lies 20 seconds back counts 1/e.
    std::vector<fading_rate> table(tasks.size(), fading_rate(20));
    while (next_second())
        for (std::size_t i = 0; i < tasks.size(); ++i)
            table[i].observe(now - tasks[i].started, tasks[i].done);

    straggle::detect::straggler_scan scan{straggle::detect::largest_gain{by_row(table)}};
    job.running(tasks, fields, now);
    for (auto const& suspect : scan(job.view(), tasks)) found += suspect.row->host;
    //! [table]
    CHECK(found == "host-2");
    CHECK(table[1].remaining(100).value() > 250); // 0.4 / (0.01 / e^2)
    // By its average speed it has 67 s left, less than a copy would take.
    CHECK(straggle::predict::average_rate_remaining(now, tasks[1].done).value() < 70);
    CHECK(straggle::detect::straggler_scan{straggle::detect::largest_gain<>{}}(job.view()).empty());
}

TEST_CASE("remaining time: how long a copy takes") {
    straggle::detect::mean_replacement const mean;
    CHECK(mean({}, {}).reason() == status::insufficient_evidence);
    std::vector<double> finished = {100};
    job_view job;
    job.finished = finished;
    job.mean_finished = 100;
    CHECK(mean({}, job) == outcome<double>(100.0));
    finished = {90, 110, 90, 110};
    job.finished = finished;
    CHECK(mean({}, job) == outcome<double>(100.0));
}

TEST_CASE("remaining time: allocates nothing") {
    std::vector<double> const finished = {1, 2};
    job_view job;
    job.finished = finished;
    double sum = 0;
    CHECK(straggle_test::allocations_during([&] {
              sum += straggle::detect::average_rate_estimate{}({}, job).value_or(0) +
                     straggle::detect::mean_replacement{}({}, job).value_or(0);
          }) == 0);
    CHECK(sum >= 0);
}

} // namespace
