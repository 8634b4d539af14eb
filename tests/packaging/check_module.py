# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Uses the library as a C++20 module.

    check_module.py consumer -- COMPILER FLAGS...   compiles packaging/module/straggle.cppm, and a program that
                                                    imports it; the program has to say the right things
    check_module.py names -- COMPILER FLAGS...      what can be said after `#include <straggle/straggle.hpp>` can be
                                                    said after `import straggle;`, and no name of detail can

Both try a small module first (module/probe.cppm). A toolchain that cannot build that, in one of the ways known here,
is not asked for more: the output begins with "skipped: ", and the status is 0.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent / "module"
ROOT = HERE.parents[2]
INTERFACE = ROOT / "packaging/module/straggle.cppm"
INCLUDES = "".join(re.findall(r"^#include <straggle/.*\n", INTERFACE.read_text(), re.MULTILINE))


class Failed(Exception):
    """A command that should have succeeded did not."""


class Toolchain:
    """One compiler, and one way to make a module with it, in a folder of its own."""

    def __init__(self, command, folder):
        self.command, self.folder = command, Path(folder)

    def run(self, *arguments):
        done = subprocess.run([str(a) for a in arguments], cwd=self.folder, capture_output=True, text=True,
                              errors="replace")
        if done.returncode != 0:
            raise Failed(f"{' '.join(str(a) for a in arguments)}\n{done.stdout}{done.stderr}")
        return done.stdout

    def program(self, interface, module, *sources):
        """Compiles the module and the sources, links them and returns what the program says."""
        self.interface(interface, module)
        objects = [self.object(module)]
        for source in sources:
            objects.append(f"{source.stem}.o")
            self.run(*self.command, *self.importing(module), "-c", source, "-o", objects[-1])
        self.run(*self.command, *objects, "-o", "program")
        return self.run(self.folder / "program")


class Precompiled(Toolchain):
    """--precompile, as clang does it: the interface becomes a file that is named where it is imported."""
    name = "--precompile"

    def interface(self, interface, module):
        self.run(*self.command, "--precompile", "-x", "c++-module", interface, "-o", f"{module}.pcm")

    def object(self, module):
        lenient = "-Wno-unused-command-line-argument"  # there is nothing to preprocess
        self.run(*self.command, lenient, "-c", f"{module}.pcm", "-o", f"{module}-module.o")
        return f"{module}-module.o"

    def importing(self, module):
        return [f"-fmodule-file={module}={module}.pcm"]


class Cached(Toolchain):
    """-fmodules-ts, as GCC does it: the interface leaves a file where the compiler looks for it by itself."""
    name = "-fmodules-ts"

    def interface(self, interface, module):
        self.run(*self.command, "-fmodules-ts", "-x", "c++", "-c", interface, "-o", f"{module}-module.o")

    def object(self, module):
        return f"{module}-module.o"

    def importing(self, module):
        return ["-fmodules-ts"]


def find_toolchain(command, folder):
    """The first way that works for a small module; otherwise says why there is none."""
    # A warning would be no reason to do without.
    lenient, reasons = [flag for flag in command if not flag.startswith("-Werror")], []
    for way in Precompiled, Cached:
        try:
            way(lenient, folder).program(HERE / "probe.cppm", "probe", HERE / "probe_main.cpp")
            return way(command, folder)
        except Failed as reason:
            errors = [line for line in str(reason).splitlines() if "error:" in line] or str(reason).splitlines()
            reasons.append(f"  {way.name}: {errors[0]}")
    print("skipped: this toolchain cannot build modules", *reasons, sep="\n")
    sys.exit(0)


def expected_version():
    text = (ROOT / "include/straggle/version.hpp").read_text()
    return ".".join(re.findall(r"^#define STRAGGLE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", text, re.MULTILINE))


def consumer(toolchain):
    said = toolchain.program(INTERFACE, "straggle", HERE / "main.cpp", HERE / "including.cpp")
    expected = (f"straggle {expected_version()}\nweakest: host 4\navoid host 4: slower than 5 others\n"
                "the other unit avoids host 4\n")
    print(said)
    return [] if said == expected else [f"the program should have said:\n{expected}"]


