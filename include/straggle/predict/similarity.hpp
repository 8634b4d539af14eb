// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How similar are two tasks? By their factors of any kind: sizes, rates, hours of the day (numeric),
/// programs, users, nodes (categorical).
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/predict/detail/similarity_terms.hpp>

#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace straggle::inline STRAGGLE_ABI::predict {

/// The kind of a factor.
enum class factor_kind : std::uint8_t {
    numeric,     ///< an amount: closer means more similar
    categorical, ///< a code, such as an index of an `interner`: equal or different
};

/// In a row of factors: unknown. It has the maximum distance to every known value, and equals itself.
inline constexpr double missing_factor = std::bit_cast<double>(std::uint64_t{0x7ff8000000000000});

/// Whether a value of a factor is unknown: any NaN, also under `-ffast-math`.
[[nodiscard]] constexpr bool is_missing_factor(double value) noexcept {
    return detail::is_nan(value);
}

/// Limit on the magnitude of a factor's value: differences stay finite.
inline constexpr double largest_factor = 0x1p1021;

/// Whether a row may hold this value: at most `largest_factor` either way, or missing.
[[nodiscard]] constexpr bool is_factor_value(double value) noexcept {
    return is_missing_factor(value) || (value <= largest_factor && value >= -largest_factor);
}

/// The difference of two values of a factor, on the scale of the records they are compared among.
///
/// Source: RiskI definition 1; ours: the scale, categories and missing values.
/// @param kind of the factor
/// @param x and `y`: values, in any unit
/// @param range largest minus smallest value of a numeric factor; otherwise ignored
/// @return numeric: |x - y| / range, 0 if the range is 0 (or below 2^-1022, the smallest normal double);
/// categorical: 0 if equal, else 1; one of them missing: 1, both: 0
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

/// The distance of two rows of factors: sqrt(sum over k of w_k difference_k^2).
///
/// Source: RiskI definition 1, the weighted Euclidean distance (WED), with `factor_difference`. Bit-identical
/// to the distances that `profile_store` reports.
/// @param kinds and `x`, `y`, `ranges`, `weights`: one per factor
/// @pre all of the same length; the preconditions of `factor_difference`; weights finite and not negative
/// @return infinity on overflow
/// @par Cost
/// O(factors), with a square root and a division each; allocates nothing
/// @par Guarantees
/// noexcept except for the contract; symmetric in x and y
/// @par Accuracy
/// relative error within (factors / 2 + 7) 2^-53 without over- or underflow
[[nodiscard]] inline double weighted_distance(std::span<factor_kind const> kinds, std::span<double const> x,
                                              std::span<double const> y, std::span<double const> ranges,
                                              std::span<double const> weights) {
    STRAGGLE_EXPECTS(x.size() == kinds.size() && y.size() == kinds.size() && ranges.size() == kinds.size() &&
                     weights.size() == kinds.size());
    double sums[detail::rows_at_once] = {};
    for (std::size_t k = 0; k < kinds.size(); ++k) {
        detail::factor_term const term =
            detail::make_term(0, kinds[k] == factor_kind::numeric, y[k], weights[k],
                              detail::per_range_of(ranges[k]), is_missing_factor(x[k]));
        double group[detail::rows_at_once];
        for (double& value : group) value = detail::encode_factor(x[k]);
        detail::add_squares(sums, group, {&term, 1});
    }
    return std::sqrt(sums[0]);
}

/// A distance of two rows of factors, with the parameters of `weighted_distance`; NaN: not comparable.
template <class Distance>
concept distance =
    std::copy_constructible<Distance> &&
    requires(Distance const& d, std::span<factor_kind const> kinds, std::span<double const> row) {
        { d(kinds, row, row, row, row) } -> std::convertible_to<double>;
    };

/// `weighted_distance` as an object: the default of `similar_tasks`, whose nearest records a tree finds.
struct weighted_euclidean {
    /// The distance.
    double operator()(std::span<factor_kind const> kinds, std::span<double const> x,
                      std::span<double const> y, std::span<double const> ranges,
                      std::span<double const> weights) const {
        return weighted_distance(kinds, x, y, ranges, weights);
    }
};

/// The similarity of two rows in each factor: S_k = 1 - difference_k^2, but at least 0. If the weights sum to
/// 1 and nothing is outside the ranges, sum w_k S_k = 1 - distance^2: the input for fitting weights.
///
/// Source: RiskI section 5, equations 2 and 3.
/// @param kinds and `x`, `y`, `ranges`, `out`: one per factor
/// @pre all of the same length; the preconditions of `factor_difference`
/// @par Cost
/// O(factors); allocates nothing
/// @par Guarantees
/// noexcept except for the contract; every S_k is in [0, 1]
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
