// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How long will a running task still take? Small estimators, one per task, fed with what the task reports:
/// so much time has passed, so much is done. Here: what an estimator is, and the two that look at the whole
/// life of a task; those that forget are in smoothed_progress.hpp.
///
/// Times are counted from the start of the attempt, in any unit as long as it is the same everywhere; the
/// defaults are meant in seconds. Progress is a share of the whole, in [0, 1].
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

/// Something that is told of a task's progress and says how long the task will still take.
///
/// - `observe(elapsed, progress)` takes in one reading; false when it could not be used, and then nothing
///   has changed;
/// - `remaining()` is the time left as of the last reading that was used; `status::insufficient_evidence`
///   until there is enough to go by, `status::out_of_range` when the task stands still or the time is too
///   long for a number; never negative;
/// - `rate()` is the share done per unit of time, or `status::insufficient_evidence`;
/// - `elapsed()` is the time of the last reading that was used, 0 before.
template <class Estimator>
concept progress_estimator =
    std::copyable<Estimator> && requires(Estimator& estimator, Estimator const& told, double x) {
        { estimator.observe(x, x) } noexcept -> std::same_as<bool>;
        { told.remaining() } noexcept -> std::same_as<outcome<double>>;
        { told.rate() } noexcept -> std::same_as<outcome<double>>;
        { told.elapsed() } noexcept -> std::same_as<double>;
    };

/// Why a reading could not be used.
enum class reading_rejection : std::uint8_t {
    bad_time,         ///< not a number, infinite or negative
    bad_progress,     ///< not a number from 0 to 1
    time_stood_still, ///< not later than the reading before, or by too little to divide by
    progress_fell,    ///< less was done than at the reading before
};
/// How many reasons there are.
inline constexpr std::size_t reading_rejection_count = 4;
/// How many reasons there are, for `record::reason_counts`.
[[nodiscard]] constexpr std::size_t reason_count(reading_rejection) noexcept {
    return reading_rejection_count;
}

/// The name of a reason as it stands in the source, for logs and JSON.
[[nodiscard]] constexpr std::string_view to_string(reading_rejection r) noexcept {
    constexpr std::array<std::string_view, reading_rejection_count> names{
        "bad_time", "bad_progress", "time_stood_still", "progress_fell"};
    return names[static_cast<std::size_t>(r)];
}

/// What became of the readings of one task.
struct reading_counts {
    std::uint32_t used = 0;                                             ///< readings that were taken in
    record::reason_counts<reading_rejection, std::uint32_t> rejected{}; ///< why the others were not

    /// Readings rejected for one reason.
    [[nodiscard]] constexpr std::uint32_t operator[](reading_rejection r) const noexcept {
        return rejected[r];
    }
    /// Readings rejected for any reason.
    [[nodiscard]] constexpr std::uint32_t total_rejected() const noexcept { return rejected.total(); }
    friend constexpr bool operator==(reading_counts const&, reading_counts const&) = default;
};

/// What all estimators know of their task: the last reading, and how many there were.
///
/// A task begins at (0, 0): a first reading at time 0 tells nothing and counts as `time_stood_still`. The
/// same progress at a later time is a reading like any other: the task stood still, and that is news.
class task_readings {
  public:
    /// Time of the last reading that was used; 0 before the first.
    [[nodiscard]] constexpr double elapsed() const noexcept { return elapsed_; }
    /// Share that was done then.
    [[nodiscard]] constexpr double progress() const noexcept { return progress_; }
    /// What became of the readings.
    [[nodiscard]] constexpr reading_counts const& counts() const noexcept { return counts_; }

  protected:
    /// Takes in a reading if it is a step forward in time; else counts why not.
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
    /// The time that what is left takes at a given speed.
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

/// Below this progress a task says nothing about its speed: estimators that divide by it wait for more.
inline constexpr double least_telling_progress = 1e-4;

/// The time left of a task that goes on as it has gone so far: elapsed * (1 - p) / p.
///
/// Source: Hadoop's `LegacyTaskRuntimeEstimator`, and LATE (Zaharia et al. 2008, section 4). Hadoop reads a
/// progress below 1e-4 as 1e-4, which makes ten thousand times its age out of a task that has just begun;
/// here it is no evidence.
/// @param elapsed time since the task began
/// @param progress share done
/// @return `status::out_of_domain` for what is not a time or a share; `status::insufficient_evidence` below
/// `least_telling_progress`; `status::out_of_range` for a result too large for a number
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

/// A task goes on as it has gone on average: `average_rate_remaining` of the last reading.
///
/// Exact for a task of constant speed, slow to notice a change of it.
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

/// A task takes as long as its siblings took, times how slow its node is; what it reports is not looked at,
/// but for the time and whether it is done.
///
/// For tasks that report nothing of use. It is silent until it is told what is usual. A task past its time
/// has 0 left: it is due, which says nothing of when it will be done.
///
/// Source: ours.
/// @par Cost
/// 48 bytes; O(1); allocates nothing
class sibling_time : public task_readings {
  public:
    /// Says how long tasks of the job take, and how slow the node is. Again and again, as more of them
    /// finish.
    /// @param mean_finished mean time of the finished tasks of the job
    /// @param slowdown how much longer tasks take on this node than on others, 1 when nothing is known
    /// @return false, and nothing else, unless the time is positive, the slowdown too, and both finite
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
    double whole_ = 0; // the time the task should take; 0: unknown
};

/// The time left at a later moment, if nothing has been heard since the last reading: the end stays where it
/// was. Not below 0.
///
/// A task that has fallen silent thus seems to come nearer to its end. If tasks are expected to report, call
/// `observe(now, estimator.progress())` for those that have not: silence is then no progress, as in Hadoop,
/// which makes up a report after nine seconds without one.
/// @param estimator of the task
/// @param elapsed time since the task began, as of now
/// @return as `remaining()`; `status::out_of_domain` for what is not a time
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
