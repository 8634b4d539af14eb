// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The library as a C++20 module: `import straggle;` instead of `#include <straggle/straggle.hpp>`, with the same
/// names and nothing of `straggle::detail`. Made by make_module.py from the headers; do not edit.
///
/// A module has no macros. The version is `straggle::library_version`; `STRAGGLE_NO_INT128` and the others of
/// `config.hpp` are given to the compiler when it compiles this file, and to all other units of the program. Units
/// that import and units that include can be linked together: the types are the same.
///
/// By hand, with clang (tested with 19; FLAGS must be the same in all lines):
///
///     clang++ -std=c++20 FLAGS -Iinclude --precompile packaging/module/straggle.cppm -o straggle.pcm
///     clang++ -std=c++20 FLAGS -fmodule-file=straggle=straggle.pcm main.cpp straggle.pcm -o main
///
/// With CMake 3.28 or newer, whose support for modules our tests do not cover, after add_subdirectory or
/// FetchContent:
///
///     add_library(straggle_module)
///     target_sources(straggle_module PUBLIC FILE_SET CXX_MODULES
///                    BASE_DIRS ${straggle_SOURCE_DIR}/packaging/module
///                    FILES ${straggle_SOURCE_DIR}/packaging/module/straggle.cppm)
///     target_link_libraries(straggle_module PUBLIC straggle::straggle)
///
/// Standard headers are best included above the import. g++ 12 compiles this file, but loses the names it exports.

module;
#include <straggle/straggle.hpp>
export module straggle;

