// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of P-Cores: the single-pass loops over all nodes, in explicit lanes.
///
/// Let M(0) be the largest Low, and M(k+1) the largest Low among the nodes below M(k), that is, with an edge
/// to its owner. The level of a node is the number of bounds M(k) it is below, so finding these bounds is
/// sufficient.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/simd.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace straggle::inline STRAGGLE_ABI::detail::levels {

using namespace simd;

// The largest Low among some nodes, with the properties of its owner that matter.
struct bound {
    double low;
    // Limit on the Low of a node whose High equals `low`: `low` itself if the owners are single points (equal
    // points have no edge), else none.
    double cap;
};

// Larger than the Low of any node that ends at or before another.
inline constexpr double no_cap = (std::numeric_limits<double>::max)();

// Which nodes are below a bound. `touching_points` is `touching` for data that has single points.
enum class relation : std::uint8_t { apart, touching, touching_points };

template <relation R>
constexpr bool is_below(double low, double high, bound const& b) noexcept {
    if constexpr (R == relation::apart) return high < b.low;
    if constexpr (R == relation::touching) return high <= b.low;
    return high <= b.low && low < b.cap;
}

// Lanes of nodes that are not below a bound.
template <relation R>
STRAGGLE_ALWAYS_INLINE lane_mask not_below(lanes low, lanes high, lanes bound_low, lanes bound_cap) noexcept {
    if constexpr (R == relation::apart) return less_equal(bound_low, high);
    if constexpr (R == relation::touching) return less(bound_low, high);
    return less(bound_low, high) | less_equal(bound_cap, low);
}

struct summary {
    bool valid;      // all finite, low <= high
    bool has_points; // some low == high
    double max_low;
    double min_high;
};

// One pass over everything.
// @pre n > 0
inline summary summarise(double const* low, double const* high, std::size_t n) noexcept {
    constexpr std::uint64_t exponent = 0x7ff0000000000000u;
    constexpr std::uint64_t lowest_exponent_bit = 0x0010000000000000u;
    constexpr std::uint64_t sign = 0x8000000000000000u;
    if (n < 4 * lane_count) {
        summary s{true, false, minus_infinity, plus_infinity};
        for (std::size_t i = 0; i < n; ++i) {
            s.valid = s.valid && (std::bit_cast<std::uint64_t>(low[i]) & exponent) != exponent &&
                      (std::bit_cast<std::uint64_t>(high[i]) & exponent) != exponent && low[i] <= high[i];
            s.has_points = s.has_points || !(low[i] < high[i]);
            s.max_low = low[i] > s.max_low ? low[i] : s.max_low;
            s.min_high = high[i] < s.min_high ? high[i] : s.min_high;
        }
        return s;
    }
    // Adding one to an all-ones exponent (NaN, infinity) carries into the sign. Uses bits, because
    // -ffast-math lets the compiler assume that such values do not occur.
    lane_mask const all_ones = splat_bits(exponent);
    lane_mask const one = splat_bits(lowest_exponent_bit);
    lane_mask carried[2] = {splat_bits(0), splat_bits(0)};
    lane_mask reversed[2] = {carried[0], carried[0]};
    lane_mask points[2] = {carried[0], carried[0]};
    lanes max_low[2] = {splat(minus_infinity), splat(minus_infinity)};
    lanes min_high[2] = {splat(plus_infinity), splat(plus_infinity)};
    for_each_block(n, [&](std::size_t i) {
        for (std::size_t a = 0; a < 4; ++a) {
            lanes const l = load(low + i + a * lane_count);
            lanes const h = load(high + i + a * lane_count);
            carried[a & 1] |= ((bits_of(l) & all_ones) + one) | ((bits_of(h) & all_ones) + one);
            reversed[a & 1] |= less(h, l);
            points[a & 1] |= less_equal(h, l);
            max_low[a & 1] = larger(l, max_low[a & 1]);
            min_high[a & 1] = smaller(h, min_high[a & 1]);
        }
    });
    return {(any_bits(carried[0] | carried[1]) & sign) == 0 && any_bits(reversed[0] | reversed[1]) == 0,
            any_bits(points[0] | points[1]) != 0, largest_lane(larger(max_low[0], max_low[1])),
            smallest_lane(smaller(min_high[0], min_high[1]))};
}

