// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The rule of Mantri: copy a task only when the copy will probably free more resources than it takes.
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

/// A time that is not known exactly: normally distributed.
struct uncertain_time {
    double mean = 0; ///< in the unit of the view
    double sd = 0;   ///< its standard deviation; 0: known exactly
    friend constexpr bool operator==(uncertain_time const&, uncertain_time const&) = default;
};

/// Says how long a task will still take, and how sure that is: `estimate(task, job)` as an `uncertain_time`
/// or a status, with the meaning that `time_estimate` gives them.
template <class Estimate>
concept uncertain_time_estimate =
    !time_estimate<Estimate> &&
    requires(Estimate const& estimate, running_task const& task, job_view const& job) {
        { estimate(task, job) } -> std::convertible_to<outcome<uncertain_time>>;
    };

/// Suspects every task for which P(t_rem > t_new (c + 1) / c) > delta, where c is the number of its running
/// attempts, t_rem the time until it ends without another copy, and t_new the time of another one.
///
/// With c attempts running, c t_rem of resources are still to be spent; one more makes it (c + 1) t_new if it
/// wins. The rule asks for a fair chance that this is less. With one attempt it takes a copy that is twice as
/// fast; each further one makes it easier, which is what `max_copies` is for.
///
/// Source: Ananthanarayanan et al. 2010, Reining in the outliers in Map-Reduce clusters using Mantri (OSDI),
/// section 5: the condition under which a duplicate is started while tasks wait for slots, delta 0.25. Our
/// reading: t_new is distributed as the times of the job's finished tasks, each as likely as any other, plus
/// `start_up`; t_rem is independent of it and either a number (`time_estimate`) or normal
/// (`uncertain_time_estimate`). Not here: to kill and restart, and the rule for when no task waits. The paper
/// scales t_new by the input and the place of the copy, which a view does not know.
///
/// Verdict: value = the probability, threshold = delta, usual = the probability for a task with as much
/// before it as the mean finished task took, that is, an ordinary one that has just begun. Worst first is the
/// most probable, then the one with the most time left. `time_estimate`'s `status::out_of_range`, a task that
/// stands still, is probability 1.
///
/// @tparam Estimate a `time_estimate` or an `uncertain_time_estimate`
/// @par Cost
/// O(1) per task and O(log finished) per suspect where t_rem is a number; O(finished) per
/// task where it is normal; plus sorting the suspects; allocates nothing in the steady state
/// @par Guarantees
/// deterministic
template <class Estimate = average_rate_estimate>
    requires time_estimate<Estimate> || uncertain_time_estimate<Estimate>
struct mantri {
    static constexpr std::string_view name = "mantri";

    [[no_unique_address]] Estimate estimate{}; ///< how long a task will still take
    double delta = 0.25;                       ///< the chance asked for, in [0, 1)
    double start_up = 0;                       ///< what a copy takes to start, in the unit of the view
    std::uint64_t min_finished = 5;            ///< as many tasks must have finished; at least 1 (ours)
    std::uint32_t max_copies = 3;              ///< tasks with as many attempts running get no more (ours)

    detection_note detect(job_view const& job, detector_scratch& scratch, std::vector<finding>& out) const {
        STRAGGLE_EXPECTS(delta >= 0 && delta < 1 && start_up >= 0 && min_finished > 0);
        if (job.running.empty()) return detection_note::too_few_running;
        if (job.finished.size() < min_finished) return detection_note::too_few_finished;
        double const usual = probability_of(job.finished, {job.mean_finished, 0}, 2);
        std::size_t const first = out.size(), n = job.finished.size();
        // So many of the finished times have to be short enough; what is not longer than the last of them is
        // no suspect, whatever the others say.
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
            if (p > delta) out.push_back({i, p, mean, usual}); // the time left is what ties are broken by
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

    // P(left > (x + start_up) * factor), x drawn from the finished times.
    [[nodiscard]] double probability_of(std::span<double const> finished, uncertain_time const& left,
                                        double factor) const noexcept {
        // How many deviations a finished time lies beyond the time left.
        auto const beyond = [&](double x) { return ((x + start_up) * factor - left.mean) / left.sd; };
        double sum = 0;
        if (left.sd > 0) {
            // Nine deviations off it is certain to the last bit.
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
            // All of them, more often than not; else halved without a branch, which would be taken at random.
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