// clang-format off
export namespace straggle {

// straggle/version.hpp
using straggle::version;
using straggle::library_version;

// straggle/record/field.hpp
using straggle::no_field;
using straggle::projection_of;
using straggle::identifier;
using straggle::duration_like;
using straggle::time_like;
using straggle::clock_time;
using straggle::job_field;
using straggle::node_field;
using straggle::task_field;
using straggle::duration_field;
using straggle::time_field;
using straggle::input_field;

// straggle/record/attempt.hpp
using straggle::attempt_status;
using straggle::status_field;
using straggle::attempt_fields;
using straggle::task_traits;
using straggle::has_task_traits;
using straggle::timed_fields;
using straggle::attempt_fields_for;
using straggle::rejection;
using straggle::rejection_count;
using straggle::to_string;
using straggle::attempt_counts;

// straggle/base/contract.hpp
using straggle::contract_violation;
using straggle::contract_handler;
using straggle::set_contract_handler;

// straggle/base/outcome.hpp
using straggle::status;
using straggle::outcome;

// straggle/base/storable.hpp
using straggle::storable_identifier;
using straggle::identifier_form;

// straggle/base/bytes.hpp
using straggle::frame_kind;
using straggle::byte_writer;
using straggle::byte_reader;
using straggle::opened_frame;
using straggle::open_frame;

// straggle/base/interner.hpp
using straggle::owned_identifier_t;
using straggle::interner;

// straggle/base/published.hpp
using straggle::published;

// straggle/base/random.hpp
using straggle::random_engine;
using straggle::uniform_below;
using straggle::uniform_unit;
using straggle::sample_to_front;

// straggle/record/running.hpp
using straggle::progress_field;
using straggle::copies_field;
using straggle::running_fields;
using straggle::running_fields_for;
using straggle::running_rejection;
using straggle::running_rejection_count;
using straggle::running_counts;

// straggle/stats/confidence.hpp
using straggle::confidence_level;

// straggle/stats/student_t.hpp
using straggle::student_t_quantile_upper;
using straggle::student_t_quantile;
using straggle::student_t_cdf_upper;
using straggle::student_t_cdf;
using straggle::student_t_critical;

// straggle/stats/interval.hpp
using straggle::interval;
using straggle::deviation_kind;
using straggle::standard_deviation;
using straggle::t_interval;
using straggle::interval_rule;

// straggle/stats/order.hpp
using straggle::quantile_in_place;
using straggle::median_in_place;
using straggle::normal_consistency;
using straggle::median_and_mad;
using straggle::median_and_mad_in_place;

// straggle/stats/empirical.hpp
using straggle::empirical_view;
using straggle::counts_below;
using straggle::empirical;

// straggle/stats/moments.hpp
using straggle::moments;

// straggle/stats/tick_moments.hpp
using straggle::tick_squares;
using straggle::tick_sums;
using straggle::basic_tick_moments;
using straggle::tick_moments;

// straggle/rank/p_cores.hpp
using straggle::edge_rule;
using straggle::points_at;
using straggle::p_cores;

// straggle/rank/interval_dag.hpp
using straggle::dag_edges;
using straggle::interval_dag;

// straggle/rank/normalizer.hpp
using straggle::affine_scale;
using straggle::moment_normalizer;
using straggle::sibling_normalizer;
using straggle::input_normalizer;
using straggle::normalizer;
using straggle::z_score;
using straggle::work_rate;

// straggle/rank/performance.hpp
using straggle::score_moments;
using straggle::node_performance;
using straggle::performance_of;

// straggle/rank/rank_options.hpp
using straggle::completions;
using straggle::rank_options;

// straggle/rank/ranking.hpp
using straggle::ranked_node;
using straggle::unranked_node;
using straggle::degenerate_job;
using straggle::node_ranking;
using straggle::ranking_from;

// straggle/monitor/monitor.hpp
using straggle::monitor_counts;
using straggle::monitor;
using straggle::monitor_of;

// straggle/rank/normalize.hpp
using straggle::normalized_attempt;
using straggle::normalized_attempts;
using straggle::normalize;

// straggle/rank/rank_nodes.hpp
using straggle::node_ranker;
using straggle::rank_nodes;

// straggle/rank/sibling_normalizers.hpp
using straggle::robust_z;
using straggle::ratio_to_median;
using straggle::leave_one_out_z;

// straggle/predict/calibration.hpp
using straggle::calibration_options;
using straggle::predicted_range;
using straggle::calibration;

// straggle/predict/similarity.hpp
using straggle::factor_kind;
using straggle::missing_factor;
using straggle::is_missing_factor;
using straggle::largest_factor;
using straggle::is_factor_value;
using straggle::factor_difference;
using straggle::weighted_distance;
using straggle::factor_similarities;

// straggle/predict/factors.hpp
using straggle::numeric_field;
using straggle::categorical_field;
using straggle::numeric_factor;
using straggle::categorical_factor;
using straggle::numeric;
using straggle::categorical;
using straggle::factor_list;
using straggle::factors;
using straggle::unknown_category;
using straggle::factors_for;
using straggle::factor_reader;
using straggle::factor_reader_of;

// straggle/predict/weights.hpp
using straggle::similarity_rule;
using straggle::real_similarity;
using straggle::weight_objective;
using straggle::weight_options;
using straggle::weight_scratch;
using straggle::weight_fit;

// straggle/predict/node_weights.hpp
using straggle::node_weight_options;
using straggle::node_weights;

// straggle/predict/profile_store.hpp
using straggle::profile_store_options;
using straggle::neighbor;
using straggle::profile_record;
using straggle::profile_counts;
using straggle::nearest_scratch;
using straggle::profile_store;

// straggle/predict/progress.hpp
using straggle::progress_estimator;
using straggle::reading_rejection;
using straggle::reading_rejection_count;
using straggle::reading_counts;
using straggle::task_readings;
using straggle::least_telling_progress;
using straggle::linear_remaining;
using straggle::linear;
using straggle::node_scaled;
using straggle::remaining_at;

// straggle/predict/task_profile.hpp
using straggle::task_profile;
using straggle::task_profile_for;

// straggle/predict/similar_tasks.hpp
using straggle::similar_tasks_options;
using straggle::prediction_scratch;
using straggle::similar_tasks;
using straggle::similar_tasks_of;

// straggle/predict/smoothed_progress.hpp
using straggle::exponential_rate;
using straggle::simple_exponential_options;
using straggle::simple_exponential;

// straggle/predict/recent_rate.hpp
using straggle::slowing;

// straggle/blacklist/selection.hpp
using straggle::candidate;
using straggle::selection_note;
using straggle::selection_scratch;
using straggle::selection_policy;
using straggle::weakest_level;

// straggle/blacklist/decision.hpp
using straggle::verdict;
using straggle::blacklist_decision;

// straggle/blacklist/dominated.hpp
using straggle::dominated;
using straggle::clearly_dominated;
using straggle::dominated_fdr;

// straggle/blacklist/limits.hpp
using straggle::fleet_view;
using straggle::capacity_guard;
using straggle::slots_projection;
using straggle::one_slot;
using straggle::no_guard;
using straggle::optional_guard;
using straggle::at_most;
using straggle::at_most_slot_fraction;
using straggle::at_least_healthy_slots;
using straggle::one_per_domain;
using straggle::fail_open;

// straggle/blacklist/blacklister.hpp
using straggle::blacklister;

// straggle/blacklist/cooldown.hpp
using straggle::brief_block_options;
using straggle::brief_block;

// straggle/blacklist/exclusion.hpp
using straggle::custody;
using straggle::window_evidence;
using straggle::sentence;
using straggle::sentence_policy;
using straggle::rerank_every_window;
using straggle::escalating;
using straggle::probation;
using straggle::hysteresis;

// straggle/blacklist/dynamic_blacklist.hpp
using straggle::blacklist_keeper;
using straggle::keep_blacklist;

// straggle/mitigate/cluster_watch.hpp
using straggle::cluster_watch;

// straggle/blacklist/decision_log.hpp
using straggle::logged_verdict;
using straggle::logged_sentence;
using straggle::decision_record;
using straggle::decision_difference;
using straggle::record_of;
using straggle::replay_decision;

// straggle/blacklist/forecast_weak.hpp
using straggle::forecast_weak;
using straggle::either;

// straggle/blacklist/outlier_rules.hpp
using straggle::median_mad;
using straggle::leave_top_k_out;
using straggle::mean_plus_sigmas;

// straggle/blacklist/timed_limits.hpp
using straggle::rate_limit;
using straggle::slot_demand;
using straggle::release_on_demand;

// straggle/blacklist/top_k_intersection.hpp
using straggle::deterministic_fill;
using straggle::top_k_intersection;

// straggle/detect/detector.hpp
using straggle::running_task;
using straggle::job_node;
using straggle::suspect;
using straggle::job_view;
using straggle::task_scope;
using straggle::detection_note;
using straggle::detector_scratch;
using straggle::straggler_detector;

// straggle/detect/average_time.hpp
using straggle::average_time;

// straggle/detect/cap.hpp
using straggle::cap;

// straggle/detect/flink.hpp
using straggle::flink;

// straggle/detect/hierarchical.hpp
using straggle::hierarchical;

// straggle/detect/job_progress.hpp
using straggle::job_progress;

// straggle/detect/remaining_time.hpp
using straggle::time_estimate;
using straggle::linear_estimate;
using straggle::node_scaled_estimate;
using straggle::by_row;
using straggle::mean_replacement;
using straggle::cautious_replacement;

// straggle/detect/largest_gain.hpp
using straggle::gain_state;
using straggle::gain_judgement;
using straggle::largest_gain;

// straggle/detect/late.hpp
using straggle::late;
using straggle::late_eval_2019;

// straggle/detect/late_with_caps.hpp
using straggle::late_scale;
using straggle::late_with_caps;

// straggle/detect/mantri.hpp
using straggle::uncertain_time;
using straggle::uncertain_time_estimate;
using straggle::mantri;

// straggle/detect/min_progress.hpp
using straggle::min_progress;

// straggle/detect/node_aware.hpp
using straggle::no_prediction;
using straggle::node_aware;

// straggle/detect/over_median.hpp
using straggle::over_median;

// straggle/detect/progress_gap.hpp
using straggle::progress_gap;

// straggle/detect/speculative_lag.hpp
using straggle::speculative_lag;
using straggle::task_lag;

// straggle/detect/straggler_scan.hpp
using straggle::straggler_scan;

// straggle/detect/without_copies.hpp
using straggle::without_copies;

// straggle/learn/feature_matrix.hpp
using straggle::feature_matrix;

// straggle/learn/tree_node.hpp
using straggle::tree_node;

// straggle/learn/boosted_trees.hpp
using straggle::feature_use;
using straggle::boosted_trees;

// straggle/learn/classifier.hpp
using straggle::classifier;

// straggle/learn/boosted_trees_trainer.hpp
using straggle::boosted_trees_options;
using straggle::boosted_trees_trainer;

// straggle/learn/features.hpp
using straggle::idle_days;
using straggle::feature_options;
using straggle::mlna_2017;
using straggle::day_feature;
using straggle::features_per_day;
using straggle::feature_of_column;
using straggle::day_of_column;
using straggle::node_days;
using straggle::complete_features;
using straggle::complete;

// straggle/learn/forecast.hpp
using straggle::node_period;
using straggle::forecast_from;
using straggle::node_forecast;
using straggle::class_counts;
using straggle::forecaster;
using straggle::forecast_cell;
using straggle::forecast_table;

// straggle/learn/forecast_model.hpp
using straggle::forecast_model;

// straggle/learn/kmeans.hpp
using straggle::kmeans_options;
using straggle::clustering;
using straggle::kmeans;
using straggle::calinski_harabasz;

// straggle/learn/labeling.hpp
using straggle::group_profile;
using straggle::weakest_groups_first;
using straggle::label_weak;
using straggle::label_classes;

// straggle/learn/weak_nodes.hpp
using straggle::group_count_score;
using straggle::choose_group_count;
using straggle::weak_nodes_options;
using straggle::weak_nodes;
using straggle::weak_node_finder;

// straggle/assign/greedy_assignment.hpp
using straggle::assignable_pairs;
using straggle::assigned_pair;
using straggle::admit_all;
using straggle::assignment_solver;
using straggle::assignment_in_turn;
using straggle::greedy_assignment;

// straggle/assign/kill_rule.hpp
using straggle::kill_rule;
using straggle::kills_straggler;

// straggle/assign/optimal_assignment.hpp
using straggle::optimal_assignment;

// straggle/assign/reservation.hpp
using straggle::node_slots;
using straggle::reservation;

// straggle/assign/assigner_options.hpp
using straggle::assignment_rule;
using straggle::assigner_options;

// straggle/assign/backup_fields.hpp
using straggle::node_state;
using straggle::state_in;
using straggle::distributed_time;
using straggle::distributed_time_field;
using straggle::plain_time_field;
using straggle::count_field;
using straggle::node_state_field;
using straggle::runs_on_field;
using straggle::straggler_fields;
using straggle::backup_node_fields;
using straggle::backup_traits;
using straggle::has_backup_traits;
using straggle::straggler_fields_for;
using straggle::backup_node_fields_for;
using straggle::backup_predictor;

// straggle/assign/profit.hpp
using straggle::backup_case;
using straggle::backup_value;
using straggle::profit_policy;
using straggle::riski_reading;
using straggle::riski_2014;
using straggle::expected_gain;
using straggle::price;

// straggle/assign/backup_plan.hpp
using straggle::backup_refusal;
using straggle::node_refusal_count;
using straggle::backup_option;
using straggle::node_counts;
using straggle::backup_choice;
using straggle::budget_refusals;
using straggle::backup_plan;

// straggle/assign/copy_limits.hpp
using straggle::cluster_load;
using straggle::backup_request;
using straggle::copy_budget;
using straggle::no_budget;
using straggle::optional_budget;
using straggle::copies_per_task;
using straggle::share_of_slots;
using straggle::extra_load_limits;
using straggle::extra_load;
using straggle::storm_guard;

// straggle/assign/assigner.hpp
using straggle::assigner;

// straggle/evaluate/usual_time.hpp
using straggle::straggler_rule;
using straggle::usual_time;
using straggle::find_usual_time;
using straggle::straggler_share;
using straggle::guess_errors;
using straggle::harmless_errors;
using straggle::tolerance_of_guess;
using straggle::most_tolerant_slowdown;
using straggle::tolerance_as_printed;

// straggle/evaluate/task_outcome.hpp
using straggle::task_outcome;
using straggle::killed_attempts;
using straggle::judging;
using straggle::task_verdict;
using straggle::outcome_rejection;
using straggle::outcome_rejection_count;
using straggle::judge;

// straggle/evaluate/detection_metrics.hpp
using straggle::detection_counts;
using straggle::slot_times;
using straggle::detection_metrics;
using straggle::job_tail;

// straggle/evaluate/power.hpp
using straggle::node_load;
using straggle::power_model;
using straggle::power_source;
using straggle::schedule_energy;
using straggle::energy_sweep;

// straggle/evaluate/first_order.hpp
using straggle::case_shares;
using straggle::detector_profile;
using straggle::first_order_options;
using straggle::case_cost;
using straggle::first_order_cost;
using straggle::largest_straggler_ratio;
using straggle::shares_of;
using straggle::predict_cost;
using straggle::rank_by;
using straggle::rank_detectors;

// straggle/evaluate/recording.hpp
using straggle::recorded_fields;
using straggle::reading_fields;
using straggle::attempt_number_field;
using straggle::recorded_fields_for;
using straggle::reading_fields_for;
using straggle::recording_fault;
using straggle::recording_fault_count;
using straggle::reading_fault;
using straggle::reading_fault_count;
using straggle::fault_counts;
using straggle::recording_counts;
using straggle::reading_fault_counts;
using straggle::task_fate;
using straggle::recording;

// straggle/evaluate/replay.hpp
using straggle::job_scan;
using straggle::job_scans;
using straggle::starting_job;
using straggle::replay_knowledge;
using straggle::replay_counts;
using straggle::replayer;

// straggle/papers/dsb_2019.hpp
using straggle::dsb_2019_preset;
using straggle::dsb_2019;

} // namespace straggle
