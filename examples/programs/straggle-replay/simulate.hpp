// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A simulated history to look at: the same for the same seed.
#pragma once

#include "history.hpp"

namespace straggle_replay {

/// Eight jobs of 120 tasks, one after the other, on 16 nodes of four slots that report every three seconds.
/// Three nodes are slow and one becomes slow halfway; here and there a task is long by chance, or fails and
/// is tried again.
[[nodiscard]] history simulate(std::uint64_t seed, bool with_input);

} // namespace straggle_replay
