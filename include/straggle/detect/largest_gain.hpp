// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The rule of Hadoop's second MapReduce: copies the task whose copy would save the most time.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/detect/detail/suspects.hpp>
#include <straggle/detect/remaining_time.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detect {

/// The verdict of `largest_gain` on a task.
enum class gain_state : std::uint8_t {
    gains,          ///< a copy started now would end before the task
    on_schedule,    ///< too few tasks of the job have finished to judge (Hadoop's ON_SCHEDULE)
    already_copied, ///< it has a copy (ALREADY_SPECULATING)
    too_new,        ///< no estimate yet of when the task, or a copy, would end (TOO_NEW, or -1 as a time)
    too_late,       ///< a copy would end with the task or after it (TOO_LATE_TO_SPECULATE, PROGRESS_IS_GOOD)
};

/// The name of the enumerator, for logs and JSON.
[[nodiscard]] constexpr std::string_view to_string(gain_state s) noexcept {
    constexpr std::array<std::string_view, 5> names{"gains", "on_schedule", "already_copied", "too_new",
                                                    "too_late"};
    return names[static_cast<std::size_t>(s)];
}

/// A `gain_state` and the two times behind it, which are 0 unless the state is `gains` or `too_late`.
struct gain_judgement {
    gain_state state = gain_state::too_new; ///< the verdict
    double remaining = 0;   ///< time until the task ends; the largest double if it stands still
    double replacement = 0; ///< time until a copy started now would end

    /// Time saved by a copy; negative if the copy would end later.
    [[nodiscard]] constexpr double gain() const noexcept { return remaining - replacement; }
};

/// Suspects the task with the largest gain (estimated end minus estimated end of a copy started now), if
/// positive. One task per scan, since a copy changes the value of the next one.
///
/// Source: Hadoop's `DefaultSpeculator`. `gain_state` documents what its states became; NOT_RUNNING cannot
/// occur, since a view holds running tasks only. Different: ties go to the first in the view, not by hash
/// order; a task without an estimate is `too_new`, where Hadoop reads its -1 as an end in the past and finds
/// its progress good; nothing is rounded to milliseconds. A task with a copy is excluded, since this rule
/// decides what to copy now. A task that does not report is missed by any estimate based on progress: combine
/// this rule with one based on time. Hadoop's limit on copies is a wrapper for any detector, `cap`.
///
/// Verdict: value = remaining time of the task, threshold = time of a copy, usual = mean time of the
/// finished tasks. The gain is value - threshold.
///
/// @tparam Estimate remaining time of a task, a `time_estimate`
/// @tparam Replacement time of a copy, a `time_estimate`
/// @par Example
/// `largest_gain<>{}`, `largest_gain{my_estimate}`,
/// `largest_gain{.estimate = my_estimate, .replacement = mean_replacement{}, .most = 3}`
/// @par Cost
/// O(tasks), plus O(gains log most) for sorting; allocates nothing in the steady state
/// @par Guarantees
/// deterministic
template <time_estimate Estimate = average_rate_estimate, time_estimate Replacement = mean_replacement>
struct largest_gain {
    static constexpr std::string_view name = "largest_gain";

    [[no_unique_address]] Estimate estimate{};       ///< how long a task will still take
    [[no_unique_address]] Replacement replacement{}; ///< how long a copy would take
    std::size_t most = 1;                            ///< suspects per scan, at least 1
    std::uint64_t min_finished = 1;                  ///< this many tasks must have finished
    double min_share = 0.05;                         ///< and this share of the job's tasks

    /// The verdict on one task of the view.
    [[nodiscard]] gain_judgement judge(running_task const& task, job_view const& job) const {
        if (is_too_early(job)) return {gain_state::on_schedule};
        return weigh(task, job);
    }

