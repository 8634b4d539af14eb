#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Writes interval.csv: confidence intervals of means, DSB algorithm 2 with both denominators.

usage: interval.py [--check]    without --check writes the file beside this script; with it compares
Needs mpmath and scipy. The quantile is found by Newton's method on mpmath's incomplete beta function at 40
digits, and compared with scipy's.
"""
import functools

import mpmath
import scipy.stats

from golden import write_or_check

mpmath.mp.dps = 40
HEADER = """\
# Confidence intervals mean +- t(1 - alpha/2, n - 1) sd / sqrt(n), sd = sqrt(squares / (n - 1)) for the sample and
# sqrt(squares / n) for the population. Made by interval.py with mpmath at 40 digits, agreeing with scipy.stats.t.
# `squares` is the sum of squared deviations. Numbers are hex floats.
n,mean,squares,level,kind,low,high
"""
LEVELS = [0.5, 0.8, 0.9, 0.95, 0.99, 0.999]


@functools.cache
def critical(level, dof):
    """The t with upper tail (1 - level) / 2: Newton's method on the definition, started at scipy's answer (right to 1e-7 there)."""
    nu, tail = mpmath.mpf(dof), (1 - mpmath.mpf(level)) / 2
    start = t = mpmath.mpf(float(scipy.stats.t.isf(float(tail), dof)))
    for _ in range(5):
        upper = mpmath.betainc(nu / 2, mpmath.mpf(1) / 2, 0, nu / (nu + t * t), regularized=True) / 2
        density = (1 + t * t / nu) ** (-(nu + 1) / 2) / (mpmath.sqrt(nu) * mpmath.beta(nu / 2, mpmath.mpf(1) / 2))
        step = (upper - tail) / density
        t += step
    assert abs(step) < 1e-35 * t and abs(t - start) < 1e-7 * t, (level, dof)
    return t


def rows():
    cases = [(n, mean, squares) for n in (2, 3, 4, 5, 10, 30, 64, 65, 66, 100, 1000, 100000)
             for mean, squares in ((0.0, 1.0), (-0.75, 12.5))]
    cases += [(2, 1.5, 0.0), (50, -3.0, 0.0), (5, 1e9, 4.0), (20, 1e-3, 1e-12)]
    for n, mean, squares in cases:
        for level in LEVELS if squares != 0 else [0.95]:
            t = critical(level, n - 1)
            for kind, degrees in ("sample", n - 1), ("population", n):
                half = t * mpmath.sqrt(mpmath.mpf(squares) / degrees) / mpmath.sqrt(n)
                ends = [float(mpmath.mpf(mean) - half), float(mpmath.mpf(mean) + half)]
                yield ",".join([str(n), mean.hex(), squares.hex(), level.hex(), kind, *(x.hex() for x in ends)]) + "\n"


if __name__ == "__main__":
    write_or_check(__file__, HEADER + "".join(rows()))
