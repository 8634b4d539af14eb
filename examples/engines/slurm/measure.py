#!/usr/bin/python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""What the controller gains: the same stream of jobs on three Slurm clusters of eight nodes at the same time: without control,
with slow nodes reserved by hand exactly while they are slow, and with the controller.

    measure.py --cells good-60,good-100,third-60,third-100,none-60 --repetitions 8 --out FOLDER     as root
    measure.py --check     a short run that fails if the controller does not work
    measure.py --check-copies     the same for copies of array tasks
    measure.py --check-recovery   how long after its first probe a recovered node is back; --repetitions

In a cell `good`, two nodes run at 30 % all the time; in `third`, one node does in the middle third of the run; in `none`
all are healthy. The number is the load, in percent of what the healthy nodes can do. Tasks sleep rather than work, so that results
depend little on the machine; tasks measure job times themselves. The controller keeps what it learned from one repetition to
the next; the first repetition counts as well.
"""
import argparse
import csv
import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "common"))
from measuring import interval  # noqa: E402
from workload import read_groups  # noqa: E402

NODES, TASKS, SECONDS, SLOWER = 8, 12, 3.0, 1 / 0.3
VARIANTS = ("without", "by-hand", "controller")
VICTIMS = {"good": ["n2", "n5"], "third": ["n2"], "none": []}


class Cluster:
    def __init__(self, variant, options, more=()):
        self.variant, self.options = variant, options
        self.folder = tempfile.mkdtemp(prefix="straggle-slurm-%s-" % variant)
        self.port = 12000 + 200 * VARIANTS.index(variant) + 1000 * (os.getpid() % 20)  # below ephemeral ports
        self.environment = dict(os.environ, SLURM_CONF=self.folder + "/etc/slurm.conf")
        self.controller = None
        try:
            subprocess.run([HERE + "/cluster.sh", "up", self.folder, str(self.port), str(options.nodes)], check=True,
                           stdout=subprocess.DEVNULL, timeout=120)
            for name in ("factor", "times"):
                os.mkdir(self.folder + "/" + name)
            if variant == "controller":
                self.log = self.folder + "/controller.log"
                self.controller = subprocess.Popen(
                    [sys.executable, HERE + "/controller.py", "--apply", "--every", "2", "--state",
                     self.folder + "/learned", "--watch", options.watch, *more], env=self.environment,
                    stdout=open(self.log, "w"), stderr=subprocess.STDOUT)
        except BaseException:
            self.close()
            raise

    def slurm(self, *command, **more):
        return subprocess.run(command, env=self.environment, timeout=60, check=True, text=True,
                              stdout=subprocess.PIPE, **more).stdout

    def slow(self, node, is_slow, slower=None):
        slower = slower or self.options.slower
        path = self.folder + "/factor/" + node
        with open(path + ".new", "w") as file:
            file.write(str(slower if is_slow else 1))
        os.rename(path + ".new", path)
        if self.variant == "by-hand":
            if is_slow:
                self.slurm("scontrol", "create", "reservation", "ReservationName=hand_" + node, "Nodes=" + node,
                           "Accounts=root", "StartTime=now", "Duration=60", "Flags=IGNORE_JOBS")
            else:
                self.slurm("scontrol", "delete", "ReservationName=hand_" + node)

    def submit(self, lengths):
        script = """#!/bin/bash
