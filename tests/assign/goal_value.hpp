// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What it is worth that a job ends, as the comment of `job_goal` defines it: an oracle for expected gains.
#pragma once

#include <straggle/assign/job_goal.hpp>

namespace straggle_test {

/// @param t when the job ends, from now
inline double value_of_end(double t, straggle::assign::job_goal const& goal) {
    if (!goal.has_deadline()) return -goal.weight * t;
    return t > goal.deadline ? -goal.weight * (goal.missed + (t - goal.deadline)) : 0.0;
}

} // namespace straggle_test
