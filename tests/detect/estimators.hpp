// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Estimates of one's own: a table of what the tasks have reported.
#pragma once

#include <straggle/detect/remaining_time.hpp>

#include <cmath>
#include <span>

namespace straggle_test {

//! [estimator]
// As fast as recently: a report that lies `tau` back counts 1/e.
class fading_rate {
  public:
    explicit fading_rate(double tau = 60) : tau_(tau) {}

    void observe(double elapsed, double progress) {
        double const step = elapsed - elapsed_;
        if (!(step > 0)) return;
        double const speed = (progress - progress_) / step;
        rate_ = elapsed_ > 0 ? rate_ - std::expm1(-step / tau_) * (speed - rate_) : speed;
        elapsed_ = elapsed;
        progress_ = progress;
    }
    // What is left at a later time, if the end stays where it was.
    [[nodiscard]] straggle::outcome<double> remaining(double elapsed) const {
        if (!(progress_ > 1e-4)) return straggle::status::insufficient_evidence;
        double const left = (1 - progress_) / rate_ - (elapsed - elapsed_);
        return left > 0 ? left : 0.0;
    }

  private:
    double tau_, rate_ = 0, elapsed_ = 0, progress_ = 0;
};

// A `time_estimate`: the table has an entry for each row of the tasks.
template <class Estimator>
struct by_row {
    std::span<Estimator const> table;

    straggle::outcome<double> operator()(straggle::detect::running_task const& task,
                                         straggle::detect::job_view const&) const {
        return table[task.row].remaining(task.elapsed);
    }
};
//! [estimator]

template <class Table>
by_row(Table const&) -> by_row<typename Table::value_type>;

/// As fast as on average so far.
class average_rate {
  public:
    void observe(double elapsed, double progress) {
        elapsed_ = elapsed;
        progress_ = progress;
    }
    [[nodiscard]] double progress() const { return progress_; }
    [[nodiscard]] straggle::outcome<double> remaining(double elapsed) const {
        auto const then = straggle::predict::average_rate_remaining(elapsed_, progress_);
        if (!then) return then;
        double const left = *then - (elapsed - elapsed_);
        return left > 0 ? left : 0.0;
    }

  private:
    double elapsed_ = 0, progress_ = 0;
};

} // namespace straggle_test
