#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Makes straggle.cppm, the list of every public name, from the headers.

    make_module.py            writes straggle.cppm beside this file
    make_module.py --check    fails if that would change it

The file is committed, so that a user needs no more than a compiler; a test keeps it true. Another test asks a compiler
for the names, and must find the same.
"""
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "packaging"))
sys.dont_write_bytecode = True

import single_header  # noqa: E402  (both need the path)
from declarations import declarations  # noqa: E402

HEAD = """\
// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The library as a C++20 module: `import straggle;` instead of includes, with the same names, those of all rooms, and
/// nothing of `straggle::detail`. Made by make_module.py from the headers; do not edit.
///
/// A module has no macros. The version is `straggle::library_version`; `STRAGGLE_NO_INT128` and the others of
/// `config.hpp` are given to the compiler when it compiles this file, and to all other units of the program. Units
/// that import and units that include can be linked together: the types are the same.
///
/// By hand, with clang (tested with 19; FLAGS must be the same in all lines):
///
///     clang++ -std=c++20 FLAGS -Iinclude --precompile packaging/module/straggle.cppm -o straggle.pcm
///     clang++ -std=c++20 FLAGS -fmodule-file=straggle=straggle.pcm main.cpp straggle.pcm -o main
///
/// With CMake 3.28 or newer, whose support for modules our tests do not cover, after add_subdirectory or
/// FetchContent:
///
///     add_library(straggle_module)
///     target_sources(straggle_module PUBLIC FILE_SET CXX_MODULES
///                    BASE_DIRS ${straggle_SOURCE_DIR}/packaging/module
///                    FILES ${straggle_SOURCE_DIR}/packaging/module/straggle.cppm)
///     target_link_libraries(straggle_module PUBLIC straggle::straggle)
///
/// Standard headers are best included above the import. g++ 12 compiles this file, but loses the names it exports.
"""
BEGIN = """
module;
{includes}export module straggle;

// clang-format off
export namespace straggle {{
"""
END = """
} // namespace straggle
"""


def public_names(text):
    """(namespace, name) of what a header declares in a namespace, in its order. Forward declarations count as much as
    definitions: whoever has a name may say it."""
    return [("::".join(d.scope), d.name) for d in declarations(text)
            if d.public and not d.in_class and d.name and d.kind not in ("namespace", "other")
            and d.name != "specialisation"]


def in_namespaces(names):
    """Lines that export them, those of one namespace after the other together."""
    lines, now = [], "straggle"
    for scope, name in names:
        if scope != now:
            lines += ["}"] * (now != "straggle")
            lines += [f"namespace {scope.removeprefix('straggle::')} {{"] * (scope != "straggle")
            now = scope
        lines.append(f"using {scope}::{name};")
    return lines + ["}"] * (now != "straggle")


def module(root=ROOT):
    listed, parts, headers = set(), [], single_header.read_all(root)
    for header in single_header.in_order(headers):
        fresh = [name for name in dict.fromkeys(public_names("\n".join(header.lines))) if name not in listed]
        listed.update(fresh)
        if fresh:
            parts.append(f"\n// {header.name}\n" + "".join(line + "\n" for line in in_namespaces(fresh)))
    included = [single_header.UMBRELLA, *single_header.asked_for_by_name(headers)]
    begin = BEGIN.format(includes="".join(f"#include <{name}>\n" for name in included))
    return HEAD + begin + "".join(parts) + END


def main():
    file = HERE / "straggle.cppm"
    if sys.argv[1:] == ["--check"]:
        if file.read_bytes() != module().encode():
            sys.exit(f"{file.relative_to(ROOT)} is not what the headers say: run {Path(__file__).relative_to(ROOT)}")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        file.write_bytes(module().encode())


if __name__ == "__main__":
    main()
