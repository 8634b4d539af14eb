#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Writes wide_integer.csv: products, quotients and roundings of wide integers in unbounded integers.

usage: wide_integer.py [--check]    without --check writes the file beside this script; with it compares
"""
import random

from golden import write_or_check

HEADER = """\
# Wide integer arithmetic. Made by wide_integer.py with Python's unbounded integers; no code in common with the library.
# All integers in hex. double,a,d: d is the nearest double to a, ties to even. multiply,a,b,p: p = a b.
# divide,a,b,q: q = floor(a / b) below 2^64.
"""


def rows():
    draw = random.Random(20190717)
    numbers = [0, 1, 2, 2**53 - 1, 2**53, 2**53 + 1, 2**63, 2**64 - 1, 2**64, 2**128 - 1, 2**128, 2**192 - 1, 2**192, 2**255, 2**256 - 1]
    for bits in range(54, 257):  # ties, with the bit that breaks them at every place or at none
        even, odd = 2**52 + 2 * draw.getrandbits(51), 2**52 + 2 * draw.getrandbits(51) + 1
        for lead in ((even, odd), (even, 2**53 - 1), (odd,))[bits % 3]:
            tail = bits - 53
            half = 1 << (tail - 1)
            numbers += [(lead << tail) + half + d for d in (-1, 0, 1) if 0 <= half + d < 1 << tail]
            if tail > 2:
                numbers.append((lead << tail) + half + (1 << draw.randrange(tail - 1)))
    numbers += [draw.getrandbits(draw.randint(1, 256)) for _ in range(120)]
    for a in numbers:
        yield f"double,{a:x},{float(a).hex()}\n"
    ends = [0, 1, 2**32 - 1, 2**32, 2**32 + 1, 2**63 - 1, 2**63, 2**64 - 1]
    pairs = [(a, b) for a in ends for b in ends] + [(draw.getrandbits(64), draw.getrandbits(64)) for _ in range(50)]
    for a, b in pairs:
        yield f"multiply,{a:x},{b:x},{a * b:x}\n"
    for b in [*ends[1:], *(draw.getrandbits(draw.randint(1, 64)) | 1 for _ in range(60))]:
        most = (b << 64) - 1
        for a in (0, 1, b - 1, b, most, most - b, draw.randint(0, most), draw.getrandbits(64) % (most + 1)):
            if a >= 0:
                yield f"divide,{a:x},{b:x},{a // b:x}\n"


if __name__ == "__main__":
    write_or_check(__file__, HEADER + "".join(rows()))
