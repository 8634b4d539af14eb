// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// All settings of a mitigator. `{}` is the configuration that was measured.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/blacklist/node_stage_options.hpp>
#include <straggle/mitigate/effect.hpp>
#include <straggle/mitigate/speculator_options.hpp>

#include <cstddef>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::mitigate {

/// Selects the library's stage, configured by `mitigator_options`.
struct by_options {};

/// Limit on actions within a period, whatever their reasons. Copies count once they are seen running,
/// exclusions once they are seen to be followed. The count survives a restart.
struct action_limit {
    std::uint64_t most = 0; ///< new copies and new exclusions together; 0: no limit
    double period = 0;      ///< length: in seconds if the clock knows its unit, else in the clock's own unit
};

} // namespace straggle::mitigate

namespace straggle::inline STRAGGLE_ABI {

/// How a mitigator works.
struct mitigator_options {
    /// The switch: when off, it keeps learning and decides nothing.
    bool is_enabled = true;
    /// Which nodes are slow, hung or failing, and how to react.
    node_stage_options nodes{};
    /// Which tasks get copies, and where.
    mitigate::speculator_options copies{};
    /// Which jobs are left alone to measure the effect.
    mitigate::effect_options effects{};
    /// Limits on actions.
    mitigate::action_limit actions{};
    /// This decider's number among those that share a `lease`; 0: the only decider.
    std::uint64_t decider = 0;
    /// Limit on nodes, and on kinds of jobs, remembered at a time.
    std::size_t most_nodes = std::size_t{1} << 16;
    /// Limit on jobs whose effect is measured at a time.
    std::size_t most_jobs = std::size_t{1} << 16;
    /// Key of the hash that distinguishes jobs and tasks: the same for mitigators that merge.
    std::uint64_t hash_key = 0;
};

} // namespace straggle
