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
/// | `predict/` | how long will this task still take? |
/// | `blacklist/` | whom to avoid, how many, and for how long? |
/// | `detect/` | which running task is a straggler? |
/// | `evaluate/` | how good were we? |
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
#include <straggle/core/running.hpp>

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

#include <straggle/predict/progress.hpp>
#include <straggle/predict/smoothed_progress.hpp>

#include <straggle/detect/average_time.hpp>
#include <straggle/detect/cap.hpp>
#include <straggle/detect/detector.hpp>
#include <straggle/detect/flink.hpp>
#include <straggle/detect/hierarchical.hpp>
#include <straggle/detect/job_progress.hpp>
#include <straggle/detect/largest_gain.hpp>
#include <straggle/detect/late.hpp>
#include <straggle/detect/late_with_caps.hpp>
#include <straggle/detect/mantri.hpp>
#include <straggle/detect/min_progress.hpp>
#include <straggle/detect/node_aware.hpp>
#include <straggle/detect/over_median.hpp>
#include <straggle/detect/progress_gap.hpp>
#include <straggle/detect/remaining_time.hpp>
#include <straggle/detect/speculative_lag.hpp>
#include <straggle/detect/straggler_scan.hpp>
#include <straggle/detect/without_copies.hpp>

#include <straggle/evaluate/detection_metrics.hpp>
#include <straggle/evaluate/first_order.hpp>
#include <straggle/evaluate/power.hpp>
#include <straggle/evaluate/task_outcome.hpp>
#include <straggle/evaluate/usual_time.hpp>

#include <straggle/presets.hpp>
