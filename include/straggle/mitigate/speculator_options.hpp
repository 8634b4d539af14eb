// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How a `speculator` plans: what is late, what a copy must promise, and how many there may be.
#pragma once

#include <straggle/assign/race_record_options.hpp>
#include <straggle/base/config.hpp>
#include <straggle/predict/sibling_times_options.hpp>

#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::mitigate {

/// How copies are planned. Shares and factors only, no times.
struct speculator_options {
    double straggler_threshold = 1.5; ///< late: longer than this times the usual time,
    double deviations = 1.645;        ///< and longer by this many deviations of its siblings
    double least_win = 0.1;           ///< least probability that a copy ends first
    double slot_price = 0.05;  ///< per unit of a copy's slot time, in time of its task, while slots idle
    double most_copies = 0.15; ///< limit on copies, as a share of the slots
    double storm = 0.3; ///< copy nothing if more than this share of the tasks are late, on more than this
                        ///< share of the nodes and on at least three
    double missed = 4;  ///< what a missed deadline costs, in usual times of a task of the job
    std::uint32_t copies_per_task = 2; ///< one at a time; further copies at growing intervals
    bool use_progress = true;          ///< false: judge by siblings alone
    /// Plan moves instead of copies, for schedulers that cannot run a task twice: only where its node is to
    /// blame and a whole run elsewhere is shorter than what is left, nine times in ten. An attempt that began
    /// anew counts as a copy for `copies_per_task`. Not with an assigner of your own.
    bool moves = false;
    bool kill_hung = false;                 ///< stop an original on a hung node once its copy runs
    predict::sibling_times_options times{}; ///< what is remembered about task times
    assign::race_record_options races{};    ///< how races between tasks and copies are learned from
};

} // namespace straggle::mitigate
