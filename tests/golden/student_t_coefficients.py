#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Writes student_t_tables.hpp and student_t_critical_tables.hpp, from nothing but definitions, with 50 digits.

usage: student_t_coefficients.py [--check] [FOLDER]
  without --check writes both into FOLDER (default: include/straggle/stats of this source tree);
  with --check compares, and exits with 1 on a difference in any character. Needs mpmath; takes half a minute.

Fitted functions are interpolated at Chebyshev points, the Chebyshev series is cut at the stated size and then
written in powers. Every fit prints its own measured worst error to stderr.
"""
import pathlib
import sys
from fractions import Fraction

import mpmath as mp
from mpmath import mpf

mp.mp.dps = 50
FOLDER = pathlib.Path(__file__).resolve().parents[2] / "include" / "straggle" / "stats"


# --- the distribution, by definition -------------------------------------------------------------------------
def density_at_zero(nu):
    return mp.exp(mp.loggamma((nu + 1) / 2) - mp.loggamma(nu / 2)) / mp.sqrt(nu * mp.pi)


def half_erfcx(xi):
    """exp(xi^2/2) P(Z > xi)"""
    if xi < 12:
        return mp.exp(xi * xi / 2) * mp.erfc(xi / mp.sqrt(2)) / 2
    total, term, k = mpf(0), mpf(1), 0
    while abs(term) > mpf(10) ** -45 and k < 140:  # divergent, but its least term is below 1e-60 here
        total += term
        k += 1
        term *= -(2 * k - 1) / (xi * xi)
    return total / (xi * mp.sqrt(2 * mp.pi))


def centre_probability(nu, t):
    """P(0 < T < t), a series of positive terms"""
    y = t * t / (nu + t * t)
    total = term = mpf(1)
    n = 0
    while term > total * mpf(10) ** -52:
        term *= y * (nu + 1 + 2 * n) / (3 + 2 * n)
        total += term
        n += 1
    return t * density_at_zero(nu) * (1 + t * t / nu) ** (-(nu + 1) / 2) * total


def half_width_series(count):
    """sqrt(r / (1 - exp(-r))) in powers of r"""
    d = [mpf((-1) ** k) / mp.factorial(k + 1) for k in range(count)]
    inverse = [mpf(1)]
    for n in range(1, count):
        inverse.append(-sum(d[k] * inverse[n - k] for k in range(1, n + 1)))
    h = [mpf(1)]
    for n in range(1, count):
        h.append((inverse[n] - sum(h[k] * h[n - k] for k in range(1, n))) / 2)
    return h


HALF_WIDTH = half_width_series(60)


def uniform_remainder(r, v):
    """T(r, v) with P(T > t) = exp(-xi^2/2) (half_erfcx(xi) + C xi v T), v = 1/nu, r = log(1 + t^2/nu), xi^2 = nu r"""
    if v <= mpf(1) / 30:  # asymptotic in v; its least term is about exp(-pi / v)
        total = mpf(0)
        for i in range(28):
            double_factorial = mpf(1)
            for j in range(28):
                # (2(i+j)+1)!! / (2i+1)!!
                if j:
                    double_factorial *= 2 * (i + j) + 1
                total += HALF_WIDTH[i + j + 1] * double_factorial * r**i * v**j
        return total
    nu = 1 / v
    xi = mp.sqrt(nu * r)
    tail = mpf(1) / 2 - centre_probability(nu, mp.sqrt(nu * mp.expm1(r)))
    return (tail * mp.exp(nu * r / 2) - half_erfcx(xi)) / (density_at_zero(nu) * xi * v)


def gamma_ratio_fit(a):
    """Gamma(a + 1/2) sqrt(a + 1/pi) / Gamma(a + 1): 1 at both ends of (0, inf), at most 1.021 between"""
    return mp.gamma(a + mpf(1) / 2) * mp.sqrt(a + 1 / mp.pi) / mp.gamma(a + 1)


def density_loss(v):
    """(1 - sqrt(2 pi) C) / v, v = 1/nu: 1/4 at v = 0"""
    if v < mpf(10) ** -6:
        return mpf(1) / 4 - v / 32 - 5 * v**2 / 128 + 21 * v**3 / 2048 + 399 * v**4 / 8192
    return (1 - mp.sqrt(2 * mp.pi) * density_at_zero(1 / v)) / v


def quantile_upper(q, nu):
    """t with P(T > t) = q: secant steps for log P as a function of log t, which is nearly a line"""
    def excess(u):
        t = mp.exp(u)
        return mp.log(mp.betainc(nu / 2, mpf(1) / 2, 0, nu / (nu + t * t), regularized=True) / (2 * q))
    guess = normal_quantile_upper(q)
    guess = mp.log(guess + (guess**3 + guess) / (4 * nu))
    return mp.exp(mp.findroot(excess, (guess, guess + mpf(1) / 100), tol=mpf(10) ** -80))


def normal_quantile_upper(q):
    return mp.sqrt(2) * mp.erfinv(1 - 2 * q)


def cornish_fisher(order):
    """t = z + sum of a_k(z) v^k, v = 1/nu, exactly: a_k as coefficients of z, z^3, ... from the differential
    equation log dt/dz = constant(v) - z^2/2 + (1/(2v) + 1/2) log(1 + v t^2), order by order in v."""
    def multiply(a, b):  # series in v with polynomials in z (dictionaries) as coefficients
        out = [dict() for _ in range(order + 1)]
        for i, p in enumerate(a):
            for j, q in enumerate(b):
                if i + j <= order:
                    for m, c in p.items():
                        for n, d in q.items():
                            out[i + j][m + n] = out[i + j].get(m + n, 0) + c * d
        return out

    a = [{1: Fraction(1)}]
    for k in range(1, order + 1):
        t = a + [dict() for _ in range(order + 1 - len(a))]
        square = multiply(t, t)
        rest = {}

        def add(poly, factor):
            for m, c in poly.items():
                rest[m] = rest.get(m, 0) + c * factor
        # (1/(2v) + 1/2) log(1 + v t^2) = sum over n of (-1)^(n-1) t^(2n) v^(n-1) (1 + v) / (2n)
        even = square
        for n in range(1, k + 2):
            for shift in (n - 1, n):
                if 0 <= k - shift <= order:
                    add(even[k - shift], Fraction((-1) ** (n - 1), 2 * n))
            even = multiply(even, square)
        # minus log t', whose argument is 1 + small
        slope = [{m - 1: c * m for m, c in p.items()} for p in t]
        slope[0] = {}
        power = slope
        for n in range(1, k + 1):
            add(power[k], Fraction((-1) ** n, n))
            power = multiply(power, slope)
        # a_k' - z a_k = rest + constant
        c = [Fraction(0)] * (k + 2)
        for j in range(k + 1, 0, -1):
            c[j - 1] = (2 * j + 1) * c[j] - rest.get(2 * j, 0)
        a.append({2 * j + 1: c[j] for j in range(k + 1)})
    return [[p.get(2 * j + 1, Fraction(0)) for j in range(k + 1)] for k, p in enumerate(a)][1:]


# --- fits -----------------------------------------------------------------------------------------------------
def points(n, a, b):
    return [(a + b) / 2 + (b - a) / 2 * mp.cos(mp.pi * (j + mpf(1) / 2) / n) for j in range(n)]


def cosines(n):
    return [[(2 if i else 1) * mp.cos(mp.pi * i * (j + mpf(1) / 2) / n) / n for j in range(n)] for i in range(n)]


def powers_of_chebyshev(n, a, b):
    """T_i((2x - a - b)/(b - a)) in powers of x"""
    slope, offset = 2 / (b - a), -(a + b) / (b - a)
    rows = [[mpf(1)], [offset, slope]]
    for _ in range(2, n):
        last, before = rows[-1], rows[-2]
        new = [mpf(0)] * (len(last) + 1)
        for i, c in enumerate(last):
            new[i] += 2 * offset * c
            new[i + 1] += 2 * slope * c
        for i, c in enumerate(before):
            new[i] -= c
        rows.append(new)
    return rows[:n]


def fit(function, a, b, terms, extra=16):
    n = terms + extra
    values = [function(x) for x in points(n, a, b)]
    basis, powers = cosines(n), powers_of_chebyshev(terms, a, b)
    out = [mpf(0)] * terms
    for i in range(terms):
        c = sum(w * f for w, f in zip(basis[i], values))
        for k, p in enumerate(powers[i]):
            out[k] += c * p
    worst = max(abs(mp.polyval([mpf(float(c)) for c in reversed(out)], x) - function(x)) for x in points(97, a, b))
    print(f"{function.__name__} on [{mp.nstr(a, 4)}, {mp.nstr(b, 4)}], {terms} terms: {mp.nstr(worst, 3)}", file=sys.stderr)
    return out


def fit_plane(function, r_range, v_range, shape, size=18):
    """Row i holds shape[i] powers of u (v moved to [-1, 1]), for the i-th power of r."""
    v_middle, v_half = (v_range[0] + v_range[1]) / 2, (v_range[1] - v_range[0]) / 2
    rs, us = points(size, *r_range), points(size, mpf(-1), mpf(1))
    values = [[function(r, v_middle + v_half * u) for u in us] for r in rs]
    basis = cosines(size)
    half = [[sum(basis[q][j] * row[j] for j in range(size)) for q in range(size)] for row in values]
    cheb = [[sum(basis[p][i] * half[i][q] for i in range(size)) for q in range(size)] for p in range(size)]
    r_powers = powers_of_chebyshev(len(shape), *r_range)
    u_powers = powers_of_chebyshev(max(shape), mpf(-1), mpf(1))
    out = [[mpf(0)] * n for n in shape]
    for p, n in enumerate(shape):
        for q in range(n):
            for i, a in enumerate(r_powers[p]):
                for j, b in enumerate(u_powers[q]):
                    out[i][j] += cheb[p][q] * a * b

    def at(r, u):
        return sum(mp.polyval([mpf(float(c)) for c in reversed(row)], u) * r**i for i, row in enumerate(out))
    worst = max(abs(at(r, u) - function(r, v_middle + v_half * u)) for r in points(23, *r_range) for u in points(23, mpf(-1), mpf(1)))
    print(f"{function.__name__} for v in [{mp.nstr(v_range[0], 4)}, {mp.nstr(v_range[1], 4)}], {sum(shape)} terms: {mp.nstr(worst, 3)}", file=sys.stderr)
    return out


# --- writing --------------------------------------------------------------------------------------------------
def hexadecimal(x):
    x = float(x)
    return "0.0" if x == 0 else x.hex()


def low_part(x):
    return x - mpf(float(x))


def array(name, values, comment, declaration="inline constexpr double"):
    text = f"/// {comment}\n{declaration} {name}[{len(values)}] = {{\n"
    for i in range(0, len(values), 4):
        text += "    " + ", ".join(hexadecimal(x) for x in values[i : i + 4]) + ",\n"
    return text + "};\n\n"


HEAD = """// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// {what}
/// Made by tests/golden/student_t_coefficients.py, which also checks it; do not edit.
#pragma once