lengths=(%s)
read -r factor 2>/dev/null <"%s/factor/$SLURMD_NODENAME" || factor=${factor:-1}
begin=$EPOCHREALTIME
sleep "$(awk "BEGIN { print ${lengths[SLURM_ARRAY_TASK_ID]} * $factor }")"
echo "$SLURM_ARRAY_TASK_ID $SLURMD_NODENAME $begin $EPOCHREALTIME" >>"%s/times/$SLURM_ARRAY_JOB_ID"
""" % (" ".join("%.3f" % x for x in lengths), self.folder, self.folder)
        out = self.slurm("sbatch", "--parsable", "--array=0-%d" % (len(lengths) - 1), "-J", "stream", "-o", "/dev/null",
                         input=script)
        return out.strip()

    def times(self, job):
        try:
            with open(self.folder + "/times/" + job) as file:
                rows = [line.split() for line in file]
        except OSError:
            return []
        return [(int(t), n, float(b), float(e)) for t, n, b, e in (r for r in rows if len(r) == 4)]

    def close(self):
        if self.controller is not None:
            self.controller.send_signal(signal.SIGTERM)
            try:
                self.controller.wait(20)
            except subprocess.TimeoutExpired:
                self.controller.kill()
        subprocess.run([HERE + "/cluster.sh", "down", self.folder], timeout=120, stdout=subprocess.DEVNULL)
        shutil.rmtree(self.folder, ignore_errors=True)


def stream(cell, repetition, seconds):
    """When jobs arrive, and how long their tasks take: the same for all three."""
    scenario, load = cell.split("-")
    r = random.Random("%s/%d" % (cell, repetition))
    well = NODES - (len(VICTIMS[scenario]) if scenario == "good" else 0)
    between = TASKS * SECONDS / (well * int(load) / 100)
    jobs, at = [], 0.0
    while at < seconds:
        jobs.append((at, [SECONDS * math.exp(0.15 * r.gauss(0, 1)) for _ in range(TASKS)]))
        at += between * r.uniform(0.6, 1.4)
    return jobs


def repetition(clusters, cell, number, seconds, rows, tasks, workload=None):
    scenario = cell.split("-")[0]
    jobs = read_groups(workload, "array") if workload else stream(cell, number, seconds)
    events = [(at, "job", i) for i, (at, _) in enumerate(jobs)]
    if scenario == "third":
        events += [(seconds / 3, "slow", True), (2 * seconds / 3, "slow", False)]
    events.sort()
    begin = time.time()
    submitted = {c: [] for c in clusters}
    for at, what, which in events:
        time.sleep(max(0, begin + at - time.time()))
        for cluster in clusters:
            if what == "slow":
                for node in cluster.options.victims or VICTIMS[scenario]:
                    cluster.slow(node, which)
            else:
                now = time.time()
                submitted[cluster].append((now, cluster.submit(jobs[which][1]), len(jobs[which][1])))
    end = time.time() + 120
    waiting = {(c, job, size) for c in clusters for _, job, size in submitted[c]}
    while waiting and time.time() < end:
        time.sleep(0.5)
        waiting = {(c, job, size) for c, job, size in waiting if len(c.times(job)) < size}
    for cluster in clusters:
        for i, (at, job, size) in enumerate(submitted[cluster]):
            done = cluster.times(job)
            complete = len(done) == size
            rows.append({"cell": cell, "repetition": number, "variant": cluster.variant, "job": i,
                         "at": round(at - begin, 2), "seconds": round(max(e for *_, e in done) - at, 3) if complete else ""})
            for task, node, b, e in done:
                tasks.append({"cell": cell, "repetition": number, "variant": cluster.variant, "job": i, "task": task,
                              "node": node, "begin": round(b - begin, 2), "end": round(e - begin, 2)})
    return begin


def report(rows):
    """Per cell: mean job times, and the gain by hand and by the controller over doing nothing, paired by repetition."""
    text = []
    for cell in dict.fromkeys(r["cell"] for r in rows):
        means = {}
        for variant in VARIANTS:
            for number in sorted({int(r["repetition"]) for r in rows if r["cell"] == cell}):
                mine = [float(r["seconds"]) for r in rows if r["cell"] == cell and r["variant"] == variant
                        and int(r["repetition"]) == number and r["seconds"] != ""]
                if mine:
                    means[variant, number] = sum(mine) / len(mine)
        numbers = [n for v, n in means if v == VARIANTS[0] and all((w, n) in means for w in VARIANTS)]
        if not numbers:
            alone = [m for (_, _), m in means.items()]
            text.append("%-10s repetitions %d  %.2f s" % (cell, len(alone), sum(alone) / max(1, len(alone))))
            continue
        line = "%-10s repetitions %d" % (cell, len(numbers))
        for variant in VARIANTS:
            line += "  %s %.2f s" % (variant, sum(means[variant, n] for n in numbers) / len(numbers))
        for variant in VARIANTS[1:]:
            mean, half = interval([100 * (1 - means[variant, n] / means[VARIANTS[0], n]) for n in numbers])
            line += "  %s shorter by %.1f %% (+-%.1f)" % (variant, mean, half)
        text.append(line)
    return text


def write(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def changes(log, begin):
    """What the controller did, from its log: (seconds, node, action)."""
    found = []
    for line in open(log):
        m = re.match(r"(\S+) (n\d): (take|give back)", line)
        if m:
            found.append((time.mktime(time.strptime(m[1], "%Y-%m-%dT%H:%M:%S")) - begin, m[2], m[3]))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--watch", default="straggle-watch --share-of-slots 0.3 --left-alone 0")
    parser.add_argument("--cells", default="good-60,good-100,third-60,third-100,none-60,none-100",
                        help="separated by commas; a number after a colon: that many repetitions of the cell")
    parser.add_argument("--repetitions", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=90, help="of submission, in each repetition")
    parser.add_argument("--workload", help="CSV with a row per task: array, due (seconds from the start), seconds")
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--victims", type=lambda names: names.split(","), help="slow nodes, separated by commas, instead of the cell's")
    parser.add_argument("--slower", type=float, default=SLOWER, help="how many times as long tasks take on slow nodes")
    parser.add_argument("--variants", default=",".join(VARIANTS), help="which of the three, separated by commas")
    parser.add_argument("--out", default="slurm-measured")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--check-copies", action="store_true")
    parser.add_argument("--check-recovery", action="store_true")
    options = parser.parse_args()
    for program in ("slurmctld", "slurmd", "slurmdbd", "munged", "mariadbd"):
        if shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin") is None:
            print("skipped: %s is not installed (see cluster.sh)" % program)
            return 77
    if os.getuid() != 0:
        print("skipped: the cluster needs root")
        return 77
    os.makedirs(options.out, exist_ok=True)
    if options.check_recovery:
        return check_recovery(options)
    if options.check or options.check_copies:
        return (check if options.check else check_copies)(options)
    rows, tasks, actions = [], [], []
    for cell in options.cells.split(","):
        cell, _, repetitions = cell.partition(":")
        clusters = []
        try:
            for variant in options.variants.split(","):
                clusters.append(Cluster(variant, options))
            if cell.startswith("good"):
                for cluster in clusters:
                    for node in options.victims or VICTIMS["good"]:
                        cluster.slow(node, True)
            began = []
            for number in range(int(repetitions or options.repetitions)):
                began.append(repetition(clusters, cell, number, options.seconds, rows, tasks, options.workload))
                write(options.out + "/jobs.csv", rows)
                write(options.out + "/tasks.csv", tasks)
                print("\n".join(report([r for r in rows if r["cell"] == cell])), flush=True)
            ruled = [c for c in clusters if c.controller is not None]
            for number, begin in enumerate(began if ruled else []):
                until = began[number + 1] if number + 1 < len(began) else 1e18
                actions += [(cell, number, t, node, what) for t, node, what in changes(ruled[0].log, begin)
                            if 0 <= t < until - begin]
            if ruled:
                shutil.copy(ruled[0].log, "%s/%s.log" % (options.out, cell))
            with open(options.out + "/actions.csv", "w", newline="") as file:
                csv.writer(file).writerows([("cell", "repetition", "seconds", "node", "action")] + actions)
        finally:
            for cluster in clusters:
                cluster.close()
    print("\n".join(report(rows)))
    return 0


def check(options):
    """Takes two minutes: only the slow node is taken out, and all nodes are back when the controller ends."""
    cluster = Cluster("controller", options)
    try:
        cluster.slow("n2", True)
        for number in range(14):
            for _, lengths in stream("none-60", number, 1):
                cluster.submit(lengths)
            time.sleep(8)
            taken = [a for a in changes(cluster.log, 0) if a[2] == "take"]
            if taken:
                break
        during = cluster.slurm("scontrol", "-o", "show", "reservation")
        cluster.slurm("scancel", "-u", "root")
        cluster.controller.send_signal(signal.SIGTERM)
        cluster.controller.wait(30)
        after = cluster.slurm("scontrol", "-o", "show", "reservation")
    finally:
        log = open(cluster.log).read()
        cluster.close()
    print(log)
    ok = {a[1] for a in taken} == {"n2"} and "straggle_n2" in during and "straggle_" not in after
    print("ok" if ok else "FAIL: taken %s, then %s" % (taken, after.strip()))
    return 0 if ok else 1


def one_recovery(options, number):
    """A stream at 60 %; n2 is slow until it is out, and healthy from then on. Returns when its first probe begins and when it is
    back, in seconds since it was out; None if that took more than five minutes."""
    cluster = Cluster("controller", options)
    try:
        cluster.slow("n2", True)
        jobs, out, begin, at = [], None, time.time(), 0.0
        for _, lengths in (job for i in range(9) for job in stream("none-60", 100 * number + i, 60)):
            at += TASKS * SECONDS / (NODES * 0.6)
            while time.time() < begin + at:
                time.sleep(0.2)
                if out is None and any(a[1:] == ("n2", "take") for a in changes(cluster.log, 0)):
                    out = time.time()
                    cluster.slow("n2", False)
            jobs.append(cluster.submit(lengths))
            states = re.findall(r"^(\S+) n2: (excluded|on_probation|healthy)", open(cluster.log).read(), re.M)
            if out is not None and states[-1][1] == "healthy":
                break
            if out is not None and time.time() > out + 300:
                return None
        back = time.mktime(time.strptime(states[-1][0], "%Y-%m-%dT%H:%M:%S"))
        tasks = [(b, e) for job in jobs for _, node, b, e in cluster.times(job) if node == "n2" and b > out]
        lengths = [e - b for job in jobs for _, node, b, e in cluster.times(job) if node != "n2"]
        probes = [b for b, _ in tasks if b < back]
        return probes[0] - out, back - out, len(probes), sum(lengths) / len(lengths)
    finally:
        shutil.copy(cluster.log, "%s/recovery-%d.log" % (options.out, number))
        cluster.close()


def check_recovery(options):
    rows = []
    for number in range(options.repetitions):
        found = one_recovery(options, number)
        if found is not None:
            probed, back, probes, usual = found
            rows.append({"repetition": number, "probed": round(probed, 1), "back": round(back, 1), "probes": probes,
                         "usual": round(usual, 2)})
            print(rows[-1], flush=True)
    if rows:
        write(options.out + "/recovery.csv", rows)
    late = [r["back"] - r["probed"] for r in rows]
    print("from its first probe until it is back: %s s" % ", ".join("%.1f" % x for x in late))
    return 0 if len(rows) == options.repetitions and sorted(late)[len(late) // 2] <= 12 else 1  # three windows


# Requests a copy on n1 of everything that has run on n2 for five seconds; straggle-watch is not involved.
ASKS = """import json, sys
running = []
for line in sys.stdin:
    said = json.loads(line)
    running = said.get("running", running)
    if said["event"] == "decide":
        copies = [dict(r, to="n1", reason="it is on n2") for r in running
                  if r["node"] == "n2" and r["may_copy"] and said["now"] - r["start"] > 5]
        print(json.dumps({"event": "plan", "now": said["now"], "nodes": [], "notes": [], "copies": copies,
                          "ended": {"count": 0, "mean": 0}}), flush=True)
