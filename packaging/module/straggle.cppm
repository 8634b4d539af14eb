// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The library as a C++20 module: `import straggle;` instead of includes, with the same names, those of all rooms, and
/// nothing of `straggle::detail`. Made by make_module.py from the headers; do not edit.
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
#include <straggle/evaluate.hpp>
#include <straggle/gang.hpp>
#include <straggle/learn.hpp>
#include <straggle/papers/dsb_2019.hpp>
#include <straggle/papers/evaluation_2019.hpp>
#include <straggle/papers/ml_na_2017.hpp>
#include <straggle/papers/riski_2014.hpp>
export module straggle;

// clang-format off
export namespace straggle {

// straggle/record/attempt_status.hpp
using straggle::attempt_status;
namespace record {
using straggle::record::was_stopped;
}

// straggle/base/projection.hpp
namespace base {
using straggle::base::no_field;
using straggle::base::projection_of;
using straggle::base::identifier;
using straggle::base::duration_like;
using straggle::base::time_like;
using straggle::base::clock_time;
}

// straggle/record/field.hpp
namespace record {
using straggle::record::job_field;
using straggle::record::node_field;
using straggle::record::task_field;
using straggle::record::duration_field;
using straggle::record::time_field;
using straggle::record::input_field;
using straggle::record::label_field;
using straggle::record::flag_field;
using straggle::record::count_field;
}

// straggle/record/reason_counts.hpp
namespace record {
using straggle::record::countable_reason;
using straggle::record::reason_counts;
}

// straggle/record/attempt.hpp
namespace record {
using straggle::record::status_field;
}
using straggle::attempt_fields;
using straggle::task_traits;
namespace record {
using straggle::record::has_task_traits;
using straggle::record::timed_fields;
using straggle::record::attempt_fields_for;
}
using straggle::rejection;
namespace record {
using straggle::record::rejection_count;
}
using straggle::reason_count;
using straggle::to_string;
using straggle::attempt_counts;

// straggle/record/attempt_event.hpp
using straggle::no_task;
using straggle::ended_attempt;
using straggle::running_attempt;
using straggle::running_goal;

// straggle/base/contract.hpp
namespace base {
using straggle::base::contract_violation;
using straggle::base::contract_handler;
using straggle::base::set_contract_handler;
}

// straggle/base/outcome.hpp
using straggle::status;
using straggle::outcome;

// straggle/base/frame.hpp
using straggle::frame_kind;

// straggle/base/storable.hpp
namespace base {
using straggle::base::storable_identifier;
using straggle::base::identifier_form;
}

// straggle/base/bytes.hpp
namespace base {
using straggle::base::byte_writer;
}
using straggle::byte_writer;
using straggle::byte_reader;
namespace base {
using straggle::base::opened_frame;
}
using straggle::open_frame;

// straggle/base/interner.hpp
using straggle::owned_identifier_t;
using straggle::interner;

// straggle/record/node.hpp
namespace record {
using straggle::record::condition;
using straggle::record::condition_field;
}
using straggle::node_fields;
namespace record {
using straggle::record::node_fields_for;
}

// straggle/record/running.hpp
namespace record {
using straggle::record::progress_field;
using straggle::record::weight_field;
}
using straggle::running_fields;
namespace record {
using straggle::record::running_fields_for;
using straggle::record::running_attempt_fields_for;
using straggle::record::running_rejection;
using straggle::record::running_rejection_count;
using straggle::record::reason_count;
using straggle::record::to_string;
using straggle::record::running_counts;
}

// straggle/record/cluster_load.hpp
using straggle::cluster_load;

// straggle/record/comparison.hpp
using straggle::comparison;

// straggle/record/limit.hpp
namespace record {
using straggle::record::limit;
using straggle::record::unlimited;
}

// straggle/record/node_state.hpp
using straggle::node_state;
namespace record {
using straggle::record::node_state_count;
}

// straggle/record/slowdown.hpp
using straggle::slowdown;
namespace record {
using straggle::record::slow_guess;
}

// straggle/record/suspect.hpp
using straggle::suspect;

// straggle/stats/confidence.hpp
namespace stats {
using straggle::stats::confidence_level;
}

// straggle/stats/student_t.hpp
namespace stats {
using straggle::stats::student_t_quantile_upper;
using straggle::stats::student_t_quantile;
using straggle::stats::student_t_cdf_upper;
using straggle::stats::student_t_cdf;
using straggle::stats::student_t_critical;
}

// straggle/stats/interval.hpp
namespace stats {
using straggle::stats::interval;
using straggle::stats::deviation_kind;
using straggle::stats::standard_deviation;
using straggle::stats::t_interval;
using straggle::stats::interval_rule;
}

// straggle/stats/order.hpp
namespace stats {
using straggle::stats::quantile_in_place;
using straggle::stats::median_in_place;
using straggle::stats::normal_consistency;
using straggle::stats::median_and_mad;
using straggle::stats::median_and_mad_in_place;
}

// straggle/stats/empirical.hpp
namespace stats {
using straggle::stats::empirical_view;
using straggle::stats::empirical;
}

// straggle/assign/kill_rule.hpp
namespace assign {
using straggle::assign::kill_rule;
using straggle::assign::to_string;
using straggle::assign::kills_straggler;
}

// straggle/assign/reservation.hpp
namespace assign {
using straggle::assign::node_slots;
using straggle::assign::reservation;
}

// straggle/assign/assigner_options.hpp
namespace assign {
using straggle::assign::assigner_options;
}

// straggle/assign/job_goal.hpp
namespace assign {
using straggle::assign::job_goal;
}

// straggle/assign/backup_fields.hpp
namespace assign {
using straggle::assign::distributed_time;
using straggle::assign::distributed_time_field;
using straggle::assign::plain_time_field;
using straggle::assign::node_state_field;
using straggle::assign::job_goal_field;
using straggle::assign::runs_on_field;
using straggle::assign::straggler_fields;
using straggle::assign::backup_node_fields;
using straggle::assign::placement_test;
using straggle::assign::straggler_fields_for;
using straggle::assign::backup_node_fields_for;
using straggle::assign::backup_predictor;
}

// straggle/assign/profit.hpp
namespace assign {
using straggle::assign::backup_case;
using straggle::assign::backup_value;
using straggle::assign::profit_policy;
using straggle::assign::expected_gain;
}

// straggle/assign/backup_plan.hpp
namespace assign {
using straggle::assign::backup_refusal;
using straggle::assign::node_refusal_count;
using straggle::assign::backup_option;
using straggle::assign::node_counts;
using straggle::assign::backup_choice;
using straggle::assign::limit_refusals;
using straggle::assign::backup_plan;
}

// straggle/assign/copy_limits.hpp
namespace assign {
using straggle::assign::backup_request;
using straggle::assign::copy_limit;
using straggle::assign::copies_per_task;
using straggle::assign::speculative_cap;
using straggle::assign::retry_budget_options;
using straggle::assign::retry_budget;
using straggle::assign::suspect_share_limit;
}

// straggle/assign/greedy_assignment.hpp
namespace assign {
using straggle::assign::assignable_pairs;
using straggle::assign::assigned_pair;
using straggle::assign::admit_all;
using straggle::assign::matching;
using straggle::assign::assignment_in_turn;
using straggle::assign::greedy_assignment;
}

// straggle/assign/suspect_fields.hpp
namespace assign {
using straggle::assign::suspect_fields;
}

// straggle/assign/assigner.hpp
namespace assign {
using straggle::assign::assigner;
}

// straggle/assign/race_record_options.hpp
namespace assign {
using straggle::assign::race_record_options;
}

// straggle/assign/race_record.hpp
namespace assign {
using straggle::assign::log_guess;
using straggle::assign::race_claim;
using straggle::assign::race_record;
}

// straggle/assign/copy_worth.hpp
namespace assign {
using straggle::assign::copy_case;
using straggle::assign::copy_worth;
using straggle::assign::worth_of;
using straggle::assign::deadline_gain;
using straggle::assign::gain_of;
using straggle::assign::claim_of;
}

// straggle/assign/optimal_assignment.hpp
namespace assign {
using straggle::assign::optimal_assignment;
}

// straggle/assign/rank_places.hpp
namespace assign {
using straggle::assign::free_place;
using straggle::assign::ranked_place;
using straggle::assign::rank_places;
using straggle::assign::fill_places;
}

// straggle/base/archive.hpp
namespace base {
using straggle::base::writing_archive;
using straggle::base::reading_archive;
using straggle::base::write_fields;
using straggle::base::read_fields;
}

// straggle/base/library_version.hpp
using straggle::version;
using straggle::library_version;

// straggle/base/published.hpp
using straggle::published;

// straggle/base/random.hpp
namespace base {
using straggle::base::random_engine;
using straggle::base::uniform_below;
using straggle::base::uniform_unit;
using straggle::base::sample_to_front;
}

// straggle/blacklist/node_verdict.hpp
namespace blacklist {
using straggle::blacklist::node_row;
using straggle::blacklist::cause;
using straggle::blacklist::has;
using straggle::blacklist::spared;
using straggle::blacklist::spared_count;
using straggle::blacklist::to_string;
using straggle::blacklist::failure_rate;
using straggle::blacklist::failing_job;
using straggle::blacklist::node_verdict;
using straggle::blacklist::node_weighing;
}

// straggle/rank/p_cores.hpp
namespace rank {
using straggle::rank::edge_rule;
using straggle::rank::to_string;
using straggle::rank::points_at;
using straggle::rank::ranker;
using straggle::rank::p_cores;
}

// straggle/stats/moments.hpp
namespace stats {
using straggle::stats::moments;
}

// straggle/stats/tick_moments.hpp
namespace stats {
using straggle::stats::tick_squares;
using straggle::stats::tick_sums;
using straggle::stats::basic_tick_moments;
using straggle::stats::tick_moments;
}

// straggle/rank/normalizer.hpp
namespace rank {
using straggle::rank::affine_scale;
using straggle::rank::moment_normalizer;
using straggle::rank::sibling_normalizer;
using straggle::rank::input_normalizer;
using straggle::rank::normalizer;
using straggle::rank::z_score;
using straggle::rank::work_rate;
}

// straggle/rank/performance.hpp
namespace rank {
using straggle::rank::score_moments;
using straggle::rank::node_performance;
using straggle::rank::performance_of;
using straggle::rank::node_sample;
using straggle::rank::interval_estimator;
using straggle::rank::mean_interval;
using straggle::rank::slowdown_interval;
}

// straggle/rank/ranking.hpp
using straggle::ranked_node;
namespace rank {
using straggle::rank::unranked_node;
using straggle::rank::degenerate_job;
}
using straggle::node_ranking;
namespace rank {
using straggle::rank::ranking_from;
}

// straggle/blacklist/selection.hpp
namespace blacklist {
using straggle::blacklist::candidate;
using straggle::blacklist::selection_note;
using straggle::blacklist::selection_scratch;
using straggle::blacklist::selection_policy;
using straggle::blacklist::weakest_level;
}

// straggle/blacklist/decision.hpp
using straggle::verdict;
using straggle::blacklist_decision;

// straggle/blacklist/limits.hpp
namespace blacklist {
using straggle::blacklist::fleet_view;
using straggle::blacklist::node_limit;
using straggle::blacklist::slots_projection;
using straggle::blacklist::one_slot;
using straggle::blacklist::at_most;
using straggle::blacklist::share_of_slots;
using straggle::blacklist::at_most_slot_fraction;
using straggle::blacklist::at_least_healthy_slots;
using straggle::blacklist::one_per_domain;
using straggle::blacklist::fail_open;
}

// straggle/blacklist/dominated.hpp
namespace blacklist {
using straggle::blacklist::dominated;
using straggle::blacklist::clearly_dominated;
using straggle::blacklist::dominated_fdr;
}

// straggle/blacklist/slower_by.hpp
namespace blacklist {
using straggle::blacklist::slower_by;
}

// straggle/blacklist/blacklister.hpp
using straggle::blacklister;

// straggle/rank/slowdown_evidence_options.hpp
using straggle::slowdown_evidence_options;

// straggle/rank/slowdown_evidence.hpp
namespace rank {
using straggle::rank::evidence_counts;
}
using straggle::slowdown_evidence;

// straggle/blacklist/node_stage_options.hpp
using straggle::node_stage_options;

// straggle/blacklist/node_stage.hpp
using straggle::node_stage;

// straggle/blacklist/dynamic_blacklist.hpp
using straggle::dynamic_blacklist_options;
using straggle::dynamic_blacklist_counts;
using straggle::dynamic_blacklist;

// straggle/blacklist/exclusion.hpp
namespace blacklist {
using straggle::blacklist::window_evidence;
using straggle::blacklist::exclusion;
using straggle::blacklist::exclusion_policy;
using straggle::blacklist::rerank_every_window;
using straggle::blacklist::escalating;
using straggle::blacklist::probation;
using straggle::blacklist::hysteresis;
}

// straggle/blacklist/forecast_weak.hpp
namespace blacklist {
using straggle::blacklist::forecast_weak;
using straggle::blacklist::either;
}

// straggle/blacklist/rolling_blacklister.hpp
using straggle::rolling_blacklister;
using straggle::rolling_blacklister_of;

// straggle/rank/monitor_counts.hpp
using straggle::monitor_counts;

// straggle/rank/rank_options.hpp
using straggle::completions;
using straggle::rank_options;

// straggle/rank/monitor_options.hpp
using straggle::score_baseline;
using straggle::monitor_options;

// straggle/rank/monitor.hpp
using straggle::monitor;
using straggle::monitor_of;

// straggle/blacklist/ranking_stage.hpp
namespace blacklist {
using straggle::blacklist::ranking_stage;
}

// straggle/blacklist/timed_limits.hpp
namespace blacklist {
using straggle::blacklist::rate_limit;
using straggle::blacklist::slot_demand;
using straggle::blacklist::release_on_demand;
}

// straggle/blacklist/top_k_intersection.hpp
namespace blacklist {
using straggle::blacklist::deterministic_fill;
using straggle::blacklist::fill_from;
using straggle::blacklist::top_k_intersection;
}

// straggle/blacklist/windowed_blacklist.hpp
using straggle::windowed_blacklist;

// straggle/detect/detector.hpp
namespace detect {
using straggle::detect::running_task;
using straggle::detect::job_node;
using straggle::detect::finding;
using straggle::detect::job_view;
using straggle::detect::task_scope;
using straggle::detect::detection_note;
using straggle::detect::to_string;
using straggle::detect::detector_scratch;
using straggle::detect::straggler_detector;
}

// straggle/detect/average_time.hpp
namespace detect {
using straggle::detect::average_time;
}

// straggle/detect/cap.hpp
namespace detect {
using straggle::detect::cap;
}

// straggle/detect/flink.hpp
namespace detect {
using straggle::detect::flink;
}

// straggle/detect/hierarchical.hpp
namespace detect {
using straggle::detect::hierarchical;
}

// straggle/detect/job_progress.hpp
namespace detect {
using straggle::detect::job_progress;
}

// straggle/predict/progress.hpp
namespace predict {
using straggle::predict::least_telling_progress;
using straggle::predict::average_rate_remaining;
}

// straggle/detect/remaining_time.hpp
namespace detect {
using straggle::detect::time_estimate;
using straggle::detect::predictor;
using straggle::detect::time_estimates;
using straggle::detect::average_rate_estimate;
using straggle::detect::mean_replacement;
}

// straggle/detect/largest_gain.hpp
namespace detect {
using straggle::detect::gain_state;
using straggle::detect::gain_judgement;
using straggle::detect::largest_gain;
}

// straggle/detect/late.hpp
namespace detect {
using straggle::detect::late;
}

// straggle/predict/time_outlook.hpp
namespace predict {
using straggle::predict::log_factor;
using straggle::predict::log_factor_of;
using straggle::predict::time_points;
using straggle::predict::time_outlook;
}

// straggle/detect/late_cause.hpp
namespace detect {
using straggle::detect::late_by;
using straggle::detect::late_by_count;
using straggle::detect::late_cause;
using straggle::detect::node_case;
using straggle::detect::late_facts;
using straggle::detect::cause_of;
}

// straggle/detect/late_with_caps.hpp
namespace detect {
using straggle::detect::late_scale;
using straggle::detect::late_with_caps;
}

// straggle/detect/mantri.hpp
namespace detect {
using straggle::detect::uncertain_time;
using straggle::detect::uncertain_time_estimate;
using straggle::detect::mantri;
}

// straggle/detect/min_progress.hpp
namespace detect {
using straggle::detect::min_progress;
}

// straggle/detect/over_median.hpp
namespace detect {
using straggle::detect::over_median;
}

// straggle/detect/progress_gap.hpp
namespace detect {
using straggle::detect::progress_gap;
}

// straggle/detect/speculative_lag.hpp
namespace detect {
using straggle::detect::speculative_lag;
using straggle::detect::task_lag;
}

// straggle/detect/suspect_list.hpp
namespace detect {
using straggle::detect::suspect_iterator;
using straggle::detect::suspect_list;
}

// straggle/detect/straggler_scan.hpp
namespace detect {
using straggle::detect::by_siblings;
using straggle::detect::straggler_scan;
}

// straggle/predict/sibling_times_options.hpp
namespace predict {
using straggle::predict::sibling_times_options;
}

// straggle/predict/sibling_times.hpp
namespace predict {
using straggle::predict::sized_task;
using straggle::predict::time_parts;
using straggle::predict::sibling_times;
}

// straggle/detect/tail_of_siblings.hpp
namespace detect {
using straggle::detect::tail_of_siblings;
}

// straggle/detect/without_copies.hpp
namespace detect {
using straggle::detect::without_copies;
}

// straggle/mitigate/copy_rows.hpp
namespace mitigate {
using straggle::mitigate::running_row;
using straggle::mitigate::place_row;
using straggle::mitigate::new_task;
using straggle::mitigate::ended_row;
using straggle::mitigate::time_range;
using straggle::mitigate::late_task;
using straggle::mitigate::copy_row;
using straggle::mitigate::job_row;
using straggle::mitigate::kill_row;
using straggle::mitigate::copy_notes;
}

// straggle/mitigate/effect.hpp
namespace mitigate {
using straggle::mitigate::action_kind;
using straggle::mitigate::action_kind_count;
using straggle::mitigate::to_string;
using straggle::mitigate::effect;
using straggle::mitigate::effect_options;
}

// straggle/mitigate/effect_meter.hpp
namespace mitigate {
using straggle::mitigate::effect_meter;
}

// straggle/mitigate/lease.hpp
namespace mitigate {
using straggle::mitigate::lease;
}

// straggle/mitigate/speculator_options.hpp
namespace mitigate {
using straggle::mitigate::speculator_options;
}

// straggle/mitigate/mitigator_options.hpp
namespace mitigate {
using straggle::mitigate::by_options;
using straggle::mitigate::action_limit;
}
using straggle::mitigator_options;

// straggle/mitigate/plan.hpp
namespace mitigate {
using straggle::mitigate::planned_node;
using straggle::mitigate::planned_suspect;
using straggle::mitigate::planned_copy;
using straggle::mitigate::planned_move;
using straggle::mitigate::planned_kill;
using straggle::mitigate::planned_job;
using straggle::mitigate::planned_place;
using straggle::mitigate::plan_note;
using straggle::mitigate::plan_note_count;
}
using straggle::mitigation_plan;

// straggle/mitigate/node_states.hpp
namespace mitigate {
using straggle::mitigate::node_view;
using straggle::mitigate::node_states;
}

// straggle/mitigate/mitigator_counts.hpp
namespace mitigate {
using straggle::mitigate::mitigator_counts;
}

// straggle/gang/end_watch.hpp
namespace gang {
using straggle::gang::end_watch;
}

// straggle/predict/progress_trust.hpp
namespace predict {
using straggle::predict::progress_track;
using straggle::predict::progress_worth;
using straggle::predict::progress_trust;
using straggle::predict::left_by_both;
using straggle::predict::is_soon_by_both;
}

// straggle/mitigate/speculator.hpp
namespace mitigate {
using straggle::mitigate::runs_anywhere;
using straggle::mitigate::speculator;
}

// straggle/mitigate/stages.hpp
namespace mitigate {
using straggle::mitigate::stages;
}

// straggle/mitigate/mitigator.hpp
namespace mitigate {
using straggle::mitigate::last_load;
}
using straggle::mitigator;
using straggle::mitigator_of;

// straggle/mitigate/reason.hpp
namespace mitigate {
using straggle::mitigate::append_reason;
using straggle::mitigate::reason;
}

// straggle/predict/calibration.hpp
namespace predict {
using straggle::predict::calibration_options;
using straggle::predict::predicted_range;
using straggle::predict::calibration;
}

// straggle/predict/similarity.hpp
namespace predict {
using straggle::predict::factor_kind;
using straggle::predict::missing_factor;
using straggle::predict::is_missing_factor;
using straggle::predict::largest_factor;
using straggle::predict::is_factor_value;
using straggle::predict::factor_difference;
using straggle::predict::weighted_distance;
using straggle::predict::distance;
using straggle::predict::weighted_euclidean;
using straggle::predict::factor_similarities;
}

// straggle/predict/factors.hpp
namespace predict {
using straggle::predict::numeric_field;
using straggle::predict::categorical_field;
using straggle::predict::numeric_factor;
using straggle::predict::categorical_factor;
using straggle::predict::numeric;
using straggle::predict::categorical;
using straggle::predict::factor_list;
using straggle::predict::factors;
using straggle::predict::unknown_category;
using straggle::predict::factors_for;
using straggle::predict::factor_reader;
using straggle::predict::factor_reader_of;
}

// straggle/predict/weights.hpp
namespace predict {
using straggle::predict::real_similarity;
using straggle::predict::weight_objective;
using straggle::predict::weight_options;
using straggle::predict::weight_scratch;
using straggle::predict::weight_fit;
}

// straggle/predict/node_weights.hpp
namespace predict {
using straggle::predict::node_weight_options;
using straggle::predict::node_weights;
}

// straggle/predict/profile_store.hpp
namespace predict {
using straggle::predict::profile_store_options;
using straggle::predict::neighbor;
using straggle::predict::profile_record;
using straggle::predict::profile_counts;
using straggle::predict::nearest_scratch;
using straggle::predict::profile_store;
}

// straggle/predict/task_profile.hpp
namespace predict {
using straggle::predict::task_profile;
using straggle::predict::task_profile_for;
}

// straggle/predict/similar_tasks.hpp
namespace predict {
using straggle::predict::similar_tasks_options;
using straggle::predict::prediction_scratch;
using straggle::predict::similar_tasks;
using straggle::predict::similar_tasks_of;
}

// straggle/rank/normalize.hpp
namespace rank {
using straggle::rank::normalized_attempt;
using straggle::rank::normalized_attempts;
using straggle::rank::normalize;
}

// straggle/rank/rank_nodes.hpp
using straggle::node_ranker;
using straggle::rank_nodes;

// straggle/rank/sibling_normalizers.hpp
namespace rank {
using straggle::rank::robust_z;
using straggle::rank::ratio_to_median;
using straggle::rank::leave_one_out_z;
}

// straggle/stats/confusion_matrix.hpp
namespace stats {
using straggle::stats::confusion_matrix;
}

// straggle/evaluate/usual_time.hpp
namespace evaluate {
using straggle::evaluate::straggler_rule;
using straggle::evaluate::usual_time;
using straggle::evaluate::find_usual_time;
using straggle::evaluate::straggler_share;
using straggle::evaluate::guess_errors;
using straggle::evaluate::harmless_errors;
using straggle::evaluate::tolerance_of_guess;
using straggle::evaluate::most_tolerant_threshold;
}

// straggle/evaluate/task_outcome.hpp
namespace evaluate {
using straggle::evaluate::task_outcome;
using straggle::evaluate::killed_attempts;
using straggle::evaluate::judging_options;
using straggle::evaluate::task_verdict;
using straggle::evaluate::outcome_rejection;
using straggle::evaluate::outcome_rejection_count;
using straggle::evaluate::reason_count;
using straggle::evaluate::to_string;
using straggle::evaluate::judge;
}

// straggle/evaluate/detection_metrics.hpp
namespace evaluate {
using straggle::evaluate::detection_counts;
using straggle::evaluate::slot_times;
using straggle::evaluate::detection_metrics;
using straggle::evaluate::job_tail;
}

// straggle/evaluate/power.hpp
namespace evaluate {
using straggle::evaluate::node_load;
using straggle::evaluate::power_model;
using straggle::evaluate::power_source;
using straggle::evaluate::schedule_energy;
using straggle::evaluate::energy_sweep;
}

// straggle/evaluate/first_order.hpp
namespace evaluate {
using straggle::evaluate::case_shares;
using straggle::evaluate::detector_profile;
using straggle::evaluate::first_order_options;
using straggle::evaluate::case_cost;
using straggle::evaluate::first_order_cost;
using straggle::evaluate::largest_straggler_ratio;
using straggle::evaluate::shares_of;
using straggle::evaluate::predict_cost;
using straggle::evaluate::rank_by;
using straggle::evaluate::rank_detectors;
}

// straggle/gang/step_fields.hpp
namespace gang {
using straggle::gang::step_fields;
using straggle::gang::step_fields_for;
using straggle::gang::step_rejection;
using straggle::gang::reason_count;
using straggle::gang::to_string;
using straggle::gang::step_counts;
}

// straggle/gang/step_watch.hpp
namespace gang {
using straggle::gang::step_watch_options;
using straggle::gang::fault;
using straggle::gang::straggler;
using straggle::gang::step_loss;
using straggle::gang::replacement_cost;
using straggle::gang::replacement;
using straggle::gang::step_watch;
using straggle::gang::step_watch_of;
}

// straggle/learn/feature_matrix.hpp
namespace learn {
using straggle::learn::feature_matrix;
}

// straggle/learn/tree_node.hpp
namespace learn {
using straggle::learn::tree_node;
}

// straggle/learn/boosted_trees.hpp
namespace learn {
using straggle::learn::feature_use;
using straggle::learn::boosted_trees;
}

// straggle/learn/classifier.hpp
namespace learn {
using straggle::learn::classifier;
}

// straggle/learn/boosted_trees_trainer.hpp
namespace learn {
using straggle::learn::boosted_trees_options;
using straggle::learn::boosted_trees_trainer;
}

// straggle/learn/features.hpp
namespace learn {
using straggle::learn::idle_days;
using straggle::learn::feature_options;
using straggle::learn::day_feature;
using straggle::learn::features_per_day;
using straggle::learn::feature_of_column;
using straggle::learn::day_of_column;
using straggle::learn::node_days;
using straggle::learn::complete_features;
using straggle::learn::complete;
}

// straggle/learn/forecast.hpp
namespace learn {
using straggle::learn::node_period;
using straggle::learn::forecast_from;
using straggle::learn::node_forecast;
using straggle::learn::beats_repeat;
using straggle::learn::forecaster;
using straggle::learn::forecast_cell;
using straggle::learn::forecast_table;
}

// straggle/learn/forecast_model.hpp
namespace learn {
using straggle::learn::forecast_model;
}

// straggle/learn/kmeans.hpp
namespace learn {
using straggle::learn::kmeans_options;
using straggle::learn::clustering;
using straggle::learn::kmeans;
using straggle::learn::calinski_harabasz;
}

// straggle/learn/labeling.hpp
namespace learn {
using straggle::learn::group_profile;
using straggle::learn::weakest_groups_first;
using straggle::learn::label_weak;
using straggle::learn::label_classes;
}

// straggle/learn/weak_nodes.hpp
namespace learn {
using straggle::learn::group_count_score;
using straggle::learn::choose_group_count;
using straggle::learn::weak_nodes_options;
using straggle::learn::weak_nodes;
using straggle::learn::weak_node_finder;
}

// straggle/learn/outlook.hpp
namespace learn {
using straggle::learn::outlook_options;
using straggle::learn::forecast_record;
using straggle::learn::outlook;
}

// straggle/papers/dsb_2019.hpp
namespace papers::dsb_2019 {
using straggle::papers::dsb_2019::straggler;
using straggle::papers::dsb_2019::ranking;
using straggle::papers::dsb_2019::blacklist;
using straggle::papers::dsb_2019::loop_of;
using straggle::papers::dsb_2019::nodes;
}

// straggle/papers/evaluation_2019.hpp
namespace papers::evaluation_2019 {
using straggle::papers::evaluation_2019::hadoop_default;
using straggle::papers::evaluation_2019::late;
using straggle::papers::evaluation_2019::late_as_printed;
using straggle::papers::evaluation_2019::hierarchical;
using straggle::papers::evaluation_2019::after_speculative_lag;
using straggle::papers::evaluation_2019::straggler;
using straggle::papers::evaluation_2019::usual_quantile;
using straggle::papers::evaluation_2019::judging;
using straggle::papers::evaluation_2019::machines;
using straggle::papers::evaluation_2019::shares_for_normal_tasks;
using straggle::papers::evaluation_2019::equation_11;
using straggle::papers::evaluation_2019::equation_12;
using straggle::papers::evaluation_2019::tolerates_as_printed;
using straggle::papers::evaluation_2019::tolerance_as_printed;
}

// straggle/papers/ml_na_2017.hpp
namespace papers::ml_na_2017 {
using straggle::papers::ml_na_2017::days_per_month;
using straggle::papers::ml_na_2017::labeling;
using straggle::papers::ml_na_2017::classifier;
using straggle::papers::ml_na_2017::other_classifier;
using straggle::papers::ml_na_2017::tuples;
using straggle::papers::ml_na_2017::label;
using straggle::papers::ml_na_2017::forecaster;
}

// straggle/papers/riski_2014.hpp
namespace papers::riski_2014 {
using straggle::papers::riski_2014::real_similarity_as_printed;
using straggle::papers::riski_2014::corrected;
using straggle::papers::riski_2014::as_printed;
using straggle::papers::riski_2014::predictor_options;
using straggle::papers::riski_2014::predictor;
using straggle::papers::riski_2014::predictor_of;
using straggle::papers::riski_2014::detector;
using straggle::papers::riski_2014::profit;
using straggle::papers::riski_2014::profit_as_printed;
using straggle::papers::riski_2014::kills_straggler;
using straggle::papers::riski_2014::assigner;
}

} // namespace straggle
