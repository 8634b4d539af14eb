// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `predict/profile_store.hpp`: lower bounds for the distances of records and boxes, from a
/// sketch. Each value has a grid cell beside it, in two bytes instead of eight: eight cells fit into the
/// registers of any x86-64, and the data for most queries into the nearest caches.
///
/// A cell is coarser than a value, so these distances are never too large and slightly too small. They only
/// serve to exclude what is certainly too far away.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/predict/detail/similarity_lanes.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

using profile_cell = std::int16_t;
inline constexpr profile_cell last_cell = 0x7fff;

// The cells of a factor: a larger value is never in a smaller cell. Values outside are in the end cells. If
// two values are d + 1 cells apart, they differ by more than d times (1 - 2^-30) the width of a cell.
struct factor_grid {
    double begin = 0, end = 0;
    double cells_per_unit = 0; // 0: all values are in the same cell

    // Leaves room on both sides for future values.
    [[nodiscard]] static factor_grid around(double low, double high) noexcept {
        if (!(high - low >= 0x1p-1000)) return {};
        double const room = (high - low) / 4, begin = low - room, end = high + room;
        return {begin, end, last_cell / (end - begin)};
    }
    [[nodiscard]] profile_cell of(double value) const noexcept {
        double const inside = value < begin ? begin : value > end ? end : value;
        return static_cast<profile_cell>((inside - begin) * cells_per_unit);
    }
};

// Eight 16-bit numbers, and four 32-bit numbers.
#if defined(__SSE2__) && !defined(STRAGGLE_NO_VECTOR_TYPES)

// The vector types of GCC and clang with built-in functions for missing operations: <emmintrin.h> would add
// three thousand lines to compile.
using cell_lanes = std::int16_t __attribute__((vector_size(16)));
using sum_lanes = std::int32_t __attribute__((vector_size(16)));

STRAGGLE_ALWAYS_INLINE cell_lanes load_cells(profile_cell const* from) noexcept {
    cell_lanes v;
    std::memcpy(&v, from, sizeof v);
    return v;
}
// By how much a is above b or c above d; except for empty boxes at most one is; else 0.
STRAGGLE_ALWAYS_INLINE cell_lanes cells_apart(cell_lanes a, cell_lanes b, cell_lanes c,
                                              cell_lanes d) noexcept {
    return ((a > b ? a : b) - b) | ((c > d ? c : d) - d);
}
// a times b / 65536, where b is unsigned; at most `most`.
STRAGGLE_ALWAYS_INLINE cell_lanes steps_of(cell_lanes a, cell_lanes b, cell_lanes most) noexcept {
    cell_lanes const steps = __builtin_ia32_pmulhuw128(a, b);
    return steps < most ? steps : most;
}
// v, or b where a is positive (v must be 0 there).
STRAGGLE_ALWAYS_INLINE cell_lanes with_where(cell_lanes v, cell_lanes a, cell_lanes b) noexcept {
    return v | ((a > 0) & b);
}
STRAGGLE_ALWAYS_INLINE sum_lanes all_sums(std::int32_t x) noexcept {
    return sum_lanes{x, x, x, x};
}
// Squares and adds neighbors.
STRAGGLE_ALWAYS_INLINE sum_lanes add_squared(sum_lanes sum, cell_lanes v) noexcept {
    return sum + __builtin_ia32_pmaddwd128(v, v);
}
// One bit for each of eight sums that is within the limit.
STRAGGLE_ALWAYS_INLINE unsigned which_within(sum_lanes a, sum_lanes b, std::int32_t limit) noexcept {
    cell_lanes const outside = __builtin_ia32_packssdw128(a > limit, b > limit);
    return ~static_cast<unsigned>(__builtin_ia32_pmovmskb128(__builtin_ia32_packsswb128(outside, outside))) &
           0xff;
}

