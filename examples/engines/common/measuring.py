# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Shared by the measuring programs: the interval of a mean, and ending the processes they started."""
import math
import statistics
import subprocess

# Student's t at 97.5 % for 2 to 10 values; beyond, where it is smaller, the last one is used.
STUDENT = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)


def interval(values):
    """The mean and the half-width of its 95 % interval, which is NaN for a single value."""
    n = len(values)
    if n < 2:
        return values[0], float("nan")
    return statistics.mean(values), STUDENT[min(n, 10) - 2] * statistics.stdev(values) / math.sqrt(n)


def stop(processes):
    """Asks all to end, and kills those that have not ended within five seconds."""
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
