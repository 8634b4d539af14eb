// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How slow a node is, in an intuitive unit: how many times as long its tasks take there as elsewhere.
#pragma once

#include <straggle/base/config.hpp>

#include <cstdint>
#include <limits>

namespace straggle::inline STRAGGLE_ABI {

/// How many times as long a node's tasks take as their siblings elsewhere, with its uncertainty.
///
/// 1.31 means 31 % longer. Without enough evidence the interval runs from 0 to infinity, and `value` is 1,
/// which is what a scheduler assumes about an unknown node. A value above 1 without an interval is a lower
/// bound, from `tasks` attempts that are still running.
struct slowdown {
    double value = 1;                                      ///< best estimate, above 0
    double low = 0;                                        ///< lower end of the interval
    double high = std::numeric_limits<double>::infinity(); ///< upper end
    std::uint64_t tasks = 0;                               ///< attempts used, ended and running

    /// Whether the evidence sufficed for an interval.
    [[nodiscard]] constexpr bool is_known() const noexcept {
        return high < std::numeric_limits<double>::infinity();
    }
    friend constexpr bool operator==(slowdown const&, slowdown const&) = default;
};

} // namespace straggle

namespace straggle::inline STRAGGLE_ABI::record {

/// A guess whether a node is slow right now, before there is proof.
struct slow_guess {
    double chance = 0; ///< probability that it is slow, in [0, 1]
    double by = 1;     ///< if so: typical slowdown, relative to nodes elsewhere

    friend constexpr bool operator==(slow_guess const&, slow_guess const&) = default;
};

} // namespace straggle::record
