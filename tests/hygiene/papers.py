# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""docs/notes/papers.md has a row for every equation, algorithm, table and figure of the four papers, and what a row names
is there: headers in include/straggle, tests, names in the paper's header, programs in bench/papers, tables in
docs/notes/results. A row that names nothing says why.
"""
import re

import headers

PAGE = "docs/notes/papers.md"
# What is in each paper: how many equations, algorithms, tables and figures. And the header of its names.
PAPERS = {
    "Dynamic server blacklisting": ({"equation": 2, "algorithm": 3, "table": 2, "figure": 10}, "dsb_2019"),
    "The evaluation framework": ({"equation": 13, "algorithm": 0, "table": 7, "figure": 6}, "evaluation_2019"),
    "Risk intelligence": ({"equation": 8, "algorithm": 2, "table": 5, "figure": 16}, "riski_2014"),
    "ML-NA": ({"equation": 3, "algorithm": 1, "table": 3, "figure": 7}, "ml_na_2017"),
}
ROMAN = {"I": 1, "II": 2, "III": 3}
NUMBER = r"(?:\d+|I{1,3}\b)(?:\([a-z]\))?"
THING = re.compile(rf"\b(equation|algorithm|table|figure)s? ({NUMBER}(?:(?:, | and |, and | to |-){NUMBER})*)")


def number(text):
    text = text.partition("(")[0]
    return ROMAN.get(text) or int(text)


def things(text):
    """(kind, number) of all that a first column names: `figures 4 to 6`, `equations 5, 7, 8`, `table II`."""
    found = set()
    for kind, numbers in THING.findall(text):
        parts = re.split(r"(, and |, | and | to |-)", numbers)
        at = number(parts[0])
        found.add((kind, at))
        for joint, next_ in zip(parts[1::2], parts[2::2]):
            end = number(next_)
            found |= {(kind, n) for n in (range(at, end + 1) if joint in (" to ", "-") else (end,))}
            at = end
    return found


def rows(text):
    """(section, line, cells) of the tables with a column for experiments."""
    section, inside = None, False
    for line, code in enumerate(text.splitlines(), 1):
        if code.startswith("## "):
            section = code[3:].strip()
        cells = [c.strip() for c in code.strip().strip("|").split("|")]
        if code.startswith("| in the paper | header | test | experiment"):
            inside = True
        elif not code.startswith("|"):
            inside = False
        elif inside and not set(code) <= set("|- "):
            yield section, line, cells


def faults(root, section, cells):
    if len(cells) != 4:
        yield f"has {len(cells)} columns, not 4"
        return
    if not any(cells[1:]):
        yield f"{cells[0]}: names no header, test or experiment, and no reason"
    for column, text in zip(("header", "test", "experiment"), cells[1:]):
        for name in re.findall(r"`([^`]+)`", text):
            places = {"header": [root / "include/straggle" / name],
                      "test": [root / name],
                      "experiment": [root / "bench/papers" / f"{name.removeprefix('paper_')}.cpp", root / name,
                                     root / "docs/notes/results" / f"{name}.csv"]}[column]
            if any(p.exists() for p in places):
                continue
            if column != "test" and "/" not in name:
                # A name of the paper's own header, or of a room's.
                where = [root / "include/straggle/papers" / f"{PAPERS[section][1]}.hpp"]
                if "::" in name:
                    room, name = name.split("::", 1)
                    where = (root / "include/straggle" / room).glob("*.hpp")
                if column == "header" and any(re.search(rf"\b{re.escape(name)}\b", w.read_text()) for w in where):
                    continue
                recorded = root / "docs/notes/results/histories.csv"
                if column == "experiment" and recorded.exists() and f"\n{name}," in recorded.read_text():
                    continue
            yield f"there is no {column} {name}"


def complaints(root):
    page = root / PAGE
    named = {section: set() for section in PAPERS}
    for section, line, cells in rows(page.read_text()):
        if section not in PAPERS:
            continue
        named[section] |= things(cells[0])
        for fault in faults(root, section, cells):
            yield f"{page}:{line}: {fault}"
    for section, (counts, _) in PAPERS.items():
        for kind, count in counts.items():
            for n in range(1, count + 1):
                if (kind, n) not in named[section]:
                    yield f"{page}: {section}: no row for {kind} {n}"
            for extra in sorted(n for k, n in named[section] if k == kind and n > count):
                yield f"{page}: {section}: the paper has no {kind} {extra}"


def check(root):
    return list(complaints(root))


if __name__ == "__main__":
    headers.main(check)
