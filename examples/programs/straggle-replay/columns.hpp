// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which columns of the two files are what.
#pragma once

#include "../common/columns.hpp"

namespace straggle_replay {

/// The data of an attempt.
enum class column : std::size_t { job, task, attempt, node, start, end, status, input };
/// The data of a progress report.
enum class progress_column : std::size_t { job, task, attempt, time, progress };

} // namespace straggle_replay

template <>
struct program::column_set<straggle_replay::column> {
    static constexpr std::array<std::string_view, 8> keys{"job",   "task", "attempt", "node",
                                                          "start", "end",  "status",  "input"};
    static constexpr std::array<std::string_view, 8> names{"job",      "task",   "attempt", "node",
                                                           "start_ms", "end_ms", "status",  "input_bytes"};
};
template <>
struct program::column_set<straggle_replay::progress_column> {
    static constexpr std::array<std::string_view, 5> keys{"job", "task", "attempt", "time", "progress"};
    static constexpr std::array<std::string_view, 5> names{"job", "task", "attempt", "time_ms", "progress"};
};