def listed_names(toolchain, scope):
    """All names the compiler knows in a namespace, hidden friends and inner namespaces among them."""
    unit = toolchain.folder / "umbrella.cpp"
    unit.write_text(INCLUDES)
    try:
        said = toolchain.run(*toolchain.command, "-fsyntax-only", "-Xclang", "-ast-dump-lookups",
                             "-Xclang", f"-ast-dump-filter={scope}", unit)
    except Failed:
        said = ""
    # Inner namespaces whose names also match the filter come after it, each under a title of its own.
    blocks = re.findall(rf"^Dumping {scope}:\nStoredDeclsMap [^\n]*\n(.*?)(?=^Dumping |\Z)", said,
                        re.MULTILINE | re.DOTALL)
    names = {name for block in blocks
             for name in re.findall(r"^[|`]-DeclarationName '([^']+)'", block, re.MULTILINE)}
    return sorted(name for name in names if not name.startswith("<"))  # deduction guides cannot be named


def sayable(toolchain, first_line, names, *flags):
    """Those of the qualified names that a unit which begins with the first line can name."""
    unit = toolchain.folder / "names.cpp"
    # Each in a namespace of its own, as rooms may use the same word.
    lines = "".join(f"namespace asked_{k} {{ using {name}; }}\n" for k, name in enumerate(names))
    unit.write_text(first_line + "\n" + lines)
    done = subprocess.run([*toolchain.command, *flags, "-fsyntax-only", "-ferror-limit=0", str(unit)],
                          cwd=toolchain.folder, capture_output=True, text=True, errors="replace")
    above = len(first_line.splitlines()) + 1
    refused = {int(line) - above for line in re.findall(r"names\.cpp:(\d+):\d+: (?:fatal )?error", done.stderr)}
    if any(not 0 <= index < len(names) for index in refused) or (done.returncode != 0 and not refused):
        raise Failed(done.stderr)
    return {name for index, name in enumerate(names) if index not in refused}


def names(toolchain):
    inner = re.findall(r"^namespace (\S+) \{$", INTERFACE.read_text(), re.MULTILINE)
    scopes = ["straggle", *(f"straggle::{scope}" for scope in dict.fromkeys(inner))]
    public = sorted({f"{scope}::{name}" for scope in scopes for name in listed_names(toolchain, scope)
                     if not re.fullmatch(r"v\d+_\d+_\d+_\w+", name)})
    hidden = [f"straggle::detail::{name}" for name in listed_names(toolchain, "straggle::detail")]
    if not public or not hidden:
        print("skipped: this compiler does not list the names of a namespace")
        return []
    including, importing = INCLUDES.rstrip(), "import straggle;"
    toolchain.interface(INTERFACE, "straggle")
    found = sayable(toolchain, including, [*public, *hidden])
    wanted = {name for name in found if not name.startswith("straggle::detail::")}
    if not wanted or wanted == found:
        return ["none of the names the compiler lists can be said"]
    have = sayable(toolchain, importing, [*public, *hidden], *toolchain.importing("straggle"))
    exported = re.findall(r"^using (\S+);$", INTERFACE.read_text(), re.MULTILINE)
    print(f"{len(wanted)} public names, {len(found) - len(wanted)} of detail, {len(exported)} exported")
    return ([f"{name} is not exported" for name in sorted(wanted - have)]
            + [f"{name} leaks" for name in sorted(have - wanted)]
            + [f"{name} is exported, but no name of the headers" for name in sorted(set(exported) - wanted)]
            + [f"{name} is exported twice" for name in sorted(set(exported)) if exported.count(name) > 1])


def main():
    mode, separator, *command = sys.argv[1:]
    ways = {"consumer": consumer, "names": names}
    if mode not in ways or separator != "--" or not command:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        try:
            complaints = ways[mode](find_toolchain([*command, f"-I{ROOT / 'include'}"], folder))
        except Failed as reason:
            complaints = [str(reason)]
    print(*complaints, sep="\n")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
