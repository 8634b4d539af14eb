// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The user's options.
#pragma once

#include "../common/length.hpp"
#include "../readers/history.hpp"
#include "columns.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace straggle_backup {

enum class output_format { table, json, csv };
enum class running_format { csv, json_lines };
enum class profit_policy { expected_gain, riski_2014 };
enum class gain_of { job, task }; ///< whose time counts
enum class assignment_rule { greedy, optimal };

struct options {
    std::string history;
    std::string running;                 ///< empty: by the history
    std::string nodes;                   ///< empty: those of the history
    std::optional<readers::format> from; ///< of the history; empty: detected
    std::string join;                    ///< the output of sacct about a Nextflow trace
    program::column_names<column> columns;
    program::column_names<running_column> running_columns;
    program::column_names<node_column> node_columns;
    straggle_backup::running_format running_format = running_format::csv;
    std::optional<program::time_unit> unit;  ///< empty: by the names of the columns
    std::string now;                         ///< as on the command line; empty: the latest known time
    std::optional<std::string> kind_pattern; ///< empty: what follows the last '/'

    std::optional<std::uint32_t> slots; ///< of each node
    std::vector<std::string> avoid;
    bool blacklist = true; ///< avoid nodes that are slow according to the history

    std::string detector = "node_aware";
    std::size_t neighbors = 10;
    double report_interval = 0; ///< seconds; 0: unknown
    double resolution = 0.02;   ///< possible error of a progress report
    double drift = 0.3;         ///< the factor by which the speed of a task changes

    profit_policy policy = profit_policy::expected_gain;
    double slot_price = 0.1;
    double least_win = 0.5;
    double launch = 0; ///< seconds
    gain_of gain = gain_of::job;

    assignment_rule rule = assignment_rule::optimal;
    std::uint32_t copies_per_task = 1;
    double most_copies = 0.1; ///< share of all slots
    double storm = 0.3;       ///< share of tasks that may be suspects
    double reserve = 0;       ///< share of all slots kept for copies

    output_format format = output_format::table;
    bool csv_safe = false; ///< no cell may be a formula
    bool quiet = false;
};

[[nodiscard]] std::string_view to_string(profit_policy p);
[[nodiscard]] std::string_view to_string(gain_of g);
[[nodiscard]] std::string_view to_string(assignment_rule r);

/// Reads the command line.
/// @return nothing if help or version was requested, and printed
[[nodiscard]] std::optional<options> parse_command_line(int argc, char const* const* argv);

} // namespace straggle_backup
