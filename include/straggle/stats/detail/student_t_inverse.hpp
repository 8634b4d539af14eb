// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Inversion of the Student-t tail (private part of `student_t.hpp`): a start good to about 1e-3, one exact
/// evaluation of the tail there, one step of fifth order.
///
/// Source: Hill, "Algorithm 396: Student's t-quantiles" (CACM 13, 1970) for the idea of a corrected normal
/// start; Abramowitz and Stegun 26.7.5 (Cornish and Fisher); Shaw, "Sampling Student's T distribution - use
/// of the inverse cumulative distribution function" (J. Comput. Finance 9(4), 2006) for the central series.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/stats/detail/student_t_tail.hpp>

#include <cmath>

namespace straggle::inline STRAGGLE_ABI::detail::student_t {

inline constexpr double tiny_tail = 1e-280;    // below, probabilities are scaled
inline constexpr double far_out = 0x1p30;      // t/sqrt(nu) above which the leading term of the tail is exact
inline constexpr double infinite_dof = 0x1p80; // from here on the normal distribution, to the last bit
inline constexpr double tiny_dof = 0x1p-60;    // below, 1/2 - Q = nu/2 asinh(t/sqrt(nu)) to the last bit

/// P(Z > z) = q to about 1e-4 of z, 0 < q <= 1/2.
[[nodiscard]] inline double normal_start(double q, double d) noexcept {
    if (q > 0.02425) { // Acklam's rational approximation of the center
        double const r = d * d;
        static constexpr double a[] = {2.506628277459239e+00, -3.066479806614716e+01,
                                       1.383577518672690e+02, -2.759285104469687e+02,
                                       2.209460984245205e+02, -3.969683028665376e+01};
        static constexpr double b[] = {1.0,
                                       -1.328068155288572e+01,
                                       6.680131188771972e+01,
                                       -1.556989798598866e+02,
                                       1.615858368580409e+02,
                                       -5.447609879822406e+01};
        return d * polynomial<6>(a, r) / polynomial<6>(b, r);
    }
    double const v = std::sqrt(-2 * std::log(q));
    static constexpr double a[] = {2.938163982698783e+00,  4.374664141464968e+00,  -2.549732539343734e+00,
                                   -2.400758277161838e+00, -3.223964580411365e-01, -7.784894002430293e-03};
    static constexpr double b[] = {1.0, 3.754408661907416e+00, 2.445134137142996e+00, 3.224671290700398e-01,
                                   7.784695709041462e-03};
    return -polynomial<6>(a, v) / polynomial<5>(b, v);
}

[[nodiscard]] inline double start(double nu, double inu, double c, double q, double d) noexcept {
    if (nu >= 2.5) {
        double const z = normal_start(q, d), e2 = z * z * inu;
        if (e2 < 0.5) { // Cornish and Fisher, A&S 26.7.5
            double const z2 = z * z;
            double const g1 = (z2 + 1) * 0.25;
            double const g2 = ((5 * z2 + 16) * z2 + 3) * (1.0 / 96);
            double const g3 = (((3 * z2 + 19) * z2 + 17) * z2 - 15) * (1.0 / 384);
            double const g4 = ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) * (1.0 / 92160);
            return z * (1 + inu * (g1 + inu * (g2 + inu * (g3 + inu * g4))));
        }
        // Temme: xi = z + corrections in 1/nu, t^2 = nu (exp(xi^2/nu) - 1)
        double const eta = std::sqrt(e2);
        double const w = std::exp(-e2), u = 1 - w;
        double const e1 = 0.5 * std::log(e2 / u) / eta;
        double const slope = 1 / eta - eta * w / u;
        double const second = (-0.5 * e1 * e1 + slope * e1 + slope / eta - e1 / eta - 0.25) / eta;
        double const s = eta + inu * (e1 + inu * second);
        return std::sqrt(nu * std::expm1(s * s));
    }
    double const a = 0.5 * nu;
    double const k = std::pow(2 * q * a / (c * std::sqrt(nu)), 1 / a); // x = k (1 + ...) in the tail
    if (k < 0.45) {
        double const c1 = a / (2 * (a + 1)), c2 = 3 * a / (8 * (a + 2));
        double const x0 = k * (1 - k * (c1 / a));
        double const x = k * std::pow(1 + x0 * (c1 + c2 * x0), -1 / a);
        return std::sqrt(nu * (1 - x) / x);
    }
    double const e = d / c, e2 = e * e;
    if (e2 * (nu + 1) > 2.4 * nu) {
        double const x0 = k < 0.9 ? k : 0.9;
        double const x1 = k * std::pow(1 + x0 * a / (2 * (a + 1)), -1 / a);
        double const x = x1 > 0.95 ? 0.95 : x1;
        return std::sqrt(nu * (1 - x) / x);
    }
    return e * (1 + e2 * ((nu + 1) / (6 * nu) +
                          e2 * (((7 * nu + 8) * nu + 1) / (120 * nu * nu) +
                                e2 * e2 * (((127 * nu + 135) * nu + 9) * nu + 1) / (5040 * nu * nu * nu))));
}

