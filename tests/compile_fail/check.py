# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Proves that a program is refused by the compiler, and for the reason we claim.

    check.py CASE.cpp -- COMPILER FLAGS...

A case holds, side by side, what is wrong and its correct variant:

    // expect: regular expression          every one must match the diagnostics; `expect-gcc:` and
    // expect-clang: regular expression    `expect-clang:` count for that compiler only
    #ifdef STRAGGLE_CONTROL
    auto x = the_right_way();
    #else
    auto x = the_wrong_way();
    #endif

What is expected has to be said within the first twelve lines: nobody reads on.

Without STRAGGLE_CONTROL the case has to be refused with all expected words. With it, it compiles: the target
test_controls does so for all cases, so none can be refused for a missing include or a typing error.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

LINES_READ = 12
EXPECTATION = re.compile(r"^//\s*expect(?:-(gcc|clang))?:\s*(.+?)\s*$", re.MULTILINE)


def check(case, command):
    """A list of complaints; empty when the case behaves."""
    version = subprocess.run([command[0], "--version"], capture_output=True, text=True).stdout
    family = "clang" if "clang" in version else "gcc"
    expected = [regex for only, regex in EXPECTATION.findall(Path(case).read_text()) if only in ("", family)]
    if not expected:
        return [f"no `// expect:` line for {family}"]

    run = subprocess.run([*command, "-fsyntax-only", str(case)],
                         capture_output=True, text=True, errors="replace", env={**os.environ, "LC_ALL": "C"})
    if run.returncode == 0:
        return ["compiled, but must be refused"]
    diagnostics = run.stdout + run.stderr
    read = "\n".join(diagnostics.splitlines()[:LINES_READ])
    missing = [f"the first {LINES_READ} lines do not match: {regex}" for regex in expected
               if not re.search(regex, read)]
    return [*missing, f"the diagnostics were:\n{diagnostics}"] if missing else []


def main():
    case, separator, *command = sys.argv[1:]
    if separator != "--" or not command:
        sys.exit(__doc__)
    complaints = check(case, command)
    for complaint in complaints:
        print(f"{case}: {complaint}")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
