// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/detect/remaining_time.hpp>

#include <straggle/detect/job_progress.hpp>
#include <straggle/detect/largest_gain.hpp>
#include <straggle/detect/straggler_scan.hpp>
#include <straggle/predict/smoothed_progress.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/contract_trap.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace {

using straggle::outcome;
using straggle::status;
using straggle::detect::by_row;
using straggle::detect::job_view;
using straggle::detect::running_task;

static_assert(straggle::detect::time_estimate<straggle::detect::average_rate_estimate>);
static_assert(straggle::detect::time_estimate<straggle::detect::sibling_time_estimate>);
static_assert(straggle::detect::time_estimate<by_row<straggle::predict::average_rate>>);
static_assert(straggle::detect::time_estimate<straggle::detect::mean_replacement>);
static_assert(straggle::detect::time_estimate<straggle::detect::cautious_replacement>);

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

    straggle::detect::sibling_time_estimate const scaled;
    CHECK(scaled({.elapsed = 10}, {}).reason() == status::insufficient_evidence);
    std::vector<double> const finished = {90, 110};
    std::vector<straggle::detect::job_node> const nodes = {{}, {.slowdown = 1.5}};
    job_view job;
    job.finished = finished;
    job.mean_finished = 100;
    CHECK(scaled({.elapsed = 10}, job) == outcome<double>(90.0)); // a view without nodes
    job.nodes = nodes;
    CHECK(scaled({.elapsed = 10, .node = 0}, job) == outcome<double>(90.0));
    CHECK(scaled({.elapsed = 10, .node = 1}, job) == outcome<double>(140.0));
    CHECK(scaled({.elapsed = 200, .node = 1}, job) == outcome<double>(0.0));
}

TEST_CASE("remaining time: from the user's table") {
    std::vector<straggle::predict::average_rate> table(3);
    table[0].observe(10, 0.5);
    table[2].observe(10, 0.25);
    by_row const estimate(table);
    CHECK(estimate({.elapsed = 10, .row = 0}, {}) == outcome<double>(10.0));
    CHECK(estimate({.elapsed = 14, .row = 0}, {}) == outcome<double>(6.0)); // nothing heard for 4
    CHECK(estimate({.elapsed = 10, .row = 1}, {}).reason() == status::insufficient_evidence);
    CHECK(estimate({.elapsed = 10, .row = 2}, {}) == outcome<double>(30.0));
    table[1].observe(20, 0.5); // it looks at the table, not at a copy
    CHECK(estimate({.elapsed = 20, .row = 1}, {}) == outcome<double>(20.0));
    straggle_test::contract_trap const trap;
    by_row<straggle::predict::average_rate> const of_two{std::span(table).first(2)};
    CHECK_THROWS_AS((void)of_two({.elapsed = 10, .row = 2}, {}), straggle_test::broken_contract);
}

TEST_CASE("remaining time: rows are those of the user's range") {
    // A snapshot that is left out does not move the others' rows.
    struct snapshot {
        int host;
        double done, since;
    };
    std::vector<snapshot> const tasks = {{1, 0.5, 0}, {1, 7.0, 0}, {2, 0.25, 20}};
    std::vector<straggle::predict::exponential_rate> table(3);
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
    std::vector<straggle::predict::exponential_rate> table(tasks.size(),
                                                           straggle::predict::exponential_rate(20));
    while (next_second())
        for (std::size_t i = 0; i < tasks.size(); ++i)
            table[i].observe(now - tasks[i].started, tasks[i].done);

    straggle::detect::straggler_scan scan{straggle::detect::largest_gain{by_row(table)}};
    job.running(tasks, fields, now);
    for (auto const& suspect : scan(job.view(), tasks)) found += suspect.row->host;
    //! [table]
    CHECK(found == "host-2");
    CHECK(table[1].remaining().value() > 250); // 0.4 / (0.01 / e^2)
    // By its average speed it has 67 s left, less than a copy would take.
    CHECK(straggle::predict::average_rate_remaining(now, tasks[1].done).value() < 70);
    CHECK(straggle::detect::straggler_scan{straggle::detect::largest_gain<>{}}(job.view()).empty());
}

TEST_CASE("remaining time: how long a copy takes") {
    straggle::detect::mean_replacement const mean;
    straggle::detect::cautious_replacement const cautious;
    CHECK(mean({}, {}).reason() == status::insufficient_evidence);
    CHECK(cautious({}, {}).reason() == status::insufficient_evidence);
    std::vector<double> finished = {100};
    job_view job;
    job.finished = finished;
    job.mean_finished = 100;
    CHECK(mean({}, job) == outcome<double>(100.0));
    CHECK(cautious({}, job) == outcome<double>(100.0)); // Hadoop: 0
    finished = {90, 110, 90, 110};
    job.finished = finished;
    job.sd_finished = 10;
    CHECK(mean({}, job) == outcome<double>(100.0));
    CHECK(cautious({}, job).value() == doctest::Approx(100 + 9.8 + 5).epsilon(1e-14));
    job.sd_finished = 110; // half of it is more than a quarter of 207.8
    CHECK(cautious({}, job).value() == doctest::Approx(207.8 * 1.25).epsilon(1e-14));
}

TEST_CASE("remaining time: allocates nothing") {
    std::vector<straggle::predict::average_rate> table(1);
    std::vector<double> const finished = {1, 2};
    job_view job;
    job.finished = finished;
    double sum = 0;
    CHECK(straggle_test::allocations_during([&] {
              sum += straggle::detect::average_rate_estimate{}({}, job).value_or(0) +
                     by_row(table)({}, job).value_or(0) +
                     straggle::detect::sibling_time_estimate{}({}, job).value_or(0) +
                     straggle::detect::cautious_replacement{}({}, job).value_or(0);
          }) == 0);
    CHECK(sum >= 0);
}

} // namespace
