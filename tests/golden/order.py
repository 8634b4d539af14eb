#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Writes order.csv: quantiles by NumPy's and R's definition 7, the default of both.

usage: order.py [--check]    without --check writes the file beside this script; with it compares
Needs numpy, and Rscript on the PATH.

The values are made by a rule simple enough to be written again in C++ (see `values`).
"""
import subprocess

import numpy

from golden import write_or_check

HEADER = """\
# Quantiles, definition 7 of Hyndman and Fan. Made by order.py with numpy.quantile and R's quantile(type = 7). rule,n,seed
# say how the values are made (see `values` in the script); numbers are hex floats.
rule,n,seed,q,numpy,r
"""
QS = [0.0, 0.001, 0.05, 0.1, 0.25, 1 / 3, 0.5, 2 / 3, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0]


def values(rule, n, seed):
    state = seed
    for _ in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        x = (state >> 11) * 2.0**-53
        if rule == "uniform":
            yield x
        elif rule == "signed":
            yield 1024.0 * x - 512.0
        elif rule == "ties":  # few distinct values
            yield float(state >> 61)
        elif rule == "tail":  # heavy: 1 / x
            yield 1.0 / (x + 2.0**-20)


CASES = [(rule, n, seed) for seed, rule in enumerate(("uniform", "signed", "ties", "tail"), 1)
         for n in (1, 2, 3, 4, 5, 10, 11, 100, 1001)]


def by_r(data):
    numbers = ",".join(x.hex() for x in data)
    qs = ",".join(q.hex() for q in QS)
    return f'cat(sprintf("%a", quantile(c({numbers}), c({qs}), type = 7, names = FALSE)), sep = "\\n")\n'


def rows():
    data = {case: list(values(*case)) for case in CASES}
    script = "".join(by_r(v) + 'cat("\\n")\n' for v in data.values())
    run = subprocess.run(["Rscript", "-"], input=script, capture_output=True, text=True, check=True)
    from_r = iter(run.stdout.split())
    for case, v in data.items():
        for q in QS:
            exact = [float(numpy.quantile(v, q)), float.fromhex(next(from_r))]
            yield ",".join(map(str, [*case, q.hex(), *(x.hex() for x in exact)])) + "\n"


if __name__ == "__main__":
    write_or_check(__file__, HEADER + "".join(rows()))
