// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The tail of Student's t distribution in three forms, each without cancellation in its region (private part
/// of `student_t.hpp`). With nu degrees of freedom, z = t^2/nu, C the density at 0, Q = P(T > t):
/// - centre: 1/2 - Q = C t (1+z)^(-(nu+1)/2) * a series of positive terms in t^2/(nu+t^2);
/// - fraction: Q = C t (1+z)^(-(nu-1)/2) / H, with H from the Gauss continued fraction of the hypergeometric
///   function 2F1(1, (nu+1)/2; (nu+2)/2; nu/(nu+t^2)), its even part, for z > 2/3;
/// - uniform: Q = exp(-xi^2/2) (M(xi) + C xi T/nu), xi^2 = nu log(1+z), where M is the same for the normal
///   distribution and T a smooth function of log(1+z) and 1/nu, tabulated as a polynomial, for nu >= 4 and z
///   <= 2/3.
///
/// Source: Temme, "Asymptotic inversion of incomplete beta functions" (J. Comput. Appl. Math. 41, 1992) for
/// the uniform form, here with the remainder fitted instead of expanded; DLMF 15.7.5 for the fraction.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/stats/detail/student_t_tables.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::detail::student_t {

/// An unevaluated sum: a double and its rounding error.
struct sum_pair {
    double high;
    double low;
};

/// The leading 26 significant bits: products of two such numbers are exact.
[[nodiscard]] inline double leading_bits(double x) noexcept {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0xFFFF'FFFF'F800'0000u);
}

/// a * b and its rounding error. A fused multiply-add in software costs more than a whole polynomial, so it
/// is used only where it is an instruction.
[[nodiscard]] inline sum_pair product(double a, double b) noexcept {
    double const p = a * b;
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    return {p, std::fma(a, b, -p)};
#else
    double const a1 = leading_bits(a), a2 = a - a1;
    double const b1 = leading_bits(b), b2 = b - b1;
    return {p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2};
#endif
}

/// c[0] + c[1] x + ... + c[N-1] x^(N-1), by halves: short chains, unrolled by the compiler.
template <std::size_t N>
[[nodiscard]] inline double polynomial(double const* c, double x) noexcept {
    if constexpr (N == 1) {
        return c[0];
    } else if constexpr (N == 2) {
        return c[0] + c[1] * x;
    } else if constexpr (N == 3) {
        return c[0] + x * (c[1] + c[2] * x);
    } else if constexpr (N == 4) {
        return (c[0] + c[1] * x) + (x * x) * (c[2] + c[3] * x);
    } else if constexpr (N <= 8) {
        double const x2 = x * x;
        return polynomial<4>(c, x) + (x2 * x2) * polynomial<N - 4>(c + 4, x);
    } else if constexpr (N <= 16) {
        double const x2 = x * x, x4 = x2 * x2;
        return polynomial<8>(c, x) + (x4 * x4) * polynomial<N - 8>(c + 8, x);
    } else {
        double const x2 = x * x, x4 = x2 * x2, x8 = x4 * x4;
        return polynomial<16>(c, x) + (x8 * x8) * polynomial<N - 16>(c + 16, x);
    }
}

/// Rows of Sizes powers of u; row i is the coefficient of r^i.
template <std::size_t First, std::size_t... Rest>
[[nodiscard]] inline double plane(double const* c, double u, double r) noexcept {
    if constexpr (sizeof...(Rest) == 0) {
        return polynomial<First>(c, u);
    } else {
        return polynomial<First>(c, u) + r * plane<Rest...>(c + First, u, r);
    }
}

/// (z - log(1+z)) / z^2 for 0 <= z <= 0.03
[[nodiscard]] inline double log1p_ratio(double z) noexcept {
    static constexpr double c[] = {1.0 / 2,  -1.0 / 3, 1.0 / 4,  -1.0 / 5, 1.0 / 6,
                                   -1.0 / 7, 1.0 / 8,  -1.0 / 9, 1.0 / 10, -1.0 / 11};
    return polynomial<10>(c, z);
}
inline constexpr double little_z = 0.03;

