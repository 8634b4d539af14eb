#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""The first screen of straggle-rank on a log of every format: the same run, as each engine writes it.

Six jobs of 40 tasks on four nodes; n3 takes twice as long. What is printed before the levels is compared with
`screens/<format>.txt`, numbers with decimal places masked. STRAGGLE_UPDATE=1 writes these files, which the guide shows.
"""

import json
import os
import random
import re
import subprocess
import tempfile
import textwrap
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


def sacct_archived():
    for job, task, node, start, end in attempts():
        yield (f"{100 + job}_{task}|ada|lab|batch|COMPLETED|{iso(start - 5000)}|{iso(start)}|{iso(end)}|1|"
               f"{node}.example.org|0:0")


def sacct_default():
    for job, task, _, _, _ in attempts():
        yield f"{100 + job}_{task}|align|batch|lab|1|COMPLETED|0:0"


def hadoop1():
    yield 'Meta VERSION="1" .'
    for job, task, node, start, end in attempts():
        name = f"1_{job:04d}_m_{task:06d}"
        begin = f'MapAttempt TASK_TYPE="MAP" TASKID="task_{name}" TASK_ATTEMPT_ID="attempt_{name}_0" '
        yield begin + f'START_TIME="{start}" TRACKER_NAME="tracker_{node}:localhost/127\\.0\\.0\\.1:9" .'
        yield begin + f'TASK_STATUS="SUCCESS" FINISH_TIME="{end}" HOSTNAME="/rack/{node}" .'


def nextflow_without_host():
    yield "task_id\thash\tnative_id\tname\tstatus\texit\tsubmit\tduration\trealtime\t%cpu"
    for job, task, _, start, end in attempts():
        took = (end - start) // 1000
        yield (f"{job * TASKS + task}\tab/{task:06x}\t{5000 + job * TASKS + task}\tSTEP{job} (s{task})\tCOMPLETED\t0\t"
               f"{iso(start, ' ', 3)}\t{took // 60}m {took % 60}s\t{took // 60}m {took % 60}s\t98.2%")


def sacct_of_nextflow():
    yield "JobID|NodeList|State|Start|End"
    for job, task, node, start, end in attempts():
        yield f"{5000 + job * TASKS + task}|{node}|COMPLETED|{iso(start)}|{iso(end)}"


def haproxy_json():
    for job, task, node, start, end in attempts():
        yield json.dumps({"time": start / 1000, "backend_name": "app", "server_name": node, "status": 200, "method": "GET",
                          "path": f"/step{job}/run", "Tr": (end - start) // 100})


def dask_stream():
    yield json.dumps([{"worker": f"tcp://{node}:40331", "status": "OK", "nbytes": 28, "thread": 1, "key": f"step{job}-{task:08x}",
                       "startstops": [{"action": "compute", "start": start / 1000, "stop": end / 1000}]}
                      for job, task, node, start, end in attempts()])


def pbs():
    for job, task, node, start, end in attempts():
        when = time.strftime("%m/%d/%Y %H:%M:%S", time.gmtime(end // 1000))
        yield (f"{when};E;{100 + job}[{task}].head;user=ada jobname=align exec_host={node}/0*4 start={start // 1000} "
               f"end={end // 1000} Exit_status=0 run_count=1")


def sge():
    yield "# Version: 8.1.9"
    for job, task, node, start, end in attempts():
        begin = f"all.q:{node}:users:ada:align:{100 + job}:sge:0:{start // 1000 - 5}:{start // 1000}:{end // 1000}:0:0"
        yield begin + ":0" * 21 + f":1:{task + 1}:0:0:0:-l h_rt=1:0:NONE:0:0:0"


def lsf():
    for job, task, node, start, end in attempts():
        yield (f'"JOB_FINISH" "10.1" {end // 1000} {100 + job} 1000 33816578 1 {start // 1000 - 5} 0 0 {start // 1000} "ada" "normal" '
               f'"" "" "" "login1" "/home/ada" "" "" "" "1767225000.1" 1 "asked" 1 "{node}" 64 60.0 "align[1-40]" "run"'
               + " 0.5" * 19 + f' "" "default" 0 1 "" "" {task + 1} 0 0 "" ""')


def htcondor():
    events = []
    for job, task, node, start, end in attempts():
        name = f"({100 + job:04d}.{task:03d}.000)"
        events.append((start, f"001 {name} {iso(start, ' ')} Job executing on host: <192.0.2.7:9618?addrs=x>\n"
                              f"\tSlotName: slot1_1@{node}\n..."))
        events.append((end, f"005 {name} {iso(end, ' ')} Job terminated.\n\t(1) Normal termination (return value 0)\n..."))
    yield from (text for _, text in sorted(events))


def alibaba():
    for job, task, node, start, end in attempts():
        yield f"inst_{task},M1,j_{job},1,Terminated,{start // 1000},{end // 1000},m_{node},1,1,50,60,0.1,0.2"


def google():
    yield "collection_id,instance_index,machine_id,start_us,end_us,type"
    for job, task, node, start, end in attempts():
        yield f"{3000 + job},{task},{node},{start * 1000},{end * 1000},FINISH"


def snakemake():
    yield "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time"
    yield "12.3441\t0:00:12\t93.1\t240.0\t88.0\t89.2\t0.0\t0.1\t97.1\t11.9"


# By the engine: the file that the last word of the command line names, and others.
ALIBABA = "--columns job=#3+#2,task=#1,status=#5,start=#6,end=#7,node=#8 --success Terminated"
GOOGLE = "--columns job=collection_id,task=instance_index,node=machine_id,start=start_us,end=end_us,status=type"
LOGS = ((csv, "attempts.csv"), (sacct, "jobs.psv"), (sacct_archived, "archived.psv"), (sacct_json, "jobs.json"),
        (spark, "app-1.jsonl"), (jhist, "job_1_0001.jhist"), (rumen, "trace.json"), (hadoop1, "job_1_history"),
        (nextflow, "trace.txt"), (nextflow_without_host, "--join jobs.psv trace.txt"), (haproxy, "haproxy.log"),
        (haproxy_json, "haproxy.json"), (haproxy_adapter, "adapter.log"), (parallel, "run.joblog"), (dask, "dask.jsonl"),
        (dask_stream, "stream.json"), (pbs, "20260101"), (sge, "accounting"), (lsf, "lsb.acct"), (htcondor, "cluster.log"),
        (alibaba, ALIBABA + " batch_instance.csv"), (google, GOOGLE + " --success FINISH attempts.csv"))
REFUSED = ((sacct_default, "jobs.psv"), (nextflow_without_host, "trace.txt"), (snakemake, "bench.tsv"))


def first_screen(text, line, *others):
    *_, name = line.split()
    with tempfile.TemporaryDirectory() as folder:
        for path, content in ((name, text), *others):
            (Path(folder) / path).write_text(content)
        done = subprocess.run([PROGRAM, *line.split()], cwd=folder, capture_output=True, env={**os.environ, "LC_ALL": "C"})
    return done, done.stdout.decode().splitlines()[:24]


class FirstScreens(unittest.TestCase):
    def golden(self, name, line, text):
        mask = lambda shown: re.sub(r"\d+\.\d+", "#", shown)
        typed = textwrap.wrap(f"$ straggle-rank {line}", 94, break_long_words=False, break_on_hyphens=False)
        text = " \\\n    ".join(typed) + "\n" + text
        path = SCREENS / f"{name}.txt"
        if os.environ.get("STRAGGLE_UPDATE"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        self.assertEqual(mask(text), mask(path.read_text()))

    def golden_screen(self, name, line, screen):
        end = next(i for i, row in enumerate(screen) if row.startswith("Levels") or row.startswith("Records"))
        self.golden(name, line, "\n".join(screen[:end]).rstrip() + "\n")

    def test_every_format_names_the_slow_node(self):
        for log, line in LOGS:
            with self.subTest(log.__name__):
                others = [("jobs.psv", "\n".join(sacct_of_nextflow()) + "\n")] if "--join" in line else []
                done, screen = first_screen("\n".join(log()) + ("" if log is spark else "\n"), line, *others)
                self.assertEqual(done.returncode, 0, done.stderr)
                said = " ".join(" ".join(screen).split())
                self.assertRegex(said, r"^Read 240 (attempts|rows) from ")
                found = re.search(r"Avoid 1 node: \S*n3\S*: takes ([0-9.]+) times as long as elsewhere "
                                  r"\(([0-9.]+) to ([0-9.]+)\), \d+ tasks", said)
                self.assertIsNotNone(found, said)
                value, low, high = map(float, found.groups())
                self.assertTrue(low <= 2 <= high and abs(value - 2) < 0.2, said)
                self.assertIn("Next: look at ", said)
                self.assertLess(max(map(len, screen)), 101)
                name = "nextflow_join" if "--join" in line else log.__name__
                self.golden_screen(name, line, screen)

    def test_what_is_missing_is_one_sentence(self):
        for log, line in REFUSED:
            with self.subTest(log.__name__):
                done, _ = first_screen("\n".join(log()) + "\n", line)
                self.assertEqual(done.returncode, 2)
                said = done.stderr.decode()
                self.assertEqual(said.count("\n"), 1, said)
                self.golden(log.__name__, line, textwrap.fill(said, 100, break_long_words=False) + "\n")

    def test_too_little(self):
        for rows, name in ((0, "nothing"), (3, "three-rows"), (60, "two-jobs")):
            with self.subTest(name):
                done, screen = first_screen("\n".join(list(sacct())[:1 + 2 * rows]) + "\n", "jobs.psv")
                if rows == 0:
                    self.assertEqual(done.returncode, 2)
                    self.assertIn(b"no attempt that could be read as slurm", done.stderr)
                    continue
                self.assertEqual(done.returncode, 0, done.stderr)
                self.golden_screen(name, "jobs.psv", screen)


if __name__ == "__main__":
    unittest.main()
