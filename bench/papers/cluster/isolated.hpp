// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Runs simulations, each in its own process: SimGrid's engine cannot be restarted in one.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace cluster {

/// A simulation that returns its measurements.
using measurement = std::function<std::vector<double>()>;

/// Runs all of them, several at a time.
/// @return what each has measured, in their order: the same for any number of workers
/// @throws std::runtime_error if one of them dies
std::vector<std::vector<double>> run_isolated(std::vector<measurement> const& all, std::size_t workers);

/// Runs measure(row, column) for all rows and columns, such as schedulers and seeds.
/// @return what each has measured, by row and column
template <class Measure>
std::vector<std::vector<std::vector<double>>> run_grid(std::size_t rows, std::size_t columns,
                                                       Measure const& measure, std::size_t workers) {
    std::vector<measurement> all;
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t column = 0; column < columns; ++column)
            all.push_back([&measure, row, column] { return measure(row, column); });
    std::vector<std::vector<double>> found = run_isolated(all, workers);
    std::vector<std::vector<std::vector<double>>> by_row(rows);
    for (std::size_t i = 0; i < found.size(); ++i) by_row[i / columns].push_back(std::move(found[i]));
    return by_row;
}

} // namespace cluster