/// The density at 0, Gamma((nu+1)/2) / (sqrt(nu pi) Gamma(nu/2)), to about 70 bits.
[[nodiscard]] inline sum_pair density_at_zero(double nu) noexcept {
    if (nu <= 64) {
        int const n = static_cast<int>(nu);
        if (static_cast<double>(n) == nu) return {density_at_zero_high[n - 1], density_at_zero_low[n - 1]};
    }
    if (nu >= 18) { // 1/sqrt(2 pi) (1 - e), e small
        constexpr double normal = 0x1.9884533d43651p-2, normal_low = -0x1.cbc0d30ebfd15p-56;
        double const inverse = 1 / nu;
        double const v = normal * (inverse * polynomial<10>(density_loss, inverse)) - normal_low;
        double const high = normal - v;
        return {high, (normal - high) - v};
    }
    // P sqrt(nu / (1 + pi nu / 2)) / 2, the square root corrected by its residual
    constexpr double half_pi = 0x1.921fb54442d18p+0, half_pi_low = 0x1.1a62633145c07p-54;
    double const a = 0.5 * nu;
    double const p = polynomial<27>(gamma_ratio_small, (a - 1) / (a + 1));
    sum_pair d = product(half_pi, nu);
    double const divisor = 1 + d.high;
    d.low += (d.high > 1 ? 1 - (divisor - d.high) : d.high - (divisor - 1)) + half_pi_low * nu;
    double const root = std::sqrt(nu / divisor);
    sum_pair const square = product(root, root);
    sum_pair const back = product(square.high, divisor);
    double const residual = (nu - back.high) - (back.low + square.low * divisor + square.high * d.low);
    double const half = 0.5 * root;
    double const v = half * (p + 0.5 * residual / nu);
    double const high = half + v;
    return {high, (half - high) + v};
}

/// t and derived values.
struct point {
    double nu, inverse_nu;
    double t, t_square, t_square_low; ///< t^2 as a sum
    double z;                         ///< t^2 / nu
    double n2;                        ///< nu + t^2
    double x, y;                      ///< nu / (nu + t^2), t^2 / (nu + t^2)

    point(double nu_, double inverse_nu_, double t_, sum_pair square) noexcept
        : nu(nu_),
          inverse_nu(inverse_nu_),
          t(t_),
          t_square(square.high),
          t_square_low(square.low),
          z(t_square * inverse_nu),
          n2(nu + t_square),
          x(nu / n2),
          y(z * x) {}

    /// @pre t has at most 26 significant bits
    static point short_t(double nu, double inverse_nu, double t) noexcept {
        return {nu, inverse_nu, t, {t * t, 0}};
    }
    static point any_t(double nu, double inverse_nu, double t) noexcept {
        return {nu, inverse_nu, t, product(t, t)};
    }

    /// The rounding error of z.
    [[nodiscard]] double z_low() const noexcept {
        sum_pair const back = product(z, nu);
        return ((t_square - back.high) - back.low + t_square_low) * inverse_nu;
    }
};

/// (1 + z)^-e as value * (1 + correction)
struct power {
    double value;
    double correction;
};
[[nodiscard]] inline power falling_power(point const& at, double e) noexcept {
    double const base = 1 + at.z;
    double const low = (at.z > 1 ? 1 - (base - at.z) : at.z - (base - 1)) + at.z_low();
    return {std::pow(base, -e), -e * low * at.x};
}
/// falling_power(at, (nu - 1) / 2), without rounding the exponent
[[nodiscard]] inline power fraction_power(point const& at) noexcept {
    if (at.nu >= 1) return falling_power(at, 0.5 * (at.nu - 1));
    power const l = falling_power(at, 0.5 * at.nu), root = falling_power(at, -0.5);
    return {l.value * root.value, l.correction + root.correction};
}
/// falling_power(at, (nu + 1) / 2) where t is small
[[nodiscard]] inline power centre_power(point const& at) noexcept {
    if (at.z < little_z) return {std::exp(-0.5 * (at.t_square + at.z) * (1 - at.z * log1p_ratio(at.z))), 0};
    return falling_power(at, 0.5 * (at.nu + 1));
}

