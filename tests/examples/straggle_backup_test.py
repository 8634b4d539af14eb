#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""straggle-backup, the backup advisor, from end to end. STRAGGLE_BACKUP_PROGRAM names the program,
STRAGGLE_SHARED_DIR the folder of the reference data (tests that need it are skipped without it)."""

import csv
import gzip
import io
import itertools
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import time
import unittest

from programs import HEADER, ROOT, SHARED, BadInput, Folder, document, program

PROGRAM = os.environ.get("STRAGGLE_BACKUP_PROGRAM", "straggle-backup")
run = program(PROGRAM)
NOW = 1_000_000  # ms; the history ends before


def noise():
    """Numbers from 0 to 1, the same on every machine."""
    state = 1
    while True:
        state = state * 6364136223846793005 + 1442695040888963407 & 2**64 - 1
        yield (state >> 40) / 2**24


def history(jobs=12, nodes=8, slow=("n2",), factor=3.0, took=10_000, spread=0.2, kind="map", tasks_per_node=2, until=900_000,
            prefix="job"):
    """Each job runs some tasks on each node, one after the other."""
    rows, random = [], noise()
    for j in range(jobs):
        for n in range(nodes):
            at = until * j // jobs
            for t in range(tasks_per_node):
                d = round(took * (1 + spread * (next(random) - 0.5)) * (factor if f"n{n}" in slow else 1))
                rows.append(f"{prefix}{j}/{kind},t{n}-{t},0,n{n},{at},{at + d},success,,\n")
                at += d
    return HEADER + "".join(rows)


def running(*rows, header="job,task,node,start_ms,progress"):
    return header + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)


def straggler(node="n2", age=12_000, progress=0.4, job="now/map", task="late"):
    return job, task, node, NOW - age, progress


def healthy(count, job="now/map", first=3, age=4_000, progress=0.4, prefix="ok"):
    return [(job, f"{prefix}{i}", f"n{first + i}", NOW - age, progress) for i in range(count)]


class Advisor(Folder):
    def ask(self, past, now, *arguments, name="running.csv", at=NOW):
        return run("--now", at, *arguments, self.file("history.csv", past), self.file(name, now))

    def advise(self, past, now, *arguments, **more):
        """The JSON document."""
        return document(self.ask(past, now, "--format", "json", *arguments, **more))

    def only(self, past, now, *arguments, **more):
        suspects = self.advise(past, now, *arguments, **more)["suspects"]
        self.assertEqual(len(suspects), 1, suspects)
        return suspects[0]


class KnownAnswers(Advisor):
    def test_a_straggler_on_a_slow_node_gets_a_copy_on_a_good_one(self):
        got = self.advise(history(), running(straggler(), *healthy(3)))
        self.assertEqual([s["task"] for s in got["suspects"]], ["late"])
        s = got["suspects"][0]
        self.assertEqual((s["decision"], s["reason"]), ("launch", None))
        self.assertIn(s["best"]["node"], {"n0", "n1", "n6", "n7"})  # n3 to n5 are busy, n2 is its own
        # 12 s for 40 % makes 30 s, as all tasks of n2 took: 18 s left. 9 to 11 s elsewhere.
        self.assertAlmostEqual(s["left"]["median"], 18, delta=2)
        self.assertLess(s["left"]["low"], 18)
        self.assertGreater(s["left"]["high"], 18)
        self.assertAlmostEqual(s["best"]["time"]["median"], 10, delta=1)
        self.assertGreater(s["best"]["win_probability"], 0.95)
        # The others of the job need 6 s at most, so nothing is capped.
        self.assertAlmostEqual(s["best"]["gain"], 8, delta=2)
        self.assertAlmostEqual(s["best"]["cost"], 1, delta=0.2)  # a tenth of 10 s
        self.assertAlmostEqual(s["best"]["profit"], s["best"]["gain"] - s["best"]["cost"], delta=1e-9)
        self.assertLessEqual(s["runner_up"]["profit"], s["best"]["profit"])
        self.assertNotIn(s["runner_up"]["node"], {s["best"]["node"], "n2"})
        self.assertEqual((got["plan"]["copies"], got["plan"]["suspects"], got["plan"]["running_tasks"]), (1, 1, 4))

    def test_the_slow_node_is_avoided(self):
        """By the history alone: the straggler runs elsewhere, and n2 is the only node with a free slot."""
        now = running(straggler("n0"), *healthy(1, first=1, prefix="a"), *healthy(5, first=3))
        s = self.only(history(), now)
        self.assertEqual((s["decision"], s["reason"], s["best"]), ("no", "no_slot", None))
        self.assertEqual(s["why"], "no slot is free but on nodes that are to be avoided")
        self.assertEqual(s["candidates"]["refused"], {"same_node": 1, "excluded": 1, "no_slot": 6})
        s = self.only(history(), now, "--no-blacklist")
        # 18 s are left of it, and a copy takes 30 s on n2.
        self.assertEqual((s["decision"], s["best"]["node"]), ("no", "n2"))
        self.assertAlmostEqual(s["left"]["median"], 18, delta=2)
        self.assertAlmostEqual(s["best"]["time"]["median"], 30, delta=3)
        self.assertLess(s["best"]["win_probability"], 0.1)
        self.assertIn(s["reason"], {"not_profitable", "unlikely_to_win"})
        nodes = {n["node"]: n for n in self.advise(history(), now)["nodes"]}
        self.assertEqual((nodes["n2"]["state"], nodes["n2"]["excluded"]), ("excluded", "by_history"))
        self.assertAlmostEqual(nodes["n2"]["slowdown"], 3, delta=0.4)
        self.assertAlmostEqual(nodes["n0"]["slowdown"], 1, delta=0.05)

    def test_no_free_slot(self):
        now = running(straggler(), *healthy(2, first=0, prefix="a"), *healthy(5))
        got = self.advise(history(), now)
        s = got["suspects"][0]
        self.assertEqual((s["decision"], s["reason"], s["best"]), ("no", "no_slot", None))
        self.assertEqual(got["plan"]["candidates"]["refused"], {"same_node": 1, "no_slot": 7})
        self.assertIn(b"no slot is free", self.ask(history(), now).stdout)
        self.assertEqual(self.only(history(), now, "--slots", 2)["decision"], "launch")
        self.assertEqual(self.only(history(), now, "--slots", 0)["reason"], "no_slot")

    def test_all_slow_is_a_storm(self):
        now = running(*[("now/map", f"t{i}", f"n{i}", NOW - 20_000, 0.4) for i in range(8)])
        got = self.advise(history(slow=()), now, "--slots", 2)
        self.assertEqual((got["plan"]["suspects"], got["plan"]["copies"], got["plan"]["storm"]), (8, 0, True))
        self.assertEqual({(s["reason"], s["limit"]) for s in got["suspects"]}, {("over_limit", "suspect_share_limit")})
        self.assertEqual(got["plan"]["refused_by_budget"]["suspect_share_limit"], 8)
        self.assertIn(b"STORM", self.ask(history(slow=()), now, "--slots", 2).stdout)
        got = self.advise(history(slow=()), now, "--slots", 2, "--storm", 1, "--max-copies", 1)
        self.assertFalse(got["plan"]["storm"])
        self.assertGreater(got["plan"]["copies"], 0)

    def test_finished_siblings_say_that_it_is_no_storm(self):
        """Three late tasks are all that is left of a job; the sixty before them were as fast as ever."""
        past = history(slow=()) + "".join(f"now/map,f{i},0,n{i % 8},{900_000 + i},{910_000 + i},success,,\n" for i in range(60))
        now = running(*[("now/map", f"t{i}", f"n{i}", NOW - 20_000, 0.4) for i in range(3)])
        got = self.advise(past, now, "--max-copies", 1)
        self.assertEqual((got["plan"]["suspects"], got["plan"]["storm"], got["plan"]["copies"]), (3, False, 3))
        self.assertEqual(got["plan"]["tasks_of_running_jobs"], 63)

    def test_a_young_task_is_nobody_to_suspect(self):
        for age, progress in ((0, ""), (0, 0), (500, 0), (500, ""), (2000, 0.2)):
            got = self.advise(history(), running(("now/map", "new", "n0", NOW - age, progress), *healthy(3)))
            self.assertEqual((got["suspects"], got["plan"]["copies"]), ([], 0), (age, progress))

    def test_nothing_runs(self):
        got = self.advise(history(), running())
        self.assertEqual((got["suspects"], got["plan"]["running_tasks"]), ([], 0))
        self.assertEqual(self.advise(history(), "", name="r.jsonl")["suspects"], [])

    def test_work_of_a_new_kind(self):
        """Nobody knows how long it takes elsewhere; its progress says how long it takes here."""
        s = self.only(history(), running(straggler(job="now/join", progress=0.1), *healthy(5, job="now/join")), "--detector", "late")
        self.assertEqual((s["usual"], s["reason"], s["left"]["from"], s["best"]), (None, "no_prediction", "progress", None))
        self.assertAlmostEqual(s["left"]["median"], 108, delta=5)

    def test_finished_tasks_of_the_job_itself_are_enough(self):
        past = HEADER + "".join(f"now/new,f{i},0,n{i % 8},{900_000 + 1000 * i},{910_000 + 1000 * i + 37 * i % 500},success,,\n"
                                for i in range(40))
        s = self.only(past, running(straggler(node="n1", age=30_000, progress=0.3, job="now/new"), *healthy(5, job="now/new")))
        self.assertEqual(s["decision"], "launch")
        self.assertAlmostEqual(s["usual"], 10.2, delta=0.5)

    def test_without_progress_the_time_it_has_run_counts(self):
        s = self.only(history(), running(("now/map", "late", "n0", NOW - 40_000, ""), *[r[:4] + ("",) for r in healthy(3)]))
        self.assertEqual((s["progress"], s["left"]["from"], s["decision"]), (None, "age", "launch"))
        s = self.only(history(), running(("now/map", "late", "n2", NOW - 14_000, ""), *[r[:4] + ("",) for r in healthy(3)]))
        self.assertEqual((s["left"]["from"], s["decision"]), ("similar", "launch"))
        self.assertAlmostEqual(s["left"]["median"], 16, delta=2)


class Worth(Advisor):
    """Against a calculation of its own: every task took exactly 10 s, and 30 s on n2, where one is late."""

    PAST = history(spread=0) + "".join(f"now/map,f{i},0,n{i},930000,940000,success,,\n" for i in range(4, 8))

    @staticmethod
    def left(elapsed, usual):
        """What the similar task leaves, ten times, and ten quantiles of one that is beyond it and lasts as long again."""
        longest = max(usual, elapsed)
        left = [usual - elapsed] * 10 if usual > elapsed else []
        n = 10 if left else 20
        return left + [longest - elapsed - longest * math.log(1 - (k + 0.5) / n) for k in range(n)]

    def check(self, elapsed, *arguments, price=0.1, launch=0.0, other=None):
        rows = [("now/map", "late", "n2", NOW - 1000 * elapsed, "")]
        last = 0.0
        if other is not None:  # a task that is not late, and goes on
            rows.append(("now/map", "other", "n3", NOW - 1000 * other, ""))
            last = statistics.median(self.left(other, 10))
        s = self.only(self.PAST, running(*rows), "--neighbors", 1, "--detector", "average_time", *arguments)
        left, copy = self.left(elapsed, 30), 10 + launch
        self.assertAlmostEqual(s["next_slowest"], last, delta=1e-6)
        gain = statistics.fmean(max(max(r, last) - max(copy, last), 0) for r in left)
        cost = price * statistics.fmean(min(r, copy) for r in left)
        self.assertAlmostEqual(s["best"]["gain"], gain, delta=1e-6)
        self.assertAlmostEqual(s["best"]["cost"], cost, delta=1e-6)
        self.assertAlmostEqual(s["best"]["profit"], gain - cost, delta=1e-6)
        self.assertAlmostEqual(s["best"]["win_probability"], sum(copy < r for r in left) / len(left), delta=1e-12)
        return s

    def test_gain_and_cost(self):
        for elapsed in (12, 15, 20, 29, 33, 60):
            with self.subTest(elapsed=elapsed):
                self.check(elapsed)

    def test_price_and_launch(self):
        self.check(15, "--slot-price", 0.5, price=0.5)
        self.check(15, "--slot-price", 0, price=0)
        self.check(15, "--launch", "2s", launch=2)
        s = self.check(15, "--slot-price", 2, price=2)
        self.assertEqual((s["decision"], s["reason"]), ("no", "not_profitable"))
        s = self.check(24, "--least-win", 0.99)
        self.assertEqual((s["decision"], s["reason"]), ("no", "unlikely_to_win"))
        s = self.check(24, "--least-win", 0)
        self.assertEqual(s["decision"], "launch")

    def test_time_before_the_next_slowest_is_not_won(self):
        gains = [self.check(15, other=other)["best"]["gain"] for other in (9.5, 5, 1)]
        self.assertEqual(gains, sorted(gains, reverse=True))

    def test_the_difference_of_the_means(self):
        now = running(("now/map", "late", "n2", NOW - 15_000, ""))
        s = self.only(self.PAST, now, "--neighbors", 1, "--detector", "average_time", "--policy", "riski_2014")
        self.assertAlmostEqual(s["best"]["gain"], statistics.fmean(self.left(15, 30)) - 10, delta=1e-6)
        self.assertEqual((s["best"]["cost"], s["decision"]), (0, "launch"))

    def test_the_job_waits_for_its_last_task(self):
        """Two late tasks in a job, and another task that nobody can help."""
        past = history(spread=0)
        both = [straggler(), straggler(task="late2", node="n1", age=12_000, progress=0.4)]
        arguments = ["--max-copies", 1, "--drift", 0.05]
        got = self.advise(past, running(*both, *healthy(2)), *arguments)
        self.assertEqual([s["decision"] for s in got["suspects"]], ["launch", "launch"])
        # One slot: whoever is left behind is waited for, so the other copy gains nothing.
        arguments += ["--avoid", "n0", "--avoid", "n5", "--avoid", "n6"]
        got = self.advise(past, running(*both, *healthy(2)), *arguments)
        self.assertEqual({s["decision"] for s in got["suspects"]}, {"no"})
        self.assertIn("not_profitable", {s["reason"] for s in got["suspects"]})
        self.assertGreater(min(s["next_slowest"] for s in got["suspects"] if s["reason"] == "not_profitable"), 15)
        got = self.advise(past, running(*both, *healthy(2)), *arguments, "--gain", "task")
        self.assertEqual(sorted((s["decision"], s["reason"] or "") for s in got["suspects"]), [("launch", ""), ("no", "slots_taken")])
        # A task that waits takes 10 s at least, from now on.
        got = self.only(past, running(straggler(), *healthy(3), ("now/map", "waits", "", "", "")))
        self.assertAlmostEqual(got["next_slowest"], 10, delta=1e-6)


class HowMany(Advisor):
    def two_kinds(self):
        """On n0 and n1 both kinds take 10 s; on n2 a map takes 15 s, and a sort 60 s; elsewhere 100 s."""
        rows = []
        for kind, times in (("map", (10, 10, 15)), ("sort", (10, 10, 60))):
            for j in range(20):
                for n in range(8):
                    t = 1000 * (times[n] if n < 3 else 100)
                    rows.append(f"{kind}{j}/{kind},t{n},0,n{n},{j * 40_000},{j * 40_000 + t},success,,\n")
        return HEADER + "".join(rows)

    def test_greedy_and_optimal(self):
        """The map gains 140 s on n1 or 135 s on n2, the sort 135 s on n1 or 85 s on n2: greedily 225 s, at best 270 s."""
        past = self.two_kinds() + "".join(
            f"{job}/{kind},f{n}{i},0,n{n},{900_000},{900_000 + took},success,,\n" for i in range(10)
            for job, kind, n, took in (("a", "map", 1, 10_000), ("a", "map", 2, 15_000), ("b", "sort", 1, 10_000), ("b", "sort", 2, 60_000)))
        now = running(("a/map", "m", "n3", NOW - 50_000, 0.25), ("b/sort", "s", "n4", NOW - 50_000, 0.256),
                      *[("c/map", f"o{n}", f"n{n}", NOW - 1, "") for n in (0, 5, 6, 7)])
        arguments = ["--no-blacklist", "--max-copies", 1, "--gain", "task", "--slots", 1, "--drift", 0.05, "--detector",
                     "average_time"]
        profits = {}
        for rule in ("greedy", "optimal"):
            got = self.advise(past, now, "--assignment", rule, *arguments)
            where = {s["task"]: s["best"]["node"] for s in got["suspects"] if s["decision"] == "launch"}
            profits[rule] = got["plan"]["profit"]
            self.assertEqual(where["m"], {"greedy": "n1", "optimal": "n2"}[rule])
            self.assertEqual(where["s"], {"greedy": "n2", "optimal": "n1"}[rule])
        self.assertGreater(profits["optimal"], profits["greedy"] + 20)

    def test_one_slot_for_two(self):
        now = running(straggler(), straggler(task="later", node="n2", progress=0.3, job="other/map"), *healthy(6, job="x/map"))
        got = self.advise(history(), now, "--avoid", "n0", "--slots", 1, "--max-copies", 1)
        self.assertEqual([(s["task"], s["decision"], s["reason"]) for s in got["suspects"]],
                         [("later", "launch", None), ("late", "no", "slots_taken")])

    def test_copies_that_run(self):
        now = running(straggler(), straggler(node="n6", age=1000, progress=0.05), *healthy(3))
        got = self.advise(history(), now)
        s = got["suspects"][0]
        self.assertEqual((s["attempts"], s["attempts_on"], s["node"]), (2, ["n2", "n6"], "n2"))
        self.assertEqual((s["reason"], s["limit"], got["plan"]["copies_before"]), ("over_limit", "copies_per_task", 1))
        self.assertIsNotNone(s["best"])  # what it misses
        s = self.only(history(), now, "--copies-per-task", 2, "--max-copies", 1)
        self.assertEqual(s["decision"], "launch")
        self.assertNotIn(s["best"]["node"], {"n2", "n6"})
        # One row that says so is the same; its copy may be anywhere.
        now = running(straggler() + (2,), *[r + (1,) for r in healthy(3)], header="job,task,node,start_ms,progress,copies")
        s = self.only(history(), now)
        self.assertEqual((s["attempts"], s["limit"]), (2, "copies_per_task"))

    def test_share_of_the_slots(self):
        now = running(*[straggler(job=f"j{i}/map", task=f"late{i}", node="n2") for i in range(5)], *healthy(20, job="x/map", first=0)[:3])
        limits = {}
        for share in (0, 0.01, 0.25, 1):
            got = self.advise(history(), now, "--slots", 4, "--storm", 1, "--max-copies", share)
            limits[share] = got["plan"]["copies"]
        self.assertEqual(limits, {0: 0, 0.01: 1, 0.25: 5, 1: 5})  # 32 slots, one is always allowed
        got = self.advise(history(), now, "--slots", 4, "--storm", 1, "--max-copies", 0)
        self.assertEqual({s["limit"] for s in got["suspects"]}, {"speculative_cap"})

    def test_reserved_slots(self):
        now = running(*[straggler(job=f"j{i}/map", task=f"late{i}", node="n2") for i in range(4)], *healthy(4, job="x/map"))
        copies = {f: self.advise(history(), now, "--slots", 4, "--storm", 1, "--max-copies", 1, "--reserve", f)["plan"]["copies"]
                  for f in (0, 0.05, 0.25, 1)}
        self.assertEqual(copies, {0: 4, 0.05: 1, 0.25: 4, 1: 4})  # of 32 slots 1.6 and 8

    def test_a_task_on_two_nodes_is_one(self):
        got = self.advise(history(), running(straggler(), straggler(), *healthy(3)))  # the same row twice
        self.assertEqual((got["plan"]["running_tasks"], got["suspects"][0]["attempts"]), (4, 1))
        self.assertEqual(got["records"]["running"]["rejected"], [{"reason": "duplicate", "count": 1, "first_lines": [3]}])


class Nodes(Advisor):
    def test_avoid(self):
        s = self.only(history(), running(straggler(), *healthy(3)), *itertools.chain(*(("--avoid", f"n{i}") for i in (0, 1, 6))))
        self.assertEqual(s["best"]["node"], "n7")
        s = self.only(history(), running(straggler(), *healthy(3)), *itertools.chain(*(("--avoid", f"n{i}") for i in range(8))))
        self.assertEqual(s["reason"], "excluded")
        done = self.ask(history(), running(straggler()), "--avoid", "nobody")
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"nobody: no file knows it", done.stdout)

    def nodes(self, text, *arguments):
        return self.advise(history(), running(straggler(), *healthy(3)), "--nodes", self.file("nodes.csv", text), *arguments)

    def test_a_file_of_nodes(self):
        text = "node,slots,free,state,rack\nn1,2,0,idle,a\nn6,2,,drained,a\nn7,1,1,probation,b\nn2,4,3,up,b\nnew,2,2,,b\n"
        got = self.nodes(text, "--no-blacklist")
        self.assertEqual([(n["node"], n["slots"], n["free"], n["state"], n["excluded"]) for n in got["nodes"]],
                         [("n1", 2, 0, "healthy", None), ("n6", 2, 2, "excluded", "by_state"), ("n7", 1, 1, "on_probation", None),
                          ("n2", 4, 3, "healthy", None), ("new", 2, 2, "healthy", None)])
        s = got["suspects"][0]
        self.assertEqual(s["candidates"]["refused"], {"same_node": 1, "excluded": 1, "no_slot": 1})
        self.assertEqual({s["best"]["node"], s["runner_up"]["node"]}, {"n7", "new"})  # of "new" only the job is known

    def test_what_a_file_of_nodes_leaves_out(self):
        got = self.nodes("node\nn2\nn7\n")
        self.assertEqual([(n["slots"], n["free"]) for n in got["nodes"]], [(1, 0), (1, 1)])  # what ran at once
        got = self.nodes("node,free\nn2,0\nn7,3\n")
        self.assertEqual([(n["slots"], n["free"]) for n in got["nodes"]], [(1, 0), (3, 3)])
        got = self.nodes("node\nn2\nn7\n", "--slots", 5)
        self.assertEqual([(n["slots"], n["free"]) for n in got["nodes"]], [(5, 4), (5, 5)])

    def test_rows_that_are_no_nodes(self):
        got = self.nodes("node,slots\nn7,1\n,1\nn6,x\nn5,-1\nn4,1.5\nn3,nan\nn1,1e99\nn7,1\n")
        self.assertEqual((len(got["nodes"]), got["records"]["nodes"]), (1, {"rows": 8, "rejected": 7}))

    def test_a_rack_keeps_a_node(self):
        """n2 is slow and alone in its rack; without racks it is avoided."""
        text = "node,rack\n" + "".join(f"n{i},{'b' if i == 2 else 'a'}\n" for i in range(8))
        now = running(straggler("n0"), *healthy(3))
        got = self.advise(history(), now, "--nodes", self.file("nodes.csv", text))
        n2 = got["nodes"][2]
        self.assertEqual((n2["excluded"], n2["spared_by"]), (None, "one_per_domain"))

    def test_slowdown_is_that_of_other_jobs(self):
        """What is slow in the job that runs, the detector sees itself."""
        own = "".join(f"now/map,f{i},0,n{i % 8},{900_000},{900_000 + (40_000 if i % 8 == 1 else 10_000)},success,,\n" for i in range(64))
        nodes = {n["node"]: n["slowdown"] for n in self.advise(history(), running(straggler()))["nodes"]}
        self.assertEqual({n["node"]: n["slowdown"] for n in self.advise(history() + own, running(straggler()))["nodes"]}, nodes)
        self.assertAlmostEqual(nodes["n1"], 1, delta=0.05)

    def test_copies_take_reserved_slots(self):
        """One of two slots of each node is for copies; the second attempt of "other" has that of n7."""
        nodes = self.file("nodes.csv", "node,slots\nn2,2\nn7,2\n")
        other = [("x/map", "other", "n2", NOW - 5000, 0.1), ("x/map", "other", "n7", NOW - 1000, 0.1)]
        ask = lambda flags: self.advise(
            history(), running(*[r + (f,) for r, f in zip([straggler(), *other], flags)], header="job,task,node,start_ms,progress,speculative"),
            "--nodes", nodes, "--reserve", 0.5, "--no-blacklist", "--max-copies", 1)["suspects"]
        late = lambda flags: next(s["reason"] for s in ask(flags) if s["task"] == "late")
        self.assertEqual(late(("", "", "")), "no_slot")
        self.assertEqual(late(("false", "false", "true")), "no_slot")
        self.assertEqual(late(("false", "true", "false")), None)  # the first was the copy

    def test_slots_that_ran_at_once(self):
        """Tasks that follow each other need one slot, those that overlap as many as there are."""
        got = self.advise(history(nodes=3), running(straggler()))
        self.assertEqual([(n["slots"], n["free"]) for n in got["nodes"]], [(1, 1), (1, 1), (1, 0)])
        overlap = "".join(f"x/map,o{i},0,n1,{100 + i},{500_000},killed,,\n" for i in range(4))
        got = self.advise(history(nodes=3) + overlap, running(straggler()))
        self.assertEqual(got["nodes"][1]["slots"], 5)


class Inputs(Advisor):
    ROWS = [straggler(), *healthy(3)]

    def same(self, a, b):
        for d in (a, b):
            d.pop("running")
            d["records"]["running"].pop("rejected")
        self.assertEqual(a, b)

    def test_json_lines(self):
        names = ["job", "task", "node", "start_ms", "progress"]
        lines = [dict(zip(names, row)) for row in self.ROWS]
        wanted = self.advise(history(), running(*self.ROWS))
        for change in (lambda o: o, lambda o: {**o, "start_ms": float(o["start_ms"])}, lambda o: {**o, "start_ms": str(o["start_ms"])},
                       lambda o: {"ä": [{"node": "x"}], **o, "speculative": None, "zz": {"job": 1}}):
            text = "".join(json.dumps(change(o)) + "\n" for o in lines)
            for name in ("r.json", "r.jsonl", "r.ndjson"):
                self.same(self.advise(history(), text, name=name), json.loads(json.dumps(wanted)))
            self.same(self.advise(history(), gzip.compress(text.encode()), "--running-format", "json"), json.loads(json.dumps(wanted)))
        self.same(self.advise(history(), "\ufeff" + "\r\n\r\n".join(map(json.dumps, lines)), "--running-format", "json"), wanted)
        done = run("--now", NOW, "--format", "json", "--running-format", "json", self.file("history.csv", history()), "-",
                   stdin="\n".join(map(json.dumps, lines)).encode())
        self.assertEqual(document(done)["plan"]["copies"], 1)

    def test_members_by_name(self):
        text = "".join(json.dumps({"app": r[0], "id": r[1], "host": r[2], "began": r[3] / 1000, "done": r[4]}) + "\n" for r in self.ROWS)
        columns = ["--running-columns", "job=app,task=id,node=host", "--running-columns", "start=began,progress=done", "--time-unit", "ms"]
        done = self.ask(history(), text, *columns, name="r.jsonl")
        self.assertEqual(done.returncode, 0, done.stderr)  # ms is wrong for them, but they are readable
        done = self.ask(history(), text, *columns[:2], "--running-columns", "start=start,progress=done", name="r.jsonl")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"the unit of the column 'start' is not known", done.stderr)
        done = self.ask(history(), text, *columns[:2], "--running-columns", "input=much", name="r.jsonl")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, rb"no object has a member '(much|start_ms)'")

    def test_what_the_fuzzer_begins_with(self):
        seeds = sorted((ROOT / "tests/fuzz/corpus/histories").glob("backup*"))
        self.assertTrue(seeds)
        for seed in seeds:
            with self.subTest(seed.name):
                parts = [self.file(f"part{i}", part) for i, part in enumerate(seed.read_bytes()[1:].split(b"---\n"))]
                nodes = ["--nodes", parts.pop()] if len(parts) > 2 else []
                kind = ["--running-format", "json"] if "json" in seed.name else []
                document(run("--format", "json", *kind, *nodes, *parts))

    def test_the_unit_of_time_does_not_matter(self):
        def in_seconds(text, columns):
            out = io.StringIO()
            writer = csv.writer(out, lineterminator="\n")
            for row in csv.reader(io.StringIO(text)):
                for i in columns:
                    if row[i].isdigit():
                        row[i] = f"{int(row[i]) // 1000}.{int(row[i]) % 1000:03d}"
                writer.writerow([c.replace("_ms", "_s") for c in row])
            return out.getvalue()
        wanted = self.advise(history(), running(*self.ROWS))
        got = self.advise(in_seconds(history(), (4, 5)), in_seconds(running(*self.ROWS), (3,)), "--columns", "start=start_s,end=end_s",
                          "--running-columns", "start=start_s", at=NOW // 1000)
        self.same(got, wanted)

    def test_what_ends_later_is_not_known_yet(self):
        """A whole history cut at a time says the same as what was there then."""
        past = history() + "".join(f"{job},{task},0,{node},{start},{start + 50_000},success,,\n" for job, task, node, start, _ in self.ROWS)
        past += f"later/map,x,0,n1,{NOW + 1},{NOW + 2},success,,\n"
        cut = document(run("--now", NOW, "--format", "json", self.file("h.csv", past)))
        hand = self.advise(history(), running(*[r[:4] + ("",) for r in self.ROWS]))
        self.assertEqual(cut["suspects"], hand["suspects"])
        self.assertEqual(cut["records"]["history"]["later"], 5)
        self.assertEqual(cut["records"]["running"]["tasks"], 4)

    def test_the_latest_time_is_now(self):
        done = run("--format", "json", self.file("h.csv", history()), self.file("r.csv", running(*self.ROWS, ("now/map", "x", "n1", NOW, ""))))
        self.assertEqual(document(done)["now"], NOW / 1000)

    def test_when_progress_was_reported(self):
        """40 % after 12 s, but that was said when it had run for 6 s."""
        header = "job,task,node,start_ms,progress,time_ms"
        rows = [r + (NOW,) for r in healthy(3)]
        now = self.only(history(spread=0), running(straggler() + (NOW,), *rows, header=header))
        before = self.only(history(spread=0), running(straggler() + (NOW - 6000,), *rows, header=header))
        self.assertAlmostEqual(now["left"]["median"], 18, delta=0.5)
        self.assertLess(before["left"]["median"], 6)

    def test_how_old_a_report_may_be(self):
        """10 % in 10 s, of which up to 4 s were after the report: in 8 s on average."""
        rows = [("now/new", "late", "n2", NOW - 10_000, 0.1), *healthy(5, job="now/new", age=10_000, progress=0.8)]
        left = lambda text, *more: self.only(history(), text, "--detector", "late", "--drift", 0, *more)["left"]
        self.assertAlmostEqual(left(running(*rows))["median"], 90, delta=0.5)
        self.assertAlmostEqual(left(running(*rows), "--report-interval", "4s")["median"], 70, delta=0.5)
        told = running(*[r + (NOW,) for r in rows], header="job,task,node,start_ms,progress,time_ms")
        self.assertAlmostEqual(left(told, "--report-interval", "4s")["median"], 90, delta=0.5)

    def test_silence_where_nobody_reports(self):
        rows = [("now/map", "late", "n0", NOW - 40_000, 0), *healthy(3, progress=0, age=500)]
        self.assertEqual(self.only(history(), running(*rows))["left"]["from"], "age")
        rows[1] = ("now/map", "ok0", "n3", NOW - 4000, 0.4)
        self.assertEqual(self.only(history(), running(*rows))["left"]["from"], "progress")

    def test_first_completions_only(self):
        once = history()
        twice = once + "".join(line.replace(",0,n", ",1,n").replace(",success", ",SUCCEEDED") + "\n" for line in once.splitlines()[1:])
        rows = running(*self.ROWS)
        self.assertEqual(self.advise(once, rows)["similar_tasks"]["remembered"], 192)
        self.assertEqual(self.advise(twice, rows)["similar_tasks"]["remembered"], 192)

    def test_what_ends_now_has_ended(self):
        past = history() + f"j/map,a,0,n0,{NOW - 9},{NOW},success,,\nj/map,b,0,n0,{NOW - 9},{NOW + 1},success,,\n"
        got = document(run("--now", NOW, "--format", "json", self.file("h.csv", past)))["records"]
        self.assertEqual((got["history"]["ended"], got["running"]["tasks"]), (193, 1))

    def test_kinds(self):
        """The kind of a job is behind the last '/', or where one says it is."""
        past = history(kind="map") + history(kind="sort", took=60_000, prefix="s").removeprefix(HEADER)
        rows = lambda kind: running(*[(r[0].replace("map", kind), *r[1:]) for r in [straggler(progress=0.1), *healthy(5)]])
        maps, sorts = (self.advise(past, rows(k), "--detector", "late:alpha=0.5")["suspects"][0]["usual"] for k in ("map", "sort"))
        self.assertAlmostEqual(maps, 10, delta=1)
        self.assertAlmostEqual(sorts, 60, delta=6)
        # The kind in front: map-17
        turn = lambda text: re.sub(r"^(\w+?)(\d*)/(\w+)", r"\3-\1\2", text, flags=re.M)
        arguments = ["--detector", "late:alpha=0.5", "--no-blacklist"]
        s = self.advise(turn(past), turn(rows("sort")), "--kind-pattern", "^([a-z]+)-", *arguments)["suspects"][0]
        self.assertAlmostEqual(s["usual"], sorts, delta=1)
        s = self.advise(turn(past), turn(rows("sort")), *arguments)["suspects"][0]
        self.assertIsNone(s["usual"])
        # A column of both files.
        column = lambda text: "".join(line + ("," + ("what" if i == 0 else "sort" if "/sort" in line else "map")) + "\n"
                                      for i, line in enumerate(text.splitlines()))
        s = self.advise(turn(column(past)), turn(column(rows("sort"))), "--kind-column", "what", *arguments)["suspects"][0]
        self.assertAlmostEqual(s["usual"], sorts, delta=1)

    def test_inputs_matter(self):
        """Times go with the input; a task with ten times as much to read is not late."""
        rows, random = [HEADER], noise()
        for j in range(30):
            for n in range(8):
                size = 10 ** (3 + 2 * next(random))
                rows.append(f"j{j}/map,t{n},0,n{n},{j * 20_000},{j * 20_000 + round(size)},success,,{round(size)}\n")
        header = "job,task,node,start_ms,progress,input_bytes"
        big = ("now/map", "big", "n0", NOW - 30_000, 0.3, 100_000)
        small = [("now/map", f"small{i}", f"n{i}", NOW - 2000, 0.4, 5_000) for i in range(1, 6)]
        got = self.advise("".join(rows), running(big, *small, header=header))
        self.assertEqual(got["suspects"], [])
        got = self.advise("".join(rows), running(big[:5] + (5_000,), *small, header=header))
        self.assertEqual([s["task"] for s in got["suspects"]], ["big"])

    def test_durations_without_times(self):
        past = "job,task,node,duration_ms,status\n" + "".join(
            f"j{j}/map,t{n},n{n},{(30_000 if n == 2 else 10_000) + (7 * j + 3 * n) % 500},success\n" for j in range(20) for n in range(8))
        s = self.only(past, running(*self.ROWS), "--columns", "duration=duration_ms")
        self.assertEqual(s["decision"], "launch")

    def test_every_row_is_accounted_for(self):
        rows = [*self.ROWS, ("", "a", "n0", 1, ""), ("j", "b", "", 1, ""), ("j", "c", "n0", "", ""), ("j", "d", "n0", NOW + 1, ""),
                ("j", "e", "n0", 1, 1.5), ("j", "f", "n0", 1, -0.1), ("j", "g", "n0", 1, "nan"), ("j", "h", "n0", "oops", ""),
                ("j", "i", "n0", 10**17, ""), ("job3/map", "t1-1", "n1", 1, ""), ("j", "k", "", "", ""), straggler(),
                ("j", "l", "n0", 1, "50 %"), ("j", "m", "n0", "1e999", "")]
        got = self.advise(history(), running(*rows))["records"]["running"]
        self.assertEqual({r["reason"]: r["count"] for r in got["rejected"]},
                         {"missing_job": 1, "missing_node": 1, "missing_start": 1, "not_started": 1, "bad_progress": 3, "unreadable": 3,
                          "out_of_range": 1, "finished": 1, "duplicate": 1})
        self.assertEqual(got["rows"], got["attempts"] + got["waiting"] + sum(r["count"] for r in got["rejected"]))
        self.assertEqual((got["attempts"], got["waiting"]), (4, 1))
        past = history() + "j,a,0,n0,oops,5,success,,\nj,b,0,n0,1,nan,success,,\nj,c,0,n0,1,100000000000000000,success,,\n,d,0,n0,1,2,success,,\n"
        got = self.advise(past, running(*self.ROWS))["records"]["history"]
        self.assertEqual({r["reason"]: r["count"] for r in got["rejected"]}, 
                         {"unreadable": 2, "out_of_range": 1, "missing_job": 1})

    def test_attempts_that_cannot_be(self):
        rows = ("j,a,0,n0,9,5,success,,\n", "j,a,0,,1,5,success,,\n", ",a,0,n0,1,5,success,,\n", "j,a,0,n0,9,5,failed,,\n")
        got = self.advise(history() + "".join(rows), running(*self.ROWS))["records"]["history"]
        self.assertEqual({r["reason"]: r["count"] for r in got["rejected"]},
                         {"end_before_start": 2, "missing_node": 1, "missing_job": 1})
        past = self.file("p.csv", history().split("\n")[0] + "\n" + "".join(rows))
        done = run(past, self.file("r.csv", running(*self.ROWS)))
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"p.csv: every record was rejected; 1 rejected: missing_job (line 4); 1 rejected: missing_node (line 3); "
                      b"2 rejected: end_before_start (lines 2, 5)", done.stderr)
        self.assertEqual(self.advise("job,node,duration_ms\nj,n,-1\nj,n,5\n", running(*self.ROWS))["records"]["history"]["rejected"],
                         [{"reason": "negative_duration", "count": 1, "first_lines": [2]}])

    def test_different_nodes_have_different_names(self):
        names = (b"n\xff", b"n\xfe", "n\ufffd".encode(), "n\ufffd#2".encode())
        rows = b"".join(b"j/m,t%d,%s,%d,%d\n" % (i, names[i % 4], 100 * i, 100 * i + 50 + i % 4) for i in range(40))
        past = self.file("p.csv", b"job,task,node,start_ms,end_ms\n" + rows)
        now = self.file("r.csv", b"job,task,node,start_ms\n" + b"".join(b"j/m,a,%s,3000\n" % name for name in names))
        found = document(run("--now", 5000, "--detector", "average_time:factor=0.1", "--format", "json", past, now))
        self.assertEqual(len({n["node"] for n in found["nodes"]}), 4)
        self.assertEqual([len(set(s["attempts_on"])) for s in found["suspects"]], [4])

    def test_columns_are_read_in_the_unit_of_their_own_names(self):
        def history_in(unit, ticks):
            return f"job,task,node,start{unit},end{unit}\n" + "".join(
                f"j{j}/map,{k},n{k},{j * 100 * ticks},{(j * 100 + 10 + k) * ticks}\n" for j in range(20) for k in range(10))
        def running_in(unit, ticks):
            return f"job,task,node,start{unit},time{unit},progress\n" + "".join(
                f"j20/map,{k},n{k},{2000 * ticks},{2012 * ticks},{0.05 if k == 4 else 0.9}\n" for k in range(8))
        found = [self.advise(history_in(unit, ticks), running_in(unit, ticks), at=2012 * ticks)
                 for unit, ticks in (("_s", 1), ("_ms", 10**3), ("_us", 10**6), ("_ns", 10**9))]
        self.assertEqual([s["task"] for s in found[0]["suspects"]], ["4"])
        for other in found[1:]:
            self.assertEqual(found[0]["suspects"], other["suspects"])


class Output(Advisor):
    NOW_ROWS = running(straggler(), straggler(task="late2", job="b/map"), *healthy(3), ("x/new", "n", "n1", NOW - 99_000, 0.01))

    def test_the_same_every_time(self):
        for form in ("table", "json", "csv"):
            answers = {self.ask(history(), self.NOW_ROWS, "--format", form).stdout for _ in range(3)}
            self.assertEqual(len(answers), 1)

    def test_the_order_of_the_rows_does_not_matter(self):
        lines = self.NOW_ROWS.splitlines(keepends=True)
        a = self.advise(history(), self.NOW_ROWS)
        b = self.advise(history(), "".join([lines[0], *reversed(lines[1:])]))
        where = lambda d: {(s["job"], s["task"]): (s["decision"], s["best"] and s["best"]["profit"]) for s in d["suspects"]}
        self.assertEqual(where(a), where(b))

    def test_csv_says_what_json_says(self):
        wanted = self.advise(history(), self.NOW_ROWS)["suspects"]
        rows = list(csv.DictReader(io.StringIO(self.ask(history(), self.NOW_ROWS, "--format", "csv").stdout.decode())))
        self.assertEqual(len(rows), len(wanted))
        number = lambda text: float(text) if text else None
        for row, s in zip(rows, wanted, strict=True):
            best = s["best"] or {"node": "", "time": {}}
            self.assertEqual((row["job"], row["task"], row["node"], row["decision"], row["reason"], row["candidate"]),
                             (s["job"], s["task"], s["node"], s["decision"], s["reason"] or "", best["node"]))
            self.assertEqual([number(row[k]) for k in ("elapsed_s", "usual_s", "left_median_s", "copy_low_s", "gain_s", "win_probability")],
                             [s["elapsed"], s["usual"], s["left"]["median"], best["time"].get("low"), best.get("gain"),
                              best.get("win_probability")])

    def test_every_option(self):
        for detector, policy, rule, form in itertools.product(
                ("node_aware", "node_aware:warm=0", "late", "progress_gap", "average_time", "over_median:quantile=0", "mantri",
                 "largest_gain", "flink:ratio=0,lower_bound=0", "late_with_caps:lag=0", "hierarchical:base=late,task_lag=1"),
                ("expected_gain", "riski_2014"), ("greedy", "optimal"), ("table", "json", "csv")):
            done = self.ask(history(), self.NOW_ROWS, "--detector", detector, "--policy", policy, "--assignment", rule, "--format", form)
            self.assertEqual((done.returncode, done.stderr), (0, b""), (detector, policy, rule, form))
            self.assertFalse(re.search(rb"\b(nan|inf)\b", done.stdout, re.I), (detector, policy, rule, form))

    def test_the_example_of_the_documentation(self):
        done = subprocess.run([PROGRAM, "--now", "1795232100000", "examples/data/slurm-8-nodes.csv"], cwd=ROOT, capture_output=True,
                              timeout=60, env={**os.environ, "LC_ALL": "C"})
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(done.stdout.decode(), (ROOT / "examples/programs/straggle-backup/example.expected").read_text())
        self.assertIn("straggle-backup --now 1795232100000 examples/data/slurm-8-nodes.csv", (ROOT / "docs/reference/assigning.md").read_text())


class Refusals(Advisor, BadInput):
    name, run_program = "straggle-backup", staticmethod(run)

    def test_usage(self):
        h, r = self.file("h.csv", history()), self.file("r.csv", running(straggler()))
        self.refuses(1, "HISTORY is required")
        self.refuses(1, "RUNNING is required, or --now", h)
        self.refuses(1, "two files at once", "-", "-")
        self.refuses(1, "--nope", "--nope", h, r)
        for option, value in (("--policy", "x"), ("--assignment", "x"), ("--gain", "x"), ("--format", "x"), ("--running-format", "x"),
                              ("--detector", "x"), ("--detector", "all"), ("--detector", "late:x=1"), ("--detector", "late:alpha=nan"), ("--time-unit", "h"),
                              ("--slot-price", "-1"), ("--slot-price", "nan"), ("--least-win", "1.1"), ("--max-copies", "2"),
                              ("--storm", "-0.1"), ("--reserve", "x"), ("--slots", "-1"), ("--neighbors", "0"), ("--launch", "5"),
                              ("--launch", "-5s"), ("--report-interval", "soon"), ("--copies-per-task", "0"), ("--now", "soon"),
                              ("--now", ""), ("--now", "1e99"), ("--kind-pattern", "("), ("--columns", "x=y"), ("--drift", "nan"),
                              ("--running-columns", "job"), ("--node-columns", "x=y"), ("--resolution", "0")):
            self.refuses(1, option, option, value, h, r)
        for option in ("--slot-price", "--least-win"):
            self.refuses(1, option, "--policy", "riski_2014", option, "0.5", h, r)
        self.refuses(1, "--gain", "--policy", "riski_2014", "--gain", "job", h, r)

    def test_unreadable_files(self):
        h, r = self.file("h.csv", history()), self.file("r.csv", running(straggler()))
        nowhere = pathlib.Path(self.folder.name) / "none.csv"
        self.refuses(2, "none.csv: No such file", nowhere, r)
        self.refuses(2, "none.csv: No such file", h, nowhere)
        self.refuses(2, "none.csv: No such file", "--nodes", nowhere, h, r)
        self.refuses(2, "directory", h, self.folder.name)
        self.refuses(2, r"e.csv:1: the file is empty", self.file("e.csv"), r)
        self.refuses(2, r"e.csv:1: the file is empty", h, self.file("e.csv"))
        self.refuses(2, r"e.csv:1: a header and nothing else", self.file("e.csv", HEADER), r)
        self.refuses(2, r"n.csv:1: it names no node", "--nodes", self.file("n.csv", "node\n\n"), h, r)
        self.refuses(2, r"b.csv:\d+: a NUL byte", h, self.file("b.csv", bytes(range(256)) * 40))
        self.refuses(2, r"b.csv:2: 2 fields where the header has 3", h, self.file("b.csv", "job,node,start_ms\na,b\n"))
        self.refuses(2, r"b.csv:1: no column 'node'", h, self.file("b.csv", "job,start_ms\na,1\n"))
        self.refuses(2, r"b.csv:1: two columns 'job'", h, self.file("b.csv", "job,job,node,start_ms\na,a,b,1\n"))
        self.refuses(2, r"b.csv:1: no columns for start and end", self.file("b.csv", "job,node\na,b\n"), r)
        self.refuses(2, r"<stdin>:1: the file is empty", h, "-")

    def test_hostile_json(self):
        h = self.file("h.csv", history())
        good = json.dumps({"job": "a/map", "task": "t", "node": "n1", "start_ms": NOW}).encode()
        for bad in (b"{", b"}", b"[]", b"[{}]", b"1", b'"x"', b"null", b"nan", b"{'a':1}", b'{"a":NaN}', b'{"a":1}}', b'{"a":1} {"b":2}',
                    b'{"a":1,}', b'{"a":01}', b'{"start_ms":1e999}', b'{"a":"\xff"}', b'{"a":"\\ud800"}', b'{"a":"\x01"}', b"\x00",
                    b'{"job":', b"[" * 100_000, b'{"a":' * 100_000, b'{"a":[' + b"[" * 500_000, b"job,task,node"):
            self.refuses(2, r"r.jsonl:2: ", h, self.file("r.jsonl", good + b"\n" + bad + b"\n" + good))
        self.refuses(2, r"r.jsonl:1: this is UTF-16", h, self.file("r.jsonl", b"\xff\xfe" + good))
        self.refuses(2, r"r.jsonl: gzip: the file is cut off", h, self.file("r.jsonl", b"\x1f\x8b\x08\x00"))
        for cut in (20, len(gzip.compress(good)) - 9):
            self.refuses(2, r"r.jsonl: gzip: the file is cut off", h, self.file("r.jsonl", gzip.compress(good)[:cut]))
        self.refuses(2, r"r.jsonl:2: a line of more than", h, self.file("r.jsonl", good + b"\n" + b'{"a":"' + b"x" * 3_000_000 + b'"}\n'))
        self.refuses(2, r"r.jsonl: no object has a member 'node'", h, self.file("r.jsonl", b'{"job":"a","start_ms":1}\n'))

    def test_strange_values_are_counted(self):
        objects = [{"job": "a/map", "task": "t", "node": "n1", "start_ms": 1}, {"job": [], "node": "n1", "start_ms": 1},
                   {"job": "a", "node": {"x": 1}, "start_ms": 1}, {"job": "a", "node": "n1", "start_ms": True},
                   {"job": "a", "node": "n1", "start_ms": "soon"}, {"job": 7, "node": 8, "start_ms": 1, "task": 9},
                   {"job": "a", "node": "n1", "start_ms": 18446744073709551615}, {}, {"job": None, "node": None},
                   {"job": "a", "node": "n1", "start_ms": 1, "progress": "much"}, {"job": "a", "node": "n1", "start_ms": 1, "progress": 2}]
        got = self.advise(history(), "".join(json.dumps(o) + "\n" for o in objects), name="r.jsonl")["records"]["running"]
        self.assertEqual({r["reason"]: r["count"] for r in got["rejected"]},
                         {"unreadable": 5, "out_of_range": 1, "missing_job": 2, "bad_progress": 1})
        self.assertEqual((got["rows"], got["attempts"]), (11, 2))

    def test_output_that_cannot_be_written(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, self.file("h.csv", history()), self.file("r.csv", running(straggler()))], stdout=full,
                                  stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, 3)

    def test_help_and_version(self):
        done = run("--help")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        for word in (b"Exit status", b"Examples", b"node_aware", b"riski_2014", b"--reserve"):
            self.assertIn(word, done.stdout)
        self.assertLessEqual(max(len(line) for line in done.stdout.splitlines()), 130)
        self.assertRegex(run("--version").stdout, rb"^straggle-backup \d+\.\d+\.\d+\n$")

    def test_huge_and_tiny_numbers(self):
        past = history() + "".join(f"e/map,t{i},0,n{i},{-10**14},{10**14},success,,{10**300}\nz/map,t{i},0,n{i},5,5,success,,0\n"
                                   for i in range(8))
        now = running(*[r + (x,) for r, x in zip([straggler(), *healthy(3)], ("1e308", "0", "-5", "1e-308"))],
                      header="job,task,node,start_ms,progress,input_bytes")
        for form in ("table", "json", "csv"):
            done = self.ask(past, now, "--format", form)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertFalse(re.search(rb"\b(nan|inf)\b", done.stdout, re.I), done.stdout)


HOSTILE = ["</script><script>alert(1)</script>", 'say "no"', "a,b", "two\nlines", "\x1b[31mred\x1b[0m", "bell\x07", "\u202egpj.exe",
           "\u2028", "Käse 日本語 🧀", " ", "x" * 5000, "'; DROP TABLE nodes; --", "=1+1", "/", "//", "a/"]


class HostileNames(Advisor):
    def files(self):
        past, now = io.StringIO(), io.StringIO()
        writer = csv.writer(past, lineterminator="\n")
        writer.writerow(HEADER.strip().split(","))
        for j in range(12):
            for n, name in enumerate(HOSTILE):
                writer.writerow([f"{j}/{name}", name, 0, name, j * 1000, j * 1000 + 10_000 + (j * 7 + n * 3) % 11, "success", "", ""])
                for k in range(4):
                    writer.writerow([f"{j}/{name}", f"t{k}", 0, f"other{k}", j * 1000, j * 1000 + 10_000 + (j * 5 + n + k) % 13, "success", "", ""])
        writer = csv.writer(now, lineterminator="\n")
        writer.writerow(["job", "task", "node", "start_ms", "progress"])
        for n, name in enumerate(HOSTILE):
            writer.writerow([f"now/{name}", name, name, NOW - 40_000, 0.1])
        bad = b"bad/\xff\xfe\xc3(,\xff,\xff\xfe\xc3(,%d,0.1\n" % (NOW - 40_000)
        return past.getvalue().encode(), now.getvalue().encode() + bad

    def test_json_and_csv_keep_them(self):
        past, now = self.files()
        got = self.advise(past, now)
        self.assertEqual({s["task"] for s in got["suspects"]}, set(HOSTILE))
        self.assertLessEqual(set(HOSTILE), {n["node"] for n in got["nodes"]})
        self.assertIn("\ufffd\ufffd\ufffd(", {n["node"] for n in got["nodes"]})
        done = self.ask(past, now, "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(done.stdout.decode(errors="replace"), newline="")))
        self.assertEqual({row["task"] for row in rows}, set(HOSTILE))

    def test_the_table_is_safe_for_terminals(self):
        past, now = self.files()
        text = self.ask(past, now).stdout.decode()
        self.assertFalse(re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e\u2028]", text))
        self.assertLessEqual(max(map(len, text.splitlines())), 110)


class RealHistories(Advisor):
    """What the program would have said in the middle of recorded runs."""

    def data(self, name):
        with open(self.shared(name), newline="") as file:
            return list(csv.DictReader(file))

    def test_hadoop_with_progress(self):
        """Task 68 took 35 s where 19 s are usual; half way it had done a quarter."""
        rows, told = self.data("hadoop-sls.csv"), {}
        now = 1371222123000
        for r in self.data("hadoop-sls.progress.csv"):
            if int(r["time_ms"]) <= now:
                told[r["job"], r["task"]] = r["time_ms"], r["progress"]
        runs = [r for r in rows if int(r["start_ms"]) <= now < int(r["end_ms"])]
        text = running(*[(r["job"], r["task"], r["node"], r["start_ms"], r["input_bytes"], *told[r["job"], r["task"]]) for r in runs],
                       header="job,task,node,start_ms,input_bytes,time_ms,progress")
        done = run("--now", now, "--format", "json", SHARED / "data" / "hadoop-sls.csv", self.file("r.csv", text))
        got = document(done)
        self.assertEqual(got["records"]["running"]["tasks"], len(runs))
        self.assertEqual(got["records"]["running"]["rejected"], [])
        launched = [s for s in got["suspects"] if s["decision"] == "launch"]
        self.assertTrue(launched)
        took = {r["task"]: int(r["end_ms"]) - int(r["start_ms"]) for r in rows}
        usual = statistics.median(took.values())
        for s in launched:
            self.assertGreater(took[s["task"]], 1.2 * usual, s)
            self.assertNotEqual(s["best"]["node"], s["node"])
            self.assertGreater(s["best"]["win_probability"], 0.5)

    def test_the_recorded_cluster(self):
        """Over all of it: whom a copy was advised for was on a slow node, and would have been overtaken."""
        path = ROOT / "examples" / "data" / "slurm-8-nodes.csv"
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        ends = {(r["job"], r["task"]): int(r["end_ms"]) for r in rows if r["status"] == "success"}
        first, last = min(int(r["start_ms"]) for r in rows), max(int(r["end_ms"]) for r in rows)
        launched = won = expected = 0
        for i in range(10, 100):
            now = first + (last - first) * i // 100
            for s in document(run("--now", now, "--format", "json", path))["suspects"]:
                if s["decision"] != "launch" or (s["job"], s["task"]) not in ends:
                    continue
                launched += 1
                expected += s["best"]["win_probability"]
                won += ends[s["job"], s["task"]] - now > 1000 * s["best"]["time"]["median"]
        print(f"{launched} copies advised, {won} would have won if they had taken the median predicted, {expected:.1f} expected")
        self.assertGreater(launched, 20)
        self.assertGreater(won, 0.85 * launched)
        self.assertAlmostEqual(won, expected, delta=0.15 * launched)

    def test_every_history_at_many_times(self):
        for file in self.histories():
            with open(file, newline="") as rows:
                starts = sorted(int(float(r["start_ms"])) for r in csv.DictReader(rows) if r["start_ms"])
            for i in range(1, 8):
                now = starts[len(starts) * i // 8] + 500
                done = run("--now", now, "--format", "json", file)
                got = document(done)
                self.assertEqual(done.stderr, b"")
                for s in got["suspects"]:
                    if s["best"]:
                        self.assertNotIn(s["best"]["node"], s["attempts_on"])
                        self.assertTrue(0 <= s["best"]["win_probability"] <= 1)
                    if s["decision"] == "launch":
                        self.assertGreater(s["best"]["profit"], 0)
                        self.assertGreaterEqual(s["best"]["win_probability"], 0.5)


class LargeFiles(Advisor):
    def test_two_hundred_thousand_rows(self):
        rows = 200_000
        past = HEADER + "".join(f"a{i // 500:05d}/stage{i // 500 % 5},t{i},0,worker{i * 7919 % 503:04d},{20 * i},{20 * i + 10_000 + i * i % 9973},"
                                f"success,,{1000 + i * 31 % 50_000}\n" for i in range(rows))
        end = 20 * rows
        now = running(*[(f"r{i % 20}/stage{i % 5}", f"t{i}", f"worker{i % 503:04d}", end - 1000 * (80 if i % 50 == 0 else 10), 0.1 if i % 50 == 0 else 0.7)
                        for i in range(2000)])
        begin = time.perf_counter()
        got = self.advise(past, now, "--slots", 6, at=end)
        took = time.perf_counter() - begin
        print(f"{rows} rows, 2000 running: {took:.2f} s")
        self.assertGreaterEqual(got["plan"]["copies"], 30)
        self.assertLess(took, 120)


if __name__ == "__main__":
    unittest.main()
