#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""straggle-watch, the mitigator as a process, from end to end. STRAGGLE_WATCH_PROGRAM names the program. What it prints is
checked against docs/reference/protocol.schema.json where python3 has jsonschema (Debian: python3-jsonschema)."""

import contextlib
import json
import os
import pathlib
import random
import re
import resource
import select
import signal
import socket
import stat
import subprocess
import threading
import time
import unittest

from programs import ROOT, BadInput, Folder, program

try:
    import jsonschema
except ImportError:
    jsonschema = None

PROGRAM = os.environ.get("STRAGGLE_WATCH_PROGRAM", "straggle-watch")
run = program(PROGRAM)
SCHEMA = json.loads((ROOT / "docs/reference/protocol.schema.json").read_text())


def lines(events):
    return "".join(json.dumps(e) + "\n" for e in events).encode()


def messages(text):
    return [json.loads(line) for line in text.decode().splitlines()]


def of(kind, told):
    return [m for m in told if m["event"] == kind]


def cluster(jobs=30, nodes=8, slow="n2", factor=3.0, seed=1, every=5.0, begin=1000.0, tasks=24, finish=True):
    """A cluster of nodes with two slots, one of them slow: what it tells, in the order of time."""
    r, names = random.Random(seed), [f"n{i}" for i in range(nodes)]
    free, told = {n: [begin, begin] for n in names}, []
    for j in range(jobs):
        ended = begin
        for task in range(tasks):
            node = min(names, key=lambda n: min(free[n]))
            start = min(free[node])
            took = r.uniform(8, 12) * (factor if node == slow else 1)
            free[node][free[node].index(start)] = start + took
            ended = max(ended, start + took)
            one = {"job": f"j{j}", "task": task, "node": node, "start": start}
            told += [(start, 0, {"event": "start", **one}), (start + took, 1, {"event": "end", **one, "end": start + took})]
        if finish:
            told.append((ended, 2, {"event": "finish", "job": f"j{j}"}))
    last = max(t[0] for t in told)
    told += [(begin + k * every, 3, {"event": "decide", "now": begin + k * every, "waiting": 0})
             for k in range(int((last - begin) / every) + 1)]
    told.sort(key=lambda t: t[:2])
    return [{"event": "nodes", "nodes": [{"node": n, "slots": 2} for n in names]}] + [t[2] for t in told]


def gang(job="train", slow=5, steps=range(30), arrivals=False, **more):
    """Steps of eight ranks on four nodes that wait for each other: a short section that all do alike, and a long one."""
    draw, released, told = random.Random(5), 0, []
    for step in steps:
        own = [draw.gauss(1, 0.05) * (2 if rank == slow else 1) for rank in range(8)]
        for rank in range(8):
            one = {"event": "step", "job": job, "step": step, "rank": rank, "node": f"n{rank // 2}", **more}
            if arrivals:
                told.append({**one, "arrived": released + own[rank]})
            else:
                told.append({**one, "section": "data", "duration": 0.1})
                told.append({**one, "section": "forward", "duration": max(own), "waited": max(own) - own[rank]})
        released += max(own)
    return told


def skewed(skew, nodes, step, took, steps, begin):
    """What six nodes with three slots tell step by step, if the ends of some are off by `skew`: pairs of a time and events."""
    r, running, tasks, told = random.Random(3), [], 0, []
    for i in range(steps):
        now, events = begin + i * step, []
        for a in [a for a in running if a["end"] <= now]:
            running.remove(a)
            events.append(dict(a, event="end", end=a["end"] + (skew if a["node"] in nodes else 0)))
        for node in [f"n{n}" for n in range(6)]:
            while sum(a["node"] == node for a in running) < 3:
                tasks += 1
                a = {"job": f"j{i // 10}", "task": tasks, "node": node, "start": now}
                events.append(dict(a, event="start"))
                running.append(dict(a, end=now + took * r.uniform(0.7, 1.3)))
        told.append((now, events))
    return told


class Watch(Folder):
    def setUp(self):
        super().setUp()
        self.at = pathlib.Path(self.folder.name)

    def told(self, events, *arguments):
        done = run(*arguments, stdin=events if isinstance(events, bytes) else lines(events))
        self.assertEqual(done.returncode, 0, done.stderr)
        return messages(done.stdout)

    def start(self, *arguments, **more):
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, **more)

        def end():
            if process.poll() is None:
                process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                pipe.close()
        self.addCleanup(end)
        return process

    def read_line(self, process, seconds=20):
        """One line that the process prints."""
        line, until = b"", time.monotonic() + seconds
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([process.stdout], [], [], max(0, until - time.monotonic()))
            self.assertTrue(ready, "nothing was printed")
            byte = os.read(process.stdout.fileno(), 1)
            self.assertTrue(byte, "the process is gone")
            line += byte
        return json.loads(line)

    def wait_for(self, what, seconds=20):
        until = time.monotonic() + seconds
        while not what():
            self.assertLess(time.monotonic(), until, "it does not happen")
            time.sleep(0.02)


class Decisions(Watch):
    def test_a_slow_node_is_found_and_said_in_words(self):
        told = self.told(cluster(every=10))
        self.assertEqual(told[0]["event"], "hello")
        plans = of("plan", told)
        self.assertEqual([p["number"] for p in plans], list(range(1, len(plans) + 1)))
        slow = [n for p in plans for n in p["nodes"] if n["state"] != "healthy"]
        self.assertEqual({n["node"] for n in slow}, {"n2"})
        last = slow[-1]
        self.assertLess(last["slowdown"]["low"], 3)
        self.assertGreater(last["slowdown"]["high"], 2.5)
        self.assertRegex(last["reason"], r"^[a-z_]+: takes [23]\.\d\d times as long as elsewhere \(")
        counts = plans[-1]["counts"]
        self.assertEqual(counts["seen"], counts["used"])
        self.assertEqual(counts["bad_lines"], 0)
        self.assertEqual(sum(p["ended"]["count"] for p in plans), counts["used"])

    def test_the_same_events_give_the_same_plans(self):
        events = cluster(jobs=15)
        once = run(stdin=lines(events))
        again = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        data, out, r = lines(events), [], random.Random(3)
        while data:  # in pieces of any size
            n = r.randrange(1, 9000)
            again.stdin.write(data[:n])
            again.stdin.flush()
            data = data[n:]
        out, _ = again.communicate()
        self.assertEqual(once.stdout, out)

    def test_the_order_of_members_and_unknown_ones_do_not_matter(self):
        events = cluster(jobs=6)
        other = [{"later": {"x": [1, 2]}, **dict(reversed(list(e.items()))), "task2": None} for e in events]
        self.assertEqual(run(stdin=lines(events)).stdout, run(stdin=lines(other)).stdout)

    def test_members_that_nobody_knows_change_nothing(self):
        events = cluster(jobs=6)
        plain = run(stdin=lines(events)).stdout
        self.assertEqual(of("fault", messages(plain)), [])
        for extra in {"x": []}, {"x": {}}, {"x": "\u00e4"}, {"x": '"'}, {"x": 1e300}:
            self.assertEqual(run(stdin=lines([{**e, **extra} for e in events])).stdout, plain, extra)
            self.assertEqual(run(stdin=lines([{**extra, **e} for e in events])).stdout, plain, extra)
        known = {"event", *(m for d in SCHEMA["definitions"].values() for m in d.get("properties", {}))}
        near = {m[:i] + c + m[j:] for m in known for i in range(len(m)) for c, j in ((m[i].upper(), i + 1), ("", i + 1), ("e", i))}
        extra = {m: [] for m in near - known}
        self.assertGreater(len(extra), 500)
        self.assertEqual(run(stdin=lines([{**extra, **e} for e in events])).stdout, plain)

    def test_hello_is_answered(self):
        told = self.told([{"event": "hello", "protocol": 1, "name": "x"}])
        self.assertEqual([m["event"] for m in told], ["hello", "hello"])  # the first as it begins

    def test_forms_of_an_end(self):
        base = {"event": "end", "job": "a", "node": "n"}
        ends = [{"start": 5, "end": 9}, {"start": 5, "duration": 4}, {"end": 9, "duration": 4}, {"duration": 4}]
        for form in ends:
            told = self.told([{"event": "load", "waiting": 0, "now": 9}, {**base, **form}, {"event": "decide", "now": 10}])
            self.assertEqual(of("plan", told)[0]["ended"], {"count": 1, "mean": 4, "longest": 4}, form)
        told = self.told([{"event": "start", "job": "a", "task": 7, "node": "n", "start": 3},
                          {**base, "task": "7", "end": 5}, {"event": "decide", "now": 10}])
        self.assertEqual(of("plan", told)[0]["ended"], {"count": 1, "mean": 2, "longest": 2})
        self.assertEqual(of("plan", told)[0]["load"]["running"], 0)

    def test_lists_replace_and_parts_belong_together(self):
        start = [{"job": "a", "task": t, "node": "n1", "start": 1} for t in range(4)]
        told = self.told([
            {"event": "nodes", "nodes": [{"node": "n1", "slots": 4}], "more": True},
            {"event": "nodes", "nodes": [{"node": "n2", "slots": 2}]},
            {"event": "start", **start[0]}, {"event": "start", **start[3]},
            {"event": "decide", "now": 2},
            {"event": "running", "running": start[:1], "more": True}, {"event": "running", "running": start[1:3]},
            {"event": "decide", "now": 3},
            {"event": "nodes", "nodes": [{"node": "n2", "slots": 2}]},
            {"event": "decide", "now": 4}])
        plans = of("plan", told)
        self.assertEqual([p["load"]["running"] for p in plans], [2, 3, 0])
        self.assertEqual([(p["fleet"]["nodes"], p["fleet"]["slots"], p["fleet"]["busy"]) for p in plans],
                         [(2, 6, 2), (2, 6, 3), (1, 2, 0)])

    def test_conditions(self):
        told = self.told([{"event": "node", "node": "a", "condition": "denied"}, {"event": "node", "node": "b", "condition": "away"},
                          {"event": "node", "node": "c"}, {"event": "decide", "now": 1, "all": True}])
        self.assertEqual({n["node"]: n["state"] for n in of("plan", told)[0]["nodes"]},
                         {"a": "excluded", "b": "away", "c": "healthy"})

    def test_places(self):
        events = [{"event": "nodes", "nodes": [{"node": f"n{i}", "slots": 2} for i in range(4)]},
                  {"event": "start", "job": "x", "task": 1, "node": "n0", "start": 1},
                  {"event": "start", "job": "x", "task": 2, "node": "n0", "start": 1}, {"event": "decide", "now": 2},
                  {"event": "rank_places", "job": "j", "request": 5}, {"event": "rank_places", "job": "j", "nodes": ["n0", "n3"]},
                  {"event": "rank_places", "job": "j", "most": 1}, {"event": "rank_places", "job": "j", "nodes": ["n9"]}]
        told = self.told(events)
        places = of("places", told)
        self.assertEqual(places[0]["request"], 5)
        self.assertEqual(sorted(p["node"] for p in places[0]["places"]), ["n1", "n2", "n3"])
        self.assertEqual([p["node"] for p in places[1]["places"]], ["n3"])
        self.assertEqual(len(places[2]["places"]), 1)
        self.assertEqual([(f["line"], f["fault"]) for f in of("fault", told)], [(8, "unknown_node")])

    def test_shadow_mode_says_and_does_nothing(self):
        events = cluster(jobs=20) + [{"event": "rank_places", "job": "z"}]
        real, shadow = self.told(events), self.told(events, "--shadow")
        self.assertTrue(all(p["shadow"] and not p["nodes"] and not p["copies"] and not p["kills"] for p in of("plan", shadow)))
        self.assertEqual([p["would"]["nodes"] for p in of("plan", shadow)], [p["nodes"] for p in of("plan", real)])
        self.assertTrue(any(p["would"]["nodes"] for p in of("plan", shadow)))
        self.assertTrue(of("places", shadow)[0]["left_alone"])
        self.assertEqual(len(of("places", shadow)[0]["places"]), 8)

    def test_the_kill_switch(self):
        events = cluster(jobs=20)
        told = self.told([{"event": "switch", "on": False}] + events)
        for p in of("plan", told):
            self.assertFalse(p["on"])
            self.assertEqual([n["note"] for n in p["notes"]], ["switched_off"])
            self.assertFalse([n for n in p["nodes"] if n["state"] == "excluded"] or p["copies"])

    def test_copies_and_what_they_won(self):
        """A task that hangs on a good node gets a copy, which is launched and wins."""
        log = self.at / "plan.log"
        events = cluster(jobs=20, slow=None, every=5)
        now = max(e.get("end", 0) for e in events) + 1
        process = self.start("--log", log, "--left-alone", 0)
        process.stdin.write(lines(events))
        process.stdin.flush()
        for _ in range(1 + len([e for e in events if e["event"] == "decide"])):
            self.read_line(process)

        def tell(*more):
            process.stdin.write(lines(more))
            process.stdin.flush()
        tell(*({"event": "start", "job": "late", "task": t, "node": f"n{t % 8}", "start": now} for t in range(8)))
        copy = None
        for k in range(40):
            if k == 5:
                tell(*({"event": "end", "job": "late", "task": t, "node": f"n{t % 8}", "start": now, "end": now + 10}
                       for t in range(7)))
            tell({"event": "decide", "now": now + 2 * k})
            plan = self.read_line(process)
            if plan["copies"]:
                copy = plan["copies"][0]
                break
        self.assertIsNotNone(copy, "no copy was planned")
        self.assertEqual((copy["job"], copy["task"], copy["node"]), ("late", 7, "n7"))
        at = plan["now"]
        tell({"event": "start", "job": "late", "task": 7, "node": copy["to"], "start": at, "copy": True},
             {"event": "end", "job": "late", "task": 7, "node": copy["to"], "start": at, "end": at + 1},
             {"event": "end", "job": "late", "task": 7, "node": "n7", "start": now, "end": at + 1, "status": "killed", "outrun": True},
             {"event": "finish", "job": "late"})
        process.stdin.close()
        self.assertEqual(process.wait(20), 0)
        logged = messages(log.read_bytes())
        won = of("copy", logged)
        self.assertEqual([(c["job"], c["task"], c["to"], c["winner"]) for c in won], [("late", 7, copy["to"], "copy")])
        end, expected = at + 1, won[0]["expected"]
        self.assertGreaterEqual(won[0]["won"], max(0, expected["middle"] - end))
        self.assertLessEqual(won[0]["won"], expected["high"] - end)
        self.assertIs(won[0]["probe"], copy["probe"])
        if jsonschema:
            for message in logged:
                schema = {"$ref": f"#/definitions/answer_{message['event']}", "definitions": SCHEMA["definitions"]}
                self.assertIsNone(next(jsonschema.Draft7Validator(schema).iter_errors(message), None))
        late = [j for j in of("job", logged) if j["job"] == "late"]
        self.assertEqual([(j["start"], j["end"], j["attempts"]) for j in late], [(now, at + 1, 9)])
        self.assertEqual(len(of("job", logged)), 21)


@unittest.skipUnless(jsonschema, "python3 has no jsonschema (Debian: python3-jsonschema)")
class Schema(Watch):
    def check(self, kind, message):
        name = f"{kind}_{message['event']}"
        self.assertIn(name, SCHEMA["definitions"])
        schema = {"$ref": f"#/definitions/{name}", "definitions": SCHEMA["definitions"]}
        fault = next(jsonschema.Draft7Validator(schema).iter_errors(message), None)
        self.assertIsNone(fault, f"{fault and fault.message} in {message}")

    def test_all_that_is_printed(self):
        jsonschema.Draft7Validator.check_schema(SCHEMA)
        events = cluster(jobs=8) + gang(restart_cost=9, steps_left=99) + gang(job="even", slow=None, stage=1) + [
            {"event": "rank_places", "job": "j"}, {"event": "x"}, {"event": "decide", "now": 9e5, "all": True}]
        for arguments in ((), ("--shadow",)):
            log = self.at / f"log{len(arguments)}"
            for message in self.told(events, "--log", log, *arguments) + messages(log.read_bytes()):
                self.check("answer", message)

    def test_what_the_schema_allows_is_read_and_what_it_refuses_is_a_fault(self):
        good = [e for e in cluster(jobs=1)[:60]] + [
            {"event": "hello", "protocol": 1, "name": "x", "plans": True}, {"event": "load", "waiting": 3, "slots": 8, "busy": 2},
            {"event": "node", "node": 7, "class": 1, "domain": "r", "condition": "pinned", "busy": 0},
            {"event": "start", "job": 1, "node": 7, "start": 1000, "attempt": "a", "kind": "k", "input": 5.5, "waited": 0.5, "may_copy": False, "deadline": 2000, "weight": 2},
            {"event": "progress", "job": 1, "attempt": "a", "progress": 0.5}, {"event": "progress", "job": 1, "attempt": "a", "waited": 2},
            {"event": "switch", "on": True},
            {"event": "resume", "action": "copy"}, {"event": "node_gone", "node": 7}, {"event": "running", "running": []},
            {"event": "step", "job": "g", "step": 0, "rank": 0, "node": 7, "duration": 1.5, "waited": None, "arrived": None},
            {"event": "step", "job": "g", "step": 1, "rank": "a", "node": 7, "duration": 2, "waited": 1, "section": "s", "stage": 1,
             "restarts": 1, "restart_cost": 1, "since_checkpoint": 2.5, "steps_left": 3, "now": 1000},
            {"event": "step", "job": "h", "step": 0, "rank": 0, "node": 7, "arrived": -5},
            {"event": "finish", "job": None, "job": "j"}]
        told = self.told(good)
        self.assertEqual(of("fault", told), [])
        for e in good:
            self.check("event", e)
        bad = [{"event": "start", "job": "j", "node": "n"}, {"event": "start", "job": "", "node": "n", "start": 1},
               {"event": "node", "node": [1]}, {"event": "node", "node": "n", "slots": -1}, {"event": "node", "node": "n", "slots": 1.5},
               {"event": "end", "job": "j", "node": "n", "start": 1}, {"event": "end", "job": "j", "node": "n", "duration": -1},
               {"event": "end", "job": "j", "node": "n", "duration": 1, "waited": -1},
               {"event": "end", "job": "j", "node": "n", "start": 1, "end": 2, "status": "SUCCESS"}, {"event": "switch"},
               {"event": "start", "job": "j", "node": "n", "start": 1, "weight": -1},
               {"event": "resume", "action": "all"}, {"event": "load"}, {"event": "hello", "protocol": 2}, {"event": "nodes", "nodes": 3},
               {"event": "node", "node": "x" * 1025}, {"event": "node", "node": True}, {"event": "rank_places"}]
        step = {"event": "step", "job": "g", "step": 1, "rank": 0, "node": "n", "duration": 1}
        bad_steps = [{k: v for k, v in step.items() if k != without} for without in step if without != "event"]
        bad_steps += [{**step, **wrong} for wrong in ({"step": 1.5}, {"step": -1}, {"duration": -1}, {"waited": -1}, {"arrived": 1},
                                                {"restart_cost": -1}, {"rank": ""}, {"section": []}, {"restarts": 0.5})]
        for e in bad + bad_steps:
            schema = {"$ref": f"#/definitions/event_{e['event']}", "definitions": SCHEMA["definitions"]}
            self.assertFalse(jsonschema.Draft7Validator(schema).is_valid(e), e)
        for events in bad, bad_steps:
            self.assertEqual([f["line"] for f in of("fault", self.told(events))], list(range(1, len(events) + 1)))


class Late(Watch):
    def test_causes_and_deadlines(self):
        events = cluster(jobs=20)
        first = {e["job"]: e["start"] for e in reversed(of("start", events))}
        for e in of("start", events):
            e.update(deadline=first[e["job"]] + 25, weight=2)
        plans = of("plan", self.told(events))
        there = [t["cause"]["likeliest"] for p in plans for t in p["late"] if t["node"] == "n2"]
        elsewhere = [t for p in plans for t in p["late"] if t["node"] != "n2"]
        self.assertGreater(len(there), 20 * len(elsewhere))
        self.assertGreater(there.count("node"), 0.8 * len(there))
        jobs = [j for p in plans for j in p["jobs"]]
        self.assertEqual({j["job"] for j in jobs}, set(first))
        for j in jobs:
            self.assertEqual((j["deadline"], j["weight"]), (first[j["job"]] + 25, 2))
            self.assertLessEqual(j["least_probability"], j["miss_probability"])
        # A job that still runs at its deadline has missed it.
        missed = [j for p in plans for j in p["jobs"] if j["deadline"] <= p["now"]]
        self.assertTrue(missed)
        self.assertTrue(all(j["miss_probability"] == 1 and j["lost"] for j in missed))

    def test_without_deadlines_no_job_is_listed(self):
        self.assertEqual([p["jobs"] for p in of("plan", self.told(cluster(jobs=4))) if p["jobs"]], [])


class Gangs(Watch):
    def steps(self, **of_end):
        """Steps of 8 ranks that all wait for n3; `of_end` says of an end's members what they are, from its own work."""
        draw, events = random.Random(3), [{"event": "node", "node": f"n{i}"} for i in range(8)]
        for step in range(30):
            work = [draw.gauss(1, 0.05) * (2 if i == 3 else 1) for i in range(8)]
            for i, own in enumerate(work):
                more = {name: find(own, max(work)) for name, find in of_end.items()}
                events.append({"event": "end", "job": step, "task": i, "node": f"n{i}", "start": 3 * step,
                               "end": 3 * step + max(work) + 0.001 * draw.random(), **more})
            events.append({"event": "decide", "now": 3 * step + 2.9})
        return of("plan", self.told(events))

    def test_waits_name_the_node_and_durations_get_a_note(self):
        plans = self.steps(waited=lambda own, longest: longest - own)
        self.assertEqual({n["node"] for p in plans for n in p["nodes"] if n["state"] != "healthy"}, {"n3"})
        self.assertFalse(any(note["note"] == "ends_coincide" for p in plans for note in p["notes"]))
        plans = self.steps()
        self.assertEqual({n["node"] for p in plans for n in p["nodes"] if n["state"] != "healthy"}, set())
        self.assertIn("ends_coincide", [note["note"] for note in plans[-1]["notes"]])

    def gangs(self, events, *arguments, **decide):
        """What a plan has of gangs, after some events."""
        return of("plan", self.told(events + [{"event": "decide", "now": 9e5, **decide}], *arguments))[-1]["gangs"]

    def test_the_rank_that_waits_least_is_named(self):
        told = self.told(gang() + [{"event": "decide", "now": 1}])
        self.assertEqual(of("fault", told), [])
        plan = of("plan", told)[0]
        self.assertEqual((plan["counts"]["steps"], plan["counts"]["bad_lines"]), (480, 0))
        [found] = plan["gangs"]
        self.assertEqual((found["job"], found["steps"], found["ranks"], found["named"]), ("train", 26, 8, 1))
        [slow] = found["stragglers"]
        self.assertEqual((slow["rank"], slow["node"], slow["section"], slow["since"]), (5, "n2", "forward", 0))
        self.assertEqual((slow["at_fault"], slow["replace"]), ("rank", None))
        self.assertAlmostEqual(slow["slowdown"]["value"], 2.1 / 1.1, delta=0.1)
        self.assertLess(slow["slowdown"]["low"], slow["slowdown"]["value"])
        self.assertAlmostEqual(found["step"]["time"], 2.1, delta=0.1)
        self.assertAlmostEqual(found["step"]["without_stragglers"], 1.1, delta=0.1)
        self.assertAlmostEqual(slow["loss_per_step"], 1, delta=0.1)
        self.assertGreater({s["name"]: s["share"] for s in found["sections"]}["forward"], 0.9)
        self.assertRegex(slow["reason"], r"^takes 1\.9\d times as long as the others \(1\.\d\d to 2\.\d\d\) since step 0, most of it in "
                                         r"forward\. The others wait [01]\.\d* for it in each step, \d+ % of the loss\. At fault: rank\.$")

    def test_arrivals_at_a_barrier(self):
        [found] = self.gangs(gang(arrivals=True))
        self.assertEqual([s["rank"] for s in found["stragglers"]], [5])

    def test_gangs_without_a_slow_rank_are_listed_on_request(self):
        events = gang(slow=None, stage="only") + gang(job="other")
        self.assertEqual([g["job"] for g in self.gangs(events)], ["other"])
        even = self.gangs(events, all=True)[1]
        self.assertEqual((even["job"], even["stragglers"], even["stages"][0]["name"]), ("train", [], "only"))
        self.assertEqual(self.gangs(events + [{"event": "finish", "job": j} for j in ("train", "other")], all=True), [])

    def test_whether_to_replace_a_node(self):
        def advice(*events, **more):
            return self.gangs(gang(**more) + list(events))[0]["stragglers"][0]["replace"]
        cost = {"restart_cost": 8, "since_checkpoint": 2}
        yes = advice(**cost, steps_left=1000)
        self.assertTrue(yes["is_worth"])
        self.assertAlmostEqual(yes["gain"], 1000 * yes["gain_per_step"] - 10)
        self.assertAlmostEqual(yes["pays_after"], 10 / yes["gain_per_step"])
        self.assertTrue(0 < yes["low"] < yes["gain"] < yes["high"])
        self.assertEqual(yes["nodes_waiting"], 3)
        self.assertFalse(advice(**cost, steps_left=5)["is_worth"])
        self.assertIsNone(advice(**cost))
        self.assertIsNone(advice({"event": "switch", "on": False}, **cost, steps_left=1000))

    def test_shadow_mode_lists_gangs_as_they_would_be(self):
        events = gang(restart_cost=8, steps_left=1000) + [{"event": "decide", "now": 1}]
        shadow = of("plan", self.told(events, "--shadow"))[0]
        self.assertEqual((shadow["gangs"], shadow["would"]["gangs"]), ([], self.gangs(events)))

    def test_a_return_to_a_checkpoint(self):
        again = gang(steps=range(20, 25))
        told = self.told(gang() + again + [{"event": "decide", "now": 1}])
        self.assertEqual({(f["fault"], f["detail"]) for f in of("fault", told)}, {("closed_step", "step")})
        told = self.told(gang() + gang(steps=range(20, 26), restarts=1) + gang(steps=[27], restarts=0) + [{"event": "decide", "now": 1}])
        self.assertEqual({(f["fault"], f["detail"]) for f in of("fault", told)}, {("closed_step", "step")})
        [found] = of("plan", told)[0]["gangs"]
        self.assertEqual((found["steps"], [s["rank"] for s in found["stragglers"]]), (32, [5]))
        self.assertLess(found["stragglers"][0]["since"], 30)

    def test_a_wrong_number_silences_no_gang(self):
        """One rank reports steps or restarts far ahead, again and again: the others are not late because of it."""
        for wrong in {"step": 2**48 - 1}, {"step": 1000}, {"restarts": 1}, {"restarts": 2**15 - 1, "step": 2**48 - 1}:
            for first in 0, 100:
                events = gang()
                for at in range(first, len(events), 50):
                    events.insert(at, {**events[-1], "rank": 0, "node": "n0", **wrong})
                told = self.told(events + [{"event": "decide", "now": 1}])
                self.assertEqual(of("fault", told), [])
                [found] = of("plan", told)[0]["gangs"]
                self.assertEqual((found["steps"], [s["rank"] for s in found["stragglers"]]), (26, [5]))

    def test_bad_reports_are_faults(self):
        good = {"event": "step", "job": "g", "step": 9, "rank": 1, "node": "n", "duration": 2}
        bad = [({"rank": None}, "missing_member", "rank"), ({"node": None}, "missing_member", "node"),
               ({"step": None}, "missing_member", "step"), ({"duration": None}, "missing_member", "duration"),
               ({"waited": 3}, "bad_value", "waited"), ({"arrived": 3}, "bad_value", "arrived"),
               ({"duration": None, "arrived": 3}, "bad_value", "arrived"), ({"duration": 1e19}, "bad_value", "duration"),
               ({"duration": None, "arrived": 3, "waited": 1}, "bad_value", "waited"), ({"steps_left": -1}, "bad_value", "steps_left"),
               ({"step": 2**48}, "bad_value", "step"), ({"restarts": 2**15}, "bad_value", "restarts")]
        told = self.told([good] + [{**good, **wrong} for wrong, _, _ in bad] + [{"event": "decide", "now": 1}])
        self.assertEqual([(f["line"], f["fault"], f["detail"]) for f in of("fault", told)],
                         [(i + 2, fault, detail) for i, (_, fault, detail) in enumerate(bad)])
        self.assertEqual(of("plan", told)[0]["counts"]["steps"], 1)

    def test_bounds_of_gangs(self):
        many = [g[0] for g in (gang(job=j, steps=[0]) for j in range(66))]
        told = self.told(many[:64] + many[:1] + many[64:] + [{"event": "decide", "now": 1, "all": True}])
        plan = of("plan", told)[0]
        self.assertEqual((len(plan["gangs"]), plan["counts"]["gangs_dropped"]), (64, 2))
        self.assertNotIn(1, [g["job"] for g in plan["gangs"]])  # the idlest then
        self.assertIn(0, [g["job"] for g in plan["gangs"]])
        told = self.told(gang(steps=[0]) + [{"event": "finish", "job": "train"}] + gang(steps=[1]) + [{"event": "decide", "now": 1}],
                         "--most-running", 10)
        self.assertEqual({(f["fault"], f["detail"]) for f in of("fault", told)}, {("no_room", "rank"), ("no_room", "node")})
        plan = of("plan", told)[0]
        self.assertEqual(plan["counts"]["steps"] + plan["counts"]["bad_lines"], 32)
        sections = [{**many[0], "section": f"s{i}"} for i in range(9)] + [{"event": "decide", "now": 1}]
        self.assertEqual([(f["line"], f["detail"]) for f in of("fault", self.told(sections))], [(9, "section")])

    def test_names_are_those_of_other_events(self):
        [found] = self.gangs([{**e, "rank": str(e["rank"]) if e["step"] else e["rank"], "job": 7 if e["step"] else "7"} for e in gang()])
        self.assertEqual((found["job"], found["ranks"], found["stragglers"][0]["rank"]), ("7", 8, 5))

    def test_a_restart_keeps_the_counts(self):
        state = self.at / "state"
        self.told(gang() + [{"event": "decide", "now": 1}], "--state", state)
        again = of("plan", self.told([{"event": "decide", "now": 2, "all": True}] + gang(steps=range(30, 60)) +
                                     [{"event": "decide", "now": 3}], "--state", state))
        self.assertEqual([(len(p["gangs"]), p["counts"]["steps"]) for p in again], [(0, 480), (1, 960)])


