# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""Scenarios drawn at random: are the defaults worse than doing nothing in any of them?"""
import collections
import math

import results as r

POLICY = "library"
FAMILIES = ("fault", "durations", "progress", "copies", "generations")


def read_draws(path):
    """Reads `effectiveness --drawn N --list`: a name, and `name=value` separated by commas."""
    draws = {}
    with open(path) as file:
        for line in file:
            name, _, rest = line.strip().partition(" ")
            if "=" in rest:
                draws[name] = dict(cell.split("=") for cell in rest.strip().split(","))
    return draws


def seed_of(scenario):
    return scenario.split("-")[1]  # drawn-SEED-NUMBER


def sure_harm(all_runs, scenario, column):
    """The whole interval lies above 0, and the change is more than is tolerated."""
    c = all_runs.compare(scenario, POLICY, column)
    return c.low > 0 and c.point > r.POINT


def text(all_runs, list_path):
    draws = read_draws(list_path)
    names = [s for s in all_runs.scenarios() if all_runs.compare(s, POLICY, "mean")]
    change = {s: {c: all_runs.compare(s, POLICY, c) for c in ("mean", "p99")} for s in names}

    def typical(chosen, column):
        return 100 * (r.geometric_mean([1 + change[s][column].point for s in chosen]) - 1)

    seeds = len(all_runs.seeds(names[0], POLICY))
    harmed = sorted((s for s in names if sure_harm(all_runs, s, "mean") or sure_harm(all_runs, s, "p99")),
                    key=lambda s: -change[s]["mean"].point)
    signs = collections.Counter()
    for s in names:
        logs = [math.log(all_runs.runs[s][POLICY][k]["mean"] / all_runs.runs[s][r.BASE][k]["mean"])
                for k in all_runs.seeds(s, POLICY)]
        signs["better" if max(logs) < 0 else "worse" if min(logs) > 0 else "mixed"] += 1
    lines = [f"`effectiveness --drawn {len(names)} --draw-seed {seed_of(names[0])}`: fleets of 2 to 400 nodes, loads of 30 to 130 %, tasks "
             "of 10 ms to an hour, jobs of one task to a thousand, faults of any kind, size and length, crowded nodes and "
             f"links, tasks far from their data, bursts of jobs, rare or frequent decisions; {seeds} seeds each. "
             "`bench/effectiveness/scenarios/drawn.cpp` defines the distributions; they were not used to choose the "
             "defaults.", "",
             f"The mean is {typical(names, 'mean'):+.1f} %, p99 {typical(names, 'p99'):+.1f} %. In {signs['better']} of "
             f"{len(names)} scenarios the mean is shorter with every seed, in {signs['mixed']} with some, in "
             f"{signs['worse']} with none. Mean or p99 more than 2 % longer, with the whole interval above 0: "
             f"{len(harmed)}{'.' if not harmed else ':'}", ""]
    if harmed:
        lines += ["| scenario | mean % | p99 % | what it is |", "|---|---:|---:|---|"]
        for s in harmed:
            c, d = change[s], draws.get(s, {})
            shown = ", ".join(f"{k} {d[k]}" for k in ("nodes", "slots", "load", "durations", "fault", "progress", "min_tasks",
                                                      "max_tasks", "contention", "locality", "heartbeat") if k in d)
            cells = [f"{100 * c[k].point:+.1f} ({100 * c[k].low:+.1f} to {100 * c[k].high:+.1f})" for k in ("mean", "p99")]
            lines.append(f"| {s} | {cells[0]} | {cells[1]} | {shown} |")
        lines.append("")
    lines += ["| family | scenarios | mean % | p99 % | worst mean % |", "|---|---:|---:|---:|---:|"]
    for family in FAMILIES:
        for value in sorted({d[family] for s, d in draws.items() if s in change}):
            chosen = [s for s in names if draws[s][family] == value]
            worst = max(100 * change[s]["mean"].point for s in chosen)
            lines.append(f"| {family} {value} | {len(chosen)} | {typical(chosen, 'mean'):+.1f} | {typical(chosen, 'p99'):+.1f} | "
                         f"{worst:+.1f} |")
    return "\n".join(lines)
