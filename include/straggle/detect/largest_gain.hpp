// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The rule of Hadoop's second MapReduce: copy the task whose copy would save the most time.
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

/// What `largest_gain` thinks of a task.
enum class gain_state : std::uint8_t {
    gains,          ///< a copy started now would end before the task
    on_schedule,    ///< too few tasks of the job have finished to judge any (Hadoop's ON_SCHEDULE)
    already_copied, ///< there is a copy (ALREADY_SPECULATING)
    too_new,        ///< nothing is known of when the task, or a copy, would end (TOO_NEW, or -1 as a time)
    too_late,       ///< a copy would end with the task or after it (TOO_LATE_TO_SPECULATE, PROGRESS_IS_GOOD)
};

/// The name of a state as it stands in the source, for logs and JSON.
[[nodiscard]] constexpr std::string_view to_string(gain_state s) noexcept {
    constexpr std::array<std::string_view, 5> names{"gains", "on_schedule", "already_copied", "too_new",
                                                    "too_late"};
    return names[static_cast<std::size_t>(s)];
}

/// A `gain_state` and the two times it follows from, which are 0 unless the state is `gains` or `too_late`.
struct gain_judgement {
    gain_state state = gain_state::too_new; ///< what it comes to
    double remaining = 0;                   ///< until the task ends; the largest double if it stands still
    double replacement = 0;                 ///< until a copy started now would end

    /// What a copy would save; negative when it would be the later of the two.
    [[nodiscard]] constexpr double gain() const noexcept { return remaining - replacement; }
};

/// Suspects the task with the largest gain, estimated end less estimated end of a copy started now, if there
/// is any gain. One task per scan, as a copy changes what the next one is worth.
///
/// Source: Hadoop's `DefaultSpeculator`. What its states have become is told at `gain_state`; NOT_RUNNING
/// cannot happen, as a view holds running tasks only. Different: ties go to the first in the view, not by
/// hash order; a task of which nothing is known is `too_new`, where Hadoop reads its -1 as an end in the past
/// and finds its progress good; nothing is rounded to milliseconds. A task that has a copy is left out, as
/// this rule tells what to copy now. A task that does not report is not found by any estimate that goes by
/// progress: pair this rule with one that goes by time. Hadoop's limit on copies is a wrapper of its own,
/// around any detector.
///
/// Verdict: value = remaining time of the task, threshold = time of a copy, usual = mean time of the
/// finished tasks. The gain is value - threshold.
///
/// @tparam Estimate remaining time of a task, a `time_estimate`
/// @tparam Replacement time of a copy, a `time_estimate`
/// @par Example
/// `largest_gain<>{}`, `largest_gain{by_row(table)}`,
/// `largest_gain{.estimate = by_row(table), .replacement = cautious_replacement{}, .most = 3}`
/// @par Cost
/// O(tasks), and O(gains log most) to put them in order; allocates nothing in the steady state
/// @par Guarantees
/// deterministic
template <time_estimate Estimate = average_rate_estimate, time_estimate Replacement = mean_replacement>
struct largest_gain {
    static constexpr std::string_view name = "largest_gain";

    [[no_unique_address]] Estimate estimate{};       ///< how long a task will still take
    [[no_unique_address]] Replacement replacement{}; ///< how long a copy would take
    std::size_t most = 1;                            ///< suspects per scan, at least 1
    std::uint64_t min_finished = 1;                  ///< as many tasks must have finished
    double min_share = 0.05;                         ///< and this share of all the job's tasks

    /// What the rule thinks of one task of the view.
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
        double least = -1; // of the gains that are named, once there are enough of them
        double beaten =
            0; // remaining times that are no more cannot be named, nor change the note; 0: all can
        for (std::uint32_t i = 0; i < job.running.size(); ++i) {
            if (beaten > 0 && !may_exceed(job.running[i], beaten)) continue;
            gain_judgement const j = weigh(job.running[i], job);
            // One branch that is seldom taken, where one on the state would be taken at random.
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
    // The longest remaining time whose gain is certainly no more than `least`, where it takes no estimate to
    // compare with; else 0.
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
    // Once enough tasks have finished.
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
        // The small step forward keeps 0.05 * 60 from becoming more than 3 by rounding.
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
