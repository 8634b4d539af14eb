#!/usr/bin/python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""What the C shim gains in Work Queue. Three managers run the same batches at the same time: one without a remedy, one with
Work Queue's own fast abort, one with the shim. Each has six workers, one of which is slow in the middle two thirds.

    work_queue_measure.py --manager build/dev/examples/c_shim/work_queue_manager --repetitions 6 --out FOLDER    as root
    work_queue_measure.py --check     a short run that fails if the shim does not work

Tasks sleep rather than work, so that results depend little on the machine. Work Queue blocks workers by host name; to have
different names on one host, each worker runs in a UTS namespace of its own, with a hosts file that contains its name.
"""
import argparse
import csv
import math
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "engines", "common"))
from measuring import interval, stop  # noqa: E402
from workload import read_groups  # noqa: E402

WORKERS, VICTIM, POLICIES = 6, "w3", ("none", "fast-abort", "straggle")
NAME_SPACE = 'mount --bind "$1" /etc/hosts && hostname "$2" && shift 2 && exec "$@"'


def drawn(number, options):
    """The batch of that number without a workload: 24 tasks of half a second, lognormal."""
    r = random.Random("%d/%d" % (options.seed, number))
    return [0.5 * math.exp(0.2 * r.gauss(0, 1)) for _ in range(24)]


class Run:
    """A manager and its workers; `seconds` receives the time of each batch."""

    def __init__(self, options, policy, batches):
        self.options, self.policy, self.batches, self.seconds = options, policy, batches, []
        self.folder = tempfile.mkdtemp(prefix="straggle-wq-")
        self.processes = []
        with open(self.folder + "/hosts", "w") as file:
            file.write("127.0.0.1 localhost\n")
            file.writelines("127.0.1.%d w%d\n" % (n + 1, n) for n in range(WORKERS))
        self.slow(1)
        with open(self.folder + "/task.sh", "w") as file:
            file.write('read -r factor <"%s/factor"; [ "$(hostname)" = %s ] || factor=1\n'
                       'sleep "$(awk "BEGIN { print $1 * $factor }")"\n' % (self.folder, VICTIM))
        with open(self.folder + "/tasks", "w") as file:
            file.writelines("%d %.3f\n" % (b, t) for b, (_, times) in enumerate(batches) for t in times)
        self.manager = self.spawn([options.manager, policy, "/bin/sh %s/task.sh" % self.folder],
                                  stdin=open(self.folder + "/tasks"), stdout=subprocess.PIPE, text=True,
                                  stderr=open(self.folder + "/log", "w"))
        port = self.manager.stdout.readline().strip()
        for n in range(WORKERS):
            self.spawn(["unshare", "--uts", "--mount", "sh", "-c", NAME_SPACE, "sh", self.folder + "/hosts", "w%d" % n,
                        "work_queue_worker", "--cores=1", "--memory=100", "--disk=100", "-t", "60", "-s", self.folder,
                        "127.0.0.1", port], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def spawn(self, command, **more):
        self.processes.append(subprocess.Popen(command, cwd=self.folder, **more))
        return self.processes[-1]

    def slow(self, factor):
        with open(self.folder + "/factor.new", "w") as file:
            file.write("%g\n" % factor)
        os.rename(self.folder + "/factor.new", self.folder + "/factor")

    def watch(self):
        sixth = len(self.batches) // 6
        for line in self.manager.stdout:
            self.seconds.append(float(line.split()[1]))
            if len(self.seconds) == sixth:
                self.slow(self.options.factor)
            elif len(self.seconds) == len(self.batches) - sixth:
                self.slow(1)
        self.log = open(self.folder + "/log").read()

    def close(self):
        stop(self.processes)
        shutil.rmtree(self.folder, ignore_errors=True)


def repetition(options, batches, policies):
    """Seconds of all batches, by policy."""
    runs = [Run(options, policy, batches) for policy in policies]
    try:
        threads = [threading.Thread(target=r.watch) for r in runs]
        for t in threads:
            t.start()
        for t in threads:
            t.join(options.timeout)
        if options.check or options.verbose:
            print("".join(r.log for r in runs), end="", flush=True)
        return {r.policy: list(r.seconds) for r in runs}, "".join(r.log for r in runs)
    finally:
        for r in runs:
            r.close()


def report(rows, policies):
    for policy in policies[1:]:
        gains = [100 * (1 - sum(r[policy]) / sum(r[policies[0]])) for r in rows]
        print("%-10s all batches take %.1f %% (+-%.1f) less than with %s; n %d, seconds %.1f and %.1f" % (
            policy, *interval(gains), policies[0], len(gains), statistics.mean(sum(r[policy]) for r in rows),
            statistics.mean(sum(r[policies[0]]) for r in rows)), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--manager", default="build/dev/examples/c_shim/work_queue_manager")
    parser.add_argument("--batches", type=int, default=48)
    parser.add_argument("--workload", help="CSV with a row per task: batch, due (not used: a batch follows the one before), seconds")
    parser.add_argument("--factor", type=float, default=5, help="how many times as long tasks take on the slow worker")
    parser.add_argument("--repetitions", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=900)
    parser.add_argument("--out", default="work-queue-measured")
    parser.add_argument("--verbose", action="store_true", help="print which workers the manager blocks")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if shutil.which("work_queue_worker") is None or os.getuid() != 0 or not os.access(options.manager, os.X_OK):
        print("skipped: it needs work_queue_worker (Debian: coop-computing-tools), the manager, and root for name spaces")
        return 77
    options.manager = os.path.abspath(options.manager)
    os.makedirs(options.out, exist_ok=True)
    policies = ("none", "straggle") if options.check else POLICIES
    rows = []
    for n in range(1 if options.check else options.repetitions):
        batches = (read_groups(options.workload, "batch") if options.workload else
                   [(0, drawn(1000 * n + b, options)) for b in range(options.batches)])
        row, log = repetition(options, batches, policies)
        rows.append(row)
        with open(os.path.join(options.out, "batches.csv"), "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("repetition", "batch") + policies)
            for i, row in enumerate(rows):
                writer.writerows((i, b) + times for b, times in enumerate(zip(*(row[p] for p in policies))))
        report(rows, policies)
    if not options.check:
        return 0
    ratio = sum(rows[0]["straggle"]) / sum(rows[0]["none"])
    ok = [expect(len(rows[0]["straggle"]) == options.batches, "every batch ends"),
          expect("block %s: excluded" % VICTIM in log, "the slow worker is blocked"),
          expect(not re.search("block (?!%s)" % VICTIM, log), "no other worker is"),
          expect(ratio < 1, "all batches take %.2f times as long" % ratio)]
    return 0 if all(ok) else 1


def expect(holds, what):
    print("%s %s" % ("ok  " if holds else "FAIL", what), flush=True)
    return holds


if __name__ == "__main__":
    sys.exit(main())
