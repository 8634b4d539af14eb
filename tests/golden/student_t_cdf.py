#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Writes student_t_cdf.csv beside itself: P(T > t) of Student's t distribution from mpmath.

Two independent ways must agree to 25 digits before a row is written: the regularised incomplete beta function,
and numerical integration of the density in the variable log t (dof <= 10) or t; above 200 the beta function of mpmath
is out of its depth, and the integral is compared with itself at 70 digits.
Columns: dof and t as hexadecimal doubles, 30 digits of the probability, and its nearest double.
"""
import pathlib

import mpmath as mp
from mpmath import mpf

mp.mp.dps = 50

DOF = [1e-2, 0.1, 0.5, 0.75, 1.0, 1.1, 2.0, 3.0, 3.7, 4.0, 5.5, 9.0, 17.3, 29.0, 30.0, 64.0, 100.5, 1e3, 12345.6, 1e6, 1e9, 1e15, float("inf")]
T = [1e-20, 1e-5, 0.1, 0.5, 0.83, 0.99, 1.3, 1.7, 2.5, 4.0, 7.0, 12.0, 20.0, 37.0, 1e3, 1e7, 1e20, 1e100, 1e300]


def by_beta(t, nu):
    return mp.betainc(nu / 2, mpf(1) / 2, 0, nu / (nu + t * t), regularized=True) / 2


def by_integral(t, nu):
    if nu == mp.inf:
        return mp.erfc(t / mp.sqrt(2)) / 2 if t < 100 else mpf(0)
    c = mp.exp(mp.loggamma((nu + 1) / 2) - mp.loggamma(nu / 2)) / mp.sqrt(nu * mp.pi)

    def density(s):
        return c * mp.exp(-(nu + 1) / 2 * mp.log1p(s * s / nu))
    if t < mpf(1) / 2:
        return mpf(1) / 2 - mp.quad(density, [0, t])
    width = (t + nu / t) / (nu + 1) if nu > 1 else t  # how far the tail falls by e
    if nu > 10:
        reach = 8 if nu > 200 else 190 // int(nu) + 8
        scale = density(t) * width
        return scale * mp.quad(lambda s: density(s) / scale, [t] + [t + 2**k * width for k in range(reach)])
    # s = t exp(u), in panels, up to where only the leading power of s counts
    panel = min(3 / nu, mpf(1))
    end = 65 + max(mpf(0), mp.log(mp.sqrt(nu) / t))
    points = [end * k / mp.ceil(end / panel) for k in range(int(mp.ceil(end / panel)) + 1)]
    rest = c * nu ** ((nu - 1) / 2) * (t * mp.exp(end)) ** -nu
    scale = density(t) * t  # mpmath stops at an absolute error
    return scale * mp.quad(lambda u: density(t * mp.exp(u)) * t * mp.exp(u) / scale, points) + rest


def main():
    lines = []
    for dof in DOF:
        for t in T:
            nu, x = mpf(dof), mpf(t)
            with mp.workdps(50):
                value = by_integral(x, nu)
                if nu <= 200:
                    other = by_beta(x, nu)
                else:
                    with mp.workdps(70):
                        other = by_integral(x, nu)
            if value < mpf("5e-324"):
                continue
            assert abs(value / other - 1) < mpf(10) ** -25, (dof, t, value, other)
            lines.append(f"{dof.hex()},{t.hex()},{mp.nstr(value, 30)},{float(value).hex()}")
    head = "# P(T > t), made by tests/golden/student_t_cdf.py with mpmath at 50 digits\n"
    path = pathlib.Path(__file__).with_name("student_t_cdf.csv")
    path.write_text(head + "dof_hex,t_hex,upper_30digits,upper_nearest_double_hex\n" + "\n".join(lines) + "\n")
    print(len(lines), "rows")


if __name__ == "__main__":
    main()
