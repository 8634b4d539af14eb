// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: inputs and outputs of a comparison within a job.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/rank/detail/job_memory.hpp>

#include <cmath>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::detail {

// What is believed about a node while its attempts are examined.
struct node_belief {
    double log_slowdown = 0; // estimated
    double proved = 0;       // the same, shrunk by its uncertainty
    double usual = 0;        // log slowdown by design: that of its machine class
    double charge = 0;       // log slowdown it was excluded for; recovery is tested against it
    double pace = 0;         // mean log ratio of its ended attempts to their siblings' usual time
    double paced = 0;        // number of attempts in that mean
    double since = -1e300;   // earlier attempts do not count
    bool probing = false;    // its copies count

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.log_slowdown, self.proved, self.usual, self.charge, self.pace, self.paced, self.since);
        a(self.probing);
        for (double const x : {self.log_slowdown, self.proved, self.usual, self.charge, self.pace})
            a.expect(std::fabs(x) < most_log);
        a.expect(self.paced >= 0 && self.paced <= 32 && is_finite(self.since));
    }
};

// Score of one job on one node for the detectors, in standard deviations of one task.
struct cell_score {
    std::uint32_t node = 0;
    double slow = 0;     // against the tolerated slowdown
    double now = 0;      // against the proven slowdown, if larger
    double restored = 0; // against the charge, with the sign reversed
    double tasks = 0;    // combined weight of its attempts

    void scale(double by) noexcept {
        slow *= by;
        now *= by;
        restored *= by;
        tasks *= by;
    }
};

// Result of the race of one copy on a node on trial.
struct race_score {
    std::uint32_t node = 0;
    double log_evidence = 0;
};

// A running attempt of the job being examined.
struct running_time {
    std::uint64_t task = no_task;
    double age = 0;
    double start = 0;
    std::uint32_t node = 0;
    std::int32_t ticks = 0; // log of its age, if that is above 0
    float input = unknown_input;
    bool copy = false;
};

} // namespace straggle::detail
