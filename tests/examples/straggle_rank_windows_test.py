#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""straggle-rank --window from end to end; environment as for straggle_rank_test.py."""

import csv
import io
import itertools
import json
import math
import pathlib
import random
import re
import statistics
import time
import unittest

from programs import HEADER, SHARED, BadInput, Folder
from straggle_rank_test import HOSTILE, history, run

SLURM = pathlib.Path(__file__).parents[2] / "examples/data/slurm-8-nodes.csv"


def succeeded(done):
    assert done.returncode == 0, done.stderr
    return done.stdout


def windows(text, *arguments):
    """The JSON document for a history given as text or as a path."""
    source, stdin = (text, b"") if isinstance(text, pathlib.Path) else ("-", text.encode())
    return json.loads(succeeded(run("--format", "json", *by_ranking(arguments), source, stdin=stdin)))


def by_ranking(arguments):
    """What is checked here against other computations follows from rankings."""
    return arguments if {"--select", "--preset"} & set(arguments) else (*arguments, "--select", "dominated:0.5")


def cells(text, *arguments):
    """The rows of --format csv by (window, node)."""
    source, stdin = (text, b"") if isinstance(text, pathlib.Path) else ("-", text.encode())
    out = succeeded(run("--format", "csv", *by_ranking(arguments), source, stdin=stdin)).decode()
    return {(int(row["window"]), row["node"]): row for row in csv.DictReader(io.StringIO(out))}


