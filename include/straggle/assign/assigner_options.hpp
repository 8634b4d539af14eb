// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What an assigner can be told beside its profit policy and its limits.
#pragma once

#include <straggle/assign/greedy_assignment.hpp>
#include <straggle/assign/kill_rule.hpp>
#include <straggle/assign/optimal_assignment.hpp>
#include <straggle/assign/reservation.hpp>
#include <straggle/base/config.hpp>

#include <cstdint>
#include <string_view>

namespace straggle::inline STRAGGLE_ABI::assign {

/// How many stragglers and many nodes are put together.
enum class assignment_rule : std::uint8_t {
    in_turn, ///< each straggler takes the best node left: RiskI's algorithm 2, one after the other
    greedy,  ///< the pair of the largest profit first
    optimal, ///< the largest sum of profits; under limits, of as many copies as they admit
};

/// The name of a rule as it stands in the source, for logs and JSON.
[[nodiscard]] constexpr std::string_view to_string(assignment_rule r) noexcept {
    switch (r) {
    case assignment_rule::in_turn:
        return "in_turn";
    case assignment_rule::greedy:
        return "greedy";
    case assignment_rule::optimal:
        return "optimal";
    }
    return "unknown";
}

/// What an assigner does beside profit and limits.
struct assigner_options {
    assignment_rule rule = assignment_rule::optimal; ///< how many are put together
    kill_rule kill = kill_rule::race;                ///< what becomes of the straggler
    reservation slots{};                             ///< which slots copies may take
    double launch = 0;                               ///< before a copy runs, added to its time; at least 0
    /// What a copy costs goes with the load, as `slot_price` learns it from the loads that it is shown; the
    /// profit policy's own price is the least. Needs `cluster_load::slots`; without, and if false, that
    /// alone.
    bool price_by_load = true;
    /// Also look for a node for stragglers that a limit will not admit, to be able to say what they miss.
    /// Without, nothing is predicted where nothing can be launched.
    bool price_over_budget = true;
};

} // namespace straggle::assign
