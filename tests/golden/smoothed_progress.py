#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Writes smoothed_progress.csv: speeds smoothed as sums over all readings, not by recursion.

usage: smoothed_progress.py [--check]    without --check writes the file beside this script; with it compares
Needs mpmath.

The readings are made by rules simple enough to be written again in C++ (see `readings`), in double precision; what
follows from them is computed at 50 digits. `constant`, `slowing` and `stall` are those of Hadoop's
TestSimpleExponentialForecast: a reading each 1000 ms, the first of them still 0. With `+` behind the name the task has
moved at the first reading.
"""
import mpmath

from golden import write_or_check

mpmath.mp.dps = 50
HEADER = """\
# Speeds of tasks by exponential smoothing. Made by smoothed_progress.py with mpmath at 50 digits: the weighted sum of all
# speeds, each weight from the definition, instead of the recursion. rule,seed,n say how the readings are made (see
# `readings` in the script; n = 0: as many as Hadoop's test makes). warm_up is empty for exponential_rate.
# errors is the sum of squared one-step errors. Numbers are hex floats.
rule,seed,n,tau,warm_up,rate,remaining,errors
"""


def readings(rule, seed, n):
    """(elapsed, progress), the first of them after the start."""
    if rule == "jitter":  # uneven steps of time, uneven speeds, now and then none
        state, elapsed, progress = seed, 0.0, 0.0
        for _ in range(n):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            elapsed += 0.25 + 8 * ((state >> 11) * 2.0**-53)
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            x = (state >> 11) * 2.0**-53
            progress += 0.0 if x < 0.25 else x / (2 * n)
            yield elapsed, progress
        return
    moved, rule = rule.endswith("+"), rule.rstrip("+")
    speeds = {"constant": [0.005] * 4, "slowing": [0.005, 0.004, 0.002, 0.001],
              "stall": [0.005, 0.004, 0.002, 0.0, 0.003]}[rule]
    elapsed, progress, count = 0.0, speeds[0] if moved else 0.0, 0
    while progress <= 1.0:
        elapsed += 1000.0
        yield elapsed, progress
        phase = 4 if rule == "stall" and count > 1000 else int(progress / 0.25)
        count += 1
        progress += speeds[phase]


def smooth(points, tau, warm_up):
    """The rate, and the sum of squared errors of the rate before each point as a forecast of its speed."""
    times = [mpmath.mpf(0)] + [mpmath.mpf(t) for t, _ in points]
    done = [mpmath.mpf(0)] + [mpmath.mpf(p) for _, p in points]
    speeds = [(done[i] - done[i - 1]) / (times[i] - times[i - 1]) for i in range(1, len(times))]
    keeps = []  # what a step leaves of the older speed
    for i in range(1, len(times)):
        if warm_up is not None and i == warm_up + 1:
            tau = max(tau, times[i])
        keeps.append(mpmath.exp(-(times[i] - times[i - 1]) / tau))

    def rate(n):  # from the first n readings
        total, fade = mpmath.mpf(0), mpmath.mpf(1)
        for i in reversed(range(1, n)):
            total += fade * (1 - keeps[i]) * speeds[i]
            fade *= keeps[i]
        return total + fade * speeds[0]

    errors = mpmath.fsum((speeds[n] - rate(n)) ** 2 for n in range(1, len(speeds)))
    return rate(len(speeds)), errors


CASES = [(rule + moved, 0, 0, tau, 12) for moved in ("", "+")
         for rule, tau in (("constant", 10000), ("slowing", 800), ("stall", 800))]
CASES += [("slowing", 0, 0, 60000, None), ("stall", 0, 0, 60000, None)]
CASES += [("jitter", seed, n, tau, warm_up) for seed in (1, 2, 3) for n in (1, 2, 25, 60) for tau in (5, 60, 600)
          for warm_up in (None, 0, 24)]


def rows():
    for rule, seed, n, tau, warm_up in CASES:
        points = list(readings(rule, seed, n))
        rate, errors = smooth(points, mpmath.mpf(tau), warm_up)
        left = 1 - mpmath.mpf(points[-1][1])
        remaining = float(left / rate).hex() if rate > 0 else ""
        yield ",".join([rule, str(seed), str(n), str(tau), "" if warm_up is None else str(warm_up),
                        float(rate).hex(), remaining, float(errors).hex()]) + "\n"


if __name__ == "__main__":
    write_or_check(__file__, HEADER + "".join(rows()))
