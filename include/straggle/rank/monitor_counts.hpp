// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What a monitor observed, and which of its limits were reached.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/record/attempt.hpp>

#include <cstdint>

namespace straggle::inline STRAGGLE_ABI {

/// What became of all attempts passed to a monitor, and which of its limits were reached.
/// @par Guarantees
/// `attempts.seen == attempts.used + attempts.failed + attempts.killed +
/// attempts.total_rejected() + too_old + early + over_capacity`
struct monitor_counts {
    attempt_counts attempts;           ///< as for a ranking; `used` ones entered the statistics
    std::uint64_t too_old = 0;         ///< dropped: ended before the oldest step that the monitor holds
    std::uint64_t early = 0;           ///< dropped: ended after the caller's `now`
    std::uint64_t over_capacity = 0;   ///< dropped: more than `max_pairs`, `max_jobs` or `max_nodes`
    std::uint64_t unfinished_jobs = 0; ///< `finish` released nothing because of `max_finished`
    std::uint64_t forgotten_jobs = 0;  ///< not seen for so long that they count as over
    std::uint64_t evicted_jobs = 0;    ///< forgotten earlier because of `max_jobs`
    /// Adds other counts.
    constexpr monitor_counts& operator+=(monitor_counts const& other) noexcept {
        attempts += other.attempts;
        too_old += other.too_old;
        early += other.early;
        over_capacity += other.over_capacity;
        unfinished_jobs += other.unfinished_jobs;
        forgotten_jobs += other.forgotten_jobs;
        evicted_jobs += other.evicted_jobs;
        return *this;
    }
    friend constexpr bool operator==(monitor_counts const&, monitor_counts const&) = default;
};

} // namespace straggle
