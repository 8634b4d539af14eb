// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How slow a node is, in the unit people use: how many times as long its tasks take as elsewhere.
#pragma once

#include <straggle/base/config.hpp>

#include <cstdint>
#include <limits>

namespace straggle::inline STRAGGLE_ABI {

/// How many times as long a node's tasks take as those of its siblings elsewhere, and how sure that is.
///
/// 1.31 means 31 % longer. Without enough evidence the interval is all there is: from 0 to infinity, and
/// `value` says 1, which is what a scheduler assumes of a node that it does not know. A value above 1 without
/// an interval is a lower bound, by `tasks` attempts that still run.
struct slowdown {
    double value = 1;                                      ///< best estimate, above 0
    double low = 0;                                        ///< lower end of the interval
    double high = std::numeric_limits<double>::infinity(); ///< upper end
    std::uint64_t tasks = 0;                               ///< attempts it rests on, ended and running

    /// There is an interval: the evidence sufficed for one.
    [[nodiscard]] constexpr bool is_known() const noexcept {
        return high < std::numeric_limits<double>::infinity();
    }
    friend constexpr bool operator==(slowdown const&, slowdown const&) = default;
};

} // namespace straggle

namespace straggle::inline STRAGGLE_ABI::record {

/// What a node is guessed to be like just now, before anything is proved of it.
struct slow_guess {
    double chance = 0; ///< that it is slow: 0 to 1
    double by = 1;     ///< if it is: how many times as long its tasks take as elsewhere, as a rule

    friend constexpr bool operator==(slow_guess const&, slow_guess const&) = default;
};

} // namespace straggle::record
