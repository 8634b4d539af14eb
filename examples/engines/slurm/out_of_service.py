# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Takes nodes of a Slurm cluster out of service, gives them back, and runs Slurm's commands."""
import os
import subprocess
import time

PREFIX = "straggle_"
MINUTES = 10  # a reservation lasts this long unless it is renewed


class SlurmSilent(Exception):
    """Slurm does not answer: nothing is known, so nothing is done."""


def slurm(*command, timeout=10):
    """The output of a command; never waits long, never uses a shell."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, text=True,
                              errors="replace", env=dict(os.environ, SLURM_TIME_FORMAT="%s"))
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise SlurmSilent("%s: %s" % (command[0], problem)) from None
    if done.returncode != 0:
        raise SlurmSilent("%s: %s" % (" ".join(command[:3]), done.stderr.strip()[:300]))
    return done.stdout


class Reservations:
    """Takes nodes out by reservations named straggle_NODE, and never touches others."""

    def __init__(self, options):
        self.options = options
        self.ours = {}  # node: when it was last renewed

    def look(self):
        """Reads which reservations are ours; returns the nodes in all others."""
        others, self.found = set(), set()
        for line in slurm("scontrol", "-o", "show", "reservation").splitlines():
            fields = dict(word.split("=", 1) for word in line.split() if "=" in word)
            name, nodes = fields.get("ReservationName", ""), fields.get("Nodes", "")
            if name.startswith(PREFIX):
                self.found.add(name[len(PREFIX):])
            elif fields.get("State") == "ACTIVE" and nodes not in ("", "(null)"):
                others.update(slurm("scontrol", "show", "hostnames", nodes).split())
        self.ours = {node: self.ours.get(node, 0) for node in self.found}
        return others

    def is_ours(self, node):
        return node in self.ours

    def may_take(self, state, reason):
        return state in ("idle", "mixed", "allocated", "completing", "reserved", "planned")

    def take(self, node, reason):
        slurm("scontrol", "create", "reservation", "ReservationName=" + PREFIX + node, "Nodes=" + node,
              "Accounts=" + self.options.account, "StartTime=now", "Duration=%d" % MINUTES, "Flags=IGNORE_JOBS")
        self.ours[node] = time.time()

    def renew(self, node):
        if time.time() - self.ours[node] > MINUTES * 60 / 4:
            slurm("scontrol", "update", "ReservationName=" + PREFIX + node, "EndTime=now+%dminutes" % MINUTES)
            self.ours[node] = time.time()

    def give_back(self, node):
        slurm("scontrol", "delete", "ReservationName=" + PREFIX + node)
        self.ours.pop(node, None)


class Drains:
    """Drains nodes with a reason that begins with `straggle:`. A node drained for any other reason is left alone."""

    def __init__(self, options):
        self.ours = {}

    def look(self):
        return set()

    def is_ours(self, node):
        return node in self.ours

    def see(self, node, state, reason):
        if state.startswith("drain") and reason.startswith("straggle:"):
            self.ours.setdefault(node, time.time())
        else:
            self.ours.pop(node, None)

    def may_take(self, state, reason):
        return state in ("idle", "mixed", "allocated", "completing") and reason in ("none", "") or \
            reason.startswith("straggle:")

    @staticmethod
    def now(node):
        """State and reason just before a write, since an administrator may have changed them."""
        state, _, reason = slurm("sinfo", "-h", "-N", "-n", node, "-o", "%T|%E").splitlines()[0].partition("|")
        return state.strip("*$~#!%@^-+"), reason

    def take(self, node, reason):
        state, was = self.now(node)
        if self.may_take(state, was):
            slurm("scontrol", "update", "NodeName=" + node, "State=DRAIN", "Reason=straggle: " + reason)
            self.ours[node] = time.time()

    def renew(self, node):
        pass

    def give_back(self, node):
        state, was = self.now(node)
        if state.startswith("drain") and was.startswith("straggle:"):
            slurm("scontrol", "update", "NodeName=" + node, "State=RESUME")
        self.ours.pop(node, None)
