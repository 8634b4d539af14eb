// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The textbook Hungarian method with potentials, which inserts one row after the other: a rival for
/// benchmarks, an oracle for tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace straggle_bench {

/// Gives each row the column with which the sum of costs is the least.
/// @param rows not more than columns
/// @param costs_of_row called with a row, returns a function from a column to the cost
/// @param row_of written: for column j at place j + 1 the row that has it, counted from 1; 0 for none
template <class CostsOfRow>
void hungarian(std::size_t rows, std::size_t columns, CostsOfRow&& costs_of_row,
               std::vector<std::size_t>& row_of) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    std::vector<double> u(rows + 1), v(columns + 1), least(columns + 1);
    std::vector<std::size_t> way(columns + 1);
    std::vector<char> used(columns + 1);
    row_of.assign(columns + 1, 0);
    for (std::size_t i = 1; i <= rows; ++i) {
        row_of[0] = i;
        std::size_t j0 = 0;
        std::fill(least.begin(), least.end(), infinity);
        std::fill(used.begin(), used.end(), false);
        do {
            used[j0] = true;
            std::size_t const i0 = row_of[j0];
            auto const cost_of = costs_of_row(i0 - 1);
            std::size_t j1 = 0;
            double delta = infinity;
            for (std::size_t j = 1; j <= columns; ++j) {
                if (used[j]) continue;
                if (double const cost = cost_of(j - 1) - u[i0] - v[j]; cost < least[j]) {
                    least[j] = cost;
                    way[j] = j0;
                }
                if (least[j] < delta) {
                    delta = least[j];
                    j1 = j;
                }
            }
            for (std::size_t j = 0; j <= columns; ++j) {
                if (used[j]) {
                    u[row_of[j]] += delta;
                    v[j] -= delta;
                } else {
                    least[j] -= delta;
                }
            }
            j0 = j1;
        } while (row_of[j0] != 0);
        for (; j0 != 0; j0 = way[j0]) row_of[j0] = row_of[way[j0]];
    }
}

} // namespace straggle_bench
