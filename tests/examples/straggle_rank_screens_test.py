#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""The first screen of straggle-rank on a log of every format: the same run, told by each engine in its words.

Six jobs of 40 tasks on four nodes; n3 takes twice as long. What is printed before the table of nodes is compared with
`screens/<format>.txt`, numbers with decimal places masked. STRAGGLE_UPDATE=1 writes these files.
"""

import json
import os
import random
import re
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

PROGRAM = os.environ["STRAGGLE_RANK_PROGRAM"]
SCREENS = Path(__file__).resolve().parent / "screens"
NODES, SLOW, JOBS, TASKS = ["n0", "n1", "n2", "n3"], "n3", 6, 40
EPOCH_MS = 1_767_225_600_000  # 2026-01-01


def attempts():
    """Job, task, node, start and end in milliseconds; one attempt in the middle fails and is run again."""
    chance = random.Random(21)
    for job in range(JOBS):
        for task in range(TASKS):
            node = NODES[(task + job) % len(NODES)]
            start = EPOCH_MS + job * 600_000 + task * 1_000
            took = round((2 if node == SLOW else 1) * 60_000 * chance.lognormvariate(0, 0.2) / 1000) * 1000
            yield job, task, node, start, start + took


def iso(ms, between="T", places=0):
    text = time.strftime(f"%Y-%m-%d{between}%H:%M:%S", time.gmtime(ms // 1000))
    return text + (f".{ms % 1000:03d}" if places else "")


def csv():
    yield "job,task,node,start_ms,end_ms,status"
    for job, task, node, start, end in attempts():
        yield f"job{job},{task},{node},{start},{end},success"


def sacct():
    yield "JobID|JobName|NodeList|State|Start|End"
    for job, task, node, start, end in attempts():
        yield f"{100 + job}_{task}|align|{node}|COMPLETED|{iso(start)}|{iso(end)}"
        yield f"{100 + job}_{task}.batch|batch|{node}|COMPLETED|{iso(start)}|{iso(end)}"
    yield "110_[0-39]|align|None assigned|PENDING|Unknown|Unknown"


def sacct_json():
    jobs = [{"job_id": 1000 + job * TASKS + task, "array": {"job_id": 100 + job, "task_id": task}, "nodes": node,
             "state": {"current": "COMPLETED"}, "time": {"start": start // 1000, "end": end // 1000}, "steps": []}
            for job, task, node, start, end in attempts()]
    yield json.dumps({"meta": {"Slurm": {"release": "22.05.8"}}, "errors": [], "jobs": jobs}, indent=2)


def spark():
    yield json.dumps({"Event": "SparkListenerLogStart", "Spark Version": "3.5.1"}, separators=(",", ":"))
    yield json.dumps({"Event": "SparkListenerApplicationStart", "App ID": "app-1"}, separators=(",", ":"))
    for job, task, node, start, end in attempts():
        info = {"Task ID": job * TASKS + task, "Index": task, "Attempt": 0, "Launch Time": start, "Executor ID": node[1:],
                "Host": node, "Speculative": False, "Finish Time": end, "Failed": False, "Killed": False}
        yield json.dumps({"Event": "SparkListenerTaskEnd", "Stage ID": job, "Stage Attempt ID": 0,
                          "Task End Reason": {"Reason": "Success"}, "Task Info": info}, separators=(",", ":"))
    yield '{"Event":"SparkListenerTaskEnd","Stage ID":6,"Sta'


def jhist():
    def event(kind, name, body):
        return json.dumps({"type": kind, "event": {"org.apache.hadoop.mapreduce.jobhistory." + name: body}})
    yield "Avro-Json"
    yield '{"type":"record","name":"Event","namespace":"org.apache.hadoop.mapreduce.jobhistory","fields":[]}'
    for job, task, node, start, end in attempts():
        attempt = f"attempt_1_{job:04d}_m_{task:06d}_0"
        yield event("MAP_ATTEMPT_STARTED", "TaskAttemptStarted",
                    {"taskid": f"task_1_{job:04d}_m_{task:06d}", "taskType": "MAP", "attemptId": attempt,
                     "startTime": start, "trackerName": node, "httpPort": 8042})
        yield event("MAP_ATTEMPT_FINISHED", "MapAttemptFinished",
                    {"taskid": f"task_1_{job:04d}_m_{task:06d}", "attemptId": attempt, "taskType": "MAP",
                     "taskStatus": "SUCCEEDED", "finishTime": end, "hostname": node})


def rumen():
    for job in range(JOBS):
        tasks = [{"taskID": f"task_1_{job:04d}_m_{task:06d}", "attempts": [{
            "attemptID": f"attempt_1_{job:04d}_m_{task:06d}_0", "hostName": f"/rack/{node}", "result": "SUCCESS",
            "startTime": start, "finishTime": end, "hdfsBytesRead": 67108864}]}
            for which, task, node, start, end in attempts() if which == job]
        yield json.dumps({"jobID": f"job_1_{job:04d}", "mapTasks": tasks, "reduceTasks": [], "otherTasks": []}, indent=2)


def nextflow():
    yield "task_id\thash\tprocess\tname\tstatus\thostname\tsubmit\tstart\tcomplete\trealtime\trchar\tattempt"
    for job, task, node, start, end in attempts():
        yield (f"{job * TASKS + task}\tab/{task:06x}\tSTEP{job}\tSTEP{job} (s{task})\tCOMPLETED\t{node}\t{iso(start, ' ', 3)}\t"
               f"{iso(start, ' ', 3)}\t{iso(end, ' ', 3)}\t{(end - start) // 1000}s\t1.5 MB\t1")
    yield "999\tab/999999\tSTEP0\tSTEP0 (s99)\tCACHED\t-\t-\t-\t-\t-\t-\t1"


def haproxy():
    for job, task, node, start, end in attempts():
        stamp = time.strftime("%d/%b/%Y:%H:%M:%S", time.gmtime(start // 1000)) + f".{start % 1000:03d}"
        took = (end - start) // 100
        yield (f"<134>Jan  1 00:00:00 lb haproxy[1]: 192.0.2.1:{40000 + task} [{stamp}] web app/{node} 0/0/0/{took}/{took} 200 "
               f'116 - - ---- 1/1/1/1/0 0/0 "GET /step{job}/run HTTP/1.1"')
    yield "<134>Jan  1 00:00:00 lb haproxy[1]: Server app/n1 is UP, reason: Layer4 check passed"


def haproxy_adapter():
    for job, task, node, start, end in attempts():
        took = (end - start) // 100
        yield f"{start // 1000}.{start % 1000:03d} app {node} 200 {took} {took} {took * 1000} ---- 1 1 0 0"


def parallel():
    yield "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand"
    for job, task, node, start, end in attempts():
        seconds = f"{(end - start) // 1000}.000"
        yield f"{task}\t{node}\t{start // 1000}.000\t{seconds:>10}\t0\t0\t0\t0\tstep{job} --item {task}"


def dask():
    yield json.dumps({"event": "log", "format": "straggle-dask", "version": 1, "distributed": "2022.12.1"})
    for job, task, node, start, end in attempts():
        yield json.dumps({"event": "task", "key": f"('step{job}', {task})", "prefix": f"step{job}", "group": f"step{job}",
                          "worker": f"tcp://192.0.2.{node[1:]}:1", "name": node, "start": start / 1000, "stop": end / 1000,
                          "to": "memory", "input": 0})


LOGS = (csv, sacct, sacct_json, spark, jhist, rumen, nextflow, haproxy, haproxy_adapter, parallel, dask)


def first_screen(text, name):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(text)
        done = subprocess.run([PROGRAM, name], cwd=folder, capture_output=True, env={**os.environ, "LC_ALL": "C"})
    return done, done.stdout.decode().splitlines()[:24]


class FirstScreens(unittest.TestCase):
    def golden(self, name, screen):
        table = next(i for i, line in enumerate(screen) if line.startswith("NODE") or line.startswith("Records"))
        text = re.sub(r"\d+\.\d+", "#", "\n".join(screen[:table]).rstrip() + "\n")
        path = SCREENS / f"{name}.txt"
        if os.environ.get("STRAGGLE_UPDATE"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        self.assertEqual(text, path.read_text())

    def test_every_format_names_the_slow_node(self):
        for log in LOGS:
            with self.subTest(log.__name__):
                done, screen = first_screen("\n".join(log()) + ("" if log is spark else "\n"), "log")
                self.assertEqual(done.returncode, 0, done.stderr)
                said = " ".join(" ".join(screen).split())
                self.assertRegex(said, r"^Read 240 (attempts|rows) from log \(")
                told = re.search(r"Avoid 1 node: \S*n3: takes ([0-9.]+) times as long as elsewhere "
                                 r"\(([0-9.]+) to ([0-9.]+)\), \d+ tasks", said)
                self.assertIsNotNone(told, said)
                value, low, high = map(float, told.groups())
                self.assertTrue(low <= 2 <= high and abs(value - 2) < 0.2, said)
                self.assertIn("Next: look at ", said)
                self.assertLess(max(map(len, screen)), 101)
                self.golden(log.__name__, screen)

    def test_too_little(self):
        for rows, name in ((0, "nothing"), (3, "three-rows"), (60, "two-jobs")):
            with self.subTest(name):
                done, screen = first_screen("\n".join(list(sacct())[:1 + 2 * rows]) + "\n", "log")
                if rows == 0:
                    self.assertEqual(done.returncode, 2)
                    self.assertIn(b"no attempt that could be read as slurm", done.stderr)
                    continue
                self.assertEqual(done.returncode, 0, done.stderr)
                self.golden(name, screen)


if __name__ == "__main__":
    unittest.main()
