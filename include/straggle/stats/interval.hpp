// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The confidence interval of a mean from its count, mean and spread (DSB algorithm 2, lines 16-19).
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/stats/student_t.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::stats {

/// A closed interval of real numbers; `low <= high`.
struct interval {
    double low = 0;  ///< lower end
    double high = 0; ///< upper end

    /// True when the interval is a single point.
    [[nodiscard]] constexpr bool is_point() const noexcept { return low == high; }
    friend constexpr bool operator==(interval const&, interval const&) = default;
};

/// Which denominator turns a sum of squared deviations into a variance.
enum class deviation_kind : std::uint8_t {
    sample,     ///< n - 1: unbiased; required for the interval of a mean
    population, ///< n: as printed in DSB algorithm 2; understates the interval by sqrt((n-1)/n)
};

/// The standard deviation from a sum of squared deviations `m2` over `n` values.
/// @return `status::insufficient_evidence` for n = 0, and for n = 1 of the sample kind;
/// `status::out_of_domain` for an `m2` that is negative or not finite
[[nodiscard]] inline outcome<double> standard_deviation(std::uint64_t n, double m2,
                                                        deviation_kind kind) noexcept {
    std::uint64_t const degrees = kind == deviation_kind::sample && n > 0 ? n - 1 : n;
    if (degrees == 0) return status::insufficient_evidence;
    if (!detail::is_finite(m2) || m2 < 0) return status::out_of_domain;
    return std::sqrt(m2 / static_cast<double>(degrees));
}

/// The interval rule of DSB algorithm 2: mean +- t(1 - alpha/2, n - 1) * sd / sqrt(n).
///
/// Source: DSB algorithm 2. Changed: the default is the sample deviation, since the population deviation
/// makes the interval too short (29 % at n = 2); `deviation_kind::population` is the paper's.
///
/// Any type with the same call operator and `deviation()` models `interval_rule` and can replace it.
class t_interval {
  public:
    /// @param level confidence that the interval contains the mean
    /// @param kind which standard deviation
    explicit constexpr t_interval(confidence_level level = 0.95,
                                  deviation_kind kind = deviation_kind::sample) noexcept
        : critical_(level), kind_(kind) {}

    /// The interval of a mean.
    /// @param n number of values
    /// @param mean their mean
    /// @param sd their standard deviation, of the kind `deviation()` names
    /// @return `status::insufficient_evidence` for n < 2: a single value has no interval, not an infinite
    /// one. A deviation of 0 gives a single point.
    [[nodiscard]] outcome<interval> operator()(std::uint64_t n, double mean, double sd) const noexcept {
        if (n < 2) return status::insufficient_evidence;
        double const half = critical_(n - 1) * sd / std::sqrt(static_cast<double>(n));
        interval const ci{mean - half, mean + half};
        if (!detail::is_finite(ci.low) || !detail::is_finite(ci.high) || sd < 0) return status::out_of_domain;
        return ci;
    }

    /// The kind of standard deviation that the rule expects.
    [[nodiscard]] constexpr deviation_kind deviation() const noexcept { return kind_; }

  private:
    student_t_critical critical_;
    deviation_kind kind_;
};

/// A rule that maps the count, mean and standard deviation of a node to an interval.
template <class Rule>
concept interval_rule =
    std::copy_constructible<Rule> && requires(Rule const& rule, std::uint64_t n, double x) {
        { rule(n, x, x) } noexcept -> std::same_as<outcome<interval>>;
        { rule.deviation() } noexcept -> std::same_as<deviation_kind>;
    };

} // namespace straggle::stats
