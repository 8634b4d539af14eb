#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""straggle-replay from end to end. STRAGGLE_REPLAY_PROGRAM names the program, STRAGGLE_SHARED_DIR the folder of the
reference data (tests that need it are skipped without it)."""

import csv
import io
import json
import math
import os
import pathlib
import random
import re
import statistics
import subprocess
import time
import unittest

import programs
from programs import HEADER, ROOT, Folder, data_of_page, no_constant

PROGRAM = os.environ.get("STRAGGLE_REPLAY_PROGRAM", "straggle-replay")
run = programs.program(PROGRAM)
PROGRESS_HEADER = "job,task,attempt,node,time_ms,progress\n"
EVERY = ["progress_gap", "late", "late_as_printed", "late_with_caps", "hierarchical", "average_time", "over_median", "flink",
         "largest_gain", "mantri", "tail_of_siblings", "node_aware", "node_aware:warm=1"]
RATIOS = ["precision", "precision_in_time", "recall", "recall_in_time", "f1", "f1_in_time", "latency", "undetected_time", "fake_ratio"]

# The history of tests/examples/replay.cpp, in seconds; what it comes to is reckoned by hand there and below.
SMALL = [("0", 0, 0, 100, "success"), ("1", 0, 0, 100, "success"), ("2", 0, 0, 110, "success"), ("3", 0, 0, 90, "success"),
         ("4", 0, 0, 300, "success"), ("5", 0, 10, 200, "success"), ("6", 0, 0, 180, "killed"), ("6", 1, 120, 180, "success"),
         ("7", 0, 0, 50, "failed"), ("7", 1, 60, 160, "success"), ("8", 0, 0, 400, "killed")]


def document(*arguments, stdin=b""):
    return programs.document(run("--format", "json", *arguments, stdin=stdin))


def small_history():
    return HEADER + "".join(f"j,t{task},{number},n{int(task) // 4},{start * 1000},{end * 1000},{status},,\n"
                            for task, number, start, end, status in SMALL)


class ByHand(Folder):
    def test_a_small_history(self):
        progress = PROGRESS_HEADER + "j,t6,0,n1,170000,0.5\n"
        found = document("--interval", "50s", "--detector", "average_time:task_lag=121", "--detector", "late",
                         self.file("h.csv", small_history()), self.file("p.csv", progress))
        self.assertEqual(found["tasks"], {"seen": 9, "judged": 8, "never_finished": 1, "original_failed": 0,
                                          "usual_unknown": 0, "undecided": 0})
        self.assertEqual((found["jobs"], found["nodes"], found["looks"]), (1, 3, 8))
        self.assertEqual(found["reports"]["used"], 1)
        # Usual is 100. At 150, four have finished, in 100 on average: 4 (150), 5 (140) and 6 (150) are named, and 7,
        # which has just begun again, is not. Task 6 would have taken 360; task 5 has 50 left.
        lag, _ = found["detectors"]
        self.assertEqual((lag["stragglers"], lag["detected"], lag["caught"], lag["fakes"]), (3, 3, 3, 1))
        self.assertEqual((lag["precision"], lag["recall"], lag["f1"], lag["undetected_time"]), (1, 1, 1, None))
        self.assertAlmostEqual(lag["precision_in_time"], 2 / 3, delta=1e-15)
        self.assertAlmostEqual(lag["latency"], (1.5 + 1.4 + 1.5) / 3, delta=1e-15)

    def test_another_usual_time(self):
        history = self.file("h.csv", small_history())
        of = lambda *more: document("--detector", "late", *more, history)["detectors"][0]
        self.assertEqual(of()["stragglers"], 3)  # of 6 nobody knows that it was half done, but it was late already
        self.assertEqual(of()["undecided"], 0)
        self.assertEqual(of("--usual", "100s")["stragglers"], 3)
        self.assertEqual(of("--usual", "160s")["undecided"], 1)  # and now it was not
        self.assertEqual(of("--usual", "0")["stragglers"], of("--usual", "60s")["stragglers"])
        self.assertEqual(of("--threshold", 1.95)["stragglers"], 1)
        self.assertEqual(of("--min-tasks", 9)["tasks"], 0)
        self.assertIsNone(of("--min-tasks", 9)["recall"])

    def test_no_column_for_attempts(self):
        rows = [line.split(",") for line in small_history().splitlines()]
        text = "".join(",".join(r[:2] + r[3:]) + "\n" for r in rows)
        with_numbers = document("--interval", "50s", self.file("h.csv", small_history()))
        without = document("--interval", "50s", self.file("n.csv", text))
        self.assertEqual(with_numbers["detectors"], without["detectors"])
        # Readings then belong to the attempt that ran, the older one.
        reading = "job,task,time_ms,progress\nj,t6,170000,0.5\n"
        for history in ("h.csv", "n.csv"):
            found = document("--detector", "late", pathlib.Path(self.folder.name) / history, self.file("p.csv", reading))
            self.assertEqual((found["reports"]["used"], found["detectors"][0]["stragglers"]), (1, 3))


class Oracle(Folder):
    """Spark's rule, which needs nothing but times, written again from its description and run over a real history."""

    def over_median(self, rows, interval, slowdown=1.2):
        jobs = {}
        for r in rows:
            jobs.setdefault(r["job"], []).append((int(r["start_ms"]), int(r["end_ms"])))
        origin = min(s for tasks in jobs.values() for s, _ in tasks)
        stragglers = detected = caught = fakes = judged = 0
        latency = missed = 0.0
        for tasks in jobs.values():
            if len(tasks) < 2:
                continue
            usual = statistics.median(e - s for s, e in tasks)
            for start, end in tasks:
                judged += 1
                slow = end - start > slowdown * usual
                named, look = None, origin + -(-(start - origin) // interval) * interval
                while named is None and look < end:
                    done = sorted(e - s for s, e in tasks if e <= look)
                    if len(done) >= max(len(tasks) * 3 // 4, 1) and look - start > max(1.5 * done[len(done) // 2], 100):
                        named = look - start
                    look += interval
                stragglers += slow
                detected += named is not None
                if slow and named is not None:
                    caught += 1
                    fakes += end - start - named < usual
                    latency += named / usual
                elif slow:
                    missed += (end - start) / usual
        return {"tasks": judged, "stragglers": stragglers, "detected": detected, "caught": caught, "fakes": fakes,
                "latency": latency / caught if caught else None,
                "undetected_time": missed / (stragglers - caught) if stragglers > caught else None}

    def test_gridmix(self):
        source = self.shared("hadoop-gridmix-a.csv")
        with source.open() as f:
            rows = list(csv.DictReader(f))
        self.assertTrue(all(r["status"] == "success" for r in rows))
        for interval in (1000, 250):
            wanted = self.over_median(rows, interval)
            self.assertGreater(wanted["detected"], 10)
            found = document("--detector", "over_median", "--interval", f"{interval}ms", source)["detectors"][0]
            for key, value in wanted.items():
                if isinstance(value, float):
                    self.assertTrue(math.isclose(found[key], value, rel_tol=1e-12), key)
                else:
                    self.assertEqual(found[key], value, key)

    def test_hadoop_sls(self):
        history, progress = self.shared("hadoop-sls.csv"), self.shared("hadoop-sls.progress.csv")
        with history.open() as f:
            rows = list(csv.DictReader(f))
        with progress.open() as f:
            reports = sum(1 for _ in csv.DictReader(f))
        times = {}
        for r in rows:
            times.setdefault(r["job"], []).append(int(r["end_ms"]) - int(r["start_ms"]))
        stragglers = sum(t > 1.2 * statistics.median(ts) for ts in times.values() for t in ts)
        for interval in ("1s", "events"):
            found = document("--interval", interval, history, progress)
            self.assertEqual([d["detector"] for d in found["detectors"]], EVERY)
            self.assertEqual((found["attempts"]["used"], found["reports"]["used"]), (len(rows), reports))
            self.assertEqual((found["tasks"]["judged"], found["jobs"]), (len(rows), len(times)))
            for d in found["detectors"]:
                self.assertEqual((d["tasks"], d["stragglers"]), (len(rows), stragglers))

    def test_the_rule_of_a_mitigator(self):
        history, progress = self.shared("hadoop-sls.csv"), self.shared("hadoop-sls.progress.csv")
        for interval, least in (("1s", 0.9), ("events", 0.8)):
            found, = document("--interval", interval, "--detector", "mitigator", history, progress)["detectors"]
            self.assertEqual((found["detector"], found["tasks"], found["stragglers"]), ("mitigator", 192, 17))
            self.assertGreater(min(found["precision"], found["recall"]), least)
        found, = document("--detector", "mitigator", "--simulate", "1")["detectors"]
        self.assertGreater(found["precision"], 0.95)
        self.assertGreater(found["recall"], 0.7)
        for file in self.histories():
            self.assertEqual(run("--detector", "mitigator", "--interval", "2s", file).returncode, 0, file)

    def test_every_file_with_every_detector(self):
        for file in self.histories():
            for output in ("table", "json", "csv"):
                done = run("--format", output, "--interval", "2s", "--inputs", file)
                self.assertEqual((done.returncode, done.stderr), (0, b""), file)
                self.assertFalse(re.search(rb"\b(nan|inf)\b", done.stdout, re.I), (file, output))
            self.assertIn(b"No progress is known", run(file).stdout)


class Formats(Folder):
    def test_they_say_the_same(self):
        arguments = ("--simulate", 3)
        found = document(*arguments)["detectors"]
        table = run(*arguments).stdout.decode()
        rows = list(csv.DictReader(io.StringIO(run("--format", "csv", *arguments).stdout.decode())))
        self.assertEqual([r["detector"] for r in rows], [d["detector"] for d in found])
        for row, d in zip(rows, found):
            for key in ("tasks", "stragglers", "detected", "caught", "fakes"):
                self.assertEqual(int(row[key]), d[key])
            for key in RATIOS:
                self.assertEqual(float(row[key]) if row[key] else None, d[key])
            shown = [c for c in (d["precision"], d["precision_in_time"], d["recall"], d["f1"], d["f1_in_time"], d["latency"],
                                 d["undetected_time"], d["fake_ratio"])]
            line = next(l for l in table.splitlines() if l.split()[:1] == [d["detector"]])
            self.assertEqual(line.split()[1:4], [str(d["tasks"]), str(d["stragglers"]), str(d["detected"])])
            for cell, value in zip(line.split()[4:], shown):
                if value is None:
                    self.assertEqual(cell, "-")
                else:
                    self.assertAlmostEqual(float(cell), value, delta=0.00051)
        self.assertLessEqual(max(map(len, table.splitlines())), 108)

    def test_ratios_come_from_counts(self):
        for d in document("--simulate", 4)["detectors"]:
            tp, named, slow, fake = d["caught"], d["detected"], d["stragglers"], d["fakes"]
            ratio = lambda a, b: a / b if b else None
            self.assertEqual(d["precision"], ratio(tp, named))
            self.assertEqual(d["precision_in_time"], ratio(tp - fake, named))
            self.assertEqual(d["recall"], ratio(tp, slow))
            self.assertEqual(d["f1"], ratio(2 * tp, slow + named))
            self.assertEqual(d["fake_ratio"], ratio(fake, named))

    def test_nothing_to_find(self):
        text = HEADER + "".join(f"j,t{i},0,n,0,1000,success,,\n" for i in range(8))
        found = document("-", stdin=text.encode())["detectors"]
        for d in found:
            self.assertEqual((d["stragglers"], d["recall"], d["latency"], d["undetected_time"]), (0, None, None, None))
        report = self.file("r.html")
        self.assertEqual(run("--report", report, "-", stdin=text.encode()).returncode in (0, 1), True)

    def test_nothing_usable(self):
        text = HEADER + "j,,0,n,0,1000,success,,\nj,t,0,n,5,1,success,,\n"
        done = run("-", stdin=text.encode())
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"<stdin>: every record was rejected; 1 rejected: missing_name; 1 rejected: end_before_start", done.stderr)


class Simulation(unittest.TestCase):
    def test_the_same_for_the_same_seed(self):
        first = run("--simulate", 7, "--format", "json").stdout
        self.assertEqual(first, run("--simulate", 7, "--format", "json").stdout)
        self.assertNotEqual(first, run("--simulate", 8, "--format", "json").stdout)

    def test_it_is_worth_looking_at(self):
        found = document("--simulate", 1)
        self.assertEqual((found["tasks"]["judged"], found["jobs"], found["nodes"]), (960, 8, 16))
        f1 = {d["detector"]: d["f1_in_time"] for d in found["detectors"]}
        self.assertEqual(list(f1), EVERY)
        self.assertGreater(f1["node_aware:warm=1"], 0.85)
        self.assertGreater(f1["node_aware"], max(v for k, v in f1.items() if not k.startswith("node_aware")))


class Detectors(Folder):
    def found(self, *specifications):
        wanted = [a for s in specifications for a in ("--detector", s)]
        return {d["detector"]: {k: v for k, v in d.items() if k != "detector"} for d in document("--simulate", 2, *wanted)["detectors"]}

    def test_parameters(self):
        d = self.found("late", "late:alpha=1,over=running", "late:alpha=0.5", "late:lag=30", "late:task_lag=30",
                       "late:min_progress=0.2", "average_time", "average_time:factor=1.5", "over_median",
                       "over_median:spark_4=1", "hierarchical", "hierarchical:base=late", "hierarchical:base=late,alpha=0.5",
                       "node_aware", "node_aware:warm=0", "node_aware:sureness=2", "node_aware:start_up=0",
                       "node_aware:start_up=10", "late_with_caps:lag=10", "late_with_caps:mr1=1")
        self.assertEqual(d["late"], d["late:alpha=1,over=running"])
        self.assertEqual(d["node_aware"], d["node_aware:warm=0"])
        self.assertEqual(d["node_aware"], d["node_aware:start_up=0"])  # cold, nothing can be learned of it
        self.assertLess(d["node_aware:start_up=10"]["detected"], d["node_aware"]["detected"])
        self.assertGreater(d["late:alpha=0.5"]["detected"], d["late"]["detected"])
        self.assertGreater(d["late:task_lag=30"]["latency"], d["late"]["latency"])
        self.assertGreater(d["late:min_progress=0.2"]["latency"], d["late"]["latency"])
        self.assertLess(d["late:lag=30"]["detected"], d["late"]["detected"])
        self.assertLess(d["average_time:factor=1.5"]["detected"], d["average_time"]["detected"])
        self.assertLess(d["over_median:spark_4=1"]["detected"], d["over_median"]["detected"])
        self.assertNotEqual(d["hierarchical"], d["hierarchical:base=late"])
        self.assertGreater(d["hierarchical:base=late,alpha=0.5"]["detected"], d["hierarchical:base=late"]["detected"])
        self.assertLess(d["node_aware:sureness=2"]["detected"], d["node_aware"]["detected"])

    def test_all_and_one_more(self):
        self.assertEqual(list(self.found("late:alpha=3", "all")), ["late:alpha=3", *EVERY])

    def test_what_is_wrong_is_said(self):
        for specification, part in [("", "not one of"), ("lat", "not one of all, progress_gap"), ("late:alpa=2", "it has no alpa, only alpha"),
                                    ("late:alpha", "key=value"), ("late:", "key=value"), ("late:=2", "key=value"),
                                    ("late:alpha=1,alpha=2", "twice"), ("late:alpha=x", "not a number"), ("late:alpha=-1", "from 0"),
                                    ("late:alpha=nan", "not a number"), ("late:alpha=inf", "not a number"), ("late:over=both", "not one of running"),
                                    ("late:warm=1", "it has no warm"), ("node_aware:warm=2", "whole number"),
                                    ("node_aware:straggler_threshold=1", "not a number from"), ("node_aware:start_up=-1", "from 0"), ("flink:ratio=1", "not a number from"),
                                    ("largest_gain:most=0", "whole number"), ("largest_gain:most=1.5", "whole number"),
                                    ("mantri:delta=1", "not a number"), ("hierarchical:base=mantri", "not one of progress_gap, late"),
                                    ("late:lag=1e30", "from 0 to 1e+09"), ("late\n:x", "key=value")]:
            done = run("--simulate", 1, "--detector", specification)
            self.assertEqual((done.returncode, done.stdout), (1, b""), specification)
            self.assertIn(part, done.stderr.decode())
            self.assertEqual(done.stderr.count(b"\n"), 1)


class Reading(Folder):
    def test_every_record_is_accounted_for(self):
        history = HEADER + ("j,a,0,n,0,10,success,,\n" "j,a,0,n,0,10,success,,\n" ",b,0,n,0,10,success,,\n" "j,b,0,,0,10,success,,\n"
                            "j,b,0,n,,10,success,,\n" "j,b,0,n,20,10,success,,\n" "j,b,0,n,x,10,success,,\n" "j,b,0,n,nan,10,success,,\n"
                            "j,b,0,n,1e300,2e300,success,,\n" "j,b,0,n,0,99999999999999999999,success,,\n" "j,b,0,n,5,9,success,,x\n")
        progress = PROGRESS_HEADER + ("j,a,0,n,5,0.5\n" "j,a,0,n,4,0.6\n" "j,a,0,n,-1,0.6\n" "j,a,0,n,11,0.6\n" "j,a,0,n,6,1.5\n"
                                      "j,a,0,n,6,-0.5\n" "j,a,0,n,6,half\n" "j,a,0,n,6,nan\n" "j,a,0,n,,0.6\n" "j,a,0,n,6,\n"
                                      "j,c,0,n,6,0.6\n" "k,a,0,n,6,0.6\n" "j,a,7,n,6,0.6\n" ",a,0,n,6,0.6\n")
        found = document(self.file("h.csv", history), self.file("p.csv", progress))
        attempts, reports = found["attempts"], found["reports"]
        self.assertEqual((attempts["seen"], attempts["used"], attempts["rejected"]), (11, 2, 9))
        self.assertEqual({k: v["count"] for k, v in attempts["rejected_by_reason"].items()},
                         {"unparsable_number": 2, "out_of_range": 2, "missing_name": 2, "missing_time": 1, "end_before_start": 1,
                          "duplicate": 1})
        self.assertEqual(attempts["rejected_by_reason"]["unparsable_number"]["first_lines"], [8, 9])
        self.assertEqual(attempts["rejected_by_reason"]["out_of_range"]["first_lines"], [10, 11])
        self.assertEqual((reports["seen"], reports["used"], reports["rejected"]), (14, 1, 13))
        self.assertEqual({k: v["count"] for k, v in reports["rejected_by_reason"].items()},
                         {"unparsable_number": 2, "missing_field": 3, "bad_progress": 2, "unknown_task": 3, "before_start": 1,
                          "after_end": 1, "out_of_order": 1})
        self.assertEqual(document("--inputs", "-", stdin=history.encode())["attempts"]["used"], 1)
        self.assertIn("rejected: end_before_start", run("-", stdin=history.encode()).stdout.decode())

    def test_inputs_that_are_not_there(self):
        rows = "job,task,node,start_ms,end_ms\n" + "".join(f"j,{i},n{i % 3},{i},{i + 50}\n" for i in range(9))
        done = run("--inputs", "-", stdin=rows.encode())
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"input_bytes", done.stderr)
        log = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n" + "".join(
            f"{i}\tn{i % 3}\t{100 + i}.0\t5.0\t0\t0\t0\t0\twork {i}\n" for i in range(9))
        done = run("--inputs", "-", stdin=log.encode())
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"does not tell how much tasks read", done.stderr)

    def test_one_start_of_zero_costs_no_time(self):
        start = 1_767_225_600_000
        rows = "job,task,node,start_ms,end_ms\n" + "".join(
            f"j,{i},n{i % 3},{0 if i == 0 else start + i},{start + 5_000}\n" for i in range(4))
        begin = time.perf_counter()
        self.assertEqual(run("--detector", "all", "--detector", "mitigator", "-", stdin=rows.encode()).returncode, 0)
        self.assertLess(time.perf_counter() - begin, 30)

    def test_standard_input_may_be_either(self):
        history, progress = small_history(), PROGRESS_HEADER + "j,t6,0,n1,170000,0.5\n"
        h, p = self.file("h.csv", history), self.file("p.csv", progress)
        both = document(h, p)
        self.assertEqual(document("-", p, stdin=history.encode())["detectors"], both["detectors"])
        self.assertEqual(document(h, "-", stdin=progress.encode())["detectors"], both["detectors"])
        self.assertEqual(document("-", p, stdin=history.encode())["history"], "<stdin>")

    def test_what_the_fuzzer_begins_with(self):
        seeds = sorted((ROOT / "tests/fuzz/corpus/histories").glob("replay*"))
        self.assertTrue(seeds)
        for seed in seeds:
            with self.subTest(seed.name):
                document(*[self.file(f"part{i}", part) for i, part in enumerate(seed.read_bytes()[1:].split(b"---\n"))])

    def test_units_and_columns(self):
        rows = list(csv.reader(io.StringIO(small_history())))
        seconds = "where,what,begin,finish,result,group\n" + "".join(
            f"{r[3]},{r[1]},{int(r[4]) / 1000 + 1475705602.759},{int(r[5]) / 1000 + 1475705602.759},{r[6]},{r[0]}\n" for r in rows[1:])
        columns = "node=where,task=what,start=begin,end=finish,status=result,job=group"
        plain = document(self.file("h.csv", small_history()))
        other = document("--time-unit", "s", "--columns", columns, self.file("s.csv", seconds))
        self.assertEqual(plain["detectors"], other["detectors"])
        self.assertIn(b"say --time-unit", run("--columns", columns, self.file("s.csv", seconds)).stderr)

    def test_columns_are_read_in_the_unit_of_their_own_names(self):
        def history(unit, ticks):
            return f"job,task,node,start{unit},end{unit}\n" + "".join(
                f"j{j},{k},n{k},{j * 100 * ticks},{(j * 100 + 10 + k + (20 if k == 3 else 0)) * ticks}\n"
                for j in range(20) for k in range(10))
        def reports(unit, ticks):
            return f"job,task,time{unit},progress\n" + "".join(f"j{j},3,{(j * 100 + 15) * ticks},0.5\n" for j in range(20))
        found = [document(self.file("h.csv", history(unit, ticks)), self.file("p.csv", reports(unit, ticks)))
                 for unit, ticks in (("_s", 1), ("_ms", 10**3), ("_us", 10**6), ("_ns", 10**9))]
        for other in found[1:]:
            self.assertEqual((found[0]["detectors"], found[0]["looks"]), (other["detectors"], other["looks"]))
        self.assertGreater(found[0]["looks"], 100)
        self.assertEqual(found[0]["reports"]["used"], 20)
        mixed = "job,task,node,start_s,end_ms\n" + "".join(
            f"j{j},{k},n{k},{j * 100},{(j * 100 + 10 + k + (20 if k == 3 else 0)) * 1000}\n" for j in range(20) for k in range(10))
        self.assertEqual(document(self.file("h.csv", mixed), self.file("p.csv", reports("_s", 1)))["detectors"], found[0]["detectors"])
        self.assertIn(b"the unit of the column 'start' is not known; say --time-unit", run(self.file("h.csv", history("", 1))).stderr)

    def test_huge_times_do_not_overflow(self):
        most = 2**63 - 1
        rows = [f"j,t{i},0,n,{a},{b},success,,\n" for i, (a, b) in enumerate(
            [(-most, most), (0, most), (-4611686018427, 4611686018426), (0, 10), (9223372036854, 9223372036855)])]
        found = document("--interval", "36500d", "-", stdin=(HEADER + "".join(rows)).encode())
        # Times of more than 126 years either way are none.
        self.assertEqual((found["attempts"]["used"], found["attempts"]["rejected_by_reason"]["out_of_range"]["count"]), (1, 4))


