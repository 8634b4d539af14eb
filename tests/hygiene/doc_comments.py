# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Every name a user can reach has a doc comment: `///` right above it, or `///<` behind it.

Overloads may share the comment of the first. `= default`, `= delete`, destructors, forward declarations,
specialisations, deduction guides and definitions outside their class need none; nor do comparisons, assignments and
the member types that the standard library has made a convention. What a concept of the same room asks for is
explained there, once, and not again at every model. A macro that is defined in several ways is explained at the first.
"""
import re
from collections import defaultdict

import headers
from declarations import declarations

CONVENTIONAL = {"value_type", "result_type", "size_type", "difference_type", "iterator", "const_iterator",
                "reference", "const_reference", "allocator_type", "is_transparent", "iterator_concept",
                "iterator_category"}
OPERATORS = {"operator=", "operator==", "operator!=", "operator<=>",
             "operator<", "operator<=", "operator>", "operator>="}


def has_comment(lines, declaration):
    """Lines are counted from 1, the list from 0."""
    above = declaration.line - 2
    while above >= 0 and (lines[above].strip().startswith(("// ", "#")) or lines[above].strip() == "//"):
        above -= 1
    if above >= 0 and lines[above].strip().startswith("///") and not lines[above].strip().startswith("///<"):
        return True
    return any("///<" in line for line in lines[declaration.line - 1:declaration.last_line])


def macros_without_comment(text):
    """(line, name) of each."""
    lines, seen = text.splitlines(), set()
    for number, line in enumerate(lines, 1):
        match = re.match(r"\s*#\s*define\s+(\w+)", line)
        # What the tag of the inline namespace is put together from is explained once, above all of it.
        if match and match[1] not in seen and not match[1].startswith("STRAGGLE_ABI_"):
            seen.add(match[1])
            if number < 2 or not lines[number - 2].startswith("///"):
                yield number, match[1]


def check(root=headers.ROOT):
    complaints, asked_for = [], defaultdict(set)
    read = {header: declarations(header.read_text()) for header in headers.headers(root)}
    for header, found in read.items():
        for d in found:
            if d.public or d.kind == "concept":
                asked_for[header.parent] |= d.asked_for
    for header, found in read.items():
        lines, shared = header.read_text().splitlines(), None
        for number, name in macros_without_comment(header.read_text()):
            complaints.append(f"{header}:{number}: macro {name} has no `///` comment")
        for d in found:
            if not d.public or d.exempt or not d.name or d.kind in ("namespace", "other"):
                continue
            if d.name in CONVENTIONAL | OPERATORS or (
                    d.in_class and d.name in asked_for[header.parent] | asked_for[header.parents[1] / "record"]):
                continue
            if has_comment(lines, d):
                shared = (d.scope, d.name)
            elif shared != (d.scope, d.name):
                complaints.append(f"{header}:{d.line}: {d.kind} {d.name} has no `///` comment")
    return complaints


if __name__ == "__main__":
    headers.main(check)
