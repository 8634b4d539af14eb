// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: logarithms of times and inputs. That of a duration is on a
/// fixed grid, computed with integers only, so that it is identical on every machine.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace straggle::inline STRAGGLE_ABI::detail {

inline constexpr int tick_bits = 16;
inline constexpr double nats_per_tick = 0.693147180559945309417 / 65536;

// 1 / c and log2(c) for the middle c of each of 128 parts of [1, 2), as multiples of 2^-31 and 2^-38.
struct log_part {
    std::int64_t inverse = 0, log = 0;
};
inline constexpr std::array<log_part, 128> log_parts = [] {
    std::array<log_part, 128> parts;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        auto const inverse = static_cast<std::int64_t>(0x1p31 * 256 / static_cast<double>(2 * i + 257) + 0.5);
        // ln(c) = 2 artanh((c - 1) / (c + 1)), where 1 / c is the rounded inverse
        double const r = static_cast<double>(inverse) * 0x1p-31, z = (1 - r) / (1 + r);
        double sum = 0, power = z;
        for (int k = 1; k < 40; k += 2, power *= z * z) sum += power / k;
        parts[i] = {inverse, static_cast<std::int64_t>(2 * sum / 0.693147180559945309417 * 0x1p38 + 0.5)};
    }
    return parts;
}();

// log2 of a positive normal number, in units of 2^-16, rounded down; of powers of two it is exact. With
// x = c (1 + e), |e| < 2^-7: log2 c from the table, and three terms of the series of ln(1 + e).
constexpr std::int32_t log_ticks(double x) noexcept {
    std::uint64_t const bits = std::bit_cast<std::uint64_t>(x);
    auto const exponent = static_cast<std::int32_t>((bits >> 52) & 0x7FF) - 1023;
    auto const mantissa = static_cast<std::int64_t>(((bits & 0xFFFFFFFFFFFFFu) >> 21) | 0x80000000u);
    log_part const part = log_parts[(bits >> 45) & 127];
    std::int64_t const e = (mantissa * part.inverse - (std::int64_t{1} << 62)) >> 24;
    std::int64_t const ee = (e * e) >> 38, eee = (ee * e) >> 38;
    constexpr std::int64_t one = 3098164010, half = one / 2, third = one / 3; // of 2^31 / ln 2
    constexpr std::int64_t slack = 64;                                        // more than all rounding
    std::int64_t const log = part.log + ((e * one - ee * half + eee * third) >> 31) + slack;
    return exponent * (1 << tick_bits) + static_cast<std::int32_t>(log >> (38 - tick_bits));
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
