#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""Prints what each mechanism of the library contributes, as a Markdown table. Usage: ablation.py INCLUDE RESULTS...

A point is 1 % of the job time under doing nothing. A mechanism contributes the time by which jobs are longer without
it: the geometric mean over scenarios and seeds, with a 95 % bootstrap interval over pairs (a scenario and a seed)."""
import math
import pathlib
import random
import re
import sys

import results as r

ALL = "all"
RESAMPLES = 2000
HARM = 0.02
# Mechanisms that have files of their own.
FILES = {
    "progress": ["predict/progress_trust.hpp"],
    "races": ["assign/race_record.hpp"],
    "load_watch": ["blacklist/detail/load_watch.hpp"],
    "slow_now": ["mitigate/detail/place_odds.hpp"],
    "classes": ["blacklist/detail/machine_classes.hpp"],
    "hung": ["rank/detail/evidence_hung.hpp"],
    "exclusions": ["blacklist/node_stage.hpp", "blacklist/detail/exclusion_record.hpp",
                   "blacklist/detail/load_watch.hpp"],
    "placement": ["assign/rank_places.hpp"],
}


def code_lines(include, mechanism):
    paths = [pathlib.Path(include) / "straggle" / f for f in FILES.get(mechanism, [])]
    lines = [line.strip() for p in paths if p.exists() for line in p.read_text().splitlines()]
    return sum(1 for line in lines if line and not line.startswith("//")) or ""


def load_class(scenario):
    found = re.search(r"-(\d+)$", scenario)
    return found.group(1) + " %" if found else "other"


class Table:
    def __init__(self, all_runs, include):
        self.all, self.include = all_runs, include
        self.units = [(s, k) for s in all_runs.scenarios() for k in all_runs.seeds(s, ALL)]

    def logs(self, policy, column, units):
        runs = self.all.runs
        return [math.log(runs[s][policy][k][column] / runs[s][r.BASE][k][column]) for s, k in units]

    def brings(self, policy, column, units):
        """Points and their interval; None if there is nothing to compare."""
        units = [(s, k) for s, k in units if k in self.all.runs[s].get(policy, {})]
        if not units:
            return None
        with_all, without = self.logs(ALL, column, units), self.logs(policy, column, units)
        n = len(units)

        def points(picked):
            return 100 * (math.exp(sum(without[i] for i in picked) / n) - math.exp(sum(with_all[i] for i in picked) / n))
        chance = random.Random(n)
        drawn = sorted(points(chance.choices(range(n), k=n)) for _ in range(RESAMPLES))
        return points(range(n)), drawn[int(0.025 * RESAMPLES)], drawn[int(0.975 * RESAMPLES) - 1]

    def level(self, policy, column, units):
        units = [(s, k) for s, k in units if k in self.all.runs[s].get(policy, {})]
        return 100 * math.expm1(sum(self.logs(policy, column, units)) / len(units)) if units else float("nan")

    def harmed(self, policy):
        """Scenarios whose mean is more than 2 % longer than under doing nothing."""
        changes = [self.all.compare(s, policy, "mean") for s in self.all.scenarios()]
        return sum(1 for c in changes if c and c.point > HARM)

    def most(self, policy, sign):
        """Where it gains or costs most."""
        found = []
        for s in self.all.scenarios():
            b = self.brings(policy, "mean", [(s, k) for k in self.all.seeds(s, ALL)])
            if b:
                found.append((sign * b[0], s))
        return "{:+.1f} {}".format(sign * max(found)[0], max(found)[1]) if found else ""

    def rows(self, policies):
        for p in policies:
            mean, p99 = (self.brings(p, c, self.units) for c in ("mean", "p99"))
            if not mean:
                continue
            shown = ["{:+.1f} ({:+.1f} to {:+.1f})".format(*x) for x in (mean, p99)]
            yield [p] + shown + [self.most(p, 1), self.most(p, -1), str(self.harmed(p)), str(code_lines(self.include, p))]

    def text(self):
        found = {p for s in self.all.scenarios() for p in self.all.runs[s]}
        others = [p for p in ("library", "late", "oracle") if p in found]
        without = sorted(found - {ALL, r.BASE, *others}, key=lambda p: -(self.brings(p, "mean", self.units) or [0])[0])
        seeds = sorted({k for _, k in self.units})
        lines = [f"{len(self.all.scenarios())} scenarios, {len(self.units)} runs of each, seeds {seeds[0]} to {seeds[-1]}.", "",
                 "| mechanism | mean, points it brings | p99 | most | least | longer than 2 % without it | lines |",
                 "|---|---|---|---|---|---:|---:|"]
        lines += ["| " + " | ".join(row) + " |" for row in self.rows(without)]
        lines += ["", "Against doing nothing, mean / p99 in %:", "", "| policy | " + " | ".join(self.loads()) + " | all |",
                  "|---|" + "---:|" * (len(self.loads()) + 1)]
        for p in [ALL] + others + without:
            cells = [f"{self.level(p, 'mean', u):+.1f} / {self.level(p, 'p99', u):+.1f}" for u in
                     [[x for x in self.units if load_class(x[0]) == g] for g in self.loads()] + [self.units]]
            lines.append(f"| {p} | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def loads(self):
        found = {load_class(s) for s in self.all.scenarios()}
        return sorted(found, key=lambda g: (len(g), g))


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    everything = r.Results(sys.argv[2])
    for more in sys.argv[3:]:
        everything.runs.update(r.Results(more).runs)
    print(Table(everything, sys.argv[1]).text())


if __name__ == "__main__":
    main()
