#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Writes weights.csv: weights of factors by least squares, exact, for both objectives.

usage: weights.py [--check]    without --check writes the file beside this script; with it compares
Needs numpy and scipy.

The pairs are made by rules simple enough to be written again in C++ (see `pairs`), in double precision. scipy only says
which weights are positive: scipy.optimize.nnls on the pairs less their means (affine), minimize(method="SLSQP") over the
simplex. The weights of those are solved for in fractions, and the conditions of the optimum are checked in
fractions, so it does not matter how good scipy's numbers are.
"""
from fractions import Fraction

import numpy
import scipy.optimize

from golden import write_or_check

HEADER = """\
# Weights of factors. Made by weights.py with scipy (which are positive) and fractions (how large, and that it is the
# optimum). rule, q, n, seed say how the n pairs with q factors are made (see `pairs` in the script). error: the least mean
# squared error. Then q weights; none if none is positive. Numbers are hex floats.
objective,rule,q,n,seed,error,weights
"""


def pairs(rule, q, n, seed):
    state = seed

    def unit():
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 11) * 2.0**-53

    for _ in range(n):
        s = [unit() for _ in range(q)]
        noise = unit()
        if rule == "noise":  # nothing tells anything
            r = noise
        elif rule == "some":  # the first half of the factors tell something
            r = 0.25 * noise
            for k in range((q + 1) // 2):
                r += 0.75 / ((q + 1) // 2) * s[k]
        elif rule == "same":  # categories: 0 or 1; the one that matters most is the last
            s = [1.0 if x < 0.5 else 0.0 for x in s]
            r = 0.5 * noise + 0.125 * s[0] + 0.25 * s[q - 1]
        elif rule == "skewed":  # most are nearly 1, as where a few values are far out
            s = [1.0 - x * x * x * x for x in s]
            r = 0.5 * noise + 0.5 * s[0] * s[0]
        elif rule == "flat":  # the first is always the same
            s[0] = 0.75
            r = 0.5 * noise + 0.5 * s[q - 1]
        elif rule == "against":  # the more similar the factors the less the times
            r = 1.0 - s[0]
        yield s, r


CASES = [(rule, q, n, 1000 * q + n + i) for i, rule in enumerate(("noise", "some", "same", "skewed", "flat"))
         for q in (2, 3, 4, 8, 16) for n in (3 * q, 120)]
CASES += [("against", 1, 9, 1), ("some", 1, 9, 2)]


def solve(a, b):
    """Gauss in fractions."""
    n = len(b)
    m = [list(row) + [x] for row, x in zip(a, b)]
    for i in range(n):
        pivot = next(j for j in range(i, n) if m[j][i] != 0)
        m[i], m[pivot] = m[pivot], m[i]
        for j in range(i + 1, n):
            if m[j][i] != 0:
                f = m[j][i] / m[i][i]
                m[j] = [x - f * y for x, y in zip(m[j], m[i])]
    x = [Fraction(0)] * n
    for i in reversed(range(n)):
        x[i] = (m[i][n] - sum(m[i][k] * x[k] for k in range(i + 1, n))) / m[i][i]
    return x


def dot(x, y):
    return sum(a * b for a, b in zip(x, y))


def affine(s, r):
    """Weights in fractions and the mean squared error."""
    n, q = len(r), len(s)
    centred = [[x - sum(column) / n for x in column] for column in s]
    target = [x - sum(r) / n for x in r]
    a = numpy.array([[float(x) for x in column] for column in centred]).T
    positive = [k for k, x in enumerate(scipy.optimize.nnls(a, numpy.array([float(x) for x in target]))[0])
                if x > 1e-12 and any(centred[k])]
    gram = [[dot(centred[k], centred[l]) for l in positive] for k in positive]
    x = solve(gram, [dot(centred[k], target) for k in positive])
    left = [t - sum(c * centred[k][i] for c, k in zip(x, positive)) for i, t in enumerate(target)]
    assert all(c > 0 for c in x)
    assert all(dot(centred[k], left) == 0 if k in positive else dot(centred[k], left) <= 0 for k in range(q))
    weights = [Fraction(0)] * q
    for c, k in zip(x, positive):
        weights[k] = c / sum(x)
    return weights if positive else [], dot(left, left) / n


def simplex(s, r):
    n, q = len(r), len(s)
    a, b = numpy.array([[float(x) for x in column] for column in s]).T, numpy.array([float(x) for x in r])
    found = scipy.optimize.minimize(lambda w: ((a @ w - b) ** 2).mean(), numpy.ones(q) / q, method="SLSQP",
                                    jac=lambda w: 2 * a.T @ (a @ w - b) / n, bounds=[(0, 1)] * q,
                                    constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": numpy.ones_like},
                                    options={"ftol": 1e-15, "maxiter": 1000})
    positive = [k for k, x in enumerate(found.x) if x > 1e-6]
    # With the multiplier of sum w = 1 as one more unknown.
    system = [[dot(s[k], s[l]) for l in positive] + [Fraction(1)] for k in positive]
    system.append([Fraction(1)] * len(positive) + [Fraction(0)])
    *x, multiplier = solve(system, [dot(s[k], r) for k in positive] + [Fraction(1)])
    left = [t - sum(c * s[k][i] for c, k in zip(x, positive)) for i, t in enumerate(r)]
    assert all(c > 0 for c in x) and sum(x) == 1
    assert all(dot(s[k], left) == multiplier if k in positive else dot(s[k], left) <= multiplier for k in range(q))
    weights = [Fraction(0)] * q
    for c, k in zip(x, positive):
        weights[k] = c
    return weights, dot(left, left) / n


def rows():
    for rule, q, n, seed in CASES:
        data = list(pairs(rule, q, n, seed))
        s = [[Fraction(row[k]) for row, _ in data] for k in range(q)]
        r = [Fraction(x) for _, x in data]
        for objective in affine, simplex:
            weights, error = objective(s, r)
            yield ",".join([objective.__name__, rule, str(q), str(n), str(seed), float(error).hex(),
                            *(float(w).hex() for w in weights)]) + "\n"


if __name__ == "__main__":
    write_or_check(__file__, HEADER + "".join(rows()))
