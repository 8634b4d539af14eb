// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `monitor/monitor.hpp`: numbers the buckets of time. Bucket k holds the times from k steps
/// after the epoch of the clock to just before k + 1, so that monitors on different machines agree.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/record/field.hpp>

#include <cmath>
#include <cstdint>
#include <optional>

namespace straggle::inline STRAGGLE_ABI::detail {

template <class Time>
constexpr auto ticks_of(Time const& t) noexcept {
    if constexpr (std::is_arithmetic_v<Time>)
        return t;
    else if constexpr (requires { t.time_since_epoch(); })
        return t.time_since_epoch().count();
    else
        return t.count();
}

template <base::clock_time Time>
class bucket_clock {
  public:
    using ticks = decltype(ticks_of(std::declval<Time const&>()));

    // `step`: the length of a bucket in ticks; 0 for a clock with only one bucket.
    explicit bucket_clock(ticks step) noexcept : step_(step) {}

    [[nodiscard]] bool is_running() const noexcept { return step_ > 0; }
    [[nodiscard]] ticks step() const noexcept { return step_; }

    // The bucket a time is in; nothing for NaN and times so far out that they cannot be numbered.
    [[nodiscard]] std::optional<std::int64_t> bucket_of(Time const& time) const noexcept {
        if (!is_running()) return 0;
        return numbered(floor_of(ticks_of(time)));
    }

  private:
    static constexpr std::int64_t most = std::int64_t{1} << 62;

    [[nodiscard]] ticks floor_of(ticks t) const noexcept {
        if constexpr (std::is_floating_point_v<ticks>) {
            return std::floor(t / step_);
        } else {
            ticks quotient = static_cast<ticks>(t / step_);
            if constexpr (std::is_signed_v<ticks>)
                if (t % step_ < 0) --quotient;
            return quotient;
        }
    }
    [[nodiscard]] static std::optional<std::int64_t> numbered(ticks q) noexcept {
        if constexpr (std::is_floating_point_v<ticks>) {
            if (!(q > -0x1p62) || !(q < 0x1p62)) return std::nullopt;
        } else if constexpr (std::is_signed_v<ticks>) {
            if (static_cast<std::int64_t>(q) < -most || static_cast<std::int64_t>(q) > most)
                return std::nullopt;
        } else {
            if (static_cast<std::uint64_t>(q) > static_cast<std::uint64_t>(most)) return std::nullopt;
        }
        return static_cast<std::int64_t>(q);
    }

    ticks step_;
};

} // namespace straggle::detail
