#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Writes moments.csv: mean and population variance of doubles, exactly, rounded once at the end.

usage: moments.py [--check]    without --check writes the file beside this script; with it compares

The sequences are made by a rule simple enough to be written again in C++ (see `values`); `width` is a power of
two, so that each value is rounded exactly once whatever the machine.
"""
from fractions import Fraction

from golden import write_or_check

HEADER = """\
# Exact mean and population variance of doubles. Made by moments.py in unbounded integers; no code in common with
# the library. n,seed,offset,width,first say how the values are made (see `values` in the script): uniform over
# [offset, offset + width), and the first one replaced where `first` is not empty. The variance does not depend on the order.
n,seed,offset,width,first,mean,variance
"""


def values(n, seed, offset, width, first):
    state = seed
    for i in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        x = offset + width * ((state >> 11) * 2.0**-53)
        yield first if i == 0 and first is not None else x


# Offset 1e9 standard deviations: a uniform width of 4 has deviation 1.155.
CASES = [
    (1, 1, 3.25, 4.0, None), (2, 2, 0.0, 1.0, None), (3, 3, 1e9, 4.0, None), (10, 4, 1.2e9, 4.0, None),
    (15, 5, 1.2e9, 4.0, 1e15), (16, 6, 1.2e9, 4.0, 1e15), (17, 7, 1.2e9, 4.0, 1e15), (100, 8, 1.2e9, 4.0, None),
    (1000, 9, 1.2e9, 4.0, None), (1000, 10, 1.2e9, 4.0, 0.0), (1000, 11, -1.2e9, 4.0, 1e12), (10000, 12, 1.2e9, 4.0, None),
    (100000, 13, 1.2e9, 4.0, None), (1000000, 14, 1.2e9, 4.0, None), (1000000, 15, 1.2e9, 4.0, 0.0),
    (1000000, 16, 0.0, 1.0, None), (1000000, 17, 1e-3, 2.0**-40, None), (65536, 18, 1e6, 2.0**10, 1e14),
    (65537, 19, 60.0, 64.0, None), (4097, 20, -5.0, 8.0, None),
]


def rows():
    for n, seed, offset, width, first in CASES:
        ratios = [x.as_integer_ratio() for x in values(n, seed, offset, width, first)]
        unit = max(d for _, d in ratios)
        whole = [p * (unit // d) for p, d in ratios]
        total = sum(whole)
        scaled = n * sum(x * x for x in whole) - total * total
        mean, variance = Fraction(total, n * unit), Fraction(scaled, n * n * unit * unit)
        exact = [(x.numerator / x.denominator).hex() for x in (mean, variance)]
        yield ",".join([str(n), str(seed), offset.hex(), width.hex(), "" if first is None else first.hex(), *exact]) + "\n"


if __name__ == "__main__":
    write_or_check(__file__, HEADER + "".join(rows()))
