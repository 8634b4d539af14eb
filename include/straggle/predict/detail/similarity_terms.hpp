// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `predict/similarity.hpp`: squared weighted differences of a row from a query. All
/// distances are computed here, so that the same values give the same bits everywhere.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/simd.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

namespace straggle::inline STRAGGLE_ABI::detail {

// A missing value in an encoded row: a comparable number, larger than any known value, whose difference from
// one is still finite.
inline constexpr double encoded_missing = 0x1p1022;

constexpr double encode_factor(double value) noexcept {
    return is_nan(value) ? encoded_missing : value;
}

// The reciprocal of a smaller range overflows.
inline constexpr double least_range = (std::numeric_limits<double>::min)();

// Factor that scales a difference to the range. A product instead of a quotient, as one range serves many
// queries.
constexpr double per_range_of(double range) noexcept {
    return range >= least_range ? 1 / range : 0.0;
}

namespace simd {
STRAGGLE_ALWAYS_INLINE lanes choose(lane_mask mask, lanes yes, lanes no) noexcept {
    return std::bit_cast<lanes>((mask & bits_of(yes)) | (~mask & bits_of(no)));
}
} // namespace simd

enum class term_form : std::uint8_t {
    number,            // known for the query and every record
    number_or_missing, // known for the query, but not for every record
    equal_or_not,      // a category, or missing for the query
};

// One factor of a query.
struct factor_term {
    double value;  // encoded
    double scale;  // of a known number: sqrt(weight) / range
    double weight; // the squared term for a difference of 1
    std::size_t factor;
    term_form form;
};

// @param gaps whether some records miss the factor
inline factor_term make_term(std::size_t factor, bool numeric, double value, double weight, double per_range,
                             bool gaps) noexcept {
    constexpr double largest = (std::numeric_limits<double>::max)();
    double const scale = std::sqrt(weight) * per_range;
    return {encode_factor(value), scale < largest ? scale : largest, weight, factor,
            !numeric || is_nan(value) ? term_form::equal_or_not
            : gaps                    ? term_form::number_or_missing
                                      : term_form::number};
}

// Rows are compared in groups of eight, a cache line of doubles: eight values of the first factor, eight of
// the second, and so on.
inline constexpr std::size_t rows_at_once = 8;

// Calls f(i) for each vector i of eight numbers. Compilers do not unroll loops with -O2.
template <class F, std::size_t... Is>
STRAGGLE_ALWAYS_INLINE void for_each_vector(F const& f, std::index_sequence<Is...>) {
    (f(Is), ...);
}

// Adds the squares of the terms, in their order, to eight sums.
// @param group of encoded rows
//
// Never inlined: a compiler that fuses multiplication and addition might do so in one copy and not in
// another.
STRAGGLE_NEVER_INLINE inline void add_squares(double* sums, double const* group,
                                              std::span<factor_term const> terms) noexcept {
    using namespace simd;
    constexpr std::make_index_sequence<rows_at_once / lane_count> all;
    lanes sum[rows_at_once / lane_count];
    std::memcpy(sum, sums, sizeof sum);
    for (factor_term const& t : terms) {
        double const* const column = group + t.factor * rows_at_once;
        lanes const value = splat(t.value), scale = splat(t.scale), weight = splat(t.weight);
        auto const x = [&](std::size_t i) STRAGGLE_INLINE_LAMBDA { return load(column + i * lane_count); };
        auto const with_square = [&](std::size_t i) STRAGGLE_INLINE_LAMBDA {
            lanes const d = (x(i) - value) * scale;
            return sum[i] + d * d;
        };
        if (t.form == term_form::number) {
            for_each_vector([&](std::size_t i) STRAGGLE_INLINE_LAMBDA { sum[i] = with_square(i); }, all);
        } else if (t.form == term_form::number_or_missing) {
            for_each_vector(
                [&](std::size_t i) STRAGGLE_INLINE_LAMBDA {
                    sum[i] = choose(less(x(i), splat(encoded_missing)), with_square(i), sum[i] + weight);
                },
                all);
        } else {
            for_each_vector(
                [&](std::size_t i) STRAGGLE_INLINE_LAMBDA {
                    sum[i] = choose(less(x(i), value) | less(value, x(i)), sum[i] + weight, sum[i]);
                },
                all);
        }
    }
    std::memcpy(sums, sum, sizeof sum);
}

} // namespace straggle::detail