class Damage(Watch):
    def test_bad_lines_are_named_and_change_nothing(self):
        events = cluster(jobs=6)
        good = run(stdin=lines(events)).stdout
        faults = [(b"{", "not_json"), (b"[1]", "not_an_object"), (b"{}", "no_event"), (b'{"event": "dance"}', "unknown_event"),
                  (b'{"event": "end", "job": "j"}', "missing_member"), (b'{"event": "decide"}', "no_clock"),
                  (b'{"event": "node", "node": "\xff"}', "not_json"), (b'{"event": "start"} {"event": "start"}', "not_json"),
                  (b'{"event": "progress", "job": "q", "task": 1, "node": "n1", "progress": 0.5}', "unknown_attempt"),
                  (b"\0\0\0", "not_json"), (b'{"event": 5}', "no_event"), (b"x" * 300, "too_long"), (b"[" * 200, "not_json"),
                  (b'{"event": "end", "job": "j", "node": "n", "start": 1e999, "end": 2}', "bad_value"),
                  (b'{"event": "end", "job": "j", "node": "n", "start": 1, "end": 123456789012345678901}', "bad_value")]
        data = lines(events).replace(b"\n", b"\r\n")  # another end of lines, too
        at = data.index(b"\n") + 1
        data = data[:at] + b"\n".join(f[0] for f in faults) + b"\n\n" + data[at:]
        done = run("--longest-line", 1 << 14, stdin=data)
        told = [m for m in messages(done.stdout)]
        self.assertEqual([(f["line"], f["fault"]) for f in of("fault", told)],
                         [(i + 2, f[1] if f[1] != "too_long" else "not_json") for i, f in enumerate(faults)])

        def without_counts(text):
            return [{**m, "counts": None} for m in messages(text) if m["event"] == "plan"]
        self.assertEqual(without_counts(done.stdout), without_counts(good))
        self.assertEqual(of("plan", told)[-1]["counts"]["bad_lines"], len(faults))

    def test_only_twenty_faults_are_told_between_two_plans(self):
        told = self.told(b"{\n" * 1000 + b'{"event": "decide", "now": 1}\n' + b"{\n")
        self.assertEqual([f["line"] for f in of("fault", told)], list(range(1, 21)) + [1002])
        self.assertEqual(of("plan", told)[0]["counts"]["bad_lines"], 1000)

    def test_long_lines_take_no_memory(self):
        limit = 1 << 16
        data = b'{"event": "node", "node": "' + b"x" * (40 << 20) + b'"}\n{"event": "decide", "now": 1}\n' + b"y" * (limit + 1) + b"\n"
        process = self.start("--longest-line", limit)
        out, _ = process.communicate(data, timeout=60)
        told = messages(out)
        self.assertEqual([(f["line"], f["fault"]) for f in of("fault", told)], [(1, "too_long"), (3, "too_long")])
        self.assertEqual(len(of("plan", told)), 1)

    def test_numbers_without_measure(self):
        most = 1 << 32
        told = self.told([{"event": "node", "node": f"n{i}", "slots": most, "busy": most} for i in range(3000)] +
                         [{"event": "node", "node": "x", "slots": 2 * most}, {"event": "decide", "now": 1, "waiting": 2**53}])
        self.assertEqual([(f["fault"], f["detail"]) for f in of("fault", told)], [("bad_value", "slots")])
        plan = of("plan", told)[0]
        self.assertEqual((plan["fleet"]["slots"], plan["fleet"]["busy"], plan["load"]["waiting"]), (3000 * most, 3000 * most, 2**53))

    def test_times_of_many_digits(self):
        """What a double keeps of them counts; 2^63 and more is refused, and named."""
        def moved(origin):
            return [dict(e, **{k: origin + int(1000 * e[k]) * 4096 for k in ("now", "start", "end") if k in e})
                    for e in cluster(jobs=6)]
        told = self.told(moved(1234567890123456789))
        counts = of("plan", told)[-1]["counts"]
        self.assertEqual((of("fault", told), counts["used"]), ([], counts["seen"]))
        told = self.told(moved(12345678901234567890))
        self.assertEqual(({f["fault"] for f in of("fault", told)}, {f["detail"] for f in of("fault", told)}),
                         ({"bad_value"}, {"now", "start"}))

    def test_clocks_of_nodes(self):
        """Slightly off, nothing is lost; far off, at most what these nodes report, and the others count as before."""
        names = [f"n{n}" for n in range(6)]
        for skew in (1e-6, 1e-3, 0.3, 1.0, -1e-3, -1.0, 20.0, -20.0):
            for nodes in (names[:1], names):
                events = [e for now, some in skewed(skew, nodes, step=2.0, took=10.0, steps=120, begin=1000.0)
                          for e in some + [{"event": "decide", "now": now}]]
                counts = of("plan", self.told(events))[-1]["counts"]
                ends = [e["node"] in nodes for e in events if e["event"] == "end"]
                with self.subTest(skew=skew, nodes=len(nodes)):
                    self.assertEqual(counts["seen"], len(ends))
                    self.assertLessEqual(counts["seen"] - counts["used"], 0 if abs(skew) <= 1 else sum(ends))

    def test_clocks_of_nodes_with_a_timer(self):
        """The same where this machine's clock says when."""
        for skew, most_lost in ((1e-6, 0), (2e-3, 0), (-2e-3, 0), (100.0, 1)):
            process, told, ends = self.start("--timer", "50ms"), [], []
            reader = threading.Thread(target=lambda: told.append(process.stdout.read()))
            reader.start()
            for now, events in skewed(skew, ["n1"], step=0.05, took=0.4, steps=50, begin=time.time()):
                time.sleep(max(0.0, now - time.time()))
                process.stdin.write(lines(events))
                process.stdin.flush()
                ends += [e["node"] == "n1" for e in events if e["event"] == "end"]
            time.sleep(0.3)
            process.stdin.close()
            reader.join()
            counts = of("plan", messages(told[0]))[-1]["counts"]
            with self.subTest(skew=skew):
                self.assertEqual(counts["seen"], len(ends))
                self.assertLessEqual(counts["seen"] - counts["used"], most_lost * sum(ends))
                self.assertGreater(counts["used"], 50)

    def test_a_clock_that_jumps(self):
        """One decision at a time far ahead, far back or next to nothing: what follows is decided as before."""
        events = cluster(jobs=20)
        cut, whole = len(events) // 2, of("plan", self.told(events))[-1]
        for now in (9e18, -9e18, 5e-324, 1000.0):
            last = of("plan", self.told(events[:cut] + [{"event": "decide", "now": now}] + events[cut:]))[-1]
            self.assertEqual(last["counts"]["seen"], whole["counts"]["seen"])
            self.assertGreater(last["counts"]["used"], 0.95 * whole["counts"]["used"])
            self.assertEqual([n["node"] for n in last["nodes"]], [n["node"] for n in whole["nodes"]], now)

    def test_bounds_of_memory(self):
        events = [{"event": "start", "job": "j", "task": t, "node": f"n{t}", "start": 1} for t in range(50)] + \
                 [{"event": "node", "node": f"n{i}"} for i in range(50)] + [{"event": "decide", "now": 2}]
        told = self.told(events, "--most-running", 10, "--most-nodes", 20)
        plan = of("plan", told)[0]
        self.assertEqual((plan["load"]["running"], plan["fleet"]["nodes"]), (10, 20))
        self.assertEqual(plan["counts"]["bad_lines"], 70)

    def test_any_bytes(self):
        r, good = random.Random(5), lines(cluster(jobs=2)[:80])
        for _ in range(60):
            data = bytearray(good)
            for _ in range(r.randrange(1, 40)):
                i = r.randrange(len(data))
                data[i:i + r.randrange(0, 5)] = bytes(r.randrange(256) for _ in range(r.randrange(0, 5)))
            done = run(stdin=bytes(data))
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            messages(done.stdout)


