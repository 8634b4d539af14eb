#!/usr/bin/python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Servers and clients for trying the adapter on the loopback interface. Servers sleep rather than work, so that results
depend little on the machine.

    traffic.py servers FIRST_PORT NUMBER       reads from stdin: `slow 3 5` (times as slow), `fail 3 0.5` (share), `quit`
    traffic.py clients PORT RATE SECONDS FILE [WORKLOAD]
                                               open loop at a constant rate; a row per request: when it was due, how long
                                               it took from then (both in seconds), status, server; also ends on TERM
    traffic.py draw SEED RATE SIGMA SECONDS    prints a workload with random arrivals and lognormal work: a row per request,
                                               when it is due and how long a server works on it (seconds)
"""
import asyncio
import math
import random
import signal
import sys
import time

SLOTS = 4  # requests that a server handles at a time; the others wait
MEDIAN, SIGMA = 0.0094, 0.36  # of the time a request takes: 10 ms on average, 22 ms for one in a hundred
MOST_RATE, MOST_SECONDS = 2000, 1200


class Server:
    def __init__(self, number):
        self.name = b"s%d" % (number + 1)
        self.free = asyncio.Semaphore(SLOTS)
        self.factor, self.failing = 1.0, 0.0
        self.random = random.Random(number)

    async def serve(self, reader, writer):
        try:
            while True:
                path = (await reader.readuntil(b"\r\n\r\n")).split(b" ", 2)[1]
                work = float(path[3:]) if len(path) > 3 else MEDIAN * math.exp(SIGMA * self.random.gauss(0, 1))
                fails = self.random.random() < self.failing
                async with self.free:
                    await asyncio.sleep(work * self.factor)
                status = b"500 No" if fails else b"200 OK"
                writer.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: %d\r\n\r\n" % len(self.name) + self.name)
        except (asyncio.IncompleteReadError, OSError, ValueError):
            pass
        finally:
            writer.close()


async def servers(first, number):
    all_of_them = [Server(n) for n in range(number)]
    for n, server in enumerate(all_of_them):
        await asyncio.start_server(server.serve, "127.0.0.1", first + n, backlog=1024)
    print("ready", flush=True)
    orders = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    while True:
        words = (await orders.readline()).decode().split()
        if not words or words[0] == "quit":
            return
        server = all_of_them[int(words[1]) - 1]
        if words[0] == "slow":
            server.factor = float(words[2])
        elif words[0] == "fail":
            server.failing = float(words[2])


class Clients:
    def __init__(self, port):
        self.port, self.idle, self.rows, self.lag = port, [], [], 0.0

    async def one(self, begin, due, work):
        status, server = 0, "-"
        try:
            while self.idle and self.idle[-1][0].at_eof():
                self.idle.pop()[1].close()  # idle for so long that the proxy closed it
            reader, writer = self.idle.pop() if self.idle else await asyncio.open_connection("127.0.0.1", self.port)
            writer.write(b"GET /w%s HTTP/1.1\r\nHost: here\r\n\r\n" % work)
            head = await reader.readuntil(b"\r\n\r\n")
            status = int(head[9:12])
            lower = head.lower()
            length = int(lower.partition(b"content-length: ")[2].split(b"\r")[0])
            server = (await reader.readexactly(length)).decode().strip()
            if b"connection: close" in lower:
                writer.close()
            else:
                self.idle.append((reader, writer))
        except (asyncio.IncompleteReadError, OSError, ValueError):
            pass
        took = time.perf_counter() - begin - due
        self.rows.append((due, took, status, server if status == 200 else "-"))

    async def run(self, requests):
        begin = time.perf_counter()
        tasks, ending = set(), []
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ending.append, True)
        for due, work in requests:
            if ending:
                break
            wait = begin + due - time.perf_counter()
            if wait > 0:
                await asyncio.sleep(wait)
            else:
                await asyncio.sleep(0)
            self.lag = max(self.lag, time.perf_counter() - begin - due)
            task = asyncio.create_task(self.one(begin, due, work))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        if tasks:
            await asyncio.wait(tasks, timeout=30)


def requests(rate, seconds, workload=None):
    """When each request is due, and how long a server works on it, as part of its path; empty: the server draws."""
    if workload is None:
        return [(i / rate, b"") for i in range(int(rate * seconds))]
    with open(workload) as file:
        rows = [line.split(",") for line in file if line[0].isdigit()]
    return [(float(due), b"/%.6f" % float(work)) for due, work in rows if float(due) < seconds]


def draw(seed, rate, sigma, seconds):
    source, due = random.Random(seed), 0.0
    print("due,work")
    while (due := due + source.expovariate(rate)) < seconds:
        print("%.6f,%.6f" % (due, 0.010 * math.exp(sigma * source.gauss(0, 1) - sigma * sigma / 2)))


def main():
    what, arguments = sys.argv[1], sys.argv[2:]
    if what == "servers":
        return asyncio.run(servers(int(arguments[0]), int(arguments[1])))
    if what == "draw":
        return draw(*map(float, arguments))
    port, rate, seconds = int(arguments[0]), min(float(arguments[1]), MOST_RATE), min(float(arguments[2]), MOST_SECONDS)
    clients = Clients(port)
    asyncio.run(clients.run(requests(rate, seconds, *arguments[4:])))
    with open(arguments[3], "w") as file:
        for due, took, status, server in sorted(clients.rows):
            file.write("%.4f,%.4f,%d,%s\n" % (due, took, status, server))
    print("lag %.1f ms" % (clients.lag * 1e3), flush=True)


if __name__ == "__main__":
    main()
