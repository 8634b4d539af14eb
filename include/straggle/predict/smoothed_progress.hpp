// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How long will a running task still take, if it continues at its recent pace? Estimators that smooth its
/// speed and forget the distant past.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/predict/progress.hpp>

#include <cmath>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::detail {

// The speed after a time step, smoothed with a memory that fades as exp(-step / tau). In this form a constant
// speed stays exactly the same.
inline double smoothed(double before, double speed, double step, double tau) noexcept {
    return before - std::expm1(-step / tau) * (speed - before);
}

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::predict {

/// A task continues at its recent pace: its speed, smoothed with a memory that fades as exp(-dt / tau).
///
/// Each reading adds the speed since the previous one; the older speed keeps the weight exp(-dt / tau), so
/// that data of age tau counts 1/e, for any spacing of the readings. The first speed is that since the start.
///
/// Source: Hadoop's `ExponentiallySmoothedTaskRuntimeEstimator`, with its sign corrected: Hadoop weights the
/// old speed by exp(+dt / tau), more than 1, and the new one by a negative number. There a task that slows
/// down seems to become faster: one that falls from 0.01 to 0.001 per second gets 0.025 after a minute, while
/// 0.0043 is right.
/// @par Cost
/// 56 bytes; O(1) per reading, one exponential; allocates nothing
class exponential_rate : public task_readings {
  public:
    /// @param tau time after which the weight of a speed has fallen to 1/e, in the unit of the readings: 60
    /// seconds
    /// @pre `tau > 0` and finite
    explicit constexpr exponential_rate(double tau = 60) : tau_(tau) {
        STRAGGLE_EXPECTS(tau > 0 && detail::is_finite(tau));
    }

    bool observe(double elapsed, double progress) noexcept {
        double const since = this->elapsed(), done = this->progress();
        if (!accept(elapsed, progress)) return false;
        double const step = elapsed - since, speed = (progress - done) / step;
        rate_ = counts().used == 1 ? speed : detail::smoothed(rate_, speed, step, tau_);
        return true;
    }

    [[nodiscard]] constexpr outcome<double> remaining() const noexcept {
        if (progress() < least_telling_progress) return status::insufficient_evidence;
        return remaining_at_rate(rate_);
    }
    [[nodiscard]] constexpr outcome<double> rate() const noexcept {
        if (progress() < least_telling_progress) return status::insufficient_evidence;
        return rate_;
    }

  private:
    double tau_;
    double rate_ = 0;
};

/// How a `simple_exponential` forecasts.
struct simple_exponential_options {
    double tau =
        120; ///< time after which the weight of a speed has fallen to 1/e, in the unit of the readings
    std::uint32_t warm_up = 24; ///< readings before the first forecast
};

/// A forecast of a task's speed by simple exponential smoothing, silent until it is warm, with a record of
/// its forecast errors.
///
/// Like `exponential_rate`, but silent before `warm_up` + 1 readings; then its memory is the whole life of
/// the task so far, if that is longer than tau: a task that reports once a minute is smoothed over 25
/// minutes, not over two. A task with that many reports but no progress has an answer too:
/// `status::out_of_range`, it stands still.
///
/// Source: Hadoop's `SimpleExponentialSmoothing` and the estimator around it. Different: a missing estimate
/// is a status (Hadoop's -1 for "no forecast" is read as data and becomes 116 days); a reading at the time of
/// the previous one is ignored instead of replacing it with a weight of 0; progress never falls, so no speed
/// is negative.
/// @par Cost
/// 64 bytes; O(1) per reading, one exponential; allocates nothing
class simple_exponential : public task_readings {
  public:
    /// @pre `options.tau > 0` and finite
    explicit constexpr simple_exponential(simple_exponential_options const& options = {})
        : warm_up_(options.warm_up), tau_(options.tau) {
        STRAGGLE_EXPECTS(options.tau > 0 && detail::is_finite(options.tau));
    }

    bool observe(double elapsed, double progress) noexcept {
        double const since = this->elapsed(), done = this->progress();
        if (!accept(elapsed, progress)) return false;
        double const step = elapsed - since, speed = (progress - done) / step;
        if (counts().used == 1) forecast_ = speed;
        if (counts().used - 1 == warm_up_ && elapsed > tau_) tau_ = elapsed;
        double const error = speed - forecast_;
        squared_errors_ += error * error;
        forecast_ = detail::smoothed(forecast_, speed, step, tau_);
        return true;
    }

    [[nodiscard]] constexpr outcome<double> remaining() const noexcept {
        if (!(progress() < 1)) return 0.0;
        if (!is_warm()) return status::insufficient_evidence;
        return remaining_at_rate(forecast_);
    }
    [[nodiscard]] constexpr outcome<double> rate() const noexcept {
        if (!is_warm()) return status::insufficient_evidence;
        return forecast_;
    }

    /// Whether there have been more readings than the warm-up.
    [[nodiscard]] constexpr bool is_warm() const noexcept { return counts().used > warm_up_; }

    /// The sum of the squared differences between each speed and its forecast from earlier readings,
    /// including the warm-up; divided by the number of readings after the first, it is a variance of the
    /// speed.
    /// @return `status::insufficient_evidence` before the second reading; `status::out_of_range` on overflow
    [[nodiscard]] constexpr outcome<double> sum_of_squared_errors() const noexcept {
        if (counts().used < 2) return status::insufficient_evidence;
        if (!detail::is_finite(squared_errors_)) return status::out_of_range;
        return squared_errors_;
    }

  private:
    std::uint32_t warm_up_;
    double tau_;
    double forecast_ = 0;
    double squared_errors_ = 0;
};

} // namespace straggle::predict
