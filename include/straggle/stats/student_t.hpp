// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Student's t distribution: quantile, cumulative probability, and the critical value t(1 - alpha/2, n - 1)
/// that algorithm 2 of the DSB paper multiplies by s / sqrt(n). Degrees of freedom may be any positive
/// number.
///
/// Both tails keep full precision: pass a probability near 1 as its complement to the `_upper` functions. The
/// domain checks use bits and so survive `-ffast-math`; the accuracies require IEEE arithmetic, rounding to
/// nearest, and a standard library whose `exp`, `log`, `log1p` and `pow` are accurate to about one unit in
/// the last place (glibc 2.28 and later, recent musl and libSystem).
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/stats/confidence.hpp>
#include <straggle/stats/detail/student_t_critical_tables.hpp>
#include <straggle/stats/detail/student_t_inverse.hpp>
#include <straggle/stats/detail/student_t_probability.hpp>

#include <bit>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::detail::student_t {

using detail::infinity_bits;

[[nodiscard]] inline std::uint64_t bits_without_sign(double x) noexcept {
    return std::bit_cast<std::uint64_t>(x) & 0x7FFF'FFFF'FFFF'FFFFu;
}
/// 0 < p < 1, and false for NaN regardless of compiler assumptions about NaN
[[nodiscard]] inline bool is_open_probability(double p) noexcept {
    return std::bit_cast<std::uint64_t>(p) - 1 < std::bit_cast<std::uint64_t>(1.0) - 1;
}
/// 0 < dof <= infinity
[[nodiscard]] inline bool is_dof(double dof) noexcept {
    return std::bit_cast<std::uint64_t>(dof) - 1 < infinity_bits;
}

} // namespace straggle::detail::student_t

