// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `mitigate/speculator.hpp`: when a job with a deadline ends.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/mitigate/copy_rows.hpp>
#include <straggle/predict/progress_trust.hpp>
#include <straggle/predict/time_outlook.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace straggle::inline STRAGGLE_ABI::detail {

// The last of a job's running tasks, as the product of the distributions of their ends.
class job_end {
  public:
    // `due`: time left until the deadline; `usual`: of a task of the job.
    job_end(double due, double usual) noexcept : due_(due), first_(usual * 0.01) { ended_.fill(1); }

    // Probabilities that a task ends after the deadline.
    struct task_misses {
        double as_it_runs, with_copy;
    };
    // `later(t)`: probability that the task takes longer than t from now; `anew`: that a copy of it would end
    // in time.
    template <class Later>
    task_misses add(Later&& later, double anew) noexcept {
        double time = first_;
        for (double& e : ended_) {
            e *= 1 - later(time);
            time *= step;
        }
        double const misses = due_ > 0 ? later(due_) : 1.0;
        in_time_ *= 1 - misses;
        double const least = misses * (1 - anew);
        helped_ *= 1 - least;
        return {misses, least};
    }
    [[nodiscard]] double miss_probability() const noexcept { return 1 - in_time_; }
    // The same if each task got a copy.
    [[nodiscard]] double least_probability() const noexcept { return 1 - helped_; }
    // Probability that all tasks but one end in time if each got a copy; `least`: that task's `with_copy`.
    [[nodiscard]] double others_in_time(double least) const noexcept {
        return least < 1 ? helped_ / (1 - least) : 0.0;
    }
    [[nodiscard]] mitigate::time_range range() const noexcept {
        return {quantile(0.1), quantile(0.5), quantile(0.9)};
    }

  private:
    static constexpr std::size_t count = 32;
    static constexpr double step = 1.35; // to 100 usual times

    [[nodiscard]] double quantile(double share) const noexcept {
        std::size_t const at = static_cast<std::size_t>(
            std::find_if(ended_.begin(), ended_.end(), [=](double e) { return e >= share; }) -
            ended_.begin());
        double const low = first_ * std::pow(step, static_cast<double>(at) - 1);
        if (at == count) return low;
        double const before = at == 0 ? 0.0 : ended_[at - 1], rise = ended_[at] - before;
        double const part = rise > 0 ? (share - before) / rise : 1.0;
        return at == 0 ? first_ * part : low * std::pow(step, part);
    }

    double due_, first_;
    double in_time_ = 1, helped_ = 1;
    std::array<double, count> ended_{}; // by then, at times that grow by `step`
};

// Probability that more than t is left to a task, from its siblings and its progress: `left_by_both` in cells
// as narrow as its promise is sure. A job of many tasks ends with the last one, so their tails matter.
class promised_tail {
  public:
    // The parameters of `left_by_both`.
    promised_tail(predict::time_outlook const& outlook, double factor, double age,
                  predict::progress_track const& track, double now, predict::progress_worth const& worth) {
        constexpr double least = 1e-4; // progress in hundredths
        promise_fit const fit(track, now, worth, least);
        stale_ = (std::max)(track.since_promise(now), 0.0);
        auto const likely = fit.likely();
        // Its age since the promise counts as part of the time left, as in the promise.
        double low = (std::max)(likely[0] + stale_, stale_);
        double const high = (std::max)(likely[1] + stale_, 8 * stale_); // it may have been due long ago
        if (!(low > 0) || !(high > low)) return;
        first_ = std::log(low);
        step_ = (std::log(high) - first_) / static_cast<double>(cells);
        double const grow = std::exp(step_), half = std::exp(step_ / 2);
        auto const survival = outlook.survival_after(age / factor);
        double before = survival((age + low - stale_) / factor);
        for (std::size_t i = 0; i < cells; ++i, low *= grow) {
            double const after = survival((age + low * grow - stale_) / factor);
            reached_[i + 1] = reached_[i] + (before - after) * fit(low * half - stale_);
            before = after;
        }
    }
    // Whether siblings exclude what progress promises.
    [[nodiscard]] bool is_void() const noexcept { return !(reached_[cells] > 0); }
    // @pre !is_void()
    [[nodiscard]] double operator()(double t) const noexcept {
        double const place = (std::log(t + stale_) - first_) / step_;
        if (!(place > 0)) return 1;
        if (!(place < static_cast<double>(cells))) return 0;
        auto const at = static_cast<std::size_t>(place);
        double const part = place - static_cast<double>(at);
        return 1 - (reached_[at] + part * (reached_[at + 1] - reached_[at])) / reached_[cells];
    }

  private:
    static constexpr std::size_t cells = 64;
    double stale_ = 0, first_ = 0, step_ = 1;
    std::array<double, cells + 1> reached_{};
};

} // namespace straggle::detail
