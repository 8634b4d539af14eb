# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""The chapter of the report on the RiskI paper: its experiments, and how they compare with the paper."""
import math

import charts
from wording import at, is_share, percent, verdict

SCHEDULERS = ("no copies", "LATE", "RiskI", "RiskI as printed", "expected gain", "straggle", "straggle priced")
OURS = SCHEDULERS[4:]
MEAN = "mean shorter than LATE's"
UNCHECKED = "This is a likely reason, not one that was tested."


def compare(rows, group):
    """What one experiment shows: copies, wins, time."""
    late, riski = (at(rows, group, who, "copies")["median"] for who in ("LATE", "RiskI"))
    won = [at(rows, group, who, "share that won")["median"] for who in ("LATE", "RiskI")]
    yield (f"{group}: RiskI launches {riski:.3g} copies, LATE {late:.3g}, of which {percent(won[1])} and {percent(won[0])} win. "
           + ("Fewer copies, as in the paper." if riski == 0 else
              verdict(riski < late and won[1] > won[0], "The paper's direction: fewer copies, and more of them win.", "Not the paper's direction in both.")))
    r = at(rows, group, "RiskI", MEAN)
    yield (f"{group}: with RiskI jobs take {percent(r['median'])} less than with LATE ({percent(r['low'])} to {percent(r['high'])}; below 0: more). "
           + verdict(r["low"] > 0, "Shorter.", "No difference that these runs can tell." if r["high"] >= 0 else "Longer."))


def moonshot(rows, group):
    riski = at(rows, group, "RiskI", "copies")["median"]
    for who in OURS:
        shorter = at(rows, group, who, MEAN)
        won, copies = at(rows, group, who, "share that won"), at(rows, group, who, "copies")
        misses = [name for ok, name in ((shorter["median"] >= 0.46, f"jobs {percent(shorter['median'])} shorter, not 46 %"),
                                        (won["median"] >= 0.9, f"{percent(won['median'])} of the copies win, not 90 %"),
                                        (copies["median"] < riski, f"{copies['median']:.3g} copies, RiskI {riski:.3g}")) if not ok]
        yield (f"{group}, {who}: at least 46 % shorter than LATE, at least 90 % of the copies win, fewer copies than RiskI: "
               + verdict(not misses, "met.", "falls short: " + "; ".join(misses) + "."))


def figure_10(rows):
    for group in ("large jobs", "medium jobs", "small jobs"):
        yield from compare(rows, group)
    yield from moonshot(rows, "large jobs")
    none, seconds = at(rows, "large jobs", "no copies", MEAN), at(rows, "large jobs", "LATE", "mean seconds")["median"]
    yield (f"Large jobs arrive faster than they can be done: with LATE they take {seconds:.0f} s on average. Even so jobs without any copies take only {percent(none['median'])} less.")
    yield ("The paper has 181 copies with LATE for 20 jobs of 20 maps; here it has fewer. In the paper's cluster tasks differ more; how LATE was configured there is not stated. " + UNCHECKED)


