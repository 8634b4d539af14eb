# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""What the documents say about the experiments, written from their tables: each number with its interval, the paper's
setting beside ours, and in words only what the numbers support. docs/results.py inserts it into the pages."""
import math
import re

from histories_page import histories  # noqa: F401  (docs/results.py asks for it here)
from tables import bullets, number, number_range, percent, percent_range, share, shorter, shorter_or_longer, signed_range, table, told
from together_page import together

# --- Dynamic server blacklisting -------------------------------------------------------------------------------------

WEAK, WELL = "with weak machines", "no weak machines"


def blacklisting(results):
    at = lambda *key: results.at("dsb-settings", *key)
    def printed(name, group):
        sort, word = ((at(group, "YARN", f"{job} seconds")["paper"], at(group, "dsb_2019", f"{job} improvement")["paper"]) for job in ("Sort", "WordCount"))
        return [name, f"{number(sort[0])} s", percent(sort[1]), "", "", f"{number(word[0])} s", percent(word[1]), ""]

    lines = [printed("the paper, weak machines", "as in table 2 here")]
    for group in dict.fromkeys(r["group"] for r in results.rows("dsb-settings")):
        if group == "no weak machine":
            lines.append(printed("the paper, no weak machine", group))
        lines.append([group, number_range(at(group, "YARN", "Sort seconds")),
                      *(percent_range(at(group, who, "Sort improvement")) for who in ("dsb_2019", "dsb_2019 told", "straggle_blacklist")),
                      number_range(at(group, "YARN", "WordCount seconds")),
                      *(percent_range(at(group, who, "WordCount improvement")) for who in ("dsb_2019", "straggle_blacklist"))])
    nine = lambda who, k: results.at("figure-9", "Sort", who, str(k))
    ks = [["k"] + [str(k) for k in range(6)],
          ["the paper", "0 %", "", "", "55 %", "", "39 %"],
          ["`dsb_2019`, level 0 at most"] + [percent_range(nine("dsb_2019", k)) for k in range(6)],
          ["filled up from the next levels"] + [percent_range(nine("dsb_2019 filled", k)) for k in range(6)]]
    ten = [["k"] + [str(k) for k in range(6)],
           ["copies that won; paper"] + [f"{percent_range(r)}{told(r['paper'])}" for k in range(6)
                                        for r in [results.at("figure-10", "copies that won", "dsb_2019", str(k))]],
           ["copies"] + [number_range(results.at("figure-10", "copies", "dsb_2019", str(k))) for k in range(6)]]
    paper, ours = at("as in table 2 here", "dsb_2019", "Sort improvement"), at("milder fault, shuffle from disk, 10 %", "dsb_2019", "Sort improvement")
    disk, milder = at("shuffle from the source's disk", "dsb_2019", "Sort improvement"), at("milder memory fault", "dsb_2019", "Sort improvement")
    loss, many = results.at("table-2", WELL, "dsb_2019", "Sort improvement"), at("no weak machine, many windows", "dsb_2019", "Sort improvement")
    none = results.at("table-2", WELL, "straggle blacklist", "Sort improvement")
    out = [results.at("table-2", WELL, who, "healthy ones avoided") for who in ("dsb_2019", "straggle blacklist")]
    over = {c: [results.at("dsb-overhead", c, "dsb_2019", x) for x in ("nanoseconds to take in one", "microseconds to rank and decide")] for c in ("OpenNebula", "ExoGENI")}
    used = {who: results.at("table-2", WEAK, who, "slots in use") for who in ("no copies", "YARN", "dsb_2019", "straggle blacklist")}
    eight = [results.at("figure-8", c, "dsb_2019", x) for c in ("OpenNebula", "ExoGENI", "OpenNebula 2") for x in ("memory faults named", "healthy machines named")]
    filled = [nine("dsb_2019 filled", k)["median"] for k in range(6)]
    best = max(range(6), key=lambda k: filled[k])
    return f"""Table 2 in our setting, then with one thing at a time changed to what the paper may have had: YARN's seconds, and by how much
jobs are shorter than with YARN (negative: longer). *With races*: the paper's rule, but it also learns of attempts whose copy won,
as ours does. A run is one cluster: one hour to learn, then one hour that is measured, five for "many windows".

{table(["setting", "YARN, Sort, s", "`dsb_2019`", "with races", "default blacklist", "YARN, WordCount, s", "`dsb_2019`", "default blacklist"], lines)}

