#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""straggle-rank from end to end. STRAGGLE_RANK_PROGRAM names the program, STRAGGLE_SHARED_DIR the folder of the
reference data (tests that need it are skipped without it)."""

import csv
import io
import json
import math
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import time
import unittest

from programs import HEADER, ROOT, SHARED, BadInput, Folder, data_of_page, document, program

PROGRAM = os.environ.get("STRAGGLE_RANK_PROGRAM", "straggle-rank")
run = program(PROGRAM)


def rank(text, *arguments):
    """The JSON document for a history given as text or bytes."""
    data = text if isinstance(text, bytes) else text.encode()
    return document(run("--format", "json", *arguments, "-", stdin=data))


def history(jobs=20, nodes=10, slow=("n3",), factor=3, extra=""):
    """Each job runs one task on each node; the same on every machine."""
    rows = [HEADER]
    state = 1
    for j in range(jobs):
        for n in range(nodes):
            state = state * 6364136223846793005 + 1442695040888963407 & 2**64 - 1
            took = 1000 + (state >> 33) % 200
            if f"n{n}" in slow:
                took *= factor
            rows.append(f"j{j},t{n},0,n{n},{5000 * j},{5000 * j + took},success,,{100 + n}\n")
    return "".join(rows) + extra


class Gangs(unittest.TestCase):
    """Tasks that wait for the slowest of their job in each step."""

    def history(self, header, row):
        draw = random.Random(5)
        lines = [header]
        for job in range(30):
            work = [draw.gauss(1000, 50) * (2 if rank == 5 else 1) for rank in range(12)]
            begin, longest = 5000 * job, max(work)
            for rank, own in enumerate(work):
                lines.append(row(job, rank, begin, longest + draw.random(), longest - own))
        return "\n".join(lines) + "\n"

    def decided(self, said):
        return [node["node"] for node in said["decision"]["blacklisted"]]

    def test_durations_alone_get_a_note(self):
        text = self.history("job,node,start_ms,end_ms", lambda job, rank, begin, took, _:
                            f"j{job},n{rank},{begin:.3f},{begin + took:.3f}")
        said = rank(text)
        self.assertEqual(self.decided(said), [])
        self.assertTrue(said["records"]["ends_coincide"])
        self.assertIn("tasks of each job end together", run("-", stdin=text.encode()).stdout.decode())

    def test_waits_name_the_node(self):
        text = self.history("job,node,start_ms,end_ms,waited_ms", lambda job, rank, begin, took, waited:
                            f"j{job},n{rank},{begin:.3f},{begin + took:.3f},{waited:.3f}")
        said = rank(text)
        self.assertEqual(self.decided(said), ["n5"])
        self.assertFalse(said["records"]["ends_coincide"])
        slow = next(node for node in said["nodes"] if node["node"] == "n5")
        self.assertAlmostEqual(slow["slowdown"]["value"], 2, delta=0.1)

    def test_unknown_waits_and_waits_that_cannot_be(self):
        said = rank("job,node,duration,waited\n" + "".join(
            f"j,n{i % 4},{10 + i % 3},{wait}\n" for i, wait in enumerate([""] * 20 + [11.5, -1, "nan", "x"] * 3)))
        self.assertEqual(said["records"]["used"], 20 + 1)
        self.assertEqual(said["records"]["rejected_by_reason"]["negative_duration"]["count"], 5)


class Steps(BadInput):
    """--steps: the ranks that others wait for."""
    name = "straggle-rank"

    def run_program(self, *arguments, stdin=b""):
        return subprocess.run([PROGRAM, *arguments], input=stdin, capture_output=True)

    def reports(self, slow=5, arrivals=False):
        draw, rows, released = random.Random(5), [], 0
        for step in range(30):
            work = [draw.gauss(1, 0.05) * (2 if rank == slow else 1) for rank in range(8)]
            longest = max(work)
            for rank, own in enumerate(work):
                if arrivals:
                    rows.append((rank, f"{step},r{rank},{released + own:.6f}"))
                else:
                    rows.append((rank, f"{step},r{rank},n{rank // 2},data,0.1,0"))
                    rows.append((rank, f"{step},r{rank},n{rank // 2},forward,{longest:.6f},{longest - own:.6f}"))
            released += longest
        header = "step,rank,arrived_s" if arrivals else "step,rank,node,section,seconds,waited"
        # As a log of each rank after the other has them.
        return "\n".join([header] + [row for _, row in sorted(rows, key=lambda r: r[0])]) + "\n"

    def test_the_rank_that_waits_least_is_named(self):
        text = self.reports()
        said = rank(text, "--steps", "--columns", "duration=seconds")
        self.assertEqual([s["rank"] for s in said["stragglers"]], ["r5"])
        slow = said["stragglers"][0]
        self.assertEqual((slow["node"], slow["section"], slow["at_fault"]), ("n2", "forward", "rank"))
        self.assertAlmostEqual(slow["slowdown"]["value"], 2.1 / 1.1, delta=0.1)
        self.assertEqual(said["steps"], 30)
        self.assertEqual(said["ranks"], 8)
        self.assertGreater(next(s["share"] for s in said["sections"] if s["name"] == "forward"), 0.9)
        plain = run("--steps", "--columns", "duration=seconds", "-", stdin=text.encode()).stdout.decode()
        self.assertIn("Rank r5 on n2 takes 1.9", plain)
        self.assertRegex(plain, r"A step takes 2\.1\d?, without stragglers 1\.1\. The ranks named explain 100 % of the")

    def test_arrivals_at_a_barrier(self):
        said = rank(self.reports(arrivals=True), "--steps")
        self.assertEqual([s["rank"] for s in said["stragglers"]], ["r5"])

    def test_none_is_named_where_all_are_alike(self):
        text = self.reports(slow=None)
        self.assertEqual(rank(text, "--steps", "--columns", "duration=seconds")["stragglers"], [])
        self.assertIn("No rank is significantly slower",
                      run("--steps", "--columns", "duration=seconds", "-", stdin=text.encode()).stdout.decode())

    def test_whether_to_replace_a_node(self):
        text = self.reports()
        cost = ("--steps", "--columns", "duration=seconds", "--restart-cost", "10", "--steps-left")
        yes = rank(text, *cost, "1000")["stragglers"][0]["replace"]
        self.assertEqual((yes["is_worth"], yes["nodes_waiting"]), (True, 3))
        self.assertAlmostEqual(yes["gain"], 1000 * yes["gain_per_step"] - 10)
        self.assertTrue(0 < yes["low"] < yes["gain"] < yes["high"])
        for left, words in ("1000", "worth a restart: 3 other nodes gain"), ("5", "not worth a restart: 3 other nodes gain -"):
            self.assertIn("A different node is " + words, run(*cost, left, "-", stdin=text.encode()).stdout.decode())
        moves = "step,rank,duration,node\n" + "".join(f"{s},{r},{2 if r == 1 else 1},{r if s < 20 or r != 1 else 'new'}\n"
                                                      for s in range(40) for r in range(4))
        self.assertIn("It is slow on any node.", run("--steps", *cost[3:], "99", "-", stdin=moves.encode()).stdout.decode())
        self.refuses(1, "only with --steps", "--restart-cost", "1", "--steps-left", "1", "-")
        self.refuses(1, "needs --steps-left", "--steps", "--restart-cost", "1", "-")

    def test_a_rank_alone(self):
        said = rank("step,rank,duration\n" + "".join(f"{s},r,1\n" for s in (*range(20), 2**50)), "--steps")
        self.assertEqual((said["steps"], said["records"]["used"]), (21, 21))

    def test_reports_that_cannot_be_used(self):
        said = rank("step,rank,duration,waited\n" + "".join(f"1,r{r},1,0\n" for r in range(4)) +
                    "x,r1,1,0\n2,r1,,0\n2,r1,1,2\n2,r1,abc,0\n2,r1,1,\n", "--steps")
        self.assertEqual(said["records"]["used"], 5)
        self.assertEqual(said["records"]["rejected"],
                         {"missing_field": 2, "bad_time": 2, "late": 0, "ahead": 0, "no_room": 0})

    def test_refusals(self):
        self.refuses(1, "not together with --window", "--steps", "--window", "1h", "-")
        self.refuses(1, "table or json", "--steps", "--format", "csv", "-")
        self.refuses(2, "no column 'rank' for the rank", "--steps", "-", stdin=b"step,duration\n1,2\n")
        self.refuses(2, "no column for the duration", "--steps", "-", stdin=b"step,rank\n1,2\n")
        self.refuses(2, "no report of a step could be used", "--steps", "-", stdin=b"step,rank,duration\nx,r,2\n")

    def test_a_recorded_training_job(self):
        """The publishers have 46.3 s a step, 23.5 without stragglers, all of it explained by pp0-dp0."""
        file = pathlib.Path(SHARED or "") / "data" / "bytedance-AR.csv"
        if not file.exists():
            self.skipTest(f"{file} is not there")
        for from_waits in (False, True):
            rows, free, current, steps = ["step,rank,section,stage,duration_ms,waited_ms"], {}, None, 0
            with open(file, newline="") as source:
                for row in csv.DictReader(source):
                    step, section, stage = row["job"].split("/")
                    if step != current:
                        current, free, steps = step, {}, steps + 1
                    begin, end, node = float(row["start_ms"]), float(row["end_ms"]), row["node"]
                    waited = max(begin - free.get(node, begin), 0) if from_waits else 0
                    free[node] = max(end, free.get(node, end))
                    rows.append(f"{steps},{node},{section},{stage},{end - begin + waited:.3f},{waited:.3f}")
            all_steps = rank("\n".join(rows), "--steps")
            self.assertEqual([s["rank"] for s in all_steps["stragglers"]], ["pp0-dp0"])
            self.assertGreater(all_steps["stragglers"][0]["share"], 0.95)
            self.assertAlmostEqual(all_steps["step"]["time"] / 1000, 46.3, delta=4.63)
            self.assertAlmostEqual(all_steps["step"]["without_stragglers"] / 1000, 23.5, delta=2.35)
            first = [rows[0]] + [row for row in rows[1:] if int(row.split(",")[0]) <= 20]
            self.assertEqual([s["rank"] for s in rank("\n".join(first), "--steps")["stragglers"]], ["pp0-dp0"])


class Causes(Folder):
    """Histories whose late tasks have one known cause."""

    def causes(self, work, *arguments):
        """What is said if task t of job j runs on node t % 10 and work(j, t, draw) says how long and on how much."""
        draw, rows = random.Random(7), [HEADER]
        for job in range(40):
            for task in range(20):
                took, size = work(job, task, draw)
                rows.append(f"j{job},{task},0,n{task % 10},{10**6 * job},{10**6 * job + round(took * draw.uniform(900, 1100))},success,,{size:.0f}\n")
        return document(run("--causes", "--format", "json", *arguments, self.file("h.csv", "".join(rows))))["causes"]

    def check(self, causes, by, least=0.9):
        shares = causes["by"]
        self.assertGreater(shares[by]["share"], least, causes)
        self.assertAlmostEqual(sum(s["share"] for s in shares.values()), 1, delta=1e-9)
        for s in shares.values():
            self.assertLessEqual(s["low"], s["share"])
            self.assertLessEqual(s["share"], s["high"])
        self.assertGreater(shares[by]["low"], least - 0.1)

    def test_a_slow_node(self):
        got = self.causes(lambda job, task, draw: (3 if task % 10 == 3 else 1, 100))
        self.check(got, "node")
        self.assertEqual((got["tasks"], got["late"], got["jobs"]), (800, 80, 40))
        self.assertAlmostEqual(got["share_of_time"], 80 * 2 / (80 * 3 + 720), delta=0.02)

    def test_more_input(self):
        def work(job, task, draw):
            size = draw.lognormvariate(0, 0.6)
            return size, 1e6 * size
        self.check(self.causes(work), "input")

    def test_bad_luck(self):
        self.check(self.causes(lambda job, task, draw: (draw.choice([1] * 19 + [4]), 100)), "itself")

    def test_nothing_is_late(self):
        got = self.causes(lambda job, task, draw: (1, 100))
        self.assertEqual((got["late"], got["share_of_time"]), (0, 0))

    def test_bars_and_page(self):
        file, report = self.file("h.csv", history(slow=("n3",))), pathlib.Path(self.folder.name) / "page.html"
        said = run("--causes", file, LC_ALL="C").stdout.decode()
        self.assertIn("20 of 200 tasks took at least 1.5 times as long as usual in their job, and lost", said)
        self.assertRegex(said, r"  slow nodes +#{36,40} +(9[0-9]|100) % \(")
        self.assertRegex(said, r"  bad luck  ")
        self.assertNotIn("Lost time", run(file).stdout.decode())
        data = data_of_page(self, run("--causes", "--report", report, file), report)
        self.assertEqual(data["causes"], document(run("--causes", "--format", "json", file))["causes"])

    def test_not_with_windows(self):
        done = run("--causes", "--window", "auto", self.file("h.csv", history()))
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"not together with --window", done.stderr)


class Oracle(Folder):
    """Against an independent computation of the paper's algorithms on real histories."""

    def compare(self, name):
        source, wanted = SHARED / "data" / f"{name}.csv", SHARED / "data" / "expected" / f"{name}.json"
        if not source.exists() or not wanted.exists():
            self.skipTest("reference data absent")
        done = run("--preset", "dsb_2019", "--format", "json", source)
        self.assertEqual(done.returncode, 0, done.stderr)
        ours = {node["node"]: node for node in json.loads(done.stdout)["nodes"]}
        theirs = json.loads(wanted.read_text())["nodes"]
        self.assertEqual({k for k, node in ours.items() if node["n"] > 0}, set(theirs))
        for node, t in theirs.items():
            o = ours[node]
            self.assertEqual((o["n"], o["level"]), (t["n"], t["level"]), node)
            if t["level"] is None:
                self.assertIsNone(o["low"])
                continue
            for our_name, their_name in (("mean", "mean"), ("sd", "std")):
                self.assertTrue(math.isclose(o[our_name], t[their_name], rel_tol=1e-9, abs_tol=1e-12), (node, our_name))
            # The oracle's t quantile (SciPy before 1.11) is right to 3e-9 only; so are its intervals.
            half = (t["high"] - t["low"]) / 2
            for end in ("low", "high"):
                self.assertAlmostEqual(o[end], t[end], delta=5e-9 * half + 1e-12, msg=(node, end))

    def test_hadoop_19jobs(self): self.compare("hadoop-19jobs")
    def test_hadoop_gridmix(self): self.compare("hadoop-gridmix-a")
    def test_hadoop_sls(self): self.compare("hadoop-sls")
    def test_spark_groupon(self): self.compare("spark-groupon")
    def test_spark_speculation(self): self.compare("spark-speculation")

    def test_every_option_on_every_file(self):
        for file in self.histories():
            for normalizer in ("z", "robust", "leave_one_out", "ratio", "work_rate"):
                for output in ("table", "json", "csv"):
                    done = run("--normalizer", normalizer, "--format", output, "--domain", "[0-9]", "--fail-open", 0.9,
                               "--min-healthy", 1, file)
                    self.assertEqual((done.returncode, done.stderr), (0, b""), (file, normalizer))
                    self.assertFalse(re.search(rb"\b(nan|inf)\b", done.stdout, re.I), (file, normalizer, output))


