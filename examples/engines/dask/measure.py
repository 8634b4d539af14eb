#!/usr/bin/python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""What the plugin gains: graph after graph on eight workers, one of which is slow for a while.

    measure.py --out FOLDER [--saturations 1.1,inf] [--graphs 60] [--slow 5] [--repeat 3]
    measure.py --check      a short run that fails if the plugin does not work

A graph is 48 tasks that sleep for about 100 ms and one that depends on them all; with --layers N, N layers of such tasks,
each waiting for two of the previous layer. Tasks sleep rather than work, so that results depend little on the machine.
Everything is on the loopback interface. Runs with and without the plugin alternate.
"""
import argparse
import csv
import importlib.util
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "common"))
from measuring import stop  # noqa: E402
from workload import read_groups  # noqa: E402

WORKERS, TASKS = 8, 48
OUT = ("excluded", "last_resort")


def work(seconds, folder, *needs):
    """Sleeps once the results it needs are available; longer on a worker that is slow according to the file in `folder`."""
    name = str(distributed_name())
    try:
        with open(os.path.join(folder, name)) as file:
            factor = float(file.read() or 1)
    except OSError:
        factor = 1.0
    time.sleep(seconds * factor)
    return name


def drawn(number, options):
    """The graph of that number without a workload: when it is due, and how long each of its tasks takes."""
    tasks = TASKS * options.layers
    times = [0.1 * math.exp(0.3 * random.Random(number * 1000 + i).gauss(0, 1)) for i in range(tasks)]
    return number * options.period, times


def distributed_name():
    from distributed import get_worker
    return get_worker().name


def total(parts):
    return {name: parts.count(name) for name in parts}


class Cluster:
    def __init__(self, options, plugin, saturation):
        self.folder = tempfile.mkdtemp(prefix="straggle-dask-")
        self.options, self.processes = options, []
        environment = dict(os.environ, DASK_DISTRIBUTED__SCHEDULER__WORKER_SATURATION=str(saturation),
                           DASK_DISTRIBUTED__LOGGING__DISTRIBUTED="info", STRAGGLE_WATCH=options.watch,
                           PYTHONPATH=HERE, OMP_NUM_THREADS="1")
        address_file = self.folder + "/scheduler.json"
        self.log = open(self.folder + "/log", "w")
        self.spawn(["-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
                    "--scheduler-file", address_file] + (["--preload", HERE + "/straggle_plugin.py"] if plugin else []),
                   environment)
        for n in range(WORKERS):
            self.spawn(["-m", "distributed.cli.dask_worker", "--scheduler-file", address_file, "--name", "w%d" % n,
                        "--host", "127.0.0.1", "--nthreads", "1", "--nworkers", "1", "--no-nanny", "--no-dashboard",
                        "--memory-limit", "0", "--local-directory", self.folder], environment)
        self.client = None
        try:
            self.connect(address_file)
        except BaseException:
            self.close()
            raise

    def connect(self, address_file):
        from distributed import Client
        end = time.time() + 30
        while not os.path.exists(address_file) and time.time() < end:
            time.sleep(0.1)
        self.client = Client(scheduler_file=address_file)
        self.client.wait_for_workers(WORKERS, timeout=60)

    def spawn(self, arguments, environment):
        self.processes.append(subprocess.Popen(["/usr/bin/python3"] + arguments, env=environment, stdout=self.log,
                                               stderr=self.log, cwd=self.folder))

    def slow(self, worker, factor):
        path = os.path.join(self.folder, worker)
        with open(path + ".new", "w") as file:
            file.write(str(factor))
        os.rename(path + ".new", path)

    def graph(self, number, times):
        """The seconds a graph takes, and how many of its tasks each worker ran."""
        began = time.time()
        layers, parts = self.options.layers, []
        for layer in range(layers):
            of_layer = times[layer::layers]
            needs = [[parts[i % len(parts)], parts[(i + 1) % len(parts)]] if parts else [] for i in range(len(of_layer))]
            parts = [self.client.submit(work, t, self.folder, *needed, pure=False, key=("work-%d-%d" % (number, layer), i))
                     for i, (t, needed) in enumerate(zip(of_layer, needs))]
        counts = self.client.submit(total, parts, pure=False).result(timeout=120)
        return began, time.time() - began, counts

    def held(self):
        """What the plugin did: (time, worker's address, state)."""
        return [(e["at"], e["node"], e["state"]) for _, e in self.client.get_events("straggle")]

    def names(self):
        return {a: w["id"] for a, w in self.client.scheduler_info()["workers"].items()}

    def close(self):
        try:
            if self.client is not None:
                self.client.close(timeout=2)
        except Exception:  # noqa: BLE001 - it is being shut down anyway
            pass
        stop(self.processes)
        self.log.close()
        if self.options.keep:
            print("log:", self.folder + "/log", flush=True)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)


