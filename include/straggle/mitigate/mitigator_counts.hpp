// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What became of all records that a mitigator saw: none disappears silently.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/record/attempt.hpp>
#include <straggle/record/running.hpp>

#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::mitigate {

/// What became of all records that a mitigator ever saw.
struct mitigator_counts {
    attempt_counts attempts; ///< that ended; `used` ones are evidence, including failed and killed ones
    record::running_counts running; ///< that ran at a decision
    std::uint64_t other_clock =
        0; ///< attempts from before a clock jump, or stamped by a node's clock that is ahead
    std::uint64_t no_room = 0;       ///< nodes and jobs beyond the limits of the options
    std::uint64_t nodes_refused = 0; ///< node records that repeat an earlier name or have none
    std::uint64_t decisions = 0;     ///< number of decisions
    friend constexpr bool operator==(mitigator_counts const&, mitigator_counts const&) = default;
};

} // namespace straggle::mitigate
