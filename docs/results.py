#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Writes what documents say of the papers' experiments from the numbers in docs/notes/results, between marks.

    results.py --update    writes it
    results.py --check     fails if that would change anything, or if a document says what no experiment can

- `<!-- results begin PAGE -->` ... `<!-- results end -->`: a function of bench/papers/report/pages.py.
- `<!-- n TABLE | GROUP | SERIES | X | FORM -->words<!-- /n -->`: one number. FORM is one of `FORMS`.

What no experiment can say: that so many per cent of all jobs end sooner, where a 99th percentile was compared. A
paragraph that points at docs/notes/experiments.md has no per cent of its own, but the papers'.
"""
import math
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "bench/papers/report"), str(ROOT / "tests/hygiene")]
sys.dont_write_bytecode = True

import links  # noqa: E402  (both need the path)
import pages  # noqa: E402
import tables  # noqa: E402

RESULTS = ROOT / "docs/notes/results"
BLOCK = re.compile(r"(<!-- results begin (\w+) -->\n)(.*?)(<!-- results end -->)", re.S)
NUMBER = re.compile(r"(<!-- n ([^|>]+)\|([^|>]*)\|([^|>]*)\|([^|>]*)\|([^|>]*)-->)(.*?)(<!-- /n -->)", re.S)
FORMS = {
    "percent": lambda r: tables.percent(r["median"]),
    "percent (range)": lambda r: tables.percent_range(r),
    "longer": lambda r: tables.percent(-r["median"]),
    "longer (range)": lambda r: tables.percent_range(r, -1),
    "signed (range)": lambda r: tables.signed_range(r),
    "number": lambda r: tables.number(r["median"]),
    "number (range)": lambda r: tables.number_range(r),
}
FORBIDDEN = [(re.compile(r"\b99 % of (?:the |all )?jobs\b"), "a 99th percentile is no share of the jobs")]


def by_hand(text):
    """Sentences with per cents that nobody has computed, in paragraphs that point at the experiments."""
    text = NUMBER.sub("", BLOCK.sub("", text))
    for paragraph in re.split(r"\n\s*\n|\n(?=- )", text):
        if "notes/experiments.md" in paragraph:
            for sentence in re.split(r"(?<=[.])\s", paragraph):
                if re.search(r"\d %", sentence) and "paper" not in sentence and "interval" not in sentence:
                    yield " ".join(sentence.split())


def written(text, results, complaints):
    def block(match):
        make = getattr(pages, match[2], None)
        if make is None:
            complaints.append(f"there is no page {match[2]}")
            return match[0]
        return match[1] + make(results).strip("\n") + "\n" + match[4]

    def number(match):
        table, group, series, x, form = (part.strip() for part in match.groups()[1:6])
        row = results.find(table, group, series, x)
        if form not in FORMS or row is None or math.isnan(row["median"]):
            complaints.append(f"there is no {table} | {group} | {series} | {x} | {form}")
            return match[0]
        return match[1] + FORMS[form](row) + match[8]

    return NUMBER.sub(number, BLOCK.sub(block, text))


def main():
    if sys.argv[1:] not in (["--update"], ["--check"]):
        sys.exit(__doc__.strip())
    results, wrong = tables.Results(RESULTS), 0
    for document in links.documents(ROOT):
        text, complaints = document.read_text(), []
        new = written(text, results, complaints)
        complaints += [f"a number of an experiment that is written by hand: {sentence}" for sentence in by_hand(new)]
        complaints += [why for pattern, why in FORBIDDEN if pattern.search(new)]
        if new != text and sys.argv[1] == "--update":
            document.write_text(new)
        elif new != text:
            complaints.append("is not what docs/results.py --update writes")
        for complaint in complaints:
            print(f"{document.relative_to(ROOT)}: {complaint}")
        wrong += len(complaints)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
