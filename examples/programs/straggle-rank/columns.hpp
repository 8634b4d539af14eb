// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which column of the file is what.
#pragma once

#include "../common/columns.hpp"

namespace straggle_rank {

/// The data of an attempt.
enum class column : std::size_t { job, node, start, end, duration, status, task, slots, input, waited };
/// The data of a rank's step.
enum class step_column : std::size_t {
    step,
    rank,
    node,
    section,
    stage,
    start,
    end,
    duration,
    waited,
    arrived
};

} // namespace straggle_rank

template <>
struct program::column_set<straggle_rank::step_column> {
    static constexpr std::array<std::string_view, 10> keys{"step",  "rank", "node",     "section", "stage",
                                                           "start", "end",  "duration", "waited",  "arrived"};
    static constexpr std::array<std::string_view, 10> names = keys;
};
template <>
struct program::column_set<straggle_rank::column> {
    static constexpr std::array<std::string_view, 10> keys{"job",    "node", "start", "end",   "duration",
                                                           "status", "task", "slots", "input", "waited"};
    static constexpr std::array<std::string_view, 10> names{
        "job", "node", "start_ms", "end_ms", "duration", "status", "task", "slots", "input_bytes", "waited"};
};

namespace straggle_rank {

using column_names = program::column_names<column>;

/// Where the columns are in a record.
class column_places : public program::column_places<column> {
  public:
    /// Looks up the names in a header; a `failure` names what is missing.
    column_places(column_names const& names, std::span<std::string const> header, std::string const& file)
        : program::column_places<column>(names, header, file) {
        require(names, column::job);
        require(names, column::node);
        if (!has(column::duration) && !(has(column::start) && has(column::end)))
            fail_without_times(has(column::start));
    }
};

} // namespace straggle_rank
