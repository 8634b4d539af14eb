// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Count, mean and variance of floating-point values in one pass, mergeable, without the cancellation of the
/// textbook formula.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace straggle::inline STRAGGLE_ABI::detail {

// The part of `moments` that changes with every value. Separate, so that a table of many can store the rarely
// changing part, the squares of finished blocks, elsewhere.
class shifted_sums {
  public:
    // Adds one value. True if the block must be settled.
    [[nodiscard]] constexpr bool add(double x) noexcept {
        if (n_ == 0) origin_ = x;
        double const d = x - origin_;
        s1_ += d;
        block_ += d * d;
        ++n_;
        return n_ % 512 == 0 || n_ == 16;
    }
    // Adds value(i) for all i below a size, as `add` and `settle` do.
    template <class Value>
    STRAGGLE_ALWAYS_INLINE constexpr void add_all(std::size_t size, Value&& value, double& squares) {
        for (std::size_t i = 0; i < size;) {
            if (n_ == 0) origin_ = value(i);
            std::uint64_t const to_settle = (n_ < 16 ? 16 : 512 - n_ % 512 + n_) - n_;
            std::size_t const end = size - i < to_settle ? size : i + static_cast<std::size_t>(to_settle);
            n_ += end - i;
            double s1 = s1_, block = block_;
            for (; i < end; ++i) {
                double const d = value(i) - origin_;
                s1 += d;
                block += d * d;
            }
            s1_ = s1;
            block_ = block;
            if (n_ % 512 == 0 || n_ == 16) settle(squares);
        }
    }
    // Ends a block: `squares` is the sum over all earlier blocks.
    constexpr void settle(double& squares) noexcept {
        squares += block_;
        block_ = 0;
        if ((n_ & (n_ - 1)) == 0) move_origin(mean_offset(), squares);
    }
    constexpr void merge(shifted_sums const& other, double& squares, double other_squares) noexcept {
        shifted_sums moved = other;
        moved.move_origin(origin_ - moved.origin_, other_squares);
        s1_ += moved.s1_;
        squares += other_squares + moved.block_;
        n_ += moved.n_;
        move_origin(mean_offset(), squares);
    }

    [[nodiscard]] static constexpr shifted_sums from(double origin, std::uint64_t n, double sum) noexcept {
        shifted_sums s;
        s.origin_ = origin;
        s.n_ = n;
        s.s1_ = sum;
        return s;
    }
    [[nodiscard]] constexpr std::uint64_t count() const noexcept { return n_; }
    [[nodiscard]] constexpr double origin() const noexcept { return origin_; }
    [[nodiscard]] constexpr double sum() const noexcept { return s1_; }
    [[nodiscard]] constexpr double block() const noexcept { return block_; }
    [[nodiscard]] constexpr double mean_offset() const noexcept { return s1_ / static_cast<double>(n_); }

  private:
    constexpr void move_origin(double by, double& squares) noexcept {
        double const moved = origin_ + by;
        double const step = moved - origin_; // the actual change of the rounded sum
        double const n = static_cast<double>(n_);
        squares += step * (n * step - 2.0 * s1_);
        s1_ -= n * step;
        origin_ = moved;
    }

