#!/usr/bin/python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Keeps requests away from slow and failing servers of an HAProxy, using its log and its agent checks.

HAProxy sends a line per request (see haproxy.cfg); straggle-watch decides ten times a second; each agent check is
answered with the percentage of its weight that the server should have. The answer for a server without a verdict is
`up`, which changes nothing: what an operator drained, stopped or weighted by hand stays so.

If this process died or hung, HAProxy would keep the last weights forever. Therefore this process restores them before
it ends, and a watchdog, a separate process, restores them when there has been no answer for a second.
"""
import argparse
import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import straggle_watch  # noqa: E402

NAME = re.compile(r"[\w.:-]+/[\w.:-]+\Z", re.ASCII)  # backend/server
MOST_SERVERS = 4096
# At ten decisions a second: at most one error in three hours, and a server that stays slow is tried every two seconds.
DECIDES = "straggle-watch --windows-per-error 100000 --longest-exclusion 20 --probes-with-tasks"


def log(*words):
    print(straggle_watch.clock_text(time.time()), *words, flush=True)


class Requests(asyncio.DatagramProtocol):
    """Turns HAProxy's log lines into events."""

    def __init__(self, loop):
        self.loop = loop

    def datagram_received(self, data, address):
        for line in data.splitlines():
            self.loop.request(line)


class Adapter:
    def __init__(self, options):
        self.options = options
        self.watch = None
        self.next_start = 0
        self.servers = {}  # name: when it was last seen
        self.weights = {}  # name: percent, for servers that must not get their full weight
        self.watched = set()  # names of servers whose weight the watchdog would restore
        self.freed = {}  # name: until when it is instructed to restore its weight
        self.decided = 0
        self.bad_lines = 0
        self.is_ending = False
        self.said, self.notes = {}, set()

    # What the log reports.
    def request(self, line):
        fields = line.split()
        if len(fields) > 0 and fields[0].startswith(b"<"):
            fields[0] = fields[0].partition(b">")[2]
        try:
            accepted, backend, server, status, _, total, microseconds, ended = fields[:8]
            name = backend.decode("ascii") + "/" + server.decode("ascii")
            status = int(status)
            length = int(microseconds) * 1e-6 if microseconds != b"-" else int(total) * 1e-3
        except (ValueError, UnicodeDecodeError):
            self.bad_lines += 1  # lines about server states arrive here as well
            return
        if not NAME.match(name) or server == b"<NOSRV>" or len(self.servers) >= MOST_SERVERS:
            return
        now = time.time()
        self.servers[name] = now
        if self.watch is None or length < 0:
            return
        how = "killed" if ended[:1] in b"Cc" else "failed" if status >= 500 or status < 100 else "success"
        self.watch.ended(backend.decode("ascii"), name, now - length, now, how)

    # What HAProxy asks: one line in, one line out.
    async def answer(self, reader, writer):
        try:
            name = (await asyncio.wait_for(reader.readline(), 1)).decode("ascii", "replace").strip()
            writer.write(self.word(name).encode())
            await asyncio.wait_for(writer.drain(), 1)
        except (OSError, ValueError, asyncio.TimeoutError, asyncio.CancelledError):
            pass  # the last one is raised when the loop ends
        finally:
            writer.close()

    def word(self, name):
        now = time.time()
        if name == "watchdog":
            self.watched = set(self.ours(now))
            return " ".join(["ours"] + self.ours(now)) + "\n"
        if NAME.match(name) and (name in self.servers or len(self.servers) < MOST_SERVERS):
            self.servers[name] = now
        if not self.is_ending and now - self.decided < self.options.stale and name in self.weights:
            if self.options.no_watchdog or name in self.watched:
                return "up %d%%\n" % self.weights[name]
            return "up\n"  # wait for the watchdog, which asks within 0.1 s: if this process died now, the weight would stay changed
        return "up 100%\n" if name in self.ours(now) else "up\n"

    def ours(self, now):
        """Servers whose weight is not the operator's: they have one of ours, or it is being restored."""
        return sorted(set(self.weights) | {name for name, until in self.freed.items() if now < until})

    def start(self):
        now = time.time()
        if now < self.next_start:
            return
        self.next_start = now + 5
        try:
            self.watch = straggle_watch.Watch(self.options.watch.split(), log)
        except OSError as problem:
            log("straggle-watch does not start:", problem)

    def decide(self):
        now = time.time()
        for name, heard in list(self.servers.items()):
            if now - heard > 60:
                del self.servers[name]
        nodes = [{"node": name, "slots": self.options.slots} for name in sorted(self.servers)]
        plan = self.watch.decide(now, nodes, timeout=0.5)
        if plan is None:
            log("no plan: all servers get their weight")
            self.watch.close()
            self.watch = None
            plan = {"nodes": []}
        else:
            self.decided = now
        weights = {}
        for n in plan["nodes"]:
            if n["state"] == "excluded":
                weights[n["node"]] = 0
            elif n["state"] == "on_probation":
                weights[n["node"]] = min(100, max(1, round(self.options.probe * n["probe_slots"])))
            elif n["state"] == "last_resort" and n["slowdown"]["value"] > 1:  # slots in proportion to speed: the same seconds of work for all
                weights[n["node"]] = max(1, round(100 / n["slowdown"]["value"]))
            if n["state"] != self.said.get(n["node"], "healthy"):
                log("%s: %s" % (n["node"], n["reason"]))
            self.said[n["node"]] = n["state"]
        for note in straggle_watch.new_notes(plan, self.notes, copies=False):
            log("note:", note)
        if self.options.dry_run:
            weights = {}
        for name in self.weights:
            if name not in weights:
                self.freed[name] = now + 3
        for name in weights:
            if weights[name] != self.weights.get(name):
                log("%s: weight %d%%" % (name, weights[name]))
        self.weights = weights

    async def run(self):
        options = self.options
        loop = asyncio.get_running_loop()
        ending = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, ending.set)
        await loop.create_datagram_endpoint(lambda: Requests(self), local_addr=(options.listen, options.log_port))
        agent = await asyncio.start_server(self.answer, options.listen, options.agent_port)
        log("listening on %s: log %d, agent %d" % (options.listen, options.log_port, options.agent_port))
        due = time.monotonic()
        while not ending.is_set():
            if self.watch is None:
                self.start()
            if self.watch is not None:
                self.decide()
            due = max(due + options.every, time.monotonic())
            try:
                await asyncio.wait_for(ending.wait(), due - time.monotonic())
            except asyncio.TimeoutError:
                pass
        self.is_ending = True
        log("ending: all servers get their weight back")
        if self.watch is not None:
            self.watch.close()
        await asyncio.sleep(options.linger)
        agent.close()
        log("ended; unreadable lines: %d" % self.bad_lines)


