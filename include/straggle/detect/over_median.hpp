// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Spark's rule: once most tasks have finished, suspects those that run much longer than their median.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/detect/detail/suspects.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detect {

/// Suspects tasks that have run longer than `multiplier` times the median time of the finished ones, once a
/// share `quantile` of the job has finished; longest first.
///
/// Source: Spark `TaskSetManager.checkSpeculatableTasks`, with its median (the upper one of an even number;
/// older versions average the two) and its comparisons. The defaults are those of Spark 1 to 3; `spark_4()`
/// has those of 4.0. Spark no longer examines a task with a copy: combine this rule with `without_copies`.
///
/// Two more rules of Spark are off by default:
/// - `efficiency` (SPARK-32170): a task that works through its input nearly as fast as the finished ones did
///   merely has more of it, and is spared until it has run `long_run` times the threshold. The rate is
///   progress * input / elapsed, to be below `process_rate` times the finished tasks' input over their time.
/// - `task_threshold` (SPARK-29976): in a job of at most `few_tasks` tasks, of which too few have finished
/// for a median, suspects those that have run longer than this time. Spark sets `few_tasks` to the slots of
/// one executor: such a small job may run entirely on one bad machine.
///
/// Verdict: value = elapsed time, threshold as above, usual = median (the threshold, for
/// `task_threshold`).
/// @par Cost
/// O(running tasks), plus sorting the suspects; allocates nothing in the steady state
/// @par Guarantees
/// deterministic
struct over_median {
    static constexpr std::string_view name = "over_median";

    double multiplier = 1.5;     ///< `spark.speculation.multiplier`
    double quantile = 0.75;      ///< `spark.speculation.quantile`: share of the tasks that must have finished
    double min_time = 0.1;       ///< `spark.speculation.minTaskRuntime`: minimum threshold; 100 ms
    bool efficiency = false;     ///< `spark.speculation.efficiency.enabled`
    double process_rate = 0.75;  ///< `spark.speculation.efficiency.processRateMultiplier`
    double long_run = 2.0;       ///< `spark.speculation.efficiency.longRunTaskFactor`
    double task_threshold = 0;   ///< `spark.speculation.task.duration.threshold`; 0: off
    std::uint64_t few_tasks = 1; ///< largest job, in tasks, to which that threshold applies

    /// Spark's settings since 4.0: acts later, and spares tasks that only have more to do.
    /// @param second a second in the unit of the job's times
    [[nodiscard]] static constexpr over_median spark_4(double second = 1.0) noexcept {
        over_median rule;
        rule.multiplier = 3.0;
        rule.quantile = 0.9;
        rule.min_time = 0.1 * second;
        rule.efficiency = true;
        return rule;
    }

    detection_note detect(job_view const& job, detector_scratch& scratch, std::vector<finding>& out) const {
        if (job.running.empty()) return detection_note::too_few_running;
        double const n = static_cast<double>(job.finished.size());
        double const tasks = static_cast<double>(detail::tasks_of(job));
        double const needed = (std::max)(std::floor(quantile * tasks), 1.0);
        if (!(n >= needed)) {
            if (!(task_threshold > 0) || detail::tasks_of(job) > few_tasks)
                return detection_note::too_few_finished;
            suspect_over(job, scratch, task_threshold, task_threshold, out);
        } else {
            double const median = job.finished[job.finished.size() / 2];
            double const threshold = (std::max)(multiplier * median, min_time);
            double const time = job.mean_finished * n;
            double const slow = process_rate * (job.finished_input / time);
            bool const rate_known = job.finished_input > 0 && time > 0;
            if (!efficiency || !rate_known)
                suspect_over(job, scratch, threshold, median, out);
            else
                suspect_over(job, scratch, threshold, median, out, [&](running_task const& t) {
                    return t.elapsed > long_run * threshold || t.progress * t.input / t.elapsed < slow;
                });
        }
        return detection_note::none;
    }

  private:
    struct any_task {
        bool operator()(running_task const&) const noexcept { return true; }
    };
    template <class Inefficient = any_task>
    static void suspect_over(job_view const& job, detector_scratch& scratch, double threshold, double median,
                             std::vector<finding>& out, Inefficient inefficient = {}) {
        detail::name_suspects<detail::worst::highest>(
            job, scratch, out, {0, 0, threshold, median}, [&](std::size_t i) {
                running_task const& t = job.running[i];
                return detail::judgement{t.elapsed, t.elapsed > threshold && inefficient(t)};
            });
    }
};

} // namespace straggle::detect
