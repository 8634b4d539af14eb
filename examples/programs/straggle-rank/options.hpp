// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The user's options.
#pragma once

#include "../readers/history.hpp"
#include "columns.hpp"
#include "exclusion.hpp"
#include "outlier_rules.hpp"
#include "window_calendar.hpp"

#include <straggle/blacklist/dominated.hpp>
#include <straggle/blacklist/slower_by.hpp>
#include <straggle/rank/rank_options.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace straggle_rank {

enum class normalizer { z, robust, leave_one_out, ratio, work_rate };
enum class output_format { table, json, csv };

/// `straggle::top_k_intersection` with or without a seed for its random fill.
struct top_k {
    std::size_t k = 1;
    std::optional<std::uint64_t> seed;
};

/// The library's own rule, which decides by attempts, not by rankings; see `straggle::dynamic_blacklist`.
struct by_slowdown {
    double least = 1.1;
};

/// The library's rule, or any of its selection policies on rankings.
using selection = std::variant<by_slowdown, straggle::blacklist::slower_by, straggle::blacklist::dominated,
                               straggle::blacklist::weakest_level, top_k, straggle::blacklist::dominated_fdr,
                               median_mad, leave_top_k_out, mean_plus_sigmas>;

/// Reads `dominated:0.5`, `top_k:3:42` and so on; a `failure` says what is wrong.
[[nodiscard]] selection parse_selection(std::string_view specification);

/// How much may be excluded.
struct limit_options {
    std::optional<double> max_fraction{}; ///< of all slots
    std::optional<std::size_t> max_nodes{};
    std::optional<double> min_healthy{}; ///< slots
    std::optional<std::string> domain{}; ///< regular expression on the node's name
    std::optional<double> fail_open{};   ///< share of ranked nodes
};

/// What is learned from a history for the days after it, or forecast for them.
struct future_options {
    std::string learn;    ///< file name of the model to write, empty: none
    std::string forecast; ///< file name of the model to use, empty: none
    std::int64_t day_ms = program::day_in_ms;
    std::uint32_t days = 30;   ///< of a period
    std::size_t look_back = 3; ///< days; 0: all of the period
    double least = 0.5;        ///< nodes with at least this probability are expected to be weak
    std::uint64_t seed = 1;    ///< for grouping the nodes
};

struct options {
    /// By attempts, not by rankings.
    [[nodiscard]] bool decides_by_slowdown() const { return std::holds_alternative<by_slowdown>(selection); }

    std::vector<std::string> files;      ///< and folders
    std::optional<readers::format> from; ///< empty: detected
    std::string join;                    ///< the output of sacct about a Nextflow trace
    std::vector<std::string> success;    ///< further words of CSV for it
    column_names columns;
    bool steps = false; ///< reports of steps, not of attempts; then few other options are used
    program::column_names<step_column> step_columns;
    std::optional<double> restart_cost, steps_left; ///< of the gang, in the unit of its reports

    std::string preset = "default";
    straggle_rank::normalizer normalizer = straggle_rank::normalizer::z;
    std::uint64_t min_tasks = 5;
    double confidence = 0.95;
    straggle::stats::deviation_kind deviation = straggle::stats::deviation_kind::sample;
    straggle::rank::edge_rule edge = straggle::rank::edge_rule::closed;
    straggle::completions counted = straggle::completions::first_of_task;
    bool asks_for_tasks = false; ///< `--first-completion`: not by default alone

    std::string selection_text = "slowdown:1.1";
    straggle_rank::selection selection = by_slowdown{};
    limit_options limits{.max_fraction = 0.2};

    std::optional<window_lengths> windows; ///< empty: the history as a whole
    bool finds_window = false;             ///< `--window auto`: derived from the history
    std::optional<time_unit> unit;         ///< empty: by the name of the column
    excluding exclusions;
    future_options future;

    output_format format = output_format::table;
    bool csv_safe = false; ///< no cell may be a formula
    std::string report;    ///< file name, empty: none
    std::string log;       ///< file name of the decisions, empty: none
    std::string replay;    ///< file name of decisions to be repeated; then nothing else is used
    bool causes = false;   ///< of lost time
    std::size_t top = 0;   ///< nodes in the table; 0: all of a small fleet
    bool quiet = false;
};

[[nodiscard]] std::string_view to_string(normalizer n);

/// Reads the command line.
/// @return nothing if help or version was requested, and printed
[[nodiscard]] std::optional<options> parse_command_line(int argc, char const* const* argv);

} // namespace straggle_rank
