# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""examples/mpi: eight ranks on this machine, one throttled by a control group: it alone is named, within 20 steps.
Where all are alike, none is."""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = os.environ["STRAGGLE_MPI_STEPS_PROGRAM"]
MPIEXEC = os.environ.get("STRAGGLE_MPIEXEC", "mpirun")
RANKS, SLOW = 8, 5
# Milliseconds of processor time in each period of 20: eight ranks together need little more than one core, so the
# quota, and not the load of the machine, decides how fast a rank works.
PERIOD, USUAL, THROTTLED = 20, 3, 1


class Throttle:
    """A control group for each rank. `groups` is empty where this machine lets us make none."""

    def __init__(self):
        self.groups = []
        base = f"straggle-mpi-steps-{os.getpid()}"
        for root in (Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")):
            try:
                for rank in range(RANKS):
                    group = root / f"{base}-{rank}"
                    group.mkdir()
                    self.groups.append(group)
                    self.limit(rank, USUAL)
                return
            except OSError:
                self.remove()

    def remove(self):
        for group in self.groups:
            group.rmdir()
        self.groups.clear()

    def limit(self, rank, milliseconds):
        group, quota, period = self.groups[rank], 1000 * milliseconds, 1000 * PERIOD
        if (group / "cpu.cfs_quota_us").exists():
            (group / "cpu.shares").write_text("16384")
            (group / "cpu.cfs_period_us").write_text(str(period))
            (group / "cpu.cfs_quota_us").write_text(str(quota))
        else:
            (group / "cpu.weight").write_text("1600")
            (group / "cpu.max").write_text(f"{quota} {period}")


def run(groups):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    join = f'echo $$ >{groups[0].parent}/{groups[0].name[:-1]}$OMPI_COMM_WORLD_RANK/cgroup.procs\n'
    with tempfile.TemporaryDirectory() as folder:
        start = Path(folder) / "start.sh"
        start.write_text(f"#!/bin/sh\n{join}exec {PROGRAM} 40 6\n")
        start.chmod(0o755)
        return subprocess.run([MPIEXEC, "--oversubscribe", "--mca", "plm", "isolated", "--mca", "btl", "self,vader", "--mca", "btl_vader_single_copy_mechanism", "none",
                               "-n", str(RANKS), str(start)], env=environment, capture_output=True, text=True, timeout=240, check=True).stdout


class MpiSteps(unittest.TestCase):
    def setUp(self):
        self.throttle = Throttle()
        self.addCleanup(self.throttle.remove)
        if not self.throttle.groups:
            self.skipTest("this machine lets us make no control group with a processor quota")

    def test_a_throttled_rank_alone_is_named(self):
        self.throttle.limit(SLOW, THROTTLED)
        said = run(self.throttle.groups)
        self.assertEqual(re.findall(r"(?m)^rank (\d+) takes ", said), [str(SLOW)], said)
        self.assertLessEqual(int(re.search(r"first named after (\d+) steps", said)[1]), 20, said)
        self.assertLess(float(re.search(r"([\d.]+) us a report", said)[1]), 1, said)
        # Its caches are cold after each step, and closing reads everything about all ranks.
        self.assertLess(float(re.search(r"([\d.]+) us with closing", said)[1]), 2, said)

    def test_none_is_named_where_all_are_alike(self):
        said = run(self.throttle.groups)
        self.assertNotRegex(said, r"(?m)^rank ")
        self.assertIn("first named after 0 steps", said)


if __name__ == "__main__":
    if not Path(PROGRAM).exists():
        sys.exit(77)
    result = unittest.main(exit=False).result
    sys.exit(77 if result.skipped else not result.wasSuccessful())
