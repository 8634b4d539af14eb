#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""Draws the scenarios by Latin hypercube sampling and appends them to the named corners in scenarios.csv.

Run once, before anything was tuned; kept to show how the scenarios were chosen.
"""
import math
import pathlib
import random

HERE = pathlib.Path(__file__).parent
COUNT = 80
SEED = 20240607
MOST_SLOTS = 1200  # of all nodes, so that a run takes well under a second

DURATIONS = ["ln10", "ln30", "ln60", "sizes_known", "sizes_hidden", "pareto_luck", "pareto_size", "history"]
FAULTS = ["none", "few_2x", "tenth_13", "episodes", "gradual", "hung", "rack", "slow_40", "attempts", "hole"]
LOADS = [0.4, 0.6, 0.8, 1.2]
JOBS = [(5, 20), (5, 200), (20, 500)]
PROGRESS = ["exact", "noisy", "jumping", "phased", "absent"]
SLOTS = [1, 2, 4, 8, 16]


def main():
    chance = random.Random(SEED)

    def stratified():
        """One number from each of COUNT equal parts of [0, 1), in random order."""
        places = list(range(COUNT))
        chance.shuffle(places)
        return [(p + chance.random()) / COUNT for p in places]

    def words(all_of_them):
        return [all_of_them[int(u * len(all_of_them))] for u in stratified()]

    def between(low, high):
        return [math.exp(math.log(low) + u * math.log(high / low)) for u in stratified()]

    columns = zip(
        between(20, 500), words(SLOTS), words([1, 2]), words(DURATIONS), words(FAULTS), words(LOADS), words(JOBS),
        between(10, 600), words(PROGRESS), words(["after", "before"]), words(["told", "untold"]),
        words([0, 0, 0, 0.01]), words([0, 0, 0, 0.02]))
    lines = (HERE / "corners.csv").read_text().splitlines()
    for i, (nodes, slots, generations, durations, fault, load, jobs, seconds, progress, copies, classes, failures,
            away) in enumerate(columns, 1):
        nodes = round(nodes)
        while nodes * slots > MOST_SLOTS:
            slots //= 2
        name = f"{i:02}-{durations}-{fault}-{round(100 * load)}"
        lines.append(f"{name},{nodes},{slots},{generations},{durations},{fault},{load},{jobs[0]},{jobs[1]},"
                     f"{seconds:.0f},{progress},{copies},{classes},{failures},{away}")
    (HERE / "scenarios.csv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
