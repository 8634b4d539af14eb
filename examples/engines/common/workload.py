# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Workloads that measuring programs can use instead of their own."""
import csv


def read_groups(path, group):
    """When each group of tasks is due, and how long each of its tasks takes, from a CSV file with a row per task and the
    columns `group`, due, seconds."""
    groups = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            groups.setdefault(row[group], (float(row["due"]), []))[1].append(float(row["seconds"]))
    return sorted(groups.values())
