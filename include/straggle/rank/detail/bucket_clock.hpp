// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/monitor.hpp`: numbers time buckets. Bucket k holds the times from k steps after
/// the epoch of the clock to just before k + 1, so that monitors on different machines agree.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/record/field.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

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

    // The bucket of a time; empty for NaN and times too distant to be numbered.
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

// The length of a time step in ticks; 0 without windows. @pre the options are valid
template <class Options>
auto step_length(Options const& o) {
    using ticks = decltype(ticks_of(o.window));
    ticks const window = ticks_of(o.window), slide = ticks_of(o.slide);
    STRAGGLE_EXPECTS(window >= 0 && slide >= 0 && slide <= window);
    return slide > 0 ? slide : window;
}
// Number of steps per window. @pre the options are valid
template <class Options>
std::size_t steps_of_window(Options const& o) {
    using ticks = decltype(ticks_of(o.window));
    ticks const window = ticks_of(o.window), length = step_length(o);
    if (!(length > 0)) return 1;
    ticks const n = static_cast<ticks>(window / length);
    STRAGGLE_EXPECTS(n <= 254);
    std::size_t whole = static_cast<std::size_t>(n);
    if constexpr (std::is_floating_point_v<ticks>) whole = static_cast<std::size_t>(n + ticks{0.5});
    ticks const rest = window - static_cast<ticks>(whole) * length;
    if constexpr (std::is_floating_point_v<ticks>)
        STRAGGLE_EXPECTS(rest <= window / 1000000 && -rest <= window / 1000000);
    else
        STRAGGLE_EXPECTS(rest == 0); // fails unless the window is a whole number of slides
    return whole;
}

// Units of `To` per unit of `From`; 1 if either has no known unit.
template <class From, class To>
constexpr double units_in() noexcept {
    if constexpr (!std::is_arithmetic_v<From> && !std::is_arithmetic_v<To>)
        return static_cast<double>(From::period::num) * static_cast<double>(To::period::den) /
               static_cast<double>(From::period::den) / static_cast<double>(To::period::num);
    else
        return 1.0;
}

} // namespace straggle::detail
