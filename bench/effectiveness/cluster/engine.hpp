// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A discrete-event cluster: one master, one queue in order of arrival, nodes with slots, heartbeats, copies
/// of which the first to finish wins, failures, nodes that go away, faults that change speed. It does what a
/// policy decides.
#pragma once

#include "plan.hpp"
#include "policy.hpp"

#include <cstdint>
#include <vector>

namespace lab {

/// The true causes of an attempt's time, as factors.
struct cause_truth {
    std::uint32_t job = 0;
    std::uint32_t task = 0;
    std::uint32_t number = 0;
    double node = 1;  ///< by its node
    double crowd = 1; ///< by those that ran beside it
    double work = 1;  ///< seconds on a slot of speed 1, luck included
};

/// The result of a run.
struct result {
    std::vector<double> job_times; ///< by job; of its last stage, from the arrival of the first; no services
    std::uint64_t due = 0;         ///< jobs with a deadline
    std::uint64_t missed = 0;      ///< of those
    double others = 0;             ///< mean time of jobs without a deadline; 0: none
    double makespan = 0;
    bool stuck = false; ///< stopped after a hundred times the time it needed

    double useful = 0; ///< slot-seconds of attempts that finished their task
    double wasted = 0; ///< of all others
    std::uint64_t attempts = 0;
    std::uint64_t copies = 0;
    std::uint64_t won = 0;  ///< copies that finished their task
    double healthy_out = 0; ///< node-seconds out of service of nodes that were healthy then
    double weak_out = 0;    ///< of nodes that were not: 1.2 times as slow as by design, or failing all
    double weak = 0;        ///< node-seconds of all nodes that were not healthy
    double first_wait = 0;  ///< mean time from a task's arrival to its first start
    std::uint64_t decisions = 0;
    double decision_time = 0;          ///< seconds that all of them took on this computer
    std::vector<cause_truth> causes{}; ///< of all attempts
    std::uint64_t digest = 0; ///< of all attempts: who ran where, from when to when, and how it ended
};

/// Runs a plan to its end.
result run(plan const& what, policy& decides);

} // namespace lab
