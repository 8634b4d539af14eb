# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Units of one program compiled with other flags share no function of the library.

    check.py INCLUDE_FOLDER WORK_FOLDER COMPILER FLAGS...

Compiles one source at -O2, at -O2 -mavx2 -mfma and at -O2 -ffast-math, links the objects in every order, and runs each
program. The linker keeps one of all weak symbols of a name: of ours none may be in two units, or the plain unit runs
what was compiled for another machine. Weak symbols of the standard library that units share are listed: those are for
whoever mixes flags to know.
"""
import itertools
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
PLAIN, VECTORS, FAST = "use_plain", "use_vectors", "use_fast_math"
FLAGS = {PLAIN: [], VECTORS: ["-mavx2", "-mfma"], FAST: ["-ffast-math"]}


def weak_symbols(nm, unit):
    """Mangled to readable names of what the linker keeps once."""
    def names(*how):
        run = subprocess.run([nm, "--defined-only", *how, str(unit)], capture_output=True, text=True, check=True)
        return [line.split(" ", 2)[1:] for line in run.stdout.splitlines()]
    return {mangled: readable for (kind, mangled), (_, readable) in zip(names("-p"), names("-p", "-C"))
            if kind in "WVu"}


def main():
    include, work, *compiler = sys.argv[1:]
    if not compiler:
        sys.exit(__doc__)
    work = Path(work)
    work.mkdir(parents=True, exist_ok=True)

    def run(*command):
        subprocess.run([str(part) for part in command], check=True)

    def compiles(flags):
        return subprocess.run([*compiler, *flags, "-fsyntax-only", "-x", "c++", "-"], input="int x;\n", text=True,
                              capture_output=True).returncode == 0

    units = {name: flags for name, flags in FLAGS.items() if compiles(flags)}
    if VECTORS not in units:
        print("this is no x86: no unit for AVX2")
    has_vectors = ["-DHAS_VECTORS"] if VECTORS in units else []
    common = [*compiler, "-std=c++20", "-O2", f"-I{include}"]
    objects = {name: work / f"{name}.o" for name in units}
    compiled = [[*flags, f"-DUNIT={name}", "-c", HERE / "unit.cpp", "-o", objects[name]]
                for name, flags in units.items()]
    # The same flags again: these two must share, or what follows would see nothing.
    compiled.append(["-DUNIT=use_plain_too", "-c", HERE / "unit.cpp", "-o", work / "again.o"])
    compiled.append([*has_vectors, "-c", HERE / "main.cpp", "-o", work / "main.o"])
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda arguments: run(*common, *arguments), compiled))

    symbols = {name: weak_symbols("nm", path) for name, path in objects.items()}
    again = weak_symbols("nm", work / "again.o")
    failures = []
    ours = {name: {s for s, readable in found.items() if "straggle::" in readable} for name, found in symbols.items()}
    for name, found in ours.items():
        print(f"{name}: {len(symbols[name])} weak symbols, {len(found)} of the library")
        if len(found) < 100:
            failures.append(f"{name} has {len(found)} weak symbols of the library: it does not use every kernel")
    if not ours[PLAIN] <= set(again):
        failures.append("two units of the same flags do not share")
    for one, two in itertools.combinations(units, 2):
        for symbol in sorted(set(symbols[one]) & set(symbols[two])):
            readable = symbols[one][symbol]
            if "straggle::" in readable or not readable.startswith(("std::", "__gnu_cxx::", "void std::", "bool std::",
                                                                    "decltype", "operator", "typeinfo", "DW.ref",
                                                                    "vtable")) and "std::" not in readable:
                failures.append(f"{one} and {two} share {readable}")
            else:
                print(f"{one} and {two} share {readable}")

    told = set()
    for order in itertools.permutations(objects.values()):
        program = work / "program"
        run(*common, *order, work / "main.o", "-o", program)
        ran = subprocess.run([str(program)], capture_output=True, text=True)
        if ran.returncode != 0:
            failures.append(f"linked as {' '.join(path.name for path in order)}: {ran.stdout.strip()} "
                            f"(status {ran.returncode})")
        told.add(ran.stdout)
    if len(told) > 1 and not failures:
        failures.append("what the plain unit computes depends on the order of linking")
    print(*failures, sep="\n")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
