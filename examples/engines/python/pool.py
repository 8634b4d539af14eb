#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""A scheduler in Python that asks straggle-watch which nodes to avoid. Its nodes are threads, and n3 is slow."""

#! [watch]
import collections
import json
import os
import queue
import subprocess
import threading
import time


class Watch:
    """straggle-watch as a child process: events go in, states of nodes come out."""

    def __init__(self, *command):
        self.states = {}  # of the nodes that are not healthy
        self.lock = threading.Lock()
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.listen, daemon=True).start()

    def report(self, event, **members):
        with self.lock:
            self.child.stdin.write(json.dumps({"event": event, **members}) + "\n")
            self.child.stdin.flush()

    def listen(self):
        for answer in map(json.loads, self.child.stdout):
            for node in answer.get("nodes", []):
                if self.states.get(node["node"]) != node["state"]:
                    print(node["node"], node["reason"], flush=True)
                self.states[node["node"]] = node["state"]
        self.states.clear()  # without plans, no exclusions

    def takes_work(self, node):
        return self.states.get(node) not in ("excluded", "away")
#! [watch]


#! [pool]
def run_tasks(node, tasks, watch, ran):
    while True:
        while not watch.takes_work(node):
            time.sleep(0.01)
        job, task = tasks.get()
        start, status = time.time(), "success"
        watch.report("start", job=job, task=task, node=node, start=start)
        try:
            time.sleep(0.1 if node == "n3" else 0.02)  # the work
        except Exception:
            status = "failed"
        watch.report("end", job=job, task=task, node=node, start=start, end=time.time(), status=status)
        ran[node] += 1
        tasks.task_done()


def main():
    watch = Watch(os.environ.get("STRAGGLE_WATCH", "straggle-watch"))
    tasks, ran = queue.Queue(), collections.Counter()
    for node in ("n0", "n1", "n2", "n3", "n4", "n5"):
        watch.report("node", node=node, slots=1)
        threading.Thread(target=run_tasks, args=(node, tasks, watch, ran), daemon=True).start()
    for job in range(40):
        for task in range(24):
            tasks.put((job, task))
        while tasks.unfinished_tasks:
            watch.report("decide", now=time.time(), waiting=tasks.qsize())
            time.sleep(0.05)
        watch.report("finish", job=job)
    print("n3 ran", ran["n3"], "of", ran.total(), "tasks")
#! [pool]


if __name__ == "__main__":
    main()
