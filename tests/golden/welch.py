#!/usr/bin/python3
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Writes tests/golden/welch.hpp: one-sided Welch tests of each node of a fleet against all others together.

Statistic and p-value come from scipy.stats.ttest_ind on the raw scores; the p-value is then recomputed from its
statistic and degrees of freedom with mpmath to full precision (scipy's own is checked against it to 1e-9).

usage: welch.py > welch.hpp      (Debian: python3-scipy python3-mpmath)
"""
import numpy
from mpmath import betainc, mp, mpf
from scipy.stats import ttest_ind

mp.dps = 40


def upper_tail(t, dof):
    half = betainc(mpf(dof) / 2, mpf(1) / 2, 0, dof / (dof + mpf(t) ** 2), regularized=True) / 2
    return half if t > 0 else 1 - half


def welch(scores, others):
    """t, degrees of freedom and p of mean(scores) > mean(others), all in 40 digits."""
    def moments(values):
        values = [mpf(float(v)) for v in values]
        mean = sum(values) / len(values)
        return mean, sum((v - mean) ** 2 for v in values) / (len(values) - 1) / len(values), len(values)
    (mean, a, n), (mean_of_others, b, m) = moments(scores), moments(others)
    t = (mean - mean_of_others) / mp.sqrt(a + b)
    dof = (a + b) ** 2 / (a * a / (n - 1) + b * b / (m - 1))
    return t, dof, upper_tail(t, dof)


def fleets():
    random = numpy.random.default_rng(1947)
    for sizes, shifts in (
            ([50] * 6, [0, 0, 0, 0, 1, 2]),
            ([3, 8, 20, 60, 5, 9, 40], [3, 0, 0.5, -0.2, 4, 0, 1]),
            ([2, 2, 2, 30], [1, 9, 0, 0]),
            ([1000, 10], [0, 1.5])):
        yield [numpy.round(random.normal(shift, 1 + shift / 4, size), 6) for size, shift in zip(sizes, shifts)]


print("""// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Written by tests/golden/welch.py: nodes with the p-value of a one-sided Welch test against all other nodes of
/// their fleet together.
#pragma once

#include <cstdint>
#include <vector>

namespace straggle_test {

struct welch_node {
    std::uint64_t n;
    double mean;
    double sample_sd;
    double p;
};

// clang-format off
inline std::vector<std::vector<welch_node>> const welch_fleets{""")
for fleet in fleets():
    print("    {")
    for i, scores in enumerate(fleet):
        others = numpy.concatenate([s for k, s in enumerate(fleet) if k != i])
        t, dof, p = welch(scores, others)
        theirs = ttest_ind(scores, others, equal_var=False)
        their_p = theirs.pvalue / 2 if theirs.statistic > 0 else 1 - theirs.pvalue / 2
        assert abs(theirs.statistic - t) < 1e-12 * abs(t) + 1e-12, (theirs, t)
        assert abs(their_p - p) < 1e-9 * p + 1e-300, (their_p, p)
        print("        {%d, %.17g, %.17g, %.17g}," % (len(scores), scores.mean(), scores.std(ddof=1), p))
    print("    },")
print("""};
// clang-format on

} // namespace straggle_test""")
