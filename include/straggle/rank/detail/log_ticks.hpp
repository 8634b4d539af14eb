// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: logarithms of times and inputs. That of a duration is on a
/// fixed grid, computed with integers only, so that it is identical on every machine.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

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

// Bounds of what can be stored: beyond the logarithm of any ratio of times, and any number of tasks.
inline constexpr double most_log = 1e4, most_tasks = 1e15;

// Stands for an unknown log input.
inline constexpr float unknown_input = std::numeric_limits<float>::quiet_NaN();
[[nodiscard]] inline float log_input(double input) noexcept {
    return input > 0 && is_finite(input) ? static_cast<float>(std::log(input)) : unknown_input;
}
// A log of input as a field: in the range of logs of doubles, or unknown.
template <class Input, class Archive>
void log_input_field(Input& input, Archive& a) {
    auto wide = static_cast<double>(input);
    a(wide);
    a.expect(is_nan(wide) || std::fabs(wide) < 2000);
    if constexpr (Archive::reads) input = static_cast<float>(wide);
}
// How far one log of input lies beyond another; 0 if either is unknown.
[[nodiscard]] inline double input_beyond(float input, float usual) noexcept {
    double const more = static_cast<double>(input) - static_cast<double>(usual);
    return is_nan(more) ? 0.0 : more;
}

} // namespace straggle::detail
