// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What it is worth that a job ends earlier: its time, or its deadline.
#pragma once

#include <straggle/base/config.hpp>

#include <limits>

namespace straggle::inline STRAGGLE_ABI::assign {

/// What a job is to achieve. Times are in one unit, counted from now.
///
/// Without a deadline, each unit of time counts. With one, time before the deadline costs nothing; missing it
/// costs `missed`, and from then on time counts again, so that a job that is late does not wait without end.
/// The node where a task ends first is the best for any such value, so `rank_places` needs none.
///
/// Source: ours; the sum of weighted completion times, and of weighted late jobs and tardiness, are the usual
/// objectives of scheduling (M. L. Pinedo, Scheduling, 2016, section 2.1).
struct job_goal {
    /// time left until its deadline; negative: missed; infinite: it has none
    double deadline = (std::numeric_limits<double>::infinity)();
    double weight = 1; ///< how many times as much it counts as another job; not negative
    double missed = 0; ///< what a missed deadline costs, in time of the job; not negative

    /// Whether it has a deadline.
    [[nodiscard]] constexpr bool has_deadline() const noexcept {
        return deadline < (std::numeric_limits<double>::infinity)();
    }
    friend constexpr bool operator==(job_goal const&, job_goal const&) = default;
};

} // namespace straggle::assign
