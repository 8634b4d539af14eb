# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""The page of the histories: stragglers, where they are, equal tasks, and copies."""
import math

from tables import MISSING, number, number_range, percent, percent_range, table


def histories(results):
    rows = results.rows("histories")
    names = list(dict.fromkeys(r["group"] for r in rows))
    at = lambda *key: results.at("histories", *key)
    tell = [n for n in names if at(n, "what", "jobs of five tasks and more")["median"] >= 2 and not math.isnan(at(n, "stragglers", "share of the tasks")["median"])]
    what = [[n, *(number(at(n, "what", x)["median"]) for x in ("attempts", "jobs of five tasks and more", "machines"))] for n in names]
    slow = [["OpenCloud (the paper)", "5 %", "nearly half", "10", "", "66 %"]] + [
        [n, *(percent_range(at(n, "stragglers", x)) for x in ("share of the tasks", "share of the jobs that have one")), number(at(n, "stragglers", "the longest over the mean of its job")["median"]),
         number_range(at(n, "stragglers", "time over the mean (median)")), percent_range(at(n, "stragglers", "what jobs could gain (mean)"))] for n in tell]
    where = [[n, percent(a["median"]), percent_range(at(n, "where", "on the worst tenth by chance")), number(p["median"]), "more than chance" if p["median"] < 0.01 else "no more than chance" if p["median"] > 0.05 else "perhaps"]
             for n in tell for a, p in [(at(n, "where", "on the worst tenth"), at(n, "where", "how often chance makes as much"))] if not math.isnan(a["median"])]
    machine = []
    for n in tell:
        window = next((r for r in rows if r["group"] == n and r["series"] == "by machine" and r["x"].startswith("highest rate of")), MISSING)
        if not math.isnan(at(n, "by machine", "highest rate")["median"]):
            machine.append([n, percent(at(n, "by machine", "lowest rate")["median"]), percent_range(at(n, "by machine", "highest rate")),
                            percent(window["median"]) + (f" ({window['x'].split()[-1]})" if window is not MISSING else "")])
    equal = [["WordCount (the paper)", "34 %", "", "40 %"]] + [
        [n, *(percent_range(at(n, "equal tasks", x)) for x in ("deviation over mean", "deviation over mean of equal inputs", "deviation on one machine over that of all"))] for n in tell]
    copies = [[n, number(c["median"]), percent_range(at(n, "copies", "share that was killed")), number_range(at(n, "copies", "correlation of successful ones with the tail"))]
              for n in names for c in [at(n, "copies", "recorded")] if c["median"] > 0]
    helps = [n for n in tell if at(n, "equal tasks", "deviation on one machine over that of all")["high"] < 0.95]
    not_ = [n for n in tell if at(n, "equal tasks", "deviation on one machine over that of all")["low"] >= 0.95]
    fewer = [n for n in tell if at(n, "stragglers", "share of the jobs that have one")["high"] < 0.5]
    more = [n for n in tell if at(n, "stragglers", "share of the jobs that have one")["low"] > 0.5]
    return f"""Section 3 of the blacklisting paper analyzes OpenCloud, section 4 of RiskI four machines. `bench/histories.sh` repeats both on every
recorded history at hand and writes this page. A job is a group of siblings; those with fewer than five successful attempts are left out.
A straggler takes more than 1.5 times the mean of its job, as in both papers. In parentheses is a 95 % interval from a bootstrap over
jobs; few jobs make it wide. Most of these histories are test data of engines, not a cross section of clusters.

{table(["history", "attempts", "jobs", "machines"], what)}

## How many stragglers, and how long

{table(["history", "tasks that are stragglers", "jobs that have one", "longest over mean", "stragglers over mean, median", "what jobs could gain"], slow)}

![Times of sibling tasks, and jobs that have a straggler](histories-stragglers.svg)

The last column is figure 4: by how much the longest task of a job would be shorter if every straggler took the mean. {f"Significantly fewer than half of the jobs have a straggler in {', '.join(fewer)}; " if fewer else ""}{f"significantly more in {', '.join(more)}; " if more else ""}elsewhere the interval contains the paper's half, or there are too few jobs.

## Where

Share of the stragglers on the worst tenth of the machines (by tasks), the share expected by chance (stragglers permuted among the tasks
of their job), and how often chance gives as much:

{table(["history", "on the worst tenth", "by chance", "p", ""], where)}

Straggler rates of machines with at least thirty tasks (the paper: 3 to 4 % in a month, up to 30 % on a day), and the highest rate on a
day, or in a tenth of the time if the history is short:

{table(["history", "lowest", "highest", "highest of a window"], machine)}

![Straggler rates by machine, and by day](histories-machines.svg)

The paper's finding, equal rates over a month and very different ones on some days, needs long histories: few here have many tasks on
several days. The highest of many rates is also high by chance; the previous table shows how much.

## How the times of equal tasks differ

Deviation over mean in the median job; the same among tasks whose input is within 5 % of the median; and the deviation among tasks of one machine over that of all (1: the machine
explains nothing):

{table(["history", "deviation over mean", "equal inputs", "on one machine over all"], equal)}

![Deviations of equal tasks, and what the machine explains](histories-equal-tasks.svg)

RiskI finds tasks of one machine much more alike than those of all. {f"That holds here in {', '.join(helps)}. " if helps else "It holds in no history here. "}{f"It does not hold in {', '.join(not_)}: there the machine explains next to nothing in the median job." if not_ else ""}
In bytedance-AR one machine has {percent(at("bytedance-AR", "where", "on one machine")["median"])} of the stragglers, and the median job does not run on it.

![The largest job of each history, machine by machine](histories-jobs.svg)

## Copies

Where copies are recorded: how many, how many were killed (OpenCloud 71 %), and table 3 of the evaluation framework, the correlation of the share of successful copies with the longest
task over the mean, job by job (the paper: -0.14 to 0.055):

{table(["history", "copies", "killed", "correlation"], copies)}
"""
