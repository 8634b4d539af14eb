// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `predict/similarity.hpp`: squared weighted differences of eight records from a query at
/// once. All distances are computed here, so that the same values give the same bits everywhere.
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

// How a squared weighted difference is computed.
enum class term_form : std::uint8_t {
    number,            // known for the query and every record
    number_or_missing, // known for the query, but not for every record
    code,              // known for the query: equal or different
    presence,          // missing for the query and for some records
    constant,          // missing for the query, but for no record
};

// One factor of a query.
struct factor_term {
    double value;  // encoded
    double scale;  // of a number: sqrt(weight) / range; else 0
    double weight; // the squared term for a difference of 1
    std::uint32_t factor;
    term_form form;
};

// Factor that scales a difference to the range. A product instead of a quotient, as one range serves many
// queries.
constexpr double per_range_of(double range) noexcept {
    return range >= least_range ? 1 / range : 0.0;
}
constexpr double scale_of(double root_of_weight, double per_range) noexcept {
    constexpr double largest = (std::numeric_limits<double>::max)();
    double const scale = root_of_weight * per_range;
    return scale < largest ? scale : largest;
}

// @param gaps whether some records lack the factor
constexpr factor_term make_term(std::size_t factor, bool numeric, double value, double scale, double weight,
                                bool gaps) noexcept {
    bool const missing = is_nan(value);
    term_form const form = missing    ? (gaps ? term_form::presence : term_form::constant)
                           : !numeric ? term_form::code
                           : gaps     ? term_form::number_or_missing
                                      : term_form::number;
    return {missing ? encoded_missing : value, missing || !numeric ? 0.0 : scale, weight,
            static_cast<std::uint32_t>(factor), form};
}

// Records in a leaf, boxes in a group: a cache line of doubles.
inline constexpr std::size_t leaf_size = 8;

STRAGGLE_ALWAYS_INLINE simd::lanes lanes_where(simd::lane_mask mask, simd::lanes v) noexcept {
    return std::bit_cast<simd::lanes>(mask & simd::bits_of(v));
}
STRAGGLE_ALWAYS_INLINE simd::lanes lanes_choose(simd::lane_mask mask, simd::lanes yes,
                                                simd::lanes no) noexcept {
    return std::bit_cast<simd::lanes>((mask & simd::bits_of(yes)) | (~mask & simd::bits_of(no)));
}

// Eight numbers in one or more vectors: enough to hide each other's latency.
class eight {
    static constexpr std::size_t count = leaf_size / simd::lane_count;

  public:
    STRAGGLE_ALWAYS_INLINE explicit eight(double x) noexcept {
        each([x](simd::lanes& v, std::size_t) STRAGGLE_INLINE_LAMBDA { v = simd::splat(x); });
    }
    STRAGGLE_ALWAYS_INLINE explicit eight(double const* from) noexcept {
        each([from](simd::lanes& v, std::size_t i) STRAGGLE_INLINE_LAMBDA { v = simd::load(from + i); });
    }
    // `f(v, i)` for each value, which begins with the i-th number.
    template <class F>
    STRAGGLE_ALWAYS_INLINE void each(F const& f) noexcept {
        each(f, std::make_index_sequence<count>{});
    }
    STRAGGLE_ALWAYS_INLINE void store_to(double* to) noexcept {
        each([to](simd::lanes const& v, std::size_t i)
                 STRAGGLE_INLINE_LAMBDA { std::memcpy(to + i, &v, sizeof v); });
    }
    [[nodiscard]] STRAGGLE_ALWAYS_INLINE double smallest() noexcept {
        simd::lanes m = values_[0];
        each([&m](simd::lanes const& v, std::size_t) STRAGGLE_INLINE_LAMBDA { m = simd::smaller(v, m); });
        return simd::smallest_lane(m);
    }

  private:
    template <class F, std::size_t... Is>
    STRAGGLE_ALWAYS_INLINE void each(F const& f, std::index_sequence<Is...>) noexcept {
        (f(values_[Is], Is * simd::lane_count), ...);
    }

    simd::lanes values_[count];
};

// Adds the squares of the terms, in their order, to the sums of eight records; returns the smallest sum.
// @param leaf eight encoded values of each factor
//
// Never inlined: a compiler that fuses multiplication and addition might do so in one copy and not in
// another.
STRAGGLE_NEVER_INLINE inline double add_squares(double const* leaf, std::span<factor_term const> terms,
                                                double* sums) noexcept {
    using namespace simd;
    eight sum(sums);
    for (factor_term const& t : terms) {
        double const* const x = leaf + t.factor * leaf_size;
        lanes const value = splat(t.value);
        if (t.form == term_form::number) [[likely]] {
            lanes const scale = splat(t.scale);
            sum.each([&](lanes& s, std::size_t i) STRAGGLE_INLINE_LAMBDA {
                lanes const d = (load(x + i) - value) * scale;
                s = s + d * d;
            });
            continue;
        }
        lanes const weight = splat(t.weight);
        switch (t.form) {
        case term_form::number_or_missing: {
            lanes const scale = splat(t.scale), missing = splat(encoded_missing);
            sum.each([&](lanes& s, std::size_t i) STRAGGLE_INLINE_LAMBDA {
                lanes const d = (load(x + i) - value) * scale;
                s = lanes_choose(less(load(x + i), missing), s + d * d, s + weight);
            });
            break;
        }
        case term_form::constant:
            sum.each([&](lanes& s, std::size_t) STRAGGLE_INLINE_LAMBDA { s = s + weight; });
            break;
        default: // code, presence
            sum.each([&](lanes& s, std::size_t i) STRAGGLE_INLINE_LAMBDA {
                s = s + lanes_where(less(load(x + i), value) | less(value, load(x + i)), weight);
            });
        }
    }
    sum.store_to(sums);
    return sum.smallest();
}

} // namespace straggle::detail