// Eight sums as comparable numbers, with their positions, counted from the end, in the last bits: no two are
// equal, the smallest contains its position, and ties go to the last.
class cell_keys {
  public:
    // @param visited a bit for each excluded position
    STRAGGLE_ALWAYS_INLINE cell_keys(sum_lanes first, sum_lanes last, unsigned visited) noexcept
        : first_(marked(first, sum_lanes{7, 6, 5, 4}, visited)),
          last_(marked(last, sum_lanes{3, 2, 1, 0}, visited >> 4)) {}
    [[nodiscard]] STRAGGLE_ALWAYS_INLINE float least() const noexcept { return least_of(first_, last_); }
    [[nodiscard]] STRAGGLE_ALWAYS_INLINE float least_above(float above) const noexcept {
        return least_of(only_above(first_, above), only_above(last_, above));
    }

  private:
    using keys = float __attribute__((vector_size(16)));
    static constexpr keys no_keys = {0x1p60F, 0x1p60F, 0x1p60F, 0x1p60F};

    STRAGGLE_ALWAYS_INLINE static keys marked(sum_lanes sums, sum_lanes places, unsigned visited) noexcept {
        sum_lanes const all = std::bit_cast<sum_lanes>(__builtin_convertvector(sums, keys));
        sum_lanes const seen = all_sums(static_cast<std::int32_t>(visited)) & sum_lanes{1, 2, 4, 8};
        return seen != 0 ? no_keys : std::bit_cast<keys>((all & ~7) | places);
    }
    STRAGGLE_ALWAYS_INLINE static keys only_above(keys k, float above) noexcept {
        return k > above ? k : no_keys;
    }
    STRAGGLE_ALWAYS_INLINE static float least_of(keys a, keys b) noexcept {
        keys const half = a < b ? a : b;
        float const even = half[0] < half[2] ? half[0] : half[2];
        float const odd = half[1] < half[3] ? half[1] : half[3];
        return even < odd ? even : odd;
    }

    keys first_, last_;
};

#else

struct cell_lanes {
    profile_cell x[leaf_size];
};
struct sum_lanes {
    std::int32_t x[leaf_size / 2];
};

STRAGGLE_ALWAYS_INLINE cell_lanes load_cells(profile_cell const* from) noexcept {
    cell_lanes v;
    std::memcpy(&v, from, sizeof v);
    return v;
}
STRAGGLE_ALWAYS_INLINE cell_lanes cells_apart(cell_lanes const& a, cell_lanes const& b, cell_lanes const& c,
                                              cell_lanes const& d) noexcept {
    cell_lanes v{};
    for (std::size_t i = 0; i < leaf_size; ++i) {
        int const above = a.x[i] - b.x[i], below = c.x[i] - d.x[i];
        v.x[i] = static_cast<profile_cell>((above > 0 ? above : 0) | (below > 0 ? below : 0));
    }
    return v;
}
STRAGGLE_ALWAYS_INLINE cell_lanes steps_of(cell_lanes const& a, cell_lanes const& b,
                                           cell_lanes const& most) noexcept {
    cell_lanes v{};
    for (std::size_t i = 0; i < leaf_size; ++i) {
        auto const steps = static_cast<profile_cell>(
            static_cast<std::uint32_t>(a.x[i]) * static_cast<std::uint16_t>(b.x[i]) >> 16);
        v.x[i] = steps < most.x[i] ? steps : most.x[i];
    }
    return v;
}
STRAGGLE_ALWAYS_INLINE cell_lanes with_where(cell_lanes v, cell_lanes const& a,
                                             cell_lanes const& b) noexcept {
    for (std::size_t i = 0; i < leaf_size; ++i) v.x[i] = a.x[i] > 0 ? b.x[i] : v.x[i];
    return v;
}
STRAGGLE_ALWAYS_INLINE sum_lanes all_sums(std::int32_t x) noexcept {
    return {{x, x, x, x}};
}
STRAGGLE_ALWAYS_INLINE sum_lanes add_squared(sum_lanes sum, cell_lanes const& v) noexcept {
    for (std::size_t i = 0; i < leaf_size / 2; ++i)
        sum.x[i] += v.x[2 * i] * v.x[2 * i] + v.x[2 * i + 1] * v.x[2 * i + 1];
    return sum;
}
STRAGGLE_ALWAYS_INLINE unsigned which_within(sum_lanes const& a, sum_lanes const& b,
                                             std::int32_t limit) noexcept {
    unsigned bits = 0;
    for (std::size_t i = 0; i < leaf_size / 2; ++i) {
        bits |= static_cast<unsigned>(a.x[i] <= limit) << i;
        bits |= static_cast<unsigned>(b.x[i] <= limit) << (i + leaf_size / 2);
    }
    return bits;
}

