// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What the user asks for.
#pragma once

#include "../common/detectors.hpp"
#include "../common/length.hpp"
#include "../readers/history.hpp"
#include "columns.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace straggle_replay {

enum class output_format { table, json, csv };

struct options {
    std::string file, progress_file;        ///< empty: simulated, or no progress is known
    std::optional<std::uint64_t> simulated; ///< the seed
    std::optional<readers::format> from;    ///< nothing: found out
    std::string join;                       ///< what sacct says of a Nextflow trace
    program::column_names<column> columns;
    program::column_names<progress_column> progress_columns;
    std::optional<program::time_unit> unit; ///< nothing: as the columns are named
    bool with_input = false;                ///< tell detectors how much tasks read

    std::vector<std::string> detectors; ///< as on the command line
    std::int64_t interval_ms = 1000;    ///< 0: whenever something happens
    double quantile = 0.5;              ///< of the times in a job: usual
    double usual_seconds = 0;           ///< above 0: that is usual
    std::uint64_t min_tasks = 2;
    double threshold = 1.2;

    output_format format = output_format::table;
    std::string report; ///< file name, empty for none
    bool quiet = false;
};

/// What detectors are told.
[[nodiscard]] inline program::known_of_tasks known_of(options const& o) {
    program::known_of_tasks known;
    known.threshold = o.threshold;
    known.usual_seconds = o.usual_seconds;
    return known;
}

/// Reads the command line.
/// @return nothing when help or version was asked for, and printed
[[nodiscard]] std::optional<options> parse_command_line(int argc, char const* const* argv);

} // namespace straggle_replay
