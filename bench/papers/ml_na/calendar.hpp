// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Time on the simulated cluster: a day is two minutes, so that a month is an hour and nine months are nine.
#pragma once

#include "../nine_months.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ml_na {

inline constexpr double day = 120;
inline constexpr std::uint32_t days_per_month = nine_months::days_per_month;
inline constexpr double month_length = days_per_month * day;
inline constexpr std::size_t days_in_all = nine_months::months * days_per_month;

/// The day at a time; the last one for work left after the last month.
inline std::size_t day_at(double now) {
    return std::min(static_cast<std::size_t>(now / day), days_in_all - 1);
}

/// How slow each machine is, day by day: the logarithm of the factor on the times of its tasks as
/// `nine_months::slowdown` has it.
using slowdown_by_day = std::vector<std::vector<double>>;
/// From here on a machine is called weak: far above the difference between any two others.
inline constexpr double weak_from = 0.15;

} // namespace ml_na
