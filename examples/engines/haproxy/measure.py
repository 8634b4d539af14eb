#!/usr/bin/python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""What the adapter gains: servers behind HAProxy, clients at a constant rate; one or more servers become slow, then recover.

    measure.py --policies roundrobin,leastconn,random,straggle,straggle-leastconn --rates 300,600 --out FOLDER
    measure.py --servers 8 --victims 3,6 --repeats 4 --workload FILE     several slow at once, requests of your own
    measure.py --check      a short run that fails if the adapter does not work

Everything is on the loopback interface. Each run has WARM seconds to warm up, HEALTHY with all servers healthy, BAD with one
server slow (or failing), and AFTER with all healthy again. A row per request stays in FOLDER, and a line per run in summary.csv.
The policies `straggle` and `straggle-leastconn` are the adapter on top of round robin and of leastconn.
"""
import argparse
import csv
import datetime
import gzip
import itertools
import math
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
from measuring import interval, stop  # in ../common, as adapter says

HERE = os.path.dirname(os.path.abspath(__file__))
WARM = 3


def free_ports(number):
    """Free ports; those of the servers come first and are consecutive."""
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


def has_adapter(policy):
    return policy.startswith("straggle")


class Bench:
    """HAProxy, its servers and, if the policy uses it, the adapter; `close` ends them all."""

    def __init__(self, options, policy):
        self.options, self.policy = options, policy
        self.folder = tempfile.mkdtemp(prefix="straggle-haproxy-")
        servers = options.servers
        self.first = free_ports(servers + 3)
        self.front, self.agent, self.logs = self.first + servers, self.first + servers + 1, self.first + servers + 2
        self.processes = []
        self.servers = self.spawn([sys.executable, HERE + "/traffic.py", "servers", str(self.first), str(servers)],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.servers.stdout.readline()
        self.adapter = None
        if has_adapter(policy):
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
        """The configuration of the example with other ports, and without the agent if the adapter is not used."""
        text = open(HERE + "/haproxy.cfg").read()
        text = text.replace("/run/haproxy/straggle.sock", self.folder + "/stats.sock")
        text = text.replace("127.0.0.1:5514", "127.0.0.1:%d" % self.logs)
        text = text.replace("127.0.0.1:8080", "127.0.0.1:%d" % self.front).replace("9101", str(self.agent))
        text = re.sub(r" *server s\d .*\n", "", text)
        for n in range(1, self.options.servers + 1):
            text += '    server s%d 127.0.0.1:%d agent-send "app/s%d\\n"\n' % (n, self.first + n - 1, n)
        if not has_adapter(self.policy):
            text = re.sub(r" agent-(check|(addr|port|inter|send) \S+)", "", text)
        balance = {"straggle": "roundrobin", "straggle-leastconn": "leastconn", "random": "random(2)"}
        return text.replace("balance roundrobin", "balance " + balance.get(self.policy, self.policy))

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
        m = re.match(r"(\S+) app/s(\d): (?:weight (\d+)%|healthy:)", line)
        if m:
            found.append((datetime.datetime.fromisoformat(m[1]).timestamp() - began, int(m[2]), int(m[3] or 100)))
    return found


def wait_for(event, seconds):
    """Waits until it is true, at most `seconds`. @return the time this took, minus the time this process could not run"""
    began = before = time.time()
    kept = 0
    while not event() and before < began + seconds:
        time.sleep(0.02)
        kept += max(0, time.time() - before - 0.1)
        before = time.time()
    return time.time() - began - kept


def run(options, policy, rate, what, number=1, is_out=None, is_back=None):
    """One run; its results as a dict. @param is_out ends the bad phase early; @param is_back ends the run early"""
    bench = Bench(options, policy)
    healthy, bad, after, victims = options.healthy, options.bad, options.after, options.victims
    file = os.path.join(options.out, "%s-%d-%s%s.csv" % (policy, rate, what, "-%d" % number if number > 1 else ""))
    try:
        clients = bench.clients(rate, WARM + healthy + bad + after, file)
        began = time.time()
        time.sleep(WARM + healthy)
        slow_at = time.time()
        for victim in victims if what != "none" else ():
            bench.order(what, victim, {"slow": options.factor, "fail": options.share}[what])
        wait_for(lambda: is_out is not None and is_out(bench), bad)
        well_at = time.time()
        for victim in victims:
            bench.order("slow", victim, 1)
            bench.order("fail", victim, 0)
        if is_back is not None:
            wait_for(lambda: is_back(bench), after)
            clients.terminate()
        lag = clients.communicate(timeout=after + 60)[0].decode().strip()
        done = changes(bench.adapter_log, began) if bench.adapter else []
        if options.keep and bench.adapter:
            shutil.copy(bench.adapter_log, file.replace(".csv", ".log"))
    finally:
        bench.close()
    rows = [(float(d), float(t), int(s), v) for d, t, s, v in csv.reader(open(file))]
    slow_at, well_at = slow_at - began, well_at - began
    result = {"policy": policy, "rate": rate, "what": what, "number": number, "lag": lag}
    phases = {"healthy": (WARM, slow_at - 0.2), "bad": (slow_at, well_at), "after": (well_at + 5, 1e9)}
    for name, (begin, end) in phases.items():
        mine = [r for r in rows if begin <= r[0] < end]
        good = sorted(r[1] * 1e3 for r in mine if r[2] == 200)
        result.update({name + "_p50": round(quantile(good, 0.5), 1), name + "_p99": round(quantile(good, 0.99), 1),
                       name + "_p999": round(quantile(good, 0.999), 1),
                       name + "_errors": sum(r[2] != 200 for r in mine), name + "_requests": len(mine)})
    result["errors"] = sum(r[2] != 200 for r in rows)
    if bench.adapter:
        hurt = victims if what != "none" else ()
        out = [t for t, s, w in done if s in hurt and w < 100 and slow_at <= t < well_at]
        back = [[t for t, s, w in done if s == v and t >= well_at and w == 100] for v in hurt if
                any(s == v for t, s, w in done)]
        # A probe that happens to be fast ends the exclusion of a slow server, so the last return counts.
        result["out_after"] = round(out[0] - slow_at, 2) if out else ""
        result["back_after"] = round(max(b[-1] for b in back) - well_at, 2) if back and all(back) else ""
        result["slow_requests"] = sum(slow_at <= r[0] < (out[0] if out else well_at) and
                                      r[3] in ["s%d" % v for v in hurt] for r in rows)
        result["ejected_healthy"] = sum(1 for t, s, w in done if w == 0 and (s not in hurt or t < slow_at))
        result["ejected_recovered"] = sum(1 for t, s, w in done if w == 0 and s in hurt and t > well_at)
        with open(file.replace(".csv", ".changes.csv"), "w") as f:
            f.write("seconds,server,weight_percent\n0,%d,100\n" % victims[0])
            for t, s, w in done:
                f.write("%.3f,%d,%d\n" % (t, s, w))
    with open(file, "rb") as raw, gzip.GzipFile(file + ".gz", "wb", mtime=0) as packed:
        shutil.copyfileobj(raw, packed)
    os.remove(file)
    return result


def write_summary(out, results):
    """Writes the lines of these runs, and keeps those of earlier runs of other kinds."""
    path, names = os.path.join(out, "summary.csv"), []
    def key(r):
        return r["policy"], str(r["rate"]), r["what"], str(r.get("number") or 1)
    new = {key(r) for r in results}
    if os.path.exists(path):
        with open(path, newline="") as file:
            results = [r for r in csv.DictReader(file) if key(r) not in new] + results
    for r in results:
        names += [n for n in r if n not in names]
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, names, restval="")
        writer.writeheader()
        writer.writerows(results)


def print_means(options, results):
    """Over the repeats: the mean of p99, and its ratio to that of the first policy, each with an interval."""
    for what, rate in itertools.product(options.what.split(","), options.rates.split(",")):
        p99 = {policy: [r["bad_p99"] for r in results if (r["policy"], r["rate"], r["what"]) == (policy, int(rate), what)]
               for policy in options.policies.split(",")}
        first = next(iter(p99.values()))
        for policy, values in p99.items():
            ratio, by = interval([math.log(v / f) for v, f in zip(values, first)])
            print("%s %s %-18s p99 %.1f ms (+-%.1f), %.2f times that of the first (%.2f to %.2f)" %
                  (what, rate, policy, *interval(values), math.exp(ratio), math.exp(ratio - by), math.exp(ratio + by)))


def expect(holds, what):
    print("%s %s" % ("ok  " if holds else "FAIL", what), flush=True)
    if not holds:
        expect.failed += 1


expect.failed = 0


def check(options):
    """A slow server goes out and comes back; weights are restored on exit and after kill -9. Judged by requests and probes,
    since the machine may be busy; waits at most two minutes."""
    victim, options.healthy, options.bad, options.after = options.victims[0], 5, 60, 60

    def is_out(bench):
        return bench.weights()["s%d" % victim] == 0

    def is_back(bench):
        return bench.weights()["s%d" % victim] == 256
    r = run(options, "straggle", 300, "slow", is_out=is_out, is_back=is_back)
    print(r, flush=True)
    expect(r["out_after"] != "" and r["slow_requests"] < 300, "a slow server is out: after %s requests" % r["slow_requests"])
    expect(r["back_after"] != "", "it is back once it has recovered: after %s s" % r["back_after"])
    expect(r["ejected_recovered"] <= 3, "after few probes: it was taken out %s times" % r["ejected_recovered"])
    expect(r["ejected_healthy"] == 0, "no other server was")
    expect(r["errors"] == 0, "no request was lost")
    for how in (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP):
        bench = Bench(options, "straggle")
        clients = bench.clients(300, 40, os.path.join(options.out, "check.csv"))
        try:
            time.sleep(4)
            bench.order("slow", victim, options.factor)
            wait_for(lambda: not is_back(bench), 20)
            before = bench.weights()
            bench.adapter.send_signal(how)
            took = wait_for(lambda: set(bench.weights().values()) == {256}, 8)
            expect(before["s%d" % victim] < 256 and set(bench.weights().values()) == {256},
                   "%s leaves all weights as they were: %d, then %d" %
                   (how.name, before["s%d" % victim], bench.weights()["s%d" % victim]))
            expect(took < 1, "within a second, not counting time when this process could not run: %.2f s" % took)
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
    parser.add_argument("--workload", help="a file of requests, as printed by `traffic.py draw`; --rates is then only a name")
    parser.add_argument("--what", default="slow", help="slow, fail or none")
    parser.add_argument("--healthy", type=float, default=20)
    parser.add_argument("--bad", type=float, default=60)
    parser.add_argument("--after", type=float, default=15)
    parser.add_argument("--factor", type=float, default=5, help="how many times as slow a slow server is")
    parser.add_argument("--share", type=float, default=0.5, help="share of requests that a failing server fails")
    parser.add_argument("--servers", type=int, default=6)
    parser.add_argument("--victims", default="3", help="numbers of the servers that become slow or fail")
    parser.add_argument("--repeats", type=int, default=1, help="runs of each kind; all kinds run once per repeat")
    parser.add_argument("--out", default="haproxy-measured")
    parser.add_argument("--keep", action="store_true", help="keep scratch folders and logs")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    options.victims = [int(v) for v in options.victims.split(",")]
    if shutil.which("haproxy") is None:
        print("skipped: haproxy is not installed (Debian: apt-get install haproxy)")
        return 77
    os.makedirs(options.out, exist_ok=True)
    if options.check:
        return check(options)
    results = []
    kinds = itertools.product(range(1, options.repeats + 1), options.what.split(","), options.rates.split(","),
                              options.policies.split(","))
    for number, what, rate, policy in kinds:
        results.append(run(options, policy, int(rate), what, number))
        print(results[-1], flush=True)
        write_summary(options.out, results)
    if options.repeats > 1:
        print_means(options, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
