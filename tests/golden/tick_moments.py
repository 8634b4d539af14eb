#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Writes tick_moments.csv: moments of integer sequences in unbounded integers, rounded once at the end.

usage: tick_moments.py [--check]    without --check writes the file beside this script; with it compares

The sequences are made by a rule simple enough to be written again in C++ (see `values`), so that only their
parameters are stored. Real results are stored as two doubles, high + low, so that an error can be measured in
fractions of a unit in the last place.
"""
from fractions import Fraction

from golden import write_or_check

HEADER = """\
# Exact moments of integer sequences. Made by tick_moments.py with Python's unbounded integers; no code in common
# with the library. rule,n,seed,offset,shift say how the values are made (see `values` in the script);
# `sum` is exact; mean, squares (sum of squared deviations) and variance (population) are high + low in hex floats.
# Then the plain sums in hexadecimal: how many values, their sum in two's complement of 128 bits, the sum of their
# squares; and the least sum of squares that so many values with that sum can have.
rule,n,seed,offset,shift,sum,mean_floor,mean_high,mean_low,squares_high,squares_low,variance_high,variance_low,\
count_hex,sum_hex,square_sum_hex,least_square_sum_hex
"""
LEAST, MOST = -(2**63), 2**63 - 1


def values(rule, n, seed, offset, shift):
    state = seed
    for i in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        if rule == "equal":  # all the same
            yield offset
        elif rule == "ends":  # the two ends of the range in turn
            yield MOST if i % 2 else LEAST
        elif rule == "up":  # offset and above
            yield offset + (state >> shift)
        elif rule == "down":  # offset and below
            yield offset - (state >> shift)
        elif rule == "first":  # the first one takes what the sum should be, the others are zero
            yield offset if i == 0 else 0
        elif rule == "wide":  # any 64 bits
            yield state - 2**64 if state >= 2**63 else state


def groups(n, seed):
    """Groups of values of which only these are known: mean, how many, sum of squared deviations from the mean."""
    state = seed
    for i in range(n):
        drawn = []
        for _ in range(5):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            drawn.append(state)
        mean = (drawn[0] - 2**64 if drawn[0] >= 2**63 else drawn[0]) >> drawn[1] % 64
        values = (drawn[1] >> (8 + drawn[2] % 56)) + 1
        deviations = 0 if i % 3 == 0 else (drawn[2] << 128 | drawn[3] << 64 | drawn[4]) >> 16 + drawn[3] % 176
        yield mean, values, deviations


CASES = [
    ("equal", 1, 0, 0, 0), ("equal", 1, 0, LEAST, 0), ("equal", 1, 0, MOST, 0), ("equal", 7, 0, -3, 0),
    ("equal", 1000, 0, MOST, 0), ("equal", 1001, 0, LEAST, 0), ("equal", 100000, 0, 10**18, 0),
    ("ends", 2, 0, 0, 0), ("ends", 3, 0, 0, 0), ("ends", 4, 0, 0, 0), ("ends", 1001, 0, 0, 0), ("ends", 100000, 0, 0, 0),
    ("up", 2, 1, 0, 60), ("up", 3, 2, 0, 54), ("up", 5, 3, 0, 1), ("up", 100, 4, 10**18, 63), ("up", 100, 5, 10**18, 60),
    ("up", 1000, 6, -(10**18), 58), ("up", 10000, 7, 10**18, 40), ("up", 100000, 8, 10**18, 54), ("up", 100000, 9, 0, 34),
    ("up", 100000, 10, 1_600_000_000_000_000_000, 63), ("up", 99999, 11, LEAST, 44), ("up", 17, 12, MOST - 15, 60),
    ("down", 10, 13, 0, 54), ("down", 1000, 14, -(10**18), 50), ("down", 100000, 15, -5, 32), ("down", 5, 16, MOST, 1),
    ("down", 65536, 17, 0, 55), ("down", 65537, 18, -(2**53), 62),
    ("wide", 2, 19, 0, 0), ("wide", 3, 20, 0, 0), ("wide", 1000, 21, 0, 0), ("wide", 99999, 22, 0, 0), ("wide", 100000, 23, 0, 0),
    *[("group", n, 100 + n, 0, 0) for n in (1, 2, 3, 5, 20)],
    ("up", 10, 24, 2**53 - 4, 61), ("up", 10, 25, -(2**53) - 4, 61), ("up", 31, 26, 10**15, 63), ("up", 12345, 27, 60_000, 50),
    # Sums just above a half way point of double, divided by a little more than a power of two: the mean has the
    # largest error that rounding the sum and then the quotient can give, 1.5 units in the last place.
    *[("first", 2**k + 1, 0, 2**60 + 2**7 + d, 0) for k in (2, 5, 8, 10) for d in (1, 3, 5, 7, 9, 11)],
    *[("first", 2**k + 1, 0, -(2**60 + 2**7 + d), 0) for k in (2, 5, 8, 10) for d in (1, 13)],
    # The same for the squared deviations and the variance, found by search: 1.48 and 2.46 units in the last place.
    *[("first", n, 0, v, 0) for n, v in ((1025, 1073744321), (257, 1073742529), (1025, 1074328639), (257, 1075993919))],
]


def two_doubles(x):
    high = x.numerator / x.denominator  # int / int rounds correctly
    rest = x - Fraction(high)
    return f"{high.hex()},{(rest.numerator / rest.denominator).hex()}"


def rows():
    for case in CASES:
        if case[0] == "group":
            v = list(groups(*case[1:3]))
            n, total = sum(g[1] for g in v), sum(g[0] * g[1] for g in v)
            squares = sum(mean * mean * values + deviations for mean, values, deviations in v)
        else:
            v = list(values(*case))
            n, total, squares = len(v), sum(v), sum(x * x for x in v)
            assert min(v) >= LEAST and max(v) <= MOST
        assert len(v) == case[1] and n < 2**64 and squares < 2**192
        scaled = n * squares - total * total
        yield ",".join(map(str, [*case, total, total // n, two_doubles(Fraction(total, n)),
                                 two_doubles(Fraction(scaled, n)), two_doubles(Fraction(scaled, n * n)),
                                 f"{n:x}", f"{total % 2**128:x}", f"{squares:x}", f"{-(-total * total // n):x}"])) + "\n"


if __name__ == "__main__":
    write_or_check(__file__, HEADER + "".join(rows()))
