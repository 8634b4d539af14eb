# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""The goals of the defaults, and whether they are reached, computed from the raw results."""
import results as r

QUIET = {"none", "attempts"}  # no node is worse than another
FOR_GOOD = {"few_2x", "tenth_13", "gradual", "hung", "rack", "slow_40", "hole"}
EPISODE = 25 * 60  # seconds, on average


class Goals:
    """Rows of (goal, measured, whether it is reached)."""

    def __init__(self, results, about, policy):
        self.all, self.about, self.policy = results, about, policy
        self.low = self.where(lambda s: float(s["load"]) <= 0.6)

    def where(self, fits):
        return [name for name, s in self.about.items() if fits(s) and self.all.compare(name, self.policy, "mean")]

    def change(self, policy, column, names):
        found = [self.all.compare(s, policy, column) for s in names]
        return 100 * (r.geometric_mean([1 + c.point for c in found if c]) - 1) if any(found) else float("nan")

    def sums(self, names, above):
        return sum(run[above] for s in names for run in self.all.runs[s][self.policy].values())

    def verdicts(self, names):
        return [r.verdict(self.all.compare(s, self.policy, "mean"), self.all.compare(s, self.policy, "p99")) for s in names]

    def per_load(self):
        rows = []
        for load in sorted({s["load"] for s in self.about.values()}, key=float):
            names = self.where(lambda s, load=load: s["load"] == load)
            verdicts = self.verdicts(names)
            cells = [f"{100 * float(load):.0f} %", str(len(names))]
            for p in (self.policy, "late", "hadoop", "spark", r.YARDSTICK):
                cells.append(f"{self.change(p, 'mean', names):+.1f} / {self.change(p, 'p99', names):+.1f}")
            bad = sum("hurts" in v for v in verdicts)
            rows.append(cells + [str(bad), str(sum(v == "undecided" for v in verdicts))])
        return ["load", "scenarios", f"`{self.policy}` mean / p99 %", "LATE", "Hadoop MRv2", "Spark 3", "oracle",
                "hurts, or appears to", "open"], rows

    def harm(self):
        verdicts = self.verdicts(self.about)
        bad = [s for s, v in zip(self.about, verdicts) if "hurts" in v]
        return ("not worse than doing nothing, mean and p99, in any scenario",
                f"{len(bad)} of {len(verdicts)} worse or apparently worse{': ' + ', '.join(bad) if bad else ''}; "
                f"{sum(v == 'undecided' for v in verdicts)} open", not bad)

    def low_mean(self):
        ours, best = self.change(self.policy, "mean", self.low), self.change(r.YARDSTICK, "mean", self.low)
        return ("up to 60 % load: the mean 15 % shorter, or 60 % of the oracle's gain",
                f"{-ours:.1f} % shorter, {100 * ours / best:.0f} % of the oracle's gain", ours <= -15 or ours <= 0.6 * best)

    def rivals(self):
        judged = []
        for s in self.low:
            rival, seeds = self.all.best_rival(s)
            if len(seeds) >= 2:
                judged.append((self.all.compare(s, self.policy, "mean", rival, seeds).point, s, rival))
        good = sum(point <= r.EQUAL for point, _, _ in judged)
        worst = ", ".join(f"{s} (`{rival}`, {100 * point:+.0f} %)" for point, s, rival in sorted(judged, reverse=True)[:5])
        return ("up to 60 % load: better than the best rival or equal in 95 % of scenarios",
                f"{100 * good / len(judged):.0f} % ({good} of {len(judged)}); furthest behind in {worst}",
                good >= 0.95 * len(judged))

    def late(self):
        ours, theirs = self.change(self.policy, "p99", self.low), self.change("late", "p99", self.low)
        return ("up to 60 % load: p99 ahead of LATE on average", f"{ours:+.1f} % against {theirs:+.1f} %", ours < theirs)

    def high_mean(self):
        ours = self.change(self.policy, "mean", self.where(lambda s: s["load"] == "0.8"))
        return "at 80 %: the mean 4 % shorter on average", f"{-ours:.1f} % shorter", ours <= -4

    def oracle(self):
        names = self.where(lambda s: s["fault"] in FOR_GOOD or
                           s["fault"] == "episodes" and float(s["task_seconds"]) * 10 <= EPISODE)
        ours, best = self.change(self.policy, "mean", names), self.change(r.YARDSTICK, "mean", names)
        return ("where weakness lasts at least ten tasks: within 4 points of the oracle on average",
                f"{ours:+.1f} % against {best:+.1f} %: {ours - best:.1f} points", ours - best <= 4)

    def healthy(self):
        names = self.where(lambda s: s["fault"] in QUIET)
        hours = sum(run["makespan"] / 3600 * float(self.about[s]["nodes"]) for s in names
                    for run in self.all.runs[s][self.policy].values())
        share = 100 * self.sums(names, "healthy_out") / hours
        return "nothing is wrong: at most 0.05 % of node-hours out of service", f"{share:.4f} %", share <= 0.05

    def wins(self):
        names = self.where(lambda s: s["fault"] not in QUIET)
        share = 100 * self.sums(names, "won") / max(self.sums(names, "copies"), 1)
        return "where nodes are weak: at least 80 % of copies win", f"{share:.0f} %", share >= 80

    def rows(self):
        asked = (self.harm, self.low_mean, self.rivals, self.late, self.high_mean, self.oracle, self.healthy, self.wins)
        return ["asked", "measured", ""], [[what, found, "reached" if holds else "missed"]
                                           for what, found, holds in (goal() for goal in asked)]
