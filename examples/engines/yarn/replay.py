#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""Shows what the adapter does, without Hadoop: sends a recorded history to straggle-watch and its plans to the adapter, and
records the exclude file after each plan. No YARN obeys it: tasks run where and as long as they were recorded, even on a node
in the file.

    replay.py --watch PROGRAM [--out replayed] [--every SECONDS]     writes OUT/states.csv, which pictures.py draws

states.csv: seconds since the first task, node, its state in the plan, and 1 if it is in the exclude file; a line for each
change.
"""

import argparse
import csv
import json
import os
import shlex
import subprocess
import sys
import tempfile

import straggle_yarn

HERE = os.path.dirname(os.path.abspath(__file__))
HISTORY = os.path.join(HERE, "..", "..", "data", "slurm-8-nodes.csv")
# Two of eight nodes are more than the shares for large clusters allow.
SHARE = "0.3"


def events(tasks, begin, every):
    """The events an engine would send, in order of time."""
    told = [(0, 0, {"event": "nodes", "nodes": [{"node": n, "slots": 1} for n in sorted({t["node"] for t in tasks})]})]
    for t in tasks:
        start, end = (int(t[k]) / 1000 - begin for k in ("start_ms", "end_ms"))
        one = {"job": t["job"], "task": t["task"], "node": t["node"], "start": start, "input": int(t["input_bytes"] or 0) or None}
        told += [(start, 2, {"event": "start", **one}), (end, 1, {"event": "end", **one, "end": end, "status": t["status"]})]
    last = max(at for at, _, _ in told)
    told += [(k * every, 3, {"event": "decide", "now": k * every, "waiting": 0, "all": True})
             for k in range(1, int(last / every) + 1)]
    return [event for _, _, event in sorted(told, key=lambda t: t[:2])]


def replay(watch, every):
    """@return (seconds, node, state, whether it is in the file), one for each change"""
    with open(HISTORY, newline="") as file:
        tasks = list(csv.DictReader(file))
    begin = min(int(t["start_ms"]) for t in tasks) / 1000
    lines = "".join(json.dumps(e) + "\n" for e in events(tasks, begin, every))
    done = subprocess.run([*shlex.split(watch), "--share-of-slots", SHARE], input=lines.encode(), stdout=subprocess.PIPE, check=True)
    plans = [m for m in map(json.loads, done.stdout.splitlines()) if m["event"] == "plan"]
    changes, now = [], {}
    with tempfile.TemporaryDirectory() as folder:
        exclude = os.path.join(folder, "exclude")
        yarn = straggle_yarn.Yarn(straggle_yarn.command_line(
            ["--exclude", exclude, "--refresh", "true", "--most", SHARE, "--act"]))
        for plan in plans:
            yarn.take(plan)
            held = straggle_yarn.hosts_of(exclude)
            for node in plan["nodes"]:
                what = (node["state"], int(node["node"] in held))
                if now.setdefault(node["node"], ("healthy", 0)) != what:
                    changes.append((plan["now"], node["node"], *what))
                    now[node["node"]] = what
    return changes


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--watch", required=True, help="straggle-watch, with options if needed")
    p.add_argument("--out", default=os.path.join(HERE, "replayed"))
    p.add_argument("--every", type=float, default=10, metavar="SECONDS", help="between two plans (default 10)")
    options = p.parse_args()
    changes = replay(options.watch, options.every)
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "states.csv"), "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["seconds", "node", "state", "in_file"])
        out.writerows(changes)
    print(f"{len(changes)} changes", file=sys.stderr)


if __name__ == "__main__":
    main()
