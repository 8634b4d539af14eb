#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Runs the benchmarks and prints how many times faster the library is than its rivals.

usage: ratios.py [--repetitions N] [--section NAME]... [--update] PLAIN [NATIVE]

PLAIN and NATIVE are the folders of the benchmarks built with -O2 and with -O3 -march=native (build/bench/bench and
build/bench-native/bench). Rivals run interleaved in the same process; medians are compared. --update writes the
tables between their marks in docs/reference/speed.md, with --section only those named; docs/generate.py --update then
copies six of their rows to README.md. On a shared machine absolute times mean little; ratios within a run mean more.
"""
import argparse
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# What pandas is timed on: tasks per job, and whether the rows are in random order.
PANDAS = {"pandas": (100, False), "pandas_random": (10, True)}

# (what a reader sees, program, the library's benchmark, {rival: its benchmark})
def pipeline(text, ours, size, tasks, rivals):
    where = f"/records:{size}/tasks:{tasks}"
    return (f"{text}, {tasks} tasks a job", "bench_rank_rank_nodes", "rank_nodes/straggle_" + ours + where,
            {name: them if them in PANDAS else "rank_nodes/" + them + where for name, them in rivals.items()})


def maps(where):
    return {"std::unordered_map": f"unordered_map_{where}", "robin_map": f"robin_map_{where}",
            "absl": f"flat_hash_map_{where}"}


def shards(size):
    where = f"/records:{size}/tasks:100/manual_time"
    return (f"2 threads of the caller, {size:.0e} records, ticks".replace("e+0", "e"), "bench_rank_rank_nodes",
            "rank_nodes/two_shards" + where, {"one ranker": "rank_nodes/one" + where})


def levels(text, shape, size, rivals):
    return (f"all levels, {size} nodes, {text}", "bench_rank_p_cores", f"{shape}/straggle/{size}",
            {name: f"{shape}/{them}/{size}" for name, them in rivals.items()})


def watching(text, kernel, ours, nodes, pairs, tasks, rivals):
    where = f"/nodes:{nodes}/pairs:{pairs}/tasks:{tasks}"
    return (text, "bench_rank_monitor", f"{kernel}/straggle_{ours}{where}",
            {name: f"{kernel}/{them}{where}" for name, them in rivals.items()})


SWEEP = {"sort sweep": "sort_sweep"}
LITERAL = {"algorithm 3": "literal", "Boost.Graph": "boost_graph", **SWEEP}
ROWS = [
    ("Student-t quantile, real degrees of freedom, 1000 values", "bench_stats_student_t", "quantile_real_dof/straggle_general/1000",
     {"Boost.Math": "quantile_real_dof/boost/1000",
      "Boost.Math, double only": "quantile_real_dof/boost_no_promote_double/1000",
      "GSL": "quantile_real_dof/gsl/1000"}),
    ("Student-t quantile, whole degrees of freedom, 1000 values", "bench_stats_student_t", "quantile_whole_dof/straggle_general/1000",
     {"Boost.Math": "quantile_whole_dof/boost/1000",
      "Boost.Math, double only": "quantile_whole_dof/boost_no_promote_double/1000",
      "GSL": "quantile_whole_dof/gsl/1000"}),
    ("Student-t at 95 %, 1000 values", "bench_stats_student_t", "critical_95/straggle/1000",
     {"Boost.Math": "critical_95/boost/1000", "GSL": "critical_95/gsl/1000"}),
    levels("realistic", "realistic", 100, LITERAL),
    levels("realistic", "realistic", 1000, LITERAL),
    levels("realistic", "realistic", 10000, SWEEP),
    levels("realistic", "realistic", 1000000, SWEEP),
    levels("hundred levels", "hundred_levels", 1000, SWEEP),
    levels("no overlaps", "many_levels", 1000000, SWEEP),
    levels("clusters (worst shape)", "clusters", 1000000, SWEEP),
    ("top-k intersection, 50 of 1000", "bench_blacklist_top_k_intersection", "top_k_intersection/straggle/1000/50",
     {"sort + set": "top_k_intersection/sort_and_set/1000/50",
      "sorted indices": "top_k_intersection/sort_indices/1000/50"}),
    ("top-k intersection, 500 of 1e4", "bench_blacklist_top_k_intersection", "top_k_intersection/straggle/10000/500",
     {"sort + set": "top_k_intersection/sort_and_set/10000/500",
      "sorted indices": "top_k_intersection/sort_indices/10000/500"}),
]
RANK_ROWS = [
    pipeline("records to ranked nodes, 1e6 in order of time", "double_by_time", 1000000, 100,
             maps("by_time") | {"sort": "sort_by_time", "pandas": "pandas",
                                "two bare passes, a bound": "bare_passes_by_time"}),
    pipeline("1e6 records to ranked nodes, integer ticks", "ticks_by_time", 1000000, 100, maps("by_time")),
    pipeline("1e6 records to ranked nodes", "double_by_time", 1000000, 10, maps("by_time")),
    pipeline("scores alone, 1e6 in order of time", "double_scores_by_time", 1000000, 100,
             maps("by_time") | {"two bare passes, a bound": "bare_passes_by_time"}),
    pipeline("scores alone, integer ticks", "ticks_scores_by_time", 1000000, 100, maps("by_time")),
    pipeline("1e6 records in random order", "double_random", 1000000, 10,
             maps("random") | {"pandas": "pandas_random", "two bare passes, a bound": "bare_passes_random"}),
    pipeline("1e7 records in random order", "double_random", 10000000, 100,
             maps("random") | {"two bare passes, a bound": "bare_passes_random"}),
    pipeline("1e7 in random order, integer ticks", "ticks_random", 10000000, 100,
             maps("random") | {"two bare passes, a bound": "bare_passes_random"}),
    pipeline("1e7 in random order, scores alone", "double_scores_random", 10000000, 100,
             maps("random") | {"two bare passes, a bound": "bare_passes_random"}),
    pipeline("1e7 in random order, scores alone, integer ticks", "ticks_scores_random", 10000000, 100,
             maps("random") | {"two bare passes, a bound": "bare_passes_random"}),
    pipeline("1e6 records with text identifiers", "text_ids_by_time", 1000000, 100, maps("text_ids_by_time")),
    pipeline("1e6 records with text identifiers, scores alone", "text_ids_scores_by_time", 1000000, 100, maps("text_ids_by_time")),
    shards(1000000),
    shards(10000000),
    shards(100000000),
    pipeline("1e4 records", "double_by_time", 10000, 100, {"algorithm 1": "literal_algorithm_1"}),
]
BATCH = {"rank_nodes": "batch_ticks_by_time"}
MAPS = {"MR1 sums": "mr1_sums_by_time", "std::map": "ordered_map_by_time"}
RANDOM_MAPS = {"MR1 sums": "mr1_sums_random", "std::map": "ordered_map_random"}
TEXT_MAPS = {"MR1 sums": "mr1_sums_text_ids_by_time", "std::map": "ordered_map_text_ids_by_time"}
MILLION = (1000, 1000000, 100)
HASHES = {"robin_map": "robin_sums", "absl": "absl_sums"}


def hashes(where):
    return {name: f"{them}_{where}" for name, them in HASHES.items()}


MONITOR_ROWS = [
    watching("rank 1e4 pairs", "rank", "ticks_by_time", 1000, 10000, 100, BATCH | MAPS),
    watching("rank 1e6 pairs", "rank", "ticks_by_time", *MILLION, BATCH | MAPS),
    watching("rank 1e4 pairs, scores alone", "rank", "scores_ticks_by_time", 1000, 10000, 100, MAPS),
    watching("rank 1e6 pairs, scores alone", "rank", "scores_ticks_by_time", *MILLION, MAPS),
    watching("rank 1e6 pairs, floating durations", "rank", "double_by_time", *MILLION,
             {"rank_nodes": "batch_double_by_time"}),
    watching("rank 1e6 pairs of 1e5 nodes, 1000 tasks a job", "rank", "ticks_by_time", 100000, 1000000, 1000,
             BATCH | MAPS),
    watching("rank 1e7 pairs", "rank", "ticks_by_time", 1000, 10000000, 100, BATCH),
    watching("observe 1e6 new pairs in order of time", "observe", "ticks_by_time", *MILLION, MAPS | hashes("by_time")),
    watching("observe 1e6 known pairs in order of time", "observe_again", "ticks_by_time", *MILLION,
             MAPS | hashes("by_time")),
    watching("observe 1e6 new pairs in random order", "observe", "ticks_random", *MILLION,
             RANDOM_MAPS | hashes("random")),
    watching("observe 1e6 known pairs in random order", "observe_again", "ticks_random", *MILLION,
             RANDOM_MAPS | hashes("random")),
    watching("observe 1e6 new pairs, text identifiers", "observe", "text_ids_by_time", *MILLION, TEXT_MAPS),
    watching("rank 1e6 pairs, text identifiers", "rank", "text_ids_by_time", *MILLION, TEXT_MAPS),
]
SIZES = (1_000, 10_000, 100_000, 1_000_000)
RULES = ("progress_gap", "late", "hierarchical_late", "average_time", "over_median", "flink", "largest_gain",
         "mantri", "late_with_caps")
SCANS = [(rule, slow) for rule in RULES for slow in (5, 50)]  # rule, percentage of suspects: a line of the table


def scan(rule, slow, size):
    where = f"/tasks:{size}/slow:{slow}"
    return (rule, "bench_detect_straggler_scan", rule + "/straggle" + where, {"plain": rule + "/plain" + where})


def looking(text, kernel, size, ids=""):
    return (text, "bench_detect_job_progress", f"{kernel}/straggle{ids}/tasks:{size}",
            {"plain": f"{kernel}/plain{ids}/tasks:{size}"})


SNAPSHOT_ROWS = [
    looking("snapshot of 1e3 tasks, hosts are numbers", "snapshot", 1_000, "_numbers"),
    looking("snapshot of 1e5 tasks, hosts are numbers", "snapshot", 100_000, "_numbers"),
    looking("snapshot of 1e6 tasks, hosts are numbers", "snapshot", 1_000_000, "_numbers"),
    looking("snapshot of 1e3 tasks, hosts have names", "snapshot", 1_000, "_names"),
    looking("snapshot of 1e5 tasks, hosts have names", "snapshot", 100_000, "_names"),
    looking("snapshot of 1e6 tasks, hosts have names", "snapshot", 1_000_000, "_names"),
    looking("finished tasks in order, 1e3 and 1 % more", "finished", 1_000),
    looking("finished tasks in order, 1e5 and 1 % more", "finished", 100_000),
    looking("snapshot and `late`, 1e3 tasks", "look", 1_000),
    looking("snapshot and `late`, 1e5 tasks", "look", 100_000),
]
STATE_ROWS = [(f"`decision.state(node)`, {nodes:.0e} nodes, 65536 questions".replace("e+0", "e"), "bench_blacklist_decision",
               f"state/straggle/nodes:{nodes}",
               {"std::unordered_map": f"state/unordered_map/nodes:{nodes}"}
               | ({"the list": f"state/list/nodes:{nodes}"} if nodes <= 10_000 else {}))
              for nodes in (100, 10_000, 1_000_000)]
def profit(text, ours, known):
    return (text, "bench_assign_profit", f"profit/{ours}/known:{known}",
            {"sort per query": f"profit/sort_per_query/known:{known}", "one pass": f"profit/one_pass/known:{known}",
             "one pass in 8 lanes": f"profit/one_pass_in_lanes/known:{known}"})


PROFIT_ROWS = [profit("one number, node by node", "straggle", 1), profit("64 samples, node by node", "straggle", 64)]
# Kernels by size, -O2: what a reader sees, program, benchmark with a placeholder for the size, sizes, memory.
GROWTH = [
    ("records to ranks, doubles, by time, 100 tasks a job", "bench_rank_rank_nodes",
     "rank_nodes/straggle_double_by_time/records:{}/tasks:100", (1_000, 10_000, 100_000, 1_000_000, 10_000_000),
     "32 per record, 36 per job, 370 per node"),
    ("records to ranks, ticks, by time", "bench_rank_rank_nodes",
     "rank_nodes/straggle_ticks_by_time/records:{}/tasks:100", (1_000, 10_000, 100_000, 1_000_000, 10_000_000),
     "32 per record, 36 per job, 370 per node"),
    ("records to ranks, doubles, random order", "bench_rank_rank_nodes",
     "rank_nodes/straggle_double_random/records:{}/tasks:100", (1_000, 10_000, 100_000, 1_000_000, 10_000_000),
     "32 per record, 36 per job, 370 per node"),
    ("records to ranks, text identifiers, by time", "bench_rank_rank_nodes",
     "rank_nodes/straggle_text_ids_by_time/records:{}/tasks:100", (1_000, 10_000, 100_000, 1_000_000),
     "32 per record, 36 per job, 370 per node, and names"),
    ("`decision.state(node)`, 65536 questions, by nodes", "bench_blacklist_decision", "state/straggle/nodes:{}",
     (100, 1_000, 10_000, 100_000, 1_000_000), "about 260 per node that something is held against"),
    ("snapshot of running tasks, hosts are numbers", "bench_detect_job_progress", "snapshot/straggle_numbers/tasks:{}",
     (1_000, 10_000, 100_000, 1_000_000), "40 per running task, 60 per node"),
    ("snapshot and `late`", "bench_detect_job_progress", "look/straggle/tasks:{}", (1_000, 10_000, 100_000, 1_000_000),
     "40 per running task, 60 per node, 8 more per task"),
    ("`largest_gain`", "bench_detect_straggler_scan", "largest_gain/straggle/tasks:{}/slow:5",
     (1_000, 10_000, 100_000, 1_000_000), "none"),
    ("all levels of nodes, realistic", "bench_rank_p_cores", "realistic/straggle/{}", (100, 1_000, 10_000, 1_000_000), "16 per node and scratch"),
]
# Marks in docs/reference/speed.md. "detectors" is a table of a different shape.
SECTIONS = {"ratios": ROWS, "ranks": RANK_ROWS + STATE_ROWS, "monitor": MONITOR_ROWS,
            "growth": [(text, program, name.format(size), {}) for text, program, name, sizes, _ in GROWTH for size in sizes],
            "detectors": [scan(*line, size) for line in SCANS for size in SIZES], "snapshots": SNAPSHOT_ROWS,
            "profit": PROFIT_ROWS}


def wanted(rows, program):
    """A filter that selects the benchmarks of a program that the tables need."""
    names = [name for row in rows if row[1] == program for name in (row[2], *row[3].values()) if name not in PANDAS and name != "-"]
    return "^BM_(" + "|".join(re.escape(name).replace(r"\ ", " ") for name in sorted(set(names))) + ")$"


def run(program, rows, repetitions):
    out = subprocess.run(
        [program, "--benchmark_format=json", f"--benchmark_repetitions={repetitions}",
         "--benchmark_enable_random_interleaving=true", "--benchmark_min_time=0.02",
         "--benchmark_filter=" + wanted(rows, program.name)],
        capture_output=True, text=True, check=True).stdout
    times = {}
    unit = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
    for b in json.loads(out)["benchmarks"]:
        if b.get("run_type") == "iteration":
            name = b["run_name"].removeprefix("BM_")
            own = "real_time" if name.endswith("manual_time") else "cpu_time"
            times.setdefault(name, []).append(b[own] * unit[b["time_unit"]])
    return {name: statistics.median(t) for name, t in times.items()}


def pandas_ns(size, tasks, random_order):
    """The same work in pandas: group by job, normalize, group by node."""
    code = f"""
