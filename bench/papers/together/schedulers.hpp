// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The schedulers that are compared, by name.
#pragma once

#include "../cluster/plan.hpp"
#include "../policies/schedulers.hpp"

#include <cstdint>
#include <string>

namespace together {

/// `Hadoop`, `Spark`, `Flink`: their rules and defaults. Hadoop's but for one part: `detector`
/// (`node_aware`), `predictor`, `assigner`, `blacklist`; `blacklist and losers`: tasks whose copies won
/// are evidence, too. `together`: all of these, and machines of tasks that got a copy are left alone for a
/// minute. `together by Flink's rule`: the same with Flink's rule instead of `node_aware`;
/// `Flink's rule without predictor`: that without the predictor.
/// @param plan for the kinds of its jobs, and how many machines there are
policies::scheduler make_scheduler(std::string const& name, cluster::plan const& plan, std::uint64_t seed);

} // namespace together
