// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Defines stragglers in hindsight: tasks that took clearly longer than usual. The usual time is a quantile
/// of the times of the same task in other runs, or of its siblings in a job; this file also computes how
/// wrong it may be before tasks are misclassified.
///
/// Source: T.-D. Phan, G. Pallez, S. Ibrahim, P. Raghavan, A new framework for evaluating straggler detection
/// mechanisms in MapReduce, ACM TOMPECS (2019), hal-02172590, section 6.1.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/stats/order.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace straggle::inline STRAGGLE_ABI::evaluate {

/// Which tasks count as stragglers: those that took longer than `threshold` times their usual time.
struct straggler_rule {
    double threshold = 1.2; ///< at least 1; 1.2 is the MapReduce paper's

    /// Whether a task was a straggler. Both times in the same unit; false if either is NaN.
    [[nodiscard]] constexpr bool operator()(double execution, double usual) const noexcept {
        return execution > threshold * usual;
    }
    /// Whether the threshold is a finite number of at least 1.
    [[nodiscard]] constexpr bool valid() const noexcept {
        return threshold >= 1.0 && detail::is_finite(threshold);
    }
    friend constexpr bool operator==(straggler_rule const&, straggler_rule const&) = default;
};

/// The usual execution time, and the number of times behind it.
struct usual_time {
    double time = 0;            ///< in the unit of the times; above 0
    std::uint64_t used = 0;     ///< times it was computed from
    std::uint64_t rejected = 0; ///< times rejected: negative, infinite or NaN
    friend constexpr bool operator==(usual_time const&, usual_time const&) = default;
};

/// How long a task usually takes: a quantile of the times of repeated runs of it, or of its siblings in a
/// job. Source: section 6.1, which takes ten runs on equal machines and the quantile 0.5. The right quantile
/// is the one for which healthy runs show no more stragglers than expected (`straggler_share`).
/// @param times reordered by the call
/// @param quantile in [0, 1]; by linear interpolation (`quantile_in_place`)
/// @return `status::insufficient_evidence` if no time is usable; `status::out_of_domain` for a quantile
/// outside [0, 1], or if the usual time is 0, which has no multiples
/// @note A task that ran only once is its own usual time: it can never be a straggler.
/// @par Cost
/// O(n) expected; allocates nothing
/// @par Guarantees
/// noexcept; deterministic for any order of the times
/// @par Accuracy
/// that of `quantile_in_place`
[[nodiscard]] inline outcome<usual_time> find_usual_time(std::span<double> times,
                                                         double quantile = 0.5) noexcept {
    auto const bad =
        std::partition(times.begin(), times.end(), [](double t) { return t >= 0.0 && detail::is_finite(t); });
    auto const used = static_cast<std::size_t>(bad - times.begin());
    outcome<double> const time = stats::quantile_in_place(times.first(used), quantile);
    if (!time) return time.reason();
    if (!(*time > 0.0)) return status::out_of_domain;
    return usual_time{*time, used, times.size() - used};
}

/// The share of tasks that were stragglers, all with the same usual time.
/// Source: table 5, which uses it to choose the quantile.
/// @param times of finished tasks @param usual above 0 @param rule defines a straggler
/// @return in [0, 1]; `status::insufficient_evidence` without times; `status::out_of_domain` for a time that
/// is negative or not finite, a usual time that is not above 0, or an invalid rule
/// @par Cost
/// O(n); allocates nothing
/// @par Guarantees
/// noexcept
[[nodiscard]] constexpr outcome<double> straggler_share(std::span<double const> times, double usual,
                                                        straggler_rule rule = {}) noexcept {
    if (!(usual > 0.0) || !detail::is_finite(usual) || !rule.valid()) return status::out_of_domain;
    if (times.empty()) return status::insufficient_evidence;
    std::uint64_t stragglers = 0;
    for (double const t : times) {
        if (!(t >= 0.0) || !detail::is_finite(t)) return status::out_of_domain;
        stragglers += static_cast<std::uint64_t>(rule(t, usual));
    }
    return static_cast<double>(stragglers) / static_cast<double>(times.size());
}

/// How far a guess of the usual time may be off, relative to the true one: a guess `(1 + error) * true` with
/// `low <= error <= high` classifies all tasks correctly.
struct guess_errors {
    double low = 0;  ///< (1 + eps_setting) / threshold - 1: below, ordinary tasks look like stragglers
    double high = 0; ///< s_min (1 - eps_setting) / threshold - 1: above, stragglers look ordinary

    /// The tolerance in either direction: the `eps_guess` of equations 11 and 12; negative if not even the
    /// true time suffices.
    [[nodiscard]] constexpr double either_way() const noexcept { return (std::min)(-low, high); }
    friend constexpr bool operator==(guess_errors const&, guess_errors const&) = default;
};

