#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""straggle-rank on what engines wrote: the first screen, and numbers against a reader of our own."""

import collections
import gzip
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

PROGRAM = os.environ["STRAGGLE_RANK_PROGRAM"]
HISTORIES = Path(__file__).resolve().parent / "histories"
SHARED = os.environ.get("STRAGGLE_SHARED_DIR", "")


def run(*arguments, stdin=None):
    return subprocess.run([PROGRAM, *map(str, arguments)], input=stdin, capture_output=True)


def as_json(*arguments, stdin=None):
    done = run("--format", "json", *arguments, stdin=stdin)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def shared(test, name):
    path = Path(SHARED) / name if SHARED else None
    if path is None or not path.exists():
        test.skipTest(f"reference data absent: {name}")
    return path


def lines_of(path):
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    elif path.suffix == ".zst":
        if not shutil.which("zstd"):
            raise unittest.SkipTest("no zstd")
        data = subprocess.run(["zstd", "-dc", path], capture_output=True, check=True).stdout
    return data.decode().splitlines()


class FirstScreen(unittest.TestCase):
    def test_every_format_says_what_was_read_and_what_to_do(self):
        for name, attempts, slow in (
            ("slurm-parsable2.txt", 51, None),  # five tasks of n2 and n5 are too few
            ("slurm.json.gz", 28, None),
            ("hadoop.jhist", 5, None),
            ("nextflow-trace.txt", 5, None),
            ("haproxy-httplog.txt", 119, "app/s3"),
            ("haproxy-adapter.txt", 120, "app/s3"),
            ("parallel.joblog", 40, None),  # seven tasks of n3 are too few
            ("dask.jsonl", 91, "2"),
            ("spark-rolled-1.jsonl", 2, None),
        ):
            with self.subTest(name):
                done = run("--max-fraction", "0.5", HISTORIES / name)
                self.assertEqual(done.returncode, 0, done.stderr)
                text = done.stdout.decode()
                screen = "\n".join(text.splitlines()[:24])
                self.assertIn(f"Read {attempts} attempt", screen)
                self.assertIn("Next:", screen)
                if slow:
                    self.assertRegex(" ".join(screen.split()), rf"Avoid \d nodes?:.* {slow}: takes [0-9.]+ times as long")

    def test_standard_input_and_packed(self):
        log = (HISTORIES / "parallel.joblog").read_bytes()
        plain = as_json("-", stdin=log)
        self.assertEqual(plain["reading"]["attempts"], 40)
        self.assertEqual(plain["nodes"], as_json("-", stdin=gzip.compress(log))["nodes"])

    def test_nothing_that_has_ended(self):
        log = (HISTORIES / "spark-rolled-1.jsonl").read_bytes()
        done = run("-", stdin=log[: len(log) * 2 // 3])
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"2 attempts, and none that has ended; ", done.stderr)
        self.assertIn(b"cut off (line ", done.stderr)

    @unittest.skipUnless(shutil.which("zstd"), "no zstd")
    def test_what_comes_before_damage_in_zstd_is_read(self):
        log = (HISTORIES / "dask.jsonl").read_bytes()
        packed = bytearray(subprocess.run(["zstd", "-c"], input=log, capture_output=True, check=True).stdout)
        packed[-1] ^= 1  # of the sum at its end
        got = as_json("-", stdin=bytes(packed))
        self.assertEqual(got["reading"]["attempts"], 91)
        self.assertEqual(got["reading"]["not_attempts"]["damaged compression"]["count"], 1)
        two = subprocess.run(["zstd", "-c"], input=b"", capture_output=True, check=True).stdout + bytes(packed)
        self.assertEqual(as_json("-", stdin=two)["reading"]["attempts"], 91)

    def test_told_format(self):
        done = run("--from", "spark", HISTORIES / "parallel.joblog")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"not JSON", done.stderr)
        done = run("--from", "torque", HISTORIES / "parallel.joblog")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"slurm", done.stderr)

    def test_several_files_and_a_folder(self):
        two = as_json(HISTORIES / "haproxy-httplog.txt", HISTORIES / "haproxy-adapter.txt")
        self.assertEqual(two["reading"]["attempts"], 239)
        with tempfile.TemporaryDirectory() as folder:
            for name in ("dask.jsonl", "parallel.joblog"):
                shutil.copy(HISTORIES / name, folder)
            (Path(folder) / "notes").write_text("nothing of interest\n")
            both = as_json(folder)
        self.assertEqual(both["reading"]["attempts"], 131)
        self.assertEqual(both["reading"]["not_attempts"]["not a history"]["count"], 1)

    def test_csv_packed_and_in_parts(self):
        rows = ["job,node,duration"] + [f"j{i % 3},n{i % 4},{100 + i * 7 % 13}" for i in range(60)]
        whole = "\n".join(rows) + "\n"
        with tempfile.TemporaryDirectory() as folder:
            one, packed = Path(folder) / "one.csv", Path(folder) / "one.csv.gz"
            first, second = Path(folder) / "a.csv", Path(folder) / "b.csv"
            one.write_text(whole)
            packed.write_bytes(gzip.compress(whole.encode()))
            first.write_text("\n".join(rows[:31]) + "\n")
            second.write_text("\n".join(rows[:1] + rows[31:]) + "\n")
            expected = as_json(one)["nodes"]
            self.assertEqual(as_json(packed)["nodes"], expected)
            self.assertEqual(as_json(first, second)["nodes"], expected)
            packed.write_bytes(gzip.compress(whole.encode())[:-30])
            self.assertEqual(run(packed).returncode, 2)


