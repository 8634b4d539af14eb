#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""Writes effectiveness.md and its pictures from the raw results of the laboratory.

usage: report.py RESULTS.csv SCENARIOS.csv FOLDER [DRAWN.csv DRAWN.txt]
"""
import collections
import csv
import pathlib
import sys

import charts
import drawn
import goals
import results as r

TITLES = {"library": "the mitigator with its defaults", "library_copies_only": "its copies alone",
          "library_nodes_only": "its exclusions alone", "library_places_only": "its placement alone",
          "late": "LATE", "hadoop": "Hadoop MRv2", "spark": "Spark 3", "spark4": "Spark 4", "flink": "Flink, no limit on blocked nodes",
          "flink_limited": "Flink, at most a fifth of the nodes blocked", "dolly": "Dolly's clones",
          "dsb": "blacklisting to the letter", "oracle": "the oracle, a yardstick"}
LOADS = {"0.4": "load 40 %", "0.6": "load 60 %", "0.8": "load 80 %", "1.2": "load 120 %"}


NOT_DRAWN = ("Not run with these rows; `bench/effectiveness.sh --drawn 80` makes them. What tuning seeds have shown is in\n"
             "[How much the constants of copies matter](../notes/sensitivity.md#at-the-edges).")


def percent(change, digits=1):
    return f"{100 * change:+.{digits}f}"


def with_interval(c):
    return f"{percent(c.point)} ({percent(c.low)} to {percent(c.high)})"


def table(header, align, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "|".join(align) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


class Report:
    def __init__(self, results, scenarios, drawn_text):
        self.all = results
        self.drawn_text = drawn_text
        self.about = {s["name"]: s for s in scenarios if s["name"] in results.runs}
        self.names = list(self.about)
        self.policies = results.policies()
        self.main = next(p for p in r.LIBRARY + self.policies if p in self.policies)
        self.cache = {}

    def compare(self, scenario, policy, column):
        key = scenario, policy, column
        if key not in self.cache:
            self.cache[key] = self.all.compare(scenario, policy, column)
        return self.cache[key]

    def verdict(self, scenario, policy):
        return r.verdict(self.compare(scenario, policy, "mean"), self.compare(scenario, policy, "p99"))

    def known(self, policy, among=None):
        return [s for s in (among or self.names) if self.compare(s, policy, "mean")]

    def typical(self, policy, column, among=None):
        """The geometric mean over scenarios."""
        known = self.known(policy, among)
        if not known:
            return None
        return r.geometric_mean([1 + self.compare(s, policy, column).point for s in known]) - 1

    def share(self, policy, above, below):
        """The sum of some columns divided by that of others, over all runs."""
        runs = [run for s in self.known(policy) for run in self.all.runs[s][policy].values()]
        bottom = sum(run[c] for run in runs for c in below)
        return sum(run[c] for run in runs for c in above) / bottom if bottom else float("nan")

    def policy_table(self):
        rows = []
        for p in self.policies:
            verdicts = collections.Counter(self.verdict(s, p) for s in self.known(p))
            hours = self.share(p, ["healthy_out"], ["jobs"]) * 1000
            weak = self.share(p, ["weak_out"], ["weak"])
            rows.append([f"`{p}`", TITLES.get(p, ""), percent(self.typical(p, "mean")),
                         percent(self.typical(p, "median")), percent(self.typical(p, "p99")),
                         str(verdicts["passes"]), str(verdicts["hurts"]),
                         f"{verdicts['undecided, passes so far']} / {verdicts['undecided, hurts so far']} / "
                         f"{verdicts['undecided']}",
                         f"{100 * self.share(p, ['wasted'], ['useful', 'wasted']):.1f}",
                         f"{100 * self.share(p, ['copies'], ['attempts']):.1f}",
                         f"{100 * self.share(p, ['won'], ['copies']):.0f}" if self.share(p, ["copies"], ["jobs"]) else "",
                         f"{hours:.1f}", f"{100 * weak:.0f}"])
        head = ["policy", "", "mean %", "median %", "p99 %", "passes", "hurts", "undecided: passes / hurts / open",
                "waste %", "copies %", "won %", "healthy node-hours out", "weak time out %"]
        return table(head, ["---", "---"] + ["---:"] * 11, rows)

    def against_best(self):
        """By scenario: the best rival, its change, and our change against it."""
        found = {}
        for s in self.known(self.main):
            rival, judging = self.all.best_rival(s)
            if len(judging) < 2 or rival == self.main:
                continue
            found[s] = rival, self.all.compare(s, rival, "mean", seeds=judging), \
                self.all.compare(s, self.main, "mean", rival, judging)
        return found

    def scenario_rows(self, names, best):
        rows = []
        for s in names:
            about = self.about[s]
            loads = [run["healthy_load"] for run in self.all.runs[s][r.BASE].values()]
            rival, its, ours = best.get(s, ("", None, None))
            oracle = self.compare(s, r.YARDSTICK, "mean") if r.YARDSTICK in self.policies else None
            rows.append([s, f"{100 * float(about['load']):.0f} / {100 * sum(loads) / len(loads):.0f}",
                         with_interval(self.compare(s, self.main, "mean")), percent(self.compare(s, self.main, "median").point),
                         with_interval(self.compare(s, self.main, "p99")),
                         f"{rival} {percent(its.point)}" if its else "", percent(ours.point) if ours else "",
                         percent(oracle.point) if oracle else "", self.verdict(s, self.main)])
        return table(["scenario", "load / healthy", "mean %", "median %", "p99 %", "best rival", "against it %", "oracle %",
                      "verdict"], ["---", "---:", "---:", "---:", "---:", "---", "---:", "---:", "---"], rows)

    def families(self):
        """Groups of scenarios, as in the table of scenarios."""
        groups = {}
        for key, label in (("fault", "fault: {}"), ("durations", "durations: {}"), ("load", "{}"),
                           ("progress", "progress: {}"), ("copies", "copies {} waiting tasks"),
                           ("generations", "generations: {}"), ("max_tasks", "jobs of up to {}")):
            for value in dict.fromkeys(a[key] for a in self.about.values()):
                shown = LOADS.get(value, value) if key == "load" else value
                groups[label.format(shown)] = [s for s in self.names if self.about[s][key] == value]
        return groups

    def write(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        best = self.against_best()
        known = sorted(self.known(self.main), key=lambda s: self.compare(s, self.main, "mean").point)
        families = self.families()
        (folder / "effectiveness-families.svg").write_text(charts.heat_map(
            list(families), self.policies, lambda g, p: self.typical(p, "mean", families[g])))
        (folder / "effectiveness-scenarios.svg").write_text(charts.ladder(
            [(s, self.compare(s, self.main, "mean")[:3], best[s][1].point if s in best else None,
              self.compare(s, r.YARDSTICK, "mean").point if r.YARDSTICK in self.policies else None) for s in known],
            f"Mean job time against doing nothing: {self.main} (dot and 95 % interval), best rival (circle), "
            "oracle (green bar)"))
        (folder / "effectiveness.md").write_text(self.text(best, known))

    def text(self, best, known):
        verdicts = {s: self.verdict(s, self.main) for s in known}
        hurt = [s for s in known if "hurts" in verdicts[s]]
        undecided = [s for s in known if verdicts[s].startswith("undecided")]
        better = sum(1 for _, _, ours in best.values() if ours.point < -r.EQUAL)
        equal = sum(1 for _, _, ours in best.values() if abs(ours.point) <= r.EQUAL)
        wins = [s for s in known if self.compare(s, self.main, "mean").high < 0]
        seeds = [self.compare(s, self.main, "mean").seeds for s in known]
        first = min(min(self.all.runs[s][self.main]) for s in known)
        asked = goals.Goals(self.all, self.about, self.main)
        goal_head, goal_rows = asked.rows()
        load_head, load_rows = asked.per_load()
        return TEXT.format(
            main=self.main, main_title=TITLES.get(self.main, ""), scenarios=len(known), first=first,
            seeds=f"{min(seeds)}" if min(seeds) == max(seeds) else f"{min(seeds)} to {max(seeds)}",
            policies=self.policy_table(), typical=percent(self.typical(self.main, "mean")),
            typical_p99=percent(self.typical(self.main, "p99")), wins=len(wins), hurt_words=hurt_words(len(hurt)), better=better, equal=equal,
            worse=len(best) - better - equal, compared=len(best), undecided=len(undecided),
            open=sum(1 for s in undecided if verdicts[s] == "undecided"),
            goals=table(goal_head, ["---", "---", "---"], goal_rows), drawn=self.drawn_text,
            loads=table(load_head, ["---:"] * len(load_head), load_rows),
            best_rows=self.scenario_rows(known[:12], best),
            hurt_rows=self.scenario_rows(hurt, best) if hurt else "None.",
            all_rows=self.scenario_rows([s for s in self.names if s in verdicts], best))


def hurt_words(n):
    """Says how many scenarios do not pass."""
    if n == 0:
        return "In none is the mean or the 99th percentile more than 2 % longer beyond chance."
    return f"In {'one' if n == 1 else n} the mean or the 99th percentile is, or appears to be, more than 2 % longer."


TEXT = (pathlib.Path(__file__).parent / "report.md.in").read_text()


def main():
    if len(sys.argv) not in (4, 6):
        sys.exit(__doc__)
    with open(sys.argv[2], newline="") as file:
        scenarios = list(csv.DictReader(file))
    told = drawn.text(r.Results(sys.argv[4]), sys.argv[5]) if len(sys.argv) == 6 else NOT_DRAWN
    Report(r.Results(sys.argv[1]), scenarios, told).write(pathlib.Path(sys.argv[3]))


if __name__ == "__main__":
    main()
