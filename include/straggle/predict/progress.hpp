// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How long will a running task still take? Small estimators, one per task, fed with the task's reports of
/// elapsed time and progress. This file defines estimators, and the two that use the whole life of a task;
/// those that forget are in smoothed_progress.hpp.
///
/// Times are counted from the start of the attempt, in any consistent unit; the defaults assume seconds.
/// Progress is a share of the whole, in [0, 1].
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/record/reason_counts.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace straggle::inline STRAGGLE_ABI::predict {

/// An estimator that observes a task's progress and predicts how long the task will still take.
///
/// - `observe(elapsed, progress)` adds one reading; false if it could not be used, and then nothing has
/// changed;
/// - `remaining()` is the remaining time as of the last reading used; `status::insufficient_evidence` until
/// there is enough data, `status::out_of_range` if the task stands still or the time overflows; never
/// negative;
/// - `rate()` is the share done per unit of time, or `status::insufficient_evidence`;
/// - `elapsed()` is the time of the last reading used, 0 before the first.
template <class Estimator>
concept progress_estimator =
    std::copyable<Estimator> && requires(Estimator& estimator, Estimator const& fed, double x) {
        { estimator.observe(x, x) } noexcept -> std::same_as<bool>;
        { fed.remaining() } noexcept -> std::same_as<outcome<double>>;
        { fed.rate() } noexcept -> std::same_as<outcome<double>>;
        { fed.elapsed() } noexcept -> std::same_as<double>;
    };

/// Why a reading could not be used.
enum class reading_rejection : std::uint8_t {
    bad_time,         ///< not a number, infinite or negative
    bad_progress,     ///< not a number in [0, 1]
    time_stood_still, ///< not later than the previous reading, or by too little to divide by
    progress_fell,    ///< less progress than at the previous reading
};
/// Number of reasons.
inline constexpr std::size_t reading_rejection_count = 4;
/// Number of reasons, for `record::reason_counts`.
[[nodiscard]] constexpr std::size_t reason_count(reading_rejection) noexcept {
    return reading_rejection_count;
}

/// The name of the enumerator, for logs and JSON.
[[nodiscard]] constexpr std::string_view to_string(reading_rejection r) noexcept {
    constexpr std::array<std::string_view, reading_rejection_count> names{
        "bad_time", "bad_progress", "time_stood_still", "progress_fell"};
    return names[static_cast<std::size_t>(r)];
}

/// What became of the readings of one task.
struct reading_counts {
    std::uint32_t used = 0;                                             ///< readings used
    record::reason_counts<reading_rejection, std::uint32_t> rejected{}; ///< why the others were rejected

    /// Readings rejected for one reason.
    [[nodiscard]] constexpr std::uint32_t operator[](reading_rejection r) const noexcept {
        return rejected[r];
    }
    /// Readings rejected for any reason.
    [[nodiscard]] constexpr std::uint32_t total_rejected() const noexcept { return rejected.total(); }
    friend constexpr bool operator==(reading_counts const&, reading_counts const&) = default;
};

/// The state common to all estimators: the last reading, and counts.
///
/// A task starts at (0, 0): a first reading at time 0 carries no information and counts as
/// `time_stood_still`. The same progress at a later time is a valid reading: it shows that the task stood
/// still.
class task_readings {
  public:
    /// Time of the last reading used; 0 before the first.
    [[nodiscard]] constexpr double elapsed() const noexcept { return elapsed_; }
    /// Progress at that time.
    [[nodiscard]] constexpr double progress() const noexcept { return progress_; }
    /// What became of the readings.
    [[nodiscard]] constexpr reading_counts const& counts() const noexcept { return counts_; }

  protected:
    /// Accepts a reading if it is later than the last; otherwise counts the reason.
    constexpr bool accept(double elapsed, double progress) noexcept {
        if (!detail::is_finite(elapsed) || !(elapsed >= 0)) return reject(reading_rejection::bad_time);
        if (!detail::is_finite(progress) || !(progress >= 0 && progress <= 1))
            return reject(reading_rejection::bad_progress);
        if (!(elapsed > elapsed_) || !detail::is_finite(1 / (elapsed - elapsed_)))
            return reject(reading_rejection::time_stood_still);
        if (progress < progress_) return reject(reading_rejection::progress_fell);
        elapsed_ = elapsed;
        progress_ = progress;
        ++counts_.used;
        return true;
    }
    /// The time needed for the remaining work at a given speed.
    [[nodiscard]] constexpr outcome<double> remaining_at_rate(double rate) const noexcept {
        if (!(progress_ < 1)) return 0.0;
        double const time = rate > 0 ? (1 - progress_) / rate : 0;
        if (!(rate > 0) || !detail::is_finite(time)) return status::out_of_range;
        return time;
    }

  private:
    constexpr bool reject(reading_rejection r) noexcept {
        ++counts_.rejected[r];
        return false;
    }

    double elapsed_ = 0;
    double progress_ = 0;
    reading_counts counts_;
};

/// Below this progress the speed is unknown: estimators that divide by it wait for more.
inline constexpr double least_telling_progress = 1e-4;

/// The remaining time of a task that continues at its average pace: elapsed * (1 - p) / p.
///
/// Source: Hadoop's `LegacyTaskRuntimeEstimator`, and LATE (Zaharia et al. 2008, section 4). Hadoop treats a
/// progress below 1e-4 as 1e-4, which predicts ten thousand times its age for a task that has just started;
/// here it is insufficient evidence.
/// @param elapsed time since the task started
/// @param progress share done
/// @return `status::out_of_domain` for an invalid time or share; `status::insufficient_evidence` below
/// `least_telling_progress`; `status::out_of_range` if the result overflows
/// @par Cost
/// O(1)
/// @par Accuracy
/// relative error below 4e-16 from the rounding of three operations
[[nodiscard]] constexpr outcome<double> average_rate_remaining(double elapsed, double progress) noexcept {
    if (!detail::is_finite(elapsed) || !detail::is_finite(progress) || !(elapsed >= 0) ||
        !(progress >= 0 && progress <= 1))
        return status::out_of_domain;
    if (progress < least_telling_progress) return status::insufficient_evidence;
    double const time = elapsed * ((1 - progress) / progress);
    if (!detail::is_finite(time)) return status::out_of_range;
    return time;
}

/// A task continues at its average pace: `average_rate_remaining` of the last reading.
///
/// Exact for a task of constant speed, slow to notice a change.
/// @par Cost
/// 40 bytes; O(1) per reading; allocates nothing
class average_rate : public task_readings {
  public:
    constexpr bool observe(double elapsed, double progress) noexcept { return accept(elapsed, progress); }

    [[nodiscard]] constexpr outcome<double> remaining() const noexcept {
        return average_rate_remaining(elapsed(), progress());
    }
    [[nodiscard]] constexpr outcome<double> rate() const noexcept {
        if (progress() < least_telling_progress) return status::insufficient_evidence;
        return progress() / elapsed();
    }
};

/// A task takes as long as its siblings took, times the slowdown of its node; its reports are ignored, except
/// for the time and whether it is done.
///
/// For tasks without useful reports. It is silent until the usual time is passed. A task past that time has 0
/// left: it is due, which does not predict when it will end.
///
/// Source: ours.
/// @par Cost
/// 48 bytes; O(1); allocates nothing
class sibling_time : public task_readings {
  public:
    /// Sets how long tasks of the job take, and how slow the node is. May be called repeatedly, as more of
    /// them finish.
    /// @param mean_finished mean time of the finished tasks of the job
    /// @param slowdown how much longer tasks take on this node than on others, 1 if unknown
    /// @return false, with no effect, unless both are positive and finite
    constexpr bool expect(double mean_finished, double slowdown = 1) noexcept {
        double const whole = mean_finished * slowdown;
        if (!(mean_finished > 0) || !(slowdown > 0) || !(whole > 0) || !detail::is_finite(mean_finished) ||
            !detail::is_finite(slowdown) || !detail::is_finite(whole) || !detail::is_finite(1 / whole))
            return false;
        whole_ = whole;
        return true;
    }

    constexpr bool observe(double elapsed, double progress) noexcept { return accept(elapsed, progress); }

    [[nodiscard]] constexpr outcome<double> remaining() const noexcept {
        if (!(progress() < 1)) return 0.0;
        if (!(whole_ > 0)) return status::insufficient_evidence;
        return whole_ > elapsed() ? whole_ - elapsed() : 0.0;
    }
    [[nodiscard]] constexpr outcome<double> rate() const noexcept {
        if (!(whole_ > 0)) return status::insufficient_evidence;
        return 1 / whole_;
    }

  private:
    double whole_ = 0; // expected total time of the task; 0: unknown
};

/// The remaining time at a later moment without a new reading: assumes the same end as before. Not below 0.
///
/// So a silent task seems to approach its end. If tasks are expected to report, call `observe(now,
/// estimator.progress())` for those that have not: silence then counts as no progress, as in Hadoop, which
/// makes up a report after nine seconds without one.
/// @param estimator of the task
/// @param elapsed current time since the task started
/// @return as `remaining()`; `status::out_of_domain` for an invalid time
/// @par Cost
/// O(1)
template <progress_estimator Estimator>
[[nodiscard]] constexpr outcome<double> remaining_at(Estimator const& estimator, double elapsed) noexcept {
    if (!detail::is_finite(elapsed) || !(elapsed >= 0)) return status::out_of_domain;
    outcome<double> const then = estimator.remaining();
    if (!then) return then;
    double const now = *then - (elapsed - estimator.elapsed());
    if (!detail::is_finite(now)) return status::out_of_range;
    return now > 0 ? now : 0.0;
}

} // namespace straggle::predict
