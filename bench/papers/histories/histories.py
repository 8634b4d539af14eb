#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Analyzes recorded histories as the papers analyze theirs.

usage: histories.py HISTORIES NOTES

Reads HISTORIES/*.csv and the Spark event logs in HISTORIES/raw; writes NOTES/results/histories.csv and the pictures
NOTES/histories-*.svg. A job is a group of sibling tasks; jobs with fewer than five successful attempts say nothing about
stragglers and are left out. Intervals are 95 %: for shares and means over jobs, a bootstrap over the jobs (1000 times);
for shares of copies, Wilson's; for correlations, Fisher's.
"""
import csv
import io
import json
import math
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

LEAST = 5
SLOW = 1.5  # times the mean of its job: a straggler in both papers
COLUMNS = ("job", "task", "node", "took", "end", "status", "copy", "input")


class History:
    """Attempts in columns; `job` and `node` by number."""

    def __init__(self, name, rows):
        self.name = name
        self.attempts = len(rows)
        self.copies = [r for r in rows if r["copy"]]
        self.rows = rows
        good = [r for r in rows if r["status"] == "success" and r["took"] is not None and r["took"] >= 0]
        count = defaultdict(int)
        for r in good:
            count[r["job"]] += 1
        self.good = good
        kept = [r for r in good if count[r["job"]] >= LEAST]
        self.jobs = {j: k for k, j in enumerate(dict.fromkeys(r["job"] for r in kept))}
        self.nodes = {n: k for k, n in enumerate(dict.fromkeys(r["node"] for r in kept))}
        self.job = np.array([self.jobs[r["job"]] for r in kept], int)
        self.node = np.array([self.nodes[r["node"]] for r in kept], int)
        self.took = np.array([r["took"] for r in kept], float)
        self.end = np.array([r["end"] for r in kept], float)
        self.input = np.array([r["input"] if r["input"] is not None else math.nan for r in kept], float)
        n = np.bincount(self.job, minlength=len(self.jobs))
        total = np.bincount(self.job, self.took, len(self.jobs))
        with np.errstate(invalid="ignore", divide="ignore"):
            self.ratio = self.took / (total / n)[self.job]
        self.slow = self.ratio > SLOW
        self.members = [np.flatnonzero(self.job == k) for k in range(len(self.jobs))]


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def from_csv(file):
    rows = []
    with file.open(newline="") as lines:
        for r in csv.DictReader(lines):
            start, end = number(r["start_ms"]), number(r["end_ms"])
            took = (end - start) / 1000 if start is not None and end is not None else None
            rows.append(dict(job=r["job"], task=r["task"], node=r["node"], took=took, end=(end or 0) / 1000,
                             status=r["status"], copy=r["speculative"] == "1", input=number(r["input_bytes"])))
    return rows


def from_spark(file):
    data = subprocess.run(["zstdcat", str(file)], stdout=subprocess.PIPE, check=True).stdout if file.suffix == ".zst" else file.read_bytes()
    rows = []
    for line in io.TextIOWrapper(io.BytesIO(data), errors="replace"):
        if '"SparkListenerTaskEnd"' not in line:
            continue
        try:
            event = json.loads(line)
        except ValueError:
            continue  # damaged
        info, metrics = event["Task Info"], event.get("Task Metrics") or {}
        how = "success" if event["Task End Reason"]["Reason"] == "Success" else "killed" if info.get("Killed") else "failed"
        read = (metrics.get("Input Metrics") or {}).get("Bytes Read", 0)
        shuffle = metrics.get("Shuffle Read Metrics") or {}
        read += shuffle.get("Remote Bytes Read", 0) + shuffle.get("Local Bytes Read", 0)
        rows.append(dict(job=f"{event['Stage ID']}.{event['Stage Attempt ID']}", task=info["Index"], node=info["Host"],
                         took=(info["Finish Time"] - info["Launch Time"]) / 1000, end=info["Finish Time"] / 1000,
                         status=how, copy=info.get("Speculative", False), input=read or None))
    return rows


def histories(folder):
    for file in sorted(folder.glob("*.csv")):
        if not file.name.endswith(".progress.csv"):
            yield History(file.stem, from_csv(file))
    for file in sorted([*folder.glob("raw/*.jsonl"), *folder.glob("raw/*.jsonl.zst")]):
        rows = from_spark(file)
        if rows:
            yield History(file.name.split(".")[0], rows)


def by_jobs(h, value, times=1000):
    """A statistic of a set of jobs, and its interval over other jobs of the kind."""
    jobs = np.arange(len(h.jobs))
    found = value(jobs)
    random = np.random.default_rng(1)
    drawn = [value(random.choice(jobs, len(jobs))) for _ in range(times)] if len(jobs) >= 5 else []
    drawn = [d for d in drawn if not math.isnan(d)]
    low, high = np.percentile(drawn, [2.5, 97.5]) if drawn else (math.nan, math.nan)
    return found, low, high


def wilson(k, n):
    if n == 0:
        return math.nan, math.nan, math.nan
    z, p = 1.959964, k / n
    middle, half = (p + z * z / 2 / n) / (1 + z * z / n), z * math.sqrt(p * (1 - p) / n + z * z / 4 / n / n) / (1 + z * z / n)
    return p, middle - half, middle + half


def sums(h, weights):
    return np.bincount(h.job, weights, len(h.jobs))


def share(part, whole):
    return lambda jobs: float(part[jobs].sum() / whole[jobs].sum()) if whole[jobs].sum() > 0 else math.nan


def middle(values):
    """The median over the jobs that have a value."""
    def of(jobs):
        v = values[jobs]
        v = v[~np.isnan(v)]
        return float(np.median(v)) if len(v) else math.nan
    return of


def mean(values):
    def of(jobs):
        v = values[jobs]
        v = v[~np.isnan(v)]
        return float(np.mean(v)) if len(v) else math.nan
    return of


def potential(h):
    """By how much the longest task of each job would be shorter if every straggler took the mean of the job (figure 4)."""
    out = np.full(len(h.jobs), math.nan)
    for k, m in enumerate(h.members):
        if h.took[m].max() > 0:
            out[k] = 1 - np.where(h.slow[m], h.took[m].mean(), h.took[m]).max() / h.took[m].max()
    return out


def spread(h):
    """For each job: deviation over mean; the ratio of that among tasks of one machine to it; and that among equal inputs."""
    whole, inside, equal = (np.full(len(h.jobs), math.nan) for _ in range(3))
    for k, m in enumerate(h.members):
        t = h.took[m]
        if not t.mean() > 0:
            continue
        whole[k] = t.std(ddof=1) / t.mean()
        # If the machine has no effect, the two estimates of the variance agree, however few tasks it has.
        squares, freedom = 0.0, 0
        for node in np.unique(h.node[m]):
            own = t[h.node[m] == node]
            squares += ((own - own.mean()) ** 2).sum()
            freedom += len(own) - 1
        if freedom >= 5 and len(np.unique(h.node[m])) > 1 and t.std() > 0:
            inside[k] = math.sqrt(squares / freedom) / t.std(ddof=1)
        size = h.input[m]
        if not np.isnan(size).any() and np.median(size) > 0:
            alike = t[np.abs(size / np.median(size) - 1) <= 0.05]
            if len(alike) >= LEAST and alike.mean() > 0:
                equal[k] = alike.std(ddof=1) / alike.mean()
    return whole, inside, equal


def on_worst_nodes(h, slow):
    """Share of the stragglers that are on the worst tenth of the machines (a tenth by tasks, the worst by straggler rate)."""
    tasks = np.bincount(h.node, minlength=len(h.nodes)).astype(float)
    bad = np.bincount(h.node, slow, len(h.nodes))
    order = np.argsort(-bad / np.maximum(tasks, 1), kind="stable")
    before = np.cumsum(tasks[order]) - tasks[order]
    part = np.clip((0.1 * tasks.sum() - before) / tasks[order], 0, 1)
    return float((bad[order] * part).sum() / bad.sum()) if bad.sum() else math.nan


def where(h, times=400):
    """That share, the share expected by chance (stragglers permuted within their job), and how often chance gives as much."""
    found = on_worst_nodes(h, h.slow)
    if math.isnan(found) or len(h.nodes) < 3:
        return None
    random, chance = np.random.default_rng(2), []
    for _ in range(times):
        dealt = np.empty_like(h.slow)
        for m in h.members:
            dealt[m] = random.permutation(h.slow[m])
        chance.append(on_worst_nodes(h, dealt))
    return found, chance, (1 + sum(c >= found - 1e-12 for c in chance)) / (times + 1)


def windows(h):
    """Straggler rate of each machine by window: days, or tenths of the time if the history is short."""
    begin, end = h.end.min(), h.end.max()
    length, word = (86400, "day") if end - begin > 3 * 86400 else (max((end - begin) / 10, 1e-9), "tenth")
    at = np.minimum(((h.end - begin) / length).astype(int), int((end - begin) / length))
    rates = np.full((at.max() + 1, len(h.nodes)), math.nan)
    for w in range(rates.shape[0]):
        inside = at == w
        n = np.bincount(h.node[inside], minlength=len(h.nodes))
        s = np.bincount(h.node[inside], h.slow[inside], len(h.nodes))
        rates[w, n >= 10] = (s / np.maximum(n, 1))[n >= 10]
    return rates, word


def copies(h, write):
    n = len(h.copies)
    write("copies", "recorded", (n, math.nan, math.nan))
    lost = sum(r["status"] == "killed" for r in h.copies)
    if n:
        write("copies", "share that was killed", wilson(lost, n), 0.7122)
    # Table 3 of the evaluation framework: successful copies against the tail, job by job.
    won, tasks = defaultdict(int), defaultdict(int)
    for r in h.good:
        tasks[r["job"]] += 1
        won[r["job"]] += r["copy"]
    if sum(won[j] > 0 for j in h.jobs) < 3:
        return
    x = np.array([won[j] / tasks[j] for j in h.jobs])
    y = np.array([h.ratio[m].max() for m in h.members])
    r, k = float(np.corrcoef(x, y)[0, 1]), len(x)
    z, half = math.atanh(r), 1.959964 / math.sqrt(max(k - 3, 1))
    write("copies", "correlation of successful ones with the tail", (r, math.tanh(z - half), math.tanh(z + half)), 0.055)


def look(h, write):
    write("what", "attempts", (h.attempts, math.nan, math.nan))
    write("what", "jobs of five tasks and more", (len(h.jobs), math.nan, math.nan))
    write("what", "machines", (len({r["node"] for r in h.good}), math.nan, math.nan))
    copies(h, write)
    if not h.jobs:
        return
    tasks, slow = sums(h, None), sums(h, h.slow.astype(float))
    longest = np.array([h.ratio[m].max() for m in h.members])
    write("stragglers", "share of the tasks", by_jobs(h, share(slow, tasks)), 0.05)
    write("stragglers", "share of the jobs that have one", by_jobs(h, mean((slow > 0).astype(float))), 0.5)
    write("stragglers", "the longest over the mean of its job", (float(longest.max()), math.nan, math.nan), 10)
    excess = np.array([np.median(h.ratio[m][h.slow[m]]) if h.slow[m].any() else math.nan for m in h.members])
    write("stragglers", "time over the mean, median", by_jobs(h, middle(excess)))
    write("stragglers", "what jobs could gain, mean", by_jobs(h, mean(potential(h))), 0.657)
    whole, inside, equal = spread(h)
    write("equal tasks", "deviation over mean", by_jobs(h, middle(whole)), 27.42 / 80)
    write("equal tasks", "deviation over mean, equal inputs", by_jobs(h, middle(equal)))
    write("equal tasks", "deviation on one machine over that of all", by_jobs(h, middle(inside)),
          math.sqrt((18.46**2 + 9.68**2 + 5.61**2 + 4.94**2) / 4) / 27.42)
    if (found := where(h)) is not None:
        at, chance, p = found
        bad = np.bincount(h.node, h.slow, len(h.nodes))
        write("where", "on one machine", (float(bad.max() / bad.sum()), math.nan, math.nan))
        write("where", "on the worst tenth", (at, math.nan, math.nan))
        write("where", "on the worst tenth by chance", (float(np.median(chance)), *np.percentile(chance, [2.5, 97.5])))
        write("where", "how often chance makes as much", (p, math.nan, math.nan))
    rates, word = windows(h)
    n, s = np.bincount(h.node, minlength=len(h.nodes)), np.bincount(h.node, h.slow, len(h.nodes))
    told = n >= 30
    if told.sum() >= 3:
        rate = s[told] / n[told]
        worst = np.flatnonzero(told)[int(np.argmax(rate))]
        write("by machine", "lowest rate", (float(rate.min()), math.nan, math.nan), 0.03)
        write("by machine", "highest rate", wilson(float(s[worst]), float(n[worst])), 0.04)
        if not np.isnan(rates).all():
            write("by machine", f"highest rate of a {word}", (float(np.nanmax(rates)), math.nan, math.nan), 0.3)


def save(figure, file):
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None, "Creator": None})
    plt.close(figure)


def thin(values, most=300):
    values = np.sort(values)
    return values if len(values) <= most else values[np.unique(np.linspace(0, len(values) - 1, most).astype(int))]


# Lines differ without their colors, too.
DASHES = ["-", "--", "-.", ":", (0, (6, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (8, 2, 2, 2))]
MARKS = "os^vDPX*"


def pictures(all_histories, written, folder):
    shown = [h for h in all_histories if len(h.took) >= 40]
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6))
    for k, h in enumerate(shown):
        values = thin(h.ratio[h.ratio > 0])
        axes[0].step(values, np.linspace(0, 1, len(values)), where="post", label=h.name, lw=1.3, ls=DASHES[k % len(DASHES)])
    axes[0].axvline(SLOW, color="0.5", lw=0.8, ls="--")
    axes[0].set(xscale="log", xlim=(0.1, 30), xlabel="time over the mean of the job", ylabel="share of the tasks", title="Times of sibling tasks (DSB, figure 1a)")
    axes[0].legend(fontsize=6, loc="lower right", handlelength=4)
    for k, h in enumerate(shown):
        v, low, high = written[h.name, "stragglers", "share of the jobs that have one"]
        axes[1].errorbar([v], [k], xerr=None if math.isnan(low) else [[max(v - low, 0)], [max(high - v, 0)]], fmt="o", capsize=3)
    axes[1].axvline(0.5, color="0.5", lw=0.8, ls="--")
    axes[1].set(yticks=range(len(shown)), yticklabels=[h.name for h in shown], xlim=(-0.02, 1.02),
                xlabel="jobs with a straggler (dashed: OpenCloud)", title="Jobs that have one (figure 1b)")
    save(figure, folder / "histories-stragglers.svg")

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6))
    for k, h in enumerate(shown):
        n, s = np.bincount(h.node, minlength=len(h.nodes)), np.bincount(h.node, h.slow, len(h.nodes))
        rate = np.sort((s / np.maximum(n, 1))[n >= 10])[::-1]
        if len(rate) > 1:
            rank = np.linspace(0, 1, len(rate))
            at = np.unique(np.linspace(0, len(rate) - 1, min(len(rate), 150)).astype(int))
            axes[0].plot(rank[at], rate[at], marker=MARKS[k % len(MARKS)], label=h.name, lw=1, ms=3)
    axes[0].set(xlabel="machines of ten tasks and more, the worst first", ylabel="straggler rate", title="Rate by machine (DSB, figure 5a)")
    axes[0].legend(fontsize=7)
    # Of the histories whose windows are days, that with the most windows in which machines have tasks.
    longest = max(shown, key=lambda h: (windows(h)[1] == "day" and len(h.nodes) <= 20, (~np.isnan(windows(h)[0])).any(axis=1).sum()))
    rates, word = windows(longest)
    for node in range(rates.shape[1]):
        axes[1].plot(np.arange(len(rates)) + 0.05 * (node - rates.shape[1] / 2), rates[:, node], MARKS[node % len(MARKS)], lw=1, ms=3, label=list(longest.nodes)[node])
    axes[1].set(xlabel=word, ylabel="straggler rate", title=f"{longest.name} by {word} (figure 5b)")
    axes[1].legend(fontsize=6, ncol=2)
    save(figure, folder / "histories-machines.svg")

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6))
    for ax, x, title in ((axes[0], "deviation over mean", "Times of equal tasks (RiskI, figure 2)"),
                         (axes[1], "deviation on one machine over that of all", "What the machine explains (figure 3)")):
        for k, h in enumerate(shown):
            v, low, high = written.get((h.name, "equal tasks", x), (math.nan,) * 3)
            if not math.isnan(v):
                ax.errorbar([v], [k], xerr=None if math.isnan(low) else [[max(v - low, 0)], [max(high - v, 0)]], fmt="o", capsize=3)
        ax.set(yticks=range(len(shown)), yticklabels=[h.name for h in shown] if ax is axes[0] else [], xlabel=x + ", median job", title=title)
        ax.set_xlim(left=0)
    axes[0].axvline(27.42 / 80, color="0.5", lw=0.8, ls="--")
    axes[1].axvline(1, color="0.5", lw=0.8, ls="--")
    save(figure, folder / "histories-equal-tasks.svg")

    figure, axes = plt.subplots(2, 3, figsize=(9, 5))
    for ax in axes.flat:
        ax.axis("off")
    for ax, h in zip(axes.flat, shown):
        # The job with the most tasks per machine: figure 1 of ML-NA, figure 3 of RiskI.
        m = max(h.members, key=lambda m: (min(len(m), 200) / len(np.unique(h.node[m])) >= 3, len(m)))
        nodes = sorted(np.unique(h.node[m]), key=lambda n: np.median(h.took[m][h.node[m] == n]))[-40:]
        ax.axis("on")
        for k, node in enumerate(nodes):
            t = thin(h.took[m][h.node[m] == node], 25)
            ax.plot([k] * len(t), t, ".", ms=3, color="tab:blue")
            ax.plot([k - 0.4, k + 0.4], [h.took[m][h.node[m] == node].mean()] * 2, color="tab:red", lw=1.2)
        ax.set_title(f"{h.name}: {len(m)} tasks", fontsize=8)
        ax.set_xticks([])
        ax.tick_params(labelsize=7)
        ax.set_ylabel("s", fontsize=7)
    save(figure, folder / "histories-jobs.svg")


def main():
    if len(sys.argv) != 3 or not Path(sys.argv[1]).is_dir():
        sys.exit(__doc__.strip())
    plt.rcParams.update({"svg.hashsalt": "straggle", "svg.fonttype": "none", "font.size": 8, "axes.titlesize": 9})
    folder, notes = Path(sys.argv[1]), Path(sys.argv[2])
    (notes / "results").mkdir(parents=True, exist_ok=True)
    written, found = {}, list(histories(folder))
    with (notes / "results/histories.csv").open("w") as out:
        out.write("group,series,x,median,low,high,runs,paper\n")
        for h in found:
            def write(series, x, value, paper=math.nan):
                written[h.name, series, x] = value
                cells = ["" if math.isnan(v) else f"{v:.6g}" for v in (*value, paper)]
                out.write(f"{h.name},{series},{x},{','.join(cells[:3])},{len(h.jobs)},{cells[3]}\n".replace(", median,", " (median),").replace(", mean,", " (mean),").replace(", equal inputs,", " of equal inputs,"))
            look(h, write)
    pictures(found, written, notes)


if __name__ == "__main__":
    main()
