// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Attempts as the deciding parts see them: nodes, jobs and tasks are numbers, times are real numbers in one
/// unit. Records of any other shape are converted through fields.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/record/attempt_status.hpp>

#include <cstdint>
#include <limits>

namespace straggle::inline STRAGGLE_ABI {

/// The task of an attempt whose task is unknown.
inline constexpr std::uint64_t no_task = ~std::uint64_t{0};

/// An attempt that ended.
struct ended_attempt {
    std::uint32_t node = 0;                      ///< dense index
    std::uint64_t job = 0;                       ///< key of the group of sibling tasks
    std::uint64_t task = no_task;                ///< key within the job
    double start = 0;                            ///< when it started
    double end = 0;                              ///< when it ended, in the same unit
    attempt_status as = attempt_status::success; ///< its status
    bool copy = false;                           ///< a speculative copy of a task that ran elsewhere
    double input = 0;                            ///< how much it had to read; 0: unknown
    double waited = 0;                           ///< part of its time in which it waited for other tasks
    std::uint64_t kind = 0; ///< of its job: jobs of a kind depend on input in the same way
};

/// A running attempt.
struct running_attempt {
    std::uint32_t node = 0;       ///< dense index
    std::uint64_t job = 0;        ///< key of the group of sibling tasks
    std::uint64_t task = no_task; ///< key within the job
    double start = 0;             ///< when it started
    bool copy = false;            ///< a speculative copy of a task that runs elsewhere
    double input = 0;             ///< how much it has to read; 0: unknown
    double waited = 0;            ///< part of its time so far in which it waited for other tasks
};

/// What the records of a running job say about it as a whole: its goal, and its size.
struct running_goal {
    std::uint64_t job = 0; ///< key of the job
    /// when it has to end; infinite: no deadline
    double deadline = (std::numeric_limits<double>::infinity)();
    double weight = 1;       ///< how many times as much it counts as another job
    std::uint32_t tasks = 0; ///< all its tasks, those that wait included; 0: unknown
    friend constexpr bool operator==(running_goal const&, running_goal const&) = default;
};

} // namespace straggle
