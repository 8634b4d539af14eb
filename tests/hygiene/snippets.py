#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Every listing and every output shown in README.md and docs/ is a piece of a program that is compiled and run.

A listing stands below `<!-- snippet FILE NAME -->` and equals the part of FILE between two lines `//! [NAME]`, in
Python `#! [NAME]`, less its common indentation. An output stands below `<!-- output FILE -->` and equals that file. With --update the
documents are rewritten instead of checked.
"""
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
MARK = re.compile(r"(<!-- (snippet|output) (\S+)(?: (\S+))? -->\n)```(\w*)\n(.*?)```\n", re.S)


def wanted(kind, file, name):
    text = (ROOT / file).read_text()
    if kind == "output":
        return text
    parts = re.split(rf"(?://|#)! \[{re.escape(name)}\]\n", text)
    if len(parts) != 3:
        raise ValueError(f"{file} has no part [{name}]")
    # The indentation of the closing mark's line ends up behind the part.
    return textwrap.dedent(parts[1].rstrip(" "))


def main():
    update = "--update" in sys.argv[1:]
    problems = 0
    seen = 0
    for document in [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]:
        text = document.read_text()

        def check(match):
            nonlocal problems, seen
            seen += 1
            head, kind, file, name, language, shown = match.groups()
            try:
                right = wanted(kind, file, name)
            except (OSError, ValueError) as error:
                print(f"{document.relative_to(ROOT)}: {error}")
                problems += 1
                return match.group(0)
            if shown != right and not update:
                print(f"{document.relative_to(ROOT)}: the listing of {file} {name or ''} is not what the file says")
                problems += 1
            return f"{head}```{language}\n{right}```\n"

        renewed = MARK.sub(check, text)
        if update and renewed != text:
            document.write_text(renewed)
        marks = len(re.findall(r"<!-- (?:snippet|output) ", text))
        if marks != len(MARK.findall(text)):
            print(f"{document.relative_to(ROOT)}: a mark without a listing below it")
            problems += 1
    if seen == 0:
        print("no listing was found at all")
        problems += 1
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
