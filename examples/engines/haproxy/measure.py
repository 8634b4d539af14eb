#!/usr/bin/python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""What the adapter is worth: six servers behind HAProxy, clients at a constant rate, one server gets slow, then well.

    measure.py --policies roundrobin,leastconn,random,straggle --rates 300,600 --out FOLDER
    measure.py --check      a short form that fails if the adapter does not do its work

Everything runs here, on the loopback. Each run: WARM seconds of warming up, HEALTHY with all well, BAD with one server
slow (or failing), AFTER with all well again. A row per request stays in FOLDER, and a line per run in summary.csv.
"""
import argparse
import csv
import datetime
import gzip
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import adapter
from measuring import stop  # in ../common, as adapter says

HERE = os.path.dirname(os.path.abspath(__file__))
SERVERS = 6
VICTIM = 3
WARM = 3


def free_ports(number):
    """Ports nobody listens at; the first ones of a run of consecutive ones are for servers."""
    for first in range(21000 + os.getpid() % 400 * 20, 60000, 20):
        try:
            for port in range(first, first + number):
                for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                    with socket.socket(socket.AF_INET, kind) as s:
                        s.bind(("127.0.0.1", port))
            return first
        except OSError:
            pass
    sys.exit("no free ports")


class Bench:
    """HAProxy, its servers and, with the policy straggle, the adapter; all end with `close`."""

    def __init__(self, options, policy):
        self.options, self.policy = options, policy
        self.folder = tempfile.mkdtemp(prefix="straggle-haproxy-")
        self.first = free_ports(SERVERS + 3)
        self.front, self.agent, self.logs = self.first + SERVERS, self.first + SERVERS + 1, self.first + SERVERS + 2
        self.processes = []
        self.servers = self.spawn([sys.executable, HERE + "/traffic.py", "servers", str(self.first), str(SERVERS)],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.servers.stdout.readline()
        self.adapter = None
        if policy == "straggle":
            self.start_adapter()
        self.stats = self.folder + "/stats.sock"
        with open(self.folder + "/haproxy.cfg", "w") as file:
            file.write(self.configuration())
        self.proxy = self.spawn(["haproxy", "-db", "-q", "-f", self.folder + "/haproxy.cfg"],
                                stderr=open(self.folder + "/haproxy.err", "w"))
        time.sleep(0.5)

    def spawn(self, command, **more):
        process = subprocess.Popen(command, **more)
        self.processes.append(process)
        return process

    def start_adapter(self):
        self.adapter_log = self.folder + "/adapter.log"
        self.adapter = self.spawn(
            [sys.executable, HERE + "/adapter.py", "--watch", self.options.watch, "--log-port", str(self.logs),
             "--agent-port", str(self.agent), "--stats", self.folder + "/stats.sock"],
            stdout=open(self.adapter_log, "a"), stderr=subprocess.STDOUT)
        time.sleep(0.5)

    def configuration(self):
        """The example's, with other ports; without the agent where the adapter is not tried."""
        text = open(HERE + "/haproxy.cfg").read()
        text = text.replace("/run/haproxy/straggle.sock", self.folder + "/stats.sock")
        text = text.replace("127.0.0.1:5514", "127.0.0.1:%d" % self.logs)
        text = text.replace("127.0.0.1:8080", "127.0.0.1:%d" % self.front).replace("9101", str(self.agent))
        text = re.sub(r"127\.0\.0\.1:810(\d)", lambda m: "127.0.0.1:%d" % (self.first + int(m[1]) - 1), text)
        if self.policy != "straggle":
            text = re.sub(r" agent-(check|(addr|port|inter|send) \S+)", "", text)
            text = text.replace("balance roundrobin",
                                "balance " + {"random": "random(2)"}.get(self.policy, self.policy))
        return text

    def order(self, *words):
        self.servers.stdin.write((" ".join(str(w) for w in words) + "\n").encode())
        self.servers.stdin.flush()

    def clients(self, rate, seconds, file):
        workload = [self.options.workload] if self.options.workload else []
        return self.spawn([sys.executable, HERE + "/traffic.py", "clients", str(self.front), str(rate), str(seconds),
                           file, *workload], stdout=subprocess.PIPE)

    def weights(self):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(2)
            s.connect(self.stats)
            s.sendall(b"show servers state\n")
            text = b""
            while True:
                part = s.recv(65536)
                if not part:
                    break
                text += part
        rows = text.decode().splitlines()
        names = rows[1].lstrip("# ").split()
        return {r["srv_name"]: int(r["srv_uweight"]) for r in (dict(zip(names, row.split())) for row in rows[2:])
                if r}

    def close(self):
        stop(self.processes[::-1])
        if not self.options.keep:
            shutil.rmtree(self.folder, ignore_errors=True)


