// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of the rooms: converts a 64-bit number, such as a hash, to an index.
#pragma once

#include <straggle/base/config.hpp>

#include <cstddef>
#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::detail {

// A cast that compilers call redundant where both types are the same, and require otherwise: drops the upper
// bits on 32-bit platforms.
template <class Integer>
[[nodiscard]] STRAGGLE_ALWAYS_INLINE constexpr std::size_t to_size(Integer n) noexcept {
    if constexpr (std::is_same_v<Integer, std::size_t>)
        return n;
    else
        return static_cast<std::size_t>(n);
}

} // namespace straggle::detail
