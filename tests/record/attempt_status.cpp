// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/record/attempt_status.hpp>

#include <doctest/doctest.h>

using straggle::attempt_status;
using straggle::record::was_stopped;

TEST_CASE("attempt_status: what was stopped neither succeeded nor failed") {
    CHECK(was_stopped(attempt_status::killed));
    CHECK(was_stopped(attempt_status::outrun));
    CHECK_FALSE(was_stopped(attempt_status::success));
    CHECK_FALSE(was_stopped(attempt_status::failed));
}
