// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Recognizes gangs for which only durations are reported: all tasks of a job end together.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/record/attempt_event.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace straggle::inline STRAGGLE_ABI::gang {

/// Recognizes gangs from the ends of their tasks.
///
/// Source: ours. The ends of a job with at least four tasks on three nodes coincide if they lie within one
/// percent of its longest task. Tasks that end independently and whose times vary by as little as one percent
/// do so in one job out of ten; if five jobs do, and nine out of ten of all jobs, their tasks wait for each
/// other. Their durations then say nothing about nodes.
///
/// Attempts that say how long they waited are left out. Times that are all whole numbers may be rounded: jobs
/// shorter than 100 units are then left out, too.
///
/// @par Cost
/// O(1) each. Remembers the 32 jobs whose tasks ended last; allocates nothing
class end_watch {
  public:
    /// Adds an attempt that ended. Only original attempts that succeeded count.
    void observe(ended_attempt const& attempt) noexcept {
        if (attempt.as != attempt_status::success || attempt.copy) return;
        is_rounded_ = is_rounded_ && std::floor(attempt.start) == attempt.start &&
                      std::floor(attempt.end) == attempt.end;
        job* oldest = jobs_.data();
        for (job& j : jobs_) {
            if (j.tasks > 0 && j.key == attempt.job) return j.add(attempt);
            if (j.last_end < oldest->last_end) oldest = &j;
        }
        judge(*oldest, together_, judged_);
        *oldest = job{.key = attempt.job};
        oldest->add(attempt);
    }
    /// Whether the tasks of jobs end together, far beyond chance.
    [[nodiscard]] bool looks_like_gangs() const noexcept {
        double together = together_, judged = judged_;
        for (job const& j : jobs_) judge(j, together, judged);
        return together > 4.5 && together >= 0.9 * judged;
    }

  private:
    struct job {
        std::uint64_t key = 0;
        std::uint32_t tasks = 0, nodes = 0;
        std::array<std::uint32_t, 3> on{}; // the first nodes
        double first_end = 0, last_end = -(std::numeric_limits<double>::max)(), longest = 0;
        bool says_waits = false;

        void add(ended_attempt const& a) noexcept {
            first_end = tasks == 0 ? a.end : (std::min)(first_end, a.end);
            last_end = (std::max)(last_end, a.end);
            longest = (std::max)(longest, a.end - a.start);
            says_waits = says_waits || a.waited > 0;
            ++tasks;
            auto const known = on.begin() + static_cast<std::ptrdiff_t>(nodes);
            if (nodes < on.size() && std::find(on.begin(), known, a.node) == known) on[nodes++] = a.node;
        }
    };
    void judge(job const& j, double& together, double& judged) const noexcept {
        constexpr double fading = 63.0 / 64;
        if (j.tasks < 4 || j.nodes < j.on.size() || j.says_waits || (is_rounded_ && j.longest < 100)) return;
        judged = judged * fading + 1;
        together *= fading;
        if (j.last_end - j.first_end <= 0.01 * j.longest) together += 1;
    }

    std::array<job, 32> jobs_{};
    double together_ = 0, judged_ = 0; // numbers of jobs, which fade: five are a little less than that
    bool is_rounded_ = true;
};

} // namespace straggle::gang
