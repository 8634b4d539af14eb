// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/detect/detector.hpp>

#include <doctest/doctest.h>

#include <set>
#include <vector>

using namespace straggle;

TEST_CASE("detection_note: each has a name of its own") {
    std::set<std::string_view> names;
    for (std::uint8_t i = 0; i < 5; ++i) names.insert(to_string(static_cast<detect::detection_note>(i)));
    CHECK(names == std::set<std::string_view>{"none", "too_early", "too_few_finished", "too_few_running",
                                              "cap_reached"});
    CHECK(to_string(static_cast<detect::detection_note>(5)) == "unknown");
}

TEST_CASE("a view of nothing, a task of which nothing is known") {
    detect::job_view const view;
    CHECK(view.running.empty());
    CHECK(view.finished.empty());
    CHECK(view.finished_per_input.empty());
    CHECK(view.tasks == 0);
    CHECK(view.slots == 0);
    detect::running_task const task;
    CHECK(task.input == 1);
    CHECK(task.copies == 1);
}
