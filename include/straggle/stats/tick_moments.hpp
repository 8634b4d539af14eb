// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Exact count, sum and sum of squares of integer ticks: adding, removing and merging in any order give the
/// same bits, and no variance is lost to cancellation.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/stats/detail/wide_integer.hpp>

#include <cstddef>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::stats {

/// A sum of squares of ticks: 192 bits.
struct tick_squares {
    detail::uint128 low{}; ///< the low 128 bits
    std::uint64_t top = 0; ///< the high 64
    friend constexpr bool operator==(tick_squares const&, tick_squares const&) = default;
};

/// The state of `basic_tick_moments`: the sums of the values and of their squares.
struct tick_sums {
    std::uint64_t n = 0;    ///< number of values
    detail::uint128 sum{};  ///< sum of the values, two's complement
    tick_squares squares{}; ///< sum of their squares
    friend constexpr bool operator==(tick_sums const&, tick_sums const&) = default;
};

/// Exact moments of 64-bit integers, in the unit of the ticks.
///
/// The sum is kept in 128 bits and the sum of squares in 192, which 2^64 values of 64 bits cannot overflow.
///
/// @tparam Wide the wide arithmetic; `tick_moments` uses the fastest. All give identical bits.
/// @par Cost
/// 48 bytes; add, remove, merge O(1), a multiplication and a few additions; allocates nothing
/// @par Accuracy
/// `mean` and `sum_of_squared_deviations` are within 1.5 ULP of the exact value for any offset,
/// `population_variance` within 2.5 (for up to 2^53 values)
/// @par Guarantees
/// noexcept (except for broken contracts); the order of arrival does not matter; usable in constant
/// expressions
template <class Wide = detail::default_wide>
class basic_tick_moments {
  public:
    /// Adds one value.
    STRAGGLE_ALWAYS_INLINE constexpr void add(std::int64_t ticks) noexcept {
        ++n_;
        detail::add(sum_, sign_extended(ticks));
        square_top_ += detail::add_square(square_, Wide::square(ticks));
    }

    /// Adds the value of every item of a range, value(item, place): the same as adding them one by one, but
    /// faster.
    template <class Items, class Value>
    STRAGGLE_ALWAYS_INLINE constexpr void add_all(Items const& items, Value&& value) {
        // As long as no sum can overflow its low word, sums stay in registers without carry checks.
        std::uint64_t low_sum = 0, bits = 0;
        detail::uint128 low_square{};
        std::size_t const size = items.size();
        for (std::size_t i = 0; i < size; ++i) {
            std::int64_t const ticks = value(items[i], i);
            low_sum += static_cast<std::uint64_t>(ticks);
            bits |= static_cast<std::uint64_t>(ticks);
            Wide::accumulate(low_square, Wide::square(ticks));
        }
        if (((bits | size) >> 32) == 0 || (bits >> 46 == 0 && size >> 16 == 0)) {
            merge(from({size, {low_sum, 0}, {low_square, 0}}));
            return;
        }
        for (std::size_t i = 0; i < size; ++i) add_apart(value(items[i], i));
    }

    /// Removes a value that was added before.
    /// @pre it was added: only the count is checked
    constexpr void remove(std::int64_t ticks) {
        STRAGGLE_EXPECTS(n_ > 0);
        --n_;
        detail::subtract(sum_, sign_extended(ticks));
        square_top_ -= detail::subtract(square_, Wide::square(ticks));
    }

    /// Adds all values of another object.
    constexpr void merge(basic_tick_moments const& other) noexcept {
        n_ += other.n_;
        detail::add(sum_, other.sum_);
        square_top_ += detail::add(square_, other.square_) + other.square_top_;
    }

    /// Removes all values of another object.
    /// @pre all of them were added: only the count is checked
    constexpr void unmerge(basic_tick_moments const& other) {
        STRAGGLE_EXPECTS(n_ >= other.n_);
        n_ -= other.n_;
        detail::subtract(sum_, other.sum_);
        square_top_ -= detail::subtract(square_, other.square_) + other.square_top_;
    }

