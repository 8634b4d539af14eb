#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Writes what repeats the headers: the includes of the faces of rooms, and tables between marks in the documents.

    generate.py --update    writes them
    generate.py --check     fails if that would change anything

- `include/straggle/<room>.hpp`: below `#pragma once` every header of the room but the private ones.
- `<!-- rooms begin -->`: the rooms, from the face of each (`include/straggle/<room>.hpp`: its question, and the names it
  says to begin with) and from the edges in tests/hygiene/headers.py. `<!-- edges begin -->`: the same with the rooms each
  may include.
- `<!-- rules begin WHERE... -->`: all rules and options in these rooms or headers, with their parameters and defaults,
  the first sentence of their comment, and their source. Those of a header named elsewhere stand there.
- `<!-- effects begin -->`: what policies do to jobs, from the first table of docs/reference/effectiveness.md, which
  `bench/effectiveness.sh` writes.
- `<!-- speed begin -->`: five kernels, and the one that is slowest beside a rival that does the same, from
  docs/reference/speed.md, which `bench/ratios.py` writes.
- `<!-- choices begin -->`: the enumerations that parameters of rules take.

A type is a rule if it has one of the functions that the library calls, or a name; options are listed where no rule
takes them.
"""
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests/hygiene"), str(ROOT / "packaging")]
sys.dont_write_bytecode = True

import headers  # noqa: E402  (both need the path)
from declarations import declarations  # noqa: E402

EFFECTS = ("library", "late", "hadoop", "spark4", "flink_limited", "dsb", "oracle")
KERNELS = (("Student-t quantile, whole degrees of freedom, 1000 values", "Boost.Math, double only"),
           ("scores alone, 1e6 in order of time, 100 tasks a job", "robin_map"),
           ("all levels, 1000 nodes, realistic", "sort sweep"),
           ("rank 1e6 pairs", "std::map"),
           ("snapshot and `late`, 1e3 tasks", "plain"))
# Rivals that do less: a bound, and an assignment that is not the best.
LESSER = {"two bare passes, a bound", "greedy, not optimal"}
FACELESS = {"papers": ("each paper to the letter, its misprints included", "`papers/dsb_2019.hpp`, `papers/riski_2014.hpp`")}
# A type with one of these functions, or with a member of these, is a rule; and so are options.
FUNCTIONS = {"select", "admits", "advance", "detect", "normalize", "remaining", "per_input"}
MEMBERS = {"name", "min_tasks"}
# Not to be chosen: an object around a rule, a model that a rule has made, a column of a record, a base class.
NO_RULES = {"straggler_scan", "boosted_trees", "numeric_factor", "categorical_factor", "factor_reader", "recording"}
# Chosen, too, though they have none of these.
ALSO = {"t_interval", "calibration", "power_model", "straggler_rule"}
MARK = re.compile(r"<!-- (rooms|edges|rules|choices|effects|speed) begin ?([^>]*?) ?-->\n(.*?)<!-- \1 end -->", re.S)


@dataclass
class Type:
    header: str  # straggle/detect/late.hpp
    comment: str  # above it
    members: dict = field(default_factory=dict)  # name -> default, None if there is none
    constructors: dict = field(default_factory=dict)
    kinds: set = field(default_factory=set)  # words of the types of its parameters
    enumerators: list = field(default_factory=list)
    is_rule: bool = False
    options: set = field(default_factory=set)  # types of options that a constructor takes

    def parameters(self):
        return self.members or self.constructors


def split_outside(text, separator=","):
    """Splits at what is in no bracket."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([{<") - (c in ")]}>")
        if c == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts if part.strip()]


def initialised(text):
    """(name, default, type) of `type name = default`, `type name{default}` or `type name`."""
    text = re.sub(r"\[\[.*?\]\]", "", text).strip().rstrip(";")
    match = re.match(r"(?P<type>.*?)\b(?P<name>\w+)\s*(?:=\s*(?P<a>.*)|\{(?P<b>.*)\})?$", text, re.S)
    default = match["a"] if match["a"] is not None else match["b"]
    return match["name"], "{}" if default in ("", "{}") else default, match["type"].strip()


def parameters_in(source, name):
    """What stands in the parentheses behind the name of a constructor."""
    opening = source.index("(", source.index(name))
    depth, end = 0, opening
    while True:
        depth += (source[end] == "(") - (source[end] == ")")
        if depth == 0:
            return split_outside(source[opening + 1:end])
        end += 1


def comment_above(lines, line):
    """The text of the `///` comment above a line, counted from 1; the lines of a template header belong to it."""
    out, k = [], line - 2
    while k >= 0 and lines[k].strip().startswith("///"):
        out.append(lines[k].strip()[3:].strip())
        k -= 1
    return "\n".join(reversed(out))


