#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""What straggle tells YARN, read as YARN reads it. Hadoop itself is not here: NodeHealthScriptRunner is written down below
from its source and checked against the table of its own test."""

import csv
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import threading
import time
import unittest

from programs import ROOT, Folder

YARN = ROOT / "examples/engines/yarn"
HEALTH = YARN / "straggle-health"


def health_of(script, *arguments, timeout=1.0):
    """NodeHealthScriptRunner (org.apache.hadoop.util): healthy?, report."""
    try:
        done = subprocess.run([str(script), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout)
    except subprocess.TimeoutExpired:
        return False, "Node health script timed out"
    if done.returncode != 0:  # ExitCodeException: the output is not parsed
        return True, ""
    out = done.stdout.decode()
    if any(line.startswith("ERROR") for line in out.split("\n")):
        return False, out
    return True, ""


class Reading(Folder):
    """TestNodeHealthService: so it is known that the reading above is YARN's."""

    def script(self, text):
        path = self.file("script", "#!/bin/sh\n" + text + "\n")
        path.chmod(0o755)
        return path

    def test_the_table(self):
        self.assertEqual(health_of(self.script("echo I am all fine")), (True, ""))
        self.assertEqual(health_of(self.script("echo ERROR; echo Tracker not healthy")), (False, "ERROR\nTracker not healthy\n"))
        self.assertEqual(health_of(self.script("sleep 4")), (False, "Node health script timed out"))
        self.assertEqual(health_of(self.script("echo ERROR; exit 1")), (True, ""))
        self.assertEqual(health_of(self.script("echo ' ERROR'; echo error")), (True, ""))


class Health(Folder):
    def health(self, text, node="h1", **more):
        return health_of(HEALTH, self.file("health", text), node, **more)

    def test_excluded_and_not(self):
        later, before = int(time.time()) + 100, int(time.time()) - 1
        self.assertEqual(self.health(f"h1\t{later}\t2.3 times as slow\n"), (False, "ERROR straggle: 2.3 times as slow\n"))
        self.assertEqual(self.health(f"h1\t{later}\tslow\n", "h1.example.org"), (False, "ERROR straggle: slow\n"))
        for text in (f"h1\t{before}\tslow\n", f"h2\t{later}\tslow\n", f"h11\t{later}\tslow\n", "", "h1\n", f"h1 {later} slow\n",
                     f"h1\t{later}x\tslow\n", f"h1\t\tslow\n", f"H1\t{later}\tslow\n", "\0\xff\n", f"h1\t{later}\n"):
            self.assertEqual(self.health(text), (True, ""), text)

    def test_whatever_happens_the_status_is_0(self):
        fifo = pathlib.Path(self.folder.name) / "fifo"
        os.mkfifo(fifo)  # nobody writes: as a file system that hangs
        for file in ("/nonexistent/file", self.folder.name, "/dev/null"):
            done = subprocess.run([HEALTH, file, "h1"], capture_output=True)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        self.assertEqual(health_of(HEALTH, fifo, "h1", timeout=20), (True, ""))
        self.assertEqual(health_of(HEALTH, "/nonexistent/file", timeout=5), (True, ""))
        self.assertTrue(os.access(HEALTH, os.X_OK))  # else the checker does not start


def node(name, state="excluded", value=2.3, until=None, causes=("slow",)):
    return {"node": name, "state": state, "slowdown": {"value": value, "low": 2, "high": 3, "tasks": 9}, "causes": list(causes),
            "until": until, "reason": f"excluded: takes {value} times as long"}


def plan(*nodes, fleet=30, now=None):
    return {"event": "plan", "protocol": 1, "now": now or time.time(), "nodes": list(nodes), "fleet": {"nodes": fleet}}


