// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The oldest rule: a task is a straggler when it has done a fifth less than the average task.
#pragma once

#include <straggle/detect/suspects.hpp>

namespace straggle {

/// Suspects tasks whose progress is less than the average progress less `gap`; least progress first.
///
/// Source: Hadoop before LATE (`SPECULATIVE_GAP`), the *Default* mechanism of the evaluation framework (Phan
/// et al. 2019), equations 5-6. Equation 6 averages over "the total tasks within the same category", and so
/// does Hadoop: a finished task counts as 1, one that waits as 0. That is `task_scope::all`. In a job of
/// several waves it suspects every task of the last wave that has just begun; `task_scope::running`, which
/// averages over the running tasks alone, does not see the others. Hadoop writes `>=` where the paper has a
/// strict comparison; here it is strict. Neither looks at how long a task has run: combine it with
/// `task_lag`.
///
/// Verdict: value = progress, threshold = average - gap, baseline = average.
/// @par Cost O(tasks), plus sorting the suspects; allocates nothing in the steady state
/// @par Guarantees deterministic
struct progress_gap {
    static constexpr std::string_view name = "progress_gap";

    double gap = 0.2;                  ///< of progress, in [0, 1]; Hadoop's
    task_scope over = task_scope::all; ///< which tasks the average is taken over

    detection_note detect(job_view const& job, detector_scratch&, std::vector<suspect>& out) const {
        std::span<running_task const> const tasks = job.running;
        double known = 0;
        for (running_task const& t : tasks) known += t.progress >= 0 ? 1.0 : 0.0;
        double n = known, done = 0;
        if (over != task_scope::running) {
            done = static_cast<double>(job.finished.size());
            n += over == task_scope::started ? done
                                             : static_cast<double>(detail::tasks_of(job) - tasks.size());
        }
        if (!(known > 0) || !(n > 1)) return detection_note::too_few_running;
        done += detail::sum_of(
            tasks.size(), [&](std::size_t i) { return tasks[i].progress >= 0 ? tasks[i].progress : 0.0; });
        double const average = done / n, threshold = average - gap;
        std::size_t const first = out.size();
        for (std::uint32_t i = 0; i < tasks.size(); ++i)
            if (tasks[i].progress < threshold) out.push_back({i, tasks[i].progress, threshold, average});
        detail::lowest_first(out, first);
        return detection_note::none;
    }
};

} // namespace straggle
