// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: the logarithm of a duration on a fixed grid, computed with
/// integers only, so that it is identical on every machine.
#pragma once

#include <straggle/base/config.hpp>

#include <bit>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::detail {

inline constexpr int tick_bits = 16;
inline constexpr double nats_per_tick = 0.693147180559945309417 / 65536;

// log2 of a positive normal number, in units of 2^-16, rounded down.
//
// Repeated squaring of the mantissa yields one digit after the other; each further squaring doubles the error
// of the first, which stays below one unit.
constexpr std::int32_t log_ticks(double x) noexcept {
    std::uint64_t const bits = std::bit_cast<std::uint64_t>(x);
    auto const exponent = static_cast<std::int32_t>((bits >> 52) & 0x7FF) - 1023;
    std::uint64_t mantissa = ((bits & 0xFFFFFFFFFFFFFu) >> 21) | (std::uint64_t{1} << 31); // in [1, 2), 1.31
    std::int32_t fraction = 0;
    for (int i = 0; i < tick_bits; ++i) {
        mantissa = (mantissa * mantissa) >> 31;
        std::uint64_t const digit = mantissa >> 32; // branchless: the branch would be unpredictable
        mantissa >>= digit;
        fraction = 2 * fraction + static_cast<std::int32_t>(digit);
    }
    return exponent * (1 << tick_bits) + fraction;
}

} // namespace straggle::detail
