# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Second attempts of tasks whose users allow them: copies of tasks that run under `straggle-attempt`, and requeues.

A task's comment says what is allowed: `straggle:copy` (submitted with straggle-attempt) or `straggle:requeue`. No comment
names a file or a command: a copy is submitted by the task's own wrapper, as its own user.
"""
import re

COPY_OF = re.compile(r"straggle:copy-of:(\d+)_(\d+)\Z", re.ASCII)


class SecondAttempts:
    def __init__(self, options, slurm):
        self.options, self.slurm = options, slurm
        self.users = {}  # (array, task): its owner
        self.copies = {}  # job number of a copy: (array, task)
        self.allowed = {}  # job number: copy or requeue
        self.asked = {}  # job number: when it was requested
        self.first = {}  # (array, task): job number of the attempt that ended first
        self.stopped = set()  # job numbers of copies that were abandoned

    def see(self, raw, array, task, user, comment):
        """The task of which a running job is an attempt, as members of a running attempt."""
        copy = COPY_OF.match(comment)
        if copy and self.users.get(copy.groups()) == user:  # no copies for other users
            self.copies[raw] = copy.groups()
            return {"job": copy[1], "task": copy[2], "copy": True, "may_copy": False}
        self.users[array, task] = user
        what = comment[len("straggle:"):] if comment.startswith("straggle:") else ""
        if (what == "copy" and self.options.copies) or (what == "requeue" and self.options.requeue):
            self.allowed[raw] = what
        return {"job": array, "task": task, "may_copy": raw in self.allowed}

    def ended(self, raw, array, task, status):
        """The task of which an ended job was an attempt, and whether another attempt ended first."""
        key = self.copies.get(raw, (array, task))
        more = {"copy": True} if raw in self.copies else {}
        if status == "success" and (raw in self.copies or raw in self.asked):
            first = self.first.setdefault(key, raw)
            if first != raw:
                status, more["outrun"] = "killed", True
        return key[0], key[1], status, more

    def obey(self, plan, act):
        """Requests what the plan says; `act(words, function)` does it, or only says so."""
        for copy in plan["copies"]:
            raw = copy["attempt"]
            if raw not in self.allowed or raw in self.asked:
                continue
            if act("%s of %s_%s away from %s (%s)" % (self.allowed[raw], copy["job"], copy["task"], copy["node"],
                                                      copy["reason"]), lambda c=copy: self.ask(c)):
                self.asked[raw] = plan["now"]

        for kill in plan.get("kills", []):
            raw = kill["attempt"]
            if not kill["copy"] or raw not in self.copies or raw in self.stopped:
                continue
            if act("copy of %s_%s on %s is given up (%s)" % (kill["job"], kill["task"], kill["node"], kill["reason"]),
                   lambda r=raw: self.slurm("scancel", r)):
                self.stopped.add(raw)

    def ask(self, copy):
        raw = copy["attempt"]
        if self.allowed[raw] == "copy":
            self.slurm("scontrol", "update", "JobId=" + raw, "AdminComment=straggle:copy:" + copy["to"])
            self.slurm("scancel", "--batch", "--signal=USR2", raw)
        else:
            self.slurm("scontrol", "requeue", raw)
            self.slurm("scontrol", "update", "JobId=" + raw, "ExcNodeList=" + copy["node"])
            self.slurm("scontrol", "update", "JobId=" + raw, "StartTime=now")

    def forget(self, jobs):
        """Forgets arrays that are over."""
        gone = {raw for raw, key in self.copies.items() if key[0] in jobs}
        self.copies = {raw: key for raw, key in self.copies.items() if raw not in gone}
        self.stopped -= gone
        for table in (self.users, self.first):
            for key in [k for k in table if k[0] in jobs]:
                del table[key]
        for table in (self.allowed, self.asked):
            while len(table) > 100000:
                del table[next(iter(table))]
