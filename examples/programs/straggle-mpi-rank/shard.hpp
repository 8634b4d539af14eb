// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What one rank sees of the history.
#pragma once

#include <straggle/monitor/monitor.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace straggle_mpi {

//! [record]
// One row of the history; empty is unknown.
struct attempt {
    std::optional<std::string_view> job{}, node{};
    std::optional<std::int64_t> start_ms{}, end_ms{}; // integers: sums are exact
    straggle::attempt_status status = straggle::attempt_status::success;
};

constexpr straggle::attempt_fields fields{.job = &attempt::job,
                                          .node = &attempt::node,
                                          .start = &attempt::start_ms,
                                          .end = &attempt::end_ms,
                                          .status = &attempt::status};
using shard = decltype(straggle::monitor_of<attempt>(fields));

// Room for any number of pairs: how many one process has must not matter to the answer.
inline shard new_shard() {
    return straggle::monitor_of<attempt>(
        fields, {.max_pairs = SIZE_MAX, .max_jobs = SIZE_MAX, .max_nodes = SIZE_MAX});
}
//! [record]

/// Rows that could not become an attempt.
struct unreadable_rows {
    std::uint64_t count = 0;
    std::uint64_t first_line = UINT64_MAX;
};

/// What one rank knows.
struct share {
    shard seen = new_shard();
    unreadable_rows unreadable;
};

/// Takes in the attempts whose place in the file, counted from 0, is `rank` modulo `ranks`; the jobs are then
/// spread over all ranks, the hardest case. A `failure` if the file is no such table.
void read_share(std::string const& file, int rank, int ranks, share& to);

} // namespace straggle_mpi