class Ranking(unittest.TestCase):
    def test_scores_by_hand(self):
        # Two jobs of five tasks; the score is (duration - mean) / population deviation.
        durations = {"a": [10, 20, 30, 40, 50], "b": [7, 7, 9, 12, 40]}
        text = "job,node,duration\n" + "".join(
            f"{job},n{i},{d}\n" for job, ds in durations.items() for i, d in enumerate(ds))
        got = {n["node"]: n for n in rank(text)["nodes"]}
        for i in range(5):
            scores = [(ds[i] - statistics.fmean(ds)) / statistics.pstdev(ds) for ds in durations.values()]
            self.assertAlmostEqual(got[f"n{i}"]["mean"], statistics.fmean(scores), delta=1e-12)
            self.assertAlmostEqual(got[f"n{i}"]["sd"], statistics.stdev(scores), delta=1e-12)
            half = math.tan(math.pi * 0.475) * statistics.stdev(scores) / math.sqrt(2)  # t(0.975, 1)
            self.assertAlmostEqual(got[f"n{i}"]["high"], statistics.fmean(scores) + half, delta=1e-11)

    def test_a_slow_node_is_found(self):
        decision = rank(history())["decision"]
        self.assertEqual([v["node"] for v in decision["blacklisted"]], ["n3"])
        verdict = decision["blacklisted"][0]
        self.assertEqual((verdict["rule"], verdict["causes"], verdict["spared_by"]), ("slowdown", ["slow"], None))
        self.assertGreater(verdict["slowdown"]["low"], 2)
        self.assertGreater(verdict["slowdown"]["high"], 3)
        verdict = rank(history(), "--select", "dominated:0.5")["decision"]["blacklisted"][0]
        self.assertEqual((verdict["node"], verdict["provably_faster"], verdict["spared_by"]), ("n3", 9, None))
        self.assertGreater(verdict["value"], verdict["threshold"])

    def test_a_node_that_fails_its_tasks(self):
        extra = "".join(f"f{i},t,0,n5,{10 * i},{10 * i + 1},failed,,\n" for i in range(16))
        got = rank(history(slow=(), extra=extra))
        self.assertEqual([(v["node"], v["causes"]) for v in got["decision"]["blacklisted"]], [("n5", ["failing"])])
        failures = {n["node"]: n["failures"] for n in got["nodes"]}
        self.assertEqual((failures["n5"]["attempts"], failures["n5"]["failed"]), (36, 16))
        self.assertEqual(failures["n4"]["failed"], 0)

    def test_what_cannot_be_read_is_an_error(self):
        self.assertEqual(run("--normalizer", "work_rate", "-", stdin=b"job,node,duration\na,n,1\n").returncode, 2)
        self.assertEqual(run("-", stdin=b"job,node,duration\na,n,-1\na,m,-2\n").returncode, 2)
        names = rank("job,node,start,end\n" + "".join(f"j,n{i},0,{9 + i}\n" for i in range(5)))["nodes"]
        self.assertEqual(len(names), 5)  # the names that --help tells
        twins = rank(b"job,node,duration\n" + b"".join(b"j,n\xff%d,%d\nj,n\xfe%d,%d\n" % (i, i + 1, i, i + 3) for i in range(4)))
        self.assertEqual(len({n["node"] for n in twins["nodes"]}), 8)

    def test_nobody_is_blamed_without_evidence(self):
        decision = rank(history(slow=()))["decision"]
        self.assertEqual((decision["blacklisted"], decision["spared"]), ([], []))

    def test_weakest_level_first(self):
        levels = [n["level"] for n in rank(history(slow=("n3", "n7")))["nodes"]]
        self.assertEqual(levels, sorted(levels))

    def test_the_unit_of_time_does_not_matter(self):
        """Decimal seconds since 1970 are as exact as milliseconds; equal durations stay equal."""
        milliseconds = history(extra="".join(f"e,t{n},0,n{n},1475705602{n:03d},1475705603{n:03d},success,,\n" for n in range(9)))
        seconds = io.StringIO()
        for line in csv.reader(io.StringIO(milliseconds)):
            if line[4].isdigit():
                line[4:6] = [f"{int(t) // 1000}.{int(t) % 1000:03d}" for t in line[4:6]]
            seconds.write(",".join(line) + "\n")
        a, b = rank(milliseconds), rank(seconds.getvalue())
        self.assertEqual(a["nodes"], b["nodes"])
        self.assertEqual(b["jobs"]["degenerate"], [{"job": "e", "attempts": 9, "reason": "no_spread"}])

    def test_fine_times_after_coarse_ones(self):
        rows = [f"a,n{i},{d}\n" for i, d in enumerate(["10", "20.5", "30", "40.125", "5e1"])]
        for count in (4, 5):  # the fifth is floating point
            nodes = rank("job,node,duration\n" + "".join(rows[:count]), "--min-tasks", 2, "--normalizer", "ratio")["nodes"]
            self.assertEqual(sum(n["n"] for n in nodes), count)

    def test_first_completion_of_a_task(self):
        extra = "j0,t0,1,n9,0,100,success,,\n"  # beats attempt 0 of t0 of j0
        self.assertEqual(rank(history(extra=extra))["records"]["superseded"], 1)
        self.assertEqual(rank(history(extra=extra), "--every-success")["records"]["superseded"], 0)

    def test_presets_and_overrides(self):
        o = rank(history(), "--preset", "dsb_2019")["options"]
        self.assertEqual((o["min_tasks"], o["deviation"], o["counted"], o["select"], o["limits"]["max_fraction"]),
                         (2, "population", "every_success", "weakest_level", None))
        o = rank(history(), "--preset", "dsb_2019", "--min-tasks", 3, "--deviation", "sample", "--first-completion",
                 "--select", "top_k:2", "--max-nodes", 1)["options"]
        self.assertEqual((o["min_tasks"], o["deviation"], o["counted"], o["select"], o["limits"]["max_nodes"]),
                         (3, "sample", "first_completion", "top_k:2", 1))

    def test_every_policy(self):
        for policy in ("dominated:0.5", "dominated:1", "dominated:0.5:1", "dominated_fdr:0.5:0.05", "weakest_level", "top_k:1", "top_k:1:7",
                       "median_mad:3", "median_mad:3:0.5", "leave_top_k_out:2", "leave_top_k_out:2:4", "mean_plus_sigmas:1.9"):
            decision = rank(history(), "--select", policy)["decision"]
            self.assertEqual([v["node"] for v in decision["blacklisted"]], ["n3"], policy)
            self.assertEqual(decision["rule"], {"top_k": "top_k_intersection"}.get(policy.split(":")[0], policy.split(":")[0]))
        self.assertEqual(rank(history(), "--select", "dominated:0.5:100")["decision"]["blacklisted"], [])
        note = rank(history(), "--select", "mean_plus_sigmas:3")["decision"]["note"]  # 3 is not below sqrt(10 - 1)
        self.assertEqual(note, "unreachable_threshold")

    def test_a_seed_makes_the_random_fill_repeatable(self):
        text = history(slow=("n1", "n3", "n5", "n7"))
        answers = {json.dumps(rank(text, "--select", f"top_k:2:{s}", "--no-limits")["decision"]) for s in range(20)}
        self.assertEqual(json.dumps(rank(text, "--select", "top_k:2:3", "--no-limits")["decision"]),
                         json.dumps(rank(text, "--select", "top_k:2:3", "--no-limits")["decision"]))
        self.assertGreater(len(answers), 1)

    def test_guards(self):
        text = history(slow=("n1", "n3", "n5"))

        def outcome(*arguments):
            select = () if "--select" in arguments else ("--select", "dominated:0.5")
            decision = rank(text, *arguments, *select)["decision"]
            return len(decision["blacklisted"]), {v["spared_by"] for v in decision["spared"]}
        self.assertEqual(outcome("--select", "weakest_level", "--no-limits"), (3, set()))
        self.assertEqual(outcome(), (2, {"share_of_slots"}))
        self.assertEqual(outcome("--max-fraction", 1), (3, set()))
        self.assertEqual(outcome("--max-nodes", 1), (1, {"at_most"}))
        self.assertEqual(outcome("--max-fraction", 1, "--min-healthy", 9), (1, {"at_least_healthy_slots"}))
        self.assertEqual(outcome("--max-fraction", 1, "--fail-open", 0.25), (0, {"fail_open"}))
        # n1, n3 and n5 are racks of their own, and the last node there.
        self.assertEqual(outcome("--max-fraction", 1, "--domain", "n([135])"), (0, {"one_per_domain"}))

    def test_slots(self):
        text = "job,node,duration,slots\n" + "".join(
            f"j{j},n{n},{(300 if n == 3 else 100) + (7 * j + 3 * n) % 11},{40 if n == 3 else 4}\n"
            for j in range(20) for n in range(10))
        decision = rank(text, "--select", "dominated:0.5")["decision"]  # n3 holds 40 of 76 slots
        self.assertEqual([v["spared_by"] for v in decision["spared"]], ["share_of_slots"])
        self.assertEqual(len(rank(text, "--select", "dominated:0.5", "--max-fraction", 0.6)["decision"]["blacklisted"]), 1)

    def test_work_rate_forgives_large_inputs(self):
        text = "job,node,duration,input_bytes\n" + "".join(
            f"j{j},n{n},{(100 + (7 * j + 3 * n) % 11) * (3 if n == 3 else 1)},{3000 if n == 3 else 1000}\n"
            for j in range(20) for n in range(10))
        self.assertEqual(len(rank(text)["decision"]["blacklisted"]), 1)
        self.assertEqual(len(rank(text, "--normalizer", "work_rate")["decision"]["blacklisted"]), 0)


