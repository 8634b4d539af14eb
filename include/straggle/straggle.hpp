// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The whole library.
///
/// | folder | question |
/// |---|---|
/// | `core/` | what is a record, a result, a contract? |
/// | `stats/` | numbers, no scheduling words |
/// | `node/` | how well does a node run tasks? |
/// | `blacklist/` | whom to avoid, how many, and for how long? |
#pragma once

#include <straggle/config.hpp>
#include <straggle/fwd.hpp>
#include <straggle/version.hpp>

#include <straggle/core/attempt.hpp>
#include <straggle/core/bytes.hpp>
#include <straggle/core/contract.hpp>
#include <straggle/core/field.hpp>
#include <straggle/core/interner.hpp>
#include <straggle/core/outcome.hpp>
#include <straggle/core/published.hpp>
#include <straggle/core/random.hpp>

#include <straggle/stats/confidence.hpp>
#include <straggle/stats/interval.hpp>
#include <straggle/stats/moments.hpp>
#include <straggle/stats/order.hpp>
#include <straggle/stats/student_t.hpp>
#include <straggle/stats/tick_moments.hpp>

#include <straggle/node/interval_dag.hpp>
#include <straggle/node/monitor.hpp>
#include <straggle/node/normalize.hpp>
#include <straggle/node/normalizer.hpp>
#include <straggle/node/p_cores.hpp>
#include <straggle/node/performance.hpp>
#include <straggle/node/rank_nodes.hpp>
#include <straggle/node/rank_options.hpp>
#include <straggle/node/ranking.hpp>
#include <straggle/node/sibling_normalizers.hpp>

#include <straggle/blacklist/blacklister.hpp>
#include <straggle/blacklist/cluster_watch.hpp>
#include <straggle/blacklist/decision.hpp>
#include <straggle/blacklist/decision_log.hpp>
#include <straggle/blacklist/dominated.hpp>
#include <straggle/blacklist/guards.hpp>
#include <straggle/blacklist/keeper.hpp>
#include <straggle/blacklist/outlier_rules.hpp>
#include <straggle/blacklist/selection.hpp>
#include <straggle/blacklist/sentences.hpp>
#include <straggle/blacklist/timed_guards.hpp>
#include <straggle/blacklist/top_k_intersection.hpp>

#include <straggle/presets.hpp>