class State(Watch):
    def test_what_was_learned_survives(self):
        events, state = cluster(jobs=20), self.at / "deep" / "state"
        whole = of("plan", self.told(events))
        cut = len(events) // 2
        first = self.told(events[:cut], "--state", state)
        second = self.told(events[cut:], "--state", state)
        self.assertEqual((first[0]["restored"], second[0]["restored"]), (False, True))
        self.assertEqual(second[0]["plans"], len(of("plan", first)))
        last, same = of("plan", second)[-1], whole[-1]
        for key in ("number", "fleet", "load", "counts"):
            self.assertEqual(last[key], same[key], key)
        self.assertEqual([(n["node"], n["state"]) for n in last["nodes"]], [(n["node"], n["state"]) for n in same["nodes"]])
        self.assertEqual(stat.S_IMODE(state.stat().st_mode), 0o700)
        self.assertTrue(all(stat.S_IMODE(f.stat().st_mode) == 0o600 for f in state.iterdir()))

    def test_kill_at_any_point(self):
        """What was answered is never lost, and the plans go on as if nothing had happened."""
        events, r = cluster(jobs=12), random.Random(11)
        whole = of("plan", self.told(events))
        for turn in range(6):
            state = self.at / f"state{turn}"
            plans, left, kills = [], events, 0
            while left:
                process = self.start("--state", state)
                hello = self.read_line(process)
                self.assertEqual(hello["plans"], len(plans))
                part = left[:r.randrange(1, len(left) + 1)] if kills < 3 else left
                expected = len([e for e in part if e["event"] == "decide"])
                process.stdin.write(lines(part))
                process.stdin.flush()
                if kills < 3:
                    # Wait for the answers, so that all of the part is known to have arrived; a last line that is asked for.
                    process.stdin.write(lines([{"event": "rank_places", "job": "j0", "most": 0}]))
                    process.stdin.flush()
                    seen = []
                    while not seen or seen[-1]["event"] != "places":
                        seen.append(self.read_line(process))
                    process.send_signal(signal.SIGKILL)
                    process.wait()
                    kills += 1
                    got = of("plan", seen)
                else:
                    out, _ = process.communicate(timeout=60)
                    got = of("plan", messages(out))
                self.assertEqual(len(got), expected)
                plans += got
                left = left[len(part):]
            self.assertEqual(len(plans), len(whole))
            for a, b in zip(plans, whole):
                self.assertEqual({k: a[k] for k in ("number", "now", "fleet", "load", "ended")},
                                 {k: b[k] for k in ("number", "now", "fleet", "load", "ended")})
                self.assertEqual({k: a["counts"][k] for k in ("seen", "used", "failed", "bad_lines", "decisions")},
                                 {k: b["counts"][k] for k in ("seen", "used", "failed", "bad_lines", "decisions")})

    def test_kill_in_the_middle_of_a_stream(self):
        """At no moment is more lost than what was not read yet: the number of lines grows from kill to kill."""
        state, r, seen = self.at / "state", random.Random(2), 0
        data = lines(cluster(jobs=40, finish=False))
        for turn in range(8):
            process = self.start("--state", state, "--snapshot-every", "20ms")
            process.stdin.write(data[:60_000])
            process.stdin.flush()
            time.sleep(r.random() * 0.15)
            process.kill()
            process.wait()
            done = run("--state", state, stdin=b'{"event": "decide", "now": 1}\n')
            self.assertEqual(done.returncode, 0, done.stderr)
            counts = of("plan", messages(done.stdout))[0]["counts"]
            self.assertGreaterEqual(counts["lines"], seen + 1)
            self.assertEqual(counts["bad_lines"] > 40, False)
            seen = counts["lines"]

    def test_a_torn_journal_and_a_spoilt_snapshot(self):
        state = self.at / "state"
        events = cluster(jobs=10)
        process = self.start("--state", state)
        self.read_line(process)
        for part in (events[:300], events[300:]):
            process.stdin.write(lines(part))
            process.stdin.flush()
            for _ in range(len([e for e in part if e["event"] == "decide"])):
                self.read_line(process)
        process.kill()
        process.wait()
        journal = max(state.glob("journal-*"), key=lambda f: f.stat().st_size)
        whole = journal.read_bytes()
        journal.write_bytes(whole[:-5])
        done = run("--state", state, stdin=b'{"event": "decide", "now": 9999}\n')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"no whole entry", done.stderr)
        snapshot = max(state.glob("snapshot-*"), key=lambda f: int(f.name.split("-")[1]))
        content = bytearray(snapshot.read_bytes())
        content[len(content) // 2] ^= 1
        snapshot.write_bytes(content)
        done = run("--state", state, stdin=b'{"event": "decide", "now": 10000}\n')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"set aside", done.stderr)
        self.assertTrue(snapshot.with_name(snapshot.name + ".damaged").exists())
        after = of("plan", messages(done.stdout))[0]
        self.assertGreater(after["counts"]["seen"], 0)  # the way back is the snapshot before, and its journal

    def test_bounds_that_are_smaller_than_the_state(self):
        state, events = self.at / "state", cluster(jobs=6)
        self.told(events[:len(events) // 2], "--state", state)
        before = {f.name: f.read_bytes() for f in state.iterdir()}
        for option in ("--most-nodes", "--most-running"):
            done = run("--state", state, option, 3, stdin=lines(events))
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(option.encode(), done.stderr)
        self.assertEqual({f.name: f.read_bytes() for f in state.iterdir()}, before)
        self.assertTrue(self.told(events[len(events) // 2:], "--state", state)[0]["restored"])

    def test_the_state_of_another_cluster(self):
        state, later = self.at / "state", 100_000
        self.told(cluster(jobs=10), "--state", state)
        other = [json.loads(json.dumps(e).replace('"n', '"m').replace('"mod', '"nod').replace('"mow', '"now'))
                 for e in cluster(jobs=20, slow="n5", begin=later, every=10)]
        plans = of("plan", self.told(other, "--state", state))
        self.assertEqual(plans[-1]["fleet"]["nodes"], 8)
        self.assertEqual({n["node"] for p in plans[1:] for n in p["nodes"]}, {"m5"})

    def test_a_disk_that_is_full(self):
        """As good as that: no file may grow beyond 20 KB."""
        state, log, events = self.at / "state", self.at / "log", cluster(jobs=20)
        done = subprocess.run([PROGRAM, "--state", state, "--log", log], input=lines(events), capture_output=True, timeout=60,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)))
        self.assertEqual((done.returncode, done.stdout), (0, run(stdin=lines(events)).stdout))
        self.assertEqual(done.stderr.count(b"File too large"), 2)  # once for each
        self.assertEqual(len(of("plan", self.told([{"event": "decide", "now": 99999}], "--state", state))), 1)

    def test_the_end_where_nobody_reads(self):
        state, data = self.at / "state", lines(cluster(jobs=60))
        process = self.start("--state", state)
        sizes = []

        def tell():
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(data)
        threading.Thread(target=tell, daemon=True).start()

        def is_stuck():
            time.sleep(0.3)
            sizes.append(sum(f.stat().st_size for f in state.glob("journal-*")))
            return len(sizes) > 1 and 0 < sizes[-1] == sizes[-2] < len(data)
        self.wait_for(is_stuck)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(20), 0)
        process.stdout.read()
        self.assertTrue(self.told(b"", "--state", state)[0]["restored"])

    def test_one_process_at_a_time(self):
        state = self.at / "state"
        process = self.start("--state", state)
        self.read_line(process)
        done = run("--state", state)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"another process uses it", done.stderr)

    def test_a_lease_has_one_holder(self):
        lease = self.at / "lease"
        a = self.start("--lease", lease)
        self.assertTrue(self.read_line(a)["decider"])
        b = self.start("--lease", lease)
        self.assertFalse(self.read_line(b)["decider"])
        b.stdin.write(lines([{"event": "node", "node": "n"}, {"event": "decide", "now": 1}]))
        b.stdin.flush()
        self.assertEqual([n["note"] for n in self.read_line(b)["notes"]], ["not_the_decider"])
        a.stdin.close()  # gives it back
        self.assertEqual(a.wait(20), 0)
        c = self.start("--lease", lease)
        self.assertTrue(self.read_line(c)["decider"])


class Files(Watch):
    def test_a_file_that_grows_and_is_rotated(self):
        feed, state = self.at / "feed", self.at / "state"
        events = cluster(jobs=4)
        half = len(events) // 2
        process = self.start("--follow", feed, "--state", state)
        self.read_line(process)
        with feed.open("wb") as f:
            data = lines(events[:half])
            f.write(data[:1000])
            f.flush()
            time.sleep(0.2)
            f.write(data[1000:])
        wanted = len([e for e in events[:half] if e["event"] == "decide"])
        for _ in range(wanted):
            plan = self.read_line(process)
        self.assertEqual(plan["counts"]["bad_lines"], 0)
        process.kill()
        process.wait()
        with feed.open("ab") as f:
            f.write(lines(events[half:half + 20]))
        process = self.start("--follow", feed, "--state", state)
        self.assertEqual(self.read_line(process)["plans"], wanted)
        self.wait_for(lambda: (state / "journal-3").exists() or any(f.stat().st_size for f in state.glob("journal-*")))
        feed.rename(self.at / "feed.1")
        feed.write_bytes(lines(events[half + 20:] + [{"event": "decide", "now": 99999}]))
        while plan["now"] != 99999:
            plan = self.read_line(process)
        whole = of("plan", self.told(events + [{"event": "decide", "now": 99999}]))[-1]
        self.assertEqual(plan["counts"], whole["counts"])  # nothing lost, nothing twice
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(20), 0)

    def test_a_pipe_that_nobody_writes_to_yet(self):
        pipe = self.at / "pipe"
        os.mkfifo(pipe)
        process = self.start("--follow", pipe)
        self.read_line(process)
        for now in (1, 2):  # two writers, one after the other
            with pipe.open("wb") as f:
                f.write(lines([{"event": "node", "node": f"n{now}"}, {"event": "decide", "now": now}]))
            self.assertEqual(self.read_line(process)["fleet"]["nodes"], now)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(20), 0)

    def test_metrics(self):
        file = self.at / "m.prom"
        self.told(cluster(jobs=8) + [{"event": "?"}], "--metrics", file)
        text = file.read_text()
        for line in text.splitlines():
            self.assertRegex(line, r'^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[a-z_]+"\})? [-0-9.e+]+)$')
        names = re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M)
        self.assertEqual(len(names), len(set(n for n, _ in names)))
        self.assertTrue(all((kind == "counter") == name.endswith("_total") for name, kind in names))
        self.assertIn('straggle_watch_bad_lines_total{fault="unknown_event"} 1\n', text)
        self.assertIn('straggle_watch_attempts_total{as="used"} 192\n', text)
        self.assertIn("straggle_watch_failing_jobs 0\n", text)
        self.assertIn("straggle_watch_not_compared_total 0\n", text)
        self.assertEqual([f.name for f in self.at.glob("*.part")], [])
        failing = [{"event": "end", "job": "bad", "task": t, "node": f"n{t % 3}", "start": 1, "end": 2, "status": "failed"}
                   for t in range(6)]
        self.told(cluster(jobs=8) + failing + [{"event": "decide", "now": 1e6}], "--metrics", file)
        self.assertIn("straggle_watch_failing_jobs 1\n", file.read_text())
        self.told(gang(steps=[0]), "--metrics", file)
        for line in ("steps_total 16", "gangs 1", "gangs_dropped_total 0"):
            self.assertIn(f"straggle_watch_{line}\n", file.read_text())

    def test_names_come_back_as_they_were_sent(self):
        told = self.told([{"event": "node", "node": 7, "condition": "denied"}, {"event": "node", "node": "8", "condition": "denied"},
                          {"event": "node", "node": -3}, {"event": "node", "node": 2**63 + 1}, {"event": "decide", "now": 1, "all": True},
                          {"event": "rank_places", "job": 5, "request": 9}, {"event": "rank_places", "job": "5", "request": "9"}])
        self.assertCountEqual([n["node"] for n in of("plan", told)[0]["nodes"]], [7, "8", -3, 2**63 + 1])
        places = of("places", told)
        self.assertEqual([(p["job"], p["request"]) for p in places], [(5, 9), ("5", "9")])
        self.assertEqual({p["node"] for p in places[0]["places"]}, {-3, 2**63 + 1})

    def test_timer_and_log_rotation(self):
        log = self.at / "log"
        process = self.start("--timer", "50ms", "--log", log)
        self.read_line(process)
        process.stdin.write(lines([{"event": "node", "node": "a"}]))
        process.stdin.flush()
        plans = [self.read_line(process) for _ in range(4)]
        self.assertLess(abs(plans[-1]["now"] - time.time()), 10)
        self.assertEqual(plans[-1]["fleet"]["nodes"], 1)
        log.rename(self.at / "log.1")
        process.send_signal(signal.SIGHUP)
        self.wait_for(lambda: log.exists() and log.stat().st_size)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(20), 0)


