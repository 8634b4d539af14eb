// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How busy the cluster is: that decides whether a slot which a decision takes away will be missed.
#pragma once

#include <straggle/base/config.hpp>

#include <cstdint>

namespace straggle::inline STRAGGLE_ABI {

/// The cluster at the moment of a decision. Each reader documents which numbers it needs. What is not told is
/// 0, and a limit that needs it then refuses: no limit rests on a number that is missing.
struct cluster_load {
    double now = 0;             ///< the caller's clock, in any unit
    std::uint64_t started = 0;  ///< tasks started ever, copies not counted; a number that only grows
    std::uint64_t running = 0;  ///< running tasks, each once, however many attempts of it run
    std::uint64_t suspects = 0; ///< of those, how many a detector suspects
    std::uint64_t slots = 0;    ///< slots of all nodes that are not away
    std::uint64_t copies = 0;   ///< running attempts beyond the first of each task
    std::uint64_t busy = 0;     ///< slots that run something
    std::uint64_t waiting = 0;  ///< tasks that are ready to run and have no slot

    friend constexpr bool operator==(cluster_load const&, cluster_load const&) = default;
};

} // namespace straggle
