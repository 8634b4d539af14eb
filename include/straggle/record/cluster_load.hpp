// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How busy the cluster is, which determines whether a slot that a decision takes away will be missed.
#pragma once

#include <straggle/base/config.hpp>

#include <cstdint>

namespace straggle::inline STRAGGLE_ABI {

/// The cluster at the moment of a decision. Each reader documents which numbers it needs. An unknown number
/// is 0, and a limit that needs it then refuses: no limit relies on a missing number.
struct cluster_load {
    double now = 0;             ///< the caller's clock, in any unit
    std::uint64_t started = 0;  ///< tasks ever started, copies excluded; never decreases
    std::uint64_t running = 0;  ///< running tasks, each counted once regardless of its attempts
    std::uint64_t suspects = 0; ///< running tasks that a detector suspects
    std::uint64_t slots = 0;    ///< slots of all nodes that are not away
    std::uint64_t copies = 0;   ///< running attempts beyond the first of each task
    std::uint64_t busy = 0;     ///< occupied slots
    std::uint64_t waiting = 0;  ///< tasks ready to run without a slot

    friend constexpr bool operator==(cluster_load const&, cluster_load const&) = default;
};

} // namespace straggle