import time, numpy as np, pandas as pd
rng = np.random.default_rng(42)
i = np.arange({size})
d = pd.DataFrame({{'job': i // {tasks} + rng.integers(0, 8, {size}), 'node': rng.integers(0, 1000, {size}),
                   'duration': rng.uniform(900, 1300, {size})}})
if {random_order}:
    d = d.iloc[rng.permutation({size})].reset_index(drop=True)
took = []
for _ in range(7):
    t = time.process_time()
    g = d.groupby('job').duration
    z = (d.duration - g.transform('mean')) / g.transform('std', ddof=0)
    z.groupby(d.node).agg(['size', 'mean', 'std'])
    took.append(time.process_time() - t)
print(sorted(took)[3] * 1e9)
"""
    done = subprocess.run(["/usr/bin/python3", "-c", code], capture_output=True, text=True)
    return float(done.stdout) if done.returncode == 0 else None


def shown(nanoseconds):
    for limit, unit, scale in ((1e3, "ns", 1), (1e6, "us", 1e3), (1e9, "ms", 1e6)):
        if nanoseconds < limit:
            return f"{nanoseconds / scale:.3g} {unit}"
    return f"{nanoseconds / 1e9:.3g} s"


def times(ratio):
    return f"{ratio:.0f}" if ratio >= 100 else f"{ratio:.3g}"


def measure(rows, folders, repetitions):
    """For each folder, its name and the times measured."""
    results = [(name, {}) for name, _ in folders]
    for (_, found), (_, folder) in zip(results, folders):
        for program in sorted({row[1] for row in rows}):
            if (folder / program).exists():
                print("running", folder / program, file=sys.stderr)
                found.update(run(folder / program, rows, repetitions))
    return results


def table(rows, results, pandas):
    head = "| kernel | rival | " + " | ".join(f"{name}: straggle | times faster" for name, _ in results) + " |"
    lines = [head, "|---|---|" + "---:|---:|" * len(results)]
    for text, _, ours, rivals in rows:
        for rival, theirs in rivals.items():
            cells = []
            for _, found in results:
                mine = found.get(ours)
                other = pandas.get(theirs) if theirs in PANDAS else found.get(theirs)
                cells += [shown(mine) if mine else "-", times(other / mine) if mine and other else "-"]
            lines.append(f"| {text} | {rival} | " + " | ".join(cells) + " |")
    return lines


def scan_tables(rows, results):
    """A line per rule, a column per size: the time of the library, and how many times faster it is."""
    lines = []
    for name, found in results:
        lines += ["", name + ":", "", "| rule | suspects | " + " | ".join(f"{size:.0e}".replace("+0", "") for size in SIZES) + " |",
                  "|---|---:|" + "---:|" * len(SIZES)]
        cells = iter(rows)
        for rule, slow in SCANS:
            line = []
            for _, (_, _, ours, rivals) in zip(SIZES, cells):
                mine, other = found.get(ours), found.get(rivals["plain"])
                line.append((shown(mine) if mine else "-") + (f" ({times(other / mine)})" if mine and other else ""))
            lines.append(f"| `{rule}` | {slow} % | " + " | ".join(line) + " |")
    return lines[1:]


def growth_table(results):
    """Times at the smallest and the largest size, and the exponent: the slope of the line through all on log-log axes."""
    name, found = results[0]
    lines = [f"| kernel, {name} | from | to | time | time at the end | exponent | bytes |", "|---|---:|---:|---:|---:|---:|---|"]
    for text, _, kernel, sizes, memory in GROWTH:
        points = [(size, found[kernel.format(size)]) for size in sizes if kernel.format(size) in found]
        if len(points) < 2:
            continue
        x, y = ([math.log(p[i]) for p in points] for i in (0, 1))
        exponent = statistics.linear_regression(x, y).slope
        (first, begin), (last, end) = points[0], points[-1]
        lines.append(f"| {text} | {first:,} | {last:,} | {shown(begin)} | {shown(end)} | {exponent:.2f} | {memory} |")
    return lines


def replace(path, mark, lines):
    text = path.read_text()
    begin, end = f"<!-- {mark} begin -->", f"<!-- {mark} end -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.S)
    if not pattern.search(text):
        sys.exit(f"ratios.py: no {begin} in {path}")
    path.write_text(pattern.sub(lambda _: begin + "\n" + "\n".join(lines) + "\n" + end, text))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plain", type=pathlib.Path)
    parser.add_argument("native", type=pathlib.Path, nargs="?")
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--section", action="append", choices=SECTIONS, help="only this table; may be repeated")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    folders = [("-O2", options.plain)]
    if options.native:
        folders.append(("-O3 -march=native", options.native))
    sections = {mark: rows for mark, rows in SECTIONS.items() if mark in (options.section or SECTIONS)}
    results = measure([row for rows in sections.values() for row in rows], folders, options.repetitions)
    pandas = {name: pandas_ns(1_000_000, *how) for name, how in PANDAS.items()} if "ranks" in sections else {}
    tables = {mark: scan_tables(rows, results) if mark == "detectors" else growth_table(results) if mark == "growth"
              else table(rows, results, pandas) for mark, rows in sections.items()}
    for lines in tables.values():
        print("\n".join(lines), end="\n\n")
    if options.update:
        for mark, lines in tables.items():
            replace(ROOT / "docs/reference/speed.md", mark, lines)


if __name__ == "__main__":
    main()
