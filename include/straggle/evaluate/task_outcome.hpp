// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What one finished task reveals about a straggler detector: the record that a scheduler fills in when the
/// task ends, and the verdict on it. A straggler or not, detected or not, and detected in time or not.
///
/// Source: T.-D. Phan, G. Pallez, S. Ibrahim, P. Raghavan, A new framework for evaluating straggler detection
/// mechanisms in MapReduce, ACM TOMPECS (2019), hal-02172590, sections 3.2 and 6.2.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/evaluate/usual_time.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace straggle::inline STRAGGLE_ABI::evaluate {

/// What a scheduler knows about a task when it ends, because its first attempt or a copy finished. All times
/// are lengths in one unit, the same for all tasks. An aggregate for designated initializers.
///
/// Do not pass tasks that failed, or were killed without a finished copy.
/// @par Example
/// a copy, launched 40 s after the task began, finished 50 s later; the task was at 60 % then:
/// `task_outcome{.usual = 60, .execution = 90, .progress = 0.6, .detected = 40,
///               .copies = 1, .copies_time = 50, .winner_time = 50}`
struct task_outcome {
    double usual = 0;                 ///< usual length of the task; above 0
    double execution = 0;             ///< how long its first attempt ran, to its end or until killed
    std::optional<double> progress{}; ///< of a first attempt killed because a copy won: progress at that time
    std::optional<double> detected{}; ///< when a detector first named it, from its start
    std::uint32_t copies = 0;         ///< speculative copies launched
    double copies_time = 0;           ///< their total running time
    std::optional<double> winner_time{}; ///< running time of the copy that finished first, if any
};

/// The assumed execution time of a first attempt that was killed because a copy of it won: its full time is
/// unknown.
enum class killed_attempts : std::uint8_t {
    from_progress, ///< the time it ran, divided by its progress
    as_observed,   ///< the time it ran: a lower bound
};

/// How tasks are judged.
struct judging_options {
    straggler_rule straggler{}; ///< which tasks count as stragglers
    /// The paper's default (table 7: "the finish time of killed original tasks are estimated based on the
    /// moment they get killed and the progress they reach"). With `as_observed` the best detectors look
    /// worst: a task overtaken before `threshold` times its usual time counts as no straggler, so a detector
    /// that is fast enough to prevent every straggler has a precision of 0.
    killed_attempts killed = killed_attempts::from_progress;
    double least_progress = 1e-4; ///< a smaller progress is too little for an estimate; above 0

    /// Whether every member is in its range.
    [[nodiscard]] constexpr bool valid() const noexcept {
        return straggler.valid() && least_progress > 0.0 && least_progress <= 1.0;
    }
    friend constexpr bool operator==(judging_options const&, judging_options const&) = default;
};

/// The verdict on one task.
struct task_verdict {
    double execution = 0;   ///< its actual or estimated time
    bool straggler = false; ///< it was a straggler
    bool detected = false;  ///< a detector named it
    bool fake = false;      ///< a straggler named with less than the usual time remaining
    bool at_least = false;  ///< `execution` is a lower bound
    friend constexpr bool operator==(task_verdict const&, task_verdict const&) = default;
};

/// Why the outcome of a task could not be used.
enum class outcome_rejection : std::uint8_t {
    bad_usual,     ///< not a finite number above 0
    bad_execution, ///< not a finite number of at least 0
    bad_progress,  ///< not in [0, 1]
    bad_detection, ///< not a number, before the task started or after it ended
    bad_copies,    ///< times that are not numbers or without copies, or a winner longer than all copies
    out_of_range,  ///< a multiple of the usual time overflows
};
/// Number of reasons.
inline constexpr std::size_t outcome_rejection_count = 6;
/// Number of reasons, for `record::reason_counts`.
[[nodiscard]] constexpr std::size_t reason_count(outcome_rejection) noexcept {
    return outcome_rejection_count;
}

/// The name of the enumerator, for logs and JSON.
[[nodiscard]] constexpr std::string_view to_string(outcome_rejection r) noexcept {
    constexpr std::array<std::string_view, outcome_rejection_count> names{
        "bad_usual", "bad_execution", "bad_progress", "bad_detection", "bad_copies", "out_of_range"};
    return names[static_cast<std::size_t>(r)];
}

} // namespace straggle::evaluate

