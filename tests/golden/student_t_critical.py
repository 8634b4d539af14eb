#!/usr/bin/env python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Writes student_t_critical.csv beside itself: two-sided critical values of Student's t distribution, roots of the
probabilities of student_t_cdf.py (mpmath: incomplete beta function up to 200 degrees of freedom, integral of the
density above), for levels as doubles. Columns: dof, level as hexadecimal double, 30 digits of t."""
import pathlib

import mpmath as mp
from mpmath import mpf

from student_t_cdf import by_beta, by_integral

DOF = [1, 2, 3, 7, 10, 29, 63, 64, 65, 70, 127, 300, 1000, 12345, 10**6, 10**15]
LEVELS = [0.05, 0.5, 0.8, 0.90, 0.95, 0.99, 0.9973, 0.999, 0.999999, 0.999999999999]


def main():
    mp.mp.dps = 60
    lines = []
    for level in LEVELS:
        q = (1 - mpf(level)) / 2
        z = mp.sqrt(2) * mp.erfinv(mpf(level))
        for dof in DOF:
            nu = mpf(dof)
            tail = by_beta if dof <= 200 else by_integral
            t = mp.exp(mp.findroot(lambda u: mp.log(tail(mp.exp(u), nu) / q), (mp.log(z + (z**3 + z) / (4 * nu)), mp.log(z + (z**3 + z) / (4 * nu)) + mpf(10) ** -6 + 1 / (100 * nu)), tol=mpf(10) ** -100))
            assert abs(tail(t, nu) / q - 1) < mpf(10) ** -30
            lines.append(f"{dof},{level.hex()},{mp.nstr(t, 30)}")
    path = pathlib.Path(__file__).with_suffix(".csv")
    path.write_text("# two-sided critical values, made by tests/golden/student_t_critical.py with mpmath at 60 digits\ndof,level_hex,t_30digits\n" + "\n".join(lines) + "\n")
    print(len(lines), "rows")


if __name__ == "__main__":
    main()