/// H of the fraction form, as a sum.
[[nodiscard]] inline sum_pair fraction_denominator(point const& at) noexcept {
    double const nu = at.nu, x = at.x;
    // Convergents until exp(-4 u n) < 2^-57, where tanh(u)^2 = 1 - x.
    double const wanted = x < 0.15 ? 3.4 + 24 * x : x < 0.6 ? 4 + 15.6 * x : 32 * x - 5.4;
    int const n = static_cast<int>(wanted) + 1;
    // Levels n..2 by the forward recurrence: no division on its critical path, and its rounding errors are
    // damped hundreds of times. The first level is written without cancellation.
    double const d3 = (nu + 3) * (nu + 2) / ((nu + 4) * (nu + 6)), d4 = 12 / ((nu + 6) * (nu + 8));
    double odd = (nu + 5) * (nu + 4) / ((nu + 8) * (nu + 10));
    double a0 = 1, b0 = 0, a1 = 1 - (d4 + odd) * x, b1 = 1;
    double const xx = x * x;
    for (int m = 3; m <= n; ++m) {
        double const k = m;
        double const s = nu + 4 * k;
        double const r = 1 / ((s - 2) * s * (s + 2));
        double const even = (2 * k) * (2 * k - 1) * (s + 2) * r;
        double const next = (nu + 1 + 2 * k) * (nu + 2 * k) * (s - 2) * r;
        double const beta = 1 - (even + next) * x, alpha = odd * even * xx;
        double const a2 = beta * a1 - alpha * a0, b2 = beta * b1 - alpha * b0;
        a0 = a1;
        a1 = a2;
        b0 = b1;
        b1 = b2;
        odd = next;
    }
    // v2 = a1/b1; v1 = beta1 - d3 d4 x^2 / v2; H = t^2 + nu/(nu+2) - n2 d1 d2 x^2 / v1
    double const beta1 = (1 - x) + x * ((5 * nu + 26) * nu + 24) / ((nu + 2) * (nu + 4) * (nu + 6));
    double const v1 = beta1 - d3 * d4 * xx * b1 / a1;
    double const last = nu * x * (2 * (nu + 1)) / ((nu + 2) * (nu + 2) * (nu + 4) * v1);
    double const first = nu / (nu + 2) - last;
    double const high = at.t_square + first;
    double const low =
        (at.t_square > first ? first - (high - at.t_square) : at.t_square - (high - first)) + at.t_square_low;
    return {high, low};
}

/// xi^2 = nu log(1 + t^2/nu), r = log(1 + z)
struct exponent {
    double xi_square, low; ///< xi^2 as a sum
    double r;
};
[[nodiscard]] inline exponent uniform_exponent(point const& at) noexcept {
    if (at.z < little_z) {
        double const ratio = log1p_ratio(at.z);
        double const less = at.t_square * (at.z * ratio);
        double const high = at.t_square - less;
        return {high, (at.t_square - high) - less + at.t_square_low, at.z * (1 - at.z * ratio)};
    }
    double const r = std::log1p(at.z);
    sum_pair const high = product(at.nu, r);
    return {high.high, high.low + at.nu * at.z_low() * at.x, r};
}

/// exp(xi^2/2) Q = (high + low) / (divisor + divisor_low). @pre nu >= 4, xi >= 0.75, z < 0.68
struct uniform_factor {
    double high, low;
    double divisor, divisor_low;
    double slope; ///< -divisor exp(xi^2/2) dQ/d(xi^2)

