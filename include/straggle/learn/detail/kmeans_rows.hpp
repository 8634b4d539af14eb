// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `learn/kmeans.hpp`: rows of numbers padded to whole lanes, and their distances.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/simd.hpp>
#include <straggle/learn/feature_matrix.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Rows of equal length, one behind the other, filled up with zeros.
template <class Value>
class basic_padded_rows {
  public:
    static constexpr std::size_t pad = 16; // twice the widest lanes there are

    void resize(std::size_t rows, std::size_t columns) {
        std::size_t const width = (columns + pad - 1) / pad * pad;
        values_.assign(rows * width, Value{}); // first: it may throw
        rows_ = rows;
        columns_ = columns;
        width_ = width;
    }
    [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
    [[nodiscard]] std::size_t columns() const noexcept { return columns_; }
    [[nodiscard]] std::size_t width() const noexcept { return width_; }
    [[nodiscard]] Value* row(std::size_t i) noexcept { return values_.data() + i * width_; }
    [[nodiscard]] Value const* row(std::size_t i) const noexcept { return values_.data() + i * width_; }
    void copy_row(std::size_t to, basic_padded_rows const& other, std::size_t from) {
        std::copy_n(other.row(from), width_, row(to));
    }

  private:
    std::size_t rows_ = 0, columns_ = 0, width_ = 0;
    std::vector<Value> values_;
};
using padded_rows = basic_padded_rows<double>;

// Squared distance of two padded rows, in several sums so that none waits for the last addition; spelled out
// by the pack, as -O2 leaves short loops as they are.
template <class Value, std::size_t... Sums>
Value squared_distance(Value const* a, Value const* b, std::size_t width,
                       std::index_sequence<Sums...>) noexcept {
    using lanes = decltype(simd::load(a));
    constexpr std::size_t count = sizeof(lanes) / sizeof(Value);
    lanes sums[sizeof...(Sums)] = {};
    auto const add = [](lanes& sum, Value const* x, Value const* y) {
        lanes const d = simd::load(x) - simd::load(y);
        sum = sum + d * d;
    };
    for (std::size_t c = 0; c < width; c += sizeof...(Sums) * count)
        (add(sums[Sums], a + c + Sums * count, b + c + Sums * count), ...);
    return simd::sum_of_lanes((sums[Sums] + ...));
}
template <class Value>
Value squared_distance(Value const* a, Value const* b, std::size_t width) noexcept {
    constexpr std::size_t count = sizeof(decltype(simd::load(a))) / sizeof(Value);
    constexpr std::size_t sums = (std::min)(std::size_t{4}, padded_rows::pad / count);
    return squared_distance(a, b, width, std::make_index_sequence<sums>());
}

// Of one row to each of several, `row_of(0)`, `row_of(1)`...: four at a time, so that it is read once for
// four.
template <class Value, class RowOf>
STRAGGLE_ALWAYS_INLINE void squared_distances(Value const* a, std::size_t width, std::size_t count,
                                              RowOf const& row_of, Value* out) noexcept {
    using lanes = decltype(simd::load(a));
    std::size_t k = 0;
    for (; k + 4 <= count; k += 4) {
        Value const *const p = row_of(k), *const q = row_of(k + 1);
        Value const *const r = row_of(k + 2), *const s = row_of(k + 3);
        lanes sp{}, sq{}, sr{}, ss{};
        for (std::size_t c = 0; c < width; c += sizeof(lanes) / sizeof(Value)) {
            lanes const x = simd::load(a + c);
            lanes const dp = x - simd::load(p + c), dq = x - simd::load(q + c);
            lanes const dr = x - simd::load(r + c), ds = x - simd::load(s + c);
            sp = sp + dp * dp;
            sq = sq + dq * dq;
            sr = sr + dr * dr;
            ss = ss + ds * ds;
        }
        out[k] = simd::sum_of_lanes(sp);
        out[k + 1] = simd::sum_of_lanes(sq);
        out[k + 2] = simd::sum_of_lanes(sr);
        out[k + 3] = simd::sum_of_lanes(ss);
    }
    for (; k < count; ++k) out[k] = squared_distance(a, row_of(k), width);
}
// To the first rows of several.
inline void squared_distances(double const* a, padded_rows const& others, std::size_t count,
                              double* out) noexcept {
    squared_distances(
        a, others.width(), count, [&others](std::size_t k) STRAGGLE_INLINE_LAMBDA { return others.row(k); },
        out);
}

} // namespace straggle::detail