def ask_haproxy(path, command):
    """Sends a command of the Runtime API and returns the answer."""
    with socket.socket(socket.AF_UNIX) as stats:
        stats.settimeout(2)
        stats.connect(path)
        stats.sendall(command.encode() + b"\n")
        answer = b""
        while True:
            part = stats.recv(65536)
            if not part:
                return answer.decode("ascii", "replace")
            answer += part


def release(path, ours=None):
    """Restores the configured weight of servers with an agent. @param ours their names; None: all of them"""
    try:
        rows = ask_haproxy(path, "show servers state").splitlines()
    except OSError as problem:
        log("the stats socket %s: %s" % (path, problem))
        return
    names = rows[1].lstrip("# ").split()
    for row in rows[2:]:
        server = dict(zip(names, row.split()))
        if not server.get("srv_agent_port", "0").isdigit() or server.get("srv_agent_port", "0") == "0":
            continue
        if server["srv_uweight"] != server["srv_iweight"]:
            name = "%s/%s" % (server["be_name"], server["srv_name"])
            if ours is not None and name not in ours:
                continue  # set by an operator
            log("%s: weight back to 100%%" % name)
            ask_haproxy(path, "set server %s weight 100%%" % name)


def watchdog(options):
    """Asks the agent as HAProxy does; restores weights when it is silent for a second, and when it has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    heard, released, ours = time.monotonic(), False, []
    while os.getppid() == options.parent or not released:
        time.sleep(0.1)
        try:
            with socket.create_connection((options.listen, options.agent_port), 0.2) as agent:
                agent.settimeout(0.2)
                agent.sendall(b"watchdog\n")
                answer = agent.recv(65536).decode("ascii", "replace").split()
        except OSError:
            answer = []
        if answer:
            if os.getppid() != options.parent:
                return  # another adapter answers, which has its own watchdog
            heard, released, ours = time.monotonic(), False, answer[1:]
        elif time.monotonic() - heard > 0.4 and not released:  # seen within the next 0.3 s
            log("watchdog: the agent does not answer")
            release(options.stats, ours)
            released = True


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--watch", default=DECIDES, help="the command that decides (default: %(default)s)")
    parser.add_argument("--listen", default="127.0.0.1", help="address of both listeners (default: %(default)s)")
    parser.add_argument("--log-port", type=int, default=5514, help="UDP port for HAProxy's log (default: %(default)s)")
    parser.add_argument("--agent-port", type=int, default=9101, help="TCP port for its agent checks (default: %(default)s)")
    parser.add_argument("--stats", default="/run/haproxy/straggle.sock", help="HAProxy's stats socket, for the watchdog (default: %(default)s)")
    parser.add_argument("--every", type=float, default=0.1, help="seconds between decisions (default: %(default)s)")
    parser.add_argument("--slots", type=int, default=4, help="requests that a server handles at a time (default: %(default)s)")
    parser.add_argument("--probe", type=float, default=5, help="percent of its weight, per slot, that a server on probation gets (default: %(default)s)")
    parser.add_argument("--stale", type=float, default=2, help="seconds after which a decision no longer counts (default: %(default)s)")
    parser.add_argument("--linger", type=float, default=1, help="seconds for restoring weights at the end (default: %(default)s)")
    parser.add_argument("--dry-run", action="store_true", help="log decisions, change nothing")
    parser.add_argument("--release", action="store_true", help="restore all weights and end")
    parser.add_argument("--no-watchdog", action="store_true", help="no process that restores weights if this one dies")
    parser.add_argument("--parent", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.release:
        return release(options.stats)
    if options.parent is not None:
        return watchdog(options)
    if problem := straggle_watch.missing(options.watch.split()):
        sys.exit("adapter.py: " + problem)
    if not options.no_watchdog and not options.dry_run:
        subprocess.Popen([sys.executable, os.path.abspath(__file__), "--listen", options.listen, "--agent-port",
                          str(options.agent_port), "--stats", options.stats, "--parent", str(os.getpid())],
                         start_new_session=True)
    asyncio.run(Adapter(options).run())


if __name__ == "__main__":
    main()