    detection_note detect(job_view const& job, detector_scratch&, std::vector<finding>& out) const {
        STRAGGLE_EXPECTS(most > 0);
        if (job.running.empty()) return detection_note::too_few_running;
        if (is_too_early(job)) return detection_note::too_few_finished;
        auto const first = static_cast<std::ptrdiff_t>(out.size());
        std::size_t gains = 0;
        double least = -1; // smallest gain in the result, once it is full
        double beaten = 0; // tasks with at most this remaining time cannot enter the result or change the
                           // note; 0: all can
        for (std::uint32_t i = 0; i < job.running.size(); ++i) {
            if (beaten > 0 && !may_exceed(job.running[i], beaten)) continue;
            gain_judgement const j = weigh(job.running[i], job);
            // One rarely taken branch instead of an unpredictable one on the state.
            bool const is_gain = j.state == gain_state::gains, named = is_gain & (j.gain() > least);
            gains += is_gain ? 1u : 0u;
            if (!named && !(is_gain && gains == most + 1)) continue;
            if (gains > most) beaten = beaten_by(least, j.replacement);
            if (!named) continue;
            if (gains > most) {
                std::pop_heap(out.begin() + first, out.end(), gains_more);
                out.pop_back();
            }
            out.push_back({i, j.remaining, j.replacement, job.mean_finished});
            std::push_heap(out.begin() + first, out.end(), gains_more);
            if (gains >= most) least = gain_of(out[static_cast<std::size_t>(first)]);
            if (gains > most) beaten = beaten_by(least, j.replacement);
        }
        std::sort_heap(out.begin() + first, out.end(), gains_more);
        return gains > most ? detection_note::cap_reached : detection_note::none;
    }

  private:
    // The longest remaining time whose gain is certainly at most `least`, when that can be tested without an
    // estimate; else 0.
    [[nodiscard]] static double beaten_by(double least, double copy) noexcept {
        if constexpr (bounded<Estimate, Replacement>) {
            double const bound = (least + copy) * (1 - 1e-14);
            return bound > 1e-250 ? bound : 0.0;
        } else {
            return 0;
        }
    }
    [[nodiscard]] bool may_exceed(running_task const& task, double bound) const noexcept {
        if constexpr (bounded<Estimate, Replacement>)
            return estimate.may_exceed(task, bound);
        else
            return true;
    }
    template <class E, class R>
    static constexpr bool bounded = requires(E const& e, running_task const& task) {
        { e.may_exceed(task, 1.0) } -> std::same_as<bool>;
        requires R::same_for_all;
    };
    // For when enough tasks have finished.
    [[nodiscard]] gain_judgement weigh(running_task const& task, job_view const& job) const {
        if (task.copies > 1) return {gain_state::already_copied};
        outcome<double> remaining = estimate(task, job);
        if (remaining.reason() == status::out_of_range) remaining = (std::numeric_limits<double>::max)();
        outcome<double> const copy = replacement(task, job);
        if (!is_time(remaining) || !is_time(copy)) return {gain_state::too_new};
        return {*remaining > *copy ? gain_state::gains : gain_state::too_late, *remaining, *copy};
    }
    [[nodiscard]] bool is_too_early(job_view const& job) const noexcept {
        double const finished = static_cast<double>(job.finished.size());
        // The small addition keeps 0.05 * 60 from becoming more than 3 by rounding.
        return job.finished.size() < min_finished ||
               !(finished + 1e-9 >= min_share * static_cast<double>(detail::tasks_of(job)));
    }
    [[nodiscard]] static double gain_of(finding const& s) noexcept { return s.value - s.threshold; }
    [[nodiscard]] static bool gains_more(finding const& a, finding const& b) noexcept {
        double const x = gain_of(a), y = gain_of(b);
        return x > y || (!(y > x) && a.task < b.task);
    }
    [[nodiscard]] static bool is_time(outcome<double> const& t) noexcept {
        return t && detail::is_finite(*t) && *t >= 0;
    }
};

} // namespace straggle::detect
