#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Writes score_groups.csv: mean and squared deviations of the scores that one job has on one node, exactly.

usage: score_groups.py [--check]    without --check writes the file beside this script; with it compares

A score is (x - mean of the job) / deviation of the job (DSB equation 1). Fractions throughout; the one square root
is taken of an integer, to 400 bits.
"""
from fractions import Fraction
from math import isqrt

from golden import write_or_check

HEADER = """\
# Scores of one job on one node. Made by score_groups.py in fractions; no code in common with the library.
# The durations of the job are offset + (state >> shift) of the golden sequence; the first `on_node` of `n` are on the
# node. mean: of their scores; squares: sum of squared deviations of their scores from that; high + low in hex floats.
n,on_node,seed,offset,shift,mean_high,mean_low,squares_high,squares_low
"""

CASES = [(n, k, 10 * n + k + shift, offset, shift)
         for n, k in ((5, 1), (5, 2), (6, 6), (40, 3), (40, 39), (1000, 500), (3000, 2))
         for offset, shift in ((0, 50), (10**12, 61), (2**62, 63), (0, 2), (1, 34))]


def two_doubles(x):
    high = x.numerator / x.denominator  # int / int rounds correctly
    rest = x - Fraction(high)
    return f"{high.hex()},{(rest.numerator / rest.denominator).hex()}"


def root(x):
    bits = 400
    return Fraction(isqrt(x.numerator * 4**bits // x.denominator), 2**bits)


def rows():
    for n, k, seed, offset, shift in CASES:
        state, v = seed, []
        for _ in range(n):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            v.append(offset + (state >> shift))
        mean, own = Fraction(sum(v), n), Fraction(sum(v[:k]), k)
        variance = Fraction(sum(x * x for x in v), n) - mean * mean
        deviations = sum(x * x for x in v[:k]) - own * own * k
        yield ",".join(map(str, [n, k, seed, offset, shift, two_doubles((own - mean) / root(variance)),
                                 two_doubles(deviations / variance)])) + "\n"


if __name__ == "__main__":
    write_or_check(__file__, HEADER + "".join(rows()))
