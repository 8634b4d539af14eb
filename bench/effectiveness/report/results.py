# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""Raw results, and what follows from them: ratios over seeds with bootstrap intervals, and verdicts."""
import collections
import csv
import random

BASE = "nothing"
RIVALS = ["late", "hadoop", "spark", "spark4", "flink", "flink_limited", "dolly", "dsb"]
LIBRARY = ["library", "library_copies_only", "library_nodes_only", "library_places_only"]
YARDSTICK = "oracle"

RESAMPLES = 1000
WIDTH = {"mean": 0.01, "median": 0.02, "p99": 0.02}  # half-width of the interval at which a comparison is decided
POINT, UPPER = 0.02, 0.04  # what "passes" tolerates
EQUAL = 0.01  # to the best rival

Comparison = collections.namedtuple("Comparison", "point low high seeds")


def half_width(c):
    return (c.high - c.low) / 2


class Results:
    """All runs, by scenario, policy and seed."""

    def __init__(self, path):
        self.runs = collections.defaultdict(lambda: collections.defaultdict(dict))
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                numbers = {k: float(v) for k, v in row.items() if k not in ("scenario", "policy", "digest")}
                self.runs[row["scenario"]][row["policy"]][int(row["seed"])] = numbers
        self._lists = {}

    def scenarios(self):
        return list(self.runs)

    def policies(self):
        found = {p for by_policy in self.runs.values() for p in by_policy}
        order = LIBRARY + RIVALS + [YARDSTICK]
        return [p for p in order if p in found] + sorted(found - set(order) - {BASE})

    def seeds(self, scenario, policy, against=BASE):
        runs = self.runs[scenario]
        return sorted(runs.get(policy, {}).keys() & runs.get(against, {}).keys())

    def total(self, scenario, policy, column, seeds=None):
        runs = self.runs[scenario].get(policy, {})
        return sum(runs[s][column] for s in (runs if seeds is None else seeds))

    def _resamples(self, n):
        """The same resamples of seeds for all comparisons, so that a report can be reproduced."""
        if n not in self._lists:
            chance = random.Random(n)
            self._lists[n] = [chance.choices(range(n), k=n) for _ in range(RESAMPLES)]
        return self._lists[n]

    def compare(self, scenario, policy, column, against=BASE, seeds=None):
        """How much longer than under `against`: the ratio of the means over seeds minus 1, with a paired
        95 % bootstrap interval. None if no seed has runs of both."""
        seeds = self.seeds(scenario, policy, against) if seeds is None else seeds
        if not seeds:
            return None
        a = [self.runs[scenario][policy][s][column] for s in seeds]
        b = [self.runs[scenario][against][s][column] for s in seeds]
        point = sum(a) / sum(b) - 1
        if len(seeds) < 2 or a == b:
            width = 0 if a == b else float("inf")
            return Comparison(point, point - width, point + width, len(seeds))
        ratios = sorted(sum(map(a.__getitem__, pick)) / sum(map(b.__getitem__, pick)) - 1
                        for pick in self._resamples(len(seeds)))
        return Comparison(point, ratios[int(0.025 * RESAMPLES)], ratios[int(0.975 * RESAMPLES) - 1], len(seeds))

    def best_rival(self, scenario):
        """The rival with the smallest mean on every second seed, and the other half of the seeds."""
        rivals = [p for p in RIVALS if self.seeds(scenario, p)] + [BASE]
        seeds = sorted(set.intersection(*(set(self.seeds(scenario, p)) for p in rivals)))
        choosing, judging = seeds[0::2], seeds[1::2]
        return min(rivals, key=lambda p: self.total(scenario, p, "mean", choosing)), judging


def verdict(mean, p99):
    """`passes` or `hurts` if the interval is narrow enough, otherwise `undecided`, and in addition `passes so far` or
    `hurts so far` if the whole interval lies on one side."""
    ok = all(c.point <= POINT and c.high <= UPPER for c in (mean, p99))
    bad = any(c.low > POINT for c in (mean, p99))
    if half_width(mean) <= WIDTH["mean"] and half_width(p99) <= WIDTH["p99"]:
        return "passes" if ok else "hurts"
    return "undecided" + (", passes so far" if ok else ", hurts so far" if bad else "")


def geometric_mean(ratios):
    product = 1.0
    for r in ratios:
        product *= r
    return product ** (1 / len(ratios)) if ratios else float("nan")