class BoxPlots(Folder):
    def test_quartiles_and_whiskers(self):
        """Against Python's quantiles, on the scores of jobs whose mean and deviation are computed here."""
        report = self.file("r.html")
        text = history(jobs=60, nodes=6)
        done = run("--report", report, "-", stdin=text.encode())
        if done.returncode == 1 and b"without D3" in done.stderr:
            self.skipTest("built without D3")
        self.assertEqual(done.returncode, 0, done.stderr)
        data = re.search(r'type="application/json">(.*?)</script>', report.read_text(), re.S)[1]
        jobs, scores = {}, {}
        for row in csv.DictReader(io.StringIO(text)):
            jobs.setdefault(row["job"], []).append((row["node"], int(row["end_ms"]) - int(row["start_ms"])))
        for tasks in jobs.values():
            durations = [d for _, d in tasks]
            for node, d in tasks:
                scores.setdefault(node, []).append((d - statistics.fmean(durations)) / statistics.pstdev(durations))
        for node in json.loads(data)["nodes"]:
            z = sorted(scores[node["node"]])
            q1, median, q3 = statistics.quantiles(z, n=4, method="inclusive")
            inside = [x for x in z if q1 - 1.5 * (q3 - q1) <= x <= q3 + 1.5 * (q3 - q1)]
            for got, wanted in zip(node["box"], (inside[0], q1, median, q3, inside[-1]), strict=True):
                self.assertAlmostEqual(got, wanted, delta=6e-5)  # four decimals
            self.assertEqual(len(node["outliers"]), min(24, len(z) - len(inside)))