class AgainstAnotherReader(unittest.TestCase):
    def test_spark(self):
        for name, attempts in (
            ("spark-nds-q66-gpu.jsonl.zst", 12987),
            ("spark-join_agg_on_yarn_eventlog.jsonl.zst", 107),
            ("spark-rp_nosql_eventlog.jsonl", 4),
            ("spark-rdd_only_eventlog.jsonl", 1),
        ):
            with self.subTest(name):
                path = shared(self, f"data/raw/{name}")
                stages = collections.defaultdict(list)
                for line in lines_of(path):
                    event = json.loads(line)
                    if event["Event"] == "SparkListenerTaskEnd" and event["Task End Reason"]["Reason"] == "Success":
                        info = event["Task Info"]
                        stage = event["Stage ID"], event["Stage Attempt ID"]
                        stages[stage].append((info["Host"], info["Finish Time"] - info["Launch Time"]))
                self.assertEqual(sum(map(len, stages.values())), attempts)
                got = as_json(path)
                self.assertEqual(got["reading"]["attempts"], attempts)
                scores = collections.defaultdict(list)
                for tasks in stages.values():
                    times = [t for _, t in tasks]
                    if len(times) < 5 or len(set(times)) == 1:
                        continue
                    mean, sd = statistics.fmean(times), statistics.pstdev(times)
                    for host, t in tasks:
                        scores[host].append((t - mean) / sd)
                for node in got["nodes"]:
                    mine = scores.get(node["node"], [])
                    self.assertEqual(node["n"], len(mine))
                    if node["mean"] is not None:
                        self.assertAlmostEqual(node["mean"], statistics.fmean(mine), places=9)

    def test_rumen_ranks_as_its_rows_do(self):
        trace = shared(self, "data/raw/hadoop-rumen-trace-1m.json.gz")
        table = shared(self, "data/hadoop-gridmix-a.csv")
        jobs = {f"job_201102040848_0{n}" for n in range(119, 124)}
        rows = table.read_text().splitlines()
        kept = [rows[0]] + [r for r in rows[1:] if r.split("/", 1)[0] in jobs]
        self.assertEqual(len(kept), 58)
        by_rows = as_json("--min-tasks", "2", "-", stdin=("\n".join(kept) + "\n").encode())
        by_trace = as_json("--min-tasks", "2", trace)
        rows_by_node = {node["node"]: node for node in by_rows["nodes"]}
        self.assertEqual(len(by_trace["nodes"]), len(rows_by_node))
        for node in by_trace["nodes"]:  # nanoseconds there, milliseconds here
            other = rows_by_node[node["node"]]
            self.assertEqual((node["n"], node["level"]), (other["n"], other["level"]))
            if node["mean"] is not None:
                self.assertAlmostEqual(node["mean"], other["mean"], places=12)


