// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The rule of Mantri: copies a task only if the copy will probably free more resources than it takes.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/detect/detail/suspects.hpp>
#include <straggle/detect/remaining_time.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detect {

/// An uncertain time: normally distributed.
struct uncertain_time {
    double mean = 0; ///< in the unit of the view
    double sd = 0;   ///< standard deviation; 0: known exactly
    friend constexpr bool operator==(uncertain_time const&, uncertain_time const&) = default;
};

/// Estimates how long a task will still take, with uncertainty: `estimate(task, job)` returns an
/// `uncertain_time` or a status, with the same meaning as for `time_estimate`.
template <class Estimate>
concept uncertain_time_estimate =
    !time_estimate<Estimate> &&
    requires(Estimate const& estimate, running_task const& task, job_view const& job) {
        { estimate(task, job) } -> std::convertible_to<outcome<uncertain_time>>;
    };

/// Suspects every task with P(t_rem > t_new (c + 1) / c) > delta, where c is the number of its running
/// attempts, t_rem the time until it ends without another copy, and t_new the time of an additional copy.
///
/// With c attempts running, c t_rem of resources are still to be spent; one more attempt makes it (c + 1)
/// t_new if it wins. The rule requires a fair chance that this is less. With one attempt the copy must be
/// twice as fast; each further attempt lowers that bar, which is why there is `max_copies`.
///
/// Source: Ananthanarayanan et al. 2010, Reining in the outliers in Map-Reduce clusters using Mantri (OSDI),
/// section 5: the condition for starting a duplicate while tasks wait for slots, delta 0.25. Our reading:
/// t_new is distributed as the times of the job's finished tasks, equally likely, plus `start_up`; t_rem is
/// independent of it and either a number (`time_estimate`) or normal (`uncertain_time_estimate`). Not
/// included: kill and restart, and the rule for when no task waits. The paper scales t_new by the input and
/// the place of the copy, which a view does not contain.
///
/// Verdict: value = the probability, threshold = delta, usual = the probability for a task whose remaining
/// time is the mean of the finished tasks, that is, an ordinary one that has just started. Sorted by
/// probability, then by remaining time. `time_estimate`'s `status::out_of_range`, for a task that stands
/// still, means probability 1.
///
/// @tparam Estimate a `time_estimate` or an `uncertain_time_estimate`
/// @par Cost
/// O(1) per task and O(log finished) per suspect if t_rem is a number; O(finished) per task if it is normal;
/// plus sorting the suspects; allocates nothing in the steady state
/// @par Guarantees
/// deterministic
template <class Estimate = average_rate_estimate>
    requires time_estimate<Estimate> || uncertain_time_estimate<Estimate>
struct mantri {
    static constexpr std::string_view name = "mantri";

    [[no_unique_address]] Estimate estimate{}; ///< how long a task will still take
    double delta = 0.25;                       ///< required probability, in [0, 1)
    double start_up = 0;                       ///< start-up time of a copy, in the unit of the view
    std::uint64_t min_finished = 5;            ///< this many tasks must have finished; at least 1 (ours)
    std::uint32_t max_copies = 3;              ///< tasks with this many running attempts get no more (ours)

    detection_note detect(job_view const& job, detector_scratch& scratch, std::vector<finding>& out) const {
        STRAGGLE_EXPECTS(delta >= 0 && delta < 1 && start_up >= 0 && min_finished > 0);
        if (job.running.empty()) return detection_note::too_few_running;
        if (job.finished.size() < min_finished) return detection_note::too_few_finished;
        double const usual = probability_of(job.finished, {job.mean_finished, 0}, 2);
        std::size_t const first = out.size(), n = job.finished.size();
        // At least this many finished times must be short enough, so a task whose time is not longer than the
        // last of them is no suspect.
        std::size_t needed = static_cast<std::size_t>(delta * static_cast<double>(n));
        while (needed > 0 && static_cast<double>(needed) / static_cast<double>(n) > delta) --needed;
        while (!(static_cast<double>(needed) / static_cast<double>(n) > delta)) ++needed;
        for (std::uint32_t i = 0; i < job.running.size(); ++i) {
            running_task const& task = job.running[i];
            if (task.copies >= max_copies) continue;
            outcome<uncertain_time> const left = time_left(task, job);
            double p = 1, mean = (std::numeric_limits<double>::max)();
            if (left) {
                double const c = static_cast<double>((std::max)(task.copies, std::uint32_t{1}));
                double const factor = (c + 1) / c;
                mean = left->mean;
                if (!(left->sd > 0) && !(mean > (job.finished[needed - 1] + start_up) * factor)) continue;
                p = probability_of(job.finished, *left, factor);
            } else if (left.reason() != status::out_of_range) {
                continue;
            }
            if (p > delta)
                out.push_back({i, p, mean, usual}); // usual holds the remaining time, which breaks ties
        }
        detail::lowest_first(out, first, scratch, [](finding const& s) { return -s.value; });
        for (std::size_t i = first, next = first; i < out.size(); i = next) {
            while (next < out.size() && out[next].value == out[i].value) ++next;
            detail::lowest_first(out, i, next, scratch, [](finding const& s) { return -s.threshold; });
        }
        for (std::size_t i = first; i < out.size(); ++i) out[i].threshold = delta;
        return detection_note::none;
    }

  private:
    [[nodiscard]] outcome<uncertain_time> time_left(running_task const& task, job_view const& job) const {
        uncertain_time t;
        if constexpr (time_estimate<Estimate>) {
            outcome<double> const left = estimate(task, job);
            if (!left) return left.reason();
            t.mean = *left;
        } else {
            outcome<uncertain_time> const left = estimate(task, job);
            if (!left) return left;
            t = *left;
        }
        if (!detail::is_finite(t.mean) || !detail::is_finite(t.sd) || !(t.sd >= 0))
            return status::out_of_domain;
        return t;
    }

    // P(left > (x + start_up) * factor), for x drawn from the finished times.
    [[nodiscard]] double probability_of(std::span<double const> finished, uncertain_time const& left,
                                        double factor) const noexcept {
        // Distance of a finished time from the remaining time, in deviations.
        auto const beyond = [&](double x) { return ((x + start_up) * factor - left.mean) / left.sd; };
        double sum = 0;
        if (left.sd > 0) {
            // Beyond nine deviations the probability is exact in double.
            auto const sure = std::partition_point(finished.begin(), finished.end(),
                                                   [&](double x) { return beyond(x) < -9; });
            sum = static_cast<double>(sure - finished.begin());
            for (auto x = sure; x != finished.end(); ++x) {
                double const z = beyond(*x);
                if (z > 9) break;
                sum += std::erfc(z * 0.70710678118654752440) / 2; // 1 / sqrt(2)
            }
        } else {
            auto const is_shorter = [&](double x) { return left.mean > (x + start_up) * factor; };
            // Usually all of them; otherwise bisect without a branch, which would be unpredictable.
            std::size_t rest = finished.size(), shorter = is_shorter(finished.back()) ? rest : 0;
            for (rest -= shorter; rest > 0;) {
                std::size_t const half = rest - rest / 2;
                shorter += (is_shorter(finished[shorter + half - 1]) ? 1u : 0u) * half;
                rest -= half;
            }
            sum = static_cast<double>(shorter);
        }
        return sum / static_cast<double>(finished.size());
    }
};

} // namespace straggle::detect