/// t where only the leading term of the tail matters: q = C/sqrt(nu) (t/sqrt(nu))^-nu. Infinite on overflow.
[[nodiscard]] inline double far_quantile(double nu, double c, double q) noexcept {
    double const root = std::sqrt(nu), lead = c / root;
    double log_v = (std::log(lead) - std::log(q)) / nu;
    if (log_v + std::log(root) > 709.9) return HUGE_VAL;
    double scale = 1, back = 1;
    if (log_v > 600) { // v alone may overflow where t does not; scale by powers of two, so that the exponent
                       // stays exact
        log_v -= 512 * 0x1.62e42fefa39efp-1;
        scale = std::exp2(-256 * nu);
        back = 0x1p256;
    }
    double const q_scale = q < tiny_tail ? 0x1p500 : 1;
    q *= q_scale * q_scale;
    double v = std::exp(log_v);
    for (int i = 0; i < 2; ++i) {
        double const half = std::pow(v, -0.5 * nu) * (scale * q_scale);
        sum_pair const square = product(half, half);
        sum_pair const tail = product(square.high, lead);
        double const excess = ((tail.high - q) + (tail.low + square.low * lead)) / q;
        v += v * excess / nu * (1 - 0.5 * excess * (nu - 1) / nu);
    }
    return root * v * back * back;
}

/// Relative excess of a computed probability over the target, and probability / (t * density).
struct excess {
    double lambda;
    double mills;
};

[[nodiscard]] inline excess centre_excess(point const& at, sum_pair c, double d) noexcept {
    double const series = centre_series(at);
    sum_pair const p = centre_probability(at, c, series);
    return {((p.high - d) + p.low) / d, 1 + series};
}

[[nodiscard]] inline excess fraction_excess(point const& at, sum_pair c, double q) noexcept {
    sum_pair const h = fraction_denominator(at);
    power l{};
    if (q > tiny_tail) {
        l = fraction_power(at);
    } else {
        l = falling_power(at, 0.25 * (at.nu - 1));
        l.value *= 0x1p500;
        l = {l.value * l.value, 2 * l.correction};
        q *= 0x1p1000;
    }
    sum_pair const ct = product(c.high, at.t);
    sum_pair const ctl = product(ct.high, l.value);
    sum_pair const wanted = product(q, h.high);
    double const low =
        ctl.low + (ct.low + c.low * at.t) * l.value + ctl.high * l.correction - wanted.low - q * h.low;
    return {((ctl.high - wanted.high) + low) / wanted.high, (1 + at.z) / h.high};
}

[[nodiscard]] inline excess uniform_excess(point const& at, double c, double q) noexcept {
    exponent const e = uniform_exponent(at);
    uniform_factor const f(at, e, c);
    double s;
    if (q > tiny_tail) {
        s = std::exp(-0.5 * e.xi_square);
    } else {
        s = std::exp(-0.25 * e.xi_square) * 0x1p500;
        s *= s;
        q *= 0x1p1000;
    }
    sum_pair const tail = product(s, f.high);
    sum_pair const wanted = product(q, f.divisor);
    double const low = tail.low + s * (f.low - e.low * f.slope) - wanted.low - q * f.divisor_low;
    return {((tail.high - wanted.high) + low) / wanted.high,
            f.high * std::sqrt(1 + at.z) / (f.divisor * c * at.t)};
}

