// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What happens to the straggler once its copy is launched: do both race, or is it killed at once?
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/stats/empirical.hpp>

#include <cstdint>
#include <string_view>

namespace straggle::inline STRAGGLE_ABI::assign {

/// When a straggler is killed as its copy is launched.
enum class kill_rule : std::uint8_t {
    race,         ///< never: the first to finish wins, and the other is killed then
    when_certain, ///< if even the worst time of the copy is less than its best remaining time
};

/// The name of the enumerator, for logs and JSON.
[[nodiscard]] constexpr std::string_view to_string(kill_rule r) noexcept {
    return r == kill_rule::race ? "race" : "when_certain";
}

/// Whether a straggler is killed in favor of its copy.
///
/// Source: RiskI (Zheng et al. 2014), algorithm 2, line 7, and figure 9(d): "if remaining time t_left > the
/// worst reexecution time t_max". Both times are distributions here: the lowest sample of the remaining time
/// is compared with the highest of the copy. Samples are not bounds: the next copy exceeds all n past samples
/// once in n + 1 times, hence the default is to race.
/// @param rule the rule to apply
/// @param remaining time the straggler still needs where it runs
/// @param copy time of its copy
/// @param launch start-up time of the copy, added to its time
/// @return false if one of the distributions is empty
/// @par Cost
/// O(1), allocates nothing
[[nodiscard]] constexpr bool kills_straggler(kill_rule rule, stats::empirical_view const& remaining,
                                             stats::empirical_view const& copy, double launch = 0) noexcept {
    if (rule == kill_rule::race || remaining.empty() || copy.empty()) return false;
    return remaining.lowest().value_or(0) > copy.highest().value_or(0) + launch;
}

} // namespace straggle::assign
