#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Makes straggle_all.hpp: the whole library in one file, to be copied into a project.

    single_header.py [FILE]       writes FILE, or to the standard output

The headers come in the order in which <straggle/straggle.hpp> includes them, then what is asked for by name (the other
faces, and papers/), each once and whole but for its license and its includes; the standard headers come first, sorted.
The same headers give the same bytes, wherever and whenever the file is made. What cannot be done faithfully is an error: a
header that is not reached, a circle, an include below code or inside of a condition (but one: `#ifndef
STRAGGLE_COMPILED` holds in a file that has everything).
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UMBRELLA = "straggle/straggle.hpp"
NOTICE = """\
// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""
RULE = "// " + "=" * 105 + "\n"

HEAD = """\
// straggle {version}, the whole library in one file.
//
// Include it instead of the headers of straggle, not beside them, and in every translation unit of a program or in
// none. It holds all rooms, also those that <straggle/straggle.hpp> leaves out. The macros a user may define before are
// those of `config.hpp`, below. Made by packaging/single_header.py; to change something, change the headers it is made
// from.
//
// Copyright the straggle authors.
//
{license}
#ifndef STRAGGLE_ALL_HPP
#define STRAGGLE_ALL_HPP

#ifdef STRAGGLE_EXPECTS
#error "straggle_all.hpp stands for all headers of straggle: include this file or those, not both"
#endif

{standard}"""
FOOT = """
#endif // STRAGGLE_ALL_HPP
"""

_HEADER = re.compile(rf"{re.escape(NOTICE)}\n/// @file\n(?P<comment>(?:///[^\n]*\n)+)#pragma once\n(?P<code>.*)",
                     re.DOTALL)
_WITHOUT_COMPILED = re.compile(r"^#ifndef STRAGGLE_COMPILED\n((?:#include [^\n]+\n)+)#endif\n", re.MULTILINE)
_DIRECTIVE = re.compile(r"\s*#\s*(\w+)")
_INCLUDE = re.compile(r"#include <([^>]+)>")


class Refused(Exception):
    """The headers are not in the form this tool can put together."""


class Header:
    """One header, taken apart: the comment that says what it is for, its includes, and everything else."""

    def __init__(self, name, text):
        parts = _HEADER.fullmatch(text)
        if not parts:
            raise Refused(f"{name}: must begin with the license, a file comment and #pragma once")
        self.name = name
        self.comment = [line[4:] for line in parts["comment"].splitlines()]
        self.project, self.standard, self.lines = [], [], []
        depth, in_code = 0, False
        for line in _WITHOUT_COMPILED.sub(r"\1", parts["code"]).splitlines():
            directive = _DIRECTIVE.match(line)
            word = directive[1] if directive else ""
            if word != "include":
                depth += (word in ("if", "ifdef", "ifndef")) - (word == "endif")
                in_code |= bool(line.strip()) and not line.startswith("//") and not directive
                self.lines.append(line)
                continue
            include = _INCLUDE.fullmatch(line)
            if not include:
                raise Refused(f"{name}: not understood: {line}")
            target = include[1]
            if in_code:
                raise Refused(f"{name}: {line} stands below code")
            if depth == 0:
                (self.project if target.startswith("straggle/") else self.standard).append(target)
            elif target.startswith("straggle/"):
                raise Refused(f"{name}: {line} stands inside of a condition")
            else:
                self.lines.append(line)  # stays in its condition

    def section(self, hoisted):
        """As it stands in the one file. `hoisted`: the standard headers above all sections."""
        text = "\n".join(line for line in self.lines
                         if not ((include := _INCLUDE.fullmatch(line)) and include[1] in hoisted))
        text = re.sub(r"^#if[^\n]*\n\s*#endif[^\n]*\n", "", text, flags=re.MULTILINE)  # nothing left in it
        text = re.sub(r"\n{3,}", "\n\n", text).strip("\n")
        comment = "".join(f"// {line}".rstrip() + "\n" for line in self.comment)
        return f"\n{RULE}// {self.name}\n//\n{comment}{RULE}" + (f"\n{text}\n" if text else "")


def read_all(root):
    """Every header there is, by the name it is included by."""
    folder = Path(root) / "include"
    return {path.relative_to(folder).as_posix(): Header(path.relative_to(folder).as_posix(),
                                                        path.read_bytes().decode("utf-8"))
            for path in sorted(folder.rglob("*.hpp"))}


def in_order(headers):
    """The headers, each behind those it includes; the umbrella is the last."""
    order, under_way = [], []

    def visit(name, by):
        if name in under_way:
            raise Refused(f"a circle of includes: {' -> '.join([*under_way, name])}")
        if name not in headers:
            raise Refused(f"{by}: includes {name}, which does not exist")
        if headers[name] in order:
            return
        under_way.append(name)
        for target in headers[name].project:
            visit(target, name)
        under_way.pop()
        order.append(headers[name])

    visit(UMBRELLA, "")
    for name in asked_for_by_name(headers):
        visit(name, "")
    for header in order:
        if is_face(header.name) and "".join(line for line in header.lines if not line.startswith("//")).strip():
            raise Refused(f"{header.name}: has more than includes")
    if forgotten := sorted(set(headers) - {header.name for header in order}):
        raise Refused(f"{UMBRELLA} and what is asked for by name do not reach {', '.join(forgotten)}")
    # Faces and umbrella have nothing but includes.
    return [header for header in order if not is_face(header.name)] + [headers[UMBRELLA]]


def is_face(name):
    """straggle/detect.hpp, and the umbrella; the version and the macros are no faces."""
    return name.count("/") == 1 and name != "straggle/version.hpp"


def asked_for_by_name(headers):
    """The faces that the umbrella leaves out, and every paper."""
    reached = set(headers[UMBRELLA].project)
    return [name for name in headers if (is_face(name) and name != UMBRELLA and name not in reached)
            or (name.startswith("straggle/papers/") and "/detail/" not in name)]


def version_of(headers):
    text = "\n".join(headers["straggle/version.hpp"].lines)
    numbers = [re.findall(rf"^#define STRAGGLE_VERSION_{part} (\d+)$", text, re.MULTILINE)
               for part in ("MAJOR", "MINOR", "PATCH")]
    if any(len(found) != 1 for found in numbers):
        raise Refused("straggle/version.hpp: does not define the three numbers of the version once each")
    return ".".join(found[0] for found in numbers)


def as_comment(text):
    return "".join(f"// {line}".rstrip() + "\n" for line in text.splitlines())


def single_header(root=ROOT):
    headers = read_all(root)
    *sections, _ = in_order(headers)  # of the umbrella nothing is left
    hoisted = sorted({target for header in headers.values() for target in header.standard})
    head = HEAD.format(version=version_of(headers), license=as_comment((Path(root) / "LICENSE").read_text(encoding="utf-8")),
                       standard="".join(f"#include <{target}>\n" for target in hoisted))
    return head + "".join(header.section(hoisted) for header in sections) + FOOT


def main():
    arguments = sys.argv[1:]
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        sys.exit(__doc__)
    try:
        text = single_header().encode("utf-8")
    except Refused as reason:
        sys.exit(str(reason))
    if arguments:
        Path(arguments[0]).write_bytes(text)
    else:
        sys.stdout.buffer.write(text)


if __name__ == "__main__":
    main()
