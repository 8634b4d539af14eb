#!/usr/bin/python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Draws the measured runs of the adapters, and the replay for YARN, for the guide: node states above latencies and times.

    pictures.py [haproxy] [dask] [slurm] [onetbb] [yarn]     reads ENGINE/measured/, writes docs/guide/engine-ENGINE.svg
"""
import csv
import gzip
import os
import re
import statistics
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "straggle", "font.size": 9, "axes.spines.top": False,
                            "axes.spines.right": False, "svg.fonttype": "none"})
import matplotlib.pyplot as plt  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
GUIDE = os.path.join(HERE, "..", "..", "docs", "guide")
OURS = "#1b9e77"
# Lines differ by color and by shape, for eyes and paper without colors.
LINES = {"roundrobin": {"color": "#d95f02", "linestyle": "-"}, "leastconn": {"color": "#7570b3", "linestyle": "--"},
         "random": {"color": "#e6ab02", "linestyle": ":"}, "straggle": {"color": OURS, "linestyle": "-."}}
DOTS = {"without": {"color": "#d95f02", "marker": "o"}, "by-hand": {"color": "#7570b3", "marker": "s", "linestyle": ":"},
        "controller": {"color": OURS, "marker": "^", "linestyle": "--"}}


def rows(*path):
    name = os.path.join(HERE, *path)
    with (gzip.open(name, "rt") if name.endswith(".gz") else open(name, newline="")) as file:
        return list(csv.DictReader(file))


def panels(ratio):
    figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(7.5, 3.8), layout="constrained",
                                          gridspec_kw={"height_ratios": ratio})
    below.set_yticks([])
    return figure, above, below


def save(figure, engine):
    figure.savefig(os.path.join(GUIDE, "engine-%s.svg" % engine), metadata={"Date": None})


def strip(axis, changes, end, y, color):
    """Draws along a line when something held: (from, to, how much of it, 0 to 1)."""
    changes = sorted(changes)
    for i, (at, share) in enumerate(changes):
        until = changes[i + 1][0] if i + 1 < len(changes) else end
        if share > 0:
            axis.broken_barh([(at, until - at)], (y, 0.8), color=color, alpha=0.25 + 0.75 * share, linewidth=0)


def haproxy():
    figure, above, below = panels([5, 1])
    end = 0
    for policy in ("roundrobin", "leastconn", "random", "straggle"):
        seconds = {}
        with gzip.open(os.path.join(HERE, "haproxy", "measured", policy + "-300-slow.csv.gz"), "rt") as file:
            for due, took, status, _ in csv.reader(file):
                seconds.setdefault(int(float(due)), []).append(float(took) * 1e3)
        times = sorted(seconds)[:-1]
        end = max(end, times[-1])
        window = [sorted(sum((seconds.get(t + d, []) for d in (-1, 0, 1)), [])) for t in times]
        above.plot(times, [w[int(0.99 * len(w))] for w in window], linewidth=1.2, label=policy, **LINES[policy])
    above.set_yscale("log")
    above.set_yticks([20, 50, 100, 200], ["20", "50", "100", "200"])
    above.minorticks_off()
    above.set_ylabel("99th percentile, ms")
    above.legend(frameon=False, ncols=4, loc="upper right")
    changes = rows("haproxy", "measured", "straggle-300-slow.changes.csv")
    strip(below, [(float(c["seconds"]), int(c["weight_percent"]) / 100) for c in changes], end, 0, OURS)
    below.set_ylabel("weight\nof s3", rotation=0, ha="right", va="center")
    below.set_xlabel("seconds at 300 requests/s; s3 is 5 times as slow from 23 to 83; dark: full weight, pale: 5 to 20 %")
    save(figure, "haproxy")


def dask():
    graphs = rows("dask", "measured", "graphs.csv")
    states = rows("dask", "measured", "states.csv")
    figure, above, below = panels([5, 1])
    mine = [g for g in graphs if g["saturation"] == "1.1" and g["repetition"] == "0"]
    for plugin, name in (("0", "without"), ("1", "controller")):
        points = [(float(g["at"]), float(g["seconds"])) for g in mine if g["plugin"] == plugin]
        above.plot(*zip(*points), markersize=2.5, linewidth=0.8, **DOTS[name],
                   label={"without": "without", "controller": "with the plugin"}[name])
    above.set_ylabel("seconds for a graph")
    above.set_ylim(0)
    above.legend(frameon=False, ncols=2, loc="lower right")
    end = max(float(g["at"]) for g in mine)
    share = {"healthy": 0, "last_resort": 0.4, "on_probation": 0.4, "excluded": 1}
    strip(below, [(float(s["seconds"]), share.get(s["state"], 0)) for s in states if s["saturation"] == "1.1"
                  and s["repetition"] == "0" and s["worker"] == "w3"], end, 0, "#444444")
    below.set_ylabel("w3 held", rotation=0, ha="right", va="center")
    slow = [float(g["at"]) for g in mine if g["phase"] == "slow" and g["plugin"] == "1"]
    below.set_xlabel("seconds; w3 is 5 times as slow from %.0f to %.0f; dark: excluded, pale: on probation or last resort"
                     % (min(slow), max(slow)))
    save(figure, "dask")


def slurm():
    jobs, actions = rows("slurm", "measured", "jobs.csv"), rows("slurm", "measured", "actions.csv")
    figure, above, below = panels([5, 1.5])
    cell, length = "good-60", 0
    numbers = sorted({int(j["repetition"]) for j in jobs if j["cell"] == cell})
    length = 15 + max(float(j["at"]) + float(j["seconds"] or 0) for j in jobs if j["cell"] == cell)
    for variant in ("without", "by-hand", "controller"):
        points = sorted((int(j["repetition"]) * length + float(j["at"]), float(j["seconds"])) for j in jobs
                        if j["cell"] == cell and j["variant"] == variant and j["seconds"])
        above.plot(*zip(*points), markersize=2.5, linewidth=0.8, label=variant, **DOTS[variant])
    above.set_ylabel("seconds for a job")
    above.set_ylim(0)
    above.legend(frameon=False, ncols=3, loc="lower right")
    for y, node in enumerate(("n2", "n5")):
        changes = [(int(a["repetition"]) * length + float(a["seconds"]), a["action"] == "take") for a in actions
                   if a["cell"] == cell and a["node"] == node]
        strip(below, changes, len(numbers) * length, y, "#444444")
    below.set_yticks([0.4, 1.4], ["n2 out", "n5 out"])
    below.set_xlabel("seconds; two of eight nodes at 30 %, load 60 %; repetitions one after the other")
    save(figure, "slurm")


def onetbb():
    """The output of `example_onetbb`: the jobs without the library, then those with it and the states of group 2."""
    jobs, states = [], []
    for line in open(os.path.join(HERE, "..", "onetbb", "measured.txt")):
        if job := re.match(r"job (\d+): ([\d.]+) ms", line):
            jobs.append((int(job[1]), float(job[2])))
        elif state := re.match(r"group 2 is (\w+)", line):
            states.append((len(jobs), state[1]))
    half = len(jobs) // 2
    figure, above, below = panels([5, 1])
    for points, name in ((jobs[:half], "without"), (jobs[half:], "controller")):
        above.plot(*zip(*points), markersize=2.5, linewidth=0.8, **DOTS[name],
                   label={"without": "without", "controller": "with the mitigator"}[name])
    above.set_ylabel("ms for a job")
    above.set_ylim(0)
    above.legend(frameon=False, ncols=2, loc="lower right")
    share = {"healthy": 0, "last_resort": 0.3, "on_probation": 0.5, "excluded": 1}
    strip(below, [(at - half, share[state]) for at, state in states], half, 0, "#444444")
    below.set_ylabel("group 2", rotation=0, ha="right", va="center")
    below.set_xlabel("job; group 2 of four is 3 times as slow; dark: excluded, pale: last resort or on probation")
    save(figure, "onetbb")


def yarn():
    """The recorded tasks, and the states from yarn/replay.py."""
    tasks = rows("..", "data", "slurm-8-nodes.csv")
    begin = min(int(t["start_ms"]) for t in tasks)
    figure, above, below = panels([5, 2])
    end, slow = 0, ("n2", "n5", "n6")
    for node, color, marker in zip(("others",) + slow, ("#999999", "#d95f02", "#7570b3", "#1b9e77"), ".os^"):
        took = {}  # by the interval of twenty seconds in which it ended
        for t in tasks:
            if t["status"] == "success" and (t["node"] == node or node == "others" and t["node"] not in slow):
                at = (int(t["end_ms"]) - begin) / 1e3
                end = max(end, at)
                took.setdefault(20 * int(at / 20) + 10, []).append((int(t["end_ms"]) - int(t["start_ms"])) / 1e3)
        above.plot(sorted(took), [statistics.median(took[at]) for at in sorted(took)], marker=marker, markersize=2.5,
                   linewidth=0.8, color=color, label=node)
    above.set_ylabel("seconds for a task")
    above.set_ylim(0)
    above.legend(frameon=False, ncols=4, loc="lower right")
    share = {"healthy": 0, "last_resort": 0.2, "on_probation": 0.2, "excluded": 0.2}
    for y, node in enumerate(slow):
        strip(below, [(float(c["seconds"]), 1 if c["in_file"] == "1" else share[c["state"]])
                      for c in rows("yarn", "replayed", "states.csv") if c["node"] == node], end, y, "#444444")
    below.set_yticks([y + 0.4 for y in range(len(slow))], slow)
    below.set_xlabel("recorded seconds; dark: in the exclude file, pale: known to be slow and in service")
    save(figure, "yarn")


ENGINES = {"haproxy": haproxy, "dask": dask, "slurm": slurm, "onetbb": onetbb, "yarn": yarn}

if __name__ == "__main__":
    for engine in sys.argv[1:] or ENGINES:
        ENGINES[engine]()
