# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""straggle-watch from Python: events go in, plans come out. Shared by the adapters."""
import json
import os
import queue
import select
import shutil
import subprocess
import threading
import time


PROTOCOL = 1


def missing(command):
    """A line to print if the program of a command cannot be found; None if it can."""
    if command and shutil.which(command[0]):
        return None
    name = command[0] if command else ""
    return "%s is not on the path; build it (cmake --build), install it, or name it with --watch or STRAGGLE_WATCH" % name


def clock_text(seconds):
    """A time as a local clock shows it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(seconds)) + ".%03d" % (seconds % 1 * 1000)


def new_notes(plan, known, copies=True):
    """The notes of a plan that the last plan did not have, in words. @param known the notes of the last plan, replaced by
    those of this one; @param copies whether copies are started: if not, the note about a storm of late tasks is omitted
    """
    notes = {n["note"]: n["reason"] for n in plan.get("notes", ()) if copies or n["note"] != "storm"}
    begun = [reason for note, reason in notes.items() if note not in known]
    known.clear()
    known.update(notes)
    return begun


class Watch:
    """A straggle-watch process, which speaks docs/reference/protocol.md. Only `decide` waits for it, and only as long as asked.

    When it ends, or is silent for too long, `is_alive` is false: then act as if nothing were known, and start a new one.
    """

    def __init__(self, command, log=print):
        self.log = log
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        os.set_blocking(self.process.stdin.fileno(), False)
        self.lines = ['{"event":"hello","protocol":%d}' % PROTOCOL]
        self.plans = queue.Queue()
        self.is_alive = True
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            try:
                said = json.loads(line)
            except ValueError:
                continue
            if said.get("event") == "plan":
                self.plans.put(said)
            elif said.get("event") == "fault":
                self.log("straggle-watch:", said.get("fault"), said.get("detail"))
            elif said.get("event") == "hello" and said.get("protocol") != PROTOCOL:
                self.log("straggle-watch speaks a different protocol:", said.get("protocol"))
                self.process.kill()
        self.is_alive = False
        self.plans.put(None)
        self.process.wait()

    def _tell(self, event):
        self.lines.append(json.dumps(event, separators=(",", ":")))

    def ended(self, job, node, start, end, status="success", **more):
        """An attempt has ended: `status` is success, failed or killed; times are in seconds. Sent with the next request."""
        self._tell({"event": "end", "job": job, "node": node, "start": start, "end": end, "status": status, **more})

    def finish(self, job):
        self._tell({"event": "finish", "job": job})

    def decide(self, now, nodes, running=None, waiting=0, timeout=2.0):
        """The plan for `now`, or None if none arrives in time.

        @param nodes all nodes: dicts with node, slots, busy, condition
        @param running all running attempts, if known: dicts with job, task, node, start
        """
        self._tell({"event": "nodes", "nodes": nodes})
        if running is not None:
            self._tell({"event": "running", "running": running})
        self._tell({"event": "decide", "now": now, "waiting": waiting})
        lines, self.lines = self.lines, []  # another thread may still be adding lines
        due = time.monotonic() + timeout
        if not self._write(("\n".join(lines) + "\n").encode(), due):
            self.is_alive = False
            return None
        try:
            while True:
                plan = self.plans.get(timeout=max(0, due - time.monotonic()))
                if plan is None or plan["now"] >= now - 1e-6:
                    return plan
        except queue.Empty:
            self.log("straggle-watch: no plan within %.1f s" % timeout)
            self.is_alive = False
            return None

    def _write(self, data, due):
        """Writes all of it while there is time: a process that hangs reads nothing, and its pipe is soon full."""
        pipe = self.process.stdin.fileno()
        while data:
            if not select.select([], [pipe], [], max(0, due - time.monotonic()))[1]:
                self.log("straggle-watch: it does not read")
                return False
            try:
                data = data[os.write(pipe, data):]
            except BlockingIOError:
                pass
            except OSError:
                return False
        return True

    def close(self, timeout=5):
        """Ends the process cleanly, so that it saves its state; kills it at once if it no longer answers."""
        try:
            self.process.stdin.close()
            self.process.wait(timeout if self.is_alive else 0)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
