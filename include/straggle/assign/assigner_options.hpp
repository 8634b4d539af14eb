// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Settings of an assigner besides its profit policy, matching and limits.
#pragma once

#include <straggle/assign/kill_rule.hpp>
#include <straggle/assign/reservation.hpp>
#include <straggle/base/config.hpp>

namespace straggle::inline STRAGGLE_ABI::assign {

/// What an assigner does besides profit, matching and limits.
struct assigner_options {
    kill_rule kill = kill_rule::race; ///< whether to kill the straggler
    reservation slots{};              ///< which slots copies may take
    double launch = 0;                ///< start-up time of a copy, added to its time; at least 0
    /// Also searches a node for stragglers that a limit will refuse, to report what they miss. If false,
    /// nothing is predicted that cannot be launched.
    bool price_over_budget = true;
};

} // namespace straggle::assign