    /// Adds a whole group from its summary: the number of values, their mean, and the sum of their squared
    /// deviations from it, in ticks squared.
    constexpr void add_group(std::int64_t mean, std::uint64_t values, tick_squares deviations) noexcept {
        n_ += values;
        detail::uint128 sum = Wide::multiply(static_cast<std::uint64_t>(mean), values);
        sum.hi -= static_cast<std::uint64_t>(mean >> 63) & values; // branchless: the sign is unpredictable
        detail::add(sum_, sum);
        detail::uint128 const square = Wide::square(mean);
        detail::uint128 const high = Wide::multiply(square.hi, values);
        detail::uint128 low = Wide::multiply(square.lo, values);
        std::uint64_t const carry = detail::add(low, {0, high.lo});
        square_top_ += detail::add(square_, low) + high.hi + carry;
        square_top_ += detail::add(square_, deviations.low) + deviations.top;
    }

    /// The exact sums, for serialization.
    [[nodiscard]] constexpr tick_sums sums() const noexcept { return {n_, sum_, {square_, square_top_}}; }
    /// Whether some values can have these sums: for untrusted sums.
    [[nodiscard]] constexpr bool is_plausible() const noexcept {
        if (n_ == 0) return *this == basic_tick_moments{};
        detail::uint256 const a = n_times_squares(), b = squared_sum();
        for (std::size_t i = 4; i-- > 0;)
            if (a[i] != b[i]) return a[i] > b[i];
        return true;
    }
    /// Moments with given sums. @pre they are the sums of some values
    [[nodiscard]] static constexpr basic_tick_moments from(tick_sums const& sums) noexcept {
        basic_tick_moments m;
        m.n_ = sums.n;
        m.sum_ = sums.sum;
        m.square_ = sums.squares.low;
        m.square_top_ = sums.squares.top;
        return m;
    }

    /// Number of values.
    [[nodiscard]] constexpr std::uint64_t count() const noexcept { return n_; }

    /// A mean in two parts, which together keep full precision even if a double could not distinguish
    /// neighboring ticks.
    struct split_mean {
        std::int64_t floor = 0; ///< rounded down to a whole tick
        double fraction = 0;    ///< the rest of the mean, in [0, 1] ticks
    };

    /// The mean in two parts. @pre `count() > 0`
    [[nodiscard]] constexpr split_mean mean_parts() const {
        STRAGGLE_EXPECTS(n_ > 0);
        if (fits_int64() && n_ <= static_cast<std::uint64_t>(INT64_MAX)) {
            std::int64_t const sum = static_cast<std::int64_t>(sum_.lo);
            std::int64_t const n = static_cast<std::int64_t>(n_);
            std::int64_t floor = sum / n, rest = sum % n;
            if (rest < 0) {
                --floor;
                rest += n;
            }
            return {floor, static_cast<double>(rest) / static_cast<double>(n)};
        }
        detail::uint128 rest = sum_; // becomes sum - floor * n, which is in [0, n)
        if (!detail::is_negative(sum_)) {
            std::uint64_t const floor = Wide::divide(sum_, n_);
            detail::subtract(rest, Wide::multiply(floor, n_));
            return {static_cast<std::int64_t>(floor), fraction(rest.lo)};
        }
        detail::uint128 magnitude = detail::negated(sum_); // floor(-a / n) = -((a + n - 1) / n)
        detail::add(magnitude, {n_ - 1, 0});
        std::uint64_t const ceiling = Wide::divide(magnitude, n_);
        detail::add(rest, Wide::multiply(ceiling, n_));
        return {static_cast<std::int64_t>(0 - ceiling), fraction(rest.lo)};
    }