namespace straggle::inline STRAGGLE_ABI::detail {

constexpr bool is_length(double x) noexcept {
    return x >= 0.0 && is_finite(x);
}

// The actual or estimated time of the task, if known.
constexpr std::optional<double> full_time(evaluate::task_outcome const& t,
                                          evaluate::judging_options const& how) noexcept {
    if (!t.winner_time) return t.execution;
    if (how.killed == evaluate::killed_attempts::as_observed || !t.progress ||
        !(*t.progress >= how.least_progress))
        return std::nullopt;
    return t.execution / *t.progress;
}

constexpr bool copies_make_sense(evaluate::task_outcome const& t) noexcept {
    if (!is_length(t.copies_time) || (t.copies == 0 && t.copies_time > 0.0)) return false;
    return !t.winner_time || (t.copies > 0 && *t.winner_time >= 0.0 && *t.winner_time <= t.copies_time);
}

constexpr std::optional<evaluate::outcome_rejection>
rejection_of(evaluate::task_outcome const& t, evaluate::judging_options const& how) noexcept {
    if (!(t.usual > 0.0) || !is_finite(t.usual)) return evaluate::outcome_rejection::bad_usual;
    if (!is_length(t.execution)) return evaluate::outcome_rejection::bad_execution;
    if (t.progress && !(*t.progress >= 0.0 && *t.progress <= 1.0))
        return evaluate::outcome_rejection::bad_progress;
    if (t.detected && !(*t.detected >= 0.0 && *t.detected <= t.execution))
        return evaluate::outcome_rejection::bad_detection;
    if (!copies_make_sense(t)) return evaluate::outcome_rejection::bad_copies;
    double const longest = full_time(t, how).value_or(t.execution);
    if (!is_finite(longest) || !is_finite(longest / t.usual))
        return evaluate::outcome_rejection::out_of_range;
    return std::nullopt;
}

constexpr outcome<evaluate::task_verdict> verdict_on(evaluate::task_outcome const& t,
                                                     evaluate::judging_options const& how) {
    std::optional<double> const full = full_time(t, how);
    evaluate::task_verdict v{
        .execution = full.value_or(t.execution), .detected = t.detected.has_value(), .at_least = !full};
    v.straggler = how.straggler(v.execution, t.usual);
    if (v.at_least && !v.straggler && how.killed == evaluate::killed_attempts::from_progress)
        return status::insufficient_evidence;
    v.fake = v.straggler && v.detected && !v.at_least && v.execution - *t.detected < t.usual;
    return v;
}

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::evaluate {

/// Judges a task: a straggler or not, detected or not.
///
/// Source: sections 3.2 and 6.2. A straggler took longer than `threshold` times its usual time. A *fake
/// positive* (section 6.2) is a detected straggler that had less than its usual time remaining when it was
/// detected, too late for a copy to win; only a straggler can be one, so that the precision drops by exactly
/// the fake positive ratio, as in the paper's example (0.5 - 0.14 = 0.36). Ours: for a killed attempt without
/// an estimate, only what is certain is stated: it is a straggler if it already was one, and it is not fake
/// (a copy of it won).
/// @pre `how.valid()`
/// @return `status::insufficient_evidence` for an attempt that was overtaken before it was late, and whose
/// progress is unknown or below `least_progress`; `status::out_of_domain` for an impossible outcome,
/// `status::out_of_range` on overflow
/// @note A scheduler with a better estimate of the full time than execution / progress can pass it by setting
/// the progress to execution / estimate.
/// @par Cost
/// O(1); allocates nothing
/// @par Guarantees
/// deterministic; usable in constant expressions
[[nodiscard]] constexpr outcome<task_verdict> judge(task_outcome const& task,
                                                    judging_options const& how = {}) {
    STRAGGLE_EXPECTS(how.valid());
    if (auto const reason = detail::rejection_of(task, how))
        return *reason == outcome_rejection::out_of_range ? status::out_of_range : status::out_of_domain;
    return detail::verdict_on(task, how);
}

} // namespace straggle::evaluate