{bullets(
    f"**The size of the gain depends on the setting.** Sort is {percent_range(paper)} shorter with the faults chosen here, {percent_range(disk)} where reduces fetch from the disk of the "
    f"source, avoided or not, {percent_range(milder)} with the milder fault (memory 4, disk 6 times slower), {percent_range(ours)} with both and machines that differ by 10 %. "
    f"The paper has 15 %: its direction holds here in {sum(at(g, 'dsb_2019', 'Sort improvement')['low'] > 0 for g in dict.fromkeys(r['group'] for r in results.rows('dsb-settings')) if not g.startswith('no weak'))} "
    f"of {sum(not g.startswith('no weak') for g in dict.fromkeys(r['group'] for r in results.rows('dsb-settings')))} settings with weak machines.",
    f"**Without a weak machine** `dsb_2019` makes Sort {percent_range(loss, -1)} longer in the one hour measured (paper 7.1 %), and {percent_range(many, -1)} over several windows: "
    f"it avoids {number_range(out[0])} of 30 healthy machines, where the paper reports two to five. How long a job takes then depends on how many are left, which is why the interval is so wide. "
    f"The default avoids {number_range(out[1])}, and Sort is {percent_range(none, -1)} longer.",
    "**Machines that differ by themselves**, none weak: " + "; ".join(
        f"by {by} the default makes Sort {percent_range(at(g, 'straggle_blacklist', 'Sort improvement'), -1)} and WordCount {percent_range(at(g, 'straggle_blacklist', 'WordCount improvement'), -1)} longer, "
        f"avoiding {number_range(at(g, 'straggle_blacklist', 'healthy ones avoided'))} machines (`dsb_2019`: Sort {percent_range(at(g, 'dsb_2019', 'Sort improvement'), -1)}, {number_range(at(g, 'dsb_2019', 'healthy ones avoided'))} machines)"
        for by, g in (("10 %", "no weak machine, 10 %"), ("20 %", "no weak machine, 20 %"))) + ". What is avoided is slower by design, and its slots are missed.",
    f"**Figure 8**: of the machines with a memory fault level 0 names {', '.join(percent(r['median']) for r in eight[::2])} in the three clusters, and {', '.join(number(r['median']) for r in eight[1::2])} healthy ones (paper: all, none).",
    f"**5.2, overhead**: to take in an attempt costs the master {number_range(over['OpenNebula'][0])} ns, to rank 30 machines and decide {number_range(over['OpenNebula'][1])} µs "
    f"({number_range(over['ExoGENI'][1])} for 20), once in an hour. The paper finds no difference in the time of a job; k = 0 below is that experiment, and equal by construction.",
    "**Figure 7**, as far as it can be reproduced: slots in use with weak machines " + ", ".join(f"{percent_range(r)} ({who})" for who, r in used.items()) + ".")}

Figure 9, how much shorter Sort is than with k = 0; 20 machines, three with a memory fault:

{table(ks[0], ks[1:])}

As described, *P-Cores with number* chooses among level 0, so that k = 4 and 5 change nothing where level 0 holds three machines.
Filled up from the next levels the best k is {best}, and k = 5 is {percent(filled[3] - filled[5])} of a job worse than k = 3: {"the paper's direction" if filled[5] < filled[3] - 0.005 else "not the paper's direction"}, by medians{"" if nine("dsb_2019 filled", 5)["high"] < nine("dsb_2019 filled", 3)["low"] else " whose intervals overlap"}; by the paper's 35.75 %, counted from k = 3, it is 16 % of a job, hence the 39 % above.

Figure 10, copies that win, 30 machines:

{table(ten[0], ten[1:])}

