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
/// (`node_aware`), `predictor`, `assigner`, `blacklist`, `forecast` (a blacklist that goes by it alone),
/// `brief block`. `together`: all of these, and progress is told to the detector by `recent_rate`. `without
/// ...`: all but that; `with Flink's rule`: instead of `node_aware`.
/// @param plan for the kinds of its jobs, and how many machines there are
policies::scheduler make_scheduler(std::string const& name, cluster::plan const& plan, std::uint64_t seed);

} // namespace together
