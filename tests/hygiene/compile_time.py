# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Compile time is a feature: how many instructions does the compiler need for each face, as a multiple of <regex>?

    compile_time.py COMPILER FLAGS... [-- FACE...]

Runs cc1plus under callgrind with -fsyntax-only, which does not depend on the load of the machine. The aim is AIM for a
room and AIM_OF_ALL for everything. A face in ABOVE is not there yet: it has the limit that was reached, or none and is
only shown. Exits with status 77 where it cannot measure: the counts are those of one compiler and standard library.
"""
import concurrent.futures
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import headers

AIM, AIM_OF_ALL = 1.5, 2.5
UMBRELLA = "straggle/straggle.hpp"
ABOVE = {f"straggle/{room}.hpp": limit for room, limit in {
    "blacklist": 1.65, "mitigate": 2.12, "straggle": 2.8}.items()}
SLACK = 1.03  # another version of the same standard library
SKIPPED = 77


def faces(root=headers.ROOT):
    folder = Path(root) / "include"
    return sorted(path.relative_to(folder).as_posix() for path in (folder / "straggle").glob("*.hpp")
                  if path.name != "version.hpp")


def instructions(command, name):
    """Of the compiler proper, for one header."""
    with tempfile.TemporaryDirectory() as folder:
        unit = Path(folder, "unit.cpp")
        unit.write_text(f"#include <{name}>\n")
        said = subprocess.run([*command, "-###", "-fsyntax-only", str(unit)], text=True, capture_output=True,
                              env={**os.environ, "LC_ALL": "C"}).stderr
        proper = next((line for line in said.splitlines() if "cc1plus" in line), None)
        if not proper:
            sys.exit(f"compile_time.py: {command[0]} names no cc1plus")
        run = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out",
                              *shlex.split(proper)], text=True, capture_output=True)
    counted = re.search(r"Collected\s*:\s*(\d+)", run.stderr)
    if run.returncode != 0 or not counted:
        sys.exit(f"compile_time.py: <{name}> does not compile under callgrind:\n{run.stderr}")
    return int(counted[1])


def check(command, names):
    with concurrent.futures.ThreadPoolExecutor(max(1, os.cpu_count() or 1)) as pool:
        counts = dict(zip(["regex", *names], pool.map(lambda name: instructions(command, name), ["regex", *names])))
    complaints = []
    print(f"<regex>: {counts['regex'] / 1e9:.2f}e9 instructions")
    for name in sorted(names, key=counts.get, reverse=True):
        times = counts[name] / counts["regex"]
        aim = AIM_OF_ALL if name == UMBRELLA else AIM
        limit = ABOVE.get(name, aim)
        print(f"{times:6.2f} (aim {aim}, limit {limit or 'none yet'})  <{name}>")
        if limit and times > limit * SLACK:
            complaints.append(f"<{name}> takes {times:.2f} times the instructions of <regex>, at most {limit}")
    return complaints


def main():
    arguments = sys.argv[1:]
    at = arguments.index("--") if "--" in arguments else len(arguments)
    command, names = arguments[:at], arguments[at + 1:] or faces()
    if not command:
        sys.exit(__doc__)
    try:
        version = subprocess.run([command[0], "-dumpversion"], text=True, capture_output=True).stdout.strip()
        subprocess.run(["valgrind", "--version"], capture_output=True, check=True)
    except FileNotFoundError as missing:
        print(f"skipped: there is no {missing.filename}")
        sys.exit(SKIPPED)
    if version.split(".")[0] != "12":
        print(f"skipped: the limits are for g++ 12, this is {version}")
        sys.exit(SKIPPED)
    complaints = check(command, names)
    print(*complaints, sep="\n")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
