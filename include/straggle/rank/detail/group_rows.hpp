// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: what goes into a look at a job, and what comes out.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/rank/detail/job_memory.hpp>

#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::detail {

// What is believed of a node when its attempts are looked at.
struct node_belief {
    double log_slowdown = 0; // estimated
    double proved = 0;       // the same, as far as it is no chance
    double usual = 0;        // log of the slowdown that is by design: that of the class of the machine
    double charge = 0;       // log of the slowdown it was excluded for; recovery is proved against it
    double pace = 0;         // log of how many times its siblings' usual time an attempt took that ended
    double paced = 0;        // how many attempts that is told by
    double since = -1e300;   // attempts that began before count for nothing
    bool probing = false;    // its copies count
};

// A score of one job on one node for the detectors, in standard deviations of one task.
struct cell_score {
    std::uint32_t node = 0;
    double slow = 0;     // against the slowdown that is tolerated
    double now = 0;      // against the one that is proved, where that is more
    double restored = 0; // against the charge, the other way round
    double tasks = 0;    // what all are worth

    void scale(double by) noexcept {
        slow *= by;
        now *= by;
        restored *= by;
        tasks *= by;
    }
};

// What the copies of one task say of a node whose copies count.
struct race_score {
    std::uint32_t node = 0;
    double log_evidence = 0;
};

// An attempt that runs, of the job that is looked at.
struct running_time {
    std::uint32_t node = 0;
    std::uint64_t task = no_task;
    double age = 0;
    double start = 0;
    bool copy = false;
    float input = unknown_input;
    std::int32_t ticks = 0; // of its age, if that is above 0
};

} // namespace straggle::detail
