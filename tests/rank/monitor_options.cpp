// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// A unit of durations is one of time unless both know better.

#include <straggle/rank/monitor.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>

using namespace straggle;

namespace {

using milliseconds = std::chrono::milliseconds;
using wall = std::chrono::sys_time<std::chrono::seconds>;
struct timed_task {
    int job, node;
    milliseconds took;
    wall end;
};
constexpr attempt_fields fields{.job = &timed_task::job,
                                .node = &timed_task::node,
                                .end = &timed_task::end,
                                .duration = &timed_task::took};

} // namespace

TEST_CASE("monitor options: jobs are remembered in the unit of their durations") {
    using std::chrono::seconds;
    for (double const times : {3.0, 10.0}) {
        auto m = monitor_of<timed_task>(fields, {.window = seconds(60), .remember = times});
        m.observe({1, 1, milliseconds(120'000), wall(seconds(30))});
        int const windows = static_cast<int>(times) * 2 + 1; // after the one it ended in
        m.rank(wall(seconds(60 * windows - 1)));
        CHECK(m.jobs() == 1);
        m.rank(wall(seconds(60 * windows)));
        CHECK(m.jobs() == 0);
    }
    auto none = monitor_of<timed_task>(fields, {.window = seconds(60), .baseline = score_baseline::window});
    none.observe({1, 1, milliseconds(120'000), wall(seconds(30))});
    none.rank(wall(seconds(130)));
    CHECK(none.jobs() == 0);
    CHECK(none.counts().forgotten_jobs == 0); // nothing was to be remembered
}

TEST_CASE("monitor options: the defaults hold everything until told otherwise") {
    monitor_options<std::int64_t> const how{};
    CHECK(how.window == 0);
    CHECK(how.baseline == score_baseline::whole_job);
    CHECK(how.remember == 3);
}
