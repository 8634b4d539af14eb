// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Jobs like those of the papers, and their arrival.
#pragma once

#include "draw.hpp"
#include "plan.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace cluster {

/// How large the jobs are.
struct workload_sizes {
    std::uint32_t maps = 120;
    std::uint32_t reduces = 30;
    double flops = 12e9;         ///< of a map of WordCount or BBP
    double spread = 0.1;         ///< deviation of the logarithm of a task's work
    double reduce_spread = 0.15; ///< keys are never evenly distributed
};

/// WordCount: reads little, computes much, and leaves next to nothing for the reduces.
job_spec word_count(workload_sizes const& sizes, draw& random);
/// Sort: reads and writes all its input, and the reduces fetch it over the network.
job_spec sort(workload_sizes const& sizes, draw& random);
/// Digits of pi (BBP): computes only; late digits take longer than early ones.
job_spec bbp(workload_sizes const& sizes, draw& random);

/// Makes jobs of these kinds in turn until a time, at exponential intervals, as Gridmix does.
std::vector<job_spec> arrivals(std::vector<std::string> const& kinds, workload_sizes const& sizes,
                               double mean_gap, double until, draw& random);

} // namespace cluster
