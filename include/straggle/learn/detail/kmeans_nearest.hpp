// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `learn/kmeans.hpp`: which center is the nearest to a row, from distances in single
/// precision where these are certain to tell it.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/learn/detail/kmeans_rows.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Distances in single precision, twice as many at a time, with a bound on their error. Most centers are ruled
// out by it; only the others are computed in double precision. Rows are scaled to at most 2, exactly, so that
// squares neither overflow nor vanish.
class rough_rows {
  public:
    using rows_type = basic_padded_rows<float>;

    void resize(std::size_t rows, std::size_t columns) {
        norms_.resize(rows);
        rows_.resize(rows, columns);
        by_sum_ = unit * static_cast<double>(rows_.width() + 8) / 2;
    }
    // @param largest of the absolute values there will be
    void set_scale(double largest) noexcept {
        scale_ = largest > 0 ? std::ldexp(1.0, -std::ilogb(largest)) : 1.0;
        unscale_ = 1 / scale_;
    }
    void write(std::size_t row, double const* values) noexcept {
        float* const to = rows_.row(row);
        double square = 0;
        for (std::size_t c = 0; c < rows_.columns(); ++c) {
            double const x = values[c] * scale_;
            to[c] = static_cast<float>(x);
            square += x * x;
        }
        norms_[row] = std::sqrt(square);
    }
    [[nodiscard]] float const* row(std::size_t i) const noexcept { return rows_.row(i); }
    [[nodiscard]] std::size_t width() const noexcept { return rows_.width(); }

    struct distance {
        double least, most;
    };
    // Of a row from one of others of the same scale, from the squared distance of the rough ones. Each
    // component of either is off by half a unit in its last place, and their difference by another; the sum
    // of n squares by n of these.
    [[nodiscard]] distance of(std::size_t row, rough_rows const& others, std::size_t other,
                              float square) const noexcept {
        double const rough = static_cast<double>(std::sqrt(square));
        double const off = 2 * unit * (norms_[row] + others.norms_[other]) + by_sum_ * rough + lost;
        return {(rough - off) * unscale_, (rough + off) * unscale_};
    }

  private:
    static constexpr double unit = 0x1p-23; // twice what rounding to the nearest does
    static constexpr double lost = 1e-17;   // more than squares that vanish can add up to

    rows_type rows_;
    std::vector<double> norms_;
    double scale_ = 1, unscale_ = 1, by_sum_ = 0;
};

// The centers that may be nearer to a row than its own.
class open_centers {
  public:
    void make_room(std::size_t rows, std::size_t columns) { rows_.resize(rows, columns); }
    // The rows, for which there is room.
    // @param largest of their absolute values
    void set_rows(padded_rows const& rows, double largest) noexcept {
        rows_.set_scale(largest);
        centers_.set_scale(largest);
        for (std::size_t i = 0; i < rows.rows(); ++i) rows_.write(i, rows.row(i));
    }
    // Announces the number of centers; their positions have changed.
    void centers_move(std::size_t centers) {
        are_read_ = false;
        open_.resize(centers + 1);
        squares_.resize(centers + 1);
    }

    // Lists the open ones. There is no branch on what bounds say: it would be taken by surprise as often as
    // not.
    // @param at_least, gap distances below which no center is to the row, and half of those to its own
    // @param most above which its own is not
    // @param slack factor for the rounding of these bounds
    // @return how many there are
    [[nodiscard]] std::size_t list(std::uint32_t own, double const* at_least, double const* gap, double most,
                                   double slack) noexcept {
        std::size_t n = 0;
        for (std::uint32_t k = 0; k + 1 < open_.size(); ++k) {
            open_[n] = k;
            double const least = (at_least[k] > gap[k] ? at_least[k] : gap[k]) * slack;
            n += static_cast<std::size_t>(!(most < least)) & static_cast<std::size_t>(k != own);
        }
        count_ = n;
        return n;
    }
    [[nodiscard]] std::span<std::uint32_t const> listed() const noexcept {
        return span_of(open_).first(count_);
    }

    struct nearest_center {
        std::uint32_t center;
        bool is_certain;
        double most; // is its distance
    };
    // The nearest to a row of its own and those listed; writes what these distances are at least.
    [[nodiscard]] nearest_center find(std::size_t row, std::uint32_t own, padded_rows const& centers,
                                      double* at_least) {
        if (!are_read_) read(centers);
        open_[count_] = own; // with the others: four take as long as two
        measure(row);
        rough_rows::distance best = rows_.of(row, centers_, own, squares_[count_]);
        at_least[own] = best.least;
        std::uint32_t nearest = own;
        double second = (std::numeric_limits<double>::max)(); // any other is at least so far
        for (std::size_t j = 0; j < count_; ++j) {
            std::uint32_t const k = open_[j];
            rough_rows::distance const d = rows_.of(row, centers_, k, squares_[j]);
            at_least[k] = d.least;
            bool const is_nearer = d.most < best.most;
            second = (std::min)(second, is_nearer ? best.least : d.least);
            nearest = is_nearer ? k : nearest;
            best = is_nearer ? d : best;
        }
        return {nearest, second > best.most, best.most};
    }

  private:
    void read(padded_rows const& centers) {
        std::size_t const count = open_.size() - 1;
        centers_.resize(count, centers.columns());
        for (std::size_t k = 0; k < count; ++k) centers_.write(k, centers.row(k));
        are_read_ = true;
    }
    // From those listed and the one behind them.
    void measure(std::size_t row) noexcept {
        squared_distances(
            rows_.row(row), rows_.width(), count_ + 1,
            [this](std::size_t j) STRAGGLE_INLINE_LAMBDA { return centers_.row(open_[j]); }, squares_.data());
    }

    rough_rows rows_, centers_;
    bool are_read_ = false;           // the centers, since they moved
    std::vector<std::uint32_t> open_; // and room for one more
    std::vector<float> squares_;      // of the distances to these
    std::size_t count_ = 0;
};

} // namespace straggle::detail
