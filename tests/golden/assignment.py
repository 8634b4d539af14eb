#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Writes assignment.csv: the largest sum of pairs, at most one in each row and as many in a column as it has room.

usage: assignment.py [--check]    without --check writes the file beside this script; with it compares
Needs numpy and scipy. Without a limit on the number of pairs by scipy.optimize.linear_sum_assignment, on columns that
are repeated as often as they have room; with one by the linear program (HiGHS), whose corners are whole.
"""
import numpy
import scipy.optimize
import scipy.sparse

from golden import write_or_check

HEADER = """\
# The largest sum of at most `most` pairs of a table whose values are made from the generator of golden_sequence as
# assignment.py and tests/assign/optimal_assignment.cpp say. Made with scipy.optimize, linear_sum_assignment where `most`
# is no limit and linprog (HiGHS) where it is. Sums are hex floats.
rows,columns,seed,shape,most,sum
"""


class Sequence:
    def __init__(self, seed):
        self.state = seed

    def unit(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 11) * 2.0**-53


def table(rows, columns, seed, shape):
    sequence = Sequence(seed)
    of_row = [sequence.unit() for _ in range(rows)]
    of_column = [sequence.unit() for _ in range(columns)]
    values = numpy.zeros((rows, columns))
    for i, x in enumerate(of_row):
        for j, y in enumerate(of_column):
            noise = sequence.unit()
            there = sequence.unit() < 0.8
            value = {"uniform": noise, "sum": 400 * x - 150 * y + 5 * noise,
                     "product": 1000 * x * (0.2 + y) * (1 + noise), "whole": float(int(10 * noise)) + 1}[shape]
            values[i, j] = max(value, 0.0) if there else 0.0
    room = [int(sequence.unit() * 3) for _ in range(columns)]
    return values, room


def without_limit(values, room):
    places = numpy.repeat(values, room, axis=1)
    rows, columns = scipy.optimize.linear_sum_assignment(places, maximize=True)
    return float(sum(places[r, c] for r, c in zip(rows, columns)))


def with_limit(values, room, most):
    rows, columns = values.shape
    constraints = scipy.sparse.vstack([
        scipy.sparse.kron(scipy.sparse.eye(rows), numpy.ones((1, columns))),
        scipy.sparse.kron(numpy.ones((1, rows)), scipy.sparse.eye(columns)),
        numpy.ones((1, rows * columns))]).tocsr()
    bounds = numpy.concatenate([numpy.ones(rows), room, [most]])
    answer = scipy.optimize.linprog(-values.ravel(), A_ub=constraints, b_ub=bounds, bounds=(0, 1), method="highs-ds")
    assert answer.status == 0
    chosen = answer.x.round()
    assert numpy.abs(chosen - answer.x).max() < 1e-7 and (constraints @ chosen <= bounds).all()
    return float(sum(v for v, c in zip(values.ravel(), chosen) if c))


def lines():
    for rows, columns, seed in (1, 5, 1), (5, 1, 2), (20, 30, 3), (60, 40, 4), (100, 100, 5), (30, 300, 6), (300, 40, 7):
        for shape in "uniform", "sum", "product", "whole":
            values, room = table(rows, columns, seed, shape)
            best = without_limit(values, room)
            for most in sorted({rows, rows // 2, rows // 8}, reverse=True):
                total = best if most == rows else with_limit(values, room, most)
                assert total <= best * (1 + 1e-12)
                yield f"{rows},{columns},{seed},{shape},{most},{total.hex()}\n"
            assert abs(with_limit(values, room, rows) - best) <= 1e-9 * best


if __name__ == "__main__":
    write_or_check(__file__, HEADER + "".join(lines()))
