#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Writes kmeans.csv: inertia and Calinski-Harabasz scores as scikit-learn finds them.

usage: kmeans.py [--check]    without --check writes the file beside this script; with it compares
Needs numpy and scikit-learn (made with 1.2.1).

The tables are made by rules simple enough to be written again in C++ (see `table`), in double precision.
"""
import numpy
from sklearn.cluster import KMeans
from sklearn.metrics import calinski_harabasz_score

from golden import write_or_check

HEADER = """\
# k-means. Made by kmeans.py with scikit-learn's KMeans (n_init = 10) and calinski_harabasz_score. rule, n, d, seed say
# how the table and the labels are made (see `table` in the script). inertia: the best of ten restarts with k groups, the
# median over 15 random states; score: of the labels of the rule. The score is a hex float,
# the inertia has six digits: the last ones depend on how many threads scikit-learn has.
rule,n,d,k,seed,inertia,score
"""


def table(rule, n, d, k, seed):
    state = seed

    def unit():
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 11) * 2.0**-53

    rows, labels = [], []
    for i in range(n):
        label = i * 13 % k
        row = [unit() for _ in range(d)]
        if rule == "blobs":  # far apart, of one size
            row = [x + (8.0 if c % k == label else 0.0) for c, x in enumerate(row)]
        elif rule == "unequal":  # most in the first group
            label = 0 if i % 8 else label
            row = [x + (4.0 if c % k == label else 0.0) for c, x in enumerate(row)]
        elif rule == "offset":  # small differences of large numbers
            row = [1000.0 + x for x in row]
        elif rule == "grid":  # many equal rows
            row = [1.0 if x < 0.25 else 0.0 for x in row]
        elif rule == "constant":  # columns that tell nothing
            row = [x if c % 3 == 0 else 5.0 for c, x in enumerate(row)]
        rows.append(row)
        labels.append(label)
    return numpy.array(rows), numpy.array(labels)


CASES = [("blobs", 116, 90, 4, 1), ("blobs", 1000, 6, 6, 2), ("unequal", 116, 90, 5, 3), ("uniform", 200, 3, 7, 4),
         ("uniform", 2500, 2, 5, 5), ("offset", 100, 5, 3, 6), ("grid", 300, 3, 4, 7), ("constant", 90, 9, 3, 8),
         ("uniform", 116, 90, 10, 9), ("uniform", 12, 2, 11, 10)]


def main():
    text = HEADER
    for rule, n, d, k, seed in CASES:
        rows, labels = table(rule, n, d, k, seed)
        inertia = numpy.median([KMeans(k, n_init=10, random_state=r).fit(rows).inertia_ for r in range(15)])
        score = calinski_harabasz_score(rows, labels)
        text += f"{rule},{n},{d},{k},{seed},{inertia:.6g},{float(score).hex()}\n"
    write_or_check(__file__, text)


if __name__ == "__main__":
    main()
