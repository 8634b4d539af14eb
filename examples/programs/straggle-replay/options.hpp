// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The user's options.
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
    std::optional<readers::format> from;    ///< empty: detected
    std::string join;                       ///< the output of sacct about a Nextflow trace
    program::column_names<column> columns;
    program::column_names<progress_column> progress_columns;
    std::optional<program::time_unit> unit; ///< empty: by the names of the columns
    bool with_input = false;                ///< pass to detectors how much tasks read

    std::vector<std::string> detectors; ///< as on the command line
    std::int64_t interval_ms = 1000;    ///< 0: at every event
    double quantile = 0.5;              ///< of the times in a job: the usual time
    double usual_seconds = 0;           ///< above 0: used as the usual time instead
    std::uint64_t min_tasks = 2;
    double threshold = 1.2;

    output_format format = output_format::table;
    std::string report; ///< file name, empty: none
    bool quiet = false;
};

/// What detectors are passed.
[[nodiscard]] inline program::known_of_tasks known_of(options const& o) {
    program::known_of_tasks known;
    known.threshold = o.threshold;
    known.usual_seconds = o.usual_seconds;
    return known;
}

/// Reads the command line.
/// @return nothing if help or version was requested, and printed
[[nodiscard]] std::optional<options> parse_command_line(int argc, char const* const* argv);

} // namespace straggle_replay