def quantile(sorted_values, p):
    return sorted_values[min(len(sorted_values) - 1, int(p * len(sorted_values)))] if sorted_values else float("nan")


def changes(log_file, began):
    """What the adapter did: (seconds since `began`, server, weight)."""
    found = []
    for line in open(log_file):
        m = re.match(r"(\S+) app/s(\d): (?:weight (\d+)%|healthy )", line)
        if m:
            found.append((datetime.datetime.fromisoformat(m[1]).timestamp() - began, int(m[2]), int(m[3] or 100)))
    return found


def run(options, policy, rate, what):
    """One run; what it showed, as a dict."""
    bench = Bench(options, policy)
    healthy, bad, after = options.healthy, options.bad, options.after
    file = os.path.join(options.out, "%s-%d-%s.csv" % (policy, rate, what))
    try:
        clients = bench.clients(rate, WARM + healthy + bad + after, file)
        began = time.time()
        time.sleep(WARM + healthy)
        slow_at = time.time()
        bench.order(*{"slow": ("slow", VICTIM, options.factor), "fail": ("fail", VICTIM, 0.5), "none": ("slow", VICTIM, 1)}[what])
        time.sleep(bad)
        well_at = time.time()
        bench.order("slow", VICTIM, 1)
        bench.order("fail", VICTIM, 0)
        lag = clients.communicate(timeout=after + 60)[0].decode().strip()
        done = changes(bench.adapter_log, began) if policy == "straggle" else []
        if options.keep and policy == "straggle":
            shutil.copy(bench.adapter_log, file.replace(".csv", ".log"))
    finally:
        bench.close()
    rows = [(float(d), float(t), int(s), v) for d, t, s, v in csv.reader(open(file))]
    slow_at, well_at = slow_at - began, well_at - began
    result = {"policy": policy, "rate": rate, "what": what, "lag": lag}
    phases = {"healthy": (WARM, slow_at - 0.2), "bad": (slow_at, well_at), "after": (well_at + 5, 1e9)}
    for name, (begin, end) in phases.items():
        mine = [r for r in rows if begin <= r[0] < end]
        good = sorted(r[1] * 1e3 for r in mine if r[2] == 200)
        result.update({name + "_p50": round(quantile(good, 0.5), 1), name + "_p99": round(quantile(good, 0.99), 1),
                       name + "_p999": round(quantile(good, 0.999), 1),
                       name + "_errors": sum(r[2] != 200 for r in mine), name + "_requests": len(mine)})
    if policy == "straggle":
        victim = [(t, w) for t, s, w in done if s == VICTIM]
        out = [t for t, w in victim if w == 0 and t >= slow_at]
        back = [t for t, w in victim if w == 100 and t >= well_at]
        # Probes within the bad time that went well by accident would end it; so the last return counts.
        result["out_after"] = round(out[0] - slow_at, 2) if out and what != "none" else ""
        result["back_after"] = round(back[0] - well_at, 2) if back and what != "none" else ""
        result["ejected_healthy"] = sum(1 for t, s, w in done if w == 0 and
                                        (s != VICTIM or what == "none" or t < slow_at))
        with open(file.replace(".csv", ".changes.csv"), "w") as f:
            f.write("seconds,server,weight_percent\n0,%d,100\n" % VICTIM)
            for t, s, w in done:
                f.write("%.3f,%d,%d\n" % (t, s, w))
    with open(file, "rb") as raw, gzip.GzipFile(file + ".gz", "wb", mtime=0) as packed:
        shutil.copyfileobj(raw, packed)
    os.remove(file)
    return result