// The largest Low among the nodes below `b`.
// @pre some node is below `b`
template <relation R>
bound next_bound(double const* low, double const* high, std::size_t n, bound const& b) noexcept {
    double best = minus_infinity;
    double best_proper = minus_infinity; // among nodes with Low < High
    if (n < 4 * lane_count) {
        for (std::size_t i = 0; i < n; ++i) {
            if (!is_below<R>(low[i], high[i], b)) continue;
            best = low[i] > best ? low[i] : best;
            if (low[i] < high[i]) best_proper = low[i] > best_proper ? low[i] : best_proper;
        }
    } else {
        lanes const bound_low = splat(b.low);
        lanes const bound_cap = splat(b.cap);
        lanes const none = splat(minus_infinity);
        lanes all[4] = {none, none, none, none};
        lanes proper[4] = {none, none, none, none};
        for_each_block(n, [&](std::size_t i) {
            for (std::size_t a = 0; a < 4; ++a) {
                lanes const l = load(low + i + a * lane_count);
                lanes const h = load(high + i + a * lane_count);
                lane_mask const skip = not_below<R>(l, h, bound_low, bound_cap);
                all[a] = larger_unless(skip, l, all[a]);
                if constexpr (R == relation::touching_points)
                    proper[a] = larger_unless(skip | less_equal(h, l), l, proper[a]);
            }
        });
        best = largest_lane(larger(larger(all[0], all[1]), larger(all[2], all[3])));
        if constexpr (R == relation::touching_points)
            best_proper = largest_lane(larger(larger(proper[0], proper[1]), larger(proper[2], proper[3])));
    }
    return {best, R == relation::touching_points && best_proper < best ? best : no_cap};
}

// The largest Low (the first bound), and the smallest High.
struct extremes {
    bound top;
    double first_low;
    double first_high;
};

template <relation R>
extremes find_extremes(double const* low, double const* high, std::size_t n, summary const& s) noexcept {
    extremes e{{s.max_low, no_cap}, s.min_high, s.min_high};
    if constexpr (R == relation::touching_points) {
        bool proper_top = false;
        bool proper_first = false;
        for (std::size_t i = 0; i < n; ++i) {
            bool const proper = low[i] < high[i];
            proper_top |= proper & (low[i] == s.max_low);
            proper_first |= proper & (high[i] == s.min_high);
        }
        if (!proper_top) e.top.cap = s.max_low;
        if (proper_first) e.first_low = -no_cap;
    }
    return e;
}

// level = number of bounds a node is below; for few bounds.
template <relation R>
void count_bounds(double const* low, double const* high, std::size_t n, bound const* bounds,
                  std::size_t count, std::uint32_t* level) noexcept {
    if (n < 4 * lane_count) {
        for (std::size_t i = 0; i < n; ++i) {
            std::uint32_t l = 0;
            while (l < count && is_below<R>(low[i], high[i], bounds[l])) ++l;
            level[i] = l;
        }
        return;
    }
    for_each_block(n, [&](std::size_t i) {
        lanes h[4];
        lanes l[4];
        lane_mask below[4];
        for (std::size_t a = 0; a < 4; ++a) {
            h[a] = load(high + i + a * lane_count);
            l[a] = R == relation::touching_points ? load(low + i + a * lane_count) : h[a];
            below[a] = splat_bits(count);
        }
        for (std::size_t k = 0; k < count; ++k) {
            lanes const bound_low = splat(bounds[k].low);
            lanes const bound_cap = splat(bounds[k].cap);
            for (std::size_t a = 0; a < 4; ++a) below[a] += not_below<R>(l[a], h[a], bound_low, bound_cap);
        }
        store_counts(below[0], below[1], level + i);
        store_counts(below[2], below[3], level + i + 2 * lane_count);
    });
}

} // namespace straggle::detail::levels
