// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of `assign/copy_limits.hpp` and `blacklist/timed_limits.hpp`: a token bucket that limits a
/// rate.
#pragma once

#include <straggle/base/config.hpp>

namespace straggle::inline STRAGGLE_ABI::detail {

// Starts full; overflow is lost.
class token_bucket {
  public:
    explicit constexpr token_bucket(double burst) noexcept : burst_(burst), tokens_(burst) {}

    // Ignores negative values and NaN.
    constexpr void fill(double more) noexcept {
        if (!(more > 0)) return;
        tokens_ = tokens_ + more < burst_ ? tokens_ + more : burst_;
    }
    [[nodiscard]] constexpr bool has_one() const noexcept {
        return tokens_ >= 1.0 - 1e-9; // ten times 0.1 counts as one
    }
    constexpr void take_one() noexcept { tokens_ -= 1.0; }

  private:
    double burst_;
    double tokens_;
};

} // namespace straggle::detail
