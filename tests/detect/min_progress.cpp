// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/detect/average_time.hpp>
#include <straggle/detect/min_progress.hpp>

#include "jobs.hpp"

using namespace straggle;
using namespace straggle_test;

TEST_CASE("min_progress: suspects within the range, in their order") {
    job_data job = running({{0.04, 9}, {0.05, 8}, {0.5, 20}, {0.9, 7}, {0.95, 6}, {0.5, 1}});
    job.finished = {5};
    CHECK(ask(detect::average_time{}, job).tasks() == places{2, 0, 1, 3, 4});
    CHECK(ask(detect::min_progress{detect::average_time{}}, job).tasks() == places{2, 1, 3, 4});
    CHECK(ask(detect::min_progress{detect::average_time{}, 0.5}, job).tasks() == places{2, 3, 4});
    CHECK(ask(detect::min_progress{detect::average_time{}, 0.5, 0.9}, job).tasks() == places{2, 3});
    CHECK(ask(detect::min_progress{detect::average_time{}, 0, 0.05}, job).tasks() == places{0, 1});
    CHECK(ask(detect::min_progress{detect::average_time{}}, job).suspects[0] ==
          ask(detect::average_time{}, job).suspects[0]);
}

TEST_CASE("min_progress: what it says when nobody is left") {
    job_data job = running({{0.0, 9}, {0.01, 8}});
    CHECK(ask(detect::min_progress{detect::average_time{}}, job).note ==
          detect::detection_note::too_few_finished);
    job.finished = {5};
    CHECK(ask(detect::min_progress{detect::average_time{}}, job).note == detect::detection_note::too_early);
    job.running[0].progress = 0.99; // not too early, too late
    CHECK(ask(detect::min_progress{detect::average_time{}, 0.05, 0.9}, job).note ==
          detect::detection_note::none);
    CHECK(ask(detect::min_progress{detect::average_time{}, 0.05, 0.9}, job).suspects.empty());
    job.finished = {50};
    CHECK(ask(detect::min_progress{detect::average_time{}}, job).note == detect::detection_note::none);
    job = running({{std::nan(""), 9}});
    job.finished = {5};
    CHECK(ask(detect::min_progress{detect::average_time{}, 0.0}, job).suspects.empty());
}

TEST_CASE("min_progress: name, allocations") {
    CHECK(detect::min_progress<detect::average_time>::name == "min_progress(average_time)");
    CHECK(allocations_of_second_look(detect::min_progress{detect::average_time{}}, 19) == 0);
}