class Records(unittest.TestCase):
    def test_every_record_is_accounted_for(self):
        extra = "".join(f"j0,{row}\n" for row in (
            "x1,0,n0,,5,success,,", "x2,0,n0,9,5,success,,", "x3,0,,1,5,success,,", "x4,0,n0,1,oops,success,,",
            "x5,0,n0,nan,5,success,,", "x6,0,n0,1,inf,success,,", "x7,0,n0,1,5,FAILED,,", "x8,0,n0,1,5,KILLED,,",
            "x9,0,n0,1,5,CANCELLED by 7,,", "x10,0,n0,1,5,,,", "x11,0,n0,1,5,Completed,,", "x12,0,n0,,,failed,,"))
        extra += ",x13,0,n0,1,5,success,,\n"
        got = rank(history(extra=extra))
        r = got["records"]
        self.assertEqual({k: v["count"] for k, v in r["rejected_by_reason"].items()},
                         {"unparsable_number": 1, "missing_job": 1, "missing_node": 1, "missing_time": 1, "not_finite": 2,
                          "end_before_start": 1})
        self.assertEqual((r["failed"], r["killed"], r["used"]), (3, 2, 201))
        self.assertEqual(r["seen"], 213)
        self.assertEqual(r["seen"], r["used"] + r["failed"] + r["killed"] + r["superseded"] + r["rejected"])
        self.assertEqual(r["rejected_by_reason"]["unparsable_number"]["first_lines"], [205])

    def test_negative_durations(self):
        r = rank("job,node,duration\nj,n,-5\nj,n,5\n")["records"]
        self.assertEqual(r["rejected_by_reason"], {"negative_duration": {"count": 1}})

    def test_broken_input_sizes_matter_only_where_they_are_read(self):
        text = history(extra="j0,x,0,n0,1,5,success,,much\n")
        self.assertEqual(rank(text)["records"]["rejected"], 0)
        self.assertEqual(rank(text, "--normalizer", "work_rate")["records"]["rejected"], 1)

    def test_huge_times_do_not_overflow(self):
        text = "job,node,start,end\n" + "".join(f"j,n{i},-9{'0' * 17},{9 * 10**17 + i}\n" for i in range(6))
        self.assertEqual(rank(text, "--columns", "start=start,end=end")["records"]["used"], 6)
        mixed = text + "j,n9,0.123456789,1\n"
        self.assertEqual(rank(mixed, "--columns", "start=start,end=end")["records"]["used"], 7)

    def test_nodes_without_success_and_unranked_ones(self):
        got = rank(history(extra="j0,x,0,lost,1,5,failed,,\nj0,y,0,new,1,1200,success,,\n"))
        self.assertEqual(got["nodes_without_success"], 1)
        last = {key: value for key, value in got["nodes"][-1].items() if key not in ("slowdown", "failures")}
        self.assertEqual(last, {"node": "new", "n": 1, "mean": None, "sd": None, "low": None, "high": None, "level": None})

    def test_columns_by_name(self):
        text = history().replace("start_ms,end_ms", "begin,finish").replace(",node,", ",host,")
        got = rank(text, "--columns", "node=host,start=begin", "--columns", "end=finish,task=")
        self.assertEqual(got["decision"]["blacklisted"][0]["node"], "n3")


