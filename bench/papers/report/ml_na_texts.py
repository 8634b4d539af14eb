# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""The chapter of the report on the ML-NA paper: its tables on simulated months, and what a scheduler gains by its forecast."""
import math

import charts
from wording import at, is_share, percent, verdict

BAD, MILD, WHO = "weak as in the experiments on blacklisting", "weak as in the nine months", "who was avoided"
SCHEDULERS = ("reactive", "forecast", "either", "last month", "month known", "oracle")


def table_1(rows):
    months = [f"month {m}" for m in range(1, 10)]
    best = [m for m in months if at(rows, "groups", m, "share that is weak")["high"] <= 0.25]
    shares = [at(rows, "groups", m, "share that is weak")["median"] for m in months]
    yield (f"Between {percent(min(shares))} and {percent(max(shares))} of the machines are called weak, by month (paper 3.2 % to 21 %). "
           + verdict(len(best) == len(months), "Never more than a quarter in the interval, as the method demands.", "More than a quarter in some months."))
    yield ("Scores are lower here than the paper's of months 1 to 5, and fall with the number of groups as in its months 6 to 9: the simulated machines do not form clearly separate groups; weakness comes in every degree.")
    a, b = at(rows, "history", "nine months", "tasks that are stragglers"), at(rows, "history", "nine months", "jobs that have one")
    yield f"What the months were built to have: {percent(a['median'])} of the tasks are stragglers (5 % on OpenCloud), {percent(b['median'])} of the jobs have one (almost half)."


def table_2(rows):
    group, ours = "a third of all machines in all months", "boosted trees (XGBoost)"
    told = {x: at(rows, group, ours, x) for x in ("precision", "recall", "accuracy")}
    yield ("Boosted trees: " + ", ".join(f"{x} {percent(r['median'])} (paper {percent(r['paper'])})" for x, r in told.items()) + ". "
           + verdict(abs(told["accuracy"]["median"] - told["accuracy"]["paper"]) < 0.05, "Accuracy as in the paper, within 5 points.", "Not as in the paper."))
    yield "The other five are scikit-learn's, with its defaults and gaps as 0; lines without numbers where it was not there. Any of them plugs in as a classifier."


def table_3(rows):
    same, before = "by the features of the month itself", "by the last days of the month before"
    pairs = [r for r in rows if r["group"] == same and r["x"].startswith("month") and not math.isnan(r["paper"])]
    worse = [r for r in pairs if r["median"] < r["paper"]]
    low = min(pairs, key=lambda r: r["median"])
    yield (f"36 windows, {len(pairs) - len(worse)} of them more accurate here than in the paper: simulated months are more alike than real ones. The lowest is {percent(low['median'])} "
           "where the paper has 41 to 51 % for month 7. In the paper accuracy jumps from four months on; here one month is nearly enough.")
    for group, what in ((same, "A judgment of a month that is over"), (before, "A forecast, available when the month begins")):
        ours, most, repeat = (at(rows, group, who, "all") for who in ("any number of months", "all are what most were", "as in the month before"))
        r, p = at(rows, group, "any number of months", "recall"), at(rows, group, "any number of months", "precision")
        yield (f"{what}: {percent(ours['median'])} right, where no learning gets {percent(most['median'])} (no machine is weak) or {percent(repeat['median'])} (as in the month before); "
               f"precision {percent(p['median'])}, recall {percent(r['median'])}. "
               + verdict(ours["median"] > max(most["median"], repeat["median"]), "Better than no learning.", "No better than no learning."))


def figure_7(rows):
    for reading in ("idle days carried on", "every idle day is NaN"):
        r, a = at(rows, "month 7", reading, "less than the mean of the other months"), at(rows, "month 7", reading, "accuracy, from the month before")
        yield (f"{reading}: month 7 is judged with {percent(a['median'])} (paper {percent(a['paper'])}), {percent(r['median'])} less than the other months ({percent(r['low'])} to {percent(r['high'])}). "
               + verdict(r["low"] <= 0, "No loss that these runs can tell.", "A loss."))


def none(rows):
    return ()


def over(rows, who, what="mean time", group=BAD):
    return at(rows, group, who, f"{what} over none's")


def told(r):
    return f"{100 * r['median']:+.1f} % ({100 * r['low']:+.1f} … {100 * r['high']:+.1f})"


