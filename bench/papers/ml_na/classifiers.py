#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Table II of ML-NA: scikit-learn's classifiers with their defaults, on the rows that ours was trained on.

usage: classifiers.py FOLDER

Reads FOLDER/ml-na-third-*.data (test or not, label, features; a row per machine and month), which paper_ml_na writes,
and fills the empty lines of the five classifiers in FOLDER/ml-na-table-2.csv. Missing values become 0, the mean of a
score: these five accept none, and the paper does not say what it did.
"""
import csv
import sys
from pathlib import Path

import numpy as np
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.metrics import accuracy_score, precision_score, recall_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

MODELS = {"random forest": lambda seed: RandomForestClassifier(random_state=seed), "SVM": lambda seed: SVC(),
          "AdaBoost": lambda seed: AdaBoostClassifier(random_state=seed),
          "decision tree": lambda seed: DecisionTreeClassifier(random_state=seed), "naive Bayes": lambda seed: GaussianNB()}


def median_of(values):
    """As report::median_of: an interval between order statistics, for any distribution."""
    v = sorted(x for x in values if x == x)
    n = len(v)
    if n == 0:
        return "", "", "", 0
    tail = coins = 0.5**n
    k = 0
    while k < n // 2 and tail <= 0.025:
        k += 1
        coins *= (n - k + 1) / k
        tail += coins
    k = max(k, 1)
    return f"{(v[(n - 1) // 2] + v[n // 2]) / 2:.6g}", f"{v[k - 1]:.6g}", f"{v[n - k]:.6g}", n


def main():
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit(__doc__.strip())
    folder, found = Path(sys.argv[1]), {}
    for seed, file in enumerate(sorted(folder.glob("ml-na-third-*.data")), 1):
        rows = np.nan_to_num(np.genfromtxt(file, delimiter=","))
        test, label, features = rows[:, 0] == 1, rows[:, 1], rows[:, 2:]
        for name, make in MODELS.items():
            told = make(seed).fit(features[~test], label[~test]).predict(features[test])
            named, truth = told.any(), label[test]
            for x, value in (("precision", precision_score(truth, told) if named else float("nan")),
                             ("recall", recall_score(truth, told)), ("accuracy", accuracy_score(truth, told))):
                found.setdefault((name, x), []).append(value)
    table = folder / "ml-na-table-2.csv"
    with table.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    with table.open("w") as out:
        out.write("group,series,x,median,low,high,runs,paper\n")
        for r in rows:
            if (r["series"], r["x"]) in found:
                r["median"], r["low"], r["high"], r["runs"] = median_of(found[r["series"], r["x"]])
            out.write(",".join(str(v) for v in r.values()) + "\n")


if __name__ == "__main__":
    main()