class Socket(Watch):
    def connect(self, path):
        s = socket.socket(socket.AF_UNIX)
        self.addCleanup(s.close)
        s.settimeout(20)
        s.connect(str(path))
        return s.makefile("rwb")

    def listen(self, *arguments):
        path = self.at / "socket"
        process = self.start("--socket", path, *arguments)
        self.wait_for(path.exists)
        return path, process

    def test_plans_go_to_all_and_faults_to_who_made_them(self):
        path, process = self.listen()
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        engine, actor, deaf = (self.connect(path) for _ in range(3))
        for c in (engine, actor, deaf):
            self.assertEqual(json.loads(c.readline())["event"], "hello")
        deaf.write(b'{"event": "hello", "protocol": 1, "plans": false}\n')
        deaf.flush()
        deaf.write(b'{"event": "rank_places", "job": "x"}\n')
        deaf.flush()
        self.assertEqual(json.loads(deaf.readline())["event"], "hello")
        self.assertEqual(json.loads(deaf.readline())["event"], "places")
        engine.write(lines([{"event": "node", "node": "n1"}, {"event": "?"}, {"event": "decide", "now": 5}]))
        engine.flush()
        self.assertEqual([json.loads(engine.readline())["event"] for _ in range(2)], ["fault", "plan"])
        self.assertEqual(json.loads(actor.readline())["fleet"]["nodes"], 1)
        deaf.write(b'{"event": "rank_places", "job": "x"}\n')
        deaf.flush()
        self.assertEqual(json.loads(deaf.readline())["event"], "places")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(20), 0)
        self.assertFalse(path.exists())

    def test_a_socket_in_use_and_one_that_was_left(self):
        path, process = self.listen()
        done = run("--socket", path)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"another process listens", done.stderr)
        process.kill()
        process.wait()
        self.assertTrue(path.exists())
        again = self.start("--socket", path)
        self.wait_for(lambda: again.poll() is None and self.can_connect(path))
        file = self.file("plain", "x")
        done = run("--socket", file)
        self.assertEqual((done.returncode, file.read_text()), (1, "x"))

    def can_connect(self, path):
        try:
            return bool(self.connect(path).readline())
        except OSError:
            return False

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_other_users_are_refused(self):
        path, process = self.listen()
        self.at.chmod(0o755)
        path.chmod(0o666)  # so that only the check of the peer is left
        child = subprocess.run(
            ["python3", "-c", "import os, socket, sys; os.setgid(65534); os.setuid(65534); s = socket.socket(socket.AF_UNIX); "
             "s.connect(sys.argv[1]); print(len(s.recv(100)))", str(path)], capture_output=True, timeout=60)
        self.assertIn(child.stdout.strip(), (b"0", b""), child.stderr)
        process.send_signal(signal.SIGTERM)
        _, fault = process.communicate(timeout=20)
        self.assertIn(b"refused user 65534", fault)

    def test_who_says_no_more_gets_its_answers(self):
        path, _ = self.listen()
        s = socket.socket(socket.AF_UNIX)
        self.addCleanup(s.close)
        s.settimeout(20)
        s.connect(str(path))
        s.sendall(lines([{"event": "nodes", "nodes": [{"node": f"n{i}" * 50} for i in range(500)]}] +
                        [{"event": "decide", "now": k, "all": True} for k in range(10)]))
        s.shutdown(socket.SHUT_WR)
        with s.makefile("rb") as answers:
            time.sleep(0.3)  # 2 MB that nobody takes
            told = messages(answers.read())
        self.assertEqual([m["now"] for m in of("plan", told)], list(range(10)))

    def test_who_does_not_read_is_dropped(self):
        path, _ = self.listen()
        lazy, engine = self.connect(path), self.connect(path)
        engine.write(b'{"event": "hello", "protocol": 1, "plans": false}\n')
        engine.write(lines([{"event": "nodes", "nodes": [{"node": f"n{i}" * 50} for i in range(500)]}]))
        for k in range(120):  # a list of 500 nodes takes 200 KB
            engine.write(lines([{"event": "decide", "now": k, "all": True}]))
        engine.write(lines([{"event": "rank_places", "job": "x", "most": 1}]))
        engine.flush()
        while json.loads(engine.readline())["event"] != "places":
            pass
        size = 0
        while chunk := lazy.read1(1 << 20):
            size += len(chunk)
        self.assertLess(size, 20 << 20)


