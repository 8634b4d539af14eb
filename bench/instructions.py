#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Counts the instructions of the library's kernels with callgrind and compares them with the recorded counts.

usage: instructions.py [--record] [--tolerance PERCENT] PROGRAM

PROGRAM is the built bench/instructions. Counts do not depend on the load of the machine, but on the compiler and the
standard library. Those are recorded as well; if they differ, the comparison is only reported.
Exit status: 0 fine, 1 a kernel needs more instructions than recorded by more than the tolerance, 2 cannot run.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

RECORDED = pathlib.Path(__file__).with_name("instructions.json")
KERNELS = {  # name: number of items, by which its count is divided
    "student_t_quantile_integer": 1000, "student_t_quantile_real": 1000, "student_t_critical": 10000,
    "rank_nodes_double": 100000, "rank_nodes_ticks": 100000, "rank_nodes_text_ids": 100000,
    "monitor_observe_new": 100000, "monitor_observe_known": 100000, "monitor_rank": 100000,
    "p_cores_1000": 1000, "p_cores_100000": 100000, "top_k_intersection": 10000,
    "job_progress_running": 100000, "scan_late": 100000,
}


def count(program, kernel):
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", "--toggle-collect=counted", "--callgrind-out-file=" + folder + "/out",
             program, kernel], capture_output=True, text=True)
    found = re.search(r"Collected\s*:\s*(\d+)", run.stderr)
    if run.returncode != 0 or not found:
        sys.exit("instructions.py: " + (run.stderr.strip().splitlines() or ["no output"])[-1])
    return int(found.group(1))


def compiler(program):
    text = subprocess.run(["readelf", "-p", ".comment", program], capture_output=True, text=True).stdout
    return sorted(set(re.findall(r"\]\s+(\S.*)", text)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--record", action="store_true", help="record the counts instead of comparing them")
    parser.add_argument("--tolerance", type=float, default=3.0, metavar="PERCENT")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        print("instructions.py: valgrind is not installed", file=sys.stderr)
        return 2
    built_by = compiler(options.program)
    counts = {kernel: count(options.program, kernel) for kernel in KERNELS}
    if options.record:
        RECORDED.write_text(json.dumps({"compiler": built_by, "counts": counts}, indent=2) + "\n")
    recorded = json.loads(RECORDED.read_text())
    comparable = recorded["compiler"] == built_by
    worse = 0
    print(f"{'kernel':28} {'instructions':>13} {'per item':>9} {'recorded':>13} {'change':>8}")
    for kernel, items in KERNELS.items():
        then = recorded["counts"].get(kernel)
        change = 100 * (counts[kernel] / then - 1) if then else 0
        worse += change > options.tolerance
        print(f"{kernel:28} {counts[kernel]:13} {counts[kernel] / items:9.1f} {then or 0:13} {change:+7.1f}%")
    if not comparable:
        print(f"built by {built_by}, recorded with {recorded['compiler']}: for information only")
    return 1 if worse and comparable else 0


if __name__ == "__main__":
    sys.exit(main())
