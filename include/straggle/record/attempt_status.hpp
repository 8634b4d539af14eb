// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How an attempt ended: one enumeration for the user's records and everything derived from them.
#pragma once

#include <straggle/base/config.hpp>

#include <cstdint>

namespace straggle::inline STRAGGLE_ABI {

/// How an attempt ended. Only a success reveals how long the task takes. A failure reveals something about
/// its node but nothing about time; a stopped attempt would have taken at least as long as it ran.
enum class attempt_status : std::uint8_t {
    success, ///< it completed its work
    failed,  ///< it broke
    killed,  ///< stopped to free resources or by a user
    outrun,  ///< stopped because another attempt of its task was faster
};

} // namespace straggle

namespace straggle::inline STRAGGLE_ABI::record {

/// Whether it was stopped before it completed: `killed` or `outrun`.
[[nodiscard]] constexpr bool was_stopped(attempt_status s) noexcept {
    return s == attempt_status::killed || s == attempt_status::outrun;
}

} // namespace straggle::record
