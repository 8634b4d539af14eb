// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of the rooms: views a vector, or part of an array, as a span.
#pragma once

#include <straggle/base/config.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Equivalent to constructors of `std::span`. For each element type those make a compiler check dozens of
// concepts, for pointers and for the vector's iterators, at every conversion: half the time of parsing the
// library. For these functions it parses only the declaration, and checks pointers alone, where one is
// called.
template <class T>
[[nodiscard]] STRAGGLE_ALWAYS_INLINE constexpr std::span<T> span_of(T* first, std::size_t n) noexcept {
    return std::span<T>(first, n);
}

template <class T>
[[nodiscard]] STRAGGLE_ALWAYS_INLINE constexpr std::span<T> span_of(std::vector<T>& items) noexcept {
    return std::span<T>(items.data(), items.size());
}

template <class T>
[[nodiscard]] STRAGGLE_ALWAYS_INLINE constexpr std::span<T const>
span_of(std::vector<T> const& items) noexcept {
    return std::span<T const>(items.data(), items.size());
}

template <class T>
void span_of(std::vector<T>&&) = delete;

} // namespace straggle::detail