class EveryFile(unittest.TestCase):
    def test_is_read_or_refused_in_one_sentence(self):
        data = Path(SHARED) / "data" if SHARED else Path("/nonexistent")
        files = sorted(f for folder in ("raw", "cases") for f in (data / folder).glob("*") if f.is_file())
        if not files:
            self.skipTest("reference data absent: raw and cases")
        for file in files:
            with self.subTest(file.name):
                done = run(file)
                complaint = done.stderr.decode()
                if done.returncode == 0:
                    self.assertEqual(complaint, "")
                    self.assertIn("Next:", done.stdout.decode())
                    continue
                self.assertEqual(done.stdout, b"")
                self.assertEqual(complaint.count("\n"), 1, complaint)
                prefix = f"straggle-rank: {file}:"  # a line may follow
                self.assertTrue(complaint.startswith(prefix), complaint)
                self.assertGreater(len(complaint.removeprefix(prefix).split()), 3, complaint)


class WhatIsWrong(unittest.TestCase):
    def test_a_field_is_named_with_its_value_and_its_form(self):
        joblog = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n" \
                 "1\tn1\tnoon\t2.5\t0\t0\t0\t0\tstep 1\n"
        spark = json.dumps({"Event": "SparkListenerTaskEnd", "Stage ID": 0, "Stage Attempt ID": 0,
                            "Task Info": {"Task ID": 1, "Index": 0, "Launch Time": 1767225600000, "Finish Time": 0,
                                          "Host": "n1"}}) + "\n"
        for text, said in ((joblog, "Starttime is 'noon', expected is seconds since 1970"),
                           (spark, "Finish Time is '0', expected is milliseconds since 1970")):
            done = run("-", stdin=text.encode())
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr.decode())

    def test_a_job_that_fails_everywhere_is_named_and_no_node_is(self):
        rows = ["job,task,attempt,node,start_ms,end_ms,status"]
        for job in range(10):
            rows += [f"j{job},{i},0,n{i},{job * 70_000},{job * 70_000 + 60_000 + (i * 37 + job * 11) % 97 * 20},success"
                     for i in range(10)]
        rows += [f"bad,{i},0,n{i % 3},800000,801000,failed" for i in range(6)]
        text = ("\n".join(rows) + "\n").encode()
        screen = run("-", stdin=text).stdout.decode()
        self.assertIn("Avoid no node.", screen)
        self.assertIn("bad: 6 tasks failed on 3 nodes, none ended well: its tasks fail, not its nodes", screen)

    def test_a_server_whose_clients_give_up_is_named(self):
        lines = []
        for i in range(60):
            server = f"s{i % 4}"
            timers, status, ended = ("0/0/1/-1/10000", -1, "CH--") if server == "s3" else \
                                    (f"0/0/1/{90 + i % 9}/{92 + i % 9}", 200, "----")
            lines.append(f"Mar  1 12:00:{i:02d} lb haproxy[9]: 10.0.0.1:50{i:02d} [01/Mar/2026:12:00:{i:02d}.100] "
                         f"fe app/{server} {timers} {status} 0 - - {ended} 1/1/1/1/0 0/0 \"GET /a HTTP/1.1\"")
        screen = run("-", stdin=("\n".join(lines) + "\n").encode()).stdout.decode()
        self.assertIn("Avoid 1 node:\n  app/s3: at least ", screen)
        self.assertIn("times as long as elsewhere; its attempts were stopped before they ended", screen)
        self.assertRegex(screen, r"app GET /a, ended 2026-03-01 12:01:\d\d: killed after 10.0 s; elsewhere \d+ ms \(median of 45\)")

    def test_a_file_says_what_else_reads_it(self):
        done = run("-", stdin=b'{"event": "node", "node": "n0", "slots": 1}\n')
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn("straggle-watch < FILE", done.stderr.decode())

    def test_tabs_are_shown_as_blanks(self):
        done = run("-", stdin=b"Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n"
                              b"1\tn1\tno\x0bon\t2.5\t0\t0\t0\t0\tx\n")
        self.assertIn("no\N{REPLACEMENT CHARACTER}on", done.stderr.decode())
        done = run("a\tb")
        self.assertIn("a b", done.stderr.decode())


