// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/record/attempt_event.hpp>

#include <doctest/doctest.h>

#include <type_traits>

using namespace straggle;

TEST_CASE("events are plain data that say what is usual") {
    static_assert(std::is_trivially_copyable_v<ended_attempt> &&
                  std::is_trivially_copyable_v<running_attempt>);
    ended_attempt const ended{};
    CHECK(ended.as == attempt_status::success);
    CHECK(ended.task == no_task);
    CHECK_FALSE(ended.copy);
    running_attempt const running{.node = 3, .job = 7, .start = 2};
    CHECK(running.task == no_task);
    CHECK_FALSE(running.copy);
}
