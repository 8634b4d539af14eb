# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Compile time is a feature: how many lines does the compiler read for each header?

    header_budget.py COMPILER FLAGS...
"""
import subprocess
import sys

import headers

HEADER_LINES, UMBRELLA_LINES = 58_000, 78_000
# They are made of nearly all that the umbrella has.
LARGE = ("straggle/straggle.hpp", "straggle/mitigate.hpp", "straggle/mitigate/mitigator.hpp")


def lines_read(name, command):
    """Lines of text after preprocessing, as `-E -P | wc -l` counts them; None if that fails."""
    run = subprocess.run([*command, "-E", "-P", "-x", "c++", "-"], stdout=subprocess.PIPE,
                         input=f"#include <{name}>\n".encode())
    return run.stdout.count(b"\n") if run.returncode == 0 else None


def check(command, root=headers.ROOT):
    names = [headers.name_of(h, root) for h in headers.headers(root)]
    counts = {name: lines_read(name, command) for name in names}
    complaints = [f"{name}: cannot be preprocessed" for name in names if counts[name] is None]
    for name in sorted(names, key=lambda name: counts[name] or 0, reverse=True):
        limit = UMBRELLA_LINES if name in LARGE else HEADER_LINES
        print(f"{counts[name] or 0:8} of {limit}  {name}")
        if (counts[name] or 0) > limit:
            complaints.append(f"{name}: {counts[name]} preprocessed lines, at most {limit}")
    return complaints


if __name__ == "__main__":
    failures = check(sys.argv[1:])
    print(*failures, sep="\n")
    sys.exit(1 if failures else 0)
