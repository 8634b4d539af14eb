// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The table of nodes. Its order depends on nothing but the numbers and the names, so that it is the same
/// whichever rank saw a node first.
#pragma once

#include "options.hpp"
#include "shard.hpp"

#include <iosfwd>

namespace straggle_mpi {

/// Prints the nodes: the weakest level first, within it by falling mean, then by name; those without a level
/// last. Numbers read back as the same doubles: in 17 digits, and in JSON in as many as that takes.
void print_nodes(std::ostream& out, shard::ranking_type const& ranking, options const& how);

} // namespace straggle_mpi
