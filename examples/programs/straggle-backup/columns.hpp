// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which columns of the three files are what.
#pragma once

#include "../common/columns.hpp"

namespace straggle_backup {

/// The data of an attempt in the past.
enum class column : std::size_t { job, task, node, start, end, duration, status, input, kind };
/// The data of a running one.
enum class running_column : std::size_t {
    job,
    task,
    node,
    start,
    time,
    progress,
    input,
    speculative,
    copies,
    kind
};
/// The data of a node.
enum class node_column : std::size_t { node, slots, free, state, rack };

} // namespace straggle_backup

template <>
struct program::column_set<straggle_backup::column> {
    static constexpr std::array<std::string_view, 9> keys{"job",      "task",   "node",  "start", "end",
                                                          "duration", "status", "input", "kind"};
    static constexpr std::array<std::string_view, 9> names{
        "job", "task", "node", "start_ms", "end_ms", "duration", "status", "input_bytes", "kind"};
};
template <>
struct program::column_set<straggle_backup::running_column> {
    static constexpr std::array<std::string_view, 10> keys{
        "job", "task", "node", "start", "time", "progress", "input", "speculative", "copies", "kind"};
    static constexpr std::array<std::string_view, 10> names{
        "job",      "task",        "node",        "start_ms", "time_ms",
        "progress", "input_bytes", "speculative", "copies",   "kind"};
};
template <>
struct program::column_set<straggle_backup::node_column> {
    static constexpr std::array<std::string_view, 5> keys{"node", "slots", "free", "state", "rack"};
    static constexpr std::array<std::string_view, 5> names = keys;
};
