// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Attempts as the parts that decide see them: nodes, jobs and tasks are numbers, times are real numbers in
/// one unit. Records of any other shape are read through fields and handed on as these.
#pragma once

#include <straggle/base/config.hpp>

#include <cstdint>

namespace straggle::inline STRAGGLE_ABI {

/// How an attempt ended, as far as its length is concerned.
enum class ended_as : std::uint8_t {
    success, ///< it did its work: its length is known
    failed,  ///< it broke: nothing is known of its length, but something of its node
    killed,  ///< cancelled for room or by a user: it would have taken at least so long
    outrun,  ///< cancelled because another attempt of its task was faster: it would have taken at least so
             ///< long
};

/// The task of an attempt whose task is not known.
inline constexpr std::uint64_t no_task = ~std::uint64_t{0};

/// An attempt that ended.
struct ended_attempt {
    std::uint32_t node = 0;          ///< dense index
    std::uint64_t job = 0;           ///< key of the group of sibling tasks
    std::uint64_t task = no_task;    ///< key within the job
    double start = 0;                ///< when it began
    double end = 0;                  ///< when it ended, in the same unit
    ended_as as = ended_as::success; ///< how
    bool copy = false;               ///< a speculative copy of a task that ran elsewhere
};

/// An attempt that runs now.
struct running_attempt {
    std::uint32_t node = 0;       ///< dense index
    std::uint64_t job = 0;        ///< key of the group of sibling tasks
    std::uint64_t task = no_task; ///< key within the job
    double start = 0;             ///< when it began
    bool copy = false;            ///< a speculative copy of a task that runs elsewhere
};

} // namespace straggle
