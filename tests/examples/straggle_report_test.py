#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""straggle-report, a page of a plan log. STRAGGLE_REPORT_PROGRAM names the program, STRAGGLE_WATCH_PROGRAM the one that writes
logs. Where there is a chromium the page is drawn in it."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from programs import BadInput, Folder, data_of_page, program

run = program(os.environ.get("STRAGGLE_REPORT_PROGRAM", "straggle-report"))
watch = program(os.environ.get("STRAGGLE_WATCH_PROGRAM", "straggle-watch"))
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def node(name, state, slowdown=2.0, reason="slow"):
    return {"node": name, "state": state, "slowdown": {"value": slowdown}, "reason": reason}


def late(task, cause):
    return {"job": "j", "task": task, "attempt": None, "node": "a", "cause": {"likeliest": cause}}


def plan(now, nodes=(), ended=0, mean=0, longest=0, fleet=8, **more):
    states = [n["state"] for n in nodes]
    return {"event": "plan", "protocol": 1, "now": now, "shadow": False, "nodes": list(nodes), "would": None, "notes": [],
            "fleet": {"nodes": fleet, "excluded": states.count("excluded"), "on_probation": states.count("on_probation")},
            "load": {"running": 3, "waiting": 1}, "ended": {"count": ended, "mean": mean, "longest": longest}, "effects": [],
            "counts": {"lines": 7}, **more}


HELLO = {"event": "hello", "protocol": 1}
NASTY = "</script><b>\u202ex"
STORY = [HELLO, plan(0), plan(10, [node("a", "excluded"), node("b", "last_resort", reason=NASTY)], ended=4, mean=2, longest=5),
         plan(20, [node("a", "excluded", 3.0, "slower")], ended=4, mean=4, longest=9, notes=[{"note": "storm", "reason": "x"}]),
         plan(30, [node("a", "on_probation"), node("b", "healthy")], late=[late("1", "itself"), late("2", "input"), late("3", NASTY)]),
         HELLO, plan(40, late=[late("1", "node")]),
         plan(50, [node("a", "excluded"), node(NASTY, "away")]), plan(60),
         {"event": "job", "job": "j", "start": 5, "end": 25, "attempts": 3, "failed": 0, "left_alone": False},
         {"event": "job", "job": "k", "start": 5, "end": 15, "attempts": 3, "failed": 0, "left_alone": True}] + [
    {"event": "copy", "job": NASTY, "task": str(i), "node": "a", "to": "b", "planned": 5, "start": 5, "end": 8, "probe": probe,
     "winner": winner, "expected": {"low": 9, "middle": 10, "high": 11}, "won": won}
    for i, (probe, winner, won) in enumerate([(False, "copy", 2), (False, "original", 0), (True, "original", 0)])]


