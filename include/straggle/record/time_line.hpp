// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of `blacklist/dynamic_blacklist.hpp` and `mitigate/mitigator.hpp`: converts the caller's
/// points in time to numbers from an origin, and handles jumps of the clock.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/projection.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace straggle::inline STRAGGLE_ABI::detail {

// Whole ticks since the clock's epoch where ticks are whole, so that distant times lose no precision.
template <class Time>
struct epoch_number {
    using type = Time;
    static constexpr type of(Time t) noexcept { return t; }
    static constexpr double unit = 1;
};
template <class Time>
    requires requires(Time const& t) { t.time_since_epoch().count(); }
struct epoch_number<Time> {
    using span = decltype(std::declval<Time const&>().time_since_epoch());
    using type = typename span::rep;
    static constexpr type of(Time const& t) noexcept { return t.time_since_epoch().count(); }
    static constexpr double unit =
        static_cast<double>(span::period::num) / static_cast<double>(span::period::den);
};

// Converts the caller's times to numbers relative to the first time seen.
//
// The caller reports jumps of the clock, since only it sees the steps between decisions: a step back, or a
// step many times longer than usual although events kept their usual pace. Times before and after a jump are
// not comparable.
template <class Time>
class time_line {
    using number = typename epoch_number<Time>::type;

  public:
    [[nodiscard]] bool is_set() const noexcept { return is_set_; }
    // Whether it can be a clock reading: a number with enough resolution left.
    template <class Other>
    [[nodiscard]] static bool is_usable(Other const& t) noexcept {
        if constexpr (std::is_integral_v<typename epoch_number<Other>::type>) {
            return true;
        } else {
            auto const x = static_cast<double>(epoch_number<Other>::of(t));
            return x > -0x1p63 && x < 0x1p63;
        }
    }
    void set_origin(Time const& t) noexcept {
        origin_ = epoch_number<Time>::of(t);
        is_set_ = true;
    }
    // In seconds if the clock knows its unit, otherwise in the clock's own unit. NaN if not a number.
    template <class Other>
    [[nodiscard]] double at(Other const& t) const noexcept {
        using other = epoch_number<Other>;
        if constexpr (std::is_integral_v<number> && std::is_same_v<typename other::type, number> &&
                      other::unit == epoch_number<Time>::unit) {
            // The difference may overflow a signed number; unsigned arithmetic is exact.
            auto const a = static_cast<std::uint64_t>(other::of(t)), b = static_cast<std::uint64_t>(origin_);
            bool const later = other::of(t) >= origin_;
            auto const apart = static_cast<double>(later ? a - b : b - a);
            return (later ? apart : -apart) * other::unit;
        } else {
            return static_cast<double>(other::of(t)) * other::unit -
                   static_cast<double>(origin_) * epoch_number<Time>::unit;
        }
    }
    // The offset from another line's numbers to this one's.
    [[nodiscard]] double later_by(time_line const& other) const noexcept {
        if (!is_set_ || !other.is_set_) return 0;
        if constexpr (std::is_integral_v<number>) {
            auto const a = static_cast<std::uint64_t>(other.origin_), b = static_cast<std::uint64_t>(origin_);
            bool const later = other.origin_ >= origin_;
            auto const apart = static_cast<double>(later ? a - b : b - a) * epoch_number<Time>::unit;
            return later ? apart : -apart;
        } else {
            double const apart = (static_cast<double>(other.origin_) - static_cast<double>(origin_)) *
                                 epoch_number<Time>::unit;
            return is_finite(apart) ? apart : 0.0; // unrelated clocks
        }
    }
    // Time since the caller's epoch, for values shared with other processes.
    [[nodiscard]] double absolute(double since_origin) const noexcept {
        return since_origin + static_cast<double>(origin_) * epoch_number<Time>::unit;
    }

    void write(byte_writer& out) const {
        out.flag(is_set_);
        out.flag(std::is_integral_v<number>);
        out.real(epoch_number<Time>::unit);
        if constexpr (std::is_integral_v<number>)
            out.u64(static_cast<std::uint64_t>(origin_));
        else
            out.real(static_cast<double>(origin_));
    }
    void read(byte_reader& in) {
        is_set_ = in.flag();
        in.expect(in.flag() == std::is_integral_v<number> && in.real() == epoch_number<Time>::unit,
                  status::wrong_kind);
        if constexpr (std::is_integral_v<number>) {
            origin_ = static_cast<number>(in.u64());
        } else {
            double const x = in.real();
            in.expect(is_finite(x));
            origin_ = static_cast<number>(x);
        }
    }

  private:
    number origin_{};
    bool is_set_ = false;
};

} // namespace straggle::detail