/// The harmless errors of a guess of the usual time, for each direction.
///
/// Source: equations 11 and 12, where the guess is `(1 + e)` times the true time for one signed e: `threshold
/// (1 + e) <= s_min (1 - eps_setting)` and `1 + eps_setting <= threshold (1 + e)`. Exactly at the upper end,
/// a straggler of s_min times its usual time is not *longer* than the threshold and is missed.
///
/// The condition that the paper prints for "such a value exists", `eps_setting <= (s_min - 1) / (s_min + 1)`,
/// is equivalent to this range not being empty, for any threshold. It is not sufficient for equations 11 and
/// 12, see `tolerance_of_guess`: the range need not contain 0.
/// @param s_min minimum ratio of a straggler's time to its usual time; above 0
/// @param eps_setting relative variation of any task's time with its surroundings; in [0, 1)
/// @param threshold that of `straggler_rule`; above 0
/// @return `status::out_of_domain` for other arguments; `status::insufficient_evidence` if the range is
/// empty: the times of stragglers and of others overlap, and no guess separates them
/// @par Cost
/// O(1); allocates nothing
/// @par Guarantees
/// noexcept; usable in constant expressions
/// @par Accuracy
/// each end to 2^-51 of 1 + its size; if the range is a single point, or 0 is an end of it, rounding decides
/// whether it is empty, or whether there is a tolerance
[[nodiscard]] constexpr outcome<guess_errors> harmless_errors(double s_min, double eps_setting,
                                                              double threshold = 1.2) noexcept {
    if (!(s_min > 0.0) || !detail::is_finite(s_min) || !(eps_setting >= 0.0 && eps_setting < 1.0) ||
        !(threshold > 0.0) || !detail::is_finite(threshold))
        return status::out_of_domain;
    guess_errors const e{(1.0 + eps_setting) / threshold - 1.0,
                         s_min * (1.0 - eps_setting) / threshold - 1.0};
    if (!detail::is_finite(e.low) || !detail::is_finite(e.high)) return status::out_of_domain;
    if (!(e.low <= e.high)) return status::insufficient_evidence;
    return e;
}

/// The largest `eps_guess` with which equations 11 and 12 hold: how far a guess of the usual time may be off,
/// in either direction, before a straggler is missed or an ordinary task blamed.
///
/// Source: equations 11 and 12, solved:
/// `eps_guess <= min(s_min (1 - eps_setting) / threshold - 1, 1 - (1 + eps_setting) / threshold)`.
/// The paper prints this bound with `eps_guess` on its right side, a misprint for `eps_setting`
/// (`papers::evaluation_2019` solves what stands there). A solution exists iff
/// `eps_setting <= min(threshold - 1, 1 - threshold / s_min)`. The paper prints `(s_min - 1) / (s_min + 1)`,
/// which is the largest that minimum can be, at `threshold = 2 s_min / (s_min + 1)`: necessary for any
/// threshold, sufficient for 1.2 only at s_min = 1.5. At s_min = 3 and eps_setting = 0.4 (<= 0.5) equation 12
/// would need eps_guess <= -1/6.
/// @return as `harmless_errors`, and `status::insufficient_evidence` when there is no such eps_guess >= 0
/// @par Cost
/// O(1); allocates nothing
/// @par Guarantees
/// noexcept; usable in constant expressions
/// @par Accuracy
/// as `harmless_errors`
[[nodiscard]] constexpr outcome<double> tolerance_of_guess(double s_min, double eps_setting,
                                                           double threshold = 1.2) noexcept {
    outcome<guess_errors> const errors = harmless_errors(s_min, eps_setting, threshold);
    if (!errors) return errors.reason();
    double const eps = errors->either_way();
    if (!(eps >= 0.0)) return status::insufficient_evidence;
    return eps;
}

/// The threshold with the largest tolerance of a guess: halfway between the slowest ordinary task and the
/// fastest straggler, `(1 + eps_setting + s_min (1 - eps_setting)) / 2`.
/// Source: ours; both bounds of `tolerance_of_guess` are equal there.
/// @return as `harmless_errors`
/// @par Cost
/// O(1); allocates nothing
/// @par Guarantees
/// noexcept; usable in constant expressions
[[nodiscard]] constexpr outcome<double> most_tolerant_threshold(double s_min, double eps_setting) noexcept {
    outcome<guess_errors> const errors = harmless_errors(s_min, eps_setting, 1.0);
    if (!errors) return errors.reason();
    return 1.0 + (errors->low + errors->high) / 2.0;
}

} // namespace straggle::evaluate