The paper has less than 30 % without a blacklist, from a different cluster, and up to 89 % with four or five. {"Here it is the reverse" if results.at("figure-10", "copies that won", "dsb_2019", "5")["median"] < results.at("figure-10", "copies that won", "dsb_2019", "0")["median"] else "So here"}: most likely because
the blacklist removes the clear stragglers, and the copies that remain are close races; this was not tested."""


# --- The evaluation framework ----------------------------------------------------------------------------------------

COLD = ("Default", "Hierarchical", "LATE", "LATE as printed, ms", "node_aware cold")
MEASURES = (("precision", "precision"), ("recall", "recall"), ("latency", "detection latency"), ("undetected time", "undetected time"), ("fake positives", "fake positives"))


def of_detectors(results, groups, detectors, measures=MEASURES):
    lines = []
    for group in groups:
        for who in detectors:
            cells = [f"{number_range(r)}{told(r['paper'], number)}" for x, _ in measures for r in [results.at("table-6", group, who, x)]]
            lines.append([group, who, *cells, number_range(results.at("table-6", group, who, "seconds"))])
    return table(["case", "detector", *(name for _, name in measures), "job, s"], lines)


def evaluation(results):
    cases = ("C1", "C2", "C3", "C4")
    at = lambda *key: results.at("table-6", *key)
    closer = [c for c in cases if abs(at(c, "LATE as printed, ms", "recall")["median"] - at(c, "LATE", "recall")["paper"])
              < abs(at(c, "LATE", "recall")["median"] - at(c, "LATE", "recall")["paper"])]

    def held(better, worse, m):
        where = [c for c in cases if at(c, better, m)["low"] > at(c, worse, m)["high"]]
        return f"{better} above {worse} in {m}: {', '.join(where) or 'no case'}"
    fastest = {c: min(COLD, key=lambda who: at(c, who, "seconds")["median"]) for c in cases}
    fives = [[x, percent_range(r) + told(r["paper"])] for x in ("0.25", "0.5", "0.6", "0.7", "0.9") for r in [results.at("table-5", "stragglers on equal machines", "WordCount", x)]]
    ones = [[str(n), *(number_range(r) + told(r["paper"], number) for g in ("seconds of a task", "watts", "watts by evaluate/power") for r in [results.at("figure-1", g, "WordCount", str(n))])] for n in range(1, 9)]
    three = [[str(s), percent_range(r) + told(r["paper"])] for s in (10, 20, 30, 40, 50, 60) for r in [results.at("figure-3", "fake positives", "Default", str(s))]]
    reserved = []
    for x in ("100", "95", "90", "75", "50", "Shared"):
        for who in COLD:
            row = [results.at("figures-4-6", g, who, x) for g in ("job time", "energy", "copies", "copies that won")]
            seven = [results.at("table-7", x, who, m) for m in ("precision", "recall", "latency")]
            reserved.append([x, who, *(number_range(r) + told(r["paper"], number) for r in (*seven, *row))])
    two = [results.at("figure-2", "time over the task's usual time", "WordCount", f"{q} %") for q in (5, 95, 99, 100)]
    outliers = results.at("figure-2", "outliers among 3200 times", "WordCount", "")
    energy = [r for r in results.rows("energy")]
    # Medians of each, not compared run by run, so there is no interval.
    against = {g: {"median": 1 - results.at("figures-4-6", g, "Hierarchical", "Shared")["median"] / results.at("figures-4-6", g, "Default", "Shared")["median"], "low": math.nan, "high": math.nan}
               for g in ("job time", "energy")}
    apart = max((abs(v) for r in energy for v in (r["low"], r["high"])), default=math.nan)
    shared = at("C2, shared slots", "Hierarchical", "seconds"), at("C2, shared slots", "Default", "seconds"), at("C2, shared slots", "LATE", "seconds")
    lag = "Default, job's lag"
    warm = ("node_aware warm", "node_aware all")
    return f"""Table 6, detectors that begin with nothing known (cold). Precision counts fake positives as mistakes, as the paper's text says;
