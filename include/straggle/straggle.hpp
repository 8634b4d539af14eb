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
/// | `predict/` | how long will this task take, here or there? |
/// | `blacklist/` | whom to avoid, how many, and for how long? |
/// | `detect/` | which running task is a straggler? |
/// | `learn/` | which node will be weak next? |
/// | `assign/` | is a backup worth it, and where? |
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
#include <straggle/core/storable.hpp>

#include <straggle/stats/confidence.hpp>
#include <straggle/stats/empirical.hpp>
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

#include <straggle/predict/calibration.hpp>
#include <straggle/predict/factors.hpp>
#include <straggle/predict/node_weights.hpp>
#include <straggle/predict/profile_store.hpp>
#include <straggle/predict/progress.hpp>
#include <straggle/predict/similar_tasks.hpp>
#include <straggle/predict/similarity.hpp>
#include <straggle/predict/slowing.hpp>
#include <straggle/predict/smoothed_progress.hpp>
#include <straggle/predict/task_profile.hpp>
#include <straggle/predict/weights.hpp>

#include <straggle/blacklist/blacklister.hpp>
#include <straggle/blacklist/brief_block.hpp>
#include <straggle/blacklist/cluster_watch.hpp>
#include <straggle/blacklist/decision.hpp>
#include <straggle/blacklist/decision_log.hpp>
#include <straggle/blacklist/dominated.hpp>
#include <straggle/blacklist/forecast_weak.hpp>
#include <straggle/blacklist/guards.hpp>
#include <straggle/blacklist/keeper.hpp>
#include <straggle/blacklist/outlier_rules.hpp>
#include <straggle/blacklist/selection.hpp>
#include <straggle/blacklist/sentences.hpp>
#include <straggle/blacklist/timed_guards.hpp>
#include <straggle/blacklist/top_k_intersection.hpp>

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

#include <straggle/learn/boosted_trees.hpp>
#include <straggle/learn/boosted_trees_trainer.hpp>
#include <straggle/learn/classifier.hpp>
#include <straggle/learn/feature_matrix.hpp>
#include <straggle/learn/features.hpp>
#include <straggle/learn/forecast.hpp>
#include <straggle/learn/forecast_model.hpp>
#include <straggle/learn/kmeans.hpp>
#include <straggle/learn/labeling.hpp>
#include <straggle/learn/tree_node.hpp>
#include <straggle/learn/weak_nodes.hpp>

#include <straggle/assign/assigner.hpp>
#include <straggle/assign/assigner_options.hpp>
#include <straggle/assign/backup_fields.hpp>
#include <straggle/assign/backup_plan.hpp>
#include <straggle/assign/budget.hpp>
#include <straggle/assign/greedy_assignment.hpp>
#include <straggle/assign/kill_rule.hpp>
#include <straggle/assign/optimal_assignment.hpp>
#include <straggle/assign/profit.hpp>
#include <straggle/assign/reservation.hpp>

#include <straggle/evaluate/detection_metrics.hpp>
#include <straggle/evaluate/first_order.hpp>
#include <straggle/evaluate/power.hpp>
#include <straggle/evaluate/recording.hpp>
#include <straggle/evaluate/replay.hpp>
#include <straggle/evaluate/task_outcome.hpp>
#include <straggle/evaluate/usual_time.hpp>

#include <straggle/presets.hpp>
