# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""The chapter of the report on all parts together: the words of the page, with pictures."""
import charts
from tables import MISSING
from together_page import LIBRARY, RIVALS, Together
from wording import is_share, marked

SHOWN = (LIBRARY, *RIVALS)


class Shown:
    """The rows of one table, with the interface of `tables.Results`."""

    def __init__(self, rows):
        self.all = rows

    def rows(self, _):
        return self.all

    def at(self, _, *key):
        return next((r for r in self.all if (r["group"], r["series"], r["x"]) == key), MISSING)


def findings(rows):
    return map(marked, Together(Shown(rows)).findings())


def picture(rows, what, caption):
    chosen = [dict(r, x=r["group"]) for r in rows if r["x"] == f"{what} over nothing's" and r["series"] in SHOWN]
    return charts.points(chosen, caption, True, -1, 0.5)


CHAPTER = {
    "kicker": "Not in the papers",
    "title": "All together",
    "lede": "30 machines of one core and two slots, WordCount, Sort and BBP jobs of 60 maps and 15 reduces at exponential intervals for two and a half hours, of which the first half hour is not counted. Decisions are made by a policy of the "
            "laboratory and obeyed in full: the mitigator with its defaults, all of its plan or one kind of action only, and what Flink (without a limit, and with at most a fifth of the machines blocked), Spark, Hadoop and LATE do.",
    "parts": [
        {"csv": "together", "short": "All together", "title": "Job time, slot time and energy",
         "lede": "Compared run by run with doing nothing: below 0 is better. Weak machines: three with a CPU fault and three with a memory fault all the time; five and five where they come and go, each for half an hour and more. "
                 "Trials are copies by which a machine that was taken out is tried.",
         "picture": lambda rows, _: picture(rows, "mean time", "Mean job time against doing nothing") + picture(rows, "p99 time", "99th percentile of job time against doing nothing"),
         "findings": findings, "percent": is_share("over nothing's", "won", "load")},
    ],
}
