#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Puts the CSV files of the papers' experiments into one HTML page, each number beside the paper's.

usage: report.py FOLDER [PAGE]

Reads FOLDER/*.csv and writes PAGE (default: FOLDER/report.html), which links to the tables beside it. The page is
self-contained and follows the reader's choice of light or dark.
"""
import csv
import html
import math
import pathlib
import sys

import charts
import pages
import tables
import texts
from wording import marked

HERE = pathlib.Path(__file__).resolve().parent
STYLE = HERE.parents[2] / "examples" / "programs" / "common" / "page" / "style.css"


def number(text):
    return float(text) if text else math.nan


def read(folder, name):
    """The lines of a table; none if that experiment has not been run."""
    file = folder / f"{name}.csv"
    if not file.exists():
        return []
    with file.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    for row in rows:
        row["x"] = row["x"] or ""
        for key in ("median", "low", "high", "paper"):
            row[key] = number(row[key])
        row["runs"] = int(row["runs"])
    return rows


def shown(row, percent):
    if math.isnan(row["median"]):
        return "–"
    return f"{charts.text(row['median'], percent)} <small>{charts.text(row['low'], percent)} … {charts.text(row['high'], percent)}</small>"


def table(rows, groups, percents):
    """One table per group: a line for each series, a column for each x, the paper's number under ours."""
    parts = []
    for group in groups:
        these = [r for r in rows if r["group"] == group]
        columns = list(dict.fromkeys(r["x"] for r in these))
        series = list(dict.fromkeys(r["series"] for r in these))
        cells = {(r["series"], r["x"]): r for r in these}
        head = "".join(f"<th>{html.escape(c) or 'any'}</th>" for c in columns)
        lines = []
        for name in series:
            line = f"<th scope=row>{html.escape(name)}</th>"
            for c in columns:
                r = cells.get((name, c))
                percent = percents(group, c)
                if not r:
                    line += "<td></td>"
                    continue
                paper = "" if math.isnan(r["paper"]) else f"<br><span class=paper>paper {charts.text(r['paper'], percent)}</span>"
                line += f"<td>{shown(r, percent)}{paper}</td>"
            lines.append(f"<tr>{line}</tr>")
        parts.append(f"<h3>{html.escape(group)}</h3><div class=scroll><table><thead><tr><th></th>{head}</tr></thead>"
                     f"<tbody>{''.join(lines)}</tbody></table></div>")
    return "".join(parts)


def section(folder, part):
    rows = read(folder, part["csv"])
    if not rows:
        return ""
    groups = [g for g in dict.fromkeys(r["group"] for r in rows)]
    runs = max(r["runs"] for r in rows)
    picture = part["picture"](rows, read(folder, part["csv"] + "-boxes")) if part.get("picture") else ""
    findings = "".join(f"<li>{f}</li>" for f in part["findings"](rows) if f)
    return (f"<section id=\"{part['csv']}\"><h2>{part['title']}</h2><p class=lede>{part['lede']}</p>"
            f"{picture}<ul class=findings>{findings}</ul>{table(rows, groups, part['percent'])}"
            f"<p class=muted>{runs} runs each, with the same seeds for all. <a href='{part['csv']}.csv'>{part['csv']}.csv</a></p></section>")


def page(folder, back=""):
    body, index = [], []
    for chapter in texts.CHAPTERS:
        sections = [s for part in chapter["parts"] if (s := section(folder, part))]
        if not sections:
            continue
        body.append(f"<section class=chapter><p class=kicker>{chapter['kicker']}</p><h1>{chapter['title']}</h1>"
                    f"<p class=lede>{chapter['lede']}</p></section>{''.join(sections)}")
        index += [f"<a href='#{p['csv']}'>{p['short']}</a>" for p in chapter["parts"] if read(folder, p["csv"])]
    caveats = "".join(f"<li>{marked(c)}</li>" for c in pages.caveats(tables.Results(folder)))
    style = STYLE.read_text() + (HERE / "report.css").read_text()
    return (f"<!DOCTYPE html><html lang=en><head><meta charset=utf-8><meta name=viewport content='width=device-width'>"
            f"<title>The papers' experiments</title><style>{style}</style></head><body>"
            f"<header class=masthead><p class=kicker>{back or 'straggle'}</p><h1>The papers' experiments</h1>"
            f"<h2>Before you read a number</h2><ul class=findings>{caveats}</ul>"
            f"<p class=lede>{texts.INTRODUCTION}</p><nav>{''.join(index)}</nav></header>"
            f"<main>{''.join(body)}</main></body></html>\n")


def main():
    if len(sys.argv) not in (2, 3) or not pathlib.Path(sys.argv[1]).is_dir():
        sys.exit(__doc__.strip())
    folder = pathlib.Path(sys.argv[1])
    if len(sys.argv) == 3:  # one page of a site
        pathlib.Path(sys.argv[2]).write_text(page(folder, "<a href='experiments.html'>straggle: the papers' experiments</a>"))
    else:
        (folder / "report.html").write_text(page(folder))


if __name__ == "__main__":
    main()