class Report(Folder):
    def setUp(self):
        super().setUp()
        self.page = pathlib.Path(self.folder.name) / "page.html"

    def draw(self, story, *arguments):
        log = story if isinstance(story, bytes) else "".join(json.dumps(e) + "\n" for e in story).encode()
        return data_of_page(self, run("-", "--output", self.page, *arguments, stdin=log), self.page)

    def test_the_corpus_of_the_fuzzer(self):
        logs = sorted((pathlib.Path(__file__).parents[1] / "fuzz/corpus/plan_log").iterdir())
        self.assertTrue(logs)
        for log in logs:
            with self.subTest(log.name):
                self.assertIn(run(log, "--output", self.page).returncode, (0, 2))

    def test_what_the_log_says(self):
        data = self.draw(STORY, "--title", NASTY)
        spans = {n["node"]: [(s["state"], s["from"], s["to"]) for s in n["spans"]] for n in data["nodes"]}
        self.assertEqual(spans, {"a": [("excluded", 10, 30), ("on_probation", 30, 40), ("excluded", 50, 60)],
                                 "b": [("last_resort", 10, 20)], NASTY: [("away", 50, 60)]})
        reasons = {n["node"]: n["spans"][0]["reason"] for n in data["nodes"]}
        self.assertEqual((reasons["a"], reasons["b"]), ("slower", NASTY))
        self.assertEqual((data["plans"], data["from"], data["to"], data["fleet"], data["title"]), (7, 0, 60, 8, NASTY))
        self.assertEqual([(m["at"], m["ended"], m["mean"], m["longest"]) for m in data["moments"] if m["ended"]],
                         [(10, 4, 2, 5), (20, 4, 4, 9)])
        self.assertEqual(data["races"], {"won": 1, "lost": 1, "probes": 1, "time_won": 2})
        self.assertEqual(data["late"], {"input": 1, "node": 1})  # each task once, by what was known last
        self.assertEqual(data["job_times"]["treated"], {"jobs": 1, "median": 20, "high": 20})
        self.assertEqual(data["job_times"]["left_alone"], {"jobs": 1, "median": 10, "high": 10})
        self.assertEqual((data["notes"], data["restarts"], data["bad_lines"]), ({"storm": 1}, [40], 0))

    def test_shadow_plans_show_what_would_have_been(self):
        would = {"nodes": [node("a", "excluded")], "copies": [], "kills": []}
        data = self.draw([plan(0, shadow=True, would=would), plan(5, shadow=True, would=would)])
        self.assertTrue(data["shadow"])
        self.assertEqual([(s["from"], s["to"]) for s in data["nodes"][0]["spans"]], [(0, 5)])

    def test_a_long_log_makes_a_bounded_page(self):
        story = [plan(t, [node(f"n{t % 50}", "excluded")], ended=1, mean=t, longest=t) for t in range(5000)]
        story += [{"event": "job", "job": str(j), "start": j, "end": j + 1, "left_alone": False} for j in range(5000)]
        data = self.draw(story)
        self.assertLess(len(data["moments"]), 800)
        self.assertEqual(sum(m["ended"] for m in data["moments"]), 5000)
        self.assertAlmostEqual(sum(m["ended"] * m["mean"] for m in data["moments"]), sum(range(5000)), delta=1)
        self.assertEqual((len(data["jobs"]), data["jobs_seen"]), (3000, 5000))

    def test_a_torn_log(self):
        log = "".join(json.dumps(e) + "\n" for e in STORY).encode()
        self.assertEqual(self.draw(log[:400] + b"\n" + log[380:] + b'{"event": "x"}\n')["bad_lines"] >= 2, True)

    def test_a_plan_that_lacks_everything(self):
        data = self.draw([plan(0), {"event": "plan"}, {"event": "plan", "shadow": True, "nodes": [1, {}, {"node": "x", "state": "excluded"}]},
                          {"event": "job"}, {"event": "copy"}, plan(9)])
        self.assertEqual((data["plans"], data["to"]), (4, 9))

    def test_what_straggle_watch_writes(self):
        if "STRAGGLE_WATCH_PROGRAM" not in os.environ:
            self.skipTest("straggle-watch was not built")
        from straggle_watch_test import cluster, lines
        log = pathlib.Path(self.folder.name) / "log"
        self.assertEqual(watch("--log", log, stdin=lines(cluster(jobs=20))).returncode, 0)
        data = self.draw(log.read_bytes())
        self.assertEqual((data["fleet"], data["jobs_seen"], data["bad_lines"]), (8, 20, 0))
        self.assertEqual([n["node"] for n in data["nodes"]], ["n2"])
        self.assertEqual(data["counts"]["bad_lines"], 0)

    @unittest.skipUnless(CHROMIUM, "there is no chromium")
    def test_in_a_browser(self):
        self.draw(STORY, "--title", NASTY)
        browser = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder.name}/profile",
                   "--window-size=1100,2400", "--enable-logging=stderr"]
        done = subprocess.run([*browser, "--dump-dom", self.page.as_uri()], capture_output=True, timeout=120)
        text = done.stdout.decode()
        self.assertNotIn("CONSOLE", done.stderr.decode(errors="replace"))
        shown = text[:text.index('<script id="data"')]
        plot = shown[shown.index('<div id="nodes">'):shown.index('id="why-title"')]
        self.assertEqual(len(re.findall(r'<rect class="span (?:excluded|on_probation|last_resort|away)"', plot)), 5)
        self.assertIn('class="word excluded"', plot)  # states are told apart without color
        reasons = shown[shown.index('<table id="why">'):shown.index('id="times-title"')]
        self.assertEqual(reasons.count('<td class="words why">'), 5)  # and reasons can be read without hovering
        self.assertEqual(len(re.findall(r'<circle class="job', shown)), 2)
        self.assertEqual(len(re.findall(r'<path class="(?:mean|longest)"', shown)), 2)
        self.assertIn("1 of 8 nodes was out of service", shown)
        self.assertIn("1 of 2 copies ended first and won 2 in all.", shown)
        self.assertIn("1 other tried a node on probation.", shown)
        self.assertNotIn("<b>\u202ex", shown)
        self.assertEqual(shown.count('class="restart"'), 3)
        self.draw([{**e, "shadow": True, "would": {k: e.get(k, []) for k in ("nodes", "copies", "kills")}, "nodes": [], "copies": [], "kills": []}
                   if e["event"] == "plan" else e for e in STORY])
        done = subprocess.run([*browser, "--dump-dom", self.page.as_uri()], capture_output=True, timeout=120)
        text = done.stdout.decode()
        shown = text[:text.index('<script id="data"')]
        self.assertIn("1 of 8 nodes would have been out of service", shown)
        self.assertIn("that would have been acted on", shown)
        self.assertNotIn(" acted on", shown.replace("that would have been acted on", ""))
        picture = pathlib.Path(self.folder.name) / "page.png"
        subprocess.run([*browser, f"--screenshot={picture}", self.page.as_uri()], capture_output=True, timeout=120)
        self.assertGreater(picture.stat().st_size, 20_000)


class CommandLine(BadInput):
    name, run_program = "straggle-report", staticmethod(run)

    def test_refusals(self):
        self.refuses(1, "LOG")
        self.refuses(2, "cannot be read", "/nonexistent/log")
        self.refuses(2, "holds no plan", self.file("empty"))
        log = self.file("log", json.dumps(plan(0)) + "\n")
        done = run(log, "--output", "/nonexistent/page.html")
        self.assertIn(done.returncode, (1, 3))  # 1: built without D3


if __name__ == "__main__":
    unittest.main()
