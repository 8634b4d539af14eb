// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Time estimates for detectors: how long a running task will still take, and how long a copy of it would
/// take. Both are small callables, based on the snapshot alone or on the user's own table of estimators.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/base/ranges.hpp>
#include <straggle/detect/detector.hpp>
#include <straggle/predict/progress.hpp>

#include <concepts>

namespace straggle::inline STRAGGLE_ABI::detect {

/// Estimates a time: `estimate(task, job)` returns it in the unit of the view, or a status. For the remaining
/// time of a running task, `status::out_of_range` means that the task stands still and the time exceeds any
/// number; every other status means unknown.
template <class Estimate>
concept time_estimate = requires(Estimate const& estimate, running_task const& task, job_view const& job) {
    { estimate(task, job) } -> std::convertible_to<outcome<double>>;
};

/// Predicts the times of running tasks: `remaining` is what a task has left where it runs, `replacement` how
/// long it would take from the start on a usual node. Both return as a `time_estimate` does.
template <class Predictor>
concept predictor = requires(Predictor const& p, running_task const& task, job_view const& job) {
    { p.remaining(task, job) } -> std::convertible_to<outcome<double>>;
    { p.replacement(task, job) } -> std::convertible_to<outcome<double>>;
};

/// A predictor of two estimates.
/// @par Example
/// `time_estimates{average_rate_estimate{}, mean_replacement{}}`, as in LATE
template <time_estimate Remaining, time_estimate Replacement>
struct time_estimates {
    Remaining remaining;     ///< of the time left
    Replacement replacement; ///< of the time of a copy
};

/// Remaining time by `average_rate_remaining`, from the snapshot alone.
/// @par Cost
/// O(1), without memory of earlier snapshots
struct average_rate_estimate {
    /// The remaining time of a task of the view.
    constexpr outcome<double> operator()(running_task const& task, job_view const&) const noexcept {
        return predict::average_rate_remaining(task.elapsed, task.progress);
    }
    /// False if the remaining time is certainly at most `most`: computed without a division.
    /// @pre `most > 1e-250`
    [[nodiscard]] constexpr bool may_exceed(running_task const& task, double most) const noexcept {
        // Both sides carry a few rounding errors; a comparison with NaN returns true.
        return !(task.elapsed * (1 - task.progress) <= most * task.progress * (1 - 1e-14));
    }
};

/// How long a copy would take: the mean time of the job's finished tasks.
/// Returns `status::insufficient_evidence` before any task has finished.
/// @par Cost
/// O(1)
struct mean_replacement {
    static constexpr bool same_for_all = true; ///< independent of the task

    /// The time of a copy of a task of the view.
    constexpr outcome<double> operator()(running_task const&, job_view const& job) const noexcept {
        if (job.finished.empty()) return status::insufficient_evidence;
        return job.mean_finished;
    }
};

} // namespace straggle::detect
