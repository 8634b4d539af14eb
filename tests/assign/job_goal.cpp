// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/assign/job_goal.hpp>

#include <doctest/doctest.h>

using straggle::assign::job_goal;

TEST_CASE("job_goal: by default a job has no deadline and counts once") {
    constexpr job_goal none;
    CHECK_FALSE(none.has_deadline());
    CHECK(none.weight == 1);
    CHECK(job_goal{.deadline = 10}.has_deadline());
    CHECK(job_goal{.deadline = -10}.has_deadline()); // missed
}
