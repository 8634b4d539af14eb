#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""straggle-mpi-rank under mpirun. STRAGGLE_MPI_RANK_PROGRAM and STRAGGLE_RANK_PROGRAM name the programs,
STRAGGLE_MPIEXEC the one that starts ranks. Ends with status 77 where ranks cannot be started."""

import csv
import functools
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import programs

PROGRAM = os.environ.get("STRAGGLE_MPI_RANK_PROGRAM", "straggle-mpi-rank")
ONE_PROCESS_PROGRAM = os.environ.get("STRAGGLE_RANK_PROGRAM") or shutil.which("straggle-rank")
MPIEXEC = shutil.which(os.environ.get("STRAGGLE_MPIEXEC") or "mpirun")
HISTORY = pathlib.Path(__file__).resolve().parents[2] / "examples" / "data" / "slurm-8-nodes.csv"
HEADER = "job,node,start_ms,end_ms,status\n"
RANKS = (1, 2, 3, 8)


@functools.cache
def environment():
    """Open MPI is told to do without a network, in a container, as root, and with more ranks than cores."""
    version = subprocess.run([MPIEXEC, "--version"], capture_output=True, timeout=60, check=False).stdout
    if b"Open MPI" not in version and b"OpenRTE" not in version:
        return dict(os.environ)
    return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_plm": "isolated", "OMPI_MCA_btl": "self,vader", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_odls_base_sigkill_timeout": "0", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}


def run(ranks, *arguments, command=(PROGRAM,)):
    """With `ranks` ranks; None: one process that nobody started as a rank."""
    start = [] if ranks is None else [MPIEXEC, "-n", str(ranks)]
    return subprocess.run([*start, *command, *map(str, arguments)], capture_output=True, timeout=120, env=environment(),
                          stdin=subprocess.DEVNULL, check=False)


def own_words(done):
    """What the program said; mpirun adds words of its own when a rank ends with a status."""
    return [line for line in done.stderr.decode().splitlines() if "straggle-mpi-rank: " in line]


def mixed_history():
    """Jobs and nodes of all sizes, so that many a pair is in one shard only; the same on every machine."""
    rows, state = [HEADER], 1
    for _ in range(4000):
        state = state * 6364136223846793005 + 1442695040888963407 & 2**64 - 1
        job, node, took = (state >> 33) % 97, min((state >> 40) % 61, (state >> 46) % 61), (state >> 20) % 2**40
        rows.append(f"job-{job},node-{node},{-took},{took},success\n")
    return "".join(rows)


class Folder(programs.Folder):
    def same_for_all(self, *arguments):
        """The standard output, and what was said, after making sure that they are the same everywhere."""
        alone = run(None, *arguments)
        self.assertEqual(alone.returncode, 0, alone.stderr)
        for ranks in RANKS:
            done = run(ranks, *arguments)
            self.assertEqual(done.returncode, 0, (ranks, done.stderr))
            self.assertEqual(done.stdout, alone.stdout, ranks)
            self.assertEqual(own_words(done), own_words(alone), ranks)
        return alone.stdout, own_words(alone)


class AnyNumberOfRanks(Folder):
    def test_a_recorded_history(self):
        for output in ("text", "json", "csv"):
            text, said = self.same_for_all("--format", output, HISTORY)
            self.assertEqual(said, [])
            self.assertIn(b"n2", text)

    def test_the_numbers_of_one_process(self):
        """To the bit: straggle-rank has seen all records in one piece, in order."""
        if ONE_PROCESS_PROGRAM is None:
            self.skipTest("no straggle-rank")
        for history in (HISTORY, self.file("mixed.csv", mixed_history())):
            text, _ = self.same_for_all("--format", "json", history)
            nodes = [json.loads(line) for line in text.splitlines()]
            done = subprocess.run([ONE_PROCESS_PROGRAM, "--every-success", "--format", "json", str(history)],
                                  capture_output=True, timeout=120, check=True)
            expected = json.loads(done.stdout)["nodes"]
            # What it says of slowdown and failures rests on more than a ranking.
            ranked = {node["node"]: {key: node[key] for key in nodes[0]} for node in expected}
            self.assertEqual({node["node"]: node for node in nodes}, ranked)
            self.assertGreater(len(nodes), 7)

    def test_the_order_of_the_table(self):
        text, _ = self.same_for_all("--format", "json", self.file("mixed.csv", mixed_history()))
        nodes = [json.loads(line) for line in text.splitlines()]
        key = [(n["level"] is None, n["level"], n["mean"] is not None and -n["mean"], n["node"]) for n in nodes]
        self.assertEqual(key, sorted(key))
        equal = "".join(f"j,{name},0,{took},ok\n" for name in ("b", "a", "c") for took in (10, 20, 30))
        text, _ = self.same_for_all("--format", "csv", self.file("equal.csv", HEADER + equal))
        rows = list(csv.DictReader(io.StringIO(text.decode())))
        self.assertEqual([row["node"] for row in rows], ["a", "b", "c"])
        self.assertEqual(float(rows[0]["mean"]), 0)

    def test_more_ranks_than_records(self):
        text, _ = self.same_for_all(self.file("two.csv", HEADER + "j,a,0,1,ok\nj,b,0,2,ok\n"))
        self.assertIn(b"Records: 2 read, 2 used", text)
        self.assertIn(b"Jobs: 0 compared, 1 left out", text)


class DirtyHistories(Folder):
    def test_bad_rows_are_left_out_and_counted(self):
        good = "".join(f"j{i % 3},n{i % 4},0,{100 + i * i % 37},success\n" for i in range(40))
        bad = ("j,n,x,5,success\n"                        # no number
               "j,n,0,1.5,success\n"                      # no whole one
               "j,n,0,99999999999999999999999,success\n"  # no 64 bits
               "j,n,0\n"                                  # too few fields
               '"j,n,0,5,success\n'                       # swallows what follows up to the next quote
               'j,n,0,"5"5,success\n'                     # text behind a closing quote
               "j,n,0,\0\0\0\n")                          # a crash while writing
        rejected = ",n,0,5,ok\nj,,0,5,ok\nj,n,,5,ok\nj,n,5,0,ok\n"
        left_out = "j,n,0,5,Failed\nj,n,0,5,CANCELLED by 7\nj,n,0,5,\n"
        text, said = self.same_for_all(self.file("dirty.csv", HEADER + good + bad + rejected + good + left_out + 'j,"n'))
        self.assertIn(b"Records: 95 read, 80 used, 2 failed, 1 killed, 12 rejected.", text)
        self.assertEqual(said, ["straggle-mpi-rank: 8 rows left out: unreadable, the first on line 42"] + [
            f"straggle-mpi-rank: 1 row left out: {reason}"
            for reason in ("missing_job", "missing_node", "missing_time", "end_before_start")])
        nodes_of = [run(3, "--format", "json", pathlib.Path(self.folder.name) / "dirty.csv"),
                    run(3, "--format", "json", self.file("clean.csv", HEADER + good + good))]
        self.assertEqual(nodes_of[0].stdout, nodes_of[1].stdout)
        self.assertEqual(len(nodes_of[0].stdout.splitlines()), 4)

    def test_hostile_names(self):
        names = ['say ""no""', "a,b", "\x1b[31mred", "back\\slash", "tab\t", "Käse 日本語", "\u202egpj.exe"]
        rows = HEADER + "".join(f'j,"{name}",0,{10 + i + 7 * k},ok\n' for i, name in enumerate(names) for k in range(3))
        file = self.file("hostile.csv", rows.encode() + b"j,\xff\xfe,0,9,ok\nj,\xfe\xff,0,9,ok\n")
        text, _ = self.same_for_all("--format", "json", file)
        self.assertEqual({json.loads(line)["node"] for line in text.decode().splitlines()},
                         {name.replace('""', '"') for name in names} | {"\ufffd\ufffd", "\ufffd\ufffd#2"})
        text, _ = self.same_for_all(file)
        self.assertFalse(re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", text.decode()))


class Failures(Folder):
    def refuses(self, status, message, *arguments, ranks=(None, 3), **how):
        for n in ranks:
            done = run(n, *arguments, **how)
            self.assertEqual(done.returncode, status, (n, done.stderr))
            self.assertEqual(done.stdout, b"")
            said = own_words(done)
            self.assertEqual(len(said), 1, done.stderr)
            self.assertRegex(said[0], message)
            self.assertNotIn(b"MPI_ABORT", done.stderr)
            if n is None:
                self.assertEqual(done.stderr.count(b"\n"), 1)

    def test_files(self):
        self.refuses(2, "none.csv: No such file or directory$", pathlib.Path(self.folder.name) / "none.csv",
                     ranks=(None, 1, 3, 8))
        self.refuses(2, "directory$", self.folder.name)
        self.refuses(2, r"h.csv:1: a header and nothing else$", self.file("h.csv", HEADER))
        self.refuses(2, r"h.csv:1: the file is empty$", self.file("h.csv", ""))
        self.refuses(2, r"h.csv:1: .*gzip", self.file("h.csv", b"\x1f\x8b\x08\x00"))
        self.refuses(2, r"h.csv:1: there is no column 'start_ms'$", self.file("h.csv", "job,node\nj,n\n"))

    def test_usage(self):
        self.refuses(1, "FILE is required")
        self.refuses(1, "none of text, json, csv", "--format", "xml", HISTORY)
        self.refuses(1, "not expected: --nope", "--nope", HISTORY)
        self.refuses(1, "not expected: ", HISTORY, HISTORY)
        self.refuses(1, "standard input", "-")

    def test_a_file_that_one_rank_lacks(self):
        """All ranks end, with the words of the one that failed."""
        if "OMPI_ALLOW_RUN_AS_ROOT" not in environment():
            self.skipTest("how a rank learns its number is known for Open MPI only")
        script = self.file("start.sh", '[ "$OMPI_COMM_WORLD_RANK" = "$3" ] && exec "$1" none.csv || exec "$1" "$2"\n')
        for rank in (0, 3):
            self.refuses(2, rf"none.csv: No such file or directory \(on 1 of 4 ranks, first on rank {rank}\)$",
                         PROGRAM, HISTORY, rank, ranks=(4,), command=("sh", str(script)))

    def test_output_that_cannot_be_written(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        for arguments in ((HISTORY,), ("--help",)):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([PROGRAM, *map(str, arguments)], stdout=full, stderr=subprocess.PIPE, timeout=60,
                                      env=environment(), check=False)
            self.assertEqual(done.returncode, 3)

    def test_help_and_version(self):
        for option, words in (("--help", rb"Exit status"), ("--version", rb"^straggle-mpi-rank \d+\.\d+\.\d+\n$")):
            for ranks in (None, 3):
                done = run(ranks, option)
                self.assertEqual(done.returncode, 0)
                self.assertEqual(len(re.findall(words, done.stdout)), 1)
                self.assertLessEqual(max(map(len, done.stdout.splitlines())), 110)


if __name__ == "__main__":
    if MPIEXEC is None:
        print("skipped: there is no mpirun (Debian: openmpi-bin)")
        sys.exit(77)
    unittest.main()
