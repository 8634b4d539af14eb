// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What the user asks for.
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
enum class gain_of { job, task }; ///< whose time is won
enum class assignment_rule { greedy, optimal };

struct options {
    std::string history;
    std::string running;                 ///< empty: what the history says
    std::string nodes;                   ///< empty: those of the history
    std::optional<readers::format> from; ///< of the history; nothing: found out
    std::string join;                    ///< what sacct says of a Nextflow trace
    program::column_names<column> columns;
    program::column_names<running_column> running_columns;
    program::column_names<node_column> node_columns;
    straggle_backup::running_format running_format = running_format::csv;
    std::optional<program::time_unit> unit;  ///< nothing: as the columns are named
    std::string now;                         ///< as on the command line; empty: the latest time there is
    std::optional<std::string> kind_pattern; ///< nothing: what stands behind the last '/'

    std::optional<std::uint32_t> slots; ///< of each node
    std::vector<std::string> avoid;
    bool blacklist = true; ///< avoid what the history says is slow

    std::string detector = "node_aware";
    std::size_t neighbors = 10;
    double report_interval = 0; ///< seconds; 0: unknown
    double resolution = 0.02;   ///< what a report of progress may be off by
    double drift = 0.3;         ///< by how much, as a factor, the speed of a task changes

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
    bool csv_safe = false; ///< no cell is a formula
    bool quiet = false;
};

[[nodiscard]] std::string_view to_string(profit_policy p);
[[nodiscard]] std::string_view to_string(gain_of g);
[[nodiscard]] std::string_view to_string(assignment_rule r);

/// Reads the command line.
/// @return nothing when help or version was asked for, and printed
[[nodiscard]] std::optional<options> parse_command_line(int argc, char const* const* argv);

} // namespace straggle_backup
