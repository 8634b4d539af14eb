#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Writes uniform_below.csv: what a uniform draw gives with the Mersenne twisters of the C++ standard.

usage: uniform_below.py [--check]    without --check writes the file beside this script; with it compares

The twisters are written from the standard's parameters ([rand.eng.mers]) and checked against the 10000th number that the
standard demands ([rand.predef]).
"""

from golden import write_or_check

HEADER = """\
# Uniform draws below a bound with the engines of the C++ standard. Made by uniform_below.py, which has its own
# engines; no code in common with the library. below,engine,seed,bound,draws... and
# sample,engine,seed,size,count,front...: the front of 0, 1, ... size - 1 after sample_to_front.
"""


def twister(w, n, m, r, a, u, d, s, b, t, c, l, f):
    def engine(seed):
        mask, low = 2**w - 1, 2**r - 1
        state = [seed & mask]
        for i in range(1, n):
            state.append((f * (state[-1] ^ (state[-1] >> (w - 2))) + i) & mask)
        while True:
            for i in range(n):
                y = (state[i] & ~low & mask) | (state[(i + 1) % n] & low)
                state[i] = state[(i + m) % n] ^ (y >> 1) ^ (a if y & 1 else 0)
            for z in state:
                z ^= (z >> u) & d
                z ^= (z << s) & b & mask
                z ^= (z << t) & c & mask
                yield z ^ (z >> l)
    return engine


ENGINES = {
    "mt19937": twister(32, 624, 397, 31, 0x9908b0df, 11, 0xffffffff, 7, 0x9d2c5680, 15, 0xefc60000, 18, 1812433253),
    "mt19937_64": twister(64, 312, 156, 31, 0xb5026f5aa96619e9, 29, 0x5555555555555555, 17, 0x71d67fffeda60000, 37,
                          0xfff7eee000000000, 43, 6364136223846793005),
}


def check_engines():
    for name, expected in ("mt19937", 4123659995), ("mt19937_64", 9981545732273789042):
        engine = ENGINES[name](5489)
        assert [next(engine) for _ in range(10000)][-1] == expected


def words(name, seed):  # 64 bits at a time; the first of two halves is the upper one
    engine = ENGINES[name](seed)
    while True:
        yield (next(engine) << 32) | next(engine) if name == "mt19937" else next(engine)


def below(source, bound):  # each remainder has floor(2^64 / bound) words; the least words are drawn again
    while True:
        x = next(source)
        if x >= 2**64 % bound:
            return x % bound


def rows():
    check_engines()
    for name in ENGINES:
        for seed in (5489, 1, 2024):
            for bound in (1, 2, 3, 6, 10, 1000, 2**32 - 1, 2**32, 2**32 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1):
                source = words(name, seed)
                yield ",".join(map(str, ["below", name, seed, bound, *(below(source, bound) for _ in range(8))])) + "\n"
            for size, count in (1, 1), (10, 0), (10, 4), (10, 10), (1000, 12):
                source, items = words(name, seed), list(range(size))
                for i in range(count):
                    j = i + below(source, size - i)
                    items[i], items[j] = items[j], items[i]
                yield ",".join(map(str, ["sample", name, seed, size, count, *items[:count]])) + "\n"


if __name__ == "__main__":
    write_or_check(__file__, HEADER + "".join(rows()))
