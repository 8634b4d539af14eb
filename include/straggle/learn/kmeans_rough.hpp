// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `learn/kmeans.hpp`: between which bounds distances are, in single precision. Most centres
/// are ruled out by these at a third of the cost; the exact distance has the last word.
#pragma once

#include <straggle/core/lanes.hpp>
#include <straggle/learn/kmeans_rows.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace straggle::detail {

struct distance_bounds {
    double low = 0;
    double high_square = 0; // in a unit of its own: a root is only taken of the smallest
};

// Rows in single precision, in a unit in which no number is above 1, and their squared lengths.
class rough_rows {
  public:
    void assign(padded_rows const& exact, std::size_t count, double unit) {
        width_ = (exact.columns() + pad - 1) / pad * pad;
        values_.resize(count * width_);
        squares_.resize(count);
        std::fill(values_.begin(), values_.end(), 0.0F);
        for (std::size_t i = 0; i < count; ++i) {
            double const* const from = exact.row(i);
            float* const to = values_.data() + i * width_;
            double sum = 0;
            for (std::size_t c = 0; c < exact.columns(); ++c) {
                double const x = from[c] * unit;
                to[c] = static_cast<float>(x);
                sum += x * x;
            }
            squares_[i] = sum;
        }
    }
    [[nodiscard]] std::size_t width() const noexcept { return width_; }
    [[nodiscard]] float const* row(std::size_t i) const noexcept { return values_.data() + i * width_; }
    [[nodiscard]] double square(std::size_t i) const noexcept { return squares_[i]; }

  private:
    static constexpr std::size_t pad = 16; // the widest lanes there are
    std::size_t width_ = 0;
    std::vector<float> values_;
    std::vector<double> squares_;
};

// Bounds of the distances of rows to centres.
//
// |x - c|^2 = |x|^2 + |c|^2 - 2 x.c, where only x.c is taken in single precision. Each of its terms has two
// roundings of factors and one of the product, and passes through one addition per step and one per lane;
// each is off by at most 2^-24, and the terms add up to at most |x| |c| <= (|x|^2 + |c|^2) / 2.
class rough_distances {
  public:
    void load(padded_rows const& rows) {
        double most = 0;
        for (std::size_t i = 0; i < rows.rows(); ++i)
            for (std::size_t c = 0; c < rows.columns(); ++c)
                most = (std::max)(most, std::fabs(rows.row(i)[c]));
        int exponent = 0;
        std::frexp(most, &exponent); // most < 2^exponent
        unit_ = std::ldexp(1.0, -(std::max)(exponent, -1000));
        back_ = 1 / unit_;
        rows_.assign(rows, rows.rows(), unit_);
        std::size_t const roundings = rows_.width() / simd::float_lane_count + simd::float_lane_count + 4;
        slack_ = 1.01 * static_cast<double>(roundings) * 0x1p-24;
    }
    void set_centers(padded_rows const& centers, std::size_t count) {
        centers_.assign(centers, count, unit_);
    }

    // Of one row to some centres.
    // @param out one per centre
    void operator()(std::size_t row, std::span<std::uint32_t const> centers, distance_bounds* out) const {
        while (!centers.empty()) {
            // As even as it goes: five and five instead of six and four.
            std::size_t const turns = (centers.size() + most_at_once - 1) / most_at_once;
            std::size_t const n = (centers.size() + turns - 1) / turns;
            switch (n) {
            case 1:
                at_once(std::make_index_sequence<1>(), row, centers.data(), out);
                break;
            case 2:
                at_once(std::make_index_sequence<2>(), row, centers.data(), out);
                break;
            case 3:
                at_once(std::make_index_sequence<3>(), row, centers.data(), out);
                break;
            case 4:
                at_once(std::make_index_sequence<4>(), row, centers.data(), out);
                break;
            case 5:
                at_once(std::make_index_sequence<5>(), row, centers.data(), out);
                break;
            default:
                at_once(std::make_index_sequence<most_at_once>(), row, centers.data(), out);
            }
            centers = centers.subspan(n);
            out += n;
        }
    }

    // The upper bound itself.
    [[nodiscard]] double high(distance_bounds const& b) const { return std::sqrt(b.high_square) * back_; }

  private:
    static constexpr std::size_t most_at_once = 6;

    // The row is read once for all; several sums hide how long one addition takes. Spelled out by the pack,
    // as -O2 leaves loops over so few as they are, and their sums in memory.
    template <std::size_t... A>
    STRAGGLE_ALWAYS_INLINE void at_once(std::index_sequence<A...>, std::size_t row,
                                        std::uint32_t const* centers, distance_bounds* out) const {
        float const* const x = rows_.row(row);
        float const* const c[] = {centers_.row(centers[A])...};
        simd::float_lanes sums[sizeof...(A)] = {};
        for (std::size_t at = 0; at < rows_.width(); at += simd::float_lane_count) {
            simd::float_lanes const v = simd::load(x + at);
            ((sums[A] = sums[A] + v * simd::load(c[A] + at)), ...);
        }
        ((out[A] = bounds(rows_.square(row) + centers_.square(centers[A]),
                          static_cast<double>(simd::sum_of_lanes(sums[A])))),
         ...);
    }

    // What is too small for single precision is lost; it is below 2^-120 of the unit.
    static constexpr double lost = 0x1p-100;

    [[nodiscard]] distance_bounds bounds(double squares, double dot) const noexcept {
        double const square = squares - 2 * dot, off = slack_ * squares + lost;
        return {std::sqrt((std::max)(square - off, 0.0)) * back_, (std::max)(square + off, 0.0)};
    }

    rough_rows rows_, centers_;
    double unit_ = 1, back_ = 1; // powers of two
    double slack_ = 0;
};

} // namespace straggle::detail
