// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The stages of a mitigator, each of which may be custom. Where `straggle::compiled` is linked, a mitigator
/// with a part or stage of your own needs this header.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/mitigate/detail/mitigation_loop.hpp>
#include <straggle/mitigate/mitigator_options.hpp>

namespace straggle::inline STRAGGLE_ABI::mitigate {

/// Which parts a mitigator decides with.
///
/// @par Example
/// LATE's rule, and at most one copy of a task:
/// @code
/// mitigator m{attempts, running, nodes, {}, mitigate::stages{
///     .tasks = detect::straggler_scan{detect::late{}},
///     .copies = assign::assigner{assign::expected_gain{}, assign::copies_per_task{1}}}};
/// @endcode
/// @tparam Nodes which nodes to avoid, and for how long: a `blacklist::node_weighing`, such as `node_stage`
/// or a `blacklist::ranking_stage` with any ranking, selection, exclusion and limits
/// @tparam Tasks which running tasks are late: a `detect::straggler_scan` with any detector. It gets jobs as
/// `job_view`s: up to 4096 times of ended tasks each, running tasks with their latest progress; `row` is the
/// index of the user's record. The time a late task has left is predicted from its siblings and its progress,
/// or by the predictor of the scan
/// @tparam Copies whether a copy is worth it, and where: an `assign::assigner` with any profit, matching and
/// limits, called with all late tasks that may have a copy, most time left first. Its kill rule is obeyed.
/// The limits of the options do not apply to it, but a storm stops it, too
template <class Nodes = by_options, class Tasks = by_options, class Copies = by_options>
struct stages {
    Nodes nodes{};   ///< stage 1
    Tasks tasks{};   ///< stage 2
    Copies copies{}; ///< stage 3
};

} // namespace straggle::mitigate