class cell_keys {
  public:
    cell_keys(sum_lanes const& first, sum_lanes const& last, unsigned visited) noexcept {
        for (std::size_t i = 0; i < leaf_size; ++i) {
            std::int32_t const sum = i < leaf_size / 2 ? first.x[i] : last.x[i - leaf_size / 2];
            auto const bits = std::bit_cast<std::uint32_t>(static_cast<float>(sum));
            auto const place = static_cast<std::uint32_t>(leaf_size - 1 - i);
            keys_[i] = std::bit_cast<float>((bits & ~std::uint32_t{leaf_size - 1}) | place);
            if ((visited >> i & 1) != 0) keys_[i] = no_key;
        }
    }
    [[nodiscard]] float least() const noexcept { return least_above(0); }
    [[nodiscard]] float least_above(float above) const noexcept {
        float least = no_key;
        for (float const k : keys_)
            if (k > above && k < least) least = k;
        return least;
    }

  private:
    static constexpr float no_key = 0x1p60F;
    float keys_[leaf_size];
};

#endif

constexpr std::size_t place_of_key(float key) noexcept {
    return leaf_size - 1 - (std::bit_cast<std::uint32_t>(key) & (leaf_size - 1));
}

// Numbers of two factors, interleaved.
struct cell_pairs {
    alignas(16) std::uint16_t x[leaf_size];
    void set(double first, double second) noexcept {
        auto const a = static_cast<std::uint16_t>(static_cast<std::int32_t>(first));
        auto const b = static_cast<std::uint16_t>(static_cast<std::int32_t>(second));
        for (std::size_t i = 0; i < leaf_size; i += 2) {
            x[i] = a;
            x[i + 1] = b;
        }
    }
    void set(std::size_t side, profile_cell value) noexcept {
        for (std::size_t i = side; i < leaf_size; i += 2) x[i] = static_cast<std::uint16_t>(value);
    }
    [[nodiscard]] STRAGGLE_ALWAYS_INLINE cell_lanes lanes() const noexcept {
        cell_lanes v;
        std::memcpy(&v, x, sizeof v);
        return v;
    }
};

// Two factors of a query, in units of cells.
struct cell_term {
    cell_pairs up;           // first cells certainly above the values; for codes, their own
    cell_pairs down;         // last cells certainly below; the same for codes
    cell_pairs scale;        // steps per cell, times 65536
    cell_pairs most;         // steps
    cell_pairs other;        // steps if the codes differ
    double cell_distance[2]; // width of a cell, weighted
    double root_weight[2];   // if the form needs it
    term_form form[2];
    std::uint32_t pair;
    bool codes;
};
// Sums start here, since numbers as small as the position marks may be flushed to 0.
inline constexpr std::int32_t least_sum = 16;

// Squared distances in steps, for eight boxes or records.
struct cell_sums {
    sum_lanes first, last;
};

// Sums over the terms: lower bounds for records between two edges, or for the records themselves.
// @param edges sixteen per pair of factors, `stride` apart: low ones, with the high ones `high` further on
STRAGGLE_ALWAYS_INLINE cell_sums cell_squares(profile_cell const* edges, std::size_t stride, std::size_t high,
                                              std::int32_t constant,
                                              std::span<cell_term const> terms) noexcept {
    cell_sums sums{all_sums(constant), all_sums(constant)};
    for (cell_term const& t : terms) {
        profile_cell const* const low = edges + t.pair * stride;
        auto const add = [&](sum_lanes& sum, std::size_t at) STRAGGLE_INLINE_LAMBDA {
            cell_lanes const apart =
                cells_apart(load_cells(low + at), t.up.lanes(), t.down.lanes(), load_cells(low + high + at));
            cell_lanes steps = steps_of(apart, t.scale.lanes(), t.most.lanes());
            if (t.codes) [[unlikely]]
                steps = with_where(steps, apart, t.other.lanes());
            sum = add_squared(sum, steps);
        };
        add(sums.first, 0);
        add(sums.last, leaf_size);
    }
    return sums;
}

