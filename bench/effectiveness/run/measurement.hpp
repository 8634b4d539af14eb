// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The record of one run: a row of the raw results.
#pragma once

#include "../cluster/engine.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lab {

/// The columns of the raw results.
inline constexpr std::string_view measurement_header =
    "scenario,policy,seed,jobs,mean,median,p99,useful,wasted,attempts,copies,won,healthy_out,weak_out,weak,"
    "makespan,first_wait,decisions,decision_us,healthy_load,stuck,digest,due,missed,others";

struct measurement {
    std::string scenario, policy;
    std::uint64_t seed = 0;
    std::uint64_t jobs = 0;
    double mean = 0, median = 0, p99 = 0; ///< of job times, seconds
    double useful = 0, wasted = 0;        ///< slot-seconds
    std::uint64_t attempts = 0, copies = 0, won = 0;
    double healthy_out = 0, weak_out = 0, weak = 0; ///< node-hours
    double makespan = 0, first_wait = 0;            ///< seconds
    std::uint64_t decisions = 0;
    double decision_us = 0; ///< microseconds of each, on this computer
    double healthy_load = 0;
    bool stuck = false;
    std::uint64_t digest = 0;
    std::uint64_t due = 0;    ///< jobs with a deadline
    std::uint64_t missed = 0; ///< of those
    double others = 0;        ///< mean time of jobs without one, seconds
};

/// Everything except scenario, policy, seed and load.
measurement measure(result const& of);

/// A row, without an end of line.
std::string to_row(measurement const& m);
/// @throws std::runtime_error if it is not a row
measurement from_row(std::string const& row);

/// How much longer than under the base policy, and how certain that is: the ratio of the means over seeds,
/// minus 1, and half of its 95 % interval (linearized; the report draws bootstrap samples).
struct comparison {
    double point = 0;
    double half_width = 0;
};
comparison compare(std::vector<double> const& with, std::vector<double> const& base);

} // namespace lab
