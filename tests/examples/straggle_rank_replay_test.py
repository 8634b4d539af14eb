#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""straggle-rank --log and --replay from end to end; environment as for straggle_rank_test.py."""

import json
import os
import pathlib
import re
import unittest

from programs import HEADER, Folder
from straggle_rank_test import run
from straggle_rank_windows_test import SLURM, cells, succeeded


class Replay(Folder):
    def logged(self, source, *arguments, stdin=b""):
        log = self.file("log.jsonl")
        if not {"--select", "--preset"} & set(arguments):
            arguments = (*arguments, "--select", "dominated:0.5")
        succeeded(run("--log", log, *arguments, source, stdin=stdin))
        return log

    def replays(self, log):
        text = succeeded(run("--replay", log)).decode()
        self.assertRegex(text, r"^\d[\d ]* decisions?, all the same\n$")
        return int(re.sub(r"\D", "", text))

    def test_every_policy(self):
        for select in ("dominated:0.3", "dominated_fdr:0.5:0.05", "weakest_level", "top_k:2", "top_k:2:77", "median_mad:3",
                       "leave_top_k_out:2:4", "mean_plus_sigmas:1.5"):
            for exclusions in ("rerank", "escalating:2:9", "probation", "hysteresis:2:3"):
                log = self.logged(SLURM, "--window", "90s", "--slide", "30s", "--select", select, "--exclusions", exclusions)
                self.assertEqual(self.replays(log), 32)

    def test_by_slowdown(self):
        log = self.logged(SLURM, "--window", "1m", "--select", "slowdown")
        self.assertEqual(self.replays(log), 16)
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        named = {v["node"] for line in lines[1:] for v in line["blacklisted"] + line["spared"]}
        self.assertLessEqual({"n2", "n5"}, named)
        self.assertLessEqual(named, {"n2", "n5", "n6"})
        lines[3]["ended"] = []
        log.write_text("\n".join(map(json.dumps, lines)) + "\n")
        self.assertEqual(run("--replay", log).returncode, 1)

    def test_every_guard(self):
        for limits in (("--max-nodes", 1), ("--min-healthy", 7), ("--domain", "n([0-3])", "--max-fraction", 0.9),
                       ("--fail-open", 0.3, "--no-limits"), ("--preset", "dsb_2019", "--edge", "open"), ("--confidence", 0.8)):
            self.replays(self.logged(SLURM, "--window", "1m", *limits))

    def test_slots(self):
        text = "job,node,end_ms,duration,slots\n" + "".join(
            f"j{j},n{n},{1000 * j + n},{(300 if n == 3 else 100) + (7 * j + 3 * n) % 11},{40 if n == 3 else 4}\n"
            for j in range(20) for n in range(10))
        log = self.logged("-", "--window", "5s", stdin=text.encode())
        self.replays(log)
        self.assertIn(b'"spared_by":"share_of_slots"', log.read_bytes())
        log.write_bytes(log.read_bytes().replace(b'"slots":40.0', b'"slots":1.0'))
        self.assertEqual(run("--replay", log).returncode, 1)

    def test_what_was_there_stays_until_all_is_written(self):
        log = self.file("log.jsonl", b"old")
        link = pathlib.Path(self.folder.name) / "link"
        link.symlink_to(log)
        self.assertEqual(run("--log", link, "--window", "1ns", SLURM).returncode, 1)
        self.assertEqual(log.read_bytes(), b"old")
        before = sorted(os.listdir(self.folder.name))
        self.assertEqual(run("--log", link, "--window", "1m", "--report", "/dev/full", SLURM).returncode, 3)
        succeeded(run("--log", link, "--window", "1m", SLURM))
        self.assertTrue(link.is_symlink())
        self.replays(log)
        self.assertEqual(sorted(os.listdir(self.folder.name)), before)
        if os.path.exists("/dev/full"):
            self.assertEqual(run("--log", "/dev/full", "--window", "1m", SLURM).returncode, 3)

    def test_ten_days(self):
        path = self.shared("hadoop-gridmix-a.csv")
        self.replays(self.logged(path, "--window", "1h", "--slide", "5m", "--min-tasks", 2))

    def test_what_is_in_a_line(self):
        log = self.logged(SLURM, "--window", "1m", "--max-fraction", 0.2)
        head, *lines = [json.loads(line) for line in log.read_text().splitlines()]
        self.assertEqual((head["straggle_log"], head["time_unit"], head["options"]["select"], head["options"]["exclusions"]),
                         (2, "ms", "dominated:0.5", "probation:3:1+escalating:1:16"))
        self.assertEqual({n["node"] for n in head["fleet"]}, {f"n{i}" for i in range(8)})
        table = cells(SLURM, "--window", "1m", "--max-fraction", 0.2)
        for line in lines:
            self.assertEqual(line["end"] - line["begin"], 60_000)
            for node in line["nodes"]:
                row = table[line["window"], node["node"]]
                self.assertEqual([float(row[k]) for k in ("level", "n", "mean", "sd", "low", "high")],
                                 [node[k] for k in ("level", "n", "mean", "sd", "low", "high")])
            for key, word in (("blacklisted", "avoided"), ("on_probation", "on_probation"), ("spared", "spared")):
                for v in line[key]:
                    self.assertEqual(table[line["window"], v["node"]]["decision"], word)
                    self.assertEqual(v["rule"], "dominated")
                    self.assertEqual(v["spared_by"], "share_of_slots" if key == "spared" else None)
            self.assertLessEqual({v["node"] for v in line["blacklisted"] + line["on_probation"]},
                                 {s["node"] for s in line["exclusions"]})

    def test_numbers_are_the_shortest_that_read_back(self):
        text = self.logged(SLURM, "--window", "1m").read_text()
        tokens = re.findall(r"-?\d+\.\d+(?:e[-+]\d+)?", text.split("\n", 1)[1])
        self.assertGreater(len(tokens), 500)
        digits = lambda s: len(re.sub(r"e.*|\D", "", s).strip("0"))
        for token in tokens:
            self.assertEqual(digits(token), digits(repr(float(token))), token)

    def test_changes_are_found(self):
        log = self.logged(SLURM, "--window", "1m", "--max-fraction", 0.4)
        lines = log.read_text().splitlines()

        def after(number, change):
            line = json.loads(lines[number])
            change(line)
            log.write_text("\n".join(lines[:number] + [json.dumps(line)] + lines[number + 1:]) + "\n")
            done = run("--replay", log)
            self.assertEqual((done.returncode, done.stderr), (1, b""))
            return json.loads(lines[number]).get("window"), done.stdout.decode()
        window, said = after(1, lambda l: l["blacklisted"][0].update(until=99))
        self.assertTrue(said.startswith(f"window {window}: blacklisted[0] (n2): until is 99 in the log, {window + 1} when decided again\n"), said)
        self.assertTrue(said.endswith("\n1 of 16 decisions differ\n"), said)
        window, said = after(3, lambda l: l["exclusions"][1].update(state="healthy"))
        self.assertIn(f'window {window}: exclusions[1] (n5): state is "healthy" in the log, "excluded" when', said)
        window, said = after(3, lambda l: l["blacklisted"].pop())
        self.assertIn(f"window {window}: blacklisted: count is 1 in the log, 2 when", said)
        window, said = after(3, lambda l: l["nodes"][0].update(mean=-9, low=-9, high=-9))
        self.assertIn(f"window {window}: ", said)
        window, said = after(4, lambda l: l.update(note="all_overlap"))
        self.assertIn(f'window {window}: note is "all_overlap" in the log, "none" when', said)
        window, said = after(0, lambda l: l["options"].update(exclusions="escalating:3:9"))
        self.assertIn("until", said)
        window, said = after(0, lambda l: l["options"]["limits"].update(max_nodes=1))
        self.assertIn("blacklisted", said)

    def test_what_is_no_log(self):
        log = self.logged(SLURM, "--window", "1m")
        lines = log.read_text().splitlines()

        def refuses(message, *content):
            log.write_text("\n".join(content) + ("\n" if content else ""))
            done = run("--replay", log)
            self.assertEqual((done.returncode, done.stdout), (2, b""), content)
            self.assertEqual(done.stderr.count(b"\n"), 1)
            self.assertRegex(done.stderr.decode(), r"log\.jsonl:" + message)

        def changed(number, change):
            line = json.loads(lines[number])
            change(line)
            return [*lines[:number], json.dumps(line), *lines[number + 1:]]
        self.assertEqual(run("--replay", pathlib.Path(self.folder.name) / "none").returncode, 2)
        refuses("1: not a log: the file is empty")
        refuses("1: not a log", HEADER)
        refuses("1: not a log", "{}")
        refuses("1: not a log", "null")
        refuses("1: not a log: written by another version", *changed(0, lambda l: l.update(straggle_log=3)))
        refuses("1: --select", *changed(0, lambda l: l["options"].update(select="whim")))
        refuses("1: --exclusions", *changed(0, lambda l: l["options"].update(exclusions="whim")))
        refuses("1: not a log: max_fraction", *changed(0, lambda l: l["options"]["limits"].update(max_fraction=7)))
        refuses("1: not a log: a node is twice", *changed(0, lambda l: l["fleet"].append(l["fleet"][0])))
        refuses("17: not a log", *lines[:-1], lines[-1][:-20])
        refuses("5: not a log: 'n9' is not in the fleet", *changed(4, lambda l: l["nodes"][0].update(node="n9")))
        refuses("5: not a log: level is out of range", *changed(4, lambda l: l["nodes"][0].update(level=2**32)))
        refuses("5: not a log: strikes is not an integer", *changed(4, lambda l: l["exclusions"][0].update(strikes=0.5)))
        refuses("5: not a log: no window can look like this", *changed(4, lambda l: l["nodes"][0].update(low=9, high=8)))
        refuses("5: not a log: no window can look like this", *changed(4, lambda l: l["nodes"][0].update(node=l["nodes"][1]["node"])))
        refuses("5: not a log: no window can look like this", *changed(4, lambda l: l.update(window=0)))
        refuses("5: not a log", *changed(4, lambda l: l.pop("spared")))
        refuses("5: not a log", *changed(4, lambda l: l.update(blacklisted="n3")))

    def test_a_slowdown_that_differs(self):
        log = self.logged(SLURM, "--window", "5m", "--select", "slower_by")
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        line = next(line for line in lines[1:] if line["blacklisted"])
        line["blacklisted"][0]["slowdown"][3] += 1
        log.write_text("\n".join(map(json.dumps, lines)) + "\n")
        done = run("--replay", log)
        self.assertEqual((done.returncode, done.stderr), (1, b""))
        self.assertRegex(done.stdout.decode(), r": slowdown is \[.*\] in the log, \[.*\] when decided again\n")

    def test_attempts_that_are_none(self):
        log = self.logged(SLURM, "--window", "1m", "--select", "slowdown")
        lines = log.read_text().splitlines()

        def replay(change):
            line = json.loads(lines[2])
            change(line)
            log.write_text("\n".join([*lines[:2], json.dumps(line, ensure_ascii=False)]) + "\n")
            return run("--replay", log)
        for place, value in ((0, 2**32), (0, -1), (0, 0.5), (0, True), (1, -5e99), (2, 2**32), (3, "1"), (5, 2**32)):
            done = replay(lambda line: line["ended"][0].__setitem__(place, value))
            self.assertEqual((done.returncode, done.stdout), (2, b""), (place, value))
            self.assertRegex(done.stderr, rb"log\.jsonl:3: not a log: .* of an attempt is ")
        deep = []
        for _ in range(900):
            deep = [deep]
        done = replay(lambda line: line.update(blacklisted=deep))
        self.assertIn(b"3: not a log: too many brackets", done.stderr)
        done = replay(lambda line: line.update(blacklisted=[{"node": "a\u202eb"}]))
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("\u202e", done.stdout.decode())

    def test_the_corpus_of_the_fuzzer(self):
        logs = sorted((pathlib.Path(__file__).parents[1] / "fuzz/corpus/replay_log").iterdir())
        self.assertGreaterEqual(len(logs), 10)
        for log in logs:
            done = run("--replay", log)
            if done.returncode == 2:
                self.assertEqual((done.stdout, done.stderr.count(b"\n")), (b"", 1), log)
                self.assertTrue(done.stderr.startswith(f"straggle-rank: {log}:".encode()), done.stderr)
            else:
                self.assertIn(done.returncode, (0, 1), log)
                self.assertRegex(done.stdout, rb"decisions?( differ|, all the same)\n$")

    def test_names_that_are_no_text(self):
        """Two different names whose bytes are no characters stay two nodes."""
        rows = b"".join(b"j%d,%s,%d,%d\n" % (j, name, 1000 * j + i, 100 + (7 * j + i) % 11 + (300 if name == b"\xff" else 0))
                        for j in range(12) for i, name in enumerate([b"\xff", b"\xfe", b"\xef\xbf\xbd", b"a", b"b", b"c", b"d"]))
        log = self.logged("-", "--window", "3s", stdin=b"job,node,end_ms,duration\n" + rows)
        self.assertEqual(self.replays(log), 4)
        names = [n["node"] for n in json.loads(log.read_text().splitlines()[0])["fleet"]]
        self.assertEqual(len(set(names)), 7)


if __name__ == "__main__":
    unittest.main()