class Refusals(BadInput):
    name, run_program = "straggle-rank", staticmethod(run)

    def test_usage(self):
        file = self.file("h.csv", history())
        self.refuses(1, "FILE is required")
        self.refuses(1, "--nope", "--nope", file)
        self.refuses(1, "not one of z, robust", "--normalizer", "x", file)
        self.refuses(1, "not one of default, dsb_2019", "--preset", "x", file)
        self.refuses(1, "between 0 and 1", "--confidence", "1", file)
        self.refuses(1, "between 0 and 1", "--confidence", "nan", file)
        self.refuses(1, "--max-fraction", "--max-fraction", "1.5", file)
        self.refuses(1, "--max-fraction", "--max-fraction", "nan", file)
        self.refuses(1, "--fail-open", "--fail-open", "0", file)
        self.refuses(1, "--max-nodes", "--max-nodes", "-1", file)
        self.refuses(1, "regular expression", "--domain", "(", file)
        self.refuses(1, "excludes", "--every-success", "--first-completion", file)
        for policy in ("x", "top_k", "top_k:x", "top_k:-1", "top_k:1:2:3", "dominated:0", "dominated:2", "dominated:nan",
                       "dominated:", "dominated_fdr:0.5:1", "weakest_level:1", "", ":"):
            self.refuses(1, "--select", "--select", policy, file)
        for columns in ("jobs=x", "job", "=x", "job=a,,node=b"):
            self.refuses(1, "--columns", "--columns", columns, file)

    def test_unreadable_files(self):
        self.refuses(2, "none.csv: No such file", pathlib.Path(self.folder.name) / "none.csv")
        self.refuses(2, "directory", self.folder.name)
        self.refuses(2, r"h.csv:1: the file is empty", self.file("h.csv"))
        self.refuses(2, r"<stdin>:1: the file is empty", "-")
        self.refuses(2, r"h.csv:1: a header and nothing else", self.file("h.csv", HEADER))
        self.refuses(2, r"h.csv:\d+: a NUL byte", self.file("h.csv", bytes(range(256)) * 40))
        self.refuses(2, r"h.csv.gz:1: .*gzip", self.file("h.csv.gz", b"\x1f\x8b\x08\x00"))
        self.refuses(2, r"h.csv:3: a quoted field is never closed", self.file("h.csv", HEADER + "j,t,0,n,1,2,success,,\n\"j,t,0\n"))
        self.refuses(2, r"h.csv: every record was rejected; 2 rejected: unparsable_number \(lines 2, 4\): duration is 'x', "
                        r"expected is a number.*; 1 rejected: not_finite \(line 3\)", self.file("h.csv", "job,node,duration\na,b,x\na,b,nan\na,b,y\n"))
        self.refuses(2, r"h.csv:3: 4 fields where the header has 9", self.file("h.csv", HEADER + "j,t,0,n,1,2,success,,\nj,t,0,n"))

    def test_wrong_columns(self):
        file = self.file("h.csv", "job,node,begin\nj,n,1\n")
        self.refuses(2, "h.csv:1: no columns for start and end", file)
        self.refuses(2, "h.csv:1: no column 'x'.*job, node, begin", "--columns", "start=x", file)
        self.refuses(2, "no column 'node' for the node", self.file("h.csv", "job,host\nj,n\n"))
        self.refuses(2, "JSON of none of the formats that can be read", self.file("h.csv", '{"a":1}\n'))
        for what in ("hello\nyou\n", "job;node;start_ms;end_ms\na;b;1;2\n"):
            self.refuses(2, "h.csv:1: no log of a known format .see --from., and no table with commas .*: " + what.split("\n")[0],
                         self.file("h.csv", what))
        # However long the first line is, and whatever is in it.
        for what in ("\x1b[31m" + "x" * 100000, ",".join(["\x1b[31m" + "x" * 500] * 100)):
            done = run(self.file("h.csv", what + "\n"))
            self.assertEqual(done.returncode, 2)
            self.assertLess(len(done.stderr), 600)
            self.assertNotIn(b"\x1b", done.stderr)
        self.refuses(2, "two columns 'job'", self.file("h.csv", "job,node,job,duration\nj,n,j,1\n"))

    def test_output_that_cannot_be_written(self):
        file = self.file("h.csv", history())
        self.refuses(3, "cannot be written", "--report", "/nonexistent/report.html", file)
        self.refuses(3, "cannot be written", "--report", self.folder.name, file)
        if os.path.exists("/dev/full"):
            self.refuses(3, "cannot be written", "--report", "/dev/full", file)
            with open("/dev/full", "wb") as full:
                for what in (file, "--help", "--version"):
                    done = subprocess.run([PROGRAM, what], stdout=full, stderr=subprocess.PIPE, timeout=60)
                    self.assertEqual(done.returncode, 3)
                    self.assertEqual(done.stderr, b"straggle-rank: standard output: cannot be written\n")

    def test_columns_of_what_was_asked_for(self):
        rows = "".join(f"j,n{i},{i},{i + 5}\n" for i in range(9))
        file = self.file("h.csv", "job,node,start,end\n" + rows)
        self.refuses(2, r"h.csv: --first-completion needs a column for the task", "--first-completion", file)
        self.refuses(2, r"h.csv: --normalizer work_rate needs a column for the input", "--normalizer", "work_rate", file)
        self.refuses(2, r"--window: .*h.csv does not say when attempts ended", "--window", "1m", "--columns", "end=",
                     self.file("h.csv", "job,node,duration_ms\n" + "".join(f"j,n{i},{i}\n" for i in range(9))))

    def test_times_in_two_units(self):
        for header in ("start_s,end_ms", "start_ns,end_us", "start_ms,duration_s"):
            file = self.file("h.csv", f"job,node,{header}\n" + "".join(f"j,n{i},{i},{i + 5}\n" for i in range(9)))
            one, other = header.split(",")
            self.refuses(2, f"h.csv:1: times in two units, '{one}' and '{other}'", file)
        rows = "".join(f"j{i // 3},n{i % 3},{i},{i + 5}\n" for i in range(90))
        for unit in ("_s", "_ms", "_us", "_ns", ""):
            file = self.file("h.csv", f"job,node,start{unit},end{unit}\n" + rows)
            self.assertEqual(run("--format", "csv", file).returncode, 0, unit)
        self.refuses(2, "g.csv:1: times in two units, 'start_s' and 'start_ms'",
                     self.file("f.csv", "job,node,start_s,end_s\n" + rows), self.file("g.csv", "job,node,start_ms,end_ms\n" + rows))

    def test_help_and_version(self):
        done = run("--help")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        for word in (b"Exit status", b"Examples", b"--report", b"dsb_2019"):
            self.assertIn(word, done.stdout)
        self.assertLessEqual(max(len(line) for line in done.stdout.splitlines()), 110)
        self.assertRegex(run("--version").stdout, rb"^straggle-rank \d+\.\d+\.\d+\n$")


