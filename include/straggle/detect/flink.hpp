// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Flink's rule: `over_median` with times relative to a task's input.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/detect/detail/suspects.hpp>

#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detect {

/// Suspects tasks that have run for at least `lower_bound` and, relative to their input, at least
/// `multiplier` times as long as the median of the finished ones, once a share `ratio` of the job has
/// finished; longest first.
///
/// Source: Flink `ExecutionTimeBasedSlowTaskDetector` (since 1.16), its settings
/// `slow-task-detector.execution-time.baseline-{lower-bound,ratio,multiplier}` and its comparisons, which are
/// not strict. Its documentation speaks of the first `ratio` of the tasks to finish; its code sorts all
/// finished ones and takes the *shortest*, round(ratio * tasks) of them, so that its median lies at 3/8 of
/// the job with the default. The same applies here. With `ratio = 0` every task past the lower bound is
/// suspected. Flink truncates times to milliseconds, which this does not; it names attempts, this names
/// tasks.
///
/// Verdict: value = elapsed / input, threshold = multiplier * median, usual = median, all per unit of input
/// (1 if unknown).
/// @par Cost
/// O(running tasks), plus sorting the suspects; allocates nothing in the steady state
/// @par Guarantees
/// deterministic
struct flink {
    static constexpr std::string_view name = "flink";

    double multiplier = 1.5; ///< `baseline-multiplier`
    double ratio = 0.75;     ///< `baseline-ratio`: share of the tasks that must have finished, in [0, 1)
    double lower_bound =
        60.0; ///< `baseline-lower-bound`: younger tasks are never slow; one minute, if in seconds

    detection_note detect(job_view const& job, detector_scratch& scratch, std::vector<finding>& out) const {
        if (job.running.empty()) return detection_note::too_few_running;
        std::span<double const> const times =
            job.finished_per_input.empty() ? job.finished : job.finished_per_input;
        double const tasks = static_cast<double>(detail::tasks_of(job));
        if (!(static_cast<double>(times.size()) / tasks >= ratio)) return detection_note::too_few_finished;
        double const taken = std::floor(ratio * tasks + 0.5);
        double median = 0;
        if (taken >= 1.0) {
            std::size_t const place = static_cast<std::size_t>(taken) / 2;
            if (place >= times.size()) return detection_note::too_few_finished;
            median = times[place];
        }
        double const threshold = multiplier * median;
        detail::name_suspects<detail::worst::highest>(
            job, scratch, out, {0, 0, threshold, median}, [&](std::size_t i) {
                running_task const& t = job.running[i];
                double const time = t.elapsed / t.input;
                return detail::judgement{time, t.elapsed >= lower_bound && time >= threshold};
            });
        return detection_note::none;
    }
};

} // namespace straggle::detect
