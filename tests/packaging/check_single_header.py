# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Checks a straggle_all.hpp that has just been made.

    check_single_header.py contents HEADER                        its text; the same wherever it is made
    check_single_header.py tokens HEADER -- COMPILER FLAGS...     the compiler reads what it reads of the headers
    check_single_header.py alone HEADER -- COMPILER FLAGS...      compiles where nothing else is, even twice
    check_single_header.py hostile HEADER -- COMPILER FLAGS...    after macros as bad as those of <windows.h>
    check_single_header.py two_units HEADER -- COMPILER FLAGS...  two units, linked and run
    check_single_header.py beside HEADER -- COMPILER FLAGS...     beside the headers it is refused, with a reason
    check_single_header.py example SOURCE HEADER -- COMPILER FLAGS...
                                                                  an example with it prints what it always prints
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOL = "packaging/single_header.py"
sys.path[:0] = [str(ROOT / "tests/hygiene"), str(ROOT / "packaging")]

import compile_all  # noqa: E402  (needs the path)
import headers  # noqa: E402
import single_header  # noqa: E402

INCLUDE = '#include "straggle_all.hpp"\n'
EVERYTHING = "".join(f"#include <{name}>\n" for name in
                     [single_header.UMBRELLA, *single_header.asked_for_by_name(single_header.read_all(ROOT))])


def made_elsewhere(hash_seed):
    """Made once more: from a copy of the tree in another place, in another environment."""
    with tempfile.TemporaryDirectory() as folder:
        for part in "include", "packaging", "LICENSE":
            (shutil.copytree if (ROOT / part).is_dir() else shutil.copy)(ROOT / part, Path(folder, part))
        environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "PYTHONHASHSEED": hash_seed,
                       "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run([sys.executable, Path(folder, TOOL)], cwd="/", env=environment, stdout=subprocess.PIPE,
                              check=True).stdout


def lines_of_code(text):
    """What a header says below its `#pragma once`, without includes and conditions that held nothing else."""
    code = re.sub(r"^#include <[^ \n]*\n", "", text.partition("#pragma once\n")[2], flags=re.MULTILINE)
    code = re.sub(r"^#if[^\n]*\n#endif\n", "", code, flags=re.MULTILINE)
    return "".join(line + "\n" for line in code.splitlines() if line.strip())


def contents(file):
    text, complaints = file.read_text(encoding="utf-8"), []

    def must(condition, words):
        if not condition:
            complaints.append(words)

    for seed in "0", "4711":
        must(made_elsewhere(seed) == file.read_bytes(),
             f"made elsewhere (hash seed {seed}) it is another file; or it is old: build first")
    for place in ROOT, file.parent, Path.home(), tempfile.gettempdir():
        must(len(str(place)) < 2 or f"{place}/" not in text, f"mentions {place}")
    must(not re.search(r"^\s*#\s*(line\b|\d)", text, re.MULTILINE), "has #line directives")
    must("#pragma once" not in text and "\r" not in text and text.endswith("\n"), "not the form of a header")
    must(not re.search(r"[ \t]$", text, re.MULTILINE), "has blanks at the end of a line")
    must(text.count("Distributed under the Boost Software License") == 0, "repeats the notice of the headers")
    must(text.count("Boost Software License - Version 1.0") == 1 and text.count("THE SOFTWARE IS PROVIDED") == 1,
         "must hold the license once")
    numbers = re.findall(r"^#define STRAGGLE_VERSION_[A-Z]+ (\d+)$",
                         (ROOT / "include/straggle/version.hpp").read_text(), re.MULTILINE)
    must(text.startswith(f"// straggle {'.'.join(numbers)}, "), "must begin with the version")

    # Only what stands in a condition may be left further below.
    included = [target for _, target in headers.includes(text) if " " not in target]  # a message, not a header
    above = [target for _, target in headers.includes(text.partition("\nnamespace straggle")[0]) if " " not in target]
    must(sorted(included) == compile_all.standard_headers(), "must include each standard header once")
    must(len(above) > 9 and above == sorted(above), "must begin with the standard headers, sorted")

    # None forgotten, none twice, each behind those it includes.
    squeezed, places = "".join(line + "\n" for line in text.splitlines() if line.strip()), {}
    for header in headers.headers():
        name, code = headers.name_of(header), lines_of_code(header.read_text())
        if single_header.is_face(name):
            continue
        must(code and squeezed.count(code) == 1, f"must hold {name} once, holds it {squeezed.count(code)} times")
        must(text.count(f"// {name}\n//\n") == 1, f"must say once where {name} begins")
        if code in squeezed:
            places[f"<{name}>"] = squeezed.find(code)
    for header in headers.headers():
        name = f"<{headers.name_of(header)}>"
        for _, target in headers.includes(header.read_text()):
            must(places.get(target, -1) <= places.get(name, len(squeezed)), f"{target} must stand above {name}")
    return complaints


