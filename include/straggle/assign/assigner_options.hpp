// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What an assigner can be told beside its profit policy, its matching and its limits.
#pragma once

#include <straggle/assign/kill_rule.hpp>
#include <straggle/assign/reservation.hpp>
#include <straggle/base/config.hpp>

namespace straggle::inline STRAGGLE_ABI::assign {

/// What an assigner does beside profit, matching and limits.
struct assigner_options {
    kill_rule kill = kill_rule::race; ///< what becomes of the straggler
    reservation slots{};              ///< which slots copies may take
    double launch = 0;                ///< before a copy runs, added to its time; at least 0
    /// What a copy costs goes with the load, as `slot_price` learns it from the loads that it is shown; the
    /// profit policy's own price is the least. Needs `cluster_load::slots`; without, and if false, that
    /// alone.
    bool price_by_load = true;
    /// Also look for a node for stragglers that a limit will not admit, to be able to say what they miss.
    /// Without, nothing is predicted where nothing can be launched.
    bool price_over_budget = true;
};

} // namespace straggle::assign