its table seems to leave them in, so that the [full report](#the-whole-report) has both. *As printed, ms*: equation 10
literally, with times in milliseconds as in Hadoop.

{of_detectors(results, cases, COLD)}

{bullets(
    f"**Equation 10.** With the printed rule in milliseconds, recall is nearer to the paper's than with the corrected rule in {', '.join(closer) or 'no case'}: "
    "the threshold is nearly the mean, and half of the tasks are below it. With times in seconds it is nearly the mean as well.",
    f"**What holds with intervals apart** (the paper: in every case): {held('Hierarchical', 'Default', 'precision')}; {held('LATE', 'Default', 'precision')}; {held('LATE', 'Default', 'recall')}; "
    f"{held('LATE as printed, ms', 'Default', 'recall')}; {held('Default', 'Hierarchical', 'recall')}.",
    "**Shortest job**, cold detectors, by medians: " + ", ".join(f"{who} in {c}" for c, who in fastest.items()) + ".",
    "**The lag** is counted from the start of the task, as Hadoop 1 does. From that of the job, as the paper's text has it, Default has in C1 to C4: "
    + "; ".join(f"precision {number_range(at(c, lag, 'precision'))}, recall {number_range(at(c, lag, 'recall'))}, latency {number_range(at(c, lag, 'latency'))}" for c in cases) + ".")}

The same with shared slots, where a copy need not wait until the last task has started:

{of_detectors(results, [f"{c}, shared slots" for c in cases], COLD)}

In C2 with shared slots the job takes {number_range(shared[0])} s with Hierarchical, {number_range(shared[1])} with Default, {number_range(shared[2])} with LATE. The paper finds Hierarchical best there: {"so here" if shared[0]["high"] < min(shared[1]["low"], shared[2]["low"]) else "not provably here"}.

**Warm detectors** know the usual time of each task, the very number that defines a straggler: what follows bounds
what history can bring and does not compare with the rules above. *All* also names tasks that no copy could overtake.

{of_detectors(results, cases, warm)}

Figure 1, one machine of four cores by tasks at once. It shows that the simulator follows the paper's model, not that the model is right:

{table(["tasks", "seconds of a task", "watts", "watts by `evaluate/power.hpp`"], ones)}

Figure 2 and table 5: ten equal runs. 90 % of the times are between {number(two[0]["median"])} and {number(two[1]["median"])} of the task's usual time, one in a hundred is above {number(two[2]["median"])}, the longest of all {number_range(two[3])};
{number_range(outliers)} of 3200 are outliers (paper 21). Stragglers by the quantile that is taken as usual; the spread of attempts was chosen with this table in view:

{table(["quantile", "stragglers on equal machines"], fives)}

Figure 3, fake positives by lag in seconds, C2:

{table(["lag, s", "fake positives"], three)}

Table 7 and figures 4 to 6, C2, by share of the slots for tasks; time and energy over Default's with 100:

{table(["slots", "detector", "precision", "recall", "latency", "job time", "energy", "copies", "won"], reserved)}

With shared slots Hierarchical takes {percent_range(against["job time"])} less time and {percent_range(against["energy"])} less energy than Default. The paper's section 7.3 has 32 % and 31 %,
its abstract 31 % of energy.

Energy by `evaluate/power.hpp` from the schedule alone is within {percent(apart)} of the simulator's."""


# --- RiskI -----------------------------------------------------------------------------------------------------------

MEAN = "mean shorter than LATE's"


def riski(results):
    at = lambda *key: results.at("riski-settings", *key)
    groups = list(dict.fromkeys(r["group"] for r in results.rows("riski-settings"))) or ["", ""]  # not run yet
    here = [("riski-figures-12-13", g) for g in ("BBP every 60 s", "BBP every 120 s")] + [("riski-settings", g) for g in groups]
    names = {"BBP every 60 s": "faults that come and go, equal speeds, every 60 s", "BBP every 120 s": "faults that come and go, equal speeds, every 120 s"}
    wins = []
    lines = [["the paper, part 1 of 5, every 60 s", "48", "13", "40 %", "85 %", "shorter, by how much is not said", "", "", ""]]
    for name, g in here:
        row = lambda who, x: results.at(name, g, who, x)
        r = row("RiskI", MEAN)
        wins.append((names.get(g, g), r))
        lines.append([names.get(g, g), number_range(row("LATE", "copies")), number_range(row("RiskI", "copies")), percent_range(row("LATE", "share that won")),
                      percent_range(row("RiskI", "share that won")), percent_range(r), percent_range(row("no copies", MEAN)),
                      percent_range(row("RiskI as printed", MEAN)), percent_range(row("straggle", MEAN))])
    def below(smaller, larger, x):
        """In how many settings one's median is below the other's, and in how many the whole interval."""
        pairs = [(results.at(name, g, smaller, x), results.at(name, g, larger, x)) for name, g in here]
        return sum(a["median"] < b["median"] for a, b in pairs), sum(a["high"] < b["low"] for a, b in pairs)
    fewer, surer = below("RiskI", "LATE", "copies"), below("LATE", "RiskI", "share that won")
    by = {v: [n for n, r in wins if shorter(r) == v] for v in ("shorter", "longer", "no difference that these runs can tell")}
    first, slots = (at(g, "RiskI", MEAN) for g in groups[:2])
    none = [at(g, "no copies", MEAN) for g in groups[:2]]
    printed = at(groups[0], "RiskI as printed", "copies"), at(groups[0], "RiskI as printed", "share that won")
    ten = {size: [results.at("riski-figure-10", f"{size} jobs", who, MEAN) for who in ("RiskI", "no copies")] for size in ("large", "medium", "small")}
    part = {who: [results.at("riski-parts", "BBP every 60 s", who, f"1 medium: {x}") for x in ("copies", "won")] for who in ("LATE", "RiskI")}
    small = results.at("riski-figure-10", "small jobs", "RiskI", "copies")
    light = {who: [results.at("riski-parts", "BBP every 120 s", who, f"{part_}: {x}") for part_ in ("1 medium", "2 small")] for who, x in (("LATE", "won"), ("RiskI", "copies"))}
    never = results.at("riski-figures-12-13", "BBP every 60 s", "machines never slow", MEAN)
    steps = [[r["series"], percent_range(r), percent_range(results.at("riski-steps", "BBP every 120 s", r["series"], MEAN))]
             for r in results.rows("riski-steps") if r["group"] == "BBP every 60 s" and r["x"] == MEAN]
    worse = [results.at("riski-figure-14", "testbed 3", who, "mean over that of testbed 1") for who in ("LATE", "RiskI")]
    bed = [results.at("riski-figure-14", b, "RiskI", MEAN) for b in ("testbed 1", "testbed 2", "testbed 3")]
    equal = [[who, *(number_range(r) + told(r["paper"], number) for x in ("mean over the mean of all", "deviation over its mean", "longest over shortest")
                    for r in [results.at("riski-table-1", "128 equal maps", who, x)])] for who in ("all", "node 1", "node 2", "node 3", "node 4")]
    alone = [[x, *(number_range(results.at("riski-table-1", "one map 20 times", s, x)) for s in ("time over that alone", "longest over shortest"))] for x in map(str, range(1, 9))]
    sixteen = [[s, *(percent_range(results.at("riski-figure-16", g, s, x)) for g in ("share of the times in the range", "width of the range over its mean") for x in ("1", "32"))]
               for s in dict.fromkeys(r["series"] for r in results.rows("riski-figure-16"))]
    price = [results.at("riski-steps", "BBP every 60 s", s, MEAN) for s in ("and expected gain: straggle", "and priced: straggle priced")]
    return f"""RiskI is `papers/riski_2014.hpp`: its predictor, its profit, its assignment, its kill, and its candidates: tasks that
have run longer than the mean of the running ones (section 6.1). *As printed* has the misprints: the farthest profile, the sign of
the profit. Copies, copies that won, and by how much jobs are shorter than with LATE in the mean (negative: longer). The machines of
the paper are of fixed speed (table 1; the fifth, which is not in it, has the mean of the four) with 13 map and 10 reduce slots
(table 3; 23 of both kinds here).

{table(["setting", "copies: LATE", "RiskI", "won: LATE", "RiskI", "RiskI", "no copies at all", "as printed", "`node_aware` and our profit"], lines)}

{bullets(
    f"**Fewer copies than LATE**, by medians in {fewer[0]} of {len(here)} settings, with intervals apart in {fewer[1]}; **a larger share of them wins**, by medians in {surer[0]}, with intervals apart in {surer[1]}{': the direction of the paper' if fewer[0] == surer[0] == len(here) else ''}.",
    f"**On the paper's machines the direction {'holds' if min(first['low'], slots['low']) > 0 else 'does not provably hold'}** where jobs arrive every 60 s: RiskI {percent_range(first)} shorter than LATE with the speeds of "
    f"table 1, {percent_range(slots)} with the slots of table 3. **No copies at all** are {percent_range(none[0])} and {percent_range(none[1])} shorter{': most likely the cluster is so full there that what helps is to copy less' if min(n['low'] for n in none) > 0 else ''}.",
    f"**Shorter** in: {'; '.join(by['shorter']) or 'no setting'}. **Longer** in: {'; '.join(by['longer']) or 'no setting'}. **Neither** in: {'; '.join(by['no difference that these runs can tell']) or 'no setting'}. "
    "Faults that come and go are in none of the paper's factors: what a machine did an hour ago says little about it now.",
    f"**46 %** (the abstract; the introduction says “up to”) is {'not reached' if max(r['high'] for r, _ in ten.values()) < 0.46 else 'reached'} by jobs of one size, every 60 s (figure 10): "
    + "; ".join(f"{size} jobs are {shorter_or_longer(r)} than with LATE, without any copies {shorter_or_longer(none_)}" for size, (r, none_) in ten.items()) + ". "
    f"On machines that are never slow the mixed jobs are {percent_range(never)} shorter than "
    "LATE's on machines that are: no scheduler can do better.",
    f"**As printed** it launches {number_range(printed[0])} copies with the speeds of table 1, of which {percent_range(printed[1])} win: it selects what loses. Jobs are {percent_range(at(groups[0], 'RiskI as printed', MEAN))} shorter than LATE's even so, and {percent_range(none[0])} without any.",
    f"**Figure 14**: from testbed 1 to 3 the mean time becomes {number_range(worse[0])} times as long with LATE, {number_range(worse[1])} with RiskI (paper: RiskI degrades much less; {'so here' if worse[1]['high'] < worse[0]['low'] else 'not provably here'}). "
    f"In the three RiskI is {', '.join(shorter_or_longer(b) for b in bed)} than LATE.",
    f"**Like for like with figure 12**: in part 1 alone, 13 medium jobs every 60 s, LATE launches {number_range(part['LATE'][0])} copies, of which {number_range(part['LATE'][1])} win, "
    f"and RiskI {number_range(part['RiskI'][0])}, of which {number_range(part['RiskI'][1])} win. The paper has 48 and 19, and 13 and 11: fewer copies with RiskI, "
    f"{'as here' if part['RiskI'][0]['high'] < part['LATE'][0]['low'] else 'as here by medians, whose intervals overlap' if part['RiskI'][0]['median'] < part['LATE'][0]['median'] else 'which these runs do not show'}.",
    f"**Candidates**: a task that runs alone is its own mean, so the last running task of a phase gets no copy. Small jobs (figure 10) get {number_range(small)} copies. Every 120 s RiskI launches "
    f"{number_range(light['RiskI'][0])} in part 1 and {number_range(light['RiskI'][1])} in part 2 (paper: none); of LATE's, {number_range(light['LATE'][0])} and {number_range(light['LATE'][1])} win (paper: none).",
    f"**Our parts**: with the library's defaults (`straggle`) jobs every 60 s are {percent_range(price[0])} shorter than LATE's; with `slot_price = 1`, which is no default, {percent_range(price[1])}.")}

From RiskI to our defaults, step by step, mean time below LATE's:

{table(["step", "every 60 s", "every 120 s"], steps)}

Table 1 and figures 2 and 3, 128 equal maps on the four machines; means as shares of that of all maps. Eight maps on the four
cores of machines 3 and 4 make those slower than table 1 has them:

{table(["machine", "mean over all", "deviation over mean", "longest over shortest"], equal)}

Figures 4 and 15, one map again and again on a machine of four cores, by maps that run there at once:

{table(["maps at once", "time over that alone", "longest over shortest"], alone)}

Figure 16, ranges of ten similar tasks after one and after 32 maps of the kind on the machine; if all were alike, ten
samples would hold the next one in 9 of 11 cases:

{table(["jobs", "in the range, 1", "32", "width over mean, 1", "32"], sixteen)}"""


# --- ML-NA -----------------------------------------------------------------------------------------------------------

def ml_na(results):
    group = "a third of all machines in all months"
    names = list(dict.fromkeys(r["series"] for r in results.rows("ml-na-table-2")))
    two = [[n, *(percent_range(r) + told(r["paper"]) for x in ("precision", "recall", "accuracy") for r in [results.at("ml-na-table-2", group, n, x)])] for n in names]
    months = [f"month {m}" for m in range(2, 10)]
    six = [[f"{g}, {s}", *(f"{share(r['median'])} ({share(r['low'])} to {share(r['high'])})" + (f"; paper {share(p)}" if not math.isnan(p := r["paper"]) else "")
                           for m in months for r in [results.at("ml-na-figure-6", g, s, m)])]
           for g in dict.fromkeys(r["group"] for r in results.rows("ml-na-figure-6")) for s in ("least", "mean", "most")]
    readings = ("idle days carried on", "every idle day is NaN")
    seven = [[x, *(how(results.at("ml-na-figure-7", "month 7", s, x)) for s in readings),
              "" if math.isnan(paper := results.at("ml-na-figure-7", "month 7", readings[0], x)["paper"]) else plain(paper)]
             for x, how, plain in (("columns that are NaN for all machines", number_range, number), ("share of the other values that is NaN", percent_range, percent),
                                   ("accuracy, from the month before", percent_range, "{:.1%}".format), ("less than the mean of the other months", percent_range, "{:.1%}".format))]
    less = {s: results.at("ml-na-figure-7", "month 7", s, "less than the mean of the other months") for s in readings}
    verdict = "; ".join(f"{s}: {percent_range(r)} less accurate than in the mean of the other months" + ("" if r["low"] > 0 else ", which chance may explain") for s, r in less.items())
    same, before = "by the features of the month itself", "by the last days of the month before"
    three = [[what, *(percent_range(results.at("ml-na-table-3", g, s, x)) for s, x in (("any number of months", "all"), ("all are what most were", "all"), ("as in the month before", "all"),
                                                                                       ("any number of months", "precision"), ("any number of months", "recall")))]
             for what, g in (("by that month's own features (the paper)", same), ("by the last days of the month before (a forecast)", before))]
    one = [[m, *(how(r) + told(r["paper"], plain) for x, how, plain in (("groups chosen", number_range, number), ("share that is weak", percent_range, percent))
                for r in [results.at("ml-na-table-1", "groups", m, x)])] for m in (f"month {k}" for k in range(1, 10))]
    five = [[f"{k}", number_range(results.at("ml-na-figures-4-5", "score by number of groups, three features", "month 1", str(k)))] for k in range(2, 11)]
    four = [percent_range(results.at("ml-na-figures-4-5", "share of the machines in each of five groups, the weakest first", "month 1", f"group {g}")) for g in range(1, 6)]
    history = [results.at("ml-na-table-1", "history", "nine months", x) for x in ("tasks that are stragglers", "jobs that have one")]
    bayes, trees = (results.at("ml-na-table-2", group, n, "accuracy") for n in ("naive Bayes", "boosted trees (XGBoost)"))
    best = max((n for n in names if not math.isnan(results.at("ml-na-table-2", group, n, "accuracy")["median"])), key=lambda n: results.at("ml-na-table-2", group, n, "accuracy")["median"], default="–")
    return f"""The months are simulated ({percent_range(history[0])} of the tasks are stragglers, {percent_range(history[1])} of the jobs have one); tuples, labels and trees are those of `papers/ml_na_2017.hpp`.
A machine is weak if the method's own groups say so: accuracy says how well a classifier repeats the groups, not how well it knows
weak machines.

Table II, a third of all machines in all months; ours is the first line, the others are scikit-learn's with their defaults:

{table(["classifier", "precision", "recall", "accuracy"], two)}

{bullets(
    f"Naive Bayes is {percent_range(bayes)} accurate, boosted trees {percent_range(trees)}: {'the paper has it far behind, and so here' if bayes['high'] < trees['low'] else 'the paper has it far behind; not provably so here'}. The most accurate here is {best}.")}

Table I, groups chosen and machines called weak:

{table(["month", "groups", "weak"], one)}

Figures 4 and 5, month 1 by three features: of five groups, the weakest first, {', '.join(four)} of the machines; score by number of groups:

{table(["groups", "score"], five)}

Table III in short: accuracy, that of two forecasts without learning, precision and recall:

{table(["", "right", "all are what most were", "as in the month before", "precision", "recall"], three)}

Figure 6, accuracy in percent by month over all windows to learn from; (a) the paper's setting, (b) its other one, and (a)
where every idle day is empty:

{table(["", *(m.split()[1] for m in months)], six)}

Figure 7, month 7, in whose first three days nothing runs, by both readings of an idle day:

{table(["", *readings, "paper"], seven)}

Month 7, learned from month 6: {verdict}. The paper puts its 45 % down to these days; on simulated months {'its reading shows nothing of the kind' if less[readings[0]]['high'] < 0.2 and less[readings[1]]['high'] < 0.2 else 'one reading shows a loss of that size'}."""


# --- Pages -----------------------------------------------------------------------------------------------------------

def caveats(results):
    """What to know before reading a number: first on the page, and in the report."""
    runs = sorted({results.runs(t) for t in ("table-2", "dsb-settings", "table-6", "riski-settings", "together", "ml-na-table-3")} - {0})
    said = " to ".join(map(str, (runs[0], runs[-1]) if len(runs) > 1 and runs[0] != runs[-1] else runs[:1]))
    return (
        "**All of it is simulated**, on one simulator (SimGrid), except for the recorded histories. The clusters of the four papers and the production traces of two others "
        "are not public; OpenCloud's records are, but were not at hand.",
        "**Some parts of a setting were chosen with the paper's number in view**, so this number proves nothing: how bad the faults of the blacklisting experiments are (so that jobs slow "
        "down as in its table 2), how much equal attempts differ in the evaluation framework (its table 5), how slow RiskI's neighbors are (so that about as many of LATE's copies win as in "
        "its figure 12). The tables of settings change these one at a time, and several conclusions change with them.",
        f"**Intervals.** A number is the median of {said} runs; in parentheses is an interval between order statistics that contains the true median with 95 %. Improvements are compared "
        "run by run on the same seeds. It says what chance does in this simulator, nothing about how far the simulator is from a cluster.",
        "**p99 is the 99th percentile of the job times of a run.** With fifty jobs it is nearly the slowest.",
        'What is called `straggle` or "default" runs **with every default**, except that a detector knows how often tasks report; where another option was changed (`slot_price = 1` is "priced") the line '
        "says so. The papers' rules run from `papers/*.hpp`.",
        "**Warm detectors know what they are judged by**, and stand apart.",
        "**ML-NA's months are simulated**, to match what the papers print of OpenCloud.")


def experiments(results):
    return f"""## Before you read a number

{bullets(*caveats(results))}

## Dynamic server blacklisting

{blacklisting(results)}

## The evaluation framework

{evaluation(results)}

## RiskI

{riski(results)}

## ML-NA

{ml_na(results)}

## All together

{together(results)}
"""


def closed_loop(results):
    at = lambda who, x: results.at("ml-na-closed-loop", "weak as in the experiments on blacklisting", who, x)
    found = lambda who, x: percent(results.at("ml-na-closed-loop", "who was avoided", who, x)["median"])
    names = (("reactive", "the reactive blacklist's (the default)"), ("forecast", "the nodes that the forecast names"), ("either", "either"), ("last month", "those weak last month"),
             ("month known", "those weak in the mean of this month (known)"), ("oracle", "those weak today (oracle)"))
    lines = [[name, signed_range(at(who, "mean time over none's")), signed_range(at(who, "mean time in first weeks over none's"))] for who, name in names]
    provably = lambda r: ", which chance may explain" if r["low"] < 0 < r["high"] else ""
    alone, repeat, more = at("forecast", "mean time over none's"), at("last month", "mean time over none's"), at("either", "mean time over reactive's")
    mild = results.at("ml-na-closed-loop", "weak as in the nine months", "oracle", "mean time over none's")
    return f"""{table(["nodes avoided", "mean", "of jobs in a month's first week"], lines)}

Alone, the forecast changes the mean by {signed_range(alone)}{provably(alone)}; avoiding those weak last month, by {signed_range(repeat)}{provably(repeat)}; the forecast
beside the reactive blacklist, by {signed_range(more)} against that alone{provably(more)}. Why:

{bullets(
    "**The past does not show the future.** Suppose it were known for certain which nodes are weak on the first day of a month. Avoiding these for the month finds "
    f"{found('weak on the first day', 'recall')} of the weak time, and {found('weak on the first day', 'precision')} of what is named is right. The reactive blacklist, which decides again every week of this calendar, "
    f"finds {found('reactive', 'recall')}, and {found('reactive', 'precision')} is right. A node's first weak week is hardly ever foreseen.",
    f"**A node that is avoided leaves no records**, so nothing is expected of it in the following month: recall is {found('forecast', 'recall')} if the forecast is acted on, {found('forecast where nobody is avoided', 'recall')} "
    "if no node is avoided (medians).",
    "**Even so it is far from what could be known**, probably because there is little to learn from: 30 nodes with 60 tasks each in a month. The tables above have 96 nodes with 380 tasks each. (Not tested.)")}

Avoiding a node also has to be worth it. If tasks on weak nodes take at most 1.6 times as long, as in the nine months themselves, the mean of even the oracle's
jobs changes by {signed_range(mild)} against copies alone{provably(mild)}."""


def printed_months(results):
    """The tables of one history, as printed by paper_ml_na."""
    file = results.folder / "ml-na-printed.txt"
    if not file.exists():
        return ""
    parts = re.findall(r"^(by the features of [^:\n]*): accuracy in %\n\n((?:\|.*\n)+)", file.read_text() + "\n", re.M)
    return "\n".join(f"**{title[0].upper()}{title[1:]}**, accuracy in %:\n\n{rows}" for title, rows in parts)