"""


def check_copies(options):
    """Takes two minutes: slow array tasks are copied, both attempts succeed, and jobs that depend on the arrays run."""
    program = tempfile.NamedTemporaryFile("w", suffix=".py")
    program.write(ASKS)
    program.flush()
    options.watch = "%s %s" % (sys.executable, program.name)
    cluster = Cluster("controller", options, ["--copies"])
    try:
        results = cluster.folder + "/results"
        os.mkdir(results)
        cluster.slow("n2", True, 8)
        command = "read -r factor 2>/dev/null <%s/factor/$SLURMD_NODENAME || factor=${factor:-1}; " \
                  "sleep $(awk \"BEGIN { print 3 * $factor }\"); echo $SLURMD_NODENAME >$STRAGGLE_OUTPUT" % cluster.folder
        arrays, after = [], []
        for _ in range(4):
            arrays.append(cluster.slurm("sbatch", "--parsable", "--array=0-9", "--comment=straggle:copy", "-J", "stream", "-o",
                                        "/dev/null", HERE + "/straggle-attempt", results, "bash", "-c", command).strip())
            after.append(cluster.slurm("sbatch", "--parsable", "--dependency=afterok:" + arrays[-1], "-o", "/dev/null",
                                       "--wrap=true").strip())
            time.sleep(10)
        end = time.time() + 60
        states = {}
        while time.time() < end and not all(states.get(job) == "COMPLETED" for job in after):
            time.sleep(2)
            rows = cluster.slurm("sacct", "-a", "-X", "-n", "-P", "-S", "now-10minutes", "-o", "JobID,State").splitlines()
            states = dict(row.split("|")[:2] for row in rows)
    finally:
        log = open(cluster.log).read()
        found = sorted(os.listdir(results))
        cluster.close()
    print(log)
    ran = [job for job, state in states.items() if job.partition("_")[0] not in arrays + after and state == "COMPLETED"]
    mine = {state for job, state in states.items() if job.partition("_")[0] in arrays + after}
    print("requested %d copies, %d ran to the end; states of originals and of dependent jobs: %s; results %d of %d" % (
        log.count(" copy of "), len(ran), mine, len(found), 10 * len(arrays)))
    return 0 if ran and mine == {"COMPLETED"} and len(found) == 10 * len(arrays) else 1


if __name__ == "__main__":
    sys.exit(main())