def preprocessed(text, command, ours):
    """What the compiler reads of the files whose name contains `ours`, blanks squeezed."""
    out = subprocess.run([*command, "-E", "-x", "c++", "-"], input=text, stdout=subprocess.PIPE, text=True,
                         check=True).stdout
    kept, inside = [], False
    for line in out.splitlines():
        if marker := re.match(r'# \d+ "([^"]*)"', line):
            inside = ours in marker[1]
        elif inside and not line.startswith("#"):  # `#pragma once` may come through
            kept += line.split()
    # Where a contract stands is no difference.
    return re.sub(r'"[^"]*\.hpp", \d+', "HERE", " ".join(kept))


def tokens(file, command):
    complaints = []
    macros = "".join(f"#define STRAGGLE_NO_{what}\n" for what in ("INT128", "PREFETCH", "VECTOR_TYPES"))
    seen = []
    for before in "", macros:
        one = preprocessed(before + INCLUDE, [*command, f"-I{file.parent}"], "straggle_all.hpp")
        many = preprocessed(before + EVERYTHING, [*command, f"-I{ROOT / 'include'}"],
                            "/include/straggle/")
        if one != many or "namespace straggle" not in one:
            at = next((i for i, (a, b) in enumerate(zip(one, many)) if a != b), min(len(one), len(many)))
            complaints.append(f"with {before.split()[1::2]} defined:\none file: {one[max(at - 99, 0):at + 99]}\n"
                              f"headers:  {many[max(at - 99, 0):at + 99]}")
        seen.append(one)
    if seen[0] == seen[1]:
        complaints.append("the macros a user may define change nothing")
    return complaints


def compiles(text, command, *flags):
    done = subprocess.run([*command, *flags, "-fsyntax-only", "-x", "c++", "-"], input=text, text=True)
    return [] if done.returncode == 0 else ["does not compile"]


def alone(file, command):
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(file, folder)
        return compiles(2 * INCLUDE, command, f"-I{folder}")


def hostile(file, command):
    # The same macros as for the headers, in front of the one file.
    unit = compile_all.hostile_unit().partition("#include <straggle/")[0] + INCLUDE
    return compiles(unit, command, f"-I{file.parent}")


def two_units(file, command):
    with tempfile.TemporaryDirectory() as folder:
        one, two, program = Path(folder, "one.cpp"), Path(folder, "two.cpp"), Path(folder, "program")
        one.write_text(INCLUDE + "double second(double);\n"
                       "int main() { return *straggle::stats::student_t_quantile(0.75, second(1)) == 1 ? 1 : 0; }\n")
        two.write_text(INCLUDE + "double second(double);\n"
                       "double second(double p) { return straggle::stats::student_t_quantile(0.25, p) ? 7 : 8; }\n")
        link = subprocess.run([*command, f"-I{file.parent}", str(one), str(two), "-o", str(program)])
        if link.returncode != 0:
            return ["does not link"]
        return [] if subprocess.run([str(program)]).returncode == 0 else ["does not run"]


def beside(file, command):
    done = subprocess.run([*command, f"-I{file.parent}", f"-I{ROOT / 'include'}", "-Wfatal-errors", "-fsyntax-only",
                           "-x", "c++", "-"],
                          input="#include <straggle/base/config.hpp>\n" + INCLUDE, capture_output=True, text=True)
    expected = "include this file or those, not both"
    return [] if done.returncode != 0 and expected in done.stderr else [f"must be refused with: {expected}"]


def example(file, command, source):
    text, redirected = re.subn(r"^#include <straggle/[^>]+>\n", INCLUDE, source.read_text(), flags=re.MULTILINE)
    if not redirected:
        return [f"{source} does not include the library"]
    with tempfile.TemporaryDirectory() as folder:
        unit, program = Path(folder, source.name), Path(folder, "program")
        unit.write_text(text)
        if subprocess.run([*command, f"-I{file.parent}", str(unit), "-o", str(program)]).returncode != 0:
            return ["does not compile"]
        done = subprocess.run([str(program)], cwd=source.parent, stdout=subprocess.PIPE, text=True)
    expected = source.with_suffix(".expected").read_text()
    print(done.stdout)
    right = done.returncode == 0 and done.stdout == expected
    return [] if right else [f"status {done.returncode}, expected:\n{expected}"]


def main():
    before = sys.argv[1:sys.argv.index("--")] if "--" in sys.argv else sys.argv[1:]
    command = sys.argv[len(before) + 2:]
    if before[:1] == ["contents"] and len(before) == 2 and not command:
        complaints = contents(Path(before[1]).resolve())
    elif before[:1] == ["example"] and len(before) == 3 and command:
        complaints = example(Path(before[2]).resolve(), command, Path(before[1]).resolve())
    elif len(before) == 2 and command:
        ways = {"tokens": tokens, "alone": alone, "hostile": hostile, "two_units": two_units, "beside": beside}
        complaints = ways[before[0]](Path(before[1]).resolve(), command)
    else:
        sys.exit(__doc__)
    print(*complaints, sep="\n")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
