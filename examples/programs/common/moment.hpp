// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Points of time and lengths of time in a file, exact to the nanosecond.
#pragma once

#include "length.hpp"
#include "number.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>

namespace program {

/// Since the origin of the times in the file.
using moment = std::chrono::nanoseconds;
/// 126 years: the largest distance from the origin, so that two times can be subtracted.
inline constexpr moment latest_moment{4'000'000'000'000'000'000};

/// A time in a file; nothing if it is not one, or beyond `latest_moment` in either direction.
inline std::optional<moment> moment_of(number const& n, time_unit unit) {
    constexpr std::int64_t most = latest_moment.count();
    if (n.kind != number_kind::exact && n.kind != number_kind::real) return std::nullopt;
    std::int64_t const nanoseconds = 1'000'000'000 / per_second(unit);
    if (n.kind == number_kind::real) {
        double const exactly = std::round(n.value * static_cast<double>(nanoseconds));
        if (!(std::fabs(exactly) <= static_cast<double>(most))) return std::nullopt;
        return moment(static_cast<std::int64_t>(exactly));
    }
    std::int64_t scale = 1;
    for (int i = 0; i < n.places; ++i) scale *= 10;
    std::int64_t time = n.digits;
    if (scale > nanoseconds) {
        time /= scale / nanoseconds;
    } else {
        std::int64_t const by = nanoseconds / scale;
        if (time > most / by || time < -(most / by)) return std::nullopt;
        time *= by;
    }
    if (time > most || time < -most) return std::nullopt;
    return moment(time);
}

/// In seconds.
[[nodiscard]] constexpr double seconds(moment length) {
    return static_cast<double>(length.count()) / 1e9;
}

} // namespace program
