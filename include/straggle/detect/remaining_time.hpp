// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Time estimates for detectors: how long a running task will still take, and how long a copy of it would
/// take. Both are small callables, based on the snapshot alone or on the user's own table of estimators.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/base/ranges.hpp>
#include <straggle/detect/detector.hpp>
#include <straggle/predict/progress.hpp>

#include <cmath>
#include <concepts>
#include <span>

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

/// Remaining time as in `sibling_time`: the mean time of the job's finished tasks, times the slowdown of the
/// node, minus the elapsed time; not below 0. `status::insufficient_evidence` before any task has finished.
/// @par Cost
/// O(1)
struct sibling_time_estimate {
    /// The remaining time of a task of the view.
    constexpr outcome<double> operator()(running_task const& task, job_view const& job) const noexcept {
        if (job.finished.empty()) return status::insufficient_evidence;
        double const slowdown = task.node < job.nodes.size() ? job.nodes[task.node].slowdown : 1.0;
        double const left = job.mean_finished * slowdown - task.elapsed;
        return left > 0 ? left : 0.0;
    }
};

/// Remaining time from a table of estimators that the user updates, one for each row of the range of
/// snapshots.
///
/// `largest_gain{by_row(table)}`; if the table is indexed by task instead of row, write a function object
/// that calls `remaining_at` with the task of the row. (A capturing lambda works for a detector alone, but
/// cannot be assigned to, which `straggler_detector` requires.)
/// @pre when called: the table has an entry for every row of the view
/// @par Cost
/// O(1) per task; refers to the table, which must outlive it
template <predict::progress_estimator Estimator>
struct by_row {
    std::span<Estimator const> table; ///< in the order of the user's range

    /// The remaining time of a task of the view.
    constexpr outcome<double> operator()(running_task const& task, job_view const&) const {
        STRAGGLE_EXPECTS(task.row < table.size());
        return predict::remaining_at(table[task.row], task.elapsed);
    }
};
template <std::ranges::contiguous_range Table>
by_row(Table const&) -> by_row<std::ranges::range_value_t<Table>>;

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

/// How long a copy would take, conservatively: the upper end of the 95 % interval of the mean of the finished
/// tasks, plus half a deviation (or a quarter of that end, if less).
///
/// Source: Hadoop's `SimpleExponentialTaskRuntimeEstimator`. There a single finished task makes a copy take
/// no time at all (its `meanCI` is then 0); here its time is the mean. Returns
/// `status::insufficient_evidence` before any task has finished.
/// @par Cost
/// O(1)
struct cautious_replacement {
    static constexpr bool same_for_all = true; ///< independent of the task

    /// The time of a copy of a task of the view.
    outcome<double> operator()(running_task const&, job_view const& job) const noexcept {
        if (job.finished.empty()) return status::insufficient_evidence;
        double const n = static_cast<double>(job.finished.size());
        double const high = job.mean_finished + 1.96 * job.sd_finished / std::sqrt(n);
        double const more = job.sd_finished / 2, most = high / 4;
        return high + (more < most ? more : most);
    }
};

} // namespace straggle::detect
