// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Nine months of a cluster whose machines become weak and recover, under one scheduler that avoids some.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ml_na {

/// The slowdown of the weakest machines; that of others lies between 1 and this, by how weak they are.
struct severity {
    char const* name;
    double cpu, disk;
};

/// The measurements of a run, by index: of the jobs that arrived, and of the machines that were out (avoided
/// or on probation), in months 5 to 9.
enum measure : std::size_t {
    mean,          ///< response time, seconds
    p99,           ///< the same: the 99th percentile
    first_week,    ///< mean response time of the jobs that arrived in the first week of a month
    precision,     ///< share of the time machines are out in which they are weak
    recall,        ///< share of the time machines are weak in which they are out
    recall_new,    ///< the same, in the first week of being weak
    recall_old,    ///< after it
    machines_out,  ///< mean
    machines_weak, ///< mean
    measures
};

/// Runs it under a scheduler (see `make_scheduler`): a number for each `measure`, NaN where there is none.
std::vector<double> observe(severity const& how_weak, std::string const& scheduler, std::uint64_t seed);

/// Precision and recall of an observer who knows which machines are weak on the first day of each month, and
/// assumes that nothing changes within it. No cluster is run.
std::vector<double> judge_first_days(std::uint64_t seed);

} // namespace ml_na
