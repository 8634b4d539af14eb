# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""The adapters to engines without the engines: what they make of what they read, and what they never touch."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest

ENGINES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "engines")
sys.path[:0] = [os.path.join(ENGINES, "haproxy"), os.path.join(ENGINES, "slurm")]
import adapter  # noqa: E402
import controller  # noqa: E402
import out_of_service  # noqa: E402
import straggle_watch  # noqa: E402

adapter.log = controller.log = lambda *words: None


class Told:
    """A straggle-watch that remembers what it was told, and answers with a plan."""

    def __init__(self, *nodes):
        self.ends, self.copies, self.kills = [], [], []
        self.plan = {"nodes": list(nodes), "notes": [], "copies": self.copies, "kills": self.kills, "now": 0,
                     "ended": {"count": 0, "mean": 0}}

    def ended(self, job, node, start, end, status="success", **more):
        self.ends.append(dict(more, job=job, node=node, start=start, end=end, status=status))

    def finish(self, job):
        pass

    def decide(self, *_, **__):
        return self.plan

    def close(self):
        pass


def verdict(node, state, slots=0):
    return {"node": node, "state": state, "probe_slots": slots, "reason": "because", "since": 0, "until": None,
            "slowdown": {"value": 3, "low": 2, "high": 4, "tasks": 20}}


class HAProxy(unittest.TestCase):
    def setUp(self):
        options = types.SimpleNamespace(slots=4, stale=2, probe=5, dry_run=False, no_watchdog=True)
        self.adapter = adapter.Adapter(options)
        self.adapter.watch = Told()

    def line(self, status=200, ended="--", name="s1", microseconds="12000"):
        return ("1795377420.512 app %s %d 12 13 %s %s 1 1 0 0" % (name, status, microseconds, ended)).encode()

    def test_requests(self):
        for line in (self.line(), b"<134>" + self.line(), self.line(503), self.line(-1), self.line(ended="CD")):
            self.adapter.request(line)
        self.assertEqual([e["status"] for e in self.adapter.watch.ends],
                         ["success", "success", "failed", "failed", "killed"])
        self.assertAlmostEqual(self.adapter.watch.ends[0]["end"] - self.adapter.watch.ends[0]["start"], 0.012, 4)
        for line in (b"", b"Server app/s1 is DOWN, reason: Layer4", self.line(name="<NOSRV>"), self.line(name="s\xff"),
                     self.line(name="s1;x"), self.line(microseconds="x"), b"\0" * 900):
            self.adapter.request(line)
        self.assertEqual(len(self.adapter.watch.ends), 5)
        self.assertEqual(list(self.adapter.servers), ["app/s1"])

    def test_words(self):
        self.adapter.request(self.line())
        self.adapter.watch.plan["nodes"] = [verdict("app/s1", "excluded"), verdict("app/s2", "on_probation", 2),
                                            verdict("app/s4", "last_resort")]
        self.adapter.decide()
        self.assertEqual(self.adapter.word("app/s1"), "up 0%\n")
        self.assertEqual(self.adapter.word("app/s2"), "up 10%\n")
        self.assertEqual(self.adapter.word("app/s4"), "up 33%\n", "three times as slow")
        self.assertEqual(self.adapter.word("app/s3"), "up\n", "an operator's weight stays")
        self.assertEqual(self.adapter.word("x" * 2000), "up\n")
        self.adapter.decided -= 3
        self.assertEqual(self.adapter.word("app/s1"), "up 100%\n", "what is old counts no longer")
        self.adapter.watch.plan["nodes"] = []
        self.adapter.decide()
        self.assertEqual(self.adapter.word("app/s1"), "up 100%\n", "it takes its weight back")
        self.adapter.freed.clear()
        self.assertEqual(self.adapter.word("app/s1"), "up\n")

    def test_dry_run(self):
        self.adapter.options.dry_run = True
        self.adapter.watch.plan["nodes"] = [verdict("app/s1", "excluded")]
        self.adapter.decide()
        self.assertEqual(self.adapter.word("app/s1"), "up\n")


    def test_no_weight_before_the_watchdog_knows_of_it(self):
        self.adapter.options.no_watchdog = False
        self.adapter.watch.plan["nodes"] = [verdict("app/s1", "excluded")]
        self.adapter.decide()
        self.assertEqual(self.adapter.word("app/s1"), "up\n")
        self.assertEqual(self.adapter.word("watchdog"), "ours app/s1\n")
        self.assertEqual(self.adapter.word("app/s1"), "up 0%\n")

    def test_the_end_touches_only_what_it_took_out(self):
        self.adapter.request(self.line())
        self.adapter.request(self.line(name="s2"))
        self.adapter.watch.plan["nodes"] = [verdict("app/s1", "excluded")]
        self.adapter.decide()
        self.assertEqual(self.adapter.word("watchdog"), "ours app/s1\n")
        self.adapter.is_ending = True
        self.assertEqual(self.adapter.word("app/s1"), "up 100%\n")
        self.assertEqual(self.adapter.word("app/s2"), "up\n", "an operator's weight stays")

    def test_the_end_of_a_dry_run_touches_nothing(self):
        self.adapter.options.dry_run = True
        self.adapter.watch.plan["nodes"] = [verdict("app/s1", "excluded")]
        self.adapter.decide()
        self.adapter.is_ending = True
        self.assertEqual(self.adapter.word("app/s1"), "up\n")
        self.assertEqual(self.adapter.word("watchdog"), "ours\n")

    def test_release_leaves_what_an_operator_weighted(self):
        asked = []

        def answer(path, command):
            asked.append(command)
            return ("1\n# be_name srv_name srv_uweight srv_iweight srv_agent_port\napp s1 0 100 9101\napp s2 7 100 9101\n"
                    "app s3 7 100 0\n")
        real, adapter.ask_haproxy = adapter.ask_haproxy, answer
        try:
            adapter.release("", ["app/s1"])
            self.assertEqual(asked[1:], ["set server app/s1 weight 100%"])
            adapter.release("")
            self.assertIn("set server app/s2 weight 100%", asked[3:])
        finally:
            adapter.ask_haproxy = real


