// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The task history in memory: one record per attempt, names replaced by small numbers.
#pragma once

#include "columns.hpp"

#include <straggle/base/interner.hpp>
#include <straggle/record/attempt.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace straggle_rank {

/// One attempt to run a task. Empty is unknown.
template <class Time>
struct attempt {
    std::optional<Time> start, end, duration;
    std::optional<std::uint32_t> job, node, task;
    std::optional<double> input;
    straggle::attempt_status status = straggle::attempt_status::success;
};

/// A row that could not become a record.
struct unreadable_rows {
    std::uint64_t count = 0;
    std::vector<std::size_t> lines; ///< of the first few
};

struct history {
    std::string file;
    /// Exact ticks if every time in the file has at most nine decimal places, else floating point.
    std::variant<std::vector<attempt<std::int64_t>>, std::vector<attempt<double>>> attempts;
    straggle::interner<std::string> jobs, nodes, tasks;
    std::vector<double> slots; ///< by node; the largest number the file gives
    bool has_durations = false;
    std::string end_column; ///< where the file says when attempts ended; empty if it does not
    int places = 0;         ///< ticks are units of the file times 10^-places
    unreadable_rows unparsable_number, not_finite;
    std::uint64_t rows = 0;
};

struct reading_options {
    column_names columns;
    bool with_input = false; ///< whether a broken input size matters
    bool show_progress = false;
};

/// Reads a file, `-` for standard input; a `failure` names file and line.
[[nodiscard]] history read_history(std::string const& file, reading_options const& options);

} // namespace straggle_rank
