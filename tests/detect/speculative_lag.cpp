// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/detect/progress_gap.hpp>
#include <straggle/detect/speculative_lag.hpp>

#include "jobs.hpp"

using namespace straggle;
using namespace straggle_test;

TEST_CASE("speculative_lag: nothing before the job has run that long") {
    job_data job = running({{0.1, 5}, {0.9, 50}});
    job.age = 59.9;
    auto const early = ask(detect::speculative_lag{detect::progress_gap{}}, job);
    CHECK(early.note == detect::detection_note::too_early);
    CHECK(early.suspects.empty());
    CHECK(ask(detect::speculative_lag{detect::progress_gap{}, 20}, job).tasks() == places{0});
    CHECK(ask(detect::speculative_lag{detect::progress_gap{}, 20}, job).suspects ==
          ask(detect::progress_gap{}, job).suspects);
    job.age = 60;
    CHECK(ask(detect::speculative_lag{detect::progress_gap{}}, job).tasks() == places{0});
    CHECK(ask(detect::speculative_lag{detect::progress_gap{}}, job).note == detect::detection_note::none);
    job.age = std::nan("");
    CHECK(ask(detect::speculative_lag{detect::progress_gap{}}, job).note ==
          detect::detection_note::too_early);
    job.age = 60;
    job.running.clear();
    CHECK(ask(detect::speculative_lag{detect::progress_gap{}}, job).note ==
          detect::detection_note::too_few_running);
}

TEST_CASE("task_lag: no suspects that have not run that long") {
    job_data job = running({{0.1, 59}, {0.9, 100}, {0.2, 60}, {0.9, 100}});
    CHECK(ask(detect::progress_gap{}, job).tasks() == places{0, 2});
    CHECK(ask(detect::task_lag{detect::progress_gap{}}, job).tasks() == places{2});
    CHECK(ask(detect::task_lag{detect::progress_gap{}}, job).note == detect::detection_note::none);
    CHECK(ask(detect::task_lag{detect::progress_gap{}, 59}, job).tasks() == places{0, 2});
    CHECK(ask(detect::task_lag{detect::progress_gap{}, 61}, job).note == detect::detection_note::too_early);
    CHECK(ask(detect::task_lag{detect::progress_gap{.gap = 1}, 61}, job).note ==
          detect::detection_note::none);
    job.running[0].elapsed = std::nan("");
    CHECK(ask(detect::task_lag{detect::progress_gap{}, 0}, job).tasks() == places{2});
}

TEST_CASE("lags: names, and one within the other") {
    using both = detect::speculative_lag<detect::task_lag<detect::progress_gap>>;
    CHECK(both::name == "speculative_lag(task_lag(progress_gap))");
    both const rule{.base = {.base = {.gap = 0.1}, .lag = 5}, .lag = 7};
    job_data job = running({{0.1, 6}, {0.9, 6}});
    job.age = 6;
    CHECK(ask(rule, job).suspects.empty());
    job.age = 7;
    CHECK(ask(rule, job).tasks() == places{0});
}

TEST_CASE("lags allocate nothing the second time") {
    CHECK(allocations_of_second_look(
              detect::speculative_lag{detect::task_lag{detect::progress_gap{}, 10}, 10}, 18) == 0);
}
