#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Writes boosted_trees.csv: the trees that XGBoost grows, and what it predicts, for small sets of examples.

usage: boosted_trees.py [--check]    without --check writes the file beside this script; with it compares

Made with XGBoost 1.7.4 (Debian: python3-xgboost), tree_method=exact, in one thread. The examples are made by a rule
simple enough to be written again in C++ (see `examples`).
"""
import json
import math
import re

import numpy
import xgboost

from golden import write_or_check

HEADER = """\
# Trees of XGBoost 1.7.4, exact greedy, binary:logistic, one thread. Made by boosted_trees.py; no code in common with the
# library. Of each set of examples first how it is made (see `examples` in the script) and trained, then the loss on
# `watched` further examples after each round, the trees, and the predicted probability of each example. Of a tree level
# after level: of a question the feature and where rows without it go (l, r), the threshold and the gain; of a leaf `=` and
# its value. Watched sets were trained with early stopping after 4 rounds; all their trees are here.
set,rows,columns,seed,shape,missing,odd,cut,flip,watched,rounds,eta,max_depth,lambda,gamma,min_child_weight,base_score
"""

DEFAULT = dict(rounds=10, eta=0.1, max_depth=12, lam=1, gamma=0, weight=1, base=0.5)
# rows, columns, shape, missing, odd, cut, flip, watched, and how it is trained where that is not DEFAULT
SETS = [
    (60, 5, "uniform", 0, 0, 0.5, 0.1, 0, {}),
    (60, 5, "uniform", 0, 0, 0.5, 0.1, 0, dict(eta=0.3, max_depth=3, lam=0.25, weight=0)),
    (80, 6, "few", 0, 0, 0.6, 0.2, 0, {}),
    (80, 6, "few", 0.3, 1, 0.6, 0.2, 0, dict(weight=0.5)),
    (100, 8, "uniform", 0.3, 0, 0.4, 0.1, 0, {}),
    (100, 8, "uniform", 0.9, 1, 0.4, 0.1, 0, dict(weight=0)),
    (90, 7, "uniform", 0.1, 1, 0.7, 0.1, 0, dict(rounds=30, gamma=0.8)),
    (90, 7, "uniform", 0, 0, 0.7, 0.3, 0, dict(gamma=2.5, eta=1, lam=0, weight=0)),
    (200, 6, "uniform", 0.05, 0, 0.95, 0.01, 0, dict(rounds=20)),
    (200, 6, "wide", 0.05, 0, 0.5, 0.1, 0, dict(base=0.125)),
    (120, 4, "neighbours", 0.1, 0, 0.5, 0.05, 0, dict(weight=0.25)),
    (120, 4, "neighbours", 0, 0, 0.5, 0.05, 0, dict(weight=0, lam=0, max_depth=6)),
    (116, 90, "days", 0, 0, 0.75, 0.02, 0, dict(rounds=20)),
    (116, 90, "days", 0.05, 1, 0.75, 0.05, 0, dict(rounds=20)),
    (2, 3, "uniform", 0, 0, 0.5, 0, 0, {}),
    (2, 3, "uniform", 0, 0, 0.5, 0, 0, dict(weight=0)),
    (1, 1, "uniform", 0, 0, 0.5, 0, 0, dict(weight=0)),
    (40, 3, "uniform", 0.2, 0, 2, 0, 0, {}),
    (40, 3, "uniform", 0.2, 0, -1, 0, 0, dict(weight=0, lam=0)),
    (120, 6, "uniform", 0.1, 0, 0.5, 0.2, 60, dict(rounds=60, eta=0.3)),
    (116, 30, "days", 0, 0, 0.75, 0.05, 40, dict(rounds=60, eta=0.3, max_depth=4)),
]


def examples(rows, columns, seed, shape, missing, odd, cut, flip):
    """Features and labels; NaN is missing. All arithmetic is exact or rounded once, in double."""
    state = seed

    def draw():
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return state

    def unit():
        return (draw() >> 11) * 2.0**-53

    table, labels = [], []
    for _ in range(rows):
        tendency = unit()
        absent = 3 * math.floor(unit() * 8) if shape == "days" and unit() < 0.3 else 0
        row = []
        for c in range(columns):
            noise = unit()
            x = noise if c % 3 == 2 else (tendency + noise) * 0.5
            if shape == "few":
                x = math.floor(4 * x) - 1.0
            elif shape == "wide":
                x = math.ldexp(x - 0.5, (draw() >> 33) % 61 - 30)
            elif shape == "neighbours":
                x = 1 + math.floor(6 * x) * 2.0**-23
            elif shape == "days":
                x = tendency + (noise - 0.5) / (1 + c // 3)
            if unit() < missing or c < absent:
                x = math.nan
            if odd and c == 0:
                x = 7.0 if tendency < 0.625 else math.nan
            if odd and c == 2:
                x = row[1]
            if odd and c == columns - 1:
                x = math.nan
            row.append(x)
        table.append(row)
        labels.append(int((tendency > cut) != (unit() < flip)))
    return numpy.array(table, dtype=numpy.float64).astype(numpy.float32), numpy.array(labels)


def text(x):
    """A float in hexadecimal, exactly."""
    return re.sub(r"\.?0*p", "p", float(x).hex())


def level_order(tree):
    """The nodes that are left after pruning."""
    cells, queue = [], [0]
    for node in queue:
        left, right = tree["left_children"][node], tree["right_children"][node]
        number = numpy.float32(tree["split_conditions"][node])
        if left == -1:
            cells += ["=", text(number)]
        else:
            side = "l" if tree["default_left"][node] else "r"
            cells += [f"{tree['split_indices'][node]}{side}", text(number),
                      text(numpy.float32(tree["loss_changes"][node]))]
            queue += [left, right]
    return cells


def trained(seed, rows, columns, shape, missing, odd, cut, flip, watched, how):
    how = {**DEFAULT, **how}
    yield ["set", rows, columns, seed, shape, missing, odd, cut, flip, watched, how["rounds"], how["eta"],
           how["max_depth"], how["lam"], how["gamma"], how["weight"], how["base"]]
    table, labels = examples(rows + watched, columns, seed, shape, missing, odd, cut, flip)
    data = xgboost.DMatrix(table[:rows], labels[:rows], nthread=1)
    parameters = {"tree_method": "exact", "objective": "binary:logistic", "nthread": 1, "eta": how["eta"],
                  "max_depth": how["max_depth"], "lambda": how["lam"], "gamma": how["gamma"],
                  "min_child_weight": how["weight"], "base_score": how["base"], "eval_metric": "logloss"}
    if watched:
        losses = {}
        booster = xgboost.train(parameters, data, how["rounds"], early_stopping_rounds=4, verbose_eval=False,
                                evals=[(xgboost.DMatrix(table[rows:], labels[rows:], nthread=1), "watched")],
                                evals_result=losses)
        yield ["best", booster.best_iteration]
        yield ["losses", *(repr(x) for x in losses["watched"]["logloss"])]
        predicted = booster.predict(data, iteration_range=(0, booster.best_iteration + 1))
    else:
        booster = xgboost.train(parameters, data, how["rounds"])
        predicted = booster.predict(data)
    model = json.loads(booster.save_raw("json"))
    for tree in model["learner"]["gradient_booster"]["model"]["trees"]:
        yield ["tree", *level_order(tree)]
    gains, uses = booster.get_score(importance_type="total_gain"), booster.get_score(importance_type="weight")
    for feature in sorted(uses, key=lambda name: int(name[1:])):
        yield ["use", feature[1:], int(uses[feature]), repr(gains[feature])]
    yield ["predicted", *(f"{p:.9g}" for p in predicted)]


if __name__ == "__main__":
    assert xgboost.__version__ == "1.7.4", xgboost.__version__
    lines = [row for seed, one in enumerate(SETS, 1) for row in trained(seed, *one)]
    write_or_check(__file__, HEADER + "".join(",".join(map(str, row)) + "\n" for row in lines))