def figures_12_13(rows):
    for group in ("BBP every 60 s", "BBP every 120 s", "Sort every 60 s", "Sort every 120 s"):
        yield from compare(rows, group)
    yield from moonshot(rows, "BBP every 60 s")
    none, never = at(rows, "BBP every 60 s", "no copies", MEAN), [at(rows, f"BBP every {t} s", "machines never slow", MEAN) for t in (60, 120)]
    yield ("How much is there to win? On machines whose neighbors take nothing the same jobs, without any copy, take "
           + " and ".join(f"{percent(r['median'])} less than with LATE ({percent(r['low'])} to {percent(r['high'])}) every {t} s" for r, t in zip(never, (60, 120)))
           + ": what no scheduler can reach on machines that are slow a quarter of the time. "
           + verdict(never[0]["median"] >= 0.46, "46 % is not out of reach.", "46 % is more than there is to win here."))
    yield (f"Every 60 s, jobs without any copies take {percent(none['median'])} less than with LATE, whose lost attempts take "
           f"{percent(at(rows, 'BBP every 60 s', 'LATE', 'slot time wasted')['median'])} of the slots' time. The paper does not say why LATE's cost so much more. "
           "Here a longer queue alone does not do it: see the large jobs of figure 10.")
    light, heavy = (at(rows, f"BBP every {s} s", "RiskI", MEAN) for s in (120, 60))
    yield ("The paper's RiskI gains more every 60 s than every 120 s. "
           + verdict(heavy["low"] > max(0, light["median"]), "Reproduced.", "The order only, as it gains nothing for certain." if heavy["median"] > light["median"] else "Not reproduced.")
           + f" {percent(heavy['median'])} against {percent(light['median'])}.")
    bbp, sort = (at(rows, f"{kind} every 60 s", "RiskI", MEAN)["median"] for kind in ("BBP", "Sort"))
    yield ("The paper's gains are larger for BBP than for Sort. " + verdict(bbp > sort, "Reproduced.", "Not reproduced.")
           + f" {percent(bbp)} against {percent(sort)}.")


def parts(rows):
    def told(group, part, who):
        copies, won = at(rows, group, who, part + ": copies"), at(rows, group, who, part + ": won")
        paper = "" if math.isnan(copies["paper"]) else f" (paper {copies['paper']:.0f}" + ("" if math.isnan(won["paper"]) else f", {won['paper']:.0f} won") + ")"
        return f"{who} {copies['median']:.3g} copies, {won['median']:.3g} won{paper}"
    for group, part in (("BBP every 60 s", "1 medium"), ("BBP every 120 s", "4 large")):
        yield f"{group}, part {part}: {told(group, part, 'LATE')}; {told(group, part, 'RiskI')}."
    late = [at(rows, "BBP every 120 s", "LATE", p + ": won")["median"] for p in ("1 medium", "2 small")]
    riski = [at(rows, "BBP every 120 s", "RiskI", p + ": copies")["median"] for p in ("1 medium", "2 small")]
    yield (f"Every 120 s, in the first two parts of the paper no copy of LATE wins and RiskI launches none; here {late[0]:.3g} and {late[1]:.3g} win, RiskI launches {riski[0]:.3g} and {riski[1]:.3g}. "
           + verdict(not any(late + riski), "As in the paper.", "Not as in the paper. Here machines are slow at any time, by as much whatever the load; that this is the reason was not tested."))


def steps(rows):
    for group in ("BBP every 60 s", "BBP every 120 s"):
        told = [f"{who} {percent(at(rows, group, who, MEAN)['median'])}" for who in dict.fromkeys(r["series"] for r in rows)]
        yield f"{group}, mean time below LATE's: " + "; ".join(told) + "."
    for name, before, after in (("The ten most similar tasks instead of one profile", "RiskI", "with similar_tasks"),
                                ("Letting both race instead of killing the original", "with similar_tasks", "racing"),
                                ("What a straggler still takes by its own progress, not by earlier tasks", "racing", "and by progress"),
                                ("node_aware instead of all that have run longer than the average of the running", "and by progress", "and node_aware"),
                                ("Our profit instead of the difference of the means", "and node_aware", "and expected gain: straggle"),
                                ("A second of a slot costs a second while tasks wait", "and expected gain: straggle", "and priced: straggle priced")):
        gains = [at(rows, g, after, MEAN)["median"] - at(rows, g, before, MEAN)["median"] for g in ("BBP every 60 s", "BBP every 120 s")]
        yield (f"{name}: {100 * gains[0]:+.1f} points every 60 s, {100 * gains[1]:+.1f} every 120 s. "
               + verdict(min(gains) > 0, "Better in both.", "Not better in both." if max(gains) > 0 else "Worse."))
    yield ("Neighbors that come and go are in none of the paper's factors: predictions from earlier tasks mix good and bad times of a machine, and the copy that replaces a killed original may be slow as well. "
           "The steps above agree with that, but were not made to test it.")


