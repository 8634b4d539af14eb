// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How nodes are decided on: the bounds, the limits and the lengths of exclusions.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/rank/slowdown_evidence.hpp>

#include <cstddef>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI {

/// How nodes are decided on. The defaults are for a production cluster.
struct node_stage_options {
    slowdown_evidence_options evidence{}; ///< what counts as slow, and the bounds
    /// Largest share of the slots that may be out; a single node that holds no more than half of them may be
    /// out whatever its share, from three nodes on. 0: none. The limit `blacklist::share_of_slots` is the
    /// same.
    double share_of_slots = 0.2;
    /// Where nothing is wrong, a node of the fleet is excluded at most once in so many windows.
    double windows_per_error = 1000;
    double first_exclusion = 5;      ///< windows; doubled with every strike
    double longest_exclusion = 160;  ///< windows
    std::size_t most_out = SIZE_MAX; ///< nodes that may be out at a time
    double least_slots = 0;          ///< slots that stay in service
    double fail_open = 0.5;          ///< with a larger share of the slots in doubt, no node is excluded
};

} // namespace straggle