    uniform_factor(point const& at, exponent const& e, double c) noexcept {
        double const xi = std::sqrt(e.xi_square), r = e.r, v = at.inverse_nu;
        divisor = xi + 1.25;
        divisor_low = xi > 1.25 ? 1.25 - (divisor - xi) : xi - (divisor - 1.25);
        double const k = (xi - 4) / (xi + 4);
        double const normal = k * polynomial<21>(normal_tail + 1, k);
        double remainder;
        if (v <= 1.0 / 30)
            remainder = plane<8, 8, 7, 6, 5, 4, 3, 2, 1>(remainder_far, v * 60 - 1, r);
        else if (v <= 0.1)
            remainder = plane<10, 10, 9, 8, 6, 5, 4, 3, 2>(remainder_mid, v * 30 - 2, r);
        else
            remainder = plane<13, 12, 11, 10, 8, 7, 5, 4, 2, 1>(remainder_near, v * (40.0 / 3) - 7.0 / 3, r);
        double const rest = normal + divisor * (c * xi * v * remainder);
        high = normal_tail[0] + rest;
        low = (normal_tail[0] - high) + rest + normal_tail_low;
        slope = 0.5 * c * (1 + r * (1.0 / 4 + r * (1.0 / 96 - r * (1.0 / 384)))) * divisor / xi;
    }
};

/// 1/(2n + 3)
inline constexpr double odd_inverse[] = {1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11, 1.0 / 13,
                                         1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23, 1.0 / 25,
                                         1.0 / 27, 1.0 / 29, 1.0 / 31, 1.0 / 33, 1.0 / 35, 1.0 / 37,
                                         1.0 / 39, 1.0 / 41, 1.0 / 43, 1.0 / 45, 1.0 / 47, 1.0 / 49};
inline constexpr int odd_inverses = 24;

/// The series of the center form, less its leading 1.
[[nodiscard]] inline double centre_series(point const& at) noexcept {
    double const step = 2 * at.y, whole = at.y * (at.nu + 1);
    // Add the first two terms last, so that only their rounding counts.
    double const first = whole / 3, second = first * ((whole + step) * odd_inverse[1]);
    double numerator = whole + 2 * step;
    double term = second, rest = 0;
    int n = 2;
    do { // two terms at a time; the remainder is below term * ratio / (1 - ratio)
        double const last = (numerator + step) * odd_inverse[n + 1];
        double const one = term * (numerator * odd_inverse[n]);
        term = one * last;
        rest += one + term;
        if (term < 0x1p-57 && last < 0.9) break;
        numerator += 2 * step;
        n += 2;
    } while (n < odd_inverses);
    if (n == odd_inverses) { // few degrees of freedom, with t^2 close to them or larger
        double denominator = 2 * odd_inverses + 3;
        for (int i = 0; i < 400; ++i) {
            double const ratio = numerator / denominator;
            term *= ratio;
            rest += term;
            if (term < 0x1p-57 * (1 + rest) && ratio < 0.9) break;
            numerator += step;
            denominator += 2;
        }
    }
    double const sum = first + (second + rest);
    // Correct for the rounding of y; the derivative of the series follows from the density of the whole form.
    double const n2_low = at.nu > at.t_square ? at.t_square - (at.n2 - at.nu) : at.nu - (at.n2 - at.t_square);
    sum_pair const back = product(at.y, at.n2);
    double const y_low = (at.t_square - back.high) - back.low + at.t_square_low - at.y * n2_low;
    return sum + y_low * ((1 + sum) * whole - sum) / (2 * at.x * at.t_square);
}

/// 1/2 - P(T > t) by the center form, as a sum.
[[nodiscard]] inline sum_pair centre_probability(point const& at, sum_pair c, double series) noexcept {
    power const l = centre_power(at);
    sum_pair const ct = product(c.high, at.t);
    sum_pair const all = product(ct.high, l.value);
    double const more = all.high * series, high = all.high + more;
    double const low = (ct.low + c.low * at.t) * l.value + all.low + all.high * l.correction;
    double const lost = all.high > more ? more - (high - all.high) : all.high - (high - more);
    return {high, lost + low * (1 + series)};
}

} // namespace straggle::detail::student_t
