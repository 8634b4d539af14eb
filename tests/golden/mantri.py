#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Writes mantri.csv: the probability that a running task outlasts a copy of it by Mantri's factor.

usage: mantri.py [--check]    without --check writes the file beside this script; with it compares
Needs mpmath and scipy. The tail of the normal distribution is mpmath's at 40 digits, compared with scipy's.
"""
import mpmath
import scipy.stats

from golden import write_or_check

mpmath.mp.dps = 40
HEADER = """\
# P(t_rem > (t_new + start_up) (c + 1) / c): t_rem normal with mean and sd (sd 0: exactly the mean), t_new drawn from
# n times 10 + 90 u, u from the generator of golden_sequence. Made by mantri.py with mpmath, agreeing with scipy.stats.norm.
# Numbers are hex floats.
n,seed,mean,sd,copies,start_up,p
"""


def times(n, seed):
    state = seed
    for _ in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield 10 + 90 * ((state >> 11) * 2.0**-53)


def probability(finished, mean, sd, copies, start_up):
    limits = [(mpmath.mpf(x) + start_up) * (copies + 1) / copies for x in finished]
    if sd == 0:
        return mpmath.fsum(mean > limit for limit in limits) / len(limits)
    p = mpmath.fsum(mpmath.ncdf((mean - limit) / sd) for limit in limits) / len(limits)
    check = sum(scipy.stats.norm.sf([float(x) for x in limits], mean, sd)) / len(limits)
    assert abs(p - check) < 1e-12
    return p


def rows():
    for n, seed in (5, 1), (40, 2), (300, 3):
        for mean in 25, 60, 110, 190:
            for sd in 0, 0.5, 12, 80:
                for copies, start_up in (1, 0), (2, 0), (1, 7.5):
                    p = probability(list(times(n, seed)), mean, sd, copies, start_up)
                    yield ",".join([str(n), str(seed), float(mean).hex(), float(sd).hex(), str(copies),
                                    float(start_up).hex(), float(p).hex()]) + "\n"


if __name__ == "__main__":
    write_or_check(__file__, HEADER + "".join(rows()))
