// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Input and output rows of a `speculator`: plain numbers.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/no_index.hpp>
#include <straggle/detect/late_cause.hpp>
#include <straggle/record/attempt_event.hpp>
#include <straggle/record/attempt_status.hpp>
#include <straggle/record/comparison.hpp>
#include <straggle/record/node_state.hpp>
#include <straggle/record/slowdown.hpp>

#include <cstdint>
#include <limits>

namespace straggle::inline STRAGGLE_ABI::mitigate {

/// A running attempt. Originals and copies have a row each, with the same job and task.
struct running_row {
    std::uint32_t row = 0;  ///< set by the caller, returned unchanged
    std::uint64_t job = 0;  ///< siblings are tasks of one job
    std::uint64_t task = 0; ///< within the job; `no_task`: a task of its own, whose copies are not known
    std::uint32_t kind = detail::no_index;                      ///< jobs of the same work
    std::uint32_t node = 0;                                     ///< as in `place_row`
    double start = 0;                                           ///< on the caller's clock
    double progress = std::numeric_limits<double>::quiet_NaN(); ///< in [0, 1]; NaN: not known
    double reported = std::numeric_limits<double>::quiet_NaN(); ///< time of the report; NaN: now
    double input = std::numeric_limits<double>::quiet_NaN();    ///< size, above 0; NaN: not known
    std::uint32_t attempts = 1; ///< of the task that run now or are being launched, this one counted
    bool is_copy = false;       ///< not the original
    bool may_copy = true;       ///< false: a task with side effects, a task of a gang
    std::uint32_t record = 0;   ///< `detect::running_task::row` for custom detectors and predictors
};

/// A node. Pass all nodes, including those that are full or out of service.
struct place_row {
    std::uint32_t row = 0;                  ///< set by the caller, returned unchanged
    std::uint32_t node = 0;                 ///< a small number
    std::uint32_t slots = 1;                ///< total number of slots
    std::uint32_t free = 0;                 ///< idle slots
    node_state state = node_state::healthy; ///< an input: the speculator does not change it
    slowdown slow{}; ///< over all its tasks, whatever the cause; used only as far as the interval supports it
    std::uint32_t probe_slots = 0; ///< on probation: how many attempts may run there at a time
    bool hung = false;             ///< attempts on it make no progress
    record::slow_guess slow_now{}; ///< chance that it is slow right now, `slowdown_evidence::slow_now`
    bool fails = false;            ///< its latest attempts failed, `node_stage::only_fails`
};

/// A task that waits for a slot.
struct new_task {
    std::uint64_t job = 0;                                   ///< as in `running_row`
    std::uint64_t task = no_task;                            ///< as in `running_row`
    std::uint32_t kind = detail::no_index;                   ///< as in `running_row`
    double input = std::numeric_limits<double>::quiet_NaN(); ///< as in `running_row`
    bool only_here = false;    ///< only the nodes that are passed can run it; full ones are passed as well
    bool queue_is_now = false; ///< true: `waiting` is current; false: it dates from the last plan, and later
                               ///< arrivals are estimated
};

/// An attempt that ended.
struct ended_row {
    std::uint64_t job = 0, task = 0;                         ///< as in `running_row`
    std::uint32_t kind = detail::no_index;                   ///< as in `running_row`
    std::uint32_t node = 0;                                  ///< as in `running_row`
    double start = 0, end = 0;                               ///< on the caller's clock
    double input = std::numeric_limits<double>::quiet_NaN(); ///< as in `running_row`
    attempt_status how = attempt_status::success;            ///< its status
    bool is_copy = false;                                    ///< not the original
};

/// A time that is not known exactly.
struct time_range {
    double low = 0;    ///< one in ten is shorter
    double middle = 0; ///< the median
    double high = 0;   ///< one in ten is longer
    friend constexpr bool operator==(time_range const&, time_range const&) = default;
};

/// A task that takes longer than the spread within its job explains. `why` compares its predicted time with
/// the threshold and the usual time of its job.
struct late_task {
    std::uint32_t row = 0;      ///< the caller's
    time_range left{};          ///< time it still needs where it runs
    comparison why{};           ///< what was compared
    detect::late_cause cause{}; ///< what makes it late
};

/// A copy to launch.
struct copy_row {
    std::uint32_t task_row = 0, node_row = 0; ///< the caller's
    time_range left{};                        ///< time the task still needs where it runs
    time_range there{};                       ///< time the copy needs
    double win_probability = 0;               ///< probability that the copy ends first
    double gain = 0;                          ///< expected time by which the job ends earlier
    double cost = 0;  ///< net slot time at its price; negative where the copy saves slot time
    comparison why{}; ///< predicted time of the task against the threshold and the usual time of its job
    detect::late_cause cause{}; ///< what makes the task late; unknown if it is not
    bool probe = false;         ///< to try a node on probation, not to help the task
};

/// A job with a deadline.
struct job_row {
    std::uint64_t job = 0;        ///< as in `running_row`
    std::uint32_t row = 0;        ///< of one of its attempts, the caller's
    bool is_known = false;        ///< whether the times of its tasks are known; if not, `end` is 0
    std::uint32_t copies = 0;     ///< of its tasks, that run
    time_range end{};             ///< time until its running tasks have ended, with the copies that run now
    double deadline = 0;          ///< time left until its deadline; negative: missed
    double weight = 1;            ///< as passed
    double miss_probability = 0;  ///< probability that one of its running tasks ends later
    double least_probability = 0; ///< the same if each of its tasks had a copy on a usual node from now on
};

/// An original to stop: its node hangs, and a copy of it runs.
struct kill_row {
    std::uint32_t task_row = 0; ///< the caller's
};

/// Summary of a round.
struct copy_notes {
    bool storm = false;      ///< too many tasks look late: the baseline is suspect, so nothing is copied
    std::uint32_t tasks = 0; ///< running tasks
    std::uint32_t late = 0;  ///< late tasks among them
    std::uint32_t no_estimate = 0; ///< tasks whose job and kind have too little history
    std::uint32_t priced = 0;      ///< late tasks for which a copy was considered
    std::uint32_t not_worth = 0;   ///< of those: the gain was below the cost, or the copy would probably lose
    std::uint32_t over_limit = 0;  ///< of those: the limit on running copies was reached
    std::uint32_t no_place = 0;    ///< of those: no free node could run it
    friend constexpr bool operator==(copy_notes const&, copy_notes const&) = default;
};

} // namespace straggle::mitigate