def settings(rows):
    for group in dict.fromkeys(r["group"] for r in rows):
        yield from compare(rows, group)
        none = at(rows, group, "no copies", MEAN)
        yield f"{group}: no copies at all: {percent(none['median'])} less than with LATE ({percent(none['low'])} to {percent(none['high'])})."


def equal_tasks(rows):
    a, b = at(rows, "128 equal maps", "all", "deviation over its mean"), at(rows, "128 equal maps", "node 1", "deviation over its mean")
    yield f"Deviation over mean {percent(a['median'])} (paper {percent(a['paper'])}), on node 1 alone {percent(b['median'])} (paper {percent(b['paper'])})."


def figure_14(rows):
    for bed in ("testbed 1", "testbed 2", "testbed 3"):
        yield from compare(rows, bed)
    worse = {who: at(rows, "testbed 3", who, "mean over that of testbed 1")["median"] for who in SCHEDULERS}
    yield ("From testbed 1 to testbed 3 the mean time becomes " + ", ".join(f"{v:.2f} times as long with {who}" for who, v in worse.items())
           + ". The paper: RiskI degrades much less than LATE. " + verdict(worse["RiskI"] < 0.9 * worse["LATE"], "So here", "Hardly any difference here" if worse["RiskI"] < 1.1 * worse["LATE"] else "Not so here")
           + f" ({worse['RiskI']:.2f} against {worse['LATE']:.2f}).")
    yield from moonshot(rows, "testbed 3")


def figure_16(rows):
    for series in dict.fromkeys(r["series"] for r in rows):
        inside, width = (at(rows, g, series, "32")["median"] for g in ("share of the times in the range", "width of the range over its mean"))
        yield (f"{series}: after 32 maps of the kind on the machine {percent(inside)} of the times are in the predicted range, which is {percent(width)} of its mean wide; "
               f"the median is off by {percent(at(rows, 'error of the median', series, '32')['median'])}.")
    yield ("The range is that of ten similar tasks: were these drawn like the next one, it would hold 9 of 11 (82 %). ")
    bbp, sort = (at(rows, "width of the range over its mean", kind + " testbed 1", "32")["median"] for kind in ("BBP", "Sort"))
    yield ("The paper finds ranges of Sort to be wider than those of BBP. " + verdict(sort > bbp, "Reproduced", "Not reproduced") + f" ({percent(sort)} against {percent(bbp)}).")


def picture(groups, x, caption, share):
    return lambda rows, _: charts.points([dict(r, x=r["group"]) for r in rows if r["x"] == x and r["group"] in groups and r["series"] != "no copies"],
                                         caption, share, 0, None)


def pictures(*groups):
    made = [picture(groups, "mean seconds", "Response time, mean over the jobs, seconds", False),
            picture(groups, "p99 seconds", "Response time, 99th percentile, seconds", False),
            picture(groups, "copies", "Copies", False), picture(groups, "share that won", "Share of the copies that won", True)]
    return lambda rows, boxes: "".join(p(rows, boxes) for p in made)


SHARES = is_share("that won", "wasted", "shorter")

