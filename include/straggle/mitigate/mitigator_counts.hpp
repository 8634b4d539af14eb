// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What became of all records that a mitigator was shown: nothing disappears in silence.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/record/attempt.hpp>
#include <straggle/record/running.hpp>

#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::mitigate {

/// What became of all records that a mitigator was ever shown.
struct mitigator_counts {
    attempt_counts attempts;        ///< that ended; `used` ones are evidence, failed and killed ones too
    record::running_counts running; ///< that ran at a decision
    std::uint64_t other_clock =
        0; ///< attempts from before a jump of the clock, or by a node's clock that is ahead
    std::uint64_t no_room = 0;       ///< nodes and jobs beyond the bounds of the options
    std::uint64_t nodes_refused = 0; ///< records of nodes whose name stood further up, or that had none
    std::uint64_t decisions = 0;     ///< how many there were
    friend constexpr bool operator==(mitigator_counts const&, mitigator_counts const&) = default;
};

} // namespace straggle::mitigate
