# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Dask scheduler plugin: workers that straggle-watch excludes get no new tasks until probes show that they have recovered.

    dask scheduler --preload straggle_plugin.py

The scheduler holds a worker as if it had paused itself, and Dask's own work stealing moves its queue to others. On
probation it is resumed for as many tasks as it may run. All workers are resumed when straggle-watch is gone.
Environment: STRAGGLE_WATCH (the command), STRAGGLE_DRY_RUN=1.
"""
import asyncio
import collections
import logging
import os
import sys
import threading
import time

from distributed.core import Status
from distributed.diagnostics.plugin import SchedulerPlugin

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
from straggle_watch import Watch, missing, new_notes  # noqa: E402

logger = logging.getLogger("distributed.straggle")
NOTHING = {"nodes": [], "copies": [], "ended": {"mean": 0}}
COPY = "-straggle-copy"  # suffix of the key of a second attempt; see copies.py


class Straggle(SchedulerPlugin):
    def __init__(self, every=0.2):
        self.command = os.environ.get("STRAGGLE_WATCH", "straggle-watch --windows-per-error 100000 --longest-exclusion 20 --probes-with-tasks").split()
        self.every, self.dry_run = every, os.environ.get("STRAGGLE_DRY_RUN", "0") != "0"
        self.states, self.notes, self.watch, self.next_start, self.usual = {}, set(), None, 0, 0
        self.held = {}  # address: how many tasks it may run, or how slow it is if that depends on the others
        self.own = {}  # address: the state that the worker reports itself, for example that it is out of memory
        self.tried = collections.defaultdict(float)  # address: when it may be tried again; 0 if the last try was fast

    async def start(self, scheduler):
        self.scheduler = scheduler
        self.pass_on = scheduler.stream_handlers["worker-status-change"]
        scheduler.stream_handlers["worker-status-change"] = self.worker_says
        self.loop = asyncio.ensure_future(self.run())
        logger.info("straggle: active, %s", "dry run: no worker is touched" if self.dry_run else " ".join(self.command))

    def worker_says(self, status, worker, stimulus_id):
        self.own[worker] = status if isinstance(status, str) else status.name
        if worker not in self.held or self.own[worker] != "running":
            self.pass_on(status=status, worker=worker, stimulus_id=stimulus_id)

    def set_status(self, address, status):
        worker, own = self.scheduler.workers.get(address), self.own.get(address, "running")
        if worker is not None and own == "running" and worker.status in (Status.running, Status.paused):
            self.scheduler.handle_worker_status_change(status, address, "straggle-%f" % time.time())

    def shed(self, address, keep):
        """Moves all tasks of a held worker but the first `keep` to the workers with the least to do."""
        held, steal = self.scheduler.workers.get(address), self.scheduler.extensions.get("stealing")
        given = {w: len(w.processing) / w.nthreads for w in self.scheduler.running if w.address not in self.held}
        for task in list(held.processing)[keep:] if held and steal and given else []:
            if not (task.worker_restrictions or task.host_restrictions or task.resource_restrictions or task.actor):
                thief = min(given, key=given.get)
                given[thief] += 1 / thief.nthreads
                steal.move_task_request(task, held, thief)

    def tend(self):
        for address in list(self.held):
            self.shed(address, self.admit(address))  # return what work stealing brings: it does not check

    def admit(self, address):
        """In service while it has fewer tasks than it may run; a last resort only while the others' queue takes twice as long."""
        worker, (slots, slowdown) = self.scheduler.workers.get(address), self.held[address]
        if slowdown > 0 and worker is not None:
            others = [w for w in self.scheduler.running if w.address not in self.held]
            backlog = len(self.scheduler.queued) + sum(len(w.processing) for w in others)
            wait = backlog / (slowdown * max(1, sum(w.nthreads for w in others)))  # in units of the time of a task on this worker
            may_try = wait > 1 or self.tried[address] == 0  # a recovered worker shows it soon
            slots = worker.nthreads if wait > 2 else int(may_try and time.time() > self.tried[address])
        self.set_status(address, "running" if worker and len(worker.processing) < slots else "paused")
        return max(slots, 1)

    def transition(self, key, start, finish, *args, worker=None, startstops=None, **kwargs):
        task = self.scheduler.tasks.get(key)
        if finish == "processing" and task is not None and task.processing_on is not None:
            if task.processing_on.address in self.held:
                self.admit(task.processing_on.address)
        elif start == "processing" and finish in ("memory", "erred") and task and worker and self.watch:
            done = [s for s in startstops or () if s.get("action") == "compute"]
            if done:
                start, end, status = done[0]["start"], done[-1]["stop"], "success" if finish == "memory" else "failed"
                self.tried[worker] = end + 5 * (end - start) if end - start > 2 * self.usual else 0
                self.watch.ended(**self.named(task, worker), start=start, end=end, status=status)

    @staticmethod
    def named(task, address):
        key = str(task.key)
        return {"job": task.group.name.replace(COPY, ""), "kind": task.prefix.name, "task": key.replace(COPY, ""),
                "attempt": key, "node": address, "copy": key.endswith(COPY)}

    def cluster(self):
        workers = list(self.scheduler.workers.values())
        nodes = [{"node": w.address, "slots": w.nthreads, "busy": min(len(w.processing), w.nthreads), "condition":
                  "present" if w.address in self.held or w.status == Status.running else "away"} for w in workers]
        running = [dict(self.named(task, w.address), start=w.last_seen - seconds,
                        may_copy=bool((task.annotations or {}).get("straggle_may_copy")))
                   for w in workers for task, seconds in w.executing.items() if task.processing_on is w]
        waiting = len(self.scheduler.queued) + len(self.scheduler.unrunnable)
        return nodes, running, waiting + sum(max(0, len(w.processing) - w.nthreads) for w in workers)

    def obey(self, plan):
        wanted, self.usual = {}, plan["ended"]["mean"] or self.usual
        for n in plan["nodes"]:
            if n["state"] in ("excluded", "on_probation", "last_resort"):
                slow = (n["slowdown"]["high"] or n["slowdown"]["value"]) if n["state"] == "last_resort" else 0
                wanted[n["node"]] = (0 if slow else n["probe_slots"], slow)
            if n["state"] != self.states.get(n["node"], "healthy"):
                logger.info("straggle: %s: %s", n["node"], n["reason"])
                self.scheduler.log_event("straggle", dict(n, at=plan["now"]))
            self.states[n["node"]] = n["state"]
        for note in new_notes(plan, self.notes, copies=False):
            logger.info("straggle: note: %s", note)
        free, self.held = set(self.held) - set(wanted), {} if self.dry_run else wanted
        for address in free:
            self.set_status(address, "running")
        self.tend()
        for copy in plan["copies"] if not self.dry_run else []:
            self.scheduler.log_event("straggle-copies", {"key": copy["attempt"], "to": copy["to"]})

    async def run(self):
        try:
            while True:
                for _ in range(4):
                    await asyncio.sleep(self.every / 4)
                    self.tend()
                now = time.time()
                if self.watch is None and now >= self.next_start:
                    self.watch, self.next_start = Watch(self.command, logger.info), now + 5
                if self.watch is not None:
                    plan = await asyncio.to_thread(self.watch.decide, now, *self.cluster())
                    self.watch = self.watch if plan else self.watch.close()
                    self.obey(plan or NOTHING)
        except Exception:  # whatever the error, do not leave a worker held
            logger.exception("straggle")
        finally:
            self.obey(NOTHING)
            if self.watch is not None:  # saving its state may take time, which must not delay the scheduler
                threading.Thread(target=self.watch.close).start()
                self.watch = None

    async def close(self):
        self.loop.cancel()


def dask_setup(scheduler):
    plugin = Straggle()
    if problem := missing(plugin.command):
        logger.error("straggle: not active: %s", problem)
    else:
        scheduler.add_plugin(plugin)
