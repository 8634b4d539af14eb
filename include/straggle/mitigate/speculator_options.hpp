// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How a `speculator` plans: what is late, what a copy has to promise, and how many there may be.
#pragma once

#include <straggle/assign/race_record.hpp>
#include <straggle/base/config.hpp>
#include <straggle/predict/sibling_times.hpp>

#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::mitigate {

/// How copies are planned. Shares and factors, no times.
struct speculator_options {
    double straggler_threshold = 1.5; ///< late is what takes longer than this times the usual time,
    double deviations = 1.645;        ///< and longer than so many deviations of its siblings
    double least_win = 0.1;           ///< a copy that is less likely to be first is not launched
    double slot_price = 0.05;         ///< of the slot time of a copy, in time of its task, while slots idle
    double most_copies = 0.15;        ///< share of the slots that copies may take
    double storm = 0.3; ///< late are more than this share of the tasks, on more than this share of the nodes
                        ///< and on three at least: copy nothing
    std::uint32_t copies_per_task = 2;      ///< one at a time; further ones ever more seldom
    bool use_progress = true;               ///< false: siblings alone tell what is late
    bool kill_hung = false;                 ///< stop an original on a hung node once its copy runs
    predict::sibling_times_options times{}; ///< what is remembered of the times of tasks
    assign::race_record_options races{};    ///< how races between tasks and copies teach
};

} // namespace straggle::mitigate
