// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of `stats/empirical.hpp`, `evaluate/detection_metrics.hpp` and `evaluate/power.hpp`: sums of
/// numbers that are not negative, so precise that it does not matter in which order, and in how many parts,
/// they are added.
#pragma once

#include <straggle/base/config.hpp>

namespace straggle::inline STRAGGLE_ABI::detail {

// An unevaluated sum of two doubles. Each addition is off by less than 2^-103 of the sum (nothing cancels
// among numbers that are not negative), so n of them by less than n 2^-103: any split of less than 2^40
// numbers gives the same double but where the true sum lies within 2^-63 of the middle of two doubles.
class long_sum {
  public:
    constexpr void add(double x) noexcept {
        double const sum = high_ + x;
        double const part = sum - high_;
        renew(sum, low_ + ((high_ - (sum - part)) + (x - part))); // Knuth: what the rounding of the sum lost
    }
    constexpr void merge(long_sum const& other) noexcept {
        add(other.high_);
        add(other.low_); // may be negative: it is not larger than the rounding of what was just added
    }
    // Not finite where the sum was too large at any time.
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