class NodesThatFinishNothing(unittest.TestCase):
    HEAD = "job,task,attempt,node,start_ms,end_ms,status\n"
    EPOCH = 1_700_000_000_000

    def rows(self, stuck):
        """20 jobs of 12 tasks on 6 nodes; `stuck(job, task)` says which never end."""
        for job in range(20):
            begin = self.EPOCH + job * 40_000
            for task in range(12):
                node, took = task % 6, 10_000 + (task * 37 + job * 11) % 97 * 20
                if stuck(job, task):
                    yield f"j{job},{task},0,n{node},{begin},,running\n"
                else:
                    yield f"j{job},{task},0,n{node},{begin},{begin + took},success\n"

    def rank(self, text, *arguments):
        done = run("-", *arguments, stdin=text.encode())
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def test_all_of_one_node_still_run(self):
        text = self.HEAD + "".join(self.rows(lambda job, task: task % 6 == 3))
        screen = self.rank(text)
        self.assertRegex(screen, r"Avoid 1 node:\n  n3: at least \d+\.\d\d times as long as elsewhere; \d+ attempts still running\n")
        self.assertRegex(screen, r"j0, start_ms 1700000000000: has run for \d+ s; elsewhere 1\d\.\d s \(median of 10\)")
        self.assertIn("40 still running", screen)
        told = json.loads(self.rank(text, "--format", "json"))
        verdict, = told["decision"]["blacklisted"]
        self.assertEqual(verdict["node"], "n3")
        self.assertGreater(verdict["slowdown"]["at_least"], 2)
        self.assertGreater(verdict["slowdown"]["running"], 2)
        self.assertEqual(told["records"]["running"], 40)

    def test_the_same_over_time_and_again(self):
        text = self.HEAD + "".join(self.rows(lambda job, task: task % 6 == 3))
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "log"
            told = json.loads(self.rank(text, "--format", "json", "--window", "1m", "--log", log))
            first = next(w for w in told["windows"] if w["blacklisted"])
            self.assertEqual(first["blacklisted"], ["n3"])
            self.assertIn("at_least", first["changes"][0]["slowdown"])
            self.assertEqual(run("--replay", log).returncode, 0)
            lines = [json.loads(line) for line in log.read_text().splitlines()]
            for line in lines[1:]:
                line["running"] = []
            log.write_text("\n".join(map(json.dumps, lines)) + "\n")
            self.assertEqual(run("--replay", log).returncode, 1)

    def test_from_some_time_on(self):
        text = self.HEAD + "".join(self.rows(lambda job, task: task % 6 == 3 and job >= 12))
        self.assertIn("Avoid 1 node:\n  n3: ", self.rank(text))

    def test_an_end_that_was_lost_is_no_evidence(self):
        text = self.HEAD + "".join(self.rows(lambda job, task: (job, task) == (2, 3)))
        self.assertIn("Avoid no node.", self.rank(text))
        # Nor are ten, if their tasks have succeeded elsewhere since.
        text = self.HEAD + "".join(self.rows(lambda job, task: task == 3 and job < 10))
        text += "".join(f"j{job},3,1,n0,{self.EPOCH + job * 40_000 + 9_000},{self.EPOCH + job * 40_000 + 19_000},success\n"
                        for job in range(10))
        self.assertIn("Avoid no node.", self.rank(text))

    def test_slurm_says_what_runs(self):
        lines = ["JobID|NodeList|State|Start|End"]
        for row in self.rows(lambda job, task: task % 6 == 3):
            job, task, _, node, start, end, status = row.strip().split(",")
            state = {"success": "COMPLETED", "running": "RUNNING"}[status]
            stamps = [time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(int(t) // 1000)) if t else "Unknown" for t in (start, end)]
            lines.append(f"{100 + int(job[1:])}_{task}|{node}|{state}|{stamps[0]}|{stamps[1]}")
        self.assertIn("Avoid 1 node:\n  n3: at least ", self.rank("\n".join(lines) + "\n"))

    def test_all_of_one_node_are_killed(self):
        rows = []
        for row in self.rows(lambda job, task: task % 6 == 3):
            job, task, _, node, start, end, status = row.strip().split(",")
            rows.append(row if end else f"{job},{task},0,{node},{start},{int(start) + 4000},killed\n"
                        f"{job},{task},1,n1,{int(start) + 4000},{int(start) + 14000},success\n")
        screen = self.rank(self.HEAD + "".join(rows))
        self.assertRegex(screen, r"Avoid 1 node:\n  n3: \d+ attempts in a row were killed, while their siblings ended elsewhere\n")
        self.assertRegex(screen, r"j19, end_ms \d+: killed after 4.0 s; elsewhere 1\d\.\d s \(median of 12\)")


if __name__ == "__main__":
    unittest.main()