HOSTILE = ["</script><script>alert(1)</script>", "<!--<script>", "<img src=x onerror=alert(1)>", 'say "no"', "a,b", "two\nlines",
           "\x1b[31mred\x1b[0m", "bell\x07", "\u202egpj.exe", "\u2028", "{{d3}}", "Käse 日本語 🧀", " ", "__proto__", "constructor",
           "x" * 5000, "'; DROP TABLE nodes; --", "=1+1", "&lt;b&gt;"]


class HostileNames(Folder):
    def text(self):
        out = io.StringIO()
        out.write("job,node,duration\n")
        writer = csv.writer(out, lineterminator="\n")
        for j in range(12):
            for n, name in enumerate(HOSTILE):
                writer.writerow([f"job {j} {name}", name, 100 + (j * 7 + n * 3) % 11 + (300 if n < 5 else 0)])
                for k in range(5):
                    writer.writerow([f"job {j} {name}", f"other{k}", 100 + (j * 5 + n + k * 3) % 13])
        bad = b"".join(b"job %d,\xff\xfe\xc3(,%d\njob %d,ok,%d\n" % (j, 900 + j % 3, j, 100 + k) for j in range(12) for k in range(5))
        return out.getvalue().encode() + bad

    def test_json_and_csv_keep_them(self):
        nodes = [n["node"] for n in rank(self.text())["nodes"]]
        self.assertLessEqual(set(HOSTILE), set(nodes))
        self.assertIn("\ufffd\ufffd\ufffd(", nodes)
        done = run("--format", "csv", "-", stdin=self.text())
        names = [row[0] for row in csv.reader(io.StringIO(done.stdout.decode(errors="replace"), newline=""))]
        self.assertLessEqual(set(HOSTILE), set(names))

    def test_csv_for_spreadsheets(self):
        formulas = ["=1+2", "+1", "-1", "@SUM(A1)", "\t=1", '=cmd|"/c calc"!A1', "=a,b"]
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["job", "node", "start_ms", "end_ms"])
        for j in range(12):
            for n, name in enumerate([*formulas, "plain", "a=b"]):
                writer.writerow([f"job {j}", name, 1000 * j, 1000 * j + 100 + (7 * j + n) % 11])
        for window in ([], ["--window", "5s"]):
            names = {}
            for safe in ([], ["--csv-safe"]):
                done = run("--format", "csv", *window, *safe, "-", stdin=text.getvalue().encode())
                rows = list(csv.DictReader(io.StringIO(done.stdout.decode(), newline="")))
                names[bool(safe)] = {row["node"] for row in rows}
            self.assertEqual(names[False], {*formulas, "plain", "a=b"})
            self.assertEqual(names[True], {"plain", "a=b"} | {"'" + name for name in formulas})

    def test_the_table_is_safe_for_terminals(self):
        done = run("-", stdin=self.text(), LC_ALL="C.UTF-8")
        text = done.stdout.decode()
        self.assertFalse(re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e\u2028]", text))
        self.assertLessEqual(max(map(len, text.splitlines())), 104)
        run("-", stdin=self.text(), LC_ALL="C").stdout.decode()

    def test_the_report_is_safe_for_browsers(self):
        report = self.file("r.html")
        done = run("--report", report, "-", stdin=self.text())
        data = data_of_page(self, done, report)
        self.assertLessEqual(set(HOSTILE), {n["node"] for n in data["nodes"]})


