// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `stats/tick_moments.hpp`: the few operations on 128, 192 and 256-bit integers that exact
/// sums need, in one version with the compiler's 128-bit integer and one without.
#pragma once

#include <straggle/base/config.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::detail {

// Little-endian limbs. Signed numbers are two's complement.
struct uint128 {
    std::uint64_t lo = 0;
    std::uint64_t hi = 0;
    friend constexpr bool operator==(uint128 const&, uint128 const&) = default;
};
using uint256 = std::array<std::uint64_t, 4>;

constexpr std::uint64_t add_carry(std::uint64_t& a, std::uint64_t b, std::uint64_t carry) noexcept {
    std::uint64_t const sum = a + b;
    std::uint64_t const total = sum + carry;
    std::uint64_t const out = static_cast<std::uint64_t>(sum < a) + static_cast<std::uint64_t>(total < sum);
    a = total;
    return out;
}

constexpr std::uint64_t subtract_borrow(std::uint64_t& a, std::uint64_t b, std::uint64_t borrow) noexcept {
    std::uint64_t const difference = a - b;
    std::uint64_t const total = difference - borrow;
    std::uint64_t const out =
        static_cast<std::uint64_t>(a < b) + static_cast<std::uint64_t>(difference < borrow);
    a = total;
    return out;
}

// a += b; returns the carry out of 128 bits. Uses 64-bit words: the compiler's 128-bit type spills registers
// here.
constexpr std::uint64_t add(uint128& a, uint128 b) noexcept {
    a.lo += b.lo;
    std::uint64_t const high = b.hi + static_cast<std::uint64_t>(a.lo < b.lo);
    std::uint64_t const lost = static_cast<std::uint64_t>(high < b.hi);
    a.hi += high;
    return lost + static_cast<std::uint64_t>(a.hi < high);
}

// a -= b; returns the borrow.
constexpr std::uint64_t subtract(uint128& a, uint128 b) noexcept {
    return subtract_borrow(a.hi, b.hi, subtract_borrow(a.lo, b.lo, 0));
}

// The same for a square of a 64-bit number, which is below 2^127: one of the carries cannot occur.
constexpr std::uint64_t add_square(uint128& a, uint128 b) noexcept {
    a.lo += b.lo;
    std::uint64_t const high = b.hi + static_cast<std::uint64_t>(a.lo < b.lo);
    a.hi += high;
    return static_cast<std::uint64_t>(a.hi < high);
}

// Wide arithmetic in 64-bit pieces: works with every compiler.
struct portable_wide {
    static constexpr uint128 multiply(std::uint64_t a, std::uint64_t b) noexcept {
        constexpr std::uint64_t low = 0xffffffffu;
        std::uint64_t const a0 = a & low, a1 = a >> 32, b0 = b & low, b1 = b >> 32;
        std::uint64_t const p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0, p11 = a1 * b1;
        std::uint64_t const middle = (p00 >> 32) + (p01 & low) + (p10 & low);
        return {(p00 & low) | (middle << 32), p11 + (p01 >> 32) + (p10 >> 32) + (middle >> 32)};
    }
    static constexpr uint128 square(std::int64_t a) noexcept {
        std::uint64_t const magnitude =
            a < 0 ? 0 - static_cast<std::uint64_t>(a) : static_cast<std::uint64_t>(a);
        return multiply(magnitude, magnitude);
    }
    // a += b, where no carry out occurs.
    static constexpr void accumulate(uint128& a, uint128 b) noexcept { add(a, b); }
    // The quotient fits 64 bits: a.hi < d.
    static constexpr std::uint64_t divide(uint128 a, std::uint64_t d) noexcept {
        std::uint64_t quotient = 0;
        for (int bit = 63; bit >= 0; --bit) {
            std::uint64_t const top = a.hi >> 63;
            a.hi = (a.hi << 1) | (a.lo >> 63);
            a.lo <<= 1;
            if (top != 0 || a.hi >= d) {
                a.hi -= d;
                quotient |= std::uint64_t{1} << bit;
            }
        }
        return quotient;
    }
};

#if STRAGGLE_HAS_INT128
__extension__ typedef unsigned __int128 native_uint128;
__extension__ typedef __int128 native_int128;

// The same with single machine instructions.
struct native_wide {
    static constexpr native_uint128 join(uint128 a) noexcept { return (native_uint128{a.hi} << 64) | a.lo; }
    static constexpr uint128 split(native_uint128 a) noexcept {
        return {static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(a >> 64)};
    }
    static constexpr uint128 multiply(std::uint64_t a, std::uint64_t b) noexcept {
        return split(native_uint128{a} * b);
    }
    static constexpr uint128 square(std::int64_t a) noexcept {
        return split(static_cast<native_uint128>(native_int128{a} * a));
    }
    static constexpr void accumulate(uint128& a, uint128 b) noexcept { a = split(join(a) + join(b)); }
    static constexpr std::uint64_t divide(uint128 a, std::uint64_t d) noexcept {
        return static_cast<std::uint64_t>(join(a) / d);
    }
};
using default_wide = native_wide;
#else
using default_wide = portable_wide;
#endif

constexpr uint128 negated(uint128 a) noexcept {
    return {0 - a.lo, ~a.hi + static_cast<std::uint64_t>(a.lo == 0)};
}
constexpr bool is_negative(uint128 a) noexcept {
    return (a.hi >> 63) != 0;
}

// a += b << (64 * shift), modulo 2^256.
constexpr void add_limbs(uint256& a, uint128 b, std::size_t shift) noexcept {
    std::uint64_t carry = 0;
    for (std::size_t i = shift; i < 4; ++i)
        carry = add_carry(a[i], i == shift ? b.lo : i == shift + 1 ? b.hi : 0, carry);
}

constexpr uint256 subtract(uint256 a, uint256 const& b) noexcept {
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < 4; ++i) borrow = subtract_borrow(a[i], b[i], borrow);
    return a;
}

// 2^e exactly, for -1022 <= e <= 1023.
constexpr double power_of_two(int e) noexcept {
    return std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52);
}

// The nearest double, ties to even.
constexpr double to_double(uint128 a) noexcept {
    if (a.hi == 0) return static_cast<double>(a.lo);
    int const shift = std::countl_zero(a.hi);
    std::uint64_t lead = a.hi, rest = a.lo;
    if (shift != 0) {
        lead = (a.hi << shift) | (a.lo >> (64 - shift));
        rest = a.lo << shift;
    }
    // 64 leading bits with a sticky last bit round to 53 like the whole number.
    lead |= static_cast<std::uint64_t>(rest != 0);
    return static_cast<double>(lead) * power_of_two(64 - shift);
}

constexpr double to_double(uint256 const& a) noexcept {
    std::size_t top = 4;
    while (top > 2 && a[top - 1] == 0) --top;
    std::uint64_t lost = 0;
    for (std::size_t i = 0; i + 2 < top; ++i) lost |= a[i];
    // Below the two leading words, only whether the rest is nonzero matters; their last bit lies beyond the
    // rounding position because the leading word is nonzero.
    return to_double(uint128{a[top - 2] | static_cast<std::uint64_t>(lost != 0), a[top - 1]}) *
           power_of_two(static_cast<int>(64 * (top - 2)));
}

} // namespace straggle::detail
