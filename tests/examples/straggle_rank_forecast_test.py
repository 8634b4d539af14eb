#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""straggle-rank --learn and --forecast from end to end; environment as for straggle_rank_test.py."""

import csv
import io
import json
import pathlib
import random
import tempfile
import unittest

from straggle_rank_test import HOSTILE, run

DAY = 86_400_000
HOSTS = 40


def is_weak(host, month, day):
    """Slow from some day of a month on, and in all of the next month."""
    begins = host % 10
    return (month == begins and day >= 10 + host % 15) or month == begins + 1


def attempts(months, seed=1, first_day=20600):
    r = random.Random(seed)
    for month in months:
        for day in range(30):
            for job in range(4):
                begin = (first_day + month * 30 + day) * DAY + job * 3_600_000
                for task in range(HOSTS):
                    host = (task * 7 + job) % HOSTS
                    took = 900 + r.randrange(200) + (300 if is_weak(host, month, day) else 0)
                    yield f"j{month}-{day}-{job}", f"host-{host}", begin, begin + took


def table(rows, unit="ms", factor=1):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["job", "node", f"start_{unit}", f"end_{unit}"])
    writer.writerows((job, node, begin * factor, end * factor) for job, node, begin, end in rows)
    return out.getvalue().encode()


class Forecast(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        cls.past = list(attempts(range(8)))
        cls.last_month = table(row for row in cls.past if row[0].startswith("j7-"))
        cls.model = cls.path / "model"
        cls.learned = cls.learn(cls.model, table(cls.past))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def learn(cls, model, stdin, *arguments):
        done = run("--learn", str(model), "--format", "json", *arguments, "-", stdin=stdin)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def forecast(self, stdin, *arguments, model=None):
        done = run("--forecast", str(model or self.model), "--format", "json", *arguments, "-", stdin=stdin)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def refused(self, status, words, *arguments, stdin=b""):
        done = run(*arguments, stdin=stdin)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(words, done.stderr.decode())
        self.assertEqual(done.stderr.count(b"\n"), 1)
        self.assertEqual(done.stdout, b"")

    def test_learns_who_becomes_weak(self):
        self.assertEqual(self.learned["period"], 30)
        self.assertEqual(self.learned["days"], 240)
        self.assertEqual(self.learned["days_left_out"], 0)
        self.assertEqual([p["first_day"] for p in self.learned["periods"]][:2], ["2026-05-27", "2026-06-26"])
        # All hosts are there in all months; those of the first one are no examples: nobody looks back at them.
        self.assertEqual(self.learned["examples"], 7 * HOSTS)
        # Four hosts are weak all of a month; those that become weak in it are another group.
        self.assertEqual([p["weak"] for p in self.learned["periods"]][1:], [4] * 7)
        self.assertEqual(self.learned["weak_examples"], 28)
        self.assertEqual(self.learned["bytes"], self.model.stat().st_size)

    def test_is_better_than_no_forecast(self):
        tested = self.learned["tested"]
        self.assertEqual(tested["periods"], 6)  # by two months or more
        self.assertEqual(tested["as_most_were"]["accuracy"], 0.9)
        self.assertEqual(tested["as_before"]["weak_found"], 0)  # nobody is weak for two months
        self.assertGreater(tested["forecast"]["accuracy"], 0.9)
        for name in ("forecast", "as_most_were", "as_before"):
            counts = tested[name]
            self.assertEqual(counts["weak_found"] + counts["weak_missed"], 24)
            right = counts["weak_found"] + counts["good_left_out"]
            self.assertEqual(counts["accuracy"], right / (6 * HOSTS))

    def test_a_forecast_no_better_than_as_it_was_before_is_not_acted_on(self):
        self.assertTrue(self.learned["tested"]["better_than_before"])
        # Four hosts that are always weak: nothing beats saying that they will be again.
        r = random.Random(5)
        rows = []
        for job, node, begin, _ in self.past:
            weak = node in ("host-3", "host-9", "host-21", "host-33")
            rows.append((job, node, begin, begin + 900 + r.randrange(200) + (400 if weak else 0)))
        model = self.path / "always"
        told = self.learn(model, table(rows))
        self.assertEqual(told["tested"]["as_before"]["accuracy"], 1)
        self.assertFalse(told["tested"]["better_than_before"])
        last = table(row for row in rows if row[0].startswith("j7-"))
        quiet = self.forecast(last, "--max-fraction", "0.5", "--select", "mean_plus_sigmas:1000000", model=model)
        self.assertFalse(quiet["forecast"]["better_than_before"])
        self.assertEqual(quiet["decision"]["blacklisted"], [])
        done = run("--forecast", str(model), "-", stdin=last)
        self.assertIn(b"no better than", done.stdout)

    def test_selects_who_is_expected_to_be_weak(self):
        whole = self.forecast(self.last_month, "--max-fraction", "0.5")
        ahead = whole["forecast"]
        self.assertEqual(ahead["days_known"], 30)
        self.assertEqual(len(ahead["nodes"]), HOSTS)
        likely = {n["node"] for n in ahead["nodes"] if n["probability"] >= 0.5}
        # In month 8 the hosts 7, 17, 27 and 37 are weak, and no other.
        self.assertTrue(likely)
        self.assertLessEqual(likely, {f"host-{h}" for h in (7, 17, 27, 37)})
        probabilities = [n["probability"] for n in ahead["nodes"]]
        self.assertEqual(probabilities, sorted(probabilities, reverse=True))
        # They are avoided even where nothing was measured against anybody.
        none = self.forecast(self.last_month, "--max-fraction", "0.5", "--select", "mean_plus_sigmas:1000000")
        verdicts = none["decision"]["blacklisted"]
        self.assertEqual({v["node"] for v in verdicts}, likely)
        for v in verdicts:
            self.assertEqual(v["rule"], "forecast_weak")
            self.assertEqual(v["threshold"], 0.5)
            self.assertIn(v["value"], probabilities)
            self.assertIn("expected to be weak in the next period", v["why"])
        self.assertEqual(none["decision"]["rule"], "either(mean_plus_sigmas,forecast_weak)")
        # Under the same limits.
        one = self.forecast(self.last_month, "--max-nodes", "1", "--select", "mean_plus_sigmas:1000000")
        self.assertEqual(len(one["decision"]["blacklisted"]), 1)
        self.assertEqual({v["spared_by"] for v in one["decision"]["spared"]} - {"at_most"}, set())
        all_of_them = self.forecast(self.last_month, "--least", "0", "--max-fraction", "1")
        self.assertEqual(len(all_of_them["decision"]["blacklisted"]), HOSTS)

    def test_looks_at_the_last_period_only(self):
        self.assertEqual(self.forecast(table(self.past))["forecast"]["nodes"],
                         self.forecast(self.last_month)["forecast"]["nodes"])
        short = self.forecast(table(row for row in self.past if row[0].startswith(("j7-28-", "j7-29-"))))
        self.assertEqual(short["forecast"]["days_known"], 2)

    def test_order_of_rows_and_unit_make_no_difference(self):
        shuffled = self.past[:]
        random.Random(3).shuffle(shuffled)
        again = self.path / "again"
        told = self.learn(again, table(shuffled))
        self.assertEqual([p["weak"] for p in told["periods"]], [p["weak"] for p in self.learned["periods"]])
        microseconds = self.path / "us"
        self.learn(microseconds, table(self.past, "us", 1000), "--columns", "start=start_us,end=end_us")
        self.assertEqual(microseconds.read_bytes(), self.model.read_bytes())
        named = self.path / "named"
        self.learn(named, table(self.past, "x", 1).replace(b"start_x", b"a").replace(b"end_x", b"b"),
                   "--columns", "start=a,end=b", "--time-unit", "ms")
        self.assertEqual(named.read_bytes(), self.model.read_bytes())

    def test_other_forms_of_output(self):
        done = run("--forecast", str(self.model), "--format", "csv", "-", stdin=self.last_month)
        rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
        by_json = {n["node"]: n["probability"] for n in self.forecast(self.last_month)["forecast"]["nodes"]}
        self.assertEqual({row["node"]: float(row["weak_next"]) for row in rows}, by_json)
        done = run("--forecast", str(self.model), "-", stdin=self.last_month)
        self.assertIn(b"Forecast for the next 30 days: ", done.stdout)
        done = run("--learn", str(self.path / "t"), "-", stdin=table(self.past))
        self.assertIn(b"Tested on 6 periods", done.stdout)
        self.assertIn(b"each is as it was before", done.stdout)
        done = run("--learn", str(self.path / "c"), "--format", "csv", "-", stdin=table(self.past))
        self.assertEqual(len(list(csv.DictReader(io.StringIO(done.stdout.decode())))), 8)
        page = self.path / "page.html"
        done = run("--forecast", str(self.model), "--select", "mean_plus_sigmas:1000000", "--report", str(page),
                   "-", stdin=self.last_month)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(b"expected to be weak in the next period" in page.read_bytes())

    def test_days_that_make_no_period(self):
        ragged = [row for row in self.past if not row[0].startswith(tuple(f"j0-{d}-" for d in range(13)))]
        told = self.learn(self.path / "ragged", table(ragged))
        self.assertEqual(told["days"], 227)
        self.assertEqual(told["days_left_out"], 17)
        self.assertEqual(len(told["periods"]), 7)
        hours = self.learn(self.path / "hours", table(self.past), "--day", "12h", "--period", "60",
                           "--look-back", "6")
        # The last day of this history has ended by noon.
        self.assertEqual((hours["days"], hours["days_left_out"]), (479, 59))

    def test_refuses_what_is_no_model(self):
        good = self.model.read_bytes()
        broken = self.path / "broken"
        for bytes_, words in ((b"", "ends too early"), (good[:-1], "ends too early"),
                              (good[: len(good) // 2], "ends too early"),
                              (good[:40] + bytes([good[40] ^ 1]) + good[41:], "damaged"),
                              (b"job,node,start_ms,end_ms\n" * 9, "not a model"),
                              (bytes(range(256)) * 40, "not a model")):
            broken.write_bytes(bytes_)
            self.refused(2, words, "--forecast", str(broken), "-", stdin=self.last_month)
        self.refused(2, "No such file", "--forecast", str(self.path / "missing"), "-", stdin=self.last_month)
        self.refused(2, "directory", "--forecast", str(self.path), "-", stdin=self.last_month)

    def test_refuses_too_little_history(self):
        self.refused(2, "30 days of history", "--learn", str(self.path / "x"), "-", stdin=self.last_month)
        self.assertFalse((self.path / "x").exists())
        no_times = b"job,node,duration\n" + b"".join(b"j%d,n%d,%d\n" % (i // 10, i % 10, i % 7)
                                                    for i in range(200))
        self.refused(2, "does not say when attempts started or ended", "--learn", str(self.path / "x"), "-",
                     stdin=no_times)
        self.refused(2, "no attempt with a known start or end", "--learn", str(self.path / "x"), "-",
                     stdin=b"job,node,duration,end_s\n" + b"j,n,1,\n" * 20)
        no_unit = table(self.past, "x").replace(b"start_x", b"a").replace(b"end_x", b"b")
        self.refused(1, "--time-unit", "--learn", str(self.path / "x"), "--columns", "start=a,end=b", "-",
                     stdin=no_unit)
        alike = table((f"j{d}", f"n{n}", d * DAY, d * DAY + 100) for d in range(90) for n in range(10))
        self.refused(2, "nothing to learn", "--learn", str(self.path / "x"), "-", stdin=alike)

    def test_refuses_options_that_do_not_go_together(self):
        model, history = str(self.model), "-"
        for arguments, words in ((("--period", "7"), "needs --learn"),
                                 (("--forecast", model, "--day", "1h"), "it is in the model"),
                                 (("--least", "0.5"), "needs --forecast"),
                                 (("--learn", model, "--forecast", model), "not together"),
                                 (("--learn", model, "--window", "1h"), "not together"),
                                 (("--forecast", model, "--window", "1h"), "not together"),
                                 (("--learn", model, "--report", "x.html"), "not together"),
                                 (("--learn", ""), "name is empty"),
                                 (("--learn", model, "--period", "0"), "--period"),
                                 (("--learn", model, "--period", "99999999999"), "--period"),
                                 (("--learn", model, "--look-back", "-1"), "--look-back"),
                                 (("--learn", model, "--day", "0s"), "--day"),
                                 (("--forecast", model, "--least", "nan"), "--least"),
                                 (("--time-unit", "ms"), "needs --window")):
            self.refused(1, words, *arguments, history, stdin=self.last_month)

    def test_cannot_write(self):
        self.refused(3, "cannot be written", "--learn", str(self.path / "no" / "such"), "-",
                     stdin=table(self.past))

    def test_hostile_names_and_times(self):
        rows = [(job, HOSTILE[int(node[5:]) % len(HOSTILE)] + node, a, b) for job, node, a, b in self.past]
        told = self.learn(self.path / "hostile", table(rows))
        self.assertEqual(told["examples"], 7 * HOSTS)
        far = self.past + [("odd", f"host-{i}", -(10**17), -(10**17) + i) for i in range(5)]
        done = run("--learn", str(self.path / "far"), "-", stdin=table(far))
        self.assertIn(done.returncode, (0, 2), done.stderr)
        self.assertLessEqual(done.stderr.count(b"\n"), 1)


if __name__ == "__main__":
    unittest.main()
