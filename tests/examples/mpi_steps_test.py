# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""examples/mpi: eight ranks on this machine, one throttled by a control group, is named within 20 steps; none is
where none is throttled."""
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


def throttled_group():
    """A control group with a tenth of a core, or nothing where this machine lets us make none."""
    name = f"straggle-mpi-steps-{os.getpid()}"
    for root, quota in ((Path("/sys/fs/cgroup/cpu"), {"cpu.cfs_period_us": "20000", "cpu.cfs_quota_us": "2000"}),
                        (Path("/sys/fs/cgroup"), {"cpu.max": "2000 20000"})):
        group = root / name
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            for file, value in quota.items():
                (group / file).write_text(value)
            return group
        except OSError:
            group.rmdir()
    return None


def run(group=None):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    with tempfile.TemporaryDirectory() as folder:
        start = Path(folder) / "start.sh"
        join = f'[ "$OMPI_COMM_WORLD_RANK" != {SLOW} ] || echo $$ >{group}/cgroup.procs\n' if group else ""
        start.write_text(f"#!/bin/sh\n{join}exec {PROGRAM} 40 10\n")
        start.chmod(0o755)
        return subprocess.run([MPIEXEC, "--oversubscribe", "--mca", "plm", "isolated", "--mca", "btl", "self,vader", "--mca", "btl_vader_single_copy_mechanism", "none",
                               "-n", str(RANKS), str(start)], env=environment, capture_output=True, text=True, timeout=240, check=True).stdout


class MpiSteps(unittest.TestCase):
    def test_a_throttled_rank_is_named(self):
        group = throttled_group()
        if group is None:
            self.skipTest("no control group can be made here")
        try:
            said = run(group)
        finally:
            group.rmdir()
        self.assertRegex(said, rf"(?m)^rank {SLOW} takes ")
        self.assertLessEqual(int(re.search(r"first named after (\d+) steps", said)[1]), 20, said)

    def test_none_is_named_where_none_is_throttled(self):
        self.assertNotIn("rank", run().splitlines()[0].split("first")[0])


if __name__ == "__main__":
    if not Path(PROGRAM).exists():
        sys.exit(77)
    unittest.main()
