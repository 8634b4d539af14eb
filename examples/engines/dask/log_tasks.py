# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""A Dask scheduler plugin that writes a line of JSON for every finished task, for straggle-rank --from dask.

dask scheduler --preload log_tasks.py, with STRAGGLE_DASK_LOG=FILE (default: straggle-dask.jsonl); or
client.register_scheduler_plugin(TaskLog(file)).
"""

import json
import os

import distributed
from distributed.diagnostics.plugin import SchedulerPlugin


class TaskLog(SchedulerPlugin):
    name = "straggle-task-log"

    def __init__(self, file=None):
        self.file = file or os.environ.get("STRAGGLE_DASK_LOG", "straggle-dask.jsonl")

    async def start(self, scheduler):
        self.attach(scheduler)

    def attach(self, scheduler):
        self.scheduler = scheduler
        self.out = open(self.file, "a", buffering=1, encoding="utf-8")
        self.write({"event": "log", "format": "straggle-dask", "version": 1, "distributed": distributed.__version__})

    def write(self, record):
        self.out.write(json.dumps(record, separators=(",", ":")) + "\n")

    def transition(self, key, start, finish, *args, **kwargs):
        if start != "processing" or finish not in ("memory", "erred"):
            return
        compute = [s for s in kwargs.get("startstops") or () if s.get("action") == "compute"]
        if not compute:
            return
        worker = kwargs.get("worker")
        task = self.scheduler.tasks.get(key)
        state = self.scheduler.workers.get(worker)
        inputs = [d.nbytes for d in task.dependencies] if task is not None else []
        self.write({
            "event": "task",
            "key": str(key),
            "prefix": task.prefix.name if task is not None else "",
            "group": task.group.name if task is not None else "",
            "worker": worker,
            "name": str(state.name) if state is not None else "",
            "start": compute[0]["start"],
            "stop": compute[-1]["stop"],
            "to": finish,
            "input": sum(n for n in inputs if n > 0),
        })


def dask_setup(scheduler):
    plugin = TaskLog()
    plugin.attach(scheduler)
    scheduler.add_plugin(plugin)
