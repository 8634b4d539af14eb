# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Second attempts of pure tasks, for clients of a scheduler with the plugin: the first to end counts.

    copies = Copies(client)
    results = copies.gather(copies.map(function, items))

Only for functions without side effects, and for results that the client gathers: tasks that depend on a future wait for the
original attempt. A copy is launched when and where the plugin's plan says.
"""
import queue
import time

import dask

TOPIC = "straggle-copies"
COPY = "-straggle-copy"


class Copies:
    def __init__(self, client):
        self.client = client
        self.known = {}  # key: function, its argument, keywords, future
        self.orders = queue.SimpleQueue()
        client.subscribe_topic(TOPIC, lambda event: self.orders.put(event[1]))

    def map(self, function, items, **keywords):
        """Futures of tasks that may run twice."""
        items = list(items)
        with dask.annotate(straggle_may_copy=True):
            futures = self.client.map(function, items, pure=False, **keywords)
        keywords.pop("key", None)
        for item, future in zip(items, futures):
            self.known[future.key] = (function, item, keywords, future)
        return futures

    def launch(self):
        """Copies that the plugin has requested since the last call, by the key of their original."""
        began = {}
        while not self.orders.empty():
            order = self.orders.get()
            if order["key"] not in self.known or self.known[order["key"]][3].done():
                continue
            function, item, keywords, _ = self.known[order["key"]]
            began[order["key"]] = self.client.submit(function, item, key=order["key"] + COPY, workers=[order["to"]],
                                                     allow_other_workers=False, pure=False, **keywords)
        return began

    def gather(self, futures, every=0.05):
        """Results in the order of the futures, each of the attempt that ended first; the other attempt is canceled."""
        done, copies, open_keys = {}, {}, {future.key for future in futures}
        originals = {future.key: future for future in futures}
        while open_keys:
            for key, copy in self.launch().items():
                copies.setdefault(key, copy)
            for key in list(open_keys):
                attempts = [f for f in (originals[key], copies.get(key)) if f is not None]
                first = next((f for f in attempts if f.status == "finished"), None)
                if first is None and all(f.done() for f in attempts):
                    first = attempts[0]  # all failed: its exception is raised
                if first is not None:
                    done[key] = first.result()
                    for other in attempts:
                        if other is not first and not other.done():
                            other.cancel()
                    open_keys.discard(key)
                    self.known.pop(key, None)
            if open_keys:
                time.sleep(every)
        return [done[future.key] for future in futures]