// clang-format off
namespace straggle::detail::student_t {{

"""
TAIL = "} // namespace straggle::detail::student_t\n// clang-format on\n"

REGIONS = [  # name, 1/nu from, to, powers of 1/nu for each power of r
    ("remainder_far", mpf(0), mpf(1) / 30, [8, 8, 7, 6, 5, 4, 3, 2, 1]),
    ("remainder_mid", mpf(1) / 30, mpf(1) / 10, [10, 10, 9, 8, 6, 5, 4, 3, 2]),
    ("remainder_near", mpf(1) / 10, mpf(1) / 4, [13, 12, 11, 10, 8, 7, 5, 4, 2, 1]),
]


def tables():
    out = HEAD.format(what="Coefficients of the Student-t tail (private part of `student_t.hpp`).")
    integers = [density_at_zero(mpf(n)) for n in range(1, 65)]
    out += array("density_at_zero_high", integers, "Density at 0 for 1..64 degrees of freedom ...")
    out += array("density_at_zero_low", [low_part(c) for c in integers], "... and what rounding took from it.")
    out += array("density_loss", fit(density_loss, mpf(0), mpf(1) / 18, 10), "(1 - sqrt(2 pi) C) nu, nu >= 18, in powers of 1/nu.")

    def gamma_ratio(k):
        return gamma_ratio_fit((1 + k) / (1 - k)) - 1
    out += array("gamma_ratio_small", fit(gamma_ratio, mpf(-1), mpf(8) / 10, 27), "Gamma(a+1/2) sqrt(a+1/pi)/Gamma(a+1) - 1, 0 < a < 9, in powers of (a-1)/(a+1).")

    def scaled_tail(k):
        xi = 4 * (1 + k) / (1 - k)
        return (xi + mpf(5) / 4) * half_erfcx(xi)
    normal = fit(scaled_tail, (mpf("0.75") - 4) / (mpf("0.75") + 4), mpf(36) / 44, 22)
    out += array("normal_tail", normal, "(xi + 5/4) exp(xi^2/2) P(Z > xi), 0.75 <= xi <= 40, in powers of (xi-4)/(xi+4) ...")
    out += f"/// ... and what rounding took from the first.\ninline constexpr double normal_tail_low = {hexadecimal(low_part(normal[0]))};\n\n"
    for name, v0, v1, shape in REGIONS:
        rows = fit_plane(uniform_remainder, (mpf(0), mpf("0.52")), (v0, v1), shape)
        flat = [c for row in rows for c in row]
        out += array(name, flat, f"Remainder of the uniform expansion for 1/nu in [{mp.nstr(v0, 4)}, {mp.nstr(v1, 4)}]: rows of {shape} powers.")
    return out + TAIL


LEVELS = [("0.90", 0.90), ("0.95", 0.95), ("0.99", 0.99), ("0.999", 0.999)]
ORDER = 10  # of the expansion of Cornish and Fisher
TERMS = 7  # left of it where 1/dof is confined to (0, 1/65]
SMALL = 64


def rows(values, indent):
    lines = [", ".join(hexadecimal(x) for x in values[i : i + 4]) for i in range(0, len(values), 4)]
    return "{\n" + ",\n".join(indent + line for line in lines) + "}"


def critical_tables():
    series = cornish_fisher(ORDER)
    assert series[0] == [Fraction(1, 4), Fraction(1, 4)] and series[1][0] == Fraction(3, 96), "Abramowitz and Stegun 26.7.5"
    out = HEAD.format(what="Critical values of the common confidence levels (private part of `student_t.hpp`).")
    out += f"/// Table size; terms of the polynomial in 1/dof; and of the expansion it comes from.\ninline constexpr int critical_small = {SMALL}, critical_terms = {TERMS}, cornish_fisher_order = {ORDER};\n\n"
    out += """/// Critical values of one level: the first ones, and t = z + sum over k of correction[k] / dof^(k+1).
struct critical_table {
    double level;
    double small_dof[critical_small];
    double normal_high, normal_low; ///< z as a sum
    double correction[critical_terms];
};

"""
    flat = [mpf(c.numerator) / c.denominator for row in series for c in row]
    out += array("cornish_fisher", flat, "Coefficient of 1/dof^k as k + 1 coefficients of z, z^3, ...; row after row.")
    shifted = [[int(c) for c in row] for row in powers_of_chebyshev(ORDER, mpf(0), mpf(1))[TERMS:]]
    for n, row in enumerate(shifted, TERMS):
        out += array(f"shifted_chebyshev_{n}", [mpf(c) for c in row], f"T_{n}(2u - 1) in powers of u.")
    out += f"inline constexpr critical_table common_levels[{len(LEVELS)}] = {{\n"
    for name, level in LEVELS:
        q = (1 - mpf(level)) / 2
        z = normal_quantile_upper(q)
        small = [quantile_upper(q, mpf(n)) for n in range(1, SMALL + 1)]
        full = [sum(mpf(c.numerator) / c.denominator * z ** (2 * j + 1) for j, c in enumerate(row)) for row in cornish_fisher(16)]

        def critical_excess(v):
            return mp.polyval(list(reversed(full)), v)
        correction = fit(critical_excess, mpf(0), mpf(1) / (SMALL + 1), TERMS)
        out += f"    {{{float(level).hex()}, // {name}\n     " + rows(small, "      ") + ",\n"
        out += f"     {hexadecimal(z)}, {hexadecimal(low_part(z))},\n     " + rows(correction, "      ") + "},\n"
        worst = max(abs(z + sum(c / mpf(n) ** (k + 1) for k, c in enumerate(correction)) - quantile_upper(q, mpf(n))) for n in (65, 70, 100, 1000))
        print(f"critical values at {name}: polynomial within {mp.nstr(worst, 3)} from 65 on", file=sys.stderr)
    return out + "};\n\n" + TAIL


def main():
    check = "--check" in sys.argv[1:]
    folder = pathlib.Path(next((a for a in sys.argv[1:] if a != "--check"), FOLDER))
    different = False
    for name, text in (("student_t_tables.hpp", tables()), ("student_t_critical_tables.hpp", critical_tables())):
        path = folder / name
        if check:
            same = path.read_text() == text
            different |= not same
            print(f"{name}: {'reproduced' if same else 'DIFFERS'}")
        else:
            path.write_text(text)
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
