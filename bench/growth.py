#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Counts instructions (with callgrind) and bytes at one size and at four times that size: neither may grow faster
than the data.

usage: growth.py [--large] [--only WORD] PROGRAM [STRAGGLE_RANK]

PROGRAM is the built bench/growth. With STRAGGLE_RANK, the program of that name, histories are ranked as well.
--large uses sizes that take an hour and show what small ones hide. Exit status: 0 fine, 1 something grows by a factor
of more than 4.4, 2 cannot run.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MOST = 4.4
# Case: the small size, and that of --large. The sizes of job cases are beyond the bounds on jobs.
CASES = {
    "observe.nodes": (1000, 25000), "observe.jobs": (50000, 250000), "observe.attempts": (10000, 250000),
    "observe.names": (1000, 25000),
    "decide.nodes": (500, 25000), "decide.jobs": (5000, 25000), "decide.attempts": (4000, 250000),
    "decide.names": (500, 25000),
    "replace.nodes": (500, 25000), "replace.jobs": (5000, 25000),
    "rank_places.nodes": (2000, 25000), "rank_places.tasks": (500, 2500),
    "place_tasks.nodes": (2000, 25000), "place_tasks.tasks": (2500, 25000),
    "published.nodes": (1000, 25000),
    "serialize.nodes": (1000, 25000), "serialize.jobs": (2000, 50000), "serialize.names": (1000, 25000),
    "restore.nodes": (1000, 25000), "restore.jobs": (2000, 50000), "restore.names": (1000, 25000),
    "merge.nodes": (1000, 25000), "merge.jobs": (2000, 50000), "merge.names": (1000, 25000),
    "blacklist.nodes": (500, 25000), "blacklist.jobs": (2000, 50000), "blacklist.attempts": (4000, 250000),
    "rank.nodes": (4000, 250000), "rank.jobs": (4000, 250000), "rank.attempts": (8000, 250000),
    "monitor.nodes": (4000, 250000), "monitor.jobs": (4000, 250000), "monitor.attempts": (8000, 250000),
}
HISTORIES = {"straggle-rank.nodes": (1000, 7500), "straggle-rank.jobs": (4000, 25000),
             "straggle-rank.attempts": (8000, 75000)}


def collected(command, toggle):
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", *toggle, *command],
                             capture_output=True, text=True)
    found = re.search(r"Collected\s*:\s*(\d+)", run.stderr)
    if run.returncode != 0 or not found:
        raise RuntimeError(" ".join(map(str, command)) + ": " + (run.stderr.strip().splitlines() or ["no output"])[-1])
    memory = re.search(r"^bytes (\d+)", run.stdout, re.M)
    return int(found.group(1)), int(memory.group(1)) if memory else 0


def count(program, case, size):
    return collected([program, case, str(size)], ["--toggle-collect=counted"])


def count_history(program, case, size):
    """A whole run, reading included, minus what a run over one row takes."""
    grows = case.split(".")[1]
    nodes, tasks = (size, 50) if grows == "nodes" else (100, 1 if grows == "jobs" else 500)
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for rows in (1, size):
            files.append(pathlib.Path(folder, f"{rows}.csv"))
            lines = [f"j{i // tasks},{i},n{(i * 2654435761 >> 8) % nodes},{i // 100},{i // 100 + 40 + i * 37 % 20}"
                     for i in range(rows)]
            files[-1].write_text("job,task,node,start,end\n" + "\n".join(lines) + "\n")
        return collected([program, files[1]], [])[0] - collected([program, files[0]], [])[0], 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("straggle_rank", nargs="?")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--only", default="", metavar="WORD", help="only cases whose name contains this")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1, help="how many run at once")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        print("growth.py: valgrind is not installed", file=sys.stderr)
        return 2
    ways = [(case, sizes, count, options.program) for case, sizes in CASES.items()]
    if options.straggle_rank:
        ways += [(case, sizes, count_history, options.straggle_rank) for case, sizes in HISTORIES.items()]
    worse = 0
    print(f"{'case':24} {'size':>8} {'instructions':>14} {'at 4 times':>14} {'growth':>7} "
          f"{'bytes':>11} {'at 4 times':>11} {'growth':>7}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        runs = []
        for case, sizes, how, program in ways:
            if options.only not in case:
                continue
            size = sizes[1 if options.large else 0]
            runs.append((case, size, pool.submit(how, program, case, size), pool.submit(how, program, case, 4 * size)))
        for case, size, one, four in runs:
            (work, memory), (more_work, more_memory) = one.result(), four.result()
            growth = more_work / work
            # A difference of less than a page means nothing, and a table may just have doubled.
            growth_of_memory = more_memory / memory if memory > 4096 else 0
            is_worse = growth > MOST or growth_of_memory > 2 * MOST
            worse += is_worse
            print(f"{case:24} {size:8} {work:14} {more_work:14} {growth:7.2f} "
                  f"{memory:11} {more_memory:11} {growth_of_memory:7.2f}{'  too much' if is_worse else ''}", flush=True)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
