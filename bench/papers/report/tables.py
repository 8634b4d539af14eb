# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""The tables of the experiments, and how pages write their numbers: with an interval, rounded the same everywhere."""
import csv
import math

MISSING = {"median": math.nan, "low": math.nan, "high": math.nan, "paper": math.nan, "runs": 0}


class Results:
    """All tables of a folder, each read when it is first needed."""

    def __init__(self, folder):
        self.folder, self.tables = folder, {}

    def rows(self, table):
        if table not in self.tables:
            file, rows = self.folder / f"{table}.csv", []
            if file.exists():
                with file.open(newline="") as lines:
                    for r in csv.DictReader(lines):
                        for key in ("median", "low", "high", "paper"):
                            r[key] = float(r[key]) if r[key] else math.nan
                        r["runs"] = int(r["runs"])
                        rows.append(r)
            self.tables[table] = rows
        return self.tables[table]

    def find(self, table, group, series, x):
        return next((r for r in self.rows(table) if (r["group"], r["series"], r["x"]) == (group, series, x)), None)

    def at(self, table, group, series, x):
        return self.find(table, group, series, x) or MISSING

    def runs(self, table):
        return max((r["runs"] for r in self.rows(table)), default=0)


def number(v):
    if math.isnan(v):
        return "–"
    v = 0.0 if abs(v) < 1e-9 else v
    return f"{v:.0f}" if abs(v) >= 100 else f"{v:.3g}"


def share(v):
    """A percentage without its sign."""
    if math.isnan(v):
        return "–"
    v = 100 * v
    return "0" if abs(v) < 0.05 else f"{v:.1f}" if abs(v) < 9.95 else f"{v:.0f}"


def percent(v):
    return share(v) + ("" if math.isnan(v) else " %")


def spanned(r, how, unit="", sign=1):
    if math.isnan(r["median"]):
        return "–"
    ends = sorted((sign * r["low"], sign * r["high"]))
    if math.isnan(ends[0]):
        return how(sign * r["median"]) + unit
    return f"{how(sign * r['median'])}{unit} ({how(ends[0])} to {how(ends[1])})"


def percent_range(r, sign=1):
    return spanned(r, share, " %", sign)


def number_range(r):
    return spanned(r, number)


def signed_range(r):
    """One decimal below 10 %."""
    return spanned(r, lambda v: "0" if abs(v) < 0.0005 else f"{100 * v:+.1f}" if abs(v) < 0.0995 else f"{100 * v:+.0f}", " %")


def told(v, how=percent):
    return "" if math.isnan(v) else f"; paper {how(v)}"


def table(head, lines):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *lines])


def shorter(r):
    """What an interval of an improvement supports."""
    return "shorter" if r["low"] > 0 else "longer" if r["high"] < 0 else "no difference that these runs can tell"


def shorter_or_longer(r):
    """An improvement in words; its interval may extend beyond zero."""
    return f"{percent_range(r)} shorter" if not r["median"] < 0 else f"{percent_range(r, -1)} longer"


def bullets(*lines):
    return "\n".join(f"- {line}" for line in lines if line)
