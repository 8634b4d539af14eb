#!/usr/bin/python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Keeps jobs away from slow, hanging and failing nodes of a Slurm cluster, as straggle-watch decides.

Every few seconds it reads what has ended (sacct) and what runs and waits (squeue), and applies the plan to the nodes. A node
is taken out by a reservation that expires after ten minutes and is renewed as long as it is needed: if this program is gone,
its nodes come back. A node that an administrator drained, stopped or reserved is left alone.

Without --apply it only says what it would do.
"""
import argparse
import fcntl
import json
import os
import re
import shlex
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import straggle_watch  # noqa: E402

from out_of_service import Drains, Reservations, SlurmSilent, slurm  # noqa: E402
from second_attempts import SecondAttempts  # noqa: E402

NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*\Z", re.ASCII)
ENDS = {"COMPLETED": "success", "CANCELLED": "killed", "PREEMPTED": "killed", "REQUEUED": "killed", "REVOKED": "killed"}


def log(*words):
    print(time.strftime("%Y-%m-%dT%H:%M:%S"), *words, flush=True)


class Controller:
    def __init__(self, options):
        self.options = options
        self.out = Drains(options) if options.drain else Reservations(options)
        self.second = SecondAttempts(options, lambda *command: slurm(*command))
        self.watch, self.next_start = None, 0
        self.seen = {}  # (job number, start) of each attempt already reported: when it ended
        self.since = time.time() - options.history
        self.silent_since = None
        self.gaps = []  # (from, to): Slurm did not answer; attempts that overlap look longer than they were
        self.last_jobs = {}  # array or job: when it was last seen
        self.probing = {}  # node: when its reservation was dropped for a probe
        self.tried = {}  # node on probation: how long its last probe took
        self.hurry = False  # a probe has ended: decide at once
        self.pause = options.every  # until the next decision
        self.states, self.notes = {}, set()
        self.cpus = {}
        self.usual = 0  # how long tasks take
        self.recall()

    # What was reported is kept beyond this process, like what was learned from it.
    def recall(self):
        if not self.options.state:
            return
        try:
            with open(os.path.join(self.options.state, "told.json")) as file:
                kept = json.load(file)
            self.seen = {(str(raw), str(start)): float(end) for raw, start, end in kept["seen"]}
            self.since = max(self.since, float(kept["since"]))
            self.gaps = [(float(begin), float(end)) for begin, end in kept["gaps"]]
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError) as problem:
            log("told.json cannot be read, so accounting is reported from the beginning:", problem)

    def remember(self):
        if not self.options.state:
            return
        path = os.path.join(self.options.state, "told.json")
        with open(path + ".new", "w") as file:
            json.dump({"since": self.since, "gaps": self.gaps,
                       "seen": [[raw, start, end] for (raw, start), end in self.seen.items()]}, file)
        os.replace(path + ".new", path)

    # What Slurm reports.
    def overlap(self):
        return max(30, 10 * self.options.every)

    def tell_end(self, raw, array, task, node, state, start, end, name):
        """Reports an ended attempt once, whether accounting or the queue has it first; false if it was reported before."""
        if not NODE.match(node) or not start.isdigit() or not end.isdigit():
            return False
        key, start, end = (raw, start), int(start), int(end)
        if key in self.seen or end < self.since - self.overlap():
            return False
        self.seen[key] = end
        if any(begin < end and start < until for begin, until in self.gaps):
            return True
        status = ENDS.get(state.split()[0], "failed")
        array, task, status, more = self.second.ended(raw, array, task, status)
        if status == "success" and self.states.get(node) == "on_probation":
            self.tried[node] = max(end - start, 0.5)
        # Times are whole seconds: use the mean of the possible lengths.
        self.watch.ended(array, node, start, max(end, start + 0.5), status, task=task, attempt=raw, kind=name[:200], **more)
        return True

    def read_ended(self):
        """What has ended according to accounting, which is complete, while the queue soon forgets. It lags by about two seconds,
        and may not know the array and the name of a record yet, for which it says `allocation`."""
        begin = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(self.since - self.overlap()))
        rows = slurm("sacct", "-a", "-X", "-D", "-n", "-P", "-S", begin, "-E", "now", "-s", "CD,F,CA,TO,NF,OOM,RQ,PR",
                     "-o", "JobIDRaw,JobID,JobName,NodeList,State,Start,End,NNodes", timeout=20)
        newest = self.since
        for row in rows.splitlines():
            fields = row.split("|")
            if len(fields) != 8 or fields[7] != "1":
                continue
            raw, job, name, node, state, start, end, _ = fields
            if name == "allocation" and end.isdigit() and time.time() - int(end) < self.overlap() / 2:
                continue
            array, _, task = job.partition("_")
            self.tell_end(raw, array, task or raw, node, state, start, end, name)
            if end.isdigit():
                newest = max(newest, int(end))
        self.since = newest
        for key in [k for k, end in self.seen.items() if end < self.since - 2 * self.overlap()]:
            del self.seen[key]
        self.gaps = [g for g in self.gaps if g[1] > time.time() - 86400]

    def read_queue(self):
        """What runs, and how many tasks wait for a node; also what ended too recently for accounting."""
        now, running, waiting, jobs = time.time(), [], 0, set()
        for line in slurm("squeue", "-h", "-r", "-t", "R,PD,CG,CD,F,CA,TO,NF,OOM,PR", "-o",
                          "%F|%K|%A|%N|%T|%S|%e|%D|%r|%u|%k|%j").splitlines():
            fields = line.split("|", 11)
            if len(fields) != 12:
                continue
            array, task, raw, node, state, start, end, nodes, why, user, comment, name = fields
            if task == "N/A":
                task = raw
            if state in ("PENDING", "RUNNING", "COMPLETING"):
                jobs.add(array)
            if state == "PENDING":
                waiting += why.strip("()") in ("Resources", "Priority", "None", "Reservation")
            elif state == "COMPLETING" or nodes != "1" or not start.isdigit():
                continue
            elif state == "RUNNING":
                running.append({"attempt": raw, "node": node, "start": int(start), "kind": name[:200],
                                **self.second.see(raw, array, task, user, comment)})
            else:
                self.tell_end(raw, array, task, node, state, start, end, name)
        for job in jobs:
            self.last_jobs[job] = now
        over = {job for job, seen in self.last_jobs.items() if now - seen > 10}  # and sacct has reported all of them
        for job in over:
            self.watch.finish(job)
            del self.last_jobs[job]
        self.second.forget(over)
        return running, waiting

    def read_nodes(self, running):
        """All nodes, with those that we must not touch marked."""
        others = self.out.look()
        busy, nodes, self.cpus, self.condition = {}, [], {}, {}
        for attempt in running:
            busy[attempt["node"]] = busy.get(attempt["node"], 0) + 1
        for line in slurm("sinfo", "-h", "-N", "-o", "%N|%T|%c|%E").splitlines():
            name, state, cpus, reason = line.split("|", 3)
            if name in self.cpus or not NODE.match(name):
                continue  # once per partition
            state = state.strip("*$~#!%@^-+")
            if self.options.drain:
                self.out.see(name, state, reason)
            self.cpus[name] = max(1, int(cpus) // self.options.cpus_per_task)
            mine = self.out.is_ours(name)
            is_there = mine or (name not in others and self.out.may_take(state, reason))
            self.condition[name] = "present" if is_there else "away"
            nodes.append({"node": name, "slots": self.cpus[name], "busy": busy.get(name, 0),
                          "condition": "pinned" if name in self.options.never else self.condition[name]})
        return nodes

    # Actions.
    def act(self, what, node, why=""):
        """Takes, renews or gives back a node; true if that was done."""
        if what != "renew":
            log("%s%s: %s%s" % ("" if self.options.apply else "would: ", node, what.replace("_", " "),
                                " (%s)" % why if why else ""))
        return self.do(lambda: getattr(self.out, what)(*([node, why] if what == "take" else [node])))

    def second_attempt(self, what, ask):
        log("%s%s" % ("" if self.options.apply else "would: ", what))
        return self.do(ask)

    def do(self, what):
        if not self.options.apply:
            return False
        try:
            what()
            return True
        except SlurmSilent as problem:
            log("not done:", problem)
            return False

    def obey(self, plan, running, waiting):
        now = time.time()
        if plan["ended"]["count"] != 0:
            self.usual += (plan["ended"]["mean"] - self.usual) * (0.2 if self.usual > 0 else 1)
        states = {n["node"]: n for n in plan["nodes"]}
        for name, n in states.items():
            if n["state"] != self.states.get(name, "healthy"):
                log("%s: %s" % (name, n["reason"]))
        self.states = {name: n["state"] for name, n in states.items()}
        for note in straggle_watch.new_notes(plan, self.notes, self.options.copies or self.options.requeue):
            log("note:", note)
        wanted = {name for name, n in states.items() if n["state"] == "excluded"}
        healthy = sum(cpus for name, cpus in self.cpus.items()
                      if self.condition[name] == "present" and self.states.get(name, "healthy") == "healthy")
        for name, n in states.items():
            slow = n["slowdown"]["value"] if n["slowdown"]["tasks"] else 2
            if n["state"] != "on_probation":
                continue
            began = [a["start"] for a in running if a["node"] == name]
            if len(began) >= n["probe_slots"]:
                wanted.add(name)  # its probes run: no more tasks
                self.probing.pop(name, None)
            elif name not in self.probing:
                # A slow probe at the end of an array costs much of the possible gain. It costs little if it begins with
                # the array, so the node is opened while nothing waits; and nothing if others wait at least as long. If
                # neither happens, the node must not stay out forever. If the last probe was closer to the usual time
                # than to the slow one, the node is no longer slow.
                waited = now - (n["since"] or now) > max(6 * self.options.every, 4 * slow * self.usual)
                is_well = name in self.tried and self.tried[name] ** 2 < slow * self.usual ** 2
                if waiting == 0 or waiting > slow * healthy or waited or is_well:
                    self.probing[name] = now
                    log("%s: on probation: may run %d" % (name, n["probe_slots"]))
                else:
                    wanted.add(name)
        for table in (self.probing, self.tried):
            for name in [name for name in table if self.states.get(name) != "on_probation"]:
                del table[name]
        for name in list(self.out.ours):
            if name not in wanted:
                self.act("give_back", name)
        for name in sorted(wanted):
            if self.condition.get(name) != "present":
                continue
            if self.out.is_ours(name):
                self.act("renew", name)
            else:
                self.act("take", name, states[name]["reason"])

    def step(self):
        now = time.time()
        if self.watch is None:
            if now < self.next_start:
                return
            self.next_start = now + 10
            command = shlex.split(self.options.watch) + ["--state", os.path.join(self.options.state, "watch")]
            self.watch = straggle_watch.Watch(command, log)
        slurm("scontrol", "ping", timeout=5)
        running, waiting = self.read_queue()
        self.read_ended()
        nodes = self.read_nodes(running)
        plan = self.watch.decide(time.time(), nodes, running, waiting, timeout=5)
        if plan is None:
            self.watch.close()
            self.watch = None
            return
        self.remember()
        self.obey(plan, running, waiting)
        self.second.obey(plan, self.second_attempt)
        self.wait_for_probes(plan, running)

    def wait_for_probes(self, plan, running):
        """One probe at a time: the node is taken again as soon as it has its task, and a finished probe is judged at once."""
        slots = {n["node"]: max(1, n["probe_slots"]) for n in plan["nodes"] if n["state"] == "on_probation"}
        ran = {name: {a["attempt"] for a in running if a["node"] == name} for name in slots}
        end = time.time() + self.pause
        while (self.probing or any(ran.values())) and time.time() < end - 0.5 and not self.ending:
            time.sleep(0.5)
            for name in slots:
                runs = set(slurm("squeue", "-h", "-r", "-t", "R,CG", "-w", name, "-o", "%A").split())
                if name in self.probing and len(runs) >= slots[name]:
                    del self.probing[name]
                    self.act("take", name, "its probe runs")
                if ran[name] - runs:
                    self.hurry = True
                    return
                ran[name] |= runs

    ending = False

    def release(self):
        """Gives back all nodes that are ours, also those left by an earlier run."""
        self.out.look()
        if self.options.drain:
            for line in slurm("sinfo", "-h", "-N", "-o", "%N|%T|%E").splitlines():
                name, state, reason = line.split("|", 2)
                self.out.see(name, state, reason)
        for name in list(self.out.ours):
            self.act("give_back", name, "it ends")

    def run(self):
        def end(*_):
            self.ending = True
        signal.signal(signal.SIGTERM, end)
        signal.signal(signal.SIGINT, end)
        log("controls by %s, %s" % ("drains" if self.options.drain else "reservations",
                                    "for good" if self.options.apply else "dry run: nothing is touched"))
        while not self.ending:
            # Tasks that began with a probe end soon after it and say as much about the node.
            self.pause = min(1.0, self.options.every) if self.hurry else self.options.every
            begin, self.hurry = time.time(), False
            try:
                self.step()
                if self.silent_since is not None:
                    self.gaps.append((self.silent_since - 60, time.time()))
                    self.silent_since = None
                    log("Slurm answers again")
            except SlurmSilent as problem:
                if self.silent_since is None:
                    self.silent_since = begin
                    log("Slurm is silent:", problem)
            while not self.ending and not self.hurry and time.time() < begin + self.pause:
                time.sleep(0.1)
        try:
            self.release()
        except SlurmSilent as problem:
            log("not released, reservations end by themselves:", problem)
        if self.watch is not None:
            self.watch.close()
        log("ended")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--apply", action="store_true", help="act; without this it only says what it would do")
    parser.add_argument("--dry-run", action="store_true", help="the default")
    parser.add_argument("--watch", default="straggle-watch", help="the command that decides, with its options (default: %(default)s)")
    parser.add_argument("--state", default="/var/lib/straggle-slurm",
                        help="folder for what was learned and reported, and for the lock (default: %(default)s)")
    parser.add_argument("--every", type=float, default=5, help="seconds between decisions (default: %(default)s)")
    parser.add_argument("--history", type=float, default=3600, help="seconds of accounting to read at the start (default: %(default)s)")
    parser.add_argument("--drain", action="store_true", help="drain with a reason instead of reserving")
    parser.add_argument("--account", default="root", help="who may use the reservations (default: %(default)s)")
    parser.add_argument("--cpus-per-task", type=int, default=1, help="processors of a typical task (default: %(default)s)")
    parser.add_argument("--never", default="", help="nodes that are never taken out, separated by commas")
    parser.add_argument("--copies", action="store_true", help="copy tasks that run under straggle-attempt")
    parser.add_argument("--requeue", action="store_true", help="requeue tasks whose comment is straggle:requeue")
    parser.add_argument("--release", action="store_true", help="give back all nodes taken out by an earlier run, and end")
    options = parser.parse_args()
    options.never = set(options.never.split(",")) - {""}
    if options.dry_run:
        options.apply = False
    problem = straggle_watch.missing(shlex.split(options.watch))
    if problem and not options.release:
        sys.exit("controller.py: " + problem)
    try:
        os.makedirs(options.state, mode=0o700, exist_ok=True)
        lock = open(os.path.join(options.state, "lock"), "w")
    except OSError as problem:
        sys.exit("controller.py: --state: %s" % problem)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        log("another controller is already running")
        return 1
    controller = Controller(options)
    if options.release:
        options.apply = True
        try:
            controller.release()
        except SlurmSilent as problem:
            sys.exit("controller.py: --release: %s" % problem)
        return 0
    controller.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
