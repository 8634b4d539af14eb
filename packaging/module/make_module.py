#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Makes straggle.cppm, the list of every public name, from the headers.

    make_module.py            writes straggle.cppm beside this file
    make_module.py --check    fails if that would change it

The file is committed, so that a user needs no more than a compiler; a test keeps it true. The headers are read by the
reader of the hygiene checks; another test asks a compiler for the names, and must find the same.
"""
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "packaging"), str(ROOT / "tests/hygiene")]
sys.dont_write_bytecode = True

import single_header  # noqa: E402  (both need the path)
from declarations import declarations  # noqa: E402

HEAD = """\
// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The library as a C++20 module: `import straggle;` instead of `#include <straggle/straggle.hpp>`, with the same
/// names and nothing of `straggle::detail`. Made by make_module.py from the headers; do not edit.
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
#include <straggle/straggle.hpp>
export module straggle;

// clang-format off
export namespace straggle {
"""
END = """
} // namespace straggle
"""


def public_names(text):
    """What a header declares in namespace straggle itself, in its order. Forward declarations count as much as
    definitions: whoever has a name may say it."""
    return [d.name for d in declarations(text)
            if d.scope == ("straggle",) and d.public and not d.in_class and d.name
            and d.kind not in ("namespace", "other")]


def module(root=ROOT):
    listed, parts = set(), []
    # The forward declarations last, so that each name stands with its definition.
    order = single_header.in_order(single_header.read_all(root))
    for header in sorted(order, key=lambda header: header.name == "straggle/fwd.hpp"):
        fresh = [name for name in dict.fromkeys(public_names("\n".join(header.lines))) if name not in listed]
        listed.update(fresh)
        if fresh:
            parts.append(f"\n// {header.name}\n" + "".join(f"using straggle::{name};\n" for name in fresh))
    return HEAD + BEGIN + "".join(parts) + END


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