def scores_by_window(path, slide, slides, min_tasks=5):
    """The scores of each node in each window, by nothing but the definitions."""
    first = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["status"] != "success" or not row["start_ms"] or not row["end_ms"]:
                continue
            start, end = int(row["start_ms"]), int(row["end_ms"])
            if end < start:
                continue
            key = (row["job"], row["task"])
            if key not in first or end < first[key][0]:
                first[key] = (end, end - start, row["node"])
    jobs = {}
    for (job, _), (end, took, node) in first.items():
        for window in range(end // slide, end // slide + slides):
            jobs.setdefault((window, job), []).append((node, took))
    scores = {}
    for (window, _), tasks in jobs.items():
        durations = [took for _, took in tasks]
        for node, _ in tasks:
            scores.setdefault((window, node), [])
        if len(tasks) < min_tasks or len(set(durations)) == 1:
            continue
        mean, deviation = statistics.fmean(durations), statistics.pstdev(durations)
        for node, took in tasks:
            scores[window, node].append((took - mean) / deviation)
    last = max(end for end, _, _ in first.values()) // slide  # the timeline ends with the last task
    return {key: z for key, z in scores.items() if key[0] <= last}


class Windows(Folder):
    def compare(self, path, slide, slides, *arguments):
        got, wanted = cells(path, *arguments), scores_by_window(path, slide, slides)
        self.assertEqual(set(got), set(wanted))
        for key, z in wanted.items():
            row = got[key]
            self.assertEqual((int(row["begin"]), int(row["end"])), ((key[0] - slides + 1) * slide, (key[0] + 1) * slide))
            self.assertEqual(int(row["n"]), len(z), key)
            if len(z) < 2:
                self.assertEqual((row["mean"], row["level"]), ("", ""))
                continue
            self.assertAlmostEqual(float(row["mean"]), statistics.fmean(z), delta=1e-11, msg=key)
            self.assertAlmostEqual(float(row["sd"]), statistics.stdev(z), delta=1e-11, msg=key)
            self.assertLessEqual(float(row["low"]), float(row["mean"]))
        return got

    def test_every_window_against_plain_python(self):
        self.compare(SLURM, 60_000, 1, "--window", "1m")
        self.compare(SLURM, 20_000, 9, "--window", "3m", "--slide", "20s")
        self.compare(SLURM, 1_500, 254, "--window", "381s", "--slide", "1.5s")

    def test_ten_days_against_plain_python(self):
        path = self.shared("hadoop-gridmix-a.csv")
        self.compare(path, 1_800_000, 1, "--window", "0.5h")
        self.compare(path, 600_000, 144, "--window", "1d", "--slide", "10m")

    def test_dirty_records(self):
        path = self.shared("hadoop-19jobs.csv")
        self.compare(path, 3_600_000, 1, "--window", "1h")

    def test_the_weak_are_those_the_intervals_say(self):
        """dominated:0.5 and rerank have no memory: who is avoided follows from the intervals of the window alone."""
        got = cells(SLURM, "--window", "1m", "--slide", "20s", "--exclusions", "rerank", "--no-limits")
        for window, rows in itertools.groupby(sorted(got), key=lambda key: key[0]):
            ranked = {node: got[window, node] for _, node in rows if got[window, node]["level"]}
            for node, row in ranked.items():
                faster = sum(float(o["high"]) < float(row["low"]) for o in ranked.values())
                weak = len(ranked) > 1 and faster >= math.ceil(0.5 * (len(ranked) - 1))
                self.assertEqual(row["decision"], "avoided" if weak else "in_service", (window, node))

    def test_the_node_that_was_slow_for_a_third(self):
        doc = windows(SLURM, "--window", "1m", "--max-fraction", "0.4")
        nodes = {n["node"]: n for n in doc["nodes"]}
        self.assertEqual({k for k, n in nodes.items() if n["avoided"] > 0}, {"n2", "n5", "n6"})
        self.assertEqual({k: n["at_the_end"] for k, n in nodes.items() if n["at_the_end"] != "in_service"},
                         {"n2": "avoided", "n5": "avoided"})
        for node in ("n2", "n5"):
            self.assertEqual(nodes[node]["avoided"] + nodes[node]["on_probation"], 16)
        slow_from, slow_to = 1795232178824, 1795232498948
        changes = [(w["end"], c["after"]) for w in doc["windows"] for c in w["changes"] if c["node"] == "n6"]
        self.assertEqual(changes[0][1], "avoided")
        self.assertTrue(slow_from < changes[0][0] < slow_from + 120_000)
        self.assertEqual(changes[-1][1], "in_service")
        self.assertTrue(slow_to < changes[-1][0] < slow_to + 180_000)

    def test_accounts_agree_with_the_windows(self):
        for exclusions in ("rerank", "escalating:2:5", "probation", "hysteresis:2:1", "hysteresis:1:2+escalating",
                          "probation:5:0.5+rerank", "hysteresis+probation+rerank", "hysteresis:3+rerank"):
            doc = windows(SLURM, "--window", "30s", "--max-fraction", "0.3", "--exclusions", exclusions)
            for node in doc["nodes"]:
                for name, key in (("blacklisted", "avoided"), ("on_probation", "on_probation"), ("spared", "spared")):
                    self.assertEqual(node[key], sum(node["node"] in w[name] for w in doc["windows"]), (exclusions, key))
            where = {}
            for w in doc["windows"]:
                for c in w["changes"]:
                    self.assertEqual(where.get(c["node"], "in_service"), c["before"])
                    where[c["node"]] = c["after"]
                now = {n: kind for kind, key in (("avoided", "blacklisted"), ("on_probation", "on_probation"), ("spared", "spared"))
                       for n in w[key]}
                self.assertEqual({n: s for n, s in where.items() if s != "in_service"}, now)
                self.assertLessEqual(len(w["blacklisted"]) + len(w["on_probation"]), 2)  # of 8 nodes

    def test_the_second_success_of_a_task_does_not_count(self):
        late = "j0,t3,1,n9,0,90000,success,,\n"  # t3 of j0 was done at 3 s
        one, both = cells(history(), "--window", "10s"), cells(history(extra=late), "--window", "10s")
        self.assertEqual(one, {key: row for key, row in both.items() if key in one})
        early = "j0,t3,1,n9,0,10,success,,\n"
        self.assertEqual(cells(history(extra=early), "--window", "1h").get((0, "n3"))["n"], "19")
        self.assertEqual(cells(history(extra=early), "--window", "1h", "--every-success").get((0, "n3"))["n"], "20")

    def test_order_and_unit_of_the_file_do_not_matter(self):
        with open(SLURM, newline="") as file:
            rows = list(csv.reader(file))
        wanted = cells(SLURM, "--window", "1m", "--slide", "20s")
        numbers = lambda got: {key: {k: v for k, v in row.items() if k not in ("begin", "end")} for key, row in got.items()}

        def rewritten(header, convert, *arguments):
            body = rows[1:]
            random.Random(5).shuffle(body)
            lines = [",".join(header.get(name, name) for name in rows[0])]
            lines += [",".join(convert(v) if rows[0][i] in ("start_ms", "end_ms") else v for i, v in enumerate(row)) for row in body]
            return cells("\n".join(lines) + "\n", "--window", "1m", "--slide", "20s", *arguments)
        self.assertEqual(numbers(rewritten({}, str)), numbers(wanted))
        seconds = lambda v: f"{v[:-3]}.{v[-3:]}"
        names = {"start_ms": "start_s", "end_ms": "end_s"}
        got = rewritten(names, seconds, "--columns", "start=start_s,end=end_s")
        self.assertEqual(numbers(got), numbers(wanted))
        key = next(iter(got))
        self.assertEqual(float(got[key]["end"]) * 1000, float(wanted[key]["end"]))
        # Other ticks, and floating point, round elsewhere; seconds since 1970 as doubles are right to 2.4e-7.
        for got, tolerance in (
                (rewritten({"start_ms": "begin", "end_ms": "finish"}, lambda v: v + "000", "--columns", "start=begin,end=finish",
                           "--time-unit", "us"), 1e-12),
                (rewritten(names, lambda v: seconds(v) + "e0", "--columns", "start=start_s,end=end_s"), 1e-5)):
            self.assertEqual(set(got), set(wanted))
            for k, row in got.items():
                self.assertEqual(row["n"], wanted[k]["n"])
                if row["mean"]:
                    self.assertAlmostEqual(float(row["mean"]), float(wanted[k]["mean"]), delta=tolerance)

    def test_times_before_the_epoch(self):
        rows = "".join(f"j,n{i % 3},{-1500 * i - 1},{5 + i}\n" for i in range(9))
        got = cells("job,node,end_ms,duration\n" + rows, "--window", "1s", "--min-tasks", 1)
        self.assertEqual({key[0] for key in got}, {(-1500 * i - 1) // 1000 for i in range(9)})

    def test_successes_without_an_end(self):
        rows = "".join(f"j,n{i},{1000 + i},{5 + i}\n" for i in range(6)) + "j,n0,,5\n"
        doc = windows("job,node,end_ms,duration\n" + rows, "--window", "1s")
        self.assertEqual((doc["successes_without_end"], doc["records"]["used"], doc["windows"][0]["tasks"]), (1, 7, 6))


def bursts(starts, filler=()):
    """A job of 40 tasks on ten nodes, n3 slow, at each of these times; one task alone at others."""
    rows = [HEADER]
    for b, start in enumerate(starts):
        rows += [f"j{b},t{i},0,n{i % 10},{start},{start + (900 if i % 10 == 3 else 300 + i)},success,,\n" for i in range(40)]
    rows += [f"f,f{i},0,filler,{t},{t + 1},success,,\n" for i, t in enumerate(filler)]
    return "".join(rows)


class Gaps(unittest.TestCase):
    def test_a_gap_of_centuries_takes_no_time(self):
        begin = time.perf_counter()
        doc = windows(bursts([1_000, 10**13]), "--window", "1s")
        self.assertLess(time.perf_counter() - begin, 10)
        self.assertLess(doc["decisions"], 1000)
        self.assertEqual(doc["gaps"], [{"first_window": 2, "last_window": 10**10 - 1, "windows": 10**10 - 2}])
        self.assertEqual([w["changes"][0]["strikes"] for w in doc["windows"] if w["changes"] and w["changes"][0]["after"] == "avoided"],
                         [1, 1])  # forgotten in between
        table = succeeded(run("--window", "1s", "-", stdin=bursts([1_000, 10**13]).encode())).decode()
        self.assertRegex(table, r"\.\. \d[\d ]+ windows without a task")

    def test_skipping_idle_windows_changes_no_decision(self):
        starts = [1_000, 2_000, 30_000, 31_000, 700_000, 702_000, 5_000_000]
        told = lambda doc: [(w["window"], c) for w in doc["windows"] for c in w["changes"]]
        for exclusions in ("probation", "escalating:1:4", "hysteresis:1:2", "rerank"):
            options = ("--window", "3s", "--slide", "1s", "--no-limits", "--exclusions", exclusions)
            skipped, decided = windows(bursts(starts), *options), windows(bursts(starts, range(1_000, 5_000_000, 1_000)), *options)
            self.assertLess(skipped["decisions"], 2_500)
            self.assertGreater(decided["decisions"], 4_990)
            self.assertTrue(told(skipped))
            self.assertEqual(told(skipped), told(decided), exclusions)

    def test_too_many_windows(self):
        rows = "".join(f"j,n,{i},1\n" for i in range(0, 2 * 1_000_001, 2))
        done = run("--window", "1ms", "-", stdin=("job,node,end_ms,duration\n" + rows).encode())
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertRegex(done.stderr, rb"more than 1 000 000 windows.*longer --slide")


class BadUsage(BadInput):
    name, run_program = "straggle-rank", staticmethod(run)

    def test_windows(self):
        file = self.file("h.csv", history())
        for length in ("", "0m", "-1m", "10", "m", "1.5.2m", "1e3s", "10 m", "10min", "1.0001ms", "nan", "99999999999d", "9" * 30 + "s"):
            self.refuses(1, "^straggle-rank: --window: ", "--window", length, file)
        self.refuses(1, "--slide: 1h is not a multiple of 7m", "--window", "1h", "--slide", "7m", file)
        self.refuses(1, "--slide: 1m is not a multiple of 1h", "--window", "1m", "--slide", "1h", file)
        self.refuses(1, "--slide: 255s is 255 times 1s, at most 254", "--window", "255s", "--slide", "1s", file)
        for option in ("--slide", "--log", "--exclusions", "--time-unit"):
            self.refuses(1, option + ": needs --window", option, "1m", file)
        self.refuses(1, "--normalizer.*only z", "--window", "1m", "--normalizer", "robust", file)
        self.refuses(1, "not one of ns, us, ms, s", "--window", "1m", "--time-unit", "m", file)
        for policy in ("", "x", "escalating:0", "escalating:5:2", "escalating:1:2:3", "probation:0", "probation:1:nan", "rerank:1",
                       "rerank+rerank", "escalating+probation", "probation+hysteresis", "hysteresis+", "hysteresis:0", "+", "probation+x"):
            self.refuses(1, "--exclusions: '", "--window", "1m", "--exclusions", policy, file)

    def test_files_without_times(self):
        file = self.file("h.csv", "job,node,duration\nj,n,1\n")
        self.refuses(2, "h.csv does not say when attempts ended", "--window", "1m", file)
        file = self.file("h.csv", "job,node,duration,finish\nj,n,1,5\n")
        self.refuses(1, "unit of the column 'finish' is not known; say --time-unit", "--window", "1m", "--columns", "end=finish", file)
        file = self.file("h.csv", "job,node,duration,end_s\nj,n,1,5\n")
        self.refuses(1, "500ms is not a multiple of the steps in which 'end_s'", "--window", "500ms", "--columns", "end=end_s", file)
        file = self.file("h.csv", "job,node,duration,end_ms,status\nj,n,1,,ok\n")
        self.refuses(2, "no successful attempt with a known end", "--window", "1m", file)
        file = self.file("h.csv", f"job,node,duration,end_ms\nj,n,1,{2**63 - 1}\n")
        self.refuses(2, "too far out", "--window", "1m", file)
        self.refuses(2, "a header and nothing else", "--window", "1m", self.file("h.csv", HEADER))

    def test_replay_stands_alone(self):
        self.refuses(1, "--replay: .* leave FILE out", "--replay", "log", "h.csv")
        self.refuses(1, "--replay: .* leave --window out", "--replay", "log", "--window", "1m")
        self.refuses(2, "No such file", "--replay", "/nonexistent/log")

    def test_output_that_cannot_be_written(self):
        file = self.file("h.csv", history())
        for option in ("--log", "--report"):
            self.refuses(3, "cannot be written", "--window", "1m", option, "/nonexistent/out", file)
        if pathlib.Path("/dev/full").exists():
            self.refuses(3, "cannot be written", "--window", "1m", "--log", "/dev/full", file)


class Report(Folder):
    def data(self, text, *arguments):
        report = self.file("r.html")
        done = run("--report", report, "--select", "dominated:0.5", "--window", *arguments, "-", stdin=text.encode())
        if done.returncode == 1 and b"without D3" in done.stderr:
            self.skipTest("built without D3")
        succeeded(done)
        return json.loads(re.search(r'type="application/json">(.*?)</script>', report.read_text(), re.S)[1])["timeline"]

    def test_cells_and_stays(self):
        text = SLURM.read_text()
        t = self.data(text, "1m", "--max-fraction", "0.4")
        self.assertEqual((t["window_ms"], t["windows_per_column"], t["fleet"], t["once_weak"], len(t["rows"])), (60_000, 1, 8, 3, 8))
        table = cells(SLURM, "--window", "1m", "--max-fraction", "0.4")
        self.assertEqual(t["columns"], sorted({key[0] for key in table}))
        for row in t["rows"]:
            for column, n, mean, *interval in row["cells"]:
                cell = table[t["columns"][column], row["node"]]
                self.assertEqual(n, int(cell["n"]))
                self.assertAlmostEqual(mean, float(cell["mean"]), delta=6e-4)
                self.assertAlmostEqual(interval[0], float(cell["low"]), delta=6e-4)
            where = {w: s["where"] for s in row["stays"] for w in range(s["first"], s["last"] + 1)}
            for (window, node), cell in table.items():
                if node == row["node"]:
                    self.assertEqual(where.get(window, "in_service"), cell["decision"])

    def test_no_more_columns_than_a_screen_shows(self):
        t = self.data(SLURM.read_text(), "1s", "--slide", "100ms")
        self.assertEqual(t["windows_per_column"], 8)  # 9 500 windows
        self.assertLess(len(t["columns"]), 1_500)
        wanted = scores_by_window(SLURM, 100, 10)
        for row in t["rows"]:
            for column, n, _, *_ in row["cells"]:
                here = range(8 * t["columns"][column], 8 * t["columns"][column] + 8)
                self.assertEqual(n, sum(len(wanted.get((w, row["node"]), ())) for w in here))

    def test_large_fleets(self):
        rows = ["job,node,end_ms,duration\n"]
        for j in range(60):
            rows += [f"j{j},w{n:03d},{1000 * j},{1000 + (n * 7919 + j * 104729) % 997 + (3000 if n < 4 else 0)}\n" for n in range(300)]
        t = self.data("".join(rows), "30s")
        self.assertEqual(t["fleet"], 300)
        self.assertLessEqual(len(t["rows"]), 100)
        self.assertLessEqual({f"w{n:03d}" for n in range(4)}, {row["node"] for row in t["rows"]})

    def test_hostile_names(self):
        out = io.StringIO("job,node,end_ms,duration\n")
        out.seek(0, io.SEEK_END)
        writer = csv.writer(out, lineterminator="\n")
        for j in range(12):
            for n, name in enumerate(HOSTILE):
                writer.writerow([f"job {j}", name, 1000 * j, 100 + (j * 7 + n * 3) % 11 + (300 if n < 5 else 0)])
        t = self.data(out.getvalue(), "3s")
        self.assertEqual({row["node"] for row in t["rows"]}, set(HOSTILE))
        self.assertNotIn("<", re.search(r'type="application/json">(.*?)</script>', self.folder_file("r.html"), re.S)[1])
        done = run("--window", "3s", "-", stdin=out.getvalue().encode(), LC_ALL="C.UTF-8")
        self.assertFalse(re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e\u2028]", succeeded(done).decode()))

    def folder_file(self, name):
        return (pathlib.Path(self.folder.name) / name).read_text()


class OneAnswer(unittest.TestCase):
    @unittest.skipUnless((SHARED / "data").is_dir(), "there is no reference data")
    def test_one_window_says_what_the_whole_history_says(self):
        compared = 0
        for path in sorted([*(SHARED / "data").glob("*.csv"), *(SHARED / "data/cases").glob("*.csv")]):
            done = [run("--format", "json", *window, path) for window in ((), ("--window", "3650d"))]
            if any(d.returncode != 0 for d in done):
                continue  # refused by one for what it lacks, as a test of its own says
            whole, by_window = (json.loads(d.stdout) for d in done)
            with self.subTest(path.name):
                self.assertEqual(len(by_window["windows"]), 1)
                told = {c["node"]: c for c in by_window["windows"][0]["changes"]}
                verdicts = whole["decision"]["blacklisted"]
                # Who decides once asks for less evidence than who decides in each window.
                self.assertLessEqual(set(by_window["windows"][0]["blacklisted"]), {v["node"] for v in verdicts})
                for v in verdicts:
                    if v["node"] not in told:
                        continue
                    other = told[v["node"]]
                    self.assertEqual(v["causes"], other["causes"])
                    if "slow" in v["causes"]:
                        self.assertEqual(v["why"], other["why"])
                    for end in v["slowdown"] or ():
                        self.assertTrue(math.isclose(v["slowdown"][end], other["slowdown"][end], rel_tol=2e-6), (v, other))
                    compared += 1
        self.assertGreater(compared, 5)

    def whole_and_window(self, rows, window="30d"):
        text = HEADER + "".join(rows)
        whole = json.loads(succeeded(run("--format", "json", "-", stdin=text.encode())))
        by_window = json.loads(succeeded(run("--format", "json", "--window", window, "-", stdin=text.encode())))
        return whole, by_window

    def test_killed_attempts_of_the_last_jobs_count(self):
        chance = random.Random(11)
        rows = []
        for job, task in itertools.product(range(12), range(10)):
            node, start = task % 5, job * 40_000
            took = round(10_000 * chance.lognormvariate(0, 0.05))
            if node == 3:
                rows.append(f"j{job},{task},0,n3,{start},{start + 4000},killed,,\n")
                rows.append(f"j{job},{task},1,n0,{start + 4000},{start + 4000 + took},success,,\n")
            else:
                rows.append(f"j{job},{task},0,n{node},{start},{start + took},success,,\n")
        whole, by_window = self.whole_and_window(rows)
        verdict, = whole["decision"]["blacklisted"]
        change, = by_window["windows"][-1]["changes"]
        for told in (verdict, change):
            self.assertEqual((told["node"], told["rule"], told["value"]), ("n3", "killed", 24))

    def test_large_inputs_name_no_node_in_early_windows(self):
        for factor, slow in ((4, None), (10, None), (4, 1)):
            chance = random.Random(3)
            rows = []
            for job, task in itertools.product(range(30), range(12)):
                node = task % 6
                size = 16e6 * chance.lognormvariate(0, 0.15) * (factor if node == 3 else 1)
                took = round(size / 1e3 * chance.uniform(0.95, 1.05) * (2 if node == slow else 1))
                rows.append(f"j{job},{task},0,n{node},{job * 200_000},{job * 200_000 + took},success,,{round(size)}\n")
            with self.subTest(factor=factor, slow=slow):
                whole, by_window = self.whole_and_window(rows, "20m")
                expected = set() if slow is None else {f"n{slow}"}
                self.assertEqual({v["node"] for v in whole["decision"]["blacklisted"]}, expected)
                self.assertEqual({n for w in by_window["windows"] for n in w["blacklisted"]}, expected)

    def test_windows_of_attempts_that_only_failed(self):
        rows = [f"j{n % 5},{n},0,h{n % 3},{n * 1000},{n * 1000 + 50},failed,,\n" for n in range(90)]
        whole, by_window = self.whole_and_window(rows, "1m")
        self.assertEqual(whole["decision"]["blacklisted"], [])
        self.assertTrue(all(w["blacklisted"] == [] for w in by_window["windows"]))
        text = succeeded(run("-", stdin=(HEADER + "".join(rows)).encode())).decode()
        self.assertIn("90 of 90 attempts failed, on all of 3 nodes: no single node can be blamed.", text)
        self.assertNotIn("nothing to do", text)


if __name__ == "__main__":
    unittest.main()
