// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Everything about a mitigator that can be turned. With `{}` it is what was measured.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/blacklist/node_stage.hpp>
#include <straggle/mitigate/effect.hpp>
#include <straggle/mitigate/speculator.hpp>

#include <cstddef>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::mitigate {

/// How many actions there may be within a period, whatever the reasons for them. It is charged for copies
/// that are seen to run and for exclusions that are seen to be obeyed, and goes on where it was after a
/// restart.
struct action_limit {
    std::uint64_t most = 0; ///< new copies and new exclusions together; 0: no limit
    double period = 0;      ///< within how long: in seconds where the clock knows its unit, else in its own
};

} // namespace straggle::mitigate

namespace straggle::inline STRAGGLE_ABI {

/// How a mitigator does its work.
struct mitigator_options {
    /// The switch: off, it goes on learning and decides nothing.
    bool is_enabled = true;
    /// Which nodes are slow, hung or failing, and what is done about it.
    node_stage_options nodes{};
    /// Which tasks get copies, and where.
    mitigate::speculator_options copies{};
    /// Which jobs are left alone, to see whether it helps.
    mitigate::effect_options effects{};
    /// How many actions there may be.
    mitigate::action_limit actions{};
    /// The number of this decider among several that share a `lease`; 0: there is no other.
    std::uint64_t decider = 0;
    /// Most nodes, and most kinds of jobs, remembered at a time.
    std::size_t most_nodes = std::size_t{1} << 16;
    /// Most jobs whose effect is measured at a time.
    std::size_t most_jobs = std::size_t{1} << 16;
    /// Key of the hash by which jobs and tasks are told apart: the same for mitigators that merge.
    std::uint64_t hash_key = 0;
};

} // namespace straggle