class Watch(unittest.TestCase):
    """The process that decides, where it does not do as it should."""

    def test_one_that_hangs_is_given_up_in_time(self):
        said = []
        watch = straggle_watch.Watch(["sleep", "60"], lambda *words: said.append(words))
        for i in range(20000):  # more than a pipe holds
            watch.ended("job", "n1", i, i + 1)
        begin = time.monotonic()
        self.assertIsNone(watch.decide(1, [{"node": "n1"}], timeout=0.3))
        watch.close()
        self.assertLess(time.monotonic() - begin, 1.5)
        self.assertEqual(len(said), 1)

    def test_a_note_is_said_when_it_begins(self):
        known = set()
        plan = {"notes": [{"note": "storm", "reason": "late"}, {"note": "fail_open", "reason": "slow"}]}
        self.assertEqual(straggle_watch.new_notes(plan, known, copies=False), ["slow"])
        self.assertEqual(straggle_watch.new_notes(plan, known, copies=False), [])
        self.assertEqual(straggle_watch.new_notes(plan, known), ["late"])
        self.assertEqual(straggle_watch.new_notes({"nodes": []}, known), [])
        self.assertEqual(straggle_watch.new_notes(plan, known), ["late", "slow"])

    def test_one_line_where_it_is_missing(self):
        self.assertIsNone(straggle_watch.missing(["sh", "-c", "true"]))
        said = straggle_watch.missing(["no-such-straggle-watch", "--x"])
        self.assertIn("no-such-straggle-watch is not on the path", said)
        for program in ("haproxy/adapter.py", "slurm/controller.py"):
            done = subprocess.run([sys.executable, os.path.join(ENGINES, program), "--watch", "no-such-straggle-watch"],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn("is not on the path", done.stderr)


class Slurm(unittest.TestCase):
    """A Slurm of canned answers: n1 is well, n2 was drained by an administrator, n3 by us, n4 is reserved by somebody."""

    def setUp(self):
        self.written, self.found = [], {"n1": ("idle", "none"), "n2": ("drained", "disk"), "n3": ("drained", "straggle: slow"),
                                        "n4": ("reserved", "none")}
        self.reservations = ["ReservationName=maint Nodes=n4 State=ACTIVE"]
        self.ended = self.queue = ""

        def answer(*command, timeout=10):
            if command[:2] in (("scontrol", "create"), ("scontrol", "update"), ("scontrol", "delete")):
                self.written.append(" ".join(command[1:]))
                return ""
            if command[:3] == ("scontrol", "-o", "show"):
                return "\n".join(self.reservations)
            if command[:3] == ("scontrol", "show", "hostnames"):
                return command[3]
            if command[0] == "sinfo":
                names = [command[4]] if "-n" in command else sorted(self.found)
                if "-n" in command:
                    return "\n".join("%s|%s" % self.found[n] for n in names)
                if command[-1] == "%N|%T|%E":
                    return "\n".join("%s|%s|%s" % ((n,) + self.found[n]) for n in names)
                return "\n".join("%s|%s|4|%s" % ((n,) + self.found[n]) for n in names)
            if command[0] == "scancel":
                self.written.append(" ".join(command))
            return {"sacct": self.ended, "squeue": self.queue}.get(command[0], "")
        self.real = controller.slurm
        controller.slurm = out_of_service.slurm = answer

    def tearDown(self):
        controller.slurm = out_of_service.slurm = self.real

    def make(self, *nodes, drain=False, apply=True, never=(), copies=False, requeue=False, state=""):
        options = types.SimpleNamespace(drain=drain, apply=apply, account="root", every=0, history=60, never=set(never),
                                        cpus_per_task=1, watch="", state=state, copies=copies, requeue=requeue)
        made = controller.Controller(options)
        made.watch = Told(*nodes)
        return made

    def test_never_what_an_administrator_touched(self):
        everything = [verdict(n, "excluded") for n in ("n1", "n2", "n3", "n4")]
        self.make(*everything).step()
        self.assertEqual([w.split()[2] for w in self.written], ["ReservationName=straggle_n1"])
        self.written.clear()
        self.make(*everything, drain=True).step()
        self.assertEqual([w.split()[1] for w in self.written], ["NodeName=n1"], "n3 is out already")
        self.written.clear()
        self.make(drain=True).step()
        self.assertEqual(self.written, ["update NodeName=n3 State=RESUME"])

    def test_somebody_was_faster(self):
        drains = controller.Drains(None)
        drains.ours["n3"] = 0
        self.found["n3"] = ("drained", "memory errors")
        drains.give_back("n3")
        drains.take("n2", "slow")
        self.assertEqual(self.written, [])

    def test_dry_run_writes_nothing(self):
        self.make(verdict("n1", "excluded"), apply=False).step()
        self.make(verdict("n1", "excluded"), apply=False, drain=True).step()
        self.assertEqual(self.written, [])

    def test_what_it_left_is_given_back(self):
        self.reservations.append("ReservationName=straggle_n1 Nodes=n1 State=ACTIVE")
        self.make().step()
        self.assertEqual(self.written, ["delete ReservationName=straggle_n1"])

    def test_each_end_is_told_once(self):
        now = int(time.time())
        row = "%d|7_%d|work|n1|COMPLETED|%d|%d|1"
        self.ended = "\n".join([row % (8, 1, now - 9, now - 4), row % (9, 2, now - 9, now - 5), "a|b",
                                "10|7_3|work|n[1-2]|COMPLETED|%d|%d|2" % (now - 9, now - 4),
                                "11|7_4|work|n1|CANCELLED by 0|%d|%d|1" % (now - 9, now - 4),
                                "12|7_5|work|n1|NODE_FAIL|Unknown|%d|1" % now])
        made = self.make()
        made.step()
        made.step()
        self.assertEqual([(e["task"], e["status"]) for e in made.watch.ends],
                         [("1", "success"), ("2", "success"), ("4", "killed")])

    DONE = "7|%d|%d|n1|COMPLETED|%d|%d|1|None|ann|(null)|work"

    def test_what_the_queue_tells_first_accounting_does_not_tell_again(self):
        now = int(time.time())
        self.queue = self.DONE % (1, 8, now - 9, now - 1) + "\n7|2|9|n1|COMPLETING|%d|%d|1|None|ann|(null)|work" % (now - 9, now)
        made = self.make()
        made.step()
        self.assertEqual([(e["attempt"], e["start"], e["end"]) for e in made.watch.ends], [("8", now - 9, now - 1)])
        self.assertEqual(made.last_jobs.keys(), {"7"}, "what still completes is not over")
        self.ended = "8|7_1|work|n1|COMPLETED|%d|%d|1" % (now - 9, now - 1)
        self.queue = self.DONE % (1, 8, now - 9, now - 1) + "\n" + self.DONE % (2, 9, now - 9, now)
        made.step()
        made.step()
        self.assertEqual([e["attempt"] for e in made.watch.ends], ["8", "9"])
        # The same job, requeued: another attempt.
        self.ended += "\n8|7_1|work|n1|COMPLETED|%d|%d|1" % (now - 1, now)
        made.step()
        self.assertEqual([e["attempt"] for e in made.watch.ends], ["8", "9", "8"])

    def test_records_of_accounting_that_are_not_whole_yet(self):
        now = int(time.time())
        self.ended = "8|8|allocation|n1|COMPLETED|%d|%d|1\n9|9|allocation|n1|COMPLETED|%d|%d|1" % (now - 9, now - 1, now - 90, now - 40)
        made = self.make()
        made.step()
        self.assertEqual([e["attempt"] for e in made.watch.ends], ["9"], "one that is called so in earnest")
        self.ended = "8|7_1|work|n1|COMPLETED|%d|%d|1" % (now - 9, now - 1)
        made.step()
        self.assertEqual([(e["job"], e["task"], e["kind"]) for e in made.watch.ends], [("9", "9", "allocation"), ("7", "1", "work")])

    def test_a_restart_tells_nothing_again_and_leaves_nothing_out(self):
        now = int(time.time())
        with tempfile.TemporaryDirectory() as folder:
            self.ended = "8|7_1|work|n1|COMPLETED|%d|%d|1" % (now - 9, now - 4)
            first = self.make(state=folder)
            first.gaps.append((now - 100.0, now - 50.0))
            first.step()
            self.ended += "\n9|7_2|work|n1|COMPLETED|%d|%d|1" % (now - 9, now - 3)
            second = self.make(state=folder)
            second.step()
            self.assertEqual([[e["attempt"] for e in c.watch.ends] for c in (first, second)], [["8"], ["9"]])
            self.assertEqual(second.gaps, [(now - 100.0, now - 50.0)])
            with open(os.path.join(folder, "told.json"), "w") as file:
                file.write('{"seen": 3')
            third = self.make(state=folder)
            third.step()
            self.assertEqual(len(third.watch.ends), 2, "a damaged file is as good as none")

    def test_a_node_whose_probe_was_well_need_not_wait_for_the_next_array(self):
        now = int(time.time())
        self.found["n5"] = ("idle", "none")
        self.queue = "9|1|80||PENDING|N/A|N/A|1|Resources|ann|(null)|work"  # little waits: a slow probe would cost
        for took, opens in ((3, True), (9, False)):
            made = self.make(verdict("n1", "on_probation", slots=1))
            made.usual, made.watch.plan["nodes"][0]["since"] = 3, now
            made.step()
            self.assertEqual(set(made.probing), set(), "nothing is known of it")
            self.queue += "\n" + self.DONE % (took, 80 + took, now - took, now)
            made.step()
            self.assertEqual(set(made.probing), {"n1"} if opens else set(), "a probe took %d" % took)

    QUEUE = "7|1|8|n1|RUNNING|%d|N/A|1|None|ann|straggle:copy|work\n" \
            "7|2|9|n1|RUNNING|%d|N/A|1|None|ann|straggle:requeue|work\n7|3|10|n1|RUNNING|%d|N/A|1|None|ann|(null)|work|x"

    def ask(self, **options):
        """What is written for a plan that wants a copy of each of three tasks."""
        self.queue = self.QUEUE % ((int(time.time()) - 5,) * 3)
        made = self.make(**options)
        made.watch.copies[:] = [{"job": "7", "task": str(t), "attempt": str(7 + t), "node": "n1", "to": "n3", "reason": "slow"}
                             for t in (1, 2, 3)]
        made.step()
        made.step()
        return made

    def test_second_attempts_only_where_both_sides_want_them(self):
        self.ask()
        self.assertEqual(self.written, [])
        self.ask(copies=True, apply=False)
        self.assertEqual(self.written, [])
        self.ask(copies=True)
        self.assertEqual(self.written, ["update JobId=8 AdminComment=straggle:copy:n3", "scancel --batch --signal=USR2 8"])
        self.written.clear()
        self.ask(requeue=True)
        self.assertEqual(self.written, ["update JobId=9 ExcNodeList=n1", "update JobId=9 StartTime=now"])

    def test_a_copy_is_an_attempt_of_its_task(self):
        made, now = self.ask(copies=True), int(time.time())
        self.queue += "\n20|1|20|n3|RUNNING|%d|N/A|1|None|ann|straggle:copy-of:7_1|work" % now
        self.queue += "\n21|1|21|n3|RUNNING|%d|N/A|1|None|bob|straggle:copy-of:7_1|work" % now
        running, _ = made.read_queue()
        told = {a["attempt"]: (a["job"], a["task"], a.get("copy", False)) for a in running}
        self.assertEqual((told["20"], told["21"]), (("7", "1", True), ("21", "1", False)), "nobody copies for others")
        self.ended = "\n".join("%d|%s|work|%s|COMPLETED|%d|%d|1" % (raw, job, node, now - 9, end) for raw, job, node, end in
                               ((20, "20_1", "n3", now - 2), (8, "7_1", "n1", now - 1)))
        made.read_ended()
        self.assertEqual([(e["job"], e["task"], e["status"], e.get("copy", False), e.get("outrun", False))
                          for e in made.watch.ends[-2:]],
                         [("7", "1", "success", True, False), ("7", "1", "killed", False, True)])

    def test_a_copy_that_is_given_up_is_cancelled_once_and_nothing_else_is(self):
        made, now = self.ask(copies=True), int(time.time())
        self.queue += "\n20|1|20|n3|RUNNING|%d|N/A|1|None|ann|straggle:copy-of:7_1|work" % now
        made.watch.copies.clear()
        made.watch.kills[:] = [{"job": "7", "task": "1", "attempt": attempt, "node": "n3", "copy": copy, "reason": "others wait"}
                               for attempt, copy in (("20", True), ("8", False), ("8", True), (None, True))]
        self.written.clear()
        made.step()
        made.step()
        self.assertEqual(self.written, ["scancel 20"])

    def test_one_controller_only(self):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-B", os.path.join(ENGINES, "slurm", "controller.py"), "--state", folder, "--watch", "true"]
            first = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            first.stdout.readline()
            self.assertEqual(subprocess.run(command, stdout=subprocess.DEVNULL, timeout=20).returncode, 1)
            first.terminate()
            first.communicate(timeout=30)


class SlurmService(unittest.TestCase):
    """The man page and the unit say what the controller does."""

    SLURM = os.path.join(ENGINES, "slurm")

    def options(self):
        said = subprocess.run([sys.executable, "-B", os.path.join(self.SLURM, "controller.py"), "--help"], text=True,
                              stdout=subprocess.PIPE, check=True, timeout=20).stdout
        return set(re.findall(r"--[a-z-]+", said)) - {"--help"}

    def test_man_page(self):
        path = os.path.join(self.SLURM, "straggle-slurm.8")
        with open(path) as file:
            page = file.read().replace("\\-", "-")
        self.assertEqual(set(re.findall(r"--[a-z-]+", page)), self.options())
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  text=True, timeout=20)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_unit(self):
        path = os.path.join(self.SLURM, "straggle-slurm.service")
        with open(path) as file:
            unit = file.read()
        start = re.search(r"^ExecStart=(.*)$", unit, re.M)[1]
        self.assertNotIn("--apply", start, "the default is a dry run")
        self.assertLessEqual(set(re.findall(r"--[a-z-]+", start)), self.options())
        if shutil.which("systemd-analyze"):
            with tempfile.TemporaryDirectory() as folder:  # where the program is, as far as this machine knows
                there = os.path.join(folder, "straggle-slurm.service")
                with open(there, "w") as file:
                    file.write(unit.replace("/usr/lib/straggle/slurm/controller.py", sys.executable))
                said = subprocess.run(["systemd-analyze", "verify", "--man=no", there], stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True, timeout=60).stdout
            self.assertNotIn("straggle-slurm.service:", said)