class Files(Folder):
    def setUp(self):
        super().setUp()
        self.at = pathlib.Path(self.folder.name)
        self.exclude, self.include, self.health = (self.at / n for n in ("exclude", "include", "health"))
        self.keep = self.file("keep", "broken1 broken2 # since May\n# none\n")
        self.members = self.file("members", "".join(f"h{i}\n" for i in range(30)) + "broken1\n")
        # Says what the resource manager would read at this moment.
        self.refresh = self.file("refresh", f"#!/bin/sh\necho '--' >> {self.at}/seen\ncat {self.exclude} >> {self.at}/seen\n")
        self.refresh.chmod(0o755)

    def start(self, *more):
        said = self.file("said").open("wb")
        self.addCleanup(said.close)
        process = subprocess.Popen(
            [sys.executable, "-B", YARN / "straggle_yarn.py", "--exclude", self.exclude, "--include", self.include, "--members",
             self.members, "--health", self.health, "--keep-out", self.keep, "--refresh", str(self.refresh), *map(str, more)],
            stdin=subprocess.PIPE, stderr=said)
        self.addCleanup(lambda: (process.kill(), process.wait(), process.stdin.close()))
        return process

    def tell(self, process, *plans):
        process.stdin.write("".join(json.dumps(p) + "\n" for p in plans).encode())
        process.stdin.flush()

    def until(self, what):
        end = time.monotonic() + 20
        while not what():
            self.assertLess(time.monotonic(), end, "it does not happen")
            time.sleep(0.02)

    def hosts(self, path):
        return set(path.read_text().split()) if path.exists() else None

    def test_excludes_and_releases(self):
        process = self.start("--act")
        self.until(lambda: self.hosts(self.exclude) == {"broken1", "broken2"})
        self.tell(process, plan(node("h1"), node("h2", "last_resort"), node("h3", "on_probation"), node("h4", causes=["denied"])))
        self.until(lambda: self.hosts(self.exclude) == {"broken1", "broken2", "h1"})
        self.until(lambda: self.health.read_text() != "")
        self.until(lambda: "h1" not in self.hosts(self.include))
        self.assertEqual(self.hosts(self.include), {f"h{i}" for i in range(30)} - {"h1"})
        self.assertEqual(health_of(HEALTH, self.health, "h1"), (False, "ERROR straggle: excluded: takes 2.3 times as long\n"))
        self.assertEqual(health_of(HEALTH, self.health, "h2"), (True, ""))
        self.tell(process, plan())
        self.until(lambda: self.hosts(self.exclude) == {"broken1", "broken2"} and self.health.read_text() == "")
        self.tell(process, plan(node("h7")))
        self.until(lambda: "h7" in self.hosts(self.exclude) and "h7" in (self.at / "seen").read_text())
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(20), 0)
        self.assertEqual(self.hosts(self.exclude), {"broken1", "broken2"})
        self.assertEqual(self.health.read_text(), "")
        # Each refresh saw the file that it was run for.
        seen = [set(s.split()) - {"broken1", "broken2"} for s in (self.at / "seen").read_text().split("--\n")[1:]]
        self.assertEqual(seen, [set(), {"h1"}, set(), {"h7"}, set()])
        self.assertEqual(self.keep.read_text(), "broken1 broken2 # since May\n# none\n")

    def test_one_keeper_of_a_file(self):
        first = self.start("--act")
        self.tell(first, plan(node("h1")))
        self.until(lambda: "h1" in (self.hosts(self.exclude) or ()))
        second = subprocess.run([sys.executable, "-B", YARN / "straggle_yarn.py", "--exclude", self.exclude, "--act"],
                                stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        self.assertEqual(second.returncode, 1)
        self.assertIn(b"another process", second.stderr)
        self.assertIn("h1", self.hosts(self.exclude))
        nowhere = self.at / "none" / "exclude"
        lost = subprocess.run([sys.executable, "-B", YARN / "straggle_yarn.py", "--exclude", nowhere, "--act"],
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        self.assertEqual((lost.returncode, b"Traceback" in lost.stderr), (1, False))

    def test_nothing_without_act(self):
        process = self.start()
        self.tell(process, plan(node("h1")))
        process.stdin.close()
        self.assertEqual(process.wait(20), 0)
        self.assertIn("excludes h1", (self.at / "said").read_text())
        self.assertFalse(self.exclude.exists() or self.include.exists() or self.health.exists() or (self.at / "seen").exists())

    def test_a_cap_and_names_that_are_none(self):
        process = self.start("--act", "--most", 0.1)
        bad = ["", "h1\nh2", "../x", "a b", "-x", "h1 #", "x" * 300, "h\tx", "ü"]
        self.tell(process, plan(*(node(b, value=9) for b in bad), *(node(f"h{i}", value=2 + i) for i in range(10))))
        self.until(lambda: len(self.hosts(self.exclude) or ()) > 2)
        self.assertEqual(self.hosts(self.exclude) - {"broken1", "broken2"}, {"h7", "h8", "h9"})  # the slowest

    def test_plans_that_stop_release_all(self):
        process = self.start("--act", "--expire", 1.5)
        self.tell(process, plan(node("h1")))
        self.until(lambda: self.health.exists() and "h1" in self.health.read_text())
        fields = self.health.read_text().split("\t")
        self.assertLessEqual(int(fields[1]), time.time() + 3)  # so a process that is killed frees the node, too
        self.until(lambda: "h1" not in self.hosts(self.exclude))

    def test_the_file_is_whole_at_any_moment(self):
        process, faults, stop = self.start("--act", "--most", 1), [], threading.Event()
        self.until(self.exclude.exists)
        large = {f"h{i}" for i in range(2000)}

        def look():
            while not stop.is_set():
                hosts = self.hosts(self.exclude) - {"broken1", "broken2"}
                if hosts not in (set(), large):
                    faults.append(len(hosts))
        thread = threading.Thread(target=look)
        thread.start()
        for k in range(20):
            self.tell(process, plan(*(node(h) for h in sorted(large)), fleet=2000) if k % 2 else plan())
            time.sleep(0.05)
        stop.set()
        thread.join()
        self.assertEqual(faults, [])


@unittest.skipUnless("STRAGGLE_WATCH_PROGRAM" in os.environ, "straggle-watch was not built")
class Replay(Folder):
    def test_a_recorded_history(self):
        """What the guide shows: of eight nodes two are slow for good and one for a third of the time, from 320 to 640 s."""
        subprocess.run([sys.executable, "-B", YARN / "replay.py", "--watch",
                        shlex.quote(os.environ["STRAGGLE_WATCH_PROGRAM"]), "--out",
                        self.folder.name], check=True, stderr=subprocess.DEVNULL, timeout=200)
        with (pathlib.Path(self.folder.name) / "states.csv").open(newline="") as file:
            changes = [(float(c["seconds"]), c["node"], c["state"], c["in_file"] == "1") for c in csv.DictReader(file)]
        self.assertEqual({node for _, node, _, _ in changes}, {"n2", "n5", "n6"})
        for node in ("n2", "n5"):
            self.assertGreater(sum(end - at for at, end in self.held(changes, node)), 300)
        self.assertTrue(all(state == "excluded" for _, _, state, is_held in changes if is_held))
        middle = [at for at, node, _, _ in changes if node == "n6"]
        self.assertTrue(320 < min(middle) and max(middle) < 800, middle)

    @staticmethod
    def held(changes, node, end=950.0):
        mine = [(at, is_held) for at, n, _, is_held in changes if n == node] + [(end, False)]
        return [(a[0], b[0]) for a, b in zip(mine, mine[1:]) if a[1]]


if __name__ == "__main__":
    unittest.main()
