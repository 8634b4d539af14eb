// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// One attempt of a task: unless it is killed, everything that will happen to it is known when it starts.
#pragma once

#include "plan.hpp"
#include "policy.hpp"

#include <cstdint>
#include <optional>

namespace lab {

struct attempt {
    attempt_record record; ///< `end` and `how`: what will happen
    double work = 1;       ///< including luck
    bool over = false;

    double done = 0; ///< of the work, by `done_at`
    double done_at = 0;
    double crowd = 1; ///< slowdown by attempts that run beside it
    double first_report = 0;
    double next_report = 0;
    double bias = 1; ///< of its reports
    std::optional<double> shown{};
    double shown_at = 0;
};

/// Starts an attempt.
/// @param who everything except its end
attempt start_attempt(plan const& what, attempt_record const& who);

/// When an attempt begins to work.
inline double begin_of(plan const& what, attempt_record const& who) {
    return who.start + what.launch + (who.copy ? what.copy_start : 0);
}

/// From a time on, multiplies its time by a factor, because it shares its node or link with others.
void crowd(plan const& what, attempt& a, double time, double factor);

/// The work done by a time; times must not decrease between calls.
double done_by(plan const& what, attempt& a, double time);

/// Brings `shown` up to the last report before or at a time.
void report(plan const& what, attempt& a, double now);

} // namespace lab
