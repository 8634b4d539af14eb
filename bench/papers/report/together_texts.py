# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""What the report says of all parts together."""
import charts
from wording import at, is_share, percent, verdict

TOGETHER = "together"
PARTS = ("detector", "predictor", "assigner", "blacklist", "forecast", "brief block")
OTHERS = ("Hadoop", "Spark", "Flink")
LESS = ("without forecast", "without blacklist", "without brief block", "without predictor", "without recent_rate", "with Flink's rule")
SCENARIOS = ("weak machines", "faults come and go", "no weak machines")
COME_AND_GO = SCENARIOS[1]


def change(rows, where, who, what):
    return at(rows, where, who, f"{what} over Hadoop's")


def told(r):
    return f"{100 * r['median']:+.0f} % ({100 * r['low']:+.0f} … {100 * r['high']:+.0f})"


def against_hadoop(rows, where):
    tail, waste = change(rows, where, TOGETHER, "p99 time"), change(rows, where, TOGETHER, "wasted")
    won, kept = tail["high"] < 0, waste["high"] <= 0
    word = ("Wins on p99 without losing on waste." if won and kept else
            "Wins on p99; less waste in the median, but the interval holds 0." if won and waste["median"] <= 0 else
            "Wins on p99, with more waste." if won else
            "No difference of p99 that these runs can tell." if tail["low"] <= 0 else "Loses on p99.")
    return (f"{where}, all together against Hadoop: mean time {told(change(rows, where, TOGETHER, 'mean time'))}, p99 {told(tail)}, waste {told(waste)}, "
            f"energy {told(change(rows, where, TOGETHER, 'energy'))}. " + verdict(won and waste["median"] <= 0, word, word))


def against_the_best(rows, where, group, names):
    """Against whoever of the others has the shortest p99: the strictest comparison with each of them."""
    best = min(names, key=lambda n: change(rows, where, n, "p99 time")["median"])
    a, b = change(rows, where, TOGETHER, "p99 time"), change(rows, where, best, "p99 time")
    word = ("All together is better, and the intervals are apart." if a["high"] < b["low"] else
            "All together is better in the median; the intervals overlap." if a["median"] < b["median"] else "All together is not better.")
    return (f"{where}: the shortest p99 of {group} is that of {best}, {told(b)}, with {told(change(rows, where, best, 'wasted'))} waste; all together {told(a)}, "
            f"with {told(change(rows, where, TOGETHER, 'wasted'))}. " + verdict(a["median"] < b["median"], word, word))


def findings(rows):
    for where in SCENARIOS:
        yield against_hadoop(rows, where)
        yield against_the_best(rows, where, "the other schedulers", OTHERS)
        yield against_the_best(rows, where, "the parts alone", PARTS)
    less = "; ".join(f"{who} {told(change(rows, COME_AND_GO, who, 'p99 time'))}" for who in LESS)
    yield f"What each part adds where faults come and go, p99 of all but one: {less}; all together {told(change(rows, COME_AND_GO, TOGETHER, 'p99 time'))}."
    yield ("What single runs showed of an earlier version, which did not beat Hadoop there: in a full cluster the only free slots are those of machines on probation; copies and probes went there, were as slow, and used up the "
           "one copy a task may have. Now an attempt that is no help does not count. Sort's reduces fetch in good time and then write to a disk that is fifteen times slower: by average progress they were nearly done for minutes. "
           "The detector is now told the speed of late where that is less (recent_rate). And until the blacklist knows of a machine, each of its tasks had to be copied in turn: now one copy takes it out for a minute (brief block).")
    yield ("The forecast is no help here, and none was to be expected: faults come at random, so that a machine says nothing beforehand. It avoids "
           f"{at(rows, COME_AND_GO, TOGETHER, 'healthy ones avoided')['median']:.2g} healthy machines on average, {at(rows, COME_AND_GO, 'without forecast', 'healthy ones avoided')['median']:.2g} without it. "
           "Leave it out where nothing recurs.")
    means = ", ".join(f"{who} {told(change(rows, 'no weak machines', who, 'mean time'))}" for who in (TOGETHER, "blacklist", "Flink"))
    yield f"The mean job time where no machine is weak, against Hadoop: {means}. What avoids machines now and then avoids a healthy one, which is one of thirty."
    none, few = "no weak machines", at(rows, "no weak machines", "Hadoop", "wasted")["median"]
    yield (f"There Hadoop wastes {few:.0f} slot-seconds in all, {percent(few / at(rows, COME_AND_GO, 'Hadoop', 'wasted')['median'])} of what it wastes where faults come and go. node_aware copied without asking what a slot is worth wastes "
           f"{told(change(rows, none, 'detector', 'wasted'))} against that; all together, through the assigner with a slot at half a second of the job per second, {told(change(rows, none, TOGETHER, 'wasted'))}.")
    yield ("suspect_share_limit is told the share of suspects among all tasks of the phase: at its end the stragglers are all that runs, and by the running tasks every end of a phase would be a storm. "
           "Flink's rule does not say how long a task still takes: as long again as it has run, and no other task sets the end of the phase.")
    yield ("Tried and left out: a slot that costs less while no task waits (a fifth or a tenth of a second of the job) makes p99 no shorter and wastes more; blocking the machines of all suspects of node_aware, and not just of those "
           "that got a copy, makes jobs a third longer than Hadoop's.")
    yield ("Spark's exclusion of executors counts failed tasks; machines here are slow and fail nothing, so it never acts and is left out. Flink's blocking of slow machines for a minute is part of Flink here, without a limit. "
           "Energy hardly differs: machines are never turned off, and idle ones draw most of it.")


def picture(rows, what, caption):
    chosen = [dict(r, x=r["group"]) for r in rows if r["x"] == f"{what} over Hadoop's" and r["series"] in OTHERS + ("blacklist", "brief block", TOGETHER)]
    return charts.points(chosen, caption, True, -1, 1)


CHAPTER = {
    "kicker": "Not in the papers",
    "title": "All together",
    "lede": "30 machines of one core and two slots, WordCount, Sort and BBP jobs of 60 maps and 15 reduces at exponential intervals for two and a half hours, of which the first half hour is not counted. "
            "Hadoop, Spark and Flink: their rules with their defaults. The parts alone are Hadoop with one part replaced or added: node_aware (detector), similar_tasks (predictor), the assigner, the default blacklist (windows of a quarter of "
            "an hour), a blacklist that goes by a forecast alone (learned anew after each window: who was provably weak in one, from what machines were like in the one before; labels by the weakest group, which there is always, made it avoid healthy machines where none is weak), and cooldown. Together: all of them, and progress told to the detector by recent_rate. The price of "
            "a slot, half a second of the job, was chosen on other seeds than these, as was everything that was changed after looking at runs.",
    "parts": [
        {"csv": "together", "short": "All together", "title": "Job time, waste and energy",
         "lede": "Compared run by run with Hadoop: below 0 is better. Weak machines: three with a CPU fault and three with a memory fault all the time; five and five where faults come and go, each for half an hour and more. Copies by which a machine on probation is tried count as copies; few of them win.",
         "picture": lambda rows, _: picture(rows, "p99 time", "99th percentile of job time against Hadoop's") + picture(rows, "wasted", "Slot-seconds of killed attempts against Hadoop's (cut off at +100 %)"),
         "findings": findings, "percent": is_share("over Hadoop's", "won", "weak ones avoided")},
    ],
}
