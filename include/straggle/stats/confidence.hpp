// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The confidence of a two-sided interval as a separate type, so that it cannot be confused with the
/// probability of a quantile (0.975) or the error rate (0.05).
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/outcome.hpp>

namespace straggle::inline STRAGGLE_ABI::stats {

/// A two-sided confidence level strictly between 0 and 1, such as 0.95.
/// @par Example
/// `confidence_level{0.95}` is checked at compile time; `confidence_level::from(x)` at run time.
class confidence_level {
  public:
    /// A level known at compile time; anything but 0 < level < 1 does not compile.
    consteval confidence_level(double level) : level_(level) { STRAGGLE_EXPECTS(valid(level)); }

    /// A level from run-time input, such as a command line.
    /// @return `status::out_of_domain` for NaN and anything but 0 < level < 1
    [[nodiscard]] static constexpr outcome<confidence_level> from(double level) noexcept {
        if (!valid(level)) return status::out_of_domain;
        return confidence_level(level, unchecked{});
    }

    /// The level, 0.95 for 95 %.
    [[nodiscard]] constexpr double value() const noexcept { return level_; }
    /// The probability left in each tail: (1 - level) / 2, 0.025 for 95 %.
    [[nodiscard]] constexpr double tail() const noexcept { return 0.5 * (1.0 - level_); }

    friend constexpr bool operator==(confidence_level, confidence_level) = default;

  private:
    friend class outcome<confidence_level>;
    struct unchecked {};
    constexpr confidence_level(double level, unchecked) noexcept : level_(level) {}
    constexpr confidence_level() noexcept : level_(0.95) {}
    // Also false for NaN, and for levels so close to 1 that no tail is left.
    static constexpr bool valid(double level) noexcept { return level > 0.0 && level < 1.0; }

    double level_;
};

} // namespace straggle::stats
