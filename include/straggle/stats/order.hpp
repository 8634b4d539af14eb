// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Order statistics: median, quantile and median absolute deviation, in linear time.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/outcome.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace straggle::inline STRAGGLE_ABI::detail {

inline status check_values(std::span<double const> values) noexcept {
    if (values.empty()) return status::insufficient_evidence;
    for (double x : values)
        if (!is_finite(x)) return status::out_of_domain;
    return status::ok;
}

// A point between two numbers, even if their difference overflows.
constexpr double between(double a, double b, double fraction) noexcept {
    double const step = b - a;
    return is_finite(step) ? a + fraction * step : (1.0 - fraction) * a + fraction * b;
}

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::stats {

/// The q-quantile by linear interpolation between order statistics (Hyndman and Fan's definition 7, the
/// default of R and NumPy).
/// @param values reordered by the call; the unit is the caller's
/// @param q in [0, 1]
/// @return `status::insufficient_evidence` without values, `status::out_of_domain` for a NaN or infinite
/// value or a q outside [0, 1]
/// @par Cost
/// O(n) expected; allocates nothing
[[nodiscard]] inline outcome<double> quantile_in_place(std::span<double> values, double q) noexcept {
    if (!(q >= 0.0 && q <= 1.0)) return status::out_of_domain;
    if (status const s = detail::check_values(values); s != status::ok) return s;
    double const position = q * static_cast<double>(values.size() - 1);
    std::size_t const below = static_cast<std::size_t>(position);
    auto const nth = values.begin() + static_cast<std::ptrdiff_t>(below);
    std::nth_element(values.begin(), nth, values.end());
    double const fraction = position - static_cast<double>(below);
    if (!(fraction > 0.0)) return *nth;
    double const above = *std::min_element(nth + 1, values.end());
    return detail::between(*nth, above, fraction);
}

/// The median; for an even number of values, the mean of the two middle ones.
/// @param values reordered by the call
/// @return as `quantile_in_place`
/// @par Cost
/// O(n) expected; allocates nothing
[[nodiscard]] inline outcome<double> median_in_place(std::span<double> values) noexcept {
    return quantile_in_place(values, 0.5);
}

/// Makes the median absolute deviation of a normal distribution equal to its standard deviation:
/// 1 / Phi^-1(3/4), to the customary four digits.
inline constexpr double normal_consistency = 1.4826;

/// A median and the median absolute deviation from it, scaled by `normal_consistency`.
struct median_and_mad {
    double median = 0; ///< in the unit of the values
    double mad = 0;    ///< scaled; in the unit of the values
    friend constexpr bool operator==(median_and_mad const&, median_and_mad const&) = default;
};

/// Median and scaled median absolute deviation.
/// @param values overwritten with their distances from the median
/// @return as `quantile_in_place`; `status::out_of_range` if a deviation overflows
/// @par Cost
/// O(n) expected; allocates nothing
[[nodiscard]] inline outcome<median_and_mad> median_and_mad_in_place(std::span<double> values) noexcept {
    outcome<double> const median = median_in_place(values);
    if (!median) return median.reason();
    for (double& x : values) x = std::fabs(x - *median);
    outcome<double> const deviation = median_in_place(values);
    if (!deviation || !detail::is_finite(normal_consistency * *deviation)) return status::out_of_range;
    return median_and_mad{*median, normal_consistency * *deviation};
}

} // namespace straggle::stats
