# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""The section of the experiments page on all parts together: policies against doing nothing."""
from tables import bullets, number_range, percent, percent_range, signed_range, table

FIRST_SEED = 1001  # of bench/papers/together.cpp
LIBRARY, RIVALS = "library", ("flink", "flink_limited", "spark", "hadoop", "late")
LIBRARY_PARTS = ("library_copies_only", "library_nodes_only", "library_places_only")


class Together:
    """Changes against doing nothing, by scenario and policy."""

    def __init__(self, results):
        self.results = results
        self.scenarios = list(dict.fromkeys(r["group"] for r in results.rows("together")))
        is_weak = lambda where: self.at(where, "nothing", "weak machine-hours")["median"] > 0
        self.weak = [w for w in self.scenarios if is_weak(w)]
        self.well = [w for w in self.scenarios if not is_weak(w)]

    def at(self, where, who, what):
        return self.results.at("together", where, who, what)

    def change(self, where, who, what):
        return self.at(where, who, f"{what} over nothing's")

    def by_policy(self, what, names):
        return table(["machines", *(f"`{n}`" for n in names)], [[where, *(signed_range(self.change(where, n, what)) for n in names)] for where in self.scenarios])

    def best_rival(self, where, what):
        return min(RIVALS, key=lambda n: self.change(where, n, what)["median"])

    def words(self, r):
        return "shorter" if r["high"] < 0 else "longer" if r["low"] > 0 else "no difference that these runs can tell"

    def findings(self):
        """In words, and only as far as the intervals support it."""
        tell = lambda where, who, what: signed_range(self.change(where, who, what))
        for where in self.weak:
            mean, tail = self.change(where, LIBRARY, "mean time"), self.change(where, LIBRARY, "p99 time")
            rival, late = self.best_rival(where, "mean time"), self.best_rival(where, "p99 time")
            ahead = [what for what, r, other in (("mean", mean, self.change(where, rival, "mean time")), ("p99", tail, self.change(where, late, "p99 time"))) if r["median"] < other["median"]]
            yield (f"**{where[0].upper()}{where[1:]}**: mean {signed_range(mean)} ({self.words(mean)}), p99 {signed_range(tail)} ({self.words(tail)}). The best of the others: mean `{rival}` {tell(where, rival, 'mean time')}, "
                   f"p99 `{late}` {tell(where, late, 'p99 time')}. By medians the library is ahead in {' and '.join(ahead) or 'neither'}.")
        longer = [w for w in self.well if self.change(w, LIBRARY, "mean time")["low"] > 0]
        yield ("**Where nothing is wrong** the mean of `library` changes by " + ", ".join(f"{tell(w, LIBRARY, 'mean time')} ({w})" for w in self.well) + ": "
               + ("longer beyond chance where " + " and where ".join(longer) if longer else "nowhere longer beyond chance")
               + f". Of healthy machines it takes out {', '.join(number_range(self.at(w, LIBRARY, 'healthy machine-hours out')) for w in self.well)} hours. `flink`: {', '.join(tell(w, 'flink', 'mean time') for w in self.well)}.")
        yield ("**Copies**: " + "; ".join(f"{w}: {number_range(self.at(w, LIBRARY, 'copies'))}, of which {percent_range(self.at(w, LIBRARY, 'won'))} win, and {number_range(self.at(w, LIBRARY, 'trials'))} that try a machine which was taken out"
                                          for w in self.weak) + ".")
        yield "**Energy** changes little: machines are never turned off, and idle ones draw most of it."


def together(results):
    if not results.rows("together"):
        return "Not among the published results: `bench/papers.sh` leaves them in its report."
    t = Together(results)
    nothing = [[where, *(percent(t.at(where, "nothing", "load")["median"]) if x == "load" else number_range(t.at(where, "nothing", x)) for x in ("load", "mean seconds", "p99 seconds", "weak machine-hours"))]
               for where in t.scenarios]
    costs = [[where, *(number_range(t.at(where, LIBRARY, x)) for x in ("weak machine-hours out", "healthy machine-hours out")), *(signed_range(t.change(where, LIBRARY, x)) for x in ("slot time", "energy"))]
             for where in t.scenarios]
    return f"""30 machines of one core and two slots; WordCount, Sort and BBP jobs of 60 maps and 15 reduces arrive for two and a half hours, and
those of the first half hour are not counted. Slots share a core, tasks read and write disks and fetch over the network, jobs
have two phases. What decides is a policy of [the laboratory](../reference/effectiveness.md), obeyed in all: `library` is the
mitigator with its defaults, the others are what other systems do, with their defaults. Each is compared with doing nothing on
the same seeds, {FIRST_SEED} to {FIRST_SEED + results.runs("together") - 1}. Weak are three machines with a CPU fault and three with a memory fault, five and five where
they come and go.

Doing nothing; load is the computing that arrives over what the cores can do, faults deducted:

{table(["machines", "load", "mean, s", "p99, s", "weak machine-hours"], nothing)}

Mean of the job times against doing nothing:

{t.by_policy("mean time", (LIBRARY, *RIVALS))}

99th percentile:

{t.by_policy("p99 time", (LIBRARY, *RIVALS))}

The library with one kind of action only (copies; exclusions; the choice of a place), mean of the job times:

{t.by_policy("mean time", (LIBRARY, *LIBRARY_PARTS))}

What `library` takes for it: machine-hours out of service, slot time and energy against doing nothing:

{table(["machines", "weak hours out", "healthy hours out", "slot time", "energy"], costs)}

{bullets(*t.findings())}"""