def write_summary(out, results):
    """The lines of these runs, and those of earlier ones of other kinds that are there."""
    path, names = os.path.join(out, "summary.csv"), []
    new = {(r["policy"], str(r["rate"]), r["what"]) for r in results}
    if os.path.exists(path):
        with open(path, newline="") as file:
            results = [r for r in csv.DictReader(file) if (r["policy"], r["rate"], r["what"]) not in new] + results
    for r in results:
        names += [n for n in r if n not in names]
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, names, restval="")
        writer.writeheader()
        writer.writerows(results)


def expect(holds, what):
    print("%s %s" % ("ok  " if holds else "FAIL", what), flush=True)
    if not holds:
        expect.failed += 1


expect.failed = 0


def check(options):
    """Out, back, released on exit and after a kill -9; within a minute and a half."""
    options.healthy, options.bad, options.after = 5, 12, 12
    r = run(options, "straggle", 300, "slow")
    print(r, flush=True)
    expect(r["out_after"] != "" and r["out_after"] < 5, "a slow server is out: after %s s" % r["out_after"])
    expect(r["back_after"] != "", "it is back when it is well: after %s s" % r["back_after"])
    expect(r["ejected_healthy"] == 0, "no other one was")
    expect(r["bad_errors"] + r["after_errors"] == 0, "no request was lost")
    for how in (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP):
        bench = Bench(options, "straggle")
        clients = bench.clients(300, 15, os.path.join(options.out, "check.csv"))
        try:
            time.sleep(4)
            bench.order("slow", VICTIM, options.factor)
            end = time.time() + 8
            while time.time() < end and bench.weights()["s%d" % VICTIM] == 256:
                time.sleep(0.05)
            before = bench.weights()
            bench.adapter.send_signal(how)
            sent = time.time()
            while time.time() < sent + 8 and set(bench.weights().values()) != {256}:
                time.sleep(0.02)
            took = time.time() - sent
            expect(before["s%d" % VICTIM] < 256 and set(bench.weights().values()) == {256},
                   "%s leaves all weights as they were: %d, then %d" %
                   (how.name, before["s%d" % VICTIM], bench.weights()["s%d" % VICTIM]))
            expect(took < 1, "within a second: %.2f s" % took)
            if how == signal.SIGTERM:
                bench.adapter.wait(5)
                expect("Traceback" not in open(bench.adapter_log).read(), "it ends without a traceback")
            clients.terminate()
        finally:
            if how == signal.SIGSTOP:
                bench.adapter.kill()
            bench.close()
    return 1 if expect.failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--watch", default=adapter.DECIDES)
    parser.add_argument("--policies", default="roundrobin,leastconn,random,straggle")
    parser.add_argument("--rates", default="300,600")
    parser.add_argument("--workload", help="a file of requests, as `traffic.py draw` prints; --rates is then a name only")
    parser.add_argument("--what", default="slow", help="slow, fail or none")
    parser.add_argument("--healthy", type=float, default=20)
    parser.add_argument("--bad", type=float, default=60)
    parser.add_argument("--after", type=float, default=15)
    parser.add_argument("--factor", type=float, default=5)
    parser.add_argument("--out", default="haproxy-measured")
    parser.add_argument("--keep", action="store_true", help="scratch folders and logs stay")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if shutil.which("haproxy") is None:
        print("skipped: there is no haproxy (Debian: apt-get install haproxy)")
        return 77
    os.makedirs(options.out, exist_ok=True)
    if options.check:
        return check(options)
    results = []
    for what in options.what.split(","):
        for rate in options.rates.split(","):
            for policy in options.policies.split(","):
                results.append(run(options, policy, int(rate), what))
                print(results[-1], flush=True)
                write_summary(options.out, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