def run(options, plugin, saturation, factor):
    """Warms up, then runs graphs, with a slow worker in the middle half. Returns a row per graph, and which workers were held."""
    cluster = Cluster(options, plugin, saturation)
    rows, held = [], []
    try:
        for g in range(3):
            cluster.graph(100000 + g, drawn(100000 + g, options)[1])
        begin = time.time()
        graphs = read_groups(options.workload, "graph") if options.workload else [drawn(g, options) for g in range(options.graphs)]
        quarter = len(graphs) // 4
        for g, (due, times) in enumerate(graphs):
            if factor != 1 and g == quarter:
                cluster.slow("w3", factor)
            if factor != 1 and g == len(graphs) - quarter:
                cluster.slow("w3", 1)
            phase = "healthy" if g < quarter or factor == 1 else "slow" if g < len(graphs) - quarter else "after"
            time.sleep(max(0, begin + due - time.time()))
            at, took, counts = cluster.graph(g, times)
            rows.append({"plugin": int(plugin), "saturation": saturation, "graph": g, "phase": phase,
                         "at": round(at - begin, 3), "seconds": round(took, 4), "on_slow": counts.get("w3", 0)})
        names = cluster.names()
        held = [(t - begin, names.get(a, a), s) for t, a, s in (cluster.held() if plugin else [])]
    finally:
        cluster.close()
    return rows, held


def quantile(values, p):
    values = sorted(values)
    return values[min(len(values) - 1, int(p * len(values)))]


def report(rows):
    for saturation in sorted({r["saturation"] for r in rows}, key=str):
        for phase in ("healthy", "slow", "after"):
            for plugin in (0, 1):
                mine = [r["seconds"] for r in rows
                        if (r["saturation"], r["phase"], r["plugin"]) == (saturation, phase, plugin)]
                if mine:
                    print("saturation %-4s %-8s %-8s graphs %3d mean %.3f p50 %.3f p99 %.3f" % (
                        saturation, phase, "plugin" if plugin else "without", len(mine), sum(mine) / len(mine),
                        quantile(mine, 0.5), quantile(mine, 0.99)), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--watch", default="straggle-watch --windows-per-error 100000 --longest-exclusion 20 --probes-with-tasks")
    parser.add_argument("--saturations", default="1.1,inf")
    parser.add_argument("--graphs", type=int, default=60)
    parser.add_argument("--workload", help="CSV with a row per task: graph, due (seconds from the start), seconds")
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--slow", type=float, default=5)
    parser.add_argument("--period", type=float, default=1.5, help="seconds between graphs; 0: one after the other")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--only", choices=["with", "without"])
    parser.add_argument("--out", default="dask-measured")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if importlib.util.find_spec("distributed") is None:
        print("skipped: distributed is not installed (Debian: apt-get install python3-distributed)")
        return 77
    os.makedirs(options.out, exist_ok=True)
    if options.check:
        options.graphs, options.saturations, options.only = 48, "1.1", "with"
    rows, held = [], []
    for repetition in range(options.repeat):
        for saturation in options.saturations.split(","):
            for plugin in (False, True):
                if options.only and plugin != (options.only == "with"):
                    continue
                more, did = run(options, plugin, saturation, options.slow)
                rows += [dict(r, repetition=repetition) for r in more]
                held += [(repetition, saturation, plugin, round(t, 3), w, s) for t, w, s in did]
                with open(options.out + "/graphs.csv", "w", newline="") as file:
                    writer = csv.DictWriter(file, list(rows[0]))
                    writer.writeheader()
                    writer.writerows(rows)
                with open(options.out + "/states.csv", "w", newline="") as file:
                    csv.writer(file).writerows([("repetition", "saturation", "plugin", "seconds", "worker", "state")] + held)
                report(more)
    print("in all", flush=True)
    report(rows)
    if not options.check:
        return 0
    slow_at = min(r["at"] for r in rows if r["phase"] == "slow")
    well_at = min(r["at"] for r in rows if r["phase"] == "after")
    held = [(t, worker, state) for _, _, _, t, worker, state in held]
    out = [t - slow_at for t, worker, state in held if worker == "w3" and t > slow_at and state in OUT]
    back = [t - well_at for t, worker, state in held if worker == "w3" and t > well_at and state == "healthy"]
    # As a last resort it may be used again before its recovery is certain.
    back = sorted(back + [r["at"] - well_at for r in rows if r["phase"] == "after" and r["on_slow"] >= 4])
    others = [h for h in held if h[1] != "w3" and h[2] in OUT]
    print("held after %s s, back after %s s, others held: %s" % (out[:1], back[:1], others))
    return 0 if out and back and not others else 1


if __name__ == "__main__":
    sys.exit(main())