class Inputs(Folder):
    def test_missing_inputs_are_told(self):
        rows = "job,task,node,duration,input_bytes\n" + "".join(
            f"j{j},{i},n{i % 4},{100 + 7 * i % 13},{'' if j < 2 and i == 5 else 10 + i}\n" for j in range(5) for i in range(40))
        file = self.file("h.csv", rows)
        done = run("--normalizer", "work_rate", file)
        self.assertIn("2 jobs by time alone, as inputs are missing", done.stdout.decode())
        document = json.loads(run("--normalizer", "work_rate", "--format", "json", file).stdout)
        self.assertEqual(document["jobs"]["without_input"], 2)
        self.assertNotIn("by time alone", run(file).stdout.decode())


    def test_what_the_fuzzer_begins_with(self):
        seeds = sorted((ROOT / "tests/fuzz/corpus/histories").glob("rank*"))
        self.assertTrue(seeds)
        for seed in seeds:
            with self.subTest(seed.name):
                self.assertGreater(rank(seed.read_bytes()[1:])["records"]["used"], 0)


class FirstScreen(Folder):
    """No sentence contradicts the next one."""

    def said(self, rows):
        text = HEADER + "".join(f"{row},,\n" for row in rows)
        return " ".join(run("-", stdin=text.encode()).stdout.decode().split())

    @staticmethod
    def healthy(jobs, nodes):
        return [f"j{j},{t},0,n{t},{j * 1000},{j * 1000 + 900 + (t * 7 + j * 3) % 11},success"
                for j in range(jobs) for t in range(nodes)]

    def test_a_job_that_fails_everywhere_is_named_and_no_node(self):
        for jobs, nodes, tasks, on in ((10, 10, 6, 2), (1, 8, 8, 4), (6, 5, 40, 5)):
            with self.subTest(jobs=jobs, nodes=nodes, tasks=tasks, on=on):
                said = self.said(self.healthy(jobs, nodes) + [f"bad,{t},0,n{t % on},500,520,failed" for t in range(tasks)])
                self.assertIn("Avoid no node.", said)
                self.assertIn("Next: look at job bad: its tasks fail wherever they run", said)
                self.assertIn(f"bad: {tasks} tasks failed on {on} nodes, none ended well", said)
                self.assertNotIn("Failures, where", said)

    def test_a_job_that_fails_on_its_only_node(self):
        said = self.said(self.healthy(8, 6) + ["lone,0,0,n2,500,520,failed"])
        self.assertIn("Avoid no node.", said)
        self.assertIn("lone: 1 task failed on 1 node, none ended well: nothing of it ran elsewhere", said)

    def test_failing_nodes_are_named_instead_of_their_jobs(self):
        said = self.said([f"a{t % 4},{t},0,h{t % 3},{t * 1000},{t * 1000 + 50},{'failed' if t % 3 else 'success'}"
                          for t in range(90)])
        self.assertIn("h1: 100 % of its latest attempts failed", said)
        self.assertNotIn("its tasks fail, not its nodes", said)

    def test_nothing_to_compare(self):
        alone = self.said([f"a{t % 3},{t},0,solo,{t * 1000},{t * 1000 + 500 + t % 5},success" for t in range(60)])
        self.assertIn("solo is the only node, so nothing can be compared.", alone)
        self.assertNotIn("compared.", alone.split("so nothing can be compared.")[1].replace("could not be compared", ""))
        self.assertIn("60 attempts could not be compared", alone)
        killed = self.said([f"a{t % 3},{t},0,h{t % 3},{t * 1000},{t * 1000 + 500},killed" for t in range(60)])
        self.assertIn("60 of 60 attempts were killed, on all of 3 nodes: no single node can be blamed.", killed)
        apart = self.said([f"j{n},{t},0,m{n},{t * 1000},{t * 1000 + 500 + t % 5},success" for n in range(4) for t in range(30)])
        self.assertIn("too little is known", apart)
        self.assertNotIn("nothing to do", apart)

    def test_long_names_keep_what_differs(self):
        rows = [f"j{j},{t},0,eord-dataproc-query-w-{t}.c.rapids-spark.internal,{j * 1000},{j * 1000 + 900 * (3 if t == 2 else 1) + j % 7},success"
                for j in range(10) for t in range(4)]
        self.assertRegex(self.said(rows), r"eord-dataproc-query-w-2(\.\.|…): takes")

    def test_a_value_that_is_no_number(self):
        done = run("-", stdin=b"job,node,start_ms,end_ms\na,n1,2026-01-01T00:00:00,5\na,n2,1,5\n")
        self.assertIn("start_ms is '2026-01-01T00:00:00', expected is a number", done.stdout.decode())