def avoided(rows, who, what):
    return percent(at(rows, WHO, who, what)["median"])


def closed_loop(rows):
    alone, both, learned, known, best = (over(rows, who) for who in ("forecast", "either", "reactive", "month known", "oracle"))
    more = at(rows, BAD, "either", "mean time over reactive's")
    yield (f"Does forecasting shorten jobs? Alone: mean time {told(alone)}, p99 {told(over(rows, 'forecast', 'p99 time'))}. "
           + verdict(alone["high"] < 0, "Yes.", "Not provably."))
    yield (f"Does it beside the reactive blacklist, which brings {told(learned)} by itself? Both together {told(both)}; against the reactive one alone {told(more)}. "
           + verdict(more["high"] < 0, "Yes.", "No: what it adds is not distinguishable from nothing." if more["low"] < 0 else "No, it costs."))
    share = alone["median"] / best["median"], learned["median"] / best["median"]
    yield (f"How far from the oracle? Always knowing which machines are weak today brings {told(best)}: of that the forecast gets {percent(max(0, share[0]))}, the reactive blacklist {percent(share[1])}. "
           f"Knowing at the start of a month which are weak on average in it brings {told(known)}: one decision a month would suffice if it were right.")
    repeat = over(rows, "last month")
    yield (f"'What was weak last month is weak again', without any learning: {told(repeat)}. "
           + verdict(alone["median"] < repeat["median"], "The forecast is better in the median.", "The forecast is no better.")
           + f" It is right more often (precision {avoided(rows, 'forecast', 'precision')} against {avoided(rows, 'last month', 'precision')}) and names fewer.")
    yield (f"First reason: the past does not show the future. Knowing for certain which machines are weak on the first day of a month, and keeping to that, is right in {avoided(rows, 'weak on the first day', 'precision')} of the "
           f"time, and finds {avoided(rows, 'weak on the first day', 'recall')} of the weak time. The reactive blacklist has {avoided(rows, 'reactive', 'precision')} and {avoided(rows, 'reactive', 'recall')} without knowing anything: "
           f"it decides again every quarter of an hour, a week here. In its first week of being weak a machine is hardly found without an oracle (recall {avoided(rows, 'reactive', 'recall in the first week of being weak')} reactive, "
           f"{avoided(rows, 'forecast', 'recall in the first week of being weak')} forecast); after it the reactive one finds {avoided(rows, 'reactive', 'recall after it')}, the forecast {avoided(rows, 'forecast', 'recall after it')}.")
    yield (f"Second reason: a machine that is avoided leaves no records. In months in which none is avoided the same forecast has recall {avoided(rows, 'forecast where nobody is avoided', 'recall')}, if it is acted on "
           f"{avoided(rows, 'forecast', 'recall')} (the intervals overlap): a machine without a task has no features, and nothing is expected of it in the next month.")
    yield (f"Third: even so it finds much less than the {avoided(rows, 'weak on the first day', 'recall')} that could be known when a month begins; on the months of table III it does better, with three times as many machines to "
           "learn from, each with six times as many tasks. Whether this is the reason was not tested.")
    first = {who: over(rows, who, "mean time in first weeks") for who in ("forecast", "reactive", "either")}
    gain = at(rows, BAD, "either", "mean time in first weeks over reactive's")
    yield (f"Is it of use when a month begins? Jobs of the first weeks: forecast {told(first['forecast'])}, more than in the whole month; reactive {told(first['reactive'])}; both {told(first['either'])}, "
           f"and against the reactive one alone {told(gain)}. "
           + verdict(gain["high"] < 0, "Yes.", "Not provably: the reactive blacklist remembers, its exclusions do not end with the month." if gain["median"] < 0 else
                     "No: the reactive blacklist remembers, its exclusions do not end with the month."))
    mild = over(rows, "oracle", group=MILD)
    yield (f"Whether to avoid any machine is another question. Where weak machines take 1.6 times as long at most, as in the simulated months, the oracle itself brings {told(mild)}: "
           + verdict(mild["high"] < 0, "worth it.", "copies are enough, and the slots of a slow machine are worth more than none."))
    yield ("What the compression costs: a month has 24 jobs and about 60 tasks on each machine, a sixth of those in the tables above. A window of the reactive blacklist, 15 tasks on a machine, is a week here; on a "
           "cluster as busy as that of the tables it is little more than a day, so that there the reactive one would be ahead by more. The forecast has 30 machines to learn from instead of 96.")


