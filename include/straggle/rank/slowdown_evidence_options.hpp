// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How `slowdown_evidence` gathers evidence, and how much memory it takes.
#pragma once

#include <straggle/base/config.hpp>

#include <cstddef>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI {

/// How evidence is gathered.
struct slowdown_evidence_options {
    /// A node that is provably slower than its siblings, but by less than this, is not worth avoiding.
    /// @pre at least 1
    double least_slowdown = 1.1;
    std::size_t max_attempts = std::size_t{1} << 20; ///< of unfinished jobs; 32 bytes each
    std::size_t max_jobs = std::size_t{1} << 14;     ///< unfinished ones
    std::size_t max_cells = std::size_t{1} << 16;    ///< finished jobs times nodes; 24 bytes each
    /// A cluster with more nodes than `max_cells` has room for keeps this many cells per node instead.
    std::size_t cells_per_node = 16;
    /// Memory for this many cells is allocated up front and does not move; at most `max_cells`.
    std::size_t expected_cells = 0;
    std::uint32_t max_nodes = std::uint32_t{1} << 17; ///< about 400 bytes each
    std::size_t max_stretch = 16384; ///< attempts of one job that are compared with each other
};

} // namespace straggle
