// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `mitigate/detail/late_scan.hpp`: tasks of a job that are certainly not late, of which it
/// is asked only for how long the job waits for them.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/when_used.hpp>
#include <straggle/predict/progress_trust.hpp>
#include <straggle/predict/time_outlook.hpp>

#include <algorithm>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

template <class Void = void>
class basic_soon_tasks {
  public:
    void clear() noexcept { tasks_.clear(); }
    // A task of some age that has `at_most` left; the rest is as for `predict::left_by_both`.
    void add(double factor, double age, predict::progress_track const& track,
             predict::progress_worth const& worth, double at_most, double now) {
        tasks_.push_back({track, worth, factor, age, at_most, track.promise() - track.since_promise(now)});
    }
    // Raises `next` to the longest median time left. Those that promised most come first: most others are
    // certainly not those that the job waits for longest.
    void raise(predict::time_outlook const& outlook, double now, double& next) {
        std::sort(tasks_.begin(), tasks_.end(),
                  [](task const& a, task const& b) { return a.promised > b.promised; });
        for (task const& t : tasks_) {
            if (t.at_most <= next ||
                predict::is_soon_by_both(outlook, t.factor, t.age, t.track, now, t.worth, next))
                continue;
            double const left =
                predict::left_by_both(outlook, t.factor, t.age, t.track, now, t.worth).quantile(0.5);
            next = (std::max)(next, left);
        }
    }

  private:
    struct task {
        predict::progress_track track;
        predict::progress_worth worth;
        double factor, age, at_most, promised;
    };
    when_used<Void, std::vector<task>> tasks_{};
};

} // namespace straggle::detail
