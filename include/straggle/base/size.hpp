// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of the rooms: a number of 64 bits, such as a hash, as an index.
#pragma once

#include <straggle/base/config.hpp>

#include <cstddef>
#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::detail {

// A cast that compilers call useless where both are the same type, and ask for where they are not: the upper
// bits are dropped where addresses have 32.
template <class Integer>
[[nodiscard]] STRAGGLE_ALWAYS_INLINE constexpr std::size_t to_size(Integer n) noexcept {
    if constexpr (std::is_same_v<Integer, std::size_t>)
        return n;
    else
        return static_cast<std::size_t>(n);
}

} // namespace straggle::detail
