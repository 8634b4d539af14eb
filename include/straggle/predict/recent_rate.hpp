// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How long will a running task still take, if it may have slowed down on the way? An estimator that uses the
/// average pace until the task becomes slower than that.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/predict/progress.hpp>
#include <straggle/predict/smoothed_progress.hpp>

namespace straggle::inline STRAGGLE_ABI::predict {

/// A task continues at its average pace, or at its recent pace if that is slower.
///
/// A task that has done two thirds in good time and then hits a slow disk looks nearly done on average for as
/// long as it takes: one that did 0.6 in 40 s and then 0.001 per second has 51 s left after 100 s by its
/// average, 117 s by this, while 340 s are right. The opposite case gains nothing: a task that speeds up is
/// no straggler, and its average catches up. The recent pace is its speed, smoothed with a memory that fades
/// as exp(-dt / tau). The first speed is that between the first two readings with any progress, not since the
/// launch: the time before a task starts to work is not slow work.
///
/// Rules that use only progress and time, like all detectors, can get `even_progress()` instead of the
/// progress: then they notice that the task has slowed down.
///
/// Source: ours, of `average_rate` and `exponential_rate`.
/// @par Cost
/// 56 bytes; O(1) per reading, one exponential; allocates nothing
/// @par Guarantees
/// never less than `average_rate`
class recent_rate : public task_readings {
  public:
    /// @param tau time after which the weight of a speed has fallen to 1/e, in the unit of the readings: 30
    /// seconds. Half that of `exponential_rate`: a slowdown must be visible while a copy still helps
    /// @pre `tau > 0` and finite
    explicit constexpr recent_rate(double tau = 30) : tau_(tau) {
        STRAGGLE_EXPECTS(tau > 0 && detail::is_finite(tau));
    }

    bool observe(double elapsed, double progress) noexcept {
        double const since = this->elapsed(), done = this->progress();
        if (!accept(elapsed, progress)) return false;
        if (!(progress > 0)) return true;
        double const step = elapsed - since;
        if (!(done > 0)) return true; // no difference yet
        double const speed = (progress - done) / step;
        // No progress between the first two is weak evidence: let the speed so far fade.
        double const before = rate_ < 0 && !(speed > 0) ? done / since : rate_;
        rate_ = before < 0 ? speed : detail::smoothed(before, speed, step, tau_);
        return true;
    }

    [[nodiscard]] constexpr outcome<double> remaining() const noexcept {
        outcome<double> const average = average_rate_remaining(elapsed(), progress());
        if (!average || rate_ < 0) return average;
        outcome<double> const lately = remaining_at_rate(rate_);
        return lately && *lately < *average ? average : lately;
    }
    [[nodiscard]] constexpr outcome<double> rate() const noexcept {
        if (progress() < least_telling_progress) return status::insufficient_evidence;
        double const average = progress() / elapsed();
        return rate_ >= 0 && rate_ < average ? rate_ : average;
    }

    /// The progress for which `average_rate_remaining` would give the same result: elapsed / (elapsed +
    /// remaining). Pass it to a detector.
    /// @return at most `progress()`; equal to it if nothing is known yet, 0 for a task that stands still
    [[nodiscard]] constexpr double even_progress() const noexcept {
        outcome<double> const left = remaining();
        if (!left) return left.reason() == status::out_of_range ? 0.0 : progress();
        double const even = elapsed() / (elapsed() + *left);
        return even < progress() ? even : progress();
    }

  private:
    double tau_;
    double rate_ = -1; // negative: unknown
};

} // namespace straggle::predict
