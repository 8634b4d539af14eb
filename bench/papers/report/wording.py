# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Shared by the texts of all papers: a number of a table, and whether it is as expected."""
import html
import math
import re

import charts


def at(rows, group, series, x):
    for r in rows:
        if (r["group"], r["series"], r["x"]) == (group, series, x):
            return r
    return {"median": math.nan, "low": math.nan, "high": math.nan, "paper": math.nan}


def percent(value):
    return charts.text(value, True)


def verdict(ok, yes, no):
    return f"<span class=met>{yes}</span>" if ok else f"<span class=short>{no}</span>"


def is_share(*words):
    return lambda group, x: any(w in x or w in group for w in words)


def marked(text):
    """The little Markdown that the pages use."""
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
