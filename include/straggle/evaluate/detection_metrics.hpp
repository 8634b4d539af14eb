// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How good a straggler detector was: precision, recall, timeliness, what it missed, and the value of the
/// copies it caused. Takes one finished task at a time; mergeable over jobs, shards and months.
///
/// Source: T.-D. Phan, G. Pallez, S. Ibrahim, P. Raghavan, A new framework for evaluating straggler detection
/// mechanisms in MapReduce, ACM TOMPECS (2019), hal-02172590, sections 3.2 and 6.2 and table 2.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/evaluate/task_outcome.hpp>
#include <straggle/record/reason_counts.hpp>
#include <straggle/stats/confusion_matrix.hpp>
#include <straggle/stats/long_sum.hpp>

#include <algorithm>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::detail {

constexpr outcome<double> ratio_of(double part, double whole) {
    if (whole == 0.0) return status::insufficient_evidence;
    double const ratio = part / whole;
    if (!is_finite(ratio)) return status::out_of_range; // a sum overflowed to infinity or NaN
    return ratio;
}
constexpr outcome<double> ratio_of(std::uint64_t part, std::uint64_t whole) {
    return ratio_of(static_cast<double>(part), static_cast<double>(whole));
}

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::evaluate {

/// Counts of outcomes.
/// @par Guarantees
/// `seen == judged() + undecided + total_rejected()`; `fakes <= caught()`; all except `copies` and
/// `effective_copies` count tasks
struct detection_counts {
    std::uint64_t seen = 0;             ///< outcomes observed
    stats::confusion_matrix tasks{};    ///< judged tasks: a straggler? detected?
    std::uint64_t undecided = 0;        ///< overtaken, with unknown full time
    std::uint64_t at_least = 0;         ///< judged by a lower bound of their execution time
    std::uint64_t fakes = 0;            ///< detected stragglers that were detected too late
    std::uint64_t copies = 0;           ///< speculative copies launched, including those of undecided tasks
    std::uint64_t effective_copies = 0; ///< those that finished before the first attempt
    record::reason_counts<outcome_rejection> rejected{}; ///< why the others were rejected

    /// Tasks with a verdict.
    [[nodiscard]] constexpr std::uint64_t judged() const noexcept { return tasks.total(); }
    /// Judged tasks that are stragglers.
    [[nodiscard]] constexpr std::uint64_t stragglers() const noexcept { return tasks.positives(); }
    /// Judged tasks that were detected.
    [[nodiscard]] constexpr std::uint64_t detected() const noexcept { return tasks.said(); }
    /// Stragglers that were detected.
    [[nodiscard]] constexpr std::uint64_t caught() const noexcept { return tasks.true_positives; }
    /// Stragglers that were not detected.
    [[nodiscard]] constexpr std::uint64_t missed() const noexcept { return tasks.false_negatives; }
    /// Detected tasks that were not stragglers: false positives, excluding fake ones.
    [[nodiscard]] constexpr std::uint64_t false_alarms() const noexcept { return tasks.false_positives; }
    /// Copies that did not finish first ("unsuccessful", table 1).
    [[nodiscard]] constexpr std::uint64_t wasted_copies() const noexcept { return copies - effective_copies; }
    /// Outcomes rejected for one reason.
    [[nodiscard]] constexpr std::uint64_t operator[](outcome_rejection r) const noexcept {
        return rejected[r];
    }
    /// Outcomes rejected for any reason.
    [[nodiscard]] constexpr std::uint64_t total_rejected() const noexcept { return rejected.total(); }
    friend constexpr bool operator==(detection_counts const&, detection_counts const&) = default;
};

/// How slot time was spent, in the unit of the outcomes; sums over all tasks except rejected ones.
struct slot_times {
    double total = 0;         ///< first attempts and copies
    double copies = 0;        ///< copies only
    double wasted_copies = 0; ///< copies that did not finish first (table 2: wasteful occupation)
    double overtaken = 0;     ///< first attempts that were killed because a copy had finished
    friend constexpr bool operator==(slot_times const&, slot_times const&) = default;
};

/// How good a detector was, over all tasks observed so far.
///
/// A ratio with an empty denominator is `status::insufficient_evidence`, never 0 or 1, and
/// `status::out_of_range` if a sum overflows.
///
/// @par Cost
/// observe, merge, each metric O(1); 248 bytes, allocates nothing
/// @par Accuracy
/// counts and ratios of counts are exact (up to one rounding); means and times have one rounding per task and
/// an error of 2 units in the last place of the result, for any number of tasks below 2^40
/// @par Guarantees
/// merging equals streaming, for any split and order: exactly for counts, and for times and means up to the
/// last bit if the sum of n tasks lies within n 2^-103 of the midpoint between two doubles, which is one sum
/// in a thousand for n = 2^40. Deterministic; usable in constant expressions
class detection_metrics {
  public:
    /// @pre `how.valid()`
    constexpr explicit detection_metrics(judging_options const& how = {}) : how_(how) {
        STRAGGLE_EXPECTS(how.valid());
    }

    /// Adds a task that ended.
    /// @return whether it has a verdict; if not, `counts` has the reason: rejected, or undecided, as in
    /// `judge`
    constexpr bool observe(task_outcome const& task) {
        ++counts_.seen;
        if (auto const reason = detail::rejection_of(task, how_)) {
            ++counts_.rejected[*reason];
            return false;
        }
        add_slots(task);
        outcome<task_verdict> const verdict = detail::verdict_on(task, how_);
        if (!verdict) {
            ++counts_.undecided;
            return false;
        }
        add_verdict(task, *verdict);
        return true;
    }

    /// Adds the tasks of another object.
    /// @pre both use the same judging options
    constexpr void merge(detection_metrics const& other) {
        STRAGGLE_EXPECTS(how_ == other.how_);
        for (auto const count :
             {&detection_counts::seen, &detection_counts::undecided, &detection_counts::at_least,
              &detection_counts::fakes, &detection_counts::copies, &detection_counts::effective_copies})
            counts_.*count += other.counts_.*count;
        counts_.tasks += other.counts_.tasks;
        counts_.rejected += other.counts_.rejected;
        latency_.merge(other.latency_);
        undetected_.merge(other.undetected_);
        first_attempts_.merge(other.first_attempts_);
        copies_.merge(other.copies_);
        losers_.merge(other.losers_);
        overtaken_.merge(other.overtaken_);
    }

    /// How tasks are judged.
    [[nodiscard]] constexpr judging_options const& how() const noexcept { return how_; }
    /// The counts behind all metrics.
    [[nodiscard]] constexpr detection_counts const& counts() const noexcept { return counts_; }

    /// Share of the judged tasks that were stragglers: the paper's alpha.
    [[nodiscard]] constexpr outcome<double> straggler_ratio() const {
        return detail::ratio_of(counts_.stragglers(), counts_.judged());
    }
    /// Share of the detected tasks that were stragglers (eq. 1), detected in time or not.
    [[nodiscard]] constexpr outcome<double> precision() const { return counts_.tasks.precision(); }
    /// Precision with fake positives counted as false positives (section 6.2): `precision()` minus
    /// `fake_positive_ratio()`.
    [[nodiscard]] constexpr outcome<double> precision_in_time() const {
        return detail::ratio_of(counts_.caught() - counts_.fakes, counts_.detected());
    }
    /// Share of the stragglers that were detected (eq. 2), in time or not.
    [[nodiscard]] constexpr outcome<double> recall() const { return counts_.tasks.recall(); }
    /// Share of the stragglers that were detected in time. Source: section 4.2 ("otherwise the detection is
    /// useless and one could count it as non-detected").
    [[nodiscard]] constexpr outcome<double> recall_in_time() const {
        return detail::ratio_of(counts_.caught() - counts_.fakes, counts_.stragglers());
    }
    /// Harmonic mean of precision and recall, as 2 TP / (2 TP + FP + FN): undefined only without any
    /// straggler or detection, 0 if all were mistakes.
    [[nodiscard]] constexpr outcome<double> f1() const { return counts_.tasks.f1(); }
    /// Harmonic mean of `precision_in_time` and `recall_in_time`, in the same way.
    [[nodiscard]] constexpr outcome<double> f1_in_time() const {
        return detail::ratio_of(2 * (counts_.caught() - counts_.fakes),
                                counts_.stragglers() + counts_.detected());
    }
    /// Share of the detected tasks that were fake positives (eq. 13).
    [[nodiscard]] constexpr outcome<double> fake_positive_ratio() const {
        return detail::ratio_of(counts_.fakes, counts_.detected());
    }
    /// Time to detection over usual time, mean over the detected stragglers (eq. 3), including fake
    /// positives.
    [[nodiscard]] constexpr outcome<double> detection_latency() const {
        return detail::ratio_of(latency_.value(), static_cast<double>(counts_.caught()));
    }
    /// Execution time over usual time, mean over the undetected stragglers (eq. 4).
    [[nodiscard]] constexpr outcome<double> undetected_time() const {
        return detail::ratio_of(undetected_.value(), static_cast<double>(counts_.missed()));
    }
    /// Share of the copies that finished before the first attempt.
    [[nodiscard]] constexpr outcome<double> win_rate() const {
        return detail::ratio_of(counts_.effective_copies, counts_.copies);
    }

    /// How slot time was spent. Infinite or NaN on overflow.
    [[nodiscard]] constexpr slot_times slots() const noexcept {
        detail::long_sum total = first_attempts_;
        total.merge(copies_);
        return {total.value(), copies_.value(), losers_.value(), overtaken_.value()};
    }
    /// Share of the slot time spent on wasted attempts: copies that did not finish first, and first attempts
    /// that were overtaken.
    [[nodiscard]] constexpr outcome<double> wasted_share() const {
        slot_times const s = slots();
        return detail::ratio_of(s.wasted_copies + s.overtaken, s.total);
    }

    friend constexpr bool operator==(detection_metrics const&, detection_metrics const&) = default;

  private:
    constexpr void add_slots(task_outcome const& task) noexcept {
        first_attempts_.add(task.execution);
        if (task.copies == 0) return;
        counts_.copies += task.copies;
        copies_.add(task.copies_time);
        losers_.add(task.copies_time - task.winner_time.value_or(0.0));
        if (!task.winner_time) return;
        ++counts_.effective_copies;
        overtaken_.add(task.execution);
    }

    constexpr void add_verdict(task_outcome const& task, task_verdict const& v) noexcept {
        counts_.tasks.observe(v.straggler, v.detected);
        counts_.at_least += static_cast<std::uint64_t>(v.at_least);
        counts_.fakes += static_cast<std::uint64_t>(v.fake);
        if (!v.straggler) return;
        if (v.detected) {
            latency_.add(*task.detected / task.usual);
        } else {
            undetected_.add(v.execution / task.usual);
        }
    }

    judging_options how_;
    detection_counts counts_;
    detail::long_sum latency_;        // of caught stragglers, in usual times
    detail::long_sum undetected_;     // of missed stragglers, in usual times
    detail::long_sum first_attempts_; // slot time
    detail::long_sum copies_;
    detail::long_sum losers_;
    detail::long_sum overtaken_;
};

/// The heavy tail of one job: its longest task relative to its average one. Source: table 2 and table 3 ("the
/// ratio of the longest and the average task's execution time for each job"). Speculation should reduce it.
/// For an overtaken task, use its final time.
/// @par Cost
/// O(1) each; allocates nothing
/// @par Accuracy
/// 2 units in the last place
/// @par Guarantees
/// merging parts of a job equals streaming, for any split and order. Do not merge jobs: tasks of different
/// work form a tail of their own.
class job_tail {
  public:
    /// Adds the time of a task.
    /// @return false for a time that is negative, infinite or NaN
    constexpr bool observe(double time) noexcept {
        if (!detail::is_length(time)) return false;
        longest_ = (std::max)(longest_, time);
        sum_.add(time);
        ++tasks_;
        return true;
    }
    /// Adds another part of the same job.
    constexpr void merge(job_tail const& other) noexcept {
        longest_ = (std::max)(longest_, other.longest_);
        sum_.merge(other.sum_);
        tasks_ += other.tasks_;
    }
    /// Number of tasks added.
    [[nodiscard]] constexpr std::uint64_t tasks() const noexcept { return tasks_; }
    /// Longest time over mean time, at least 1.
    /// @return `status::insufficient_evidence` without tasks or if all took no time
    [[nodiscard]] constexpr outcome<double> ratio() const {
        if (tasks_ == 0) return status::insufficient_evidence;
        outcome<double> const r = detail::ratio_of(longest_, sum_.value() / static_cast<double>(tasks_));
        return r && *r < 1.0 ? outcome<double>(1.0) : r; // rounding
    }
    friend constexpr bool operator==(job_tail const&, job_tail const&) = default;

  private:
    detail::long_sum sum_;
    double longest_ = 0;
    std::uint64_t tasks_ = 0;
};

} // namespace straggle::evaluate
