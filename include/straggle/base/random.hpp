// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Random draws from the caller's engine. The distributions of the standard library differ between vendors;
/// these are the same everywhere.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace straggle::inline STRAGGLE_ABI::base {

/// A uniform random bit generator whose range is a whole number of bits, such as `std::mt19937_64`,
/// `std::mt19937` or `std::random_device`.
template <class Engine>
concept random_engine =
    std::invocable<Engine&> && std::unsigned_integral<std::invoke_result_t<Engine&>> && requires {
        requires(Engine::min)() == 0;
        requires(std::uint64_t{(Engine::max)()} & (std::uint64_t{(Engine::max)()} + 1)) == 0;
        requires std::uint64_t { (Engine::max)() }
        >= 1;
    };

} // namespace straggle::base

namespace straggle::inline STRAGGLE_ABI::detail {

template <base::random_engine Engine>
std::uint64_t random_bits(Engine& engine) {
    constexpr std::uint64_t most = (Engine::max)();
    if constexpr (most == ~std::uint64_t{0}) {
        return engine();
    } else {
        std::uint64_t bits = 0;
        for (std::uint64_t filled = 0; filled != ~std::uint64_t{0};) { // both shift in `most + 1` at a time
            bits = bits * (most + 1) + engine();
            filled = filled * (most + 1) + most;
        }
        return bits;
    }
}

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::base {

/// A uniform draw from 0, 1, ... `bound` - 1.
/// Source: D. Lemire, Fast random integer generation in an interval (2019), doi:10.1145/3230636, in its plain
/// rejection form.
/// @pre `bound > 0`
/// @par Guarantees
/// exactly uniform if the engine is; the same on every platform
template <random_engine Engine>
[[nodiscard]] std::uint64_t uniform_below(Engine& engine, std::uint64_t bound) {
    STRAGGLE_EXPECTS(bound > 0);
    // Redraw values below 2^64 mod bound: without them all remainders are equally likely.
    std::uint64_t const skip = (0 - bound) % bound;
    for (;;) {
        std::uint64_t const bits = detail::random_bits(engine);
        if (bits >= skip) return bits % bound;
    }
}

/// A uniform draw from [0, 1): a whole multiple of 2^-53.
/// @par Guarantees
/// the same on every platform
template <random_engine Engine>
[[nodiscard]] double uniform_unit(Engine& engine) {
    return static_cast<double>(detail::random_bits(engine) >> 11) * 0x1p-53;
}

/// Moves a uniform sample without replacement of `count` items to the front of `items`.
/// @pre `count <= items.size()`
/// @par Cost
/// O(count) draws and swaps, allocates nothing
template <class T, random_engine Engine>
void sample_to_front(std::span<T> items, std::size_t count, Engine& engine) {
    STRAGGLE_EXPECTS(count <= items.size());
    using std::swap;
    for (std::size_t i = 0; i < count; ++i)
        swap(items[i], items[i + static_cast<std::size_t>(uniform_below(engine, items.size() - i))]);
}

} // namespace straggle::base