class LargeFiles(Folder):
    def bytes_a_row(self, path, rows, *arguments):
        """Of memory at most; None where that cannot be told."""
        code = pathlib.Path(shutil.which(PROGRAM)).read_bytes()
        is_sanitized = any(name in code for name in (b"__asan_init", b"__tsan_init"))
        if is_sanitized or not os.path.exists("/usr/bin/time"):
            return None

        def most(file):
            asked = subprocess.run(["/usr/bin/time", "-f", "%M", PROGRAM, *arguments, str(file)], capture_output=True,
                                   timeout=300)
            return int(asked.stderr.split()[-1])
        least = most(self.file("small.csv", history()))
        per_row = (most(path) - least) * 1024 / rows
        print(f"{per_row:.0f} bytes a row {' '.join(arguments)}")
        return per_row

    def test_windows_of_jobs_with_a_task_on_each_node(self):
        # The most that rows can say: nothing is said twice of a job and a node.
        rows, nodes = 600_000, 1000
        draw = random.Random(1)
        # Jobs one after the other, and a tenth of all rows at once: at the end of a window those that run are passed on.
        # A long window then holds a pair for nearly every row.
        for every, most in [(1_800_000, 140), (60_000, 240)]:
            path = pathlib.Path(self.folder.name) / "wide.csv"
            with open(path, "w") as out:
                out.write(HEADER)
                for job in range(rows // nodes):
                    for i in range(nodes):
                        start = 1475705602759 + job * every + int(draw.random() * 600_000)
                        out.write(f"application_{job}/stage-0,{i},0,worker{i},{start},"
                                  f"{start + 3_600_000 + int(draw.expovariate(1 / 1_800_000))},success,,\n")
            for window in ["1h", "1d"]:
                self.assertLess(self.bytes_a_row(path, rows, "--window", window) or 0, most)

    def test_a_million_rows(self):
        rows = 1_000_000
        path = pathlib.Path(self.folder.name) / "large.csv"
        with open(path, "w") as out:
            out.write(HEADER)
            for start in range(0, rows, 500):
                out.writelines(f"application_{start:07d}/stage-0,task_{i},0,worker{i * 7919 % 1009:04d}.example,"
                               f"{1475705602759 + i},{1475705602759 + 20 * i + i * i % 9973},success,,\n"
                               for i in range(start, start + 500))
        begin = time.perf_counter()
        done = run("--format", "json", path)
        took = time.perf_counter() - begin
        # 40 of them the attempts, 24 and more what jobs said of nodes.
        self.assertLess(self.bytes_a_row(path, rows) or 0, 130)
        self.assertEqual(done.returncode, 0, done.stderr)
        got = json.loads(done.stdout)
        self.assertEqual((got["records"]["seen"], got["records"]["used"], len(got["nodes"])), (rows, rows, 1009))
        print(f"a million rows, {path.stat().st_size / 1e6:.0f} MB: {took:.2f} s")
        self.assertLess(took, 60)


if __name__ == "__main__":
    unittest.main()
