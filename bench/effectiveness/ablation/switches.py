#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""Copies the headers and adds a switch to each mechanism that no option turns off. Usage: switches.py INCLUDE OUT.

A patch is a piece of a header, which must occur once, and its replacement. A missing piece is an error: the mechanism
has moved or is gone, so update its line here."""
import pathlib
import shutil
import sys

HEAD = """#pragma once
namespace straggle_ablation {
enum switches : unsigned { %s };
inline thread_local unsigned off = 0; // bits
inline bool is_off(unsigned which) { return (off & which) != 0; }
}
"""

# name, header, piece, its replacement
POINTS = [
    ("races", "mitigate/speculator.hpp",
     "    void observe_race(detail::task_note& n, ended_row const& e) {\n", "{0}        if (OFF) return;\n"),
    ("load_watch", "blacklist/node_stage.hpp",
     "double excess, bool was_out) noexcept {\n", "{0}        if (OFF) return true;\n"),
    ("slow_now", "blacklist/node_stage.hpp",
     "slow_now(std::uint32_t node) const noexcept {\n", "{0}        if (OFF) return {{}};\n"),
    ("running", "blacklist/node_stage.hpp",
     "evidence_.update(now, running,",
     "evidence_.update(now, OFF ? std::span<running_attempt const>{{}} : running,"),
    ("hung", "blacklist/node_stage.hpp",
     "evidence_.is_hung(row.node, threshold);\n", "!OFF && {0}"),
    ("outrun", "blacklist/node_stage.hpp", "if (evidence_.take_outrun(row.node))", "if (evidence_.take_outrun(row.node) && !OFF)"),
    ("outrun", "blacklist/node_stage.hpp", "evidence_.outrun_by(row.node);", "OFF ? 0.0 : {0}"),
]


def main():
    source, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(source, out)
    names = list(dict.fromkeys(p[0] for p in POINTS))
    (out / "switches.hpp").write_text(HEAD % ", ".join(f"{n} = 1u << {i}" for i, n in enumerate(names)))
    # Renames everything, so that one program can contain these headers and the original ones.
    points = POINTS + [("", "base/config.hpp", "#define STRAGGLE_ABI  ",
                        "#include <switches.hpp>\n#define STRAGGLE_ABI switched\n#define STRAGGLE_ABI_OF_FLAGS  ")]
    for name, header, piece, instead in points:
        path = out / "straggle" / header
        text = path.read_text()
        if text.count(piece) != 1:
            sys.exit(f"switches.py: {name}: {header} contains {text.count(piece)} times: {piece!r}")
        off = f"::straggle_ablation::is_off(::straggle_ablation::{name})"
        path.write_text(text.replace(piece, instead.format(piece).replace("OFF", off)
                                     if name else instead))


if __name__ == "__main__":
    main()
