// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The oldest rule: a task is a straggler when its progress is a fifth below the average.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/detect/detail/suspects.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detect {

/// Suspects tasks whose progress is more than `gap` below the average; least progress first.
///
/// Source: Hadoop before LATE (`SPECULATIVE_GAP`), the *Default* mechanism of the evaluation framework (Phan
/// et al. 2019), equations 5-6. Equation 6 averages over "the total tasks within the same category", and so
/// does Hadoop: a finished task counts as 1, a waiting one as 0. This is `task_scope::all`. In a job of
/// several waves it suspects every task of the last wave that has just started; `task_scope::running`, which
/// averages over running tasks only, does not. Hadoop writes `>=` where the paper has a strict comparison;
/// here it is strict. Neither considers how long a task has run: combine it with `task_lag`.
///
/// Verdict: value = progress, threshold = average - gap, usual = average.
/// @par Cost
/// O(tasks), plus sorting the suspects; allocates nothing in the steady state
/// @par Guarantees
/// deterministic
struct progress_gap {
    static constexpr std::string_view name = "progress_gap";

    double gap = 0.2;                  ///< of progress, in [0, 1]; Hadoop's value
    task_scope over = task_scope::all; ///< which tasks are averaged

    detection_note detect(job_view const& job, detector_scratch& scratch, std::vector<finding>& out) const {
        std::span<running_task const> const tasks = job.running;
        std::size_t known = 0;
        double done = detail::sum_of(tasks.size(), [&](std::size_t i) {
            bool const is_known = tasks[i].progress >= 0;
            known += is_known ? 1u : 0u;
            return is_known ? tasks[i].progress : 0.0;
        });
        double n = static_cast<double>(known);
        if (over != task_scope::running) {
            double const finished = static_cast<double>(job.finished.size());
            done += finished;
            n += over == task_scope::started ? finished
                                             : static_cast<double>(detail::tasks_of(job) - tasks.size());
        }
        if (known == 0 || !(n > 1)) return detection_note::too_few_running;
        double const average = done / n, threshold = average - gap;
        detail::name_suspects<detail::worst::lowest>(
            job, scratch, out, {0, 0, threshold, average}, [&](std::size_t i) {
                return detail::judgement{tasks[i].progress, tasks[i].progress < threshold};
            });
        return detection_note::none;
    }
};

} // namespace straggle::detect
