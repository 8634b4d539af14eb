# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Every name a user can reach has a doc comment: `///` right above it, or `///<` behind it.

Overloads may share the comment of the first. `= default`, `= delete`, destructors, forward declarations,
specialisations, deduction guides and definitions outside their class need none; nor do comparisons, assignments and
the member types that the standard library has made a convention. What a concept of the same room, or of one that it
includes, asks for is explained there, once, and not again at every model. A macro that is defined in several ways is
explained at the first. A table in a comment is one: clang-format breaks rows that are too long. `@param` and `@tparam`
name something that the declaration below has.
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


def broken_tables(text):
    """Lines of comments that belong to a table and are no row of it."""
    cells = None  # of the table that goes on
    for number, line in enumerate(text.splitlines(), 1):
        row = re.match(r"\s*///\s*(\|.*)", line)
        if not row:
            if cells and re.match(r"\s*///\s*\S", line):
                yield number
            cells = None
            continue
        count = row[1].rstrip().count("|") - row[1].count("\\|")
        if not row[1].rstrip().endswith("|") or count != (cells or count):
            yield number
        cells = cells or count


def strange_parameters(lines, declaration):
    """(line, name) of each that is described above the declaration and that it does not have."""
    head = set(re.findall(r"\w+", " ".join(lines[declaration.line - 1:declaration.last_line])))
    above = declaration.line - 2
    while above >= 0 and lines[above].strip().startswith("//"):
        match = re.match(r"\s*///\s*@t?param(?:\[\w+\])?\s+(\w+)", lines[above])
        if match and match[1] not in head:
            yield above + 1, match[1]
        above -= 1


def asked_for(read, root=headers.ROOT):
    """header -> {member: the concepts that ask for it}, those of its room and of the rooms that it may include. A
    public concept may ask by way of one of detail."""
    by_room = defaultdict(lambda: defaultdict(list))
    for header, found in read.items():
        for d in found:
            for member in d.asked_for:
                by_room[headers.room_of(headers.name_of(header, root))][member].append(d.name)

    def asked(header):
        room = headers.room_of(headers.name_of(header, root))
        together = defaultdict(list)
        for other in (room, *headers.EDGES.get(room, ())):
            for member, concepts in by_room[other].items():
                together[member] += concepts
        return together

    return asked


def check(root=headers.ROOT):
    complaints = []
    read = {header: declarations(header.read_text()) for header in headers.headers(root)}
    asked = asked_for(read, root)
    for header, found in read.items():
        lines, shared = header.read_text().splitlines(), None
        for number, name in macros_without_comment(header.read_text()):
            complaints.append(f"{header}:{number}: macro {name} has no `///` comment")
        complaints += [f"{header}:{number}: is no row of the table above" for number in broken_tables(header.read_text())]
        for d in found:
            complaints += [f"{header}:{line}: {d.name} has no parameter {name}"
                           for line, name in strange_parameters(lines, d)]
            if not d.public or d.exempt or not d.name or d.kind in ("namespace", "other"):
                continue
            if d.name in CONVENTIONAL | OPERATORS or (d.in_class and d.name in asked(header)):
                continue
            if has_comment(lines, d):
                shared = (d.scope, d.name)
            elif shared != (d.scope, d.name):
                complaints.append(f"{header}:{d.line}: {d.kind} {d.name} has no `///` comment")
    return complaints


if __name__ == "__main__":
    headers.main(check)
