// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of `stats/empirical.hpp`, `evaluate/detection_metrics.hpp` and `evaluate/power.hpp`: sums of
/// nonnegative numbers, so precise that the order and grouping of the additions do not matter.
#pragma once

#include <straggle/base/config.hpp>

namespace straggle::inline STRAGGLE_ABI::detail {

// An unevaluated sum of two doubles. Each addition has an error below 2^-103 of the sum (nothing cancels
// among nonnegative numbers), so n of them below n 2^-103: any split of less than 2^40 numbers gives the same
// double, unless the true sum lies within 2^-63 of the midpoint between two doubles.
class long_sum {
  public:
    constexpr void add(double x) noexcept {
        double const sum = high_ + x;
        double const part = sum - high_;
        renew(sum, low_ + ((high_ - (sum - part)) + (x - part))); // Knuth: the rounding error of the sum
    }
    constexpr void merge(long_sum const& other) noexcept {
        add(other.high_);
        add(other.low_); // may be negative, but no larger than the rounding error of the previous addition
    }
    // Not finite if the sum ever overflowed.
    [[nodiscard]] constexpr double value() const noexcept { return high_ + low_; }

    friend constexpr bool operator==(long_sum const&, long_sum const&) = default;

  private:
    constexpr void renew(double sum, double rest) noexcept {
        high_ = sum + rest;
        low_ = rest - (high_ - sum);
    }

    double high_ = 0;
    double low_ = 0;
};

} // namespace straggle::detail