    /// The mean, in ticks. @pre `count() > 0`
    [[nodiscard]] constexpr double mean() const {
        STRAGGLE_EXPECTS(n_ > 0);
        bool const negative = detail::is_negative(sum_);
        detail::uint128 const m = negative ? detail::negated(sum_) : sum_;
        double const magnitude = detail::to_double({m.lo, m.hi, 0, 0}) / static_cast<double>(n_);
        return negative ? -magnitude : magnitude;
    }

    /// The sum of (x - mean)^2, in ticks squared; exactly 0 if all values are equal, and without values.
    [[nodiscard]] constexpr double sum_of_squared_deviations() const noexcept {
        if (n_ == 0) return 0.0;
        return scaled_variance() / static_cast<double>(n_);
    }

    /// The mean of (x - mean)^2 over the values themselves (n in the denominator).
    /// @pre `count() > 0`
    [[nodiscard]] constexpr double population_variance() const {
        STRAGGLE_EXPECTS(n_ > 0);
        double const n = static_cast<double>(n_);
        return scaled_variance() / n / n;
    }

    friend constexpr bool operator==(basic_tick_moments const&, basic_tick_moments const&) = default;

  private:
    STRAGGLE_NEVER_INLINE constexpr void add_apart(std::int64_t ticks) noexcept { add(ticks); }
    constexpr double fraction(std::uint64_t rest) const noexcept {
        return static_cast<double>(rest) / static_cast<double>(n_);
    }
    static constexpr detail::uint128 sign_extended(std::int64_t t) noexcept {
        return {static_cast<std::uint64_t>(t), static_cast<std::uint64_t>(t >> 63)};
    }
    constexpr bool fits_int64() const noexcept {
        return sum_.hi == static_cast<std::uint64_t>(static_cast<std::int64_t>(sum_.lo) >> 63);
    }
    // n * sum of squares - sum^2 = n^2 * population variance, exactly. Nonnegative (Cauchy-Schwarz).
    constexpr double scaled_variance() const noexcept {
        // Both products nearly always fit 128 bits.
        if (square_top_ == 0 && ((square_.hi | n_) >> 32) == 0 && fits_int64()) {
            detail::uint128 a = Wide::multiply(n_, square_.lo);
            a.hi += n_ * square_.hi;
            detail::subtract(a, Wide::square(static_cast<std::int64_t>(sum_.lo)));
            return detail::to_double(a);
        }
        return detail::to_double(detail::subtract(n_times_squares(), squared_sum()));
    }
    constexpr detail::uint256 n_times_squares() const noexcept {
        detail::uint256 a{};
        detail::add_limbs(a, Wide::multiply(n_, square_.lo), 0);
        if (square_.hi != 0) detail::add_limbs(a, Wide::multiply(n_, square_.hi), 1);
        if (square_top_ != 0) detail::add_limbs(a, Wide::multiply(n_, square_top_), 2);
        return a;
    }
    constexpr detail::uint256 squared_sum() const noexcept {
        detail::uint256 b{};
        detail::uint128 const s = detail::is_negative(sum_) ? detail::negated(sum_) : sum_;
        detail::add_limbs(b, Wide::multiply(s.lo, s.lo), 0);
        if (s.hi != 0) {
            detail::uint128 const cross = Wide::multiply(s.lo, s.hi);
            detail::add_limbs(b, cross, 1);
            detail::add_limbs(b, cross, 1);
            detail::add_limbs(b, Wide::multiply(s.hi, s.hi), 2);
        }
        return b;
    }

    // The count is not next to the low words: otherwise the compiler would add them as one vector, and the
    // carry would wait for a store and reload.
    detail::uint128 sum_{};        // two's complement
    detail::uint128 square_{};     // low 128 bits of the sum of squares
    std::uint64_t square_top_ = 0; // its high 64 bits
    std::uint64_t n_ = 0;
};

/// Exact moments with the widest arithmetic the compiler has.
using tick_moments = basic_tick_moments<>;

} // namespace straggle::stats