def types(root=headers.ROOT):
    """Every public type by its name, `monitor::options` for nested ones, `detect::late` in the namespace of a room."""
    found, expand = {}, []
    for header in headers.headers(root):
        text, name_of_header = header.read_text(), headers.name_of(header, root)
        lines, code = text.splitlines(), headers.without_comments(text).splitlines()
        for d in declarations(text):
            if not d.public or not d.name:
                continue
            full = "::".join((*"::".join(d.scope).split("::")[1:], d.name))
            if d.kind == "type" and not d.exempt:
                t = found.setdefault(full, Type(name_of_header, comment_above(lines, d.line)))
                t.is_rule |= d.name.endswith("options")
            owner = found.get(full.rpartition("::")[0])
            if owner is None or not d.in_class:
                continue
            owner.is_rule |= d.name in (FUNCTIONS if d.kind == "function" else MEMBERS)
            source = " ".join(code[d.line - 1:d.last_line])
            if d.kind == "enumerator":
                owner.enumerators.append(d.name)
            elif d.kind == "variable" and "static" not in d.words:
                name, default, kind = initialised(source)
                owner.members[name] = default
                owner.kinds |= set(re.findall(r"\w+", kind))
            elif d.kind == "function" and d.name == d.scope[-1] and not d.exempt:
                for parameter in parameters_in(source, d.name):
                    name, default, kind = initialised(parameter)
                    kind = re.sub(r"\b(const|constexpr)\b|&", "", kind).strip()
                    owner.kinds |= set(re.findall(r"\w+", kind))
                    if "options" in kind or default == "{}":
                        expand.append((owner, full.rpartition("::")[0], name, kind))
                    if owner.constructors.get(name) is None:
                        owner.constructors[name] = default
    for owner, scope, name, kind in expand:
        room = scope.partition("::")[0]
        places = [f"{scope}::{kind}", f"{scope.removesuffix('_trainer')}_{kind}", f"{room}::{kind}", kind]
        options = next((place for place in places if place in found and found[place].parameters()), None)
        if options:
            owner.constructors.pop(name, None)
            owner.constructors.update(found[options].parameters())
            owner.kinds |= found[options].kinds
            owner.options.add(options)
    return found


def sentence(text):
    """The first one, on one line. A full stop behind an initial or `al` does not end it."""
    text = re.sub(r"\s*\n\s*", " ", text.partition("\n\n")[0]).strip()
    match = re.match(r"(.*?(?<!\b[A-Z])(?<!\bal)(?<!\be\.g)(?<!\bi\.e)[.:;])(?:\s|$)", text)
    return (match[1] if match else text).rstrip(".:;")


def what(t):
    return sentence(re.split(r"@par|@tparam|@param|Source:", t.comment)[0])


def source(t):
    match = re.search(r"Source: (.*)", t.comment, re.S)
    return sentence(re.split(r"\bChanged:|\bOurs:|@par", match[1])[0]) if match else ""


def shown(name, default):
    if default in (None, "{}"):
        return f"`{name}`"
    if "numeric_limits" in default:
        return f"`{name}` = none"
    text = re.sub(r"std::\w+\{(\w+)\}", r"\1", default).replace("'", "").replace("std::", "")
    text = re.sub(r"(\d+) *<< *(\d+)", lambda m: f"{m[1]} << {m[2]}", text)
    text = re.sub(r"^(\d+)\.0$", r"\1", text)
    return f"`{name} = {text}`"


def cell(text):
    return text.replace("|", "\\|")


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
                     + ["| " + " | ".join(cell(c) for c in row) + " |" for row in rows]) + "\n"


def rules(found):
    """The types that are rules or options nobody takes."""
    def chosen(name, t):
        return t.is_rule or name.split("::")[-1] in ALSO

    taken = set().union(*(t.options for name, t in found.items() if chosen(name, t)))
    return {name: t for name, t in found.items()
            if chosen(name, t) and not t.enumerators and name not in taken and name.split("::")[-1] not in NO_RULES
            and (t.parameters() or not name.endswith("options"))}


def rule_table(found, where, elsewhere):
    named = [w for w in where.split() if "/" in w]
    rooms = [w for w in where.split() if "/" not in w]
    rows = []
    for name, t in rules(found).items():
        header = t.header.removeprefix("straggle/")
        if header in named or (header.split("/")[0] in rooms and header not in elsewhere):
            rows.append((named.index(header) if header in named else len(named), name, t))
    if not rows:
        return "Nothing here is chosen by name.\n"
    rows.sort(key=lambda row: row[0])
    return table(("rule", "parameters", "what it does", "source"),
                 [(f"`{name}`", ", ".join(shown(*p) for p in t.parameters().items()), what(t), source(t))
                  for _, name, t in rows])