class BadInput(Folder):
    def fails(self, status, part, *arguments, stdin=b""):
        done = run(*arguments, stdin=stdin)
        self.assertEqual((done.returncode, done.stdout), (status, b""), (arguments, done.stderr))
        text = done.stderr.decode()
        self.assertIn(part, text)
        self.assertTrue(text.startswith("straggle-replay: "))
        self.assertEqual(text.count("\n"), 1)

    def test_usage(self):
        history = self.file("h.csv", small_history())
        for part, *arguments in [("HISTORY is required",), ("standard input cannot be", "-", "-"), ("there is a HISTORY too", "--simulate", 1, history),
                                 ("not a whole number", "--simulate", "x"), ("not a whole number", "--simulate", -1), ("not one of table", "--format", "xml", history),
                                 ("not a length of time", "--interval", "1", history), ("whole number of milliseconds", "--interval", "0s", history),
                                 ("neither from 0 to 1", "--usual", "1.5", history), ("neither from 0 to 1", "--usual", "nan", history),
                                 ("not a length of time", "--usual", "5x", history), ("not a length of time", "--usual", "", history),
                                 ("is not from 1", "--threshold", 0.5, history), ("is not from 1", "--threshold", "nan", history),
                                 ("is negative", "--min-tasks", -1, history), ("not one of ns", "--time-unit", "weeks", history),
                                 ("not of the form", "--columns", "x", history), ("not of the form", "--columns", "time=x", history),
                                 ("--progress-columns: 'end=x'", "--progress-columns", "end=x", history),
                                 ("see --help", "--what", history), ("see --help", history, history, history)]:
            with self.subTest(arguments):
                self.fails(1, part, *arguments)

    def test_unreadable_files(self):
        history = self.file("h.csv", small_history())
        self.fails(2, "No such file", "/nonexistent.csv")
        self.fails(2, "No such file", history, "/nonexistent.csv")
        empty = pathlib.Path(self.folder.name) / "empty"
        empty.mkdir()
        self.fails(2, "directory", str(empty))
        self.fails(2, "<stdin>:1: the file is empty", "-")
        self.fails(2, "a header and nothing else", "-", stdin=HEADER.encode())
        self.fails(2, "no column 'node'", "-", stdin=b"job,task,start_ms,end_ms\n1,1,1,1\n")
        self.fails(2, "no column 'when'", "--columns", "start=when", history)
        self.fails(2, "two columns 'task'", "-", stdin=b"job,task,task,node,start_ms,end_ms\n1,1,1,1,1,1\n")
        self.fails(2, ":3: 2 fields where the header has 9", "-", stdin=(HEADER + "j,a,0,n,0,1,success,,\nx,y\n").encode())
        self.fails(2, "p.csv:2: a NUL byte", history, self.file("p.csv", PROGRESS_HEADER + "j\0,a,0,n,5,0.5\n"))
        self.fails(2, "(see --progress-columns)", history, self.file("p.csv", "job,task,time_ms\n1,1,1\n"))
        self.fails(2, "no column 'progress'", history, self.file("p.csv", "job,task,time_ms\n1,1,1\n"))

    def test_output_that_cannot_be_written(self):
        if os.path.exists("/dev/full"):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([PROGRAM, "--simulate", "1"], stdout=full, stderr=subprocess.PIPE, timeout=100)
            self.assertEqual(done.returncode, 3)
        done = run("--simulate", 1, "--detector", "late", "--report", "/nonexistent/r.html")
        self.assertIn(done.returncode, (1, 3))
        self.assertIn(b"without D3" if done.returncode == 1 else b"cannot be written", done.stderr)

    def test_help_and_version(self):
        done = run("--help")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        for name in EVERY[:-1]:
            self.assertIn(name, done.stdout.decode())
        self.assertRegex(run("--version").stdout.decode(), r"^straggle-replay \d+\.\d+\.\d+\n$")

    def test_broken_bytes(self):
        """Whatever becomes of a file: a table or a line that says why not."""
        seed = int(os.environ.get("STRAGGLE_TEST_SEED", 1))
        draw = random.Random(seed)
        progress = PROGRESS_HEADER + "".join(f"j,t{t},{n},x,{1000 * s},{s / 500:.3f}\n" for t, n, a, b, _ in SMALL for s in range(a, b, 10))
        pieces = [b"", b",", b"\"", b"\n", b"\r", b"\0", b"nan", b"-", b"1e308", b"9" * 30, b"\xff", b"\"\"", b".", b"0x1p3", b"inf"]

        def broken(text):
            data = bytearray(text.encode())
            for _ in range(draw.randrange(1, 12)):
                at = draw.randrange(len(data))
                data[at:at + draw.choice([0, 0, 1, 1, 5, 60])] = draw.choice(pieces)
            return bytes(data)

        tables = 0
        for turn in range(150):
            h = self.file("h.csv", broken(small_history()) if turn % 3 else small_history())
            p = self.file("p.csv", broken(progress) if turn % 2 else progress)
            done = run("--format", "json", "--interval", "7s", h, p)
            with self.subTest(seed=seed, turn=turn):
                self.assertIn(done.returncode, (0, 1, 2), done.stderr)  # 1: a column that lost its unit
                if done.returncode:
                    self.assertEqual((done.stdout, done.stderr.count(b"\n")), (b"", 1))
                    continue
                tables += 1
                found = json.loads(done.stdout, parse_constant=no_constant)
                t = found["tasks"]
                self.assertEqual(t["seen"], t["judged"] + t["never_finished"] + t["original_failed"] + t["usual_unknown"])
                for records in (found["attempts"], found["reports"]):
                    self.assertEqual(records["seen"], records["used"] + records["rejected"])
                    self.assertEqual(records["rejected"], sum(r["count"] for r in records["rejected_by_reason"].values()))
                for d in found["detectors"]:
                    self.assertEqual(d["tasks"] + d["undecided"], t["judged"])
                    self.assertLessEqual(d["caught"], min(d["stragglers"], d["detected"]))
        self.assertGreater(tables, 20)


class Report(Folder):
    def test_it_is_safe_for_browsers(self):
        names = ["</script><script>alert(1)</script>", "<!--", "\u202eevil", "a\"b'c&amp;", "\u2028"]
        text = io.StringIO()
        text.write(HEADER)
        writer = csv.writer(text, lineterminator="\n")
        for j, job in enumerate(names):
            for t in range(6):
                writer.writerow([job, f"{names[t % 5]}{t}", 0, names[(t + j) % 5], 0, 1000 + 900 * (t == 1), "success", "", ""])
        history = self.file("<b>history.csv", text.getvalue())
        report = self.file("r.html")
        done = run("--report", report, history)
        data = data_of_page(self, done, report)
        self.assertEqual([d["detector"] for d in data["detectors"]], EVERY)


if __name__ == "__main__":
    unittest.main()