def picture(rows):
    chosen = [dict(r, x=r["x"].replace(" over none's", "")) for r in rows if r["group"] == BAD and r["x"].endswith("over none's") and r["series"] in SCHEDULERS]
    found = [r for r in rows if r["group"] == WHO and r["x"] in ("precision", "recall", "recall in the first week of being weak", "recall after it") and r["series"] in SCHEDULERS]
    return (charts.points(chosen, "Job time against none's: below 0 is shorter", True)
            + charts.points(found, "Machines that were out: the share of them that was weak (precision), and of the weak that was out (recall)", True, 0, 1))


CHAPTER = {
    "kicker": "Ouyang, Wang, Yang, Yang, Townend, Xu 2017",
    "title": "ML-NA: which machine will be weak next?",
    "lede": "OpenCloud's records are not at hand. Nine months of 96 machines, 116 in the fifth, are simulated to match what the papers print of OpenCloud: 5 % of the tasks are stragglers, machines are weak for some weeks, month 7 "
            "begins with three idle days. A run is a history of its own. Tables I to III are those of the paper; whether a forecast is worth anything to a scheduler the paper leaves to future work, and is tried here.",
    "parts": [
        {"csv": "ml-na-table-1", "short": "ML-NA table I", "title": "Table I: how many groups of machines",
         "lede": "Machines of a month are put into as many groups as separate best, with at most a quarter in the weakest, which is the one called weak. The paper tried 2 to 9 groups.",
         "findings": table_1, "percent": is_share("share that", "stragglers", "jobs that")},
        {"csv": "ml-na-table-2", "short": "ML-NA table II", "title": "Table II: classifiers",
         "lede": "All machines in all months, two thirds to learn from, a third to be judged by the features of the month itself.",
         "findings": table_2, "percent": lambda group, x: True},
        {"csv": "ml-na-table-3", "short": "ML-NA table III", "title": "Table III: accuracy by months learned from, and month tested",
         "lede": "The paper feeds its classifier the features of the very month it is to predict; that is the first table. The second is a forecast, from the features of the month before, each over three days. The paper has no "
                 "baselines; the last two lines are what needs no learning. Its averages are over months, ours over machines.",
         "findings": table_3, "percent": lambda group, x: True},
        {"csv": "ml-na-figures-4-5", "short": "Figures 4, 5", "title": "Figures 4 and 5: groups by three features", "lede": "Month 1, mean, deviation and number of tasks of the whole month.",
         "findings": none, "percent": is_share("share of")},
        {"csv": "ml-na-figure-6", "short": "ML-NA figure 6", "title": "Figure 6: accuracy by month, two settings", "lede": "Least, mean and largest over all windows that can be learned from; also where every idle day is empty.",
         "findings": none, "percent": lambda group, x: True},
        {"csv": "ml-na-figure-7", "short": "ML-NA figure 7", "title": "Figure 7: a month that begins with idle days", "lede": "Both readings of an idle day: as a cumulative tuple has it, and empty.",
         "findings": figure_7, "percent": lambda group, x: "columns" not in x},
        {"csv": "ml-na-closed-loop", "short": "Forecast and jobs", "title": "Does forecasting shorten jobs?",
         "lede": "30 simulated machines that become weak and recover day by day as in the simulated months. A day is two minutes and a month an hour, in which 24 WordCount, Sort and BBP jobs of 75 tasks arrive; months 5 to 9 are "
                 "measured. A machine that is weak has the memory fault of the experiments on blacklisting at most, and less of it as it gets weak; also as mild as in the months themselves. All schedulers copy as YARN does. "
                 "Reactive: the default, clearly_dominated with exclusions, probation and a limit, windows of a quarter of an hour. Forecast: the same exclusions and limits, but the machines which a forecast_model names, grown at the end of each month from "
                 "what this scheduler itself has seen so far. Either: both. Last month: the machines that were called weak in the last one. Month known and oracle know the truth.",
         "picture": lambda rows, _: picture(rows), "findings": closed_loop,
         "percent": is_share(" over ", "precision", "recall")},
    ],
}
