#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""One default everywhere: a `blacklister`, a `dynamic_blacklist` with one window, and `straggle-rank` with one window and
without any name the same nodes of the same history."""

import os
import random
import unittest

from programs import document, program

rank = program(os.environ["STRAGGLE_RANK_PROGRAM"])
library = program(os.environ["STRAGGLE_ONE_DEFAULT"])


def attempts_of(nodes, slower, seed, jobs=12, each=3):
    """Jobs one after the other, tasks on all nodes; by node: how many times as long its tasks take."""
    draw = random.Random(seed)
    result = []
    for job in range(jobs):
        for node in range(nodes):
            for _ in range(each):
                start = 100_000 * job + draw.randrange(1000)
                took = round(10_000 * slower.get(node, 1) * draw.lognormvariate(0, 0.1))
                result.append((f"j{job}", f"n{node:02}", start, start + took))
    return sorted(result, key=lambda a: a[3])


class OneDefault(unittest.TestCase):
    def decisions(self, attempts):
        lines = "".join(f"{job} {node} {start} {end}\n" for job, node, start, end in attempts)
        done = library(stdin=lines.encode())
        self.assertEqual(done.returncode, 0, done.stderr)
        found = dict(zip(("blacklister", "dynamic_blacklist"), (line.split() for line in done.stdout.decode().split("\n"))))
        table = "job,node,start_ms,end_ms\n" + lines.replace(" ", ",")
        whole = document(rank("--format", "json", "-", stdin=table.encode()))
        windows = document(rank("--format", "json", "--window", "30d", "-", stdin=table.encode()))["windows"]
        self.assertEqual(len(windows), 1)
        for name, of in (("straggle-rank", whole["decision"]), ("straggle-rank --window", windows[0])):
            found[name] = sorted(v if isinstance(v, str) else v["node"] for v in of["blacklisted"])
        self.assertEqual(len(found), 4)
        return found

    def test_slow_nodes(self):
        for nodes in range(2, 51):
            draw = random.Random(nodes)
            room = 0 if nodes < 3 else max(1, nodes // 5)
            for weak in {0, 1, room, 2 if 4 < nodes < 10 else 0}:
                slow = dict(zip(draw.sample(range(nodes), weak), (2 + i / 2 for i in range(weak))))
                worst = sorted(slow, key=slow.get)[-room:] if room else []
                expected = sorted(f"n{node:02}" for node in worst)
                for name, found in self.decisions(attempts_of(nodes, slow, 1000 * nodes + weak)).items():
                    self.assertEqual(found, expected, (name, nodes, slow))

    def test_more_than_may_go(self):
        """Three or more that were slow when they were first seen are machines of another kind to those that decide again
        and again; a history that is judged as a whole knows of no kinds."""
        for nodes in (10, 17, 25, 50):
            slow = {node: 2 for node in random.Random(nodes).sample(range(nodes), 2 * nodes // 5)}
            names = {f"n{node:02}" for node in slow}
            for name, found in self.decisions(attempts_of(nodes, slow, nodes)).items():
                if name in ("blacklister", "straggle-rank"):
                    self.assertEqual(len(found), nodes // 5, name)
                    self.assertLessEqual(set(found), names, name)
                else:
                    self.assertEqual(found, [], name)

    def test_what_is_proved_and_too_small_to_matter(self):
        for nodes in (3, 4, 8, 20, 50):
            slow = {1: 1.05, 2: 1.03}
            for name, found in self.decisions(attempts_of(nodes, slow, nodes, jobs=40, each=20)).items():
                self.assertEqual(found, [], (name, nodes))


if __name__ == "__main__":
    unittest.main()
