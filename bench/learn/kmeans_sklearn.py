#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Times scikit-learn's k-means sweep in turn with bench_learn_kmeans: the same rows, one thread each, processor time.

usage: kmeans_sklearn.py PROGRAM [ROUNDS]    PROGRAM is bench_learn_kmeans; prints medians and ratios
Needs numpy, scikit-learn and threadpoolctl.
"""
import json
import statistics
import subprocess
import sys
import time

import numpy
import threadpoolctl
from sklearn.cluster import KMeans
from sklearn.metrics import calinski_harabasz_score

COLUMNS = 90


def rows(n, apart):
    state, values = 42, numpy.empty((n, COLUMNS))
    for i in range(n):
        for c in range(COLUMNS):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            values[i, c] = (state >> 11) * 2.0**-53 + (apart if c % 5 == i % 5 else 0.0)
    return values


def theirs(values):
    begin, inertia = time.process_time(), 0.0
    for k in range(2, 11):
        fitted = KMeans(k, n_init=10, random_state=1).fit(values)
        calinski_harabasz_score(values, fitted.labels_)
        inertia += fitted.inertia_
    return 1e3 * (time.process_time() - begin), inertia


def ours(program, n, apart):
    told = subprocess.run([program, "--benchmark_format=json",
                           f"--benchmark_filter=rows:{n}/apart_in_tenths:{round(10 * apart)}$"],
                          check=True, capture_output=True, text=True)
    result = json.loads(told.stdout)["benchmarks"][0]
    return result["cpu_time"], result["inertia"]


def main():
    program, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print("  rows  apart  straggle ms  scikit-learn ms  ratio  inertia of ours / theirs")
    with threadpoolctl.threadpool_limits(1):
        for n in (100, 1000, 10000):
            for apart in (0.0, 1.0):
                values, mine, other = rows(n, apart), [], []
                for _ in range(rounds):
                    mine.append(ours(program, n, apart))
                    other.append(theirs(values))
                a, b = (statistics.median(t for t, _ in x) for x in (mine, other))
                print(f"{n:6}  {apart:5.1f}  {a:11.2f}  {b:15.1f}  {b / a:5.1f}  {mine[0][1] / other[0][1]:.4f}",
                      flush=True)


if __name__ == "__main__":
    main()
