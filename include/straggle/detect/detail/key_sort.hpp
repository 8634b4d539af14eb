// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `detect/detail/suspects.hpp`: a stable sort of tasks by a number, in linear time. Half of
/// a large job may be suspects, and a comparison sort would cost ten times the rule.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/size.hpp>
#include <straggle/detect/detector.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace straggle::inline STRAGGLE_ABI::detail {

// Maps numbers to cells, preserving order. A cell is a range of neighboring doubles; its number takes two or
// three digits of 11 bits, or of 8 if there are so few numbers that scanning the values of a digit would take
// longer than distributing them.
class key_cells {
  public:
    static constexpr int short_digit = 8, long_digit = 11, most_digits = 3;
    static constexpr std::size_t few = 2048;

    // For `n` numbers in [lowest, highest].
    key_cells(double lowest, double highest, std::size_t n) noexcept : base_(place(lowest)) {
        int const width = bits_of(place(highest) - base_);
        digit_bits_ = n < few ? short_digit : long_digit;
        if (width == 0) return;
        // Two digits suffice if they make eight times as many cells in a binade as there are numbers.
        digits_ = width - 52 + bits_of(n) + 3 <= 2 * digit_bits_ ? 2 : 3;
        drop_ = width > digits_ * digit_bits_ ? width - digits_ * digit_bits_ : 0;
    }

    // 0 if all numbers are equal.
    [[nodiscard]] int digits() const noexcept { return digits_; }
    [[nodiscard]] int digit_bits() const noexcept { return digit_bits_; }
    [[nodiscard]] std::uint64_t operator()(double key) const noexcept {
        return (place(key) - base_) >> drop_;
    }

  private:
    [[nodiscard]] static int bits_of(std::uint64_t x) noexcept { return static_cast<int>(std::bit_width(x)); }
    // The bits of a double, ordered like the numbers; both zeros map to one value.
    [[nodiscard]] static std::uint64_t place(double x) noexcept {
        constexpr std::uint64_t sign = 0x8000000000000000u;
        std::uint64_t const u = std::bit_cast<std::uint64_t>(x), zero = u == sign ? 0 : u;
        return zero ^ ((0 - (zero >> 63)) | sign);
    }

    std::uint64_t base_;
    int digits_ = 0, digit_bits_ = long_digit, drop_ = 0;
};

struct keyed_tasks {
    double* keys;
    std::uint32_t* tasks;
};

// Distributes by one digit after another, the last one first.
template <int Digits, int Bits>
keyed_tasks deal_by_cell(keyed_tasks from, keyed_tasks to, std::uint32_t* starts, std::size_t n,
                         key_cells cell) noexcept {
    constexpr std::size_t values = std::size_t{1} << Bits;
    auto const digit = [](std::uint64_t c, int d) { return detail::to_size(c >> (d * Bits)) & (values - 1); };
    std::fill_n(starts, Digits * values, std::uint32_t{0});
    for (std::size_t i = 0; i < n; ++i) {
        std::uint64_t const c = cell(from.keys[i]);
        for (int d = 0; d < Digits; ++d) ++starts[static_cast<std::size_t>(d) * values + digit(c, d)];
    }
    for (int d = 0; d < Digits; ++d, starts += values) {
        std::uint32_t sum = 0;
        for (std::size_t v = 0; v < values; ++v) sum += std::exchange(starts[v], sum);
        for (std::size_t i = 0; i < n; ++i) {
            double const key = from.keys[i];
            std::uint32_t const at = starts[digit(cell(key), d)]++;
            to.keys[at] = key;
            to.tasks[at] = from.tasks[i];
        }
        std::swap(from, to);
    }
    return from;
}

// Stably sorts the first `n` of `scratch.order` by the cells of their keys, which are the first `n` of
// `scratch.values`. No key is NaN.
// @return where the sorted data is in the two arrays
inline keyed_tasks order_by_cell(detect::detector_scratch& scratch, std::size_t n, key_cells cell) {
    if (scratch.values.size() < 2 * n) scratch.values.resize(2 * n);
    std::size_t const starts = 2 * n, values = std::size_t{1} << cell.digit_bits();
    std::size_t const needed = starts + key_cells::most_digits * values;
    if (scratch.order.size() < needed) scratch.order.resize(needed);
    keyed_tasks const from{scratch.values.data(), scratch.order.data()};
    keyed_tasks const to{from.keys + n, from.tasks + n};
    std::uint32_t* const counts = from.tasks + starts;
    constexpr int few = key_cells::short_digit, many = key_cells::long_digit;
    if (cell.digits() == 0) return from;
    if (cell.digit_bits() == few)
        return cell.digits() == 2 ? deal_by_cell<2, few>(from, to, counts, n, cell)
                                  : deal_by_cell<3, few>(from, to, counts, n, cell);
    return cell.digits() == 2 ? deal_by_cell<2, many>(from, to, counts, n, cell)
                              : deal_by_cell<3, many>(from, to, counts, n, cell);
}

inline key_cells cells_of(double const* keys, std::size_t n) noexcept {
    double lowest = keys[0], highest = keys[0];
    for (std::size_t i = 1; i < n; ++i) {
        lowest = keys[i] < lowest ? keys[i] : lowest;
        highest = keys[i] > highest ? keys[i] : highest;
    }
    return {lowest, highest, n};
}

} // namespace straggle::detail
