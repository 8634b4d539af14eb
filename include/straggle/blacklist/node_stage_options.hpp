// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How decisions about nodes are made: evidence, limits and lengths of exclusions.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/rank/slowdown_evidence_options.hpp>

#include <cstddef>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI {

/// How decisions about nodes are made. The defaults suit a production cluster.
struct node_stage_options {
    slowdown_evidence_options evidence{}; ///< what counts as slow, and bounds on memory
    /// Largest share of the slots that may be out; in a fleet of three or more nodes, a single node that
    /// holds at most half of the slots may be out regardless. 0: none. The same rule as
    /// `blacklist::share_of_slots`.
    double share_of_slots = 0.2;
    /// If nothing is wrong, at most one node of the fleet is excluded in this many windows.
    double windows_per_error = 1000;
    double first_exclusion = 5;     ///< in windows; doubles with every strike
    double longest_exclusion = 160; ///< in windows
    /// Whether nodes on probation are given ordinary tasks, not only copies. If so, a node that ended none
    /// has shown nothing and stays on probation, for at most 64 windows; if not, for as long as its exclusion
    /// lasted.
    bool probes_with_tasks = false;
    std::size_t most_out = SIZE_MAX; ///< limit on nodes out at a time
    double least_slots = 0;          ///< slots that must stay in service
    double fail_open = 0.5;          ///< no exclusions while more than this share of the slots looks weak
};

} // namespace straggle
