#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""Applies plans of straggle-watch to Hadoop YARN: reads them on standard input and updates the files that YARN reads.

    feed | straggle-watch --timer 10s | straggle_yarn.py --exclude /etc/hadoop/yarn.exclude --act

--exclude, --include: the files of yarn.resourcemanager.nodes.exclude-path and .include-path, one host per line. Each is
replaced as a whole, then the refresh command runs. --health: the file that straggle-health reads on each node.

Without --act nothing is written and nothing is run. Hosts that administrators exclude belong in --keep-out; that file is
only read, and its hosts stay excluded. When plans stop coming, at the end of the input, and on SIGTERM, all hosts excluded
here are released.
"""

import argparse
import fcntl
import json
import math
import os
import re
import select
import shlex
import signal
import subprocess
import sys
import time

# What a host file may contain, so that nothing in a plan can become more than one line with one host.
HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?(:[0-9]{1,5})?")


def say(text):
    print("straggle_yarn:", text, file=sys.stderr, flush=True)


def one_line(text, longest=400):
    """A reason as a field of the health file: printable, on one line."""
    return "".join(c if c.isprintable() else " " for c in str(text))[:longest]


def replace(path, text):
    """Replaces a file atomically: readers find the old content or the new, whatever happens here."""
    part = f"{path}.part"
    fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644)
    with os.fdopen(fd, "w", encoding="utf-8") as f:
        f.write(text)
        f.flush()
        os.fsync(f.fileno())
    os.replace(part, path)
    folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def hosts_of(path):
    """The hosts of a file as YARN reads it: words; # begins a comment."""
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return {word for line in f for word in line.split("#")[0].split()}
    except FileNotFoundError:
        return set()


class Yarn:
    def __init__(self, options):
        self.options = options
        self.out = {}  # host -> (until, reason)
        self.written = {}

    def take(self, plan):
        """Applies a plan."""
        now, out = time.time(), {}
        wanted = [n for n in plan.get("nodes", []) if n.get("state") == "excluded" and n.get("causes") != ["denied"]]
        wanted.sort(key=lambda n: -n["slowdown"]["value"])
        fleet = plan["fleet"]["nodes"]
        most = max(1, math.floor(self.options.most * fleet)) if self.options.most > 0 else 0
        for n in wanted:
            if not HOST.fullmatch(n["node"]):
                say(f"not the name of a host: {n['node']!r}")
            elif len(out) < most:
                # No longer than the plan says, and no longer than plans may be late.
                ends = [now + self.options.expire]
                if n.get("until") is not None:
                    ends.append(now + n["until"] - plan["now"])
                out[n["node"]] = (math.ceil(min(ends)), one_line(n["reason"]))
        self.change(out)

    def release(self):
        self.change({})

    def change(self, out):
        for host in out.keys() - self.out.keys():
            say(f"excludes {host}: {out[host][1]}")
        for host in self.out.keys() - out.keys():
            say(f"releases {host}")
        self.out = out
        kept = hosts_of(self.options.keep_out) if self.options.keep_out else set()
        changed = False
        if self.options.exclude:
            changed |= self.write(self.options.exclude, "".join(h + "\n" for h in sorted(kept | out.keys())))
        if self.options.include:
            members = hosts_of(self.options.members)
            left = members - kept - out.keys()
            if left:  # an empty include file would admit every host
                changed |= self.write(self.options.include, "".join(h + "\n" for h in sorted(left)))
        if self.options.health:
            self.write(self.options.health, "".join(f"{h}\t{until}\t{why}\n" for h, (until, why) in sorted(out.items())))
        if changed:
            self.refresh()

    def write(self, path, text):
        """@return whether the file has changed"""
        if self.written.get(path) == text:
            return False
        if self.options.act:
            try:
                replace(path, text)
            except OSError as fault:
                say(f"{path}: {fault.strerror}")
                return False
        self.written[path] = text
        return True

    def refresh(self):
        say(("runs " if self.options.act else "would run ") + self.options.refresh)
        if not self.options.act:
            return
        try:
            done = subprocess.run(shlex.split(self.options.refresh), stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
            if done.returncode != 0:
                say(f"it exited with {done.returncode}: {one_line(done.stderr.decode(errors='replace'))}")
        except (OSError, subprocess.TimeoutExpired) as fault:
            say(one_line(fault))


def command_line(arguments=None):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--exclude", metavar="FILE", help="excluded hosts, for YARN to read")
    p.add_argument("--include", metavar="FILE", help="all other hosts, for YARN to read; needs --members")
    p.add_argument("--members", metavar="FILE", help="all hosts of the cluster; read, never written")
    p.add_argument("--keep-out", metavar="FILE", help="hosts that administrators exclude; read, never written")
    p.add_argument("--health", metavar="FILE", help="for straggle-health; on a file system that all nodes see")
    p.add_argument("--refresh", metavar="COMMAND", default="yarn rmadmin -refreshNodes",
                   help="add '-g 3600 -server' to let containers end first (default: %(default)s)")
    p.add_argument("--most", metavar="SHARE", type=float, default=0.1, help="largest share of the nodes that may be out; one node always may (default 0.1)")
    p.add_argument("--expire", metavar="SECONDS", type=float, default=120, help="release all when no plan has come for this many seconds (default 120)")
    p.add_argument("--act", action="store_true", help="act; without this it only says what it would do")
    options = p.parse_args(arguments)
    if not (options.exclude or options.include or options.health):
        p.error("--exclude, --include or --health is needed")
    if options.include and not options.members:
        p.error("--include needs --members")
    if not 0 <= options.most <= 1 or not options.expire > 0:
        p.error("--most must be from 0 to 1, --expire above 0")
    return options


def lock(paths):
    """Locks each file for this process. @return what has to stay open"""
    held = []
    for path in paths:
        fd = os.open(f"{path}.lock", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        held.append(fd)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f"straggle_yarn: {path}: another process keeps it up to date")
    return held


def plans(fd, expire):
    """The plans as they come; None if none has come for that long, and at the end."""
    rest, until = b"", time.monotonic() + expire
    while True:
        ready, _, _ = select.select([fd], [], [], max(0, until - time.monotonic()))
        if not ready:
            yield None
            until = time.monotonic() + expire
            continue
        block = os.read(fd, 1 << 16)
        if not block:
            return
        *lines, rest = (rest + block).split(b"\n")
        newest = None
        for line in lines:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if isinstance(message, dict) and message.get("event") == "plan" and message.get("protocol") == 1:
                newest = message
        if newest:  # of several, the last one counts
            until = time.monotonic() + expire
            yield newest


def main():
    options = command_line()
    held = []
    if options.act:
        try:
            held = lock(filter(None, (options.exclude, options.include, options.health)))
        except OSError as fault:
            sys.exit(f"straggle_yarn: {fault.filename}: {fault.strerror}")

    def stop(*_):
        for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(s, signal.SIG_IGN)  # once is enough, and nothing may interrupt what follows
        raise SystemExit(0)
    for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(s, stop)
    yarn = Yarn(options)
    try:
        yarn.release()  # what an earlier process may have left behind
        for plan in plans(0, options.expire):
            yarn.take(plan) if plan else yarn.release()
    finally:
        yarn.written.clear()  # it may have been stopped between writing a file and noting it
        yarn.release()
        for fd in held:
            os.close(fd)


if __name__ == "__main__":
    main()