namespace straggle::inline STRAGGLE_ABI::stats {

/// The number exceeded with probability `q`: t with P(T > t) = q.
///
/// Takes the upper tail directly, so that q = 1e-300 is as accurate as q = 0.1.
/// Source: Temme's uniform expansion with a fitted remainder, Gauss's continued fraction and a central series
/// (see `student_t_tail.hpp`), inverted by one step of fifth order from a Cornish-Fisher start.
/// @param q probability, 0 < q < 1
/// @param dof degrees of freedom, > 0, may be fractional; infinity means the normal distribution
/// @return t; `status::out_of_domain` for NaN and for arguments outside these bounds; `status::out_of_range`
/// if t overflows
/// @par Accuracy
/// that of `student_t_quantile`
/// @par Cost
/// constant time, about two exponentials and sixty multiplications; allocates nothing
/// @par Guarantees
/// noexcept, reentrant, deterministic; exactly odd: the value at 1 - q is the negated one
[[nodiscard]] inline outcome<double> student_t_quantile_upper(double q, double dof) noexcept {
    using namespace detail::student_t;
    if (!is_open_probability(q) || !is_dof(dof)) return status::out_of_domain;
    // 1/2 - q and 1 - q are exact wherever they are used as the smaller part
    double const t = q <= 0.5 ? upper(dof, q, 0.5 - q) : -upper(dof, 1 - q, q - 0.5);
    if (bits_without_sign(t) >= infinity_bits) return status::out_of_range;
    return t;
}

/// The quantile: t with P(T < t) = p.
/// @param p probability, 0 < p < 1; above 1/2 it carries at most 53 bits of the tail: use
/// `student_t_quantile_upper` for probabilities closer to 1
/// @param dof degrees of freedom, > 0, may be fractional; infinity means the normal distribution
/// @return t; `status::out_of_domain` for NaN and for arguments outside these bounds; `status::out_of_range`
/// if t overflows
/// @par Accuracy
/// largest errors seen against 113-bit arithmetic, in units in the last place, on 10^5 random arguments with
/// p from 1e-300 to 1/2 - 1e-26: 2.0 (2.6 if the compiler contracts to fused multiply-adds) at whole dof from
/// 1 to 1e15, 3.8 at real dof from 1 to 1e20, 4.7 / dof below 1, where t itself is that steep in p. Medians
/// are 0.3. Guaranteed are less than 5, 10 and 8 / dof.
/// @par Cost
/// constant time, about two exponentials and sixty multiplications; allocates nothing
/// @par Guarantees
/// noexcept, reentrant, deterministic; exactly odd about p = 1/2
[[nodiscard]] inline outcome<double> student_t_quantile(double p, double dof) noexcept {
    using namespace detail::student_t;
    if (!is_open_probability(p) || !is_dof(dof)) return status::out_of_domain;
    double const t = p < 0.5 ? -upper(dof, p, 0.5 - p) : upper(dof, 1 - p, p - 0.5);
    if (bits_without_sign(t) >= infinity_bits) return status::out_of_range;
    return t;
}

/// The upper tail P(T > t), to full relative precision even for tiny values.
/// @param t any number, including infinities
/// @param dof degrees of freedom, > 0, may be fractional; infinity means the normal distribution
/// @return the probability, 0 only below the smallest double; `status::out_of_domain` for NaN and dof <= 0
/// @par Accuracy
/// largest errors seen against 113-bit arithmetic, in units in the last place of the result: 3.3 for results
/// above 1e-3, 5.1 down to 1e-304, for dof from 1e-6 to 1e20; median 0.5. A result near 1 (t < 0) is within
/// 2.
/// @par Cost
/// constant time, about two exponentials and sixty multiplications; allocates nothing
/// @par Guarantees
/// noexcept, reentrant, deterministic
[[nodiscard]] inline outcome<double> student_t_cdf_upper(double t, double dof) noexcept {
    using namespace detail::student_t;
    std::uint64_t const size = bits_without_sign(t);
    if (size > infinity_bits || !is_dof(dof)) return status::out_of_domain;
    bool const negative = (std::bit_cast<std::uint64_t>(t) >> 63) != 0;
    if (size == 0) return 0.5;
    if (size == infinity_bits) return negative ? 1.0 : 0.0;
    both_sides const p = probabilities(negative ? -t : t, dof);
    return negative ? p.below : p.above;
}

/// The cumulative probability P(T < t); for t > 0 at most 53 bits of 1 - p survive, see
/// `student_t_cdf_upper`.
/// @param t any number, including infinities
/// @param dof degrees of freedom, > 0, may be fractional; infinity means the normal distribution
/// @return the probability; `status::out_of_domain` for NaN and dof <= 0
/// @par Accuracy
/// that of `student_t_cdf_upper(-t, dof)`, which is the same value
/// @par Cost
/// constant time, about two exponentials and sixty multiplications; allocates nothing
/// @par Guarantees
/// noexcept, reentrant, deterministic
[[nodiscard]] inline outcome<double> student_t_cdf(double t, double dof) noexcept {
    return student_t_cdf_upper(-t, dof);
}

/// Two-sided critical values of one confidence level: `student_t_critical{0.95}(9)` is t(0.975, 9).
///
/// An interval `mean +/- critical(n - 1) * s / sqrt(n)` contains the mean with that confidence. Whole degrees
/// of freedom only, as for counts of observations; results then cost a few nanoseconds. Source: critical
/// values below 65 degrees of freedom from a table, above by ten terms of the expansion of Cornish and Fisher
/// (Abramowitz and Stegun 26.7.5, continued by `student_t_coefficients.py`), shortened to seven by Chebyshev
/// polynomials.
/// @par Accuracy
/// for the level as a double, whose tail may differ from its decimal form: largest errors seen 0.6 units in
/// the last place at 0.90, 0.95, 0.99 and 0.999, 2 at other levels
/// @par Cost
/// a plain value of 600 bytes. Construction at 0.90, 0.95, 0.99 or 0.999 copies a table (possibly at compile
/// time); at any other level it computes 64 quantiles.
/// @par Guarantees
/// noexcept, reentrant, deterministic; allocates nothing; never infinite, never NaN
class student_t_critical {
  public:
    /// @param level the confidence of the two-sided interval
    explicit constexpr student_t_critical(confidence_level level) noexcept {
        for (detail::student_t::critical_table const& common : detail::student_t::common_levels) {
            if (common.level == level.value()) {
                table_ = common;
                return;
            }
        }
        compute(level);
    }

