// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The history in memory: what ran where and when, and what it reported; names replaced by small numbers.
#pragma once

#include "../common/csv_table.hpp"
#include "../common/moment.hpp"
#include "options.hpp"
#include "recording.hpp"

#include <straggle/base/interner.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace straggle_replay {

using program::moment;
using program::unreadable_rows;

/// One attempt to run a task. Empty is unknown.
struct attempt {
    std::optional<std::uint32_t> job, task, node;
    std::uint32_t number = 0;
    std::optional<moment> start, end;
    straggle::attempt_status status = straggle::attempt_status::success;
    double input = 0; ///< 0: unknown
};

/// One report of progress. Empty is unknown; a name that occurs in no attempt is `unknown_name`.
struct report {
    std::optional<std::uint32_t> job, task;
    std::uint32_t number = 0;
    std::optional<moment> time;
    std::optional<double> progress;
};
inline constexpr std::uint32_t unknown_name = 0xffffffffu;

using recording = replaying::recording<std::uint32_t, std::uint32_t, moment>;

/// Rows that could not be converted to an attempt or a report.
struct left_out_rows {
    unreadable_rows unparsable, out_of_range;
    [[nodiscard]] std::uint64_t count() const { return unparsable.count + out_of_range.count; }
};

struct history {
    std::string file, progress_file;      ///< their names in messages; the second empty if there is none
    std::vector<attempt> attempts;        ///< by row, except unreadable ones
    straggle::interner<std::string> jobs; ///< names
    straggle::interner<std::string> nodes;
    std::vector<std::string> read; ///< sentences about the log, unless it is CSV
    left_out_rows no_attempts, no_reports;
    std::optional<straggle_replay::recording> tape; ///< of the attempts, and the reports if there are any
};

/// Reads the files, or simulates a history; a `failure` names file and line.
[[nodiscard]] history read_history(options const& o, bool show_progress);

/// Records attempts and reports. @param numbered whether attempts, and whether reports, name the attempt
void put_on_tape(history& h, std::vector<report> const& reports, bool attempts_numbered,
                 bool reports_numbered, bool with_input);

} // namespace straggle_replay
