# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""What the report says of all parts together."""
import charts
from wording import at, is_share, percent, verdict

TOGETHER = ("together", "together by Flink's rule", "Flink's rule without predictor")
PARTS = ("detector", "predictor", "assigner", "blacklist", "blacklist and losers")
OTHERS = ("Hadoop", "Spark", "Flink")
SCENARIOS = ("weak machines", "faults come and go", "no weak machines")


def change(rows, where, who, what):
    return at(rows, where, who, f"{what} over Hadoop's")


def told(r):
    return f"{100 * r['median']:+.0f} % ({100 * r['low']:+.0f} … {100 * r['high']:+.0f})"


def findings(rows):
    for where in SCENARIOS:
        for who in TOGETHER:
            tail, waste = change(rows, where, who, "p99 time"), change(rows, where, who, "wasted")
            won, kept = tail["high"] < 0, waste["high"] <= 0
            word = ("Wins on p99 without losing on waste." if won and kept else
                    "Less in the median, but the interval of p99 holds 0." if tail["median"] < 0 and kept else
                    "Does not win on p99." if kept else "Does not win on p99 without the doubt of more waste.")
            yield f"{where}, {who}, against Hadoop: p99 {told(tail)}, waste {told(waste)}. " + verdict(won and kept, word, word)
        for group, names in (("the parts alone", PARTS), ("the other schedulers", OTHERS)):
            best = min(names, key=lambda n: change(rows, where, n, "p99 time")["median"])
            ours = min(TOGETHER, key=lambda n: change(rows, where, n, "p99 time")["median"])
            a, b = change(rows, where, ours, "p99 time"), change(rows, where, best, "p99 time")
            yield (f"{where}: the shortest p99 of {group} is that of {best}, {told(b)}, with {told(change(rows, where, best, 'wasted'))} waste; of the combinations that of {ours}, "
                   f"{told(a)}, with {told(change(rows, where, ours, 'wasted'))}. " + verdict(a["median"] <= b["median"], "The combination is at least as good.", "The combination is not better."))
    a, b = at(rows, "faults come and go", "blacklist", "weak ones avoided"), at(rows, "faults come and go", "blacklist and losers", "weak ones avoided")
    yield (f"Good copies hide the machines that make them necessary: a task whose copy won is killed, and a killed task is no evidence. Counted as if it had ended when it was killed, which is "
           f"the least it can have taken, {percent(b['median'])} of the weak machines are avoided where faults come and go, instead of {percent(a['median'])}.")
    means = ", ".join(f"{who} {told(change(rows, 'no weak machines', who, 'mean time'))}" for who in TOGETHER + ("blacklist", "Flink"))
    yield f"The mean job time where no machine is weak, against Hadoop: {means}. What avoids machines now and then avoids a healthy one, which is one of thirty."
    d = change(rows, "no weak machines", "detector", "wasted")
    yield (f"node_aware copied without asking what a slot is worth wastes {told(d)} where no machine is weak; through the assigner, with a slot at half a second of the job per second, "
           f"{told(change(rows, 'no weak machines', 'together', 'wasted'))}.")
    yield ("storm_guard is told the share of suspects among all tasks of the phase: at its end the stragglers are all that runs, and by the running tasks every end of a phase would be a storm. "
           "Flink's rule does not say how long a task still takes: as long again as it has run, and no other task sets the end of the phase.")
    p, q = change(rows, "faults come and go", "together by Flink's rule", "p99 time"), change(rows, "faults come and go", "Flink's rule without predictor", "p99 time")
    yield (f"The predictor where faults come and go: p99 {told(p)} with it, {told(q)} without. Where the first is worse, probably because similar tasks tell how long one took on a machine over the last hours, "
           "not what has just happened to the machine; the mean of the phase, corrected by how slow the machine is in this phase, is younger. (Not tested.)")
    yield ("Spark's exclusion of executors counts failed tasks; machines here are slow and fail nothing, so it never acts and is left out. Flink's blocking of slow machines for a minute is part of Flink here. "
           "Energy hardly differs: machines are never turned off, and idle ones draw most of it.")


def picture(rows, what, caption):
    chosen = [dict(r, x=r["group"]) for r in rows if r["x"] == f"{what} over Hadoop's" and r["series"] in ("Hadoop", "Flink", "blacklist", "blacklist and losers", "together", "together by Flink's rule")]
    return charts.points(chosen, caption, True, -1, 1)


CHAPTER = {
    "kicker": "Not in the papers",
    "title": "All together",
    "lede": "30 machines of one core and two slots, WordCount, Sort and BBP jobs of 60 maps and 15 reduces at exponential intervals for two and a half hours, of which the first half hour is not counted. "
            "Hadoop, Spark and Flink: their rules with their defaults. The parts alone are Hadoop with one part replaced (or, the blacklist, added): node_aware, similar_tasks, the assigner, the default blacklist (windows of a quarter of "
            "an hour), and that blacklist with losers counted. Together: all of them, and machines of tasks that got a copy get nothing for a minute; also with Flink's rule instead of node_aware. The price of "
            "a slot was chosen on other seeds than these.",
    "parts": [
        {"csv": "together", "short": "All together", "title": "Job time, waste and energy",
         "lede": "Compared run by run with Hadoop: below 0 is better. Weak machines: three with a CPU fault and three with a memory fault all the time; five and five where faults come and go, each for half an hour and more. Copies by which a machine on probation is tried count as copies; few of them win.",
         "picture": lambda rows, _: picture(rows, "p99 time", "99th percentile of job time against Hadoop's") + picture(rows, "wasted", "Slot-seconds of killed attempts against Hadoop's (cut off at +100 %)"),
         "findings": findings, "percent": is_share("over Hadoop's", "won", "weak ones avoided")},
    ],
}
