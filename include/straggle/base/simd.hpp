// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of P-Cores, of detectors and of the similarity of tasks: several doubles handled as one
/// value. Plain -O2, the usual setting, barely vectorizes by itself. GCC and clang have vector types as wide
/// as the target allows (two doubles on every x86-64 and AArch64); elsewhere, on an x86 without SSE2, or with
/// `STRAGGLE_NO_VECTOR_TYPES`, a value is one double.
#pragma once

#include <straggle/base/config.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::detail::simd {

// From bits: clang warns about infinity() under -ffast-math. Only used in comparisons, which work there too.
inline constexpr double plus_infinity = std::bit_cast<double>(std::uint64_t{0x7ff0000000000000});
inline constexpr double minus_infinity = std::bit_cast<double>(std::uint64_t{0xfff0000000000000});

#if (defined(__GNUC__) || defined(__clang__)) && !defined(STRAGGLE_NO_VECTOR_TYPES) &&                       \
    !(defined(__i386__) && !defined(__SSE2__))

#if defined(__AVX512F__)
inline constexpr std::size_t lane_bytes = 64;
#elif defined(__AVX__)
inline constexpr std::size_t lane_bytes = 32;
#else
inline constexpr std::size_t lane_bytes = 16;
#endif
using lanes = double __attribute__((vector_size(lane_bytes)));
// All bits of a lane set, or none.
using lane_mask = std::uint64_t __attribute__((vector_size(lane_bytes)));
using lane_counts = std::uint32_t __attribute__((vector_size(lane_bytes / 2)));

STRAGGLE_ALWAYS_INLINE lanes load(double const* from) noexcept {
    lanes v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}
STRAGGLE_ALWAYS_INLINE lanes splat(double x) noexcept {
    return x - lanes{};
}
STRAGGLE_ALWAYS_INLINE lane_mask splat_bits(std::uint64_t x) noexcept {
    return x + lane_mask{};
}
STRAGGLE_ALWAYS_INLINE lane_mask bits_of(lanes v) noexcept {
    return std::bit_cast<lane_mask>(v);
}
STRAGGLE_ALWAYS_INLINE lane_mask less(lanes a, lanes b) noexcept {
    return a < b;
}
STRAGGLE_ALWAYS_INLINE lane_mask less_equal(lanes a, lanes b) noexcept {
    return a <= b;
}
STRAGGLE_ALWAYS_INLINE lanes larger(lanes a, lanes b) noexcept {
    return a > b ? a : b;
}
STRAGGLE_ALWAYS_INLINE lanes smaller(lanes a, lanes b) noexcept {
    return a < b ? a : b;
}

// larger(v, best) where `skip` is clear, else best. A lane of all ones is a NaN and loses every comparison,
// which saves two of three logical instructions without masked moves.
STRAGGLE_ALWAYS_INLINE lanes larger_unless(lane_mask skip, lanes v, lanes best) noexcept {
#if __FINITE_MATH_ONLY__ || defined(__AVX512F__)
    lanes const c = skip ? best : v;
#else
    lanes const c = std::bit_cast<lanes>(skip | bits_of(v));
#endif
    return c > best ? c : best;
}

// Combines halves in two or three steps: one lane after the other would form a dependency chain. GCC 11 has
// no vector shuffles.
// @param better which of two to keep
template <class Better>
STRAGGLE_ALWAYS_INLINE double best_lane(lanes v, Better const& better) noexcept {
#if defined(__AVX__) && (defined(__clang__) || __GNUC__ >= 12)
#if defined(__AVX512F__)
    v = better(__builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3), v);
    v = better(__builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5), v);
#else
    v = better(__builtin_shufflevector(v, v, 2, 3, 0, 1), v);
#endif
    return better(v[1], v[0]);
#else
    double m = v[0];
    for (std::size_t i = 1; i < lane_bytes / sizeof(double); ++i) m = better(v[i], m);
    return m;