    /// t with P(-t < T < t) = level.
    /// @param dof degrees of freedom, the number of observations minus one
    /// @pre dof >= 1
    /// @par Cost
    /// constant time: a table lookup below 65, then a division and a polynomial. At levels closer to 1 than
    /// 0.9975, a general quantile (0.1 us) from 65 to 7 z^2, where z is `normal_limit()`.
    [[nodiscard]] double operator()(std::uint64_t dof) const noexcept {
        if (dof - 1 < detail::student_t::critical_small)
            return table_.small_dof[dof - 1]; // dof 0 wraps around
        if (dof - from_ >= signed_range - from_) return between(dof);
        double const v =
            1 / static_cast<double>(static_cast<std::int64_t>(dof)); // one instruction, if signed
        return table_.normal_high +
               (table_.normal_low +
                v * detail::student_t::polynomial<detail::student_t::critical_terms>(table_.correction, v));
    }

    /// The level given to the constructor.
    [[nodiscard]] constexpr double level() const noexcept { return table_.level; }
    /// The limit for infinitely many degrees of freedom: the critical value of the normal distribution.
    [[nodiscard]] constexpr double normal_limit() const noexcept { return table_.normal_high; }

  private:
    void compute(confidence_level level) noexcept {
        using namespace detail::student_t;
        table_.level = level.value();
        for (int n = 0; n < critical_small; ++n) table_.small_dof[n] = exact(n + 1.0);
        double const z = exact(infinite_dof), z2 = z * z;
        table_.normal_high = z;
        // The expansion is in powers of z^2 / (2 pi dof); from here on, the eleventh power is below 2^-58.
        double const needed = 7 * z2;
        if (needed > static_cast<double>(from_)) from_ = static_cast<std::uint64_t>(needed) + 1;
        // first in powers of u = from / dof, 0 < u <= 1, where Lanczos shortening applies
        auto const from = static_cast<double>(from_);
        double c[cornish_fisher_order];
        double const* row = cornish_fisher;
        double unit = 1;
        for (int k = 0; k < cornish_fisher_order; row += k + 2, ++k) {
            double sum = row[k + 1];
            for (int j = k; j >= 0; --j) sum = row[j] + z2 * sum;
            c[k] = z * sum * unit;
            unit /= from;
        }
        shorten(c, shifted_chebyshev_9, 9);
        shorten(c, shifted_chebyshev_8, 8);
        shorten(c, shifted_chebyshev_7, 7);
        unit = 1;
        for (int k = 0; k < critical_terms; ++k, unit *= from) table_.correction[k] = c[k] * unit;
    }

    static void shorten(double* c, double const* chebyshev, int degree) noexcept {
        double const part = c[degree] / chebyshev[degree];
        for (int k = 0; k < degree; ++k) c[k] -= part * chebyshev[k];
    }

    [[nodiscard]] double exact(double dof) const noexcept {
        // both parts are exact wherever they matter: the level itself when it is small, its complement when
        // that is
        return detail::student_t::upper(dof, 0.5 * (1 - table_.level), 0.5 * table_.level);
    }

    STRAGGLE_NEVER_INLINE double between(std::uint64_t dof) const {
        STRAGGLE_EXPECTS(dof >= 1);
        return dof < from_ ? exact(static_cast<double>(dof)) : table_.normal_high;
    }

    static constexpr std::uint64_t signed_range = std::uint64_t{1} << 63;

    detail::student_t::critical_table table_{};
    std::uint64_t from_ = detail::student_t::critical_small + 1; // smallest dof for the polynomial
};

} // namespace straggle::stats
