// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What goes into a `speculator` and what comes out: plain rows of numbers.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/no_index.hpp>
#include <straggle/record/attempt_event.hpp>
#include <straggle/record/attempt_status.hpp>
#include <straggle/record/comparison.hpp>
#include <straggle/record/node_state.hpp>
#include <straggle/record/slowdown.hpp>
#include <straggle/record/suspect.hpp>

#include <cstdint>
#include <limits>

namespace straggle::inline STRAGGLE_ABI::mitigate {

/// An attempt that runs now. Originals and copies have a row each, with the same job and task.
struct running_row {
    std::uint32_t row = 0;  ///< the caller's, handed back
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
};

/// A node. All nodes are told, those that are full or out of service too.
struct place_row {
    std::uint32_t row = 0;                  ///< the caller's, handed back
    std::uint32_t node = 0;                 ///< a small number
    std::uint32_t slots = 1;                ///< all of them
    std::uint32_t free = 0;                 ///< slots that idle
    node_state state = node_state::healthy; ///< read, not decided here
    slowdown slow{}; ///< of all its tasks, whatever the cause; believed as far as the interval proves it
    std::uint32_t probe_slots = 0; ///< on probation: so many attempts it may run
    bool hung = false;             ///< what runs there does not advance
    record::slow_guess slow_now{}; ///< what it may be like just now, `slowdown_evidence::slow_now`
    bool fails = false;            ///< what ended there last has failed, `node_stage::only_fails`
};

/// A task that waits for a place.
struct new_task {
    std::uint64_t job = 0;                                   ///< as in `running_row`
    std::uint64_t task = no_task;                            ///< as in `running_row`
    std::uint32_t kind = detail::no_index;                   ///< as in `running_row`
    double input = std::numeric_limits<double>::quiet_NaN(); ///< as in `running_row`
    bool only_here = false;    ///< no node can run it but those that are told, the full ones among them
    bool queue_is_now = false; ///< the load is of now; else it is of the last plan, and what came is guessed
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

/// A time that is not known exactly: the 10 %, 50 % and 90 % quantiles.
struct time_range {
    double low = 0, middle = 0, high = 0; ///< ascending
    friend constexpr bool operator==(time_range const&, time_range const&) = default;
};

/// A task that takes longer than the spread of its job explains: its predicted time stands against the
/// threshold and the usual time of its job. `row` is the caller's.
using late_task = suspect<std::uint32_t, time_range>;

/// A copy to launch.
struct copy_row {
    std::uint32_t task_row = 0, node_row = 0; ///< the caller's
    time_range left{};                        ///< what the task still takes where it runs
    time_range there{};                       ///< what the copy takes
    double win_probability = 0;               ///< that the copy ends first
    double gain = 0;                          ///< time that the job can be expected to end earlier
    double cost = 0;    ///< net slot time at its price; below 0 where slot time is saved
    comparison why{};   ///< the predicted time of the task against the threshold and the usual of its job
    bool probe = false; ///< to try a node on probation, not to help the task
};

/// An original to stop: its node hangs, and a copy of it runs.
struct kill_row {
    std::uint32_t task_row = 0; ///< the caller's
};

/// What a round was like.
struct copy_notes {
    bool storm = false;            ///< too many tasks look late: nothing is copied, the baseline is suspected
    std::uint32_t tasks = 0;       ///< that run
    std::uint32_t late = 0;        ///< of those
    std::uint32_t no_estimate = 0; ///< too little is known of their job and kind
    std::uint32_t priced = 0;      ///< late tasks for which a copy was considered
    std::uint32_t not_worth = 0;   ///< of those, gain was below cost or the copy would rather lose
    std::uint32_t over_limit = 0;  ///< of those, too many copies run already
    std::uint32_t no_place = 0;    ///< of those, no node was free or could run it
    friend constexpr bool operator==(copy_notes const&, copy_notes const&) = default;
};

} // namespace straggle::mitigate