// The terms of a query in units of cells.
class cell_query {
  public:
    [[nodiscard]] std::span<cell_term const> terms() const noexcept { return span_of(terms_); }
    [[nodiscard]] std::int32_t constant() const noexcept { return constant_; }
    // The unit of distances; 0 if cells carry no information. No factor's cells are wider than a step.
    [[nodiscard]] double step() const noexcept { return step_; }
    [[nodiscard]] double least_step() const noexcept { return least_step_; }

    // Disables cells; reserves room for the terms.
    void clear(std::size_t terms) {
        terms_.clear();
        terms_.reserve(terms);
        step_ = 0;
    }
    // @param grids one per factor
    void assign(std::span<factor_term const> terms, std::span<factor_grid const> grids) {
        clear(terms.size());
        double cell_distance = 0, weight = 0;
        for (factor_term const& t : terms) {
            weight = t.weight > weight ? t.weight : weight;
            if (t.form == term_form::presence) continue; // a record may miss it too
            if (terms_.empty() || terms_.back().pair != t.factor / 2) {
                terms_.emplace_back();
                terms_.back().pair = t.factor / 2;
            }
            double const d = add(terms_.back(), t.factor % 2, t, grids[t.factor]);
            cell_distance = d > cell_distance ? d : cell_distance;
        }
        // Their sum of squares must not overflow. Large enough at first to distinguish all weights.
        double const n = static_cast<double>(terms.size() + 2);
        most_steps_ = std::sqrt(0x1p30 / n);
        if (!(most_steps_ < 0x3fff)) most_steps_ = 0x3fff;
        least_step_ = cell_distance * (1 + 0x1p-10);
        if (!(least_step_ > 0x1p-450)) least_step_ = 0x1p-450;
        set_step(std::sqrt(weight) * std::sqrt(n) / most_steps_);
    }
    // Chooses steps so small that `distance` is close to the largest countable number.
    void measure(double distance) noexcept { set_step(distance / (most_steps_ - 2)); }

  private:
    static double add(cell_term& pair, std::size_t side, factor_term const& t,
                      factor_grid const& grid) noexcept {
        profile_cell const own = grid.of(t.value);
        bool const code = t.form == term_form::code;
        pair.form[side] = t.form;
        if (t.form != term_form::number) pair.root_weight[side] = std::sqrt(t.weight);
        pair.codes = pair.codes || code;
        pair.up.set(side, code || own == last_cell ? own : static_cast<profile_cell>(own + 1));
        pair.down.set(side, code || own == 0 ? own : static_cast<profile_cell>(own - 1));
        if (code || t.form == term_form::constant || !(grid.cells_per_unit > 0)) return 0;
        double const distance = t.scale / grid.cells_per_unit;
        return pair.cell_distance[side] = distance < 1e200 ? distance : 1e200;
    }
    // Rounds everything in steps down slightly.
    void set_step(double step) noexcept {
        step_ = step > least_step_ ? step : least_step_;
        double const per_step = (1 - 0x1p-20) / step_;
        double constant = least_sum;
        for (cell_term& t : terms_) {
            double shares[2], steps[2];
            for (std::size_t side = 0; side < 2; ++side) {
                shares[side] = 65536 * per_step * t.cell_distance[side];
                if (!(shares[side] < 65535)) shares[side] = 65535;
                steps[side] = per_step * t.root_weight[side];
                if (!(steps[side] < most_steps_)) steps[side] = most_steps_;
            }
            auto const where = [&](std::size_t side, term_form form, double otherwise) {
                return t.form[side] == form ? steps[side] : otherwise;
            };
            t.scale.set(shares[0], shares[1]);
            t.most.set(where(0, term_form::number_or_missing, most_steps_),
                       where(1, term_form::number_or_missing, most_steps_));
            if (t.codes) t.other.set(where(0, term_form::code, 0), where(1, term_form::code, 0));
            for (std::size_t side = 0; side < 2; ++side)
                if (t.form[side] == term_form::constant) constant += steps[side] * steps[side];
        }
        constant_ = static_cast<std::int32_t>(constant);
    }

    std::vector<cell_term> terms_;
    double most_steps_ = 0; // per factor
    double step_ = 0, least_step_ = 0;
    std::int32_t constant_ = 0;
};
} // namespace straggle::detail