#endif
}
STRAGGLE_ALWAYS_INLINE double largest_lane(lanes v) noexcept {
    return best_lane(v, [](auto a, auto b) STRAGGLE_INLINE_LAMBDA { return a > b ? a : b; });
}
STRAGGLE_ALWAYS_INLINE double smallest_lane(lanes v) noexcept {
    return best_lane(v, [](auto a, auto b) STRAGGLE_INLINE_LAMBDA { return a < b ? a : b; });
}
STRAGGLE_ALWAYS_INLINE std::uint64_t any_bits(lane_mask v) noexcept {
    std::uint64_t all = v[0];
    for (std::size_t i = 1; i < lane_bytes / sizeof(double); ++i) all |= v[i];
    return all;
}
// Stores two values of counts as 32-bit numbers.
STRAGGLE_ALWAYS_INLINE void store_counts(lane_mask a, lane_mask b, std::uint32_t* to) noexcept {
// GCC 11 has no vector shuffles; the lower half of 64-bit numbers comes first on little-endian machines only.
#if defined(__AVX__) || __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ || (!defined(__clang__) && __GNUC__ < 12)
    lane_counts const first = __builtin_convertvector(a, lane_counts);
    lane_counts const second = __builtin_convertvector(b, lane_counts);
    __builtin_memcpy(to, &first, sizeof first);
    __builtin_memcpy(to + lane_bytes / sizeof(double), &second, sizeof second);
#else
    using words = std::uint32_t __attribute__((vector_size(lane_bytes)));
    words const both = __builtin_shufflevector(std::bit_cast<words>(a), std::bit_cast<words>(b), 0, 2, 4, 6);
    __builtin_memcpy(to, &both, sizeof both);
#endif
}

#else

inline constexpr std::size_t lane_bytes = sizeof(double);
using lanes = double;
using lane_mask = std::uint64_t;

STRAGGLE_ALWAYS_INLINE lanes load(double const* from) noexcept {
    return *from;
}
STRAGGLE_ALWAYS_INLINE lanes splat(double x) noexcept {
    return x;
}
STRAGGLE_ALWAYS_INLINE lane_mask splat_bits(std::uint64_t x) noexcept {
    return x;
}
STRAGGLE_ALWAYS_INLINE lane_mask bits_of(lanes v) noexcept {
    return std::bit_cast<lane_mask>(v);
}
STRAGGLE_ALWAYS_INLINE lane_mask less(lanes a, lanes b) noexcept {
    return a < b ? ~lane_mask{0} : 0;
}
STRAGGLE_ALWAYS_INLINE lane_mask less_equal(lanes a, lanes b) noexcept {
    return a <= b ? ~lane_mask{0} : 0;
}
STRAGGLE_ALWAYS_INLINE lanes larger(lanes a, lanes b) noexcept {
    return a > b ? a : b;
}
STRAGGLE_ALWAYS_INLINE lanes smaller(lanes a, lanes b) noexcept {
    return a < b ? a : b;
}
STRAGGLE_ALWAYS_INLINE lanes larger_unless(lane_mask skip, lanes v, lanes best) noexcept {
    lanes const c = skip != 0 ? best : v;
    return c > best ? c : best;
}
STRAGGLE_ALWAYS_INLINE double largest_lane(lanes v) noexcept {
    return v;
}
STRAGGLE_ALWAYS_INLINE double smallest_lane(lanes v) noexcept {
    return v;
}
STRAGGLE_ALWAYS_INLINE std::uint64_t any_bits(lane_mask v) noexcept {
    return v;
}
STRAGGLE_ALWAYS_INLINE void store_counts(lane_mask a, lane_mask b, std::uint32_t* to) noexcept {
    to[0] = static_cast<std::uint32_t>(a);
    to[1] = static_cast<std::uint32_t>(b);
}

#endif

inline constexpr std::size_t lane_count = lane_bytes / sizeof(double);

// Calls `step(i)` for blocks of four values from i on (four independent accumulators hide the latency). The
// last block overlaps the previous one so that nothing is left over: `step` must tolerate seeing an element
// twice.
// @pre n >= 4 * lane_count
template <class Step>
STRAGGLE_ALWAYS_INLINE void for_each_block(std::size_t n, Step&& step) noexcept {
    constexpr std::size_t block = 4 * lane_count;
    std::size_t const last = n - block;
    std::size_t i = 0;
    while (true) {
        step(i);
        if (i == last) return;
        i = i + block < last ? i + block : last;
    }
}

} // namespace straggle::detail::simd
