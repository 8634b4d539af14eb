// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// `--steps`: which ranks of a gang do the others wait for?
#pragma once

#include "options.hpp"

#include <iosfwd>

namespace straggle_rank {

/// Reads reports of steps from CSV files, and prints the result: as a JSON document, or as sentences.
void print_steps(std::ostream& out, options const& o, bool show_progress);

} // namespace straggle_rank
