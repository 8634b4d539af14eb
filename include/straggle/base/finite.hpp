// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of the numeric checks: a test for NaN and infinity that no compiler option removes.
#pragma once

#include <straggle/base/config.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::detail {

inline constexpr std::uint64_t infinity_bits = 0x7ff0000000000000u;

// Checks the exponent bits: -ffast-math folds std::isfinite to true.
constexpr bool is_finite(double x) noexcept {
    return (std::bit_cast<std::uint64_t>(x) & infinity_bits) != infinity_bits;
}

template <std::same_as<double>... Doubles>
constexpr bool are_finite(Doubles... x) noexcept {
    return (is_finite(x) && ...);
}

// The same for x != x.
constexpr bool is_nan(double x) noexcept {
    return (std::bit_cast<std::uint64_t>(x) & ~(std::uint64_t{1} << 63)) > infinity_bits;
}

// NaN or infinite; always false for types without such values, such as whole numbers or points in time.
template <class T>
constexpr bool is_unordered(T const& t) noexcept {
    if constexpr (std::is_floating_point_v<T>)
        return !is_finite(static_cast<double>(t));
    else
        return false;
}

// NaN as an identifier: it does not even equal itself, so it would be new each time.
template <class T>
constexpr bool is_nameless(T const& id) noexcept {
    if constexpr (std::is_floating_point_v<T>)
        return is_nan(static_cast<double>(id));
    else
        return false;
}

} // namespace straggle::detail
