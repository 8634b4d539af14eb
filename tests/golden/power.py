#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Writes power.csv: the energy of schedules by plain integration, exactly, rounded once at the end.

usage: power.py [--check]    without --check writes the file beside this script; with it compares

Between two neighbouring events of a node the running tasks are counted one by one: O(n^2), and no code or method
in common with the library. The schedules are made by a rule simple enough to be written again in C++ (see
`intervals`).
"""
from fractions import Fraction

from golden import write_or_check

HEADER = """\
# Energy of schedules. Made by power.py in exact fractions; no code in common with the library. seed,n,nodes,offset,width,length
# say how the attempts are made (see `intervals` in the script); static,dynamic,cores,threads are the power model of
# section 4.1 of the evaluation framework. node_time: with a task; overcommitted: with more than cores * threads.
seed,n,nodes,offset,width,length,static,dynamic,cores,threads,joules,node_time,task_time,overcommitted
"""


def intervals(seed, n, nodes, offset, width, length):
    state = seed

    def draw():
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return state

    for _ in range(n):
        node = (draw() >> 33) % nodes
        start = offset + width * ((draw() >> 11) * 2.0**-53)
        long = length * ((draw() >> 11) * 2.0**-53)
        kind = draw() >> 61
        if kind == 0:  # no time at all
            long = 0.0
        elif kind == 1:  # many events at the same moment
            start, long = float(int(start)), float(int(long))
        yield node, start, start + long


def energy(attempts, static, dynamic, cores, threads):
    joules = node_time = task_time = overcommitted = Fraction(0)
    for node in {a[0] for a in attempts}:
        own = [(Fraction(s), Fraction(e)) for n, s, e in attempts if n == node]
        moments = sorted({t for a in own for t in a})
        for left, right in zip(moments, moments[1:]):
            running = sum(s <= left and right <= e for s, e in own)
            if running == 0:
                continue
            watts = Fraction(static) + min(running, cores) * Fraction(dynamic)
            joules += watts * (right - left)
            node_time += right - left
            task_time += running * (right - left)
            if running > cores * threads:
                overcommitted += right - left
    return joules, node_time, task_time, overcommitted


CASES = [  # seed, n, nodes, offset, width, length, static, dynamic, cores, threads
    (1, 1, 1, 0.0, 100.0, 50.0, 65.0, 17.0, 4, 2),
    (2, 2, 1, 0.0, 100.0, 500.0, 65.0, 17.0, 4, 2),
    (3, 10, 1, 0.0, 100.0, 500.0, 65.0, 17.0, 4, 2),
    (4, 40, 1, 0.0, 100.0, 300.0, 65.0, 17.0, 4, 2),
    (5, 160, 20, 0.0, 100.0, 60.0, 65.0, 17.0, 4, 2),
    (6, 320, 20, 0.0, 200.0, 120.0, 65.0, 17.0, 4, 2),
    (7, 320, 20, 1.5e9, 200.0, 120.0, 65.0, 17.0, 4, 2),
    (8, 100, 3, 0.0, 50.0, 7.0, 0.0, 17.3, 1, 1),
    (9, 100, 3, 0.0, 50.0, 7.0, 91.7, 0.0, 2, 1),
    (10, 200, 7, -1000.0, 10.0, 3.0, 0.1, 0.7, 3, 4),
    (11, 64, 64, 0.0, 1.0, 1e-6, 65.0, 17.0, 4, 2),
    (12, 150, 2, 0.0, 1e-3, 1e6, 65.0, 17.0, 64, 2),
]


def rows():
    for case in CASES:
        exact = energy(list(intervals(*case[:6])), *case[6:])
        rounded = [(x.numerator / x.denominator).hex() for x in exact]
        cells = [x.hex() if isinstance(x, float) else str(x) for x in case]
        yield ",".join([*cells, *rounded]) + "\n"


if __name__ == "__main__":
    write_or_check(__file__, HEADER + "".join(rows()))
