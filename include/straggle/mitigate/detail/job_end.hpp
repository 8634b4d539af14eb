// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `mitigate/speculator.hpp`: when a job with a deadline ends.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/mitigate/copy_rows.hpp>
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

// Probability that more than t is left, given sixteen values of what is left: lognormal through the median
// and the ninth tenth, for the tail beyond the largest value.
class left_tail {
  public:
    explicit left_tail(predict::time_points const& left) noexcept
        : middle_(left.quantile(0.5)),
          spread_((std::max)(middle_ > 0 ? std::log(left.quantile(0.9) / middle_) / 1.2815515655446004 : 0.0,
                             0.02)) {}
    [[nodiscard]] double operator()(double t) const noexcept {
        if (!(middle_ > 0)) return 0;
        return std::erfc(std::log(t / middle_) / (spread_ * 1.4142135623730951)) / 2;
    }

  private:
    double middle_, spread_;
};

} // namespace straggle::detail