CHAPTER = {
    "kicker": "Zheng, Liao, Liu 2014",
    "title": "RiskI: predicted times and expected profit",
    "lede": "Five virtual machines as in table 3 (1, 4, 4, 4, 4 cores; 1, 4, 4, 4, 1 slots, for maps and reduces alike), BBP jobs whose maps take a minute, or Sort jobs. Neighbors on the same hardware come and go: a quarter of the time, for seven "
            "minutes on average, a machine runs at a third of its speed (testbed 1), a fifth (2), a seventeenth (3): the slowdown beyond 1 is as 1 to 2 to 8, as the paper's testbeds. How slow, and for how long, was chosen so that about as many of LATE's "
            "copies win as in figure 12 (40 %). The paper's own machines, of fixed speed, have a table of their own. Twelve jobs come first, "
            "from which those that predict learn. Jobs are served in order; the copies of a job come before the tasks of later ones. "
            "Schedulers: LATE as in Hadoop; RiskI (papers/riski_2014.hpp: predictor, profit, assigner, kills; the candidates of its section 6.1), the same as printed (the farthest profile, the sign of the profit); expected gain (the same stragglers and predictions, our profit); straggle (node_aware with usual times from "
            "similar_tasks, what a straggler still takes by its progress, our profit); straggle priced (the same, a second of a slot costs a second while tasks wait). "
            "A copy whose original is killed at its start has no race: it wins, unless it gets a copy itself.",
    "parts": [
        {"csv": "riski-figure-10", "short": "Figure 10", "title": "Figure 10: jobs of one size",
         "lede": "20 BBP jobs, one every 60 s: 20, 10 or 2 maps.", "picture": pictures("large jobs", "medium jobs", "small jobs"), "findings": figure_10, "percent": lambda g, x: SHARES("", x)},
        {"csv": "riski-figures-12-13", "short": "Figures 12, 13", "title": "Figures 12 and 13: fifty jobs of mixed sizes",
         "lede": "The jobs of figure 11, one every 60 s (figure 12) and every 120 s (figure 13); Sort as in section 7.2.2.",
         "picture": pictures("BBP every 60 s", "BBP every 120 s", "Sort every 60 s", "Sort every 120 s"), "findings": figures_12_13, "percent": lambda g, x: SHARES("", x)},
        {"csv": "riski-settings", "short": "The paper's machines", "title": "The paper's machines: speeds of table 1, slots of table 3",
         "lede": "The fifty BBP jobs. First machines that are as fast as table 1 says all the time (the fifth, which is not in it, as fast as the mean), then also with the slots of table 3 for maps and reduces together, then with neighbors that come and go as well.",
         "findings": settings, "percent": lambda g, x: SHARES("", x)},
        {"csv": "riski-table-1", "short": "RiskI table 1", "title": "Table 1, figures 2 to 4 and 15: times of equal tasks", "lede": "128 equal maps on the four machines of table 1; one map twenty times, by how many run beside it on four cores.",
         "findings": equal_tasks, "percent": lambda g, x: False},
        {"csv": "riski-parts", "short": "By part", "title": "Figures 12(b, c) and 13(b, c): copies by part of the sequence", "lede": "Copies launched, and those that won.",
         "findings": parts, "percent": lambda g, x: False},
        {"csv": "riski-steps", "short": "Step by step", "title": "From RiskI to the default, step by step (not in the paper)",
         "lede": "The fifty BBP jobs; each line changes one thing more: the library's predictor; originals race their copies; the remaining time of a straggler comes from its progress; node_aware selects stragglers; our profit; its "
         "price while tasks wait. Points are differences of medians, whose intervals are wide.",
         "picture": lambda rows, _: charts.points([dict(r, x=r["group"]) for r in rows if r["x"] == MEAN], "By how much jobs are shorter than with LATE (below 0: longer)", True),
         "findings": steps, "percent": lambda g, x: SHARES("", x)},
        {"csv": "riski-figure-14", "short": "Figure 14", "title": "Figure 14: three degrees of heterogeneity", "lede": "The fifty BBP jobs, one every 60 s.",
         "picture": pictures("testbed 1", "testbed 2", "testbed 3"), "findings": figure_14, "percent": lambda g, x: SHARES("", x)},
        {"csv": "riski-figure-16", "short": "Figure 16", "title": "Figure 16: how predictions evolve",
         "lede": "Each map is predicted, by the ten most similar tasks, before it is learned from; by how many maps of the kind the machine had finished: from so many to fewer than the next. Means over the maps of a run.",
         "picture": lambda rows, _: "".join(charts.points([r for r in rows if r["group"] == g], g.capitalize() + ", by earlier executions", True, 0)
                                            for g in dict.fromkeys(r["group"] for r in rows)),
         "findings": figure_16, "percent": lambda g, x: True},
    ],
}
