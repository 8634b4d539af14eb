// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/detect/average_time.hpp>
#include <straggle/detect/without_copies.hpp>

#include "jobs.hpp"

using namespace straggle;
using namespace straggle_test;

TEST_CASE("without_copies: only those of which one attempt runs") {
    job_data job = running({{0.5, 9}, {0.5, 8}, {0.5, 7}, {0.5, 1}});
    job.finished = {5};
    job.running[0].copies = 2;
    job.running[2].copies = 0; // a view made by hand
    auto const base = ask(detect::average_time{}, job),
               a = ask(detect::without_copies{detect::average_time{}}, job);
    CHECK(base.tasks() == places{0, 1, 2});
    CHECK(a.tasks() == places{1, 2});
    CHECK(a.suspects[0] == base.suspects[1]);
    CHECK(a.note == detect::detection_note::none);
    job.finished.clear();
    CHECK(ask(detect::without_copies{detect::average_time{}}, job).note ==
          detect::detection_note::too_few_finished);
}

TEST_CASE("without_copies: name, allocations") {
    CHECK(detect::without_copies<detect::average_time>::name == "without_copies(average_time)");
    CHECK(allocations_of_second_look(detect::without_copies{detect::average_time{}}, 21) == 0);
}
