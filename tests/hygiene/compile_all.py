# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Compiles all public headers together in ways that users do.

    compile_all.py plain    -- COMPILER FLAGS...   one unit with every header, in order
    compile_all.py hostile  -- COMPILER FLAGS...   after macros as bad as those of <windows.h> and <complex.h>
    compile_all.py two_units -- COMPILER FLAGS...  two units, one in reverse order, linked and run: every
                                                   definition may be repeated
    compile_all.py too_old  -- COMPILER FLAGS...   each header as C++17: one error, which says what is needed
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import headers

# What real headers define: <windows.h>, <complex.h>, <sys/sysmacros.h>, old <math.h>, compilers.
OBJECT_MACROS = """
    small near far interface IN OUT OPTIONAL ERROR TRUE FALSE BOOL DELETE CONST VOID CALLBACK STRICT NO_ERROR
    DIFFERENCE DOMAIN OVERFLOW UNDERFLOW SING I complex imaginary major minor makedev unix linux
""".split()
FUNCTION_MACROS = "min max check verify require isnan isinf isfinite signbit fpclassify isnormal".split()


def every_header(names):
    return "".join(f"#include <{name}>\n" for name in names)


def all_names():
    return [headers.name_of(h) for h in headers.headers()]


def standard_headers():
    """Those our headers include: they come first, where macros cannot hurt them."""
    return sorted({target for h in headers.headers() for _, target in headers.includes(h.read_text())
                   if not target.startswith(("<straggle", '"'))})


def hostile_unit():
    lines = [f"#include {name}" for name in standard_headers()]
    for name in OBJECT_MACROS:
        lines += [f"#undef {name}", f"#define {name} a macro named {name} was used"]
    for name in FUNCTION_MACROS:
        lines += [f"#undef {name}", f"#define {name}(...) a macro named {name} was used"]
    return "\n".join(lines) + "\n" + every_header(all_names())


def compile_text(text, command):
    return subprocess.run([*command, "-fsyntax-only", "-x", "c++", "-"], input=text, text=True).returncode == 0


def plain(command):
    return compile_text(every_header(all_names()), command)


def hostile(command):
    return compile_text(hostile_unit(), command)


def two_units(command):
    with tempfile.TemporaryDirectory() as folder:
        one, two, program = Path(folder, "one.cpp"), Path(folder, "two.cpp"), Path(folder, "program")
        one.write_text(every_header(all_names()) + "int second();\nint main() { return second(); }\n")
        two.write_text(every_header(reversed(all_names())) + "int second();\nint second() { return 0; }\n")
        link = subprocess.run([*command, str(one), str(two), "-o", str(program)])
        return link.returncode == 0 and subprocess.run([str(program)]).returncode == 0


def too_old(command):
    passed = True
    for name in all_names():
        run = subprocess.run([*command, "-std=c++17", "-fsyntax-only", "-x", "c++", "-"], text=True,
                             input=f"#include <{name}>\n", capture_output=True, env={**os.environ, "LC_ALL": "C"})
        errors = [line for line in run.stderr.splitlines() if "error:" in line]
        if len(errors) != 1 or "straggle needs C++20" not in errors[0]:
            print(f"<{name}> as C++17:", *errors[:20], sep="\n")
            passed = False
    return passed


def main():
    mode, separator, *command = sys.argv[1:]
    ways = {"plain": plain, "hostile": hostile, "two_units": two_units, "too_old": too_old}
    if mode not in ways or separator != "--" or not command:
        sys.exit(__doc__)
    sys.exit(0 if ways[mode](command) else 1)


if __name__ == "__main__":
    main()