def choice_table(found):
    kinds = set().union(*(t.kinds for t in rules(found).values()))
    return table(("choice", "names", "what it is about"),
                 [(f"`{name}`", ", ".join(f"`{e}`" for e in t.enumerators), what(t))
                  for name, t in sorted(found.items()) if t.enumerators and name.split("::")[-1] in kinds])


def faces(root=headers.ROOT):
    """(room, question, what to begin with) in the order of the rooms."""
    for room in headers.EDGES:
        face = Path(root) / f"include/straggle/{room}.hpp"
        if not face.exists():
            if room in FACELESS:
                yield (room, *FACELESS[room])
            continue
        comment = re.sub(r"\n///", "", face.read_text().partition("/// @file\n")[2].partition("#pragma once")[0]).strip()
        match = re.match(r"/// The room `\w+/`: (.*?)(?: Begin with (.*?)\.)?$", comment, re.S)
        yield room, match[1].strip().rstrip("."), match[2] or ""


def face_of(face, root):
    """The text of a face: what it says, then every header of the room but the private ones."""
    public = [path.name for path in face.with_suffix("").glob("*.hpp") if path.name != "config.hpp"]
    return face.read_text().partition("#pragma once\n")[0] + "#pragma once\n\n" + "".join(
        f"#include <straggle/{face.stem}/{name}>\n" for name in sorted(public))


def effect_table(root):
    """Job times, ours first, of what a README has room for, and in how many scenarios they are shorter and longer."""
    page = (root / "docs/reference/effectiveness.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \| [^|]+ \| ([^|]+) \|(?:[^|]*\|){3} ([^|]+) \|",
                      page, re.M)
    told = re.search(r"^\*\*`library`\*\*.*? over\s+the scenarios\)\. (.*?)\n\n", page, re.M | re.S)
    chosen = {name: (name, text, *numbers) for name, text, *numbers in rows}
    return table(("policy", "mean job time %", "99th percentile %", "slot time wasted %"),
                 [(f"{chosen[name][1]} (`{name}`)", *chosen[name][2:]) for name in EFFECTS]) + f"\n{told[1]}\n"


def speed_table(root):
    """Kernels that a README has room for, and the one where we lose most, with -O2."""
    page = (root / "docs/reference/speed.md").read_text()
    rows = {(kernel, rival): (ours, times) for kernel, rival, ours, times in
            re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([\d.]+ [num]?s) \| ([\d.]+) \|", page, re.M)}
    worst = min((key for key in rows if key[1] not in LESSER), key=lambda key: float(rows[key][1]))
    return table(("kernel", "rival", "straggle", "times faster"),
                 [(*key, *rows[key]) for key in dict.fromkeys((*KERNELS, worst))])


def made(kind, argument, found, elsewhere, root):
    if kind == "effects":
        return effect_table(root)
    if kind == "speed":
        return speed_table(root)
    if kind == "rooms":
        return table(("room", "question", "begin with"), [(f"`{r}/`", q, b) for r, q, b in faces(root)])
    if kind == "edges":
        return table(("room", "question", "may include"),
                     [(f"`{r}/`", q, ", ".join(f"`{e}/`" for e in headers.EDGES[r])) for r, q, _ in faces(root)])
    return rule_table(found, argument, elsewhere) if kind == "rules" else choice_table(found)


def check(root=headers.ROOT, update=False):
    root, complaints, listed = Path(root), [], []
    found = types(root)
    documents = [p for p in (root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md")))
                 if p.exists()]
    texts = {document: document.read_text() for document in documents}
    wheres = [m[2] for text in texts.values() for m in MARK.finditer(text) if m[1] == "rules"]
    elsewhere = {w for where in wheres for w in where.split() if "/" in w}
    for document, text in texts.items():
        def renewed(match):
            kind, argument, _ = match.groups()
            new = made(kind, argument, found, elsewhere, root)
            listed.append(new)
            return f"<!-- {kind} begin{' ' + argument if argument else ''} -->\n{new}<!-- {kind} end -->"

        right = MARK.sub(renewed, text)
        if right != text and update:
            document.write_text(right)
        elif right != text:
            complaints.append(f"{document}: a table is not what the headers say: run docs/generate.py --update")
    for room in headers.EDGES:
        face = root / f"include/straggle/{room}.hpp"
        if not face.exists() or face.read_text() == (right := face_of(face, root)):
            continue
        if update:
            face.write_text(right)
        else:
            complaints.append(f"{face}: does not include every header of its room: run docs/generate.py --update")
    if wheres:
        tables = "".join(listed)
        complaints += [f"{t.header}: {name} is a rule, but in no table of docs/reference/rules.md"
                       for name, t in rules(found).items() if f"| `{name}` |" not in tables]
    return complaints


def main():
    if sys.argv[1:] not in (["--update"], ["--check"]):
        sys.exit(__doc__)
    complaints = check(update=sys.argv[1] == "--update")
    print(*complaints, sep="\n", end="\n" if complaints else "")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
