// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How much alike are two tasks? By their factors, whatever they are: sizes, rates, hours of the day
/// (numeric), programs, users, nodes (categorical).
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/predict/detail/similarity_lanes.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace straggle::inline STRAGGLE_ABI::predict {

/// What the values of a factor mean.
enum class factor_kind : std::uint8_t {
    numeric,     ///< an amount: the closer, the more alike
    categorical, ///< a code, such as an index of an `interner`: the same or another
};

/// In a row of factors: not known. A value of its own: as unlike every known one as can be, and like itself.
inline constexpr double missing_factor = std::bit_cast<double>(std::uint64_t{0x7ff8000000000000});

/// Whether a value of a factor is not known: any NaN, also under `-ffast-math`.
[[nodiscard]] constexpr bool is_missing_factor(double value) noexcept {
    return detail::is_nan(value);
}

/// The largest value of a factor, and the negative of the smallest: differences of two stay finite.
inline constexpr double largest_factor = 0x1p1021;

/// Whether a row may hold this value: at most `largest_factor` either way, or missing.
[[nodiscard]] constexpr bool is_factor_value(double value) noexcept {
    return is_missing_factor(value) || (value <= largest_factor && value >= -largest_factor);
}

/// How far two values of a factor are apart, on the scale of the records they are compared among.
///
/// Source: RiskI definition 1; ours: the scale, categories and missing values.
/// @param kind of the factor
/// @param x and `y`: values, in any unit
/// @param range largest less smallest value of a numeric factor; not looked at otherwise
/// @return numeric: |x - y| / range, 0 where the range is 0 (or below 2^-1022, the least normal double);
/// categorical: 0 if the same, else 1; one of them missing: 1, both: 0
/// @pre `is_factor_value(x) && is_factor_value(y)`; `range` is not negative
/// @par Cost
/// O(1); allocates nothing
/// @par Guarantees
/// noexcept; symmetric in x and y; at most 1 for values within the range
[[nodiscard]] constexpr double factor_difference(factor_kind kind, double x, double y,
                                                 double range) noexcept {
    bool const x_missing = is_missing_factor(x), y_missing = is_missing_factor(y);
    if (x_missing || y_missing) return x_missing && y_missing ? 0 : 1;
    if (kind == factor_kind::categorical) return x == y ? 0 : 1;
    if (!(range >= detail::least_range)) return 0;
    return (x < y ? y - x : x - y) / range;
}

/// How far two rows of factors are apart: sqrt(sum over k of w_k difference_k^2).
///
/// Source: RiskI definition 1, the weighted Euclidean distance (WED), with `factor_difference`. These are the
/// distances that `profile_store` reports, to the bit.
/// @param kinds and `x`, `y`, `ranges`, `weights`: one per factor
/// @pre all of the same length; what `factor_difference` demands; weights finite and not negative
/// @return infinite if it is more than a double can hold
/// @par Cost
/// O(factors), with a square root and a division each; allocates nothing
/// @par Guarantees
/// noexcept but for the contract; symmetric in x and y
/// @par Accuracy
/// within (factors / 2 + 7) 2^-53 of the formula, relatively, where nothing over- or underflows
[[nodiscard]] inline double weighted_distance(std::span<factor_kind const> kinds, std::span<double const> x,
                                              std::span<double const> y, std::span<double const> ranges,
                                              std::span<double const> weights) {
    STRAGGLE_EXPECTS(x.size() == kinds.size() && y.size() == kinds.size() && ranges.size() == kinds.size() &&
                     weights.size() == kinds.size());
    double sums[detail::leaf_size] = {};
    for (std::size_t k = 0; k < kinds.size(); ++k) {
        double const scale = detail::scale_of(std::sqrt(weights[k]), detail::per_range_of(ranges[k]));
        detail::factor_term const term = detail::make_term(0, kinds[k] == factor_kind::numeric, y[k], scale,
                                                           weights[k], is_missing_factor(x[k]));
        double leaf[detail::leaf_size];
        for (double& value : leaf) value = detail::encode_factor(x[k]);
        detail::add_squares(leaf, detail::span_of(&term, 1), sums);
    }
    return std::sqrt(sums[0]);
}

/// How alike two rows are in each factor: S_k = 1 - difference_k^2, but at least 0. Where the weights add up
/// to 1 and nothing is outside the ranges, sum w_k S_k = 1 - distance^2: what weights are fitted on.
///
/// Source: RiskI section 5, equations 2 and 3.
/// @param kinds and `x`, `y`, `ranges`, `out`: one per factor
/// @pre all of the same length; what `factor_difference` demands
/// @par Cost
/// O(factors); allocates nothing
/// @par Guarantees
/// noexcept but for the contract; every S_k is in [0, 1]
constexpr void factor_similarities(std::span<factor_kind const> kinds, std::span<double const> x,
                                   std::span<double const> y, std::span<double const> ranges,
                                   std::span<double> out) {
    STRAGGLE_EXPECTS(x.size() == kinds.size() && y.size() == kinds.size() && ranges.size() == kinds.size() &&
                     out.size() == kinds.size());
    for (std::size_t k = 0; k < kinds.size(); ++k) {
        double const d = factor_difference(kinds[k], x[k], y[k], ranges[k]);
        out[k] = d < 1 ? 1 - d * d : 0.0;
    }
}

} // namespace straggle::predict
