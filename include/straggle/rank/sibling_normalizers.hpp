// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Normalizers that use all siblings of a job at once: robust ones that a few stragglers cannot shift, and
/// one that excludes the judged task from its own yardstick.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/rank/normalizer.hpp>
#include <straggle/stats/order.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace straggle::inline STRAGGLE_ABI::rank {

/// z = (D - median) / (1.4826 MAD): up to half of the siblings may straggle without moving the yardstick.
///
/// Source: ours; uses the median and MAD of HDFS slow-node detection instead of mean and deviation.
/// @par Cost
/// O(siblings) per job; allocates nothing
struct robust_z {
    std::uint64_t min_tasks = 5; ///< a job with fewer accepted attempts gives no scores

    /// Replaces durations by scores.
    /// @return `status::insufficient_evidence` below `min_tasks`, `status::no_spread` if at least half of the
    /// durations are equal (MAD 0)
    [[nodiscard]] status normalize(std::span<double> durations, std::span<double> scratch) const noexcept {
        if (durations.empty() || durations.size() < min_tasks) return status::insufficient_evidence;
        std::copy(durations.begin(), durations.end(), scratch.begin());
        outcome<stats::median_and_mad> const center = stats::median_and_mad_in_place(scratch);
        if (!center) return center.reason();
        if (!(center->mad > 0)) return status::no_spread;
        for (double& d : durations) d = (d - center->median) / center->mad;
        return status::ok;
    }
};

/// D / median of the job: 1 is usual, 2 is twice as long. No spread is needed.
///
/// Source: ours; the baseline of Spark's speculation rule.
/// @par Cost
/// O(siblings) per job; allocates nothing
struct ratio_to_median {
    std::uint64_t min_tasks = 5; ///< a job with fewer accepted attempts gives no scores

    /// Replaces durations by scores.
    /// @return `status::insufficient_evidence` below `min_tasks`, `status::no_spread` if the median is 0
    [[nodiscard]] status normalize(std::span<double> durations, std::span<double> scratch) const noexcept {
        if (durations.empty() || durations.size() < min_tasks) return status::insufficient_evidence;
        std::copy(durations.begin(), durations.end(), scratch.begin());
        outcome<double> const median = stats::median_in_place(scratch);
        if (!median) return median.reason();
        if (!(*median > 0)) return status::no_spread;
        for (double& d : durations) d /= *median;
        return status::ok;
    }
};

/// z of each task against its siblings, without the task itself: unlike the plain score it is not capped at
/// sqrt(n - 1), so a lone straggler in a small job shows its full size.
///
/// Source: ours (the "deleted residual" of regression diagnostics).
/// @par Cost
/// O(siblings) per job; allocates nothing
/// @par Accuracy
/// no variance is computed by a subtraction that would cancel more than half of it
struct leave_one_out_z {
    std::uint64_t min_tasks = 5; ///< a job with fewer accepted attempts gives no scores; at least 3

    /// Replaces durations by scores; NaN for a task whose siblings are all equal.
    /// @return `status::insufficient_evidence` below `min_tasks`, `status::no_spread` if all durations are
    /// equal
    [[nodiscard]] status normalize(std::span<double> durations, std::span<double> scratch) const noexcept {
        std::size_t const n = durations.size();
        if (n < 3 || n < min_tasks) return status::insufficient_evidence;
        stats::moments all;
        for (double d : durations) all.add(d);
        double const m2 = all.sum_of_squared_deviations();
        if (!(m2 > 0)) return status::no_spread;
        // A task's own share of the squared deviations is d^2 n/(n-1). If it is more than half, the rest is
        // summed anew instead of subtracted: for at most two tasks, since all shares sum to n/(n-1) <= 3/2.
        double const share = static_cast<double>(n) / static_cast<double>(n - 1);
        for (std::size_t i = 0; i < n; ++i) {
            double const d = durations[i] - all.origin() - all.mean_offset();
            double const own = d * d * share;
            double const others = own > 0.5 * m2 ? deviations_without(durations, i) : m2 - own;
            double const sd = std::sqrt(others / static_cast<double>(n - 1));
            scratch[i] = sd > 0 ? d * share / sd : std::numeric_limits<double>::quiet_NaN();
        }
        std::copy_n(scratch.begin(), n, durations.begin());
        return status::ok;
    }

  private:
    static double deviations_without(std::span<double const> durations, std::size_t left_out) noexcept {
        stats::moments rest;
        for (std::size_t k = 0; k < durations.size(); ++k)
            if (k != left_out) rest.add(durations[k]);
        return rest.sum_of_squared_deviations();
    }
};

} // namespace straggle::rank
