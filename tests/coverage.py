# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Lines and branches of include/ that the tests reach, room by room, from what `llvm-cov export` wrote.

One file per test program: a line or a way of a branch is reached if one program reaches it in one instantiation.
(Asked for all programs at once, llvm-cov 19 takes a function for unused that the first of them does not use.)
Status 1 where all rooms together fall short of what is asked for.
"""
import argparse
import json
from itertools import groupby
from pathlib import Path

INCLUDE = Path(__file__).resolve().parent.parent / "include" / "straggle"


def lines_of(segments):
    """Line: how often it was run, of the lines with code. A segment: line, column, count, is counted, begins, gap."""
    lines, last = {}, None
    for line, group in groupby(segments, key=lambda s: s[0]):
        if last is not None and last[3]:  # goes on over the lines in between
            for between in range(last[0] + 1, line):
                lines[between] = last[2]
        group = list(group)
        counts = [s[2] for s in group if s[3] and s[4] and not s[5]]
        if last is not None and last[3]:
            counts.append(last[2])
        if counts:
            lines[line] = max(counts)
        last = group[-1]
    return lines


class Reached:
    """Of a file: by line whether it was reached, by way of a branch the same."""

    def __init__(self):
        self.lines, self.branches = {}, {}

    def add(self, file):
        for line, count in lines_of(file["segments"]).items():
            self.lines[line] = self.lines.get(line, False) or count > 0
        for branch in file.get("branches", []):
            place = tuple(branch[:4])
            for way, count in ("true", branch[4]), ("false", branch[5]):
                self.branches[place, way] = self.branches.get((place, way), False) or count > 0


def count(reached):
    return len(reached), sum(reached.values())


def percent(all_of_them, those):
    return 100 * those / all_of_them if all_of_them else 100.0


def row(name, lines, branches):
    return "".join([f"{name:<36}"] + [f"{those:>8} of {of:<6} {percent(of, those):6.2f} %" for of, those in
                                      (lines, branches)])


def total(tallies):
    return tuple(map(sum, zip(*tallies)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("exports", type=Path, nargs="+", help="what `llvm-cov export` wrote, a file per program")
    parser.add_argument("--lines", type=float, default=0, help="least share of lines, in percent")
    parser.add_argument("--branches", type=float, default=0, help="least share of branches, in percent")
    parser.add_argument("--files", action="store_true", help="a row per file, too")
    options = parser.parse_args()
    rooms = {}
    for export in options.exports:
        for file in json.loads(export.read_text(encoding="utf-8"))["data"][0]["files"]:
            path = Path(file["filename"]).resolve()
            if INCLUDE in path.parents:
                name = path.relative_to(INCLUDE)
                room = name.parts[0] if len(name.parts) > 1 else "(all rooms)"
                rooms.setdefault(room, {}).setdefault(name.as_posix(), Reached()).add(file)
    if not rooms:
        parser.error("nothing of include/ in there")
    print(f"{'room':<36}{'lines':>25}{'branches':>25}")
    all_lines, all_branches = [], []
    for room, files in sorted(rooms.items()):
        lines = [count(f.lines) for f in files.values()]
        branches = [count(f.branches) for f in files.values()]
        if options.files:
            for name, of_lines, of_branches in sorted(zip(files, lines, branches)):
                print(row("  " + name, of_lines, of_branches))
        print(row(room, total(lines), total(branches)))
        all_lines += lines
        all_branches += branches
    print(row("together", total(all_lines), total(all_branches)))
    short = False
    for what, tallies, least in ("lines", all_lines, options.lines), ("branches", all_branches, options.branches):
        share = percent(*total(tallies))
        if share < least:
            print(f"{share:.2f} % of the {what} were reached, {least:g} % are asked for")
            short = True
    return 1 if short else 0


if __name__ == "__main__":
    raise SystemExit(main())
