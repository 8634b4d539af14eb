// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Runs simulations, each in a process of its own: SimGrid's engine cannot begin twice in one.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace cluster {

/// A simulation and what is to be known of it.
using measurement = std::function<std::vector<double>()>;

/// Runs all of them, so many at a time.
/// @return what each has measured, in their order: the same for any number of workers
/// @throws std::runtime_error if one of them dies
std::vector<std::vector<double>> run_isolated(std::vector<measurement> const& all, std::size_t workers);

} // namespace cluster
