#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""docs/reference/rules.md names every rule and option of the library with all its parameters, and the defaults it states are
those of the headers.

In a table whose first column is `rule` a row begins with the type and its parameters: `name = default`, or `name`
where there is none or where it is a type of its own; what stands in parentheses is for people. Parameters are the
public members of the type, or the parameters of its constructors; options passed to a constructor count as its own.
In a table whose first column is `choice` the second one holds all enumerators.
"""
import re
import sys
from dataclasses import dataclass, field

import headers
from declarations import declarations

# A type with one of these functions, or with a member of these, is a rule; and so are options.
FUNCTIONS = {"select", "admits", "advance", "detect", "normalize", "remaining", "per_input"}
MEMBERS = {"name", "min_tasks"}
# Not to be chosen: an object around a rule, a model that a rule has made, a column of a record, a base class.
NO_RULES = {"straggler_scan", "boosted_trees", "numeric_factor", "categorical_factor", "factor_reader", "recording",
            "task_readings", "similar_tasks", "no_prediction"}


@dataclass
class Type:
    members: dict = field(default_factory=dict)  # name -> default, None if there is none
    constructors: dict = field(default_factory=dict)
    enumerators: list = field(default_factory=list)
    is_rule: bool = False
    options: set = field(default_factory=set)  # types of options that a constructor takes


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


def types(root=headers.ROOT):
    """Every public type by its name, `monitor::options` for nested ones."""
    found, expand = {}, []
    for header in headers.headers(root):
        text = header.read_text()
        lines = headers.without_comments(text).splitlines()
        for d in declarations(text):
            if not d.public or not d.name:
                continue
            if d.kind == "type" and not d.exempt:
                found.setdefault("::".join((*d.scope[1:], d.name)), Type()).is_rule |= d.name.endswith("options")
            owner = found.get("::".join(d.scope[1:]))
            if owner is None or not d.in_class:
                continue
            owner.is_rule |= d.name in (FUNCTIONS if d.kind == "function" else MEMBERS)
            source = " ".join(lines[d.line - 1:d.last_line])
            if d.kind == "enumerator":
                owner.enumerators.append(d.name)
            elif d.kind == "variable" and "static" not in d.words:
                name, default, kind = initialised(source)
                owner.members[name] = default
            elif d.kind == "function" and d.name == d.scope[-1] and not d.exempt:
                opening = source.index("(", source.index(d.name))
                depth, end = 0, opening
                while True:
                    depth += (source[end] == "(") - (source[end] == ")")
                    if depth == 0:
                        break
                    end += 1
                for parameter in split_outside(source[opening + 1:end]):
                    name, default, kind = initialised(parameter)
                    kind = re.sub(r"\b(const|constexpr)\b|&", "", kind).strip()
                    if kind == "options" or default == "{}":
                        expand.append((owner, name, kind))
                    if owner.constructors.get(name) is None:
                        owner.constructors[name] = default
    by_last_name = {name.split("::")[-1]: t for name, t in found.items()}
    aliases = {"options": "boosted_trees_options"}
    for owner, name, kind in expand:
        options = found.get(kind) or found.get(aliases.get(kind, "")) or by_last_name.get(kind)
        if options and options.members:
            owner.constructors.pop(name, None)
            owner.constructors.update(options.members)
            owner.options |= {n for n, other in found.items() if other is options}
    return found


def value(text):
    """Two spellings of one default become equal."""
    text = re.sub(r"std::\w+\{(\w+)\}", r"\1", text).replace("'", "").replace("std::", "")
    if text in ("(numeric_limits<double>::max)()", "(numeric_limits<double>::lowest)()"):
        return "unlimited"
    if match := re.fullmatch(r"(\d+) *(<<|\^) *(\d+)", text):
        return float(int(match[1]) << int(match[3]) if match[2] == "<<" else int(match[1]) ** int(match[3]))
    try:
        return float(text)
    except ValueError:
        return re.sub(r"\s", "", text).split("::")[-1]


def rows(text):
    """(kind of table, cells) of each row of the tables of rules and choices."""
    kind = None
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not cells:
            kind = None
        elif kind is None:
            kind = cells[0]
        elif kind in ("rule", "choice") and not set(line) <= set("|-: "):
            yield number, kind, cells


def without_parentheses(cell):
    """Parentheses outside of back-ticks are for people."""
    out, depth, code = "", 0, False
    for c in cell:
        code ^= c == "`"
        depth += not code and c == "("
        if depth == 0:
            out += c
        depth -= not code and c == ")"
    return out


def parameters_of(cell):
    found = {}
    for code in re.findall(r"`([^`]+)`", without_parentheses(cell)):
        name, _, default = code.partition("=")
        found[name.strip()] = default.strip() or None
    return found


def check(root=headers.ROOT):
    page = root / "docs/reference/rules.md"
    found, complaints, seen = types(root), [], set()

    def complain(number, what):
        complaints.append(f"{page}:{number}: {what}")

    for number, kind, cells in rows(page.read_text()):
        names = re.findall(r"`([\w:]+)(?:<[^`]*)?`", cells[0])
        if not names or names[0] not in found:
            complain(number, f"the library has no type {cells[0]}")
            continue
        name, stated = names[0], parameters_of(cells[1])
        t = found[name]
        if name in seen:
            complain(number, f"{name} is here a second time")
        seen.add(name)
        right = dict.fromkeys(t.enumerators) if kind == "choice" else t.members or t.constructors
        for parameter in right.keys() - stated.keys():
            complain(number, f"{name} has {parameter}, too")
        for parameter, default in stated.items():
            if parameter not in right:
                complain(number, f"{name} has no {parameter}")
            elif (default is None) != (right[parameter] in (None, "{}")) or (
                    default is not None and value(default) != value(right[parameter])):
                complain(number, f"the default of {name}::{parameter} is {right[parameter]}, not {default}")
    covered = seen.union(*(found[name].options for name in seen))
    needed = {name for name, t in found.items() if t.is_rule and name.split("::")[-1] not in NO_RULES and
              (t.members or t.constructors or not name.endswith("options"))}
    for name in seen:  # and the choices that are somebody's default
        for default in (found[name].members or found[name].constructors).values():
            needed |= {n for n in found if default and found[n].enumerators and
                       n.split("::")[-1] == default.rpartition("::")[0].split("::")[-1]}
    complaints += [f"{page}: {name} is not there" for name in sorted(needed - covered)]
    return complaints


if __name__ == "__main__":
    if "--list" in sys.argv:
        for name, t in types().items():
            if t.is_rule:
                print(name, t.members or t.constructors)
    else:
        headers.main(check)
