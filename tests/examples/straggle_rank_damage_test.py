#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""straggle-rank on damaged logs of every format: each kind of damage is counted and named with its line, and is never
fatal while something can be read. CSV is stricter: a broken table is an error with its line.
"""

import gzip
import json
import os
import shutil
import subprocess
import unittest

from straggle_rank_screens_test import (PROGRAM, dask, haproxy, haproxy_adapter, jhist, nextflow, parallel, rumen, sacct,
                                       sacct_json, spark)

OBJECTS = {"rumen": 40, "sacct_json": 1}  # attempts in an object of many lines
READERS = [sacct, sacct_json, spark, jhist, rumen, nextflow, haproxy, haproxy_adapter, parallel, dask]


def text_of(log):
    return "\n".join(log()) + "\n"


def reading(data):
    done = subprocess.run([PROGRAM, "--format", "json", "-"], input=data, capture_output=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["reading"]


def refused(data, *arguments):
    done = subprocess.run([PROGRAM, *arguments, "-"], input=data, capture_output=True)
    assert done.returncode == 2, (done.returncode, done.stderr)
    return done.stderr.decode()


def lines_of(entry):
    return [place["line"] if isinstance(place, dict) else place for place in entry.get("first_lines", entry.get("first", []))]


class Damage(unittest.TestCase):
    def test_a_line_of_garbage(self):
        for log in READERS:
            with self.subTest(log.__name__):
                lines = text_of(log).splitlines()
                at = 60 if log.__name__ in OBJECTS else 12
                lines.insert(at - 1, "%%% not a record {[ \x01\"")
                got = reading("\n".join(lines).encode())
                self.assertEqual(got["attempts"], 240 - OBJECTS.get(log.__name__, 0))
                screen = subprocess.run([PROGRAM, "-"], input="\n".join(lines).encode(), capture_output=True).stdout.decode()
                named = [line for line in screen.splitlines() if "not read: " in line]
                self.assertTrue(named, screen)
                if log.__name__ not in OBJECTS:  # there it is the line on which the object begins
                    self.assertTrue(any(f"line {at}" in line for line in named), named)

    def test_bytes_of_nothing(self):
        for log in READERS:
            with self.subTest(log.__name__):
                data = text_of(log).encode()
                head = data.index(b"\n", len(data) // 2) + 1
                got = reading(data[:head] + bytes(300) + b"\n" + data[head:])
                self.assertGreaterEqual(got["attempts"], 190)

    def test_cut_off(self):
        for log in READERS:
            data = text_of(log).encode()
            for part in (0.5, 0.9, 0.999):
                with self.subTest(log.__name__, part=part):
                    self.assertGreater(reading(data[:int(part * len(data))])["attempts"], 75)

    def test_cut_off_packed(self):
        packers = {"gzip": gzip.compress}
        if shutil.which("zstd"):
            packers["zstd"] = lambda data: subprocess.run(["zstd", "-c"], input=data, capture_output=True, check=True).stdout
        for log in READERS:
            data = (text_of(log) * (1 if log is jhist else 40)).encode()
            for name, pack in packers.items():
                with self.subTest(log.__name__, packing=name):
                    packed = pack(data)
                    cut = packed[:-5] if name == "gzip" else packed + packed[:len(packed) // 2]
                    got = subprocess.run([PROGRAM, "-"], input=cut, capture_output=True)
                    self.assertEqual(got.returncode, 0, got.stderr)
                    said = " ".join(got.stdout.decode().split())
                    self.assertIn("not read: damaged compression, 1 time", said)
                    self.assertIn("the file is cut off", said)

    def test_unknown_versions(self):
        got = reading(text_of(spark).replace("3.5.1", "9.9.9", 1).encode())
        self.assertEqual((got["attempts"], got["not_attempts"]["unknown version"]["count"]), (240, 1))
        got = reading(text_of(dask).replace('"version": 1', '"version": 77', 1).encode())
        self.assertEqual((got["attempts"], got["not_attempts"]["unknown version"]["count"]), (240, 1))
        self.assertIn("let Hadoop write JSON", refused(b"Avro-Binary\n" + bytes(range(256)) * 9))

    def test_mixed_clocks(self):
        rows = text_of(sacct).splitlines()
        rows.insert(7, "100_99|align|n1|COMPLETED|1767225600|1767225660")
        got = reading("\n".join(rows).encode() + b"\n")
        mixed = got["not_attempts"]["time in another form than in the first record"]
        self.assertEqual((got["attempts"], mixed["count"]), (240, 1))
        screen = subprocess.run([PROGRAM, "-"], input="\n".join(rows).encode(), capture_output=True).stdout.decode()
        self.assertIn("(line 8)", screen)

    def test_nothing_to_read(self):
        for log in READERS:
            if log in (rumen, sacct_json):
                head = text_of(log)[:400] if log is rumen else '{"meta": {"Slurm": {}}, "jobs": []}'
            else:
                head = "\n".join(text_of(log).splitlines()[:1 if log not in (jhist, spark) else 2])
            name = {"jhist": "hadoop", "rumen": "hadoop", "sacct_json": "slurm", "sacct": "slurm",
                    "haproxy_adapter": "haproxy"}.get(log.__name__, log.__name__)
            if name == "haproxy":
                head = "[WARNING] (1) : Server app/s1 is DOWN\n"
            with self.subTest(log.__name__):
                self.assertRegex(refused(head.encode(), "--from", name), "no attempt that could be read|nothing to read|no array")
        self.assertTrue(refused(b""))
        self.assertTrue(refused(b"\x00\x01\x02" * 999))


if __name__ == "__main__":
    unittest.main()