class SlurmAttempt(unittest.TestCase):
    """The wrapper for tasks that may run twice, with a Slurm of stubs."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = self.folder.name
        self.script = os.path.join(ENGINES, "slurm", "straggle-attempt")
        stubs = {"scontrol": 'echo "JobId=5 Command=%s x AdminComment=straggle:copy:n3 End"' % os.path.abspath(self.script),
                 "sbatch": 'echo "$@" >>%s/said-sbatch; echo 77' % self.path, "scancel": 'echo "$@" >>%s/said-scancel' % self.path}
        for name, body in stubs.items():
            with open(os.path.join(self.path, name), "w") as file:
                file.write("#!/bin/sh\n%s\n" % body)
            os.chmod(file.name, 0o755)
        os.mkdir(os.path.join(self.path, "results"))

    def tearDown(self):
        self.folder.cleanup()

    def start(self, command, **variables):
        environment = dict(os.environ, PATH=self.path + ":" + os.environ["PATH"], SLURM_JOB_ID="5", SLURM_ARRAY_JOB_ID="4",
                           SLURM_ARRAY_TASK_ID="1", **variables)
        return subprocess.Popen(["bash", self.script, os.path.join(self.path, "results"), "bash", "-c", command], env=environment)

    def said(self, name):
        try:
            with open(os.path.join(self.path, "said-" + name)) as file:
                return file.read()
        except OSError:
            return ""

    def results(self):
        found = {}
        for name in os.listdir(os.path.join(self.path, "results")):
            with open(os.path.join(self.path, "results", name)) as file:
                found[name] = file.read()
        return found

    def test_alone(self):
        self.assertEqual(self.start("echo a >$STRAGGLE_OUTPUT").wait(10), 0)
        self.assertEqual(self.results(), {"4_1": "a\n"})
        self.assertEqual(self.start("exit 3", SLURM_JOB_NAME="x").wait(10), 0, "there is a result: the second one has lost")

    def test_what_fails_fails(self):
        self.assertEqual(self.start("echo a >$STRAGGLE_OUTPUT; exit 3").wait(10), 3)
        self.assertEqual(self.results(), {})

    def test_a_copy_is_asked_for_and_the_first_wins(self):
        task = self.start("touch %s/begun; sleep 2; echo a >$STRAGGLE_OUTPUT" % self.path)
        self.wait_for("begun")
        task.send_signal(signal.SIGUSR2)
        self.wait_for("said-sbatch")
        self.assertEqual(task.wait(10), 0)
        self.assertIn("--nodelist=n3 --array=1", self.said("sbatch"))
        self.assertIn("--comment=straggle:copy-of:4_1", self.said("sbatch"))
        self.assertEqual(self.said("scancel").splitlines(), ["--state=PENDING 77", "--batch --signal=USR1 77"])
        self.assertEqual(self.results(), {"4_1": "a\n"})

    def test_who_loses_ends_well_and_only_if_there_is_a_result(self):
        task = self.start("touch %s/begun; sleep 60" % self.path)
        self.wait_for("begun")
        task.send_signal(signal.SIGUSR1)
        time.sleep(0.3)
        self.assertIsNone(task.poll(), "there is no result: it goes on")
        with open(os.path.join(self.path, "results", "4_1"), "w") as file:
            file.write("b\n")
        task.send_signal(signal.SIGUSR1)
        self.assertEqual(task.wait(10), 0)
        self.assertEqual(self.results(), {"4_1": "b\n"})

    def test_a_copy_that_is_first_tells_the_original(self):
        copy = self.start("echo a >$STRAGGLE_OUTPUT", STRAGGLE_TASK="3_9", STRAGGLE_ORIGINAL="2")
        self.assertEqual(copy.wait(10), 0)
        self.assertEqual(self.results(), {"3_9": "a\n"})
        self.assertEqual(self.said("scancel").splitlines(), ["--batch --signal=USR1 2"])

    def wait_for(self, name):
        end = time.time() + 10
        while not os.path.exists(os.path.join(self.path, name)) and time.time() < end:
            time.sleep(0.02)


if __name__ == "__main__":
    unittest.main()