/// t > 0 with P(T > t) = q.
/// @param d 1/2 - q, computed by the caller without rounding from whichever of the two it has
/// @return infinite when t overflows
[[nodiscard]] inline double upper(double nu, double q, double d) noexcept {
    constexpr double pi = 0x1.921fb54442d18p+1;
    if (nu == 1) { // Cauchy
        if (q >= 0.25) return std::tan(pi * d);
        return q < 1e-5 ? (1 - (pi * q) * (pi * q) / 3) / (pi * q) : 1 / std::tan(pi * q);
    }
    if (nu == 2) return 2 * d / std::sqrt(2 * q * (1 - q));
    if (nu < tiny_dof) {
        double const u = 2 * d / nu;
        return u < 700 ? std::sqrt(nu) * std::sinh(u) : 0.5 * std::exp(u + 0.5 * std::log(nu));
    }
    if (nu > infinite_dof) nu = infinite_dof;
    double const inu = 1 / nu;
    sum_pair const c = density_at_zero(nu);
    if (d < 1e-9 * c.high * (nu < 1 ? std::sqrt(nu) : 1)) { // t = d / C
        double const t = d / c.high;
        return t - t * (c.low / c.high);
    }
    double t = start(nu, inu, c.high, q, d);
    // small enough that the sixth order is below the rounding
    double const close = nu >= 2.5 ? 3e-3 : nu >= 1 ? 1e-3 : 5e-4 * nu;
    bool const central = nu < 1 ? q >= 0.25 : q >= 0.2;
    if (!(t * t < far_out * far_out * nu)) return far_quantile(nu, c.high, q);
    for (int i = 0; i < 30; ++i) {
        t = leading_bits(t);
        point const at = point::short_t(nu, inu, t);
        double const x = at.x, y = at.y;
        bool const by_centre = central && y < 0.8;
        excess const e = by_centre                  ? centre_excess(at, c, d)
                         : at.z > 2.0 / 3 || nu < 4 ? fraction_excess(at, c, q)
                                                    : uniform_excess(at, c.high, q);
        double const w = (by_centre ? -e.lambda : e.lambda) / (1 + e.lambda) * e.mills;
        if (std::fabs(e.lambda) < close) {
            // Taylor of the inverse: w is the probability error over t * density, p_k the derivatives of
            // -log density with respect to log t.
            double const g = nu + 1;
            double const p0 = g * y, p1 = p0 * (x - y), p2 = -2 * p0 * y * (3 * x - y);
            double const p3 = -6 * p0 * y * (x * x - 6 * x * y + y * y);
            double const t3 = p1 + 2 * p0 * p0, t4 = p2 + p0 * (7 * p1 + 6 * p0 * p0);
            double const t5 = p3 + 11 * p0 * p2 + 46 * p0 * p0 * p1 + 7 * p1 * p1 + 24 * p0 * p0 * p0 * p0;
            return t + t * w *
                           (1 + w * (p0 * (1.0 / 2) +
                                     w * (t3 * (1.0 / 6) + w * (t4 * (1.0 / 24) + w * t5 * (1.0 / 120)))));
        }
        if (by_centre) {
            double f = w * (1 + 0.5 * w * (nu + 1) * y);
            if (!(f > -0.8)) f = -0.8;
            if (f > 3) f = 3;
            t += t * f;
        } else { // Halley's step for log Q as a function of log t
            double step = std::log1p(e.lambda) * e.mills;
            double const k = 1 + 0.5 * step * (1 - (nu + 1) * y + 1 / e.mills);
            step /= k > 0.3 ? k : 0.3;
            if (!(step > -3)) step = -3;
            if (step > 3) step = 3;
            t *= std::exp(step);
        }
    }
    return t;
}

} // namespace straggle::detail::student_t
