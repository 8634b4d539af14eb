// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// P(T > t) from the three forms of the tail (private part of `student_t.hpp`). An inversion may round its
/// exponents, because a steep tail damps the error; here the exponent is the result, so its rounding error is
/// carried along.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/stats/detail/student_t_inverse.hpp>

#include <cmath>

namespace straggle::inline STRAGGLE_ABI::detail::student_t {

[[nodiscard]] inline double fraction_probability(point const& at, sum_pair c) noexcept {
    sum_pair const h = fraction_denominator(at);
    power const l = fraction_power(at);
    double const q = c.high * at.t * l.value / h.high;
    return q + q * (l.correction + c.low / c.high - h.low / h.high);
}

[[nodiscard]] inline double uniform_probability(point const& at, double c) noexcept {
    exponent const e = uniform_exponent(at);
    uniform_factor const f(at, e, c);
    power l;
    if (at.z < 0x1p-10)
        l = {std::exp(-0.5 * e.xi_square), -0.5 * e.low};
    else
        l = falling_power(at, 0.5 * at.nu);
    double const rest = f.low + (0.5 * f.high - f.slope) * e.low; // the factor itself sees the rounding of xi
    double const q = l.value * (f.high / f.divisor);
    return q + q * (l.correction + rest / f.high - f.divisor_low / f.divisor);
}

/// P(T > t) where only the leading term of the tail matters.
[[nodiscard]] inline double far_probability(double nu, double c, double t) noexcept {
    if (nu > 40) return 0;
    double const lead = c / std::sqrt(nu);
    double const whole = std::pow(t, -nu);
    if (whole > 1e-290) return lead * std::pow(nu, 0.5 * nu) * whole;
    double const half = std::pow(nu, 0.25 * nu) * std::pow(t, -0.5 * nu);
    return half * lead * half;
}

struct both_sides {
    double above; ///< P(T > t)
    double below; ///< P(T < t)
};

/// @pre t > 0 and finite, nu > 0 and not NaN
[[nodiscard]] inline both_sides probabilities(double t, double nu) noexcept {
    if (nu < tiny_dof) {
        double const root = std::sqrt(nu), ratio = t / root;
        double const u =
            ratio < 1e10 ? std::asinh(ratio) : std::log(t) - 0.5 * std::log(nu) + 0x1.62e42fefa39efp-1;
        double const centre = 0.5 * nu * u;
        return {0.5 - centre, 0.5 + centre};
    }
    if (nu > infinite_dof) nu = infinite_dof;
    sum_pair const c = density_at_zero(nu);
    if (t < 1e-9 * (nu < 1 ? std::sqrt(nu) : 1)) return {0.5 - c.high * t, 0.5 + c.high * t};
    double above;
    if (t > far_out * std::sqrt(nu)) {
        above = far_probability(nu, c.high, t);
    } else {
        point const at = point::any_t(nu, 1 / nu, t);
        if (nu < 1 ? at.z < 1 : at.t_square < 0.7 + 0.85 / nu) {
            sum_pair const centre = centre_probability(at, c, centre_series(at));
            return {(0.5 - centre.high) - centre.low, 0.5 + (centre.high + centre.low)};
        }
        above = 3 * at.z > 2 || nu < 4 ? fraction_probability(at, c) : uniform_probability(at, c.high);
    }
    if (above > 0.5) above = 0.5; // rounding: for many powers of ten of t the result stays at 1/2
    return {above, 1 - above};
}

} // namespace straggle::detail::student_t