class CommandLine(BadInput):
    name, run_program = "straggle-watch", staticmethod(run)

    def test_refusals(self):
        self.refuses(1, "--timer", "--timer", "0s")
        self.refuses(1, "--left-alone", "--left-alone", "1")
        self.refuses(1, "exclude", "--socket", "a", "--follow", "b")
        self.refuses(1, "--actions-period", "--actions-period", "1h")
        self.refuses(2, "directory", "--log", "/")
        self.refuses(2, "No such", "--state", "/proc/none/x")
        self.refuses(1, "longer than", "--socket", "/tmp/" + "x" * 200)

    def test_streams_that_were_closed(self):
        for redirection, stream, status in ((">&- </dev/null", "standard output", 3), ("<&- >/dev/null", "standard input", 2)):
            done = subprocess.run(["sh", "-c", f"exec '{PROGRAM}' {redirection}"], stderr=subprocess.PIPE, timeout=20)
            self.assertEqual(done.returncode, status)
            self.assertIn(stream, done.stderr.decode())

    def test_a_closed_output_ends_it(self):
        process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.close()
        try:
            process.stdin.write(lines(cluster(jobs=2)))
            process.stdin.close()
        except BrokenPipeError:
            pass
        self.assertEqual(process.wait(20), 3)
        process.stderr.close()


class PythonIn60Lines(unittest.TestCase):
    def test_the_listing_of_the_guide_avoids_its_slow_node(self):
        file = ROOT / "examples" / "engines" / "python" / "pool.py"
        done = subprocess.run(["python3", "-B", file], capture_output=True, timeout=120,
                              env={**os.environ, "STRAGGLE_WATCH": PROGRAM})
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        said = done.stdout.decode().splitlines()
        self.assertTrue(any(line.startswith("n3 excluded: ") for line in said), said)
        ran, of = map(int, re.fullmatch(r"n3 ran (\d+) of (\d+) tasks", said[-1]).groups())
        self.assertLess(ran, of / 24)  # a share of its speed would be of / 26; without straggle-watch it is about that
        code = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
        self.assertLessEqual(len(code), 60)


if __name__ == "__main__":
    unittest.main()
