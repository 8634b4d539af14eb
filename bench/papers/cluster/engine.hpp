// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A small MapReduce-like cluster on SimGrid: one master, machines with slots, jobs in phases and waves,
/// progress reports, copies of which the first to finish wins, faults that come and go, energy.
#pragma once

#include "plan.hpp"
#include "policy.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace cluster {

struct job_result {
    std::string kind;
    double arrival = 0;
    double end = 0;
    double took() const { return end - arrival; }
};

struct result {
    std::vector<job_result> jobs;
    std::vector<attempt_record>
        attempts; ///< all of them, in the order in which the master learned of their ends
    double makespan = 0;
    double joules = 0; ///< of all machines until the makespan, by SimGrid's energy plug-in
    std::uint32_t copies = 0;
    std::uint32_t won = 0; ///< copies that finished first
};

/// Runs a plan to its end. Once per process only: SimGrid's engine cannot be restarted (see isolated.hpp).
result run(plan const& what, policy& decides);

} // namespace cluster