    // Not next to block_: the compiler would add both as one vector, and stall on it at the next value.
    double s1_ = 0; // sum of x - origin
    double origin_ = 0;
    double block_ = 0; // sum of (x - origin)^2 since the last block ended
    std::uint64_t n_ = 0;
};

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::stats {

/// Mergeable moments of doubles, in the unit of the values.
///
/// Values are summed relative to an origin near their mean (Chan, Golub and LeVeque, Algorithms for computing
/// the sample variance, 1983, "shifted data"), so that nothing cancels, without a division per value. The
/// origin starts at the first value and moves to the running mean after sixteen values, then whenever the
/// count reaches a power of two from 512 on; the square of its distance from the mean never exceeds 32
/// variances after sixteen values, and about one after 512. Squares are summed in blocks, whose sums are
/// added separately: values on a grid, such as clock readings, are all rounded in the same direction, and
/// that error would accumulate over a long run.
///
/// @par Cost
/// 40 bytes; add O(1) without division (amortized), merge O(1); allocates nothing
/// @par Accuracy
/// of the variance: relative error <= 1e-12 for 1e6 values with an offset of 1e9 standard
/// deviations, in any order
/// @par Guarantees
/// noexcept (except for broken contracts); merging is associative and commutative up to rounding. The caller
/// must exclude values that are not finite: they make the result NaN.
class moments {
  public:
    /// The stored sums, for serialization.
    struct sums_type {
        double origin = 0;   ///< a number near the mean
        std::uint64_t n = 0; ///< values
        double sum = 0;      ///< of (x - origin)
        double squares = 0;  ///< sum of (x - origin)^2
        friend constexpr bool operator==(sums_type const&, sums_type const&) = default;
    };

    /// The exact state, except for the split of the squares into blocks.
    [[nodiscard]] constexpr sums_type sums() const noexcept {
        return {sums_.origin(), sums_.count(), sums_.sum(), squares_ + sums_.block()};
    }
    /// Moments with given sums; use `{mean, n, 0, m2}` for a group of which only these are known.
    [[nodiscard]] static constexpr moments from(sums_type const& sums) noexcept {
        moments m;
        if (sums.n == 0) return m;
        m.sums_ = detail::shifted_sums::from(sums.origin, sums.n, sums.sum);
        m.squares_ = sums.squares;
        return m;
    }

    /// Adds one value.
    constexpr void add(double x) noexcept {
        if (sums_.add(x)) sums_.settle(squares_);
    }
    /// Adds the value of every item of a range, value(item, place): the same bits as one by one, but faster.
    template <class Items, class Value>
    constexpr void add_all(Items const& items, Value&& value) {
        sums_.add_all(items.size(), [&](std::size_t i) { return value(items[i], i); }, squares_);
    }

    /// Adds all values of another object.
    constexpr void merge(moments other) noexcept {
        if (other.count() == 0) return;
        if (other.count() > count()) { // the origin of the larger half is closer to the common mean
            std::swap(*this, other);
            if (other.count() == 0) return;
        }
        sums_.merge(other.sums_, squares_, other.squares_);
    }

    /// Number of values.
    [[nodiscard]] constexpr std::uint64_t count() const noexcept { return sums_.count(); }

    /// A number near the mean; together with `mean_offset` it gives the mean to more than double precision.
    [[nodiscard]] constexpr double origin() const noexcept { return sums_.origin(); }
    /// The mean minus the origin. @pre `count() > 0`
    [[nodiscard]] constexpr double mean_offset() const {
        STRAGGLE_EXPECTS(count() > 0);
        return sums_.mean_offset();
    }
    /// The mean. @pre `count() > 0`
    [[nodiscard]] constexpr double mean() const { return origin() + mean_offset(); }

    /// The sum of (x - mean)^2; exactly 0 if all values are equal, and without values.
    [[nodiscard]] constexpr double sum_of_squared_deviations() const noexcept {
        if (count() == 0) return 0.0;
        double const m2 = (squares_ + sums_.block()) - sums_.sum() * sums_.mean_offset();
        return m2 < 0 ? 0.0 : m2; // keeps NaN
    }
    /// The mean of (x - mean)^2 over the values themselves (n in the denominator). @pre `count() > 0`
    [[nodiscard]] constexpr double population_variance() const {
        STRAGGLE_EXPECTS(count() > 0);
        return sum_of_squared_deviations() / static_cast<double>(count());
    }

  private:
    detail::shifted_sums sums_;
    double squares_ = 0; // sum of (x - origin)^2 before the current block
};

} // namespace straggle::stats
