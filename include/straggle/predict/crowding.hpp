// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How much longer do tasks take beside others on the same node? Slots share more than their number says:
/// memory, disks, links. Whether they do here, the tasks themselves tell.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::predict {

/// What the tasks of one job have shown: means, so that jobs are not compared with each other.
struct job_company {
    double tasks = 0;    ///< that ended
    double company = 0;  ///< the mean of their nodes' busy shares
    double log_time = 0; ///< the mean of the logarithms of their times
};

/// Learns what company costs: the slope of the logarithm of a task's time over the share of the other slots
/// of its node that were busy while it ran, within jobs.
///
/// A busy hour makes all tasks of a job slower and all nodes fuller: only tasks of the same job are compared.
/// The slope is believed as far as it is larger than its standard error, and never below 0.
///
/// Source: ours. The slope is that of least squares with a mean for each job; how far it is believed is the
/// positive part of James and Stein (1961).
/// @par Cost
/// O(1), 24 bytes for each job that goes on; allocates nothing
/// @par Guarantees
/// noexcept; deterministic; times of another unit give the same slope
class crowding {
  public:
    /// A task ended.
    /// @param job it belongs to; updated
    /// @param company share of the other slots of its node that were busy, on average, in [0, 1]
    /// @param log_time logarithm of its time, as far as node and input do not explain it
    void observe(job_company& job, double company, double log_time) noexcept {
        if (!(company >= 0) || !(company <= 1) || !detail::is_finite(log_time)) return;
        job.tasks += 1;
        double const x = company - job.company, share = 1 / job.tasks;
        // A task that took fifty times as long took that long for another reason.
        double const y = job.tasks > 1 ? std::clamp(log_time - job.log_time, -widest, widest) : 0.0;
        if (job.tasks > 1) {
            double const kept = 1 - 1 / remembered;
            xx_ = xx_ * kept + (1 - share) * x * x;
            xy_ = xy_ * kept + (1 - share) * x * y;
            yy_ = yy_ * kept + (1 - share) * y * y;
            tasks_ = tasks_ * kept + 1;
            job.log_time += share * y;
        } else {
            job.log_time = log_time;
        }
        job.company += share * x;
    }

    /// By how much the logarithm of a task's time grows from a node of its own to one that is full; 0 while
    /// nothing is proved.
    [[nodiscard]] double slope() const noexcept {
        if (!(tasks_ > 2) || !(xx_ > 0) || !(xy_ > 0)) return 0;
        double const slope = xy_ / xx_;
        double const rest = (std::max)(yy_ - slope * xy_, 0.0) / (tasks_ - 2);
        double const keep = 1 - rest / (xx_ * slope * slope);
        return keep > 0 ? (std::min)(slope * keep, widest) : 0.0;
    }
    /// What a task costs that starts beside others, in its own time on an empty node: what it takes itself,
    /// and what it delays the others by, each of which has half of its time to go.
    /// @param beside tasks that run there
    /// @param slots of the node
    [[nodiscard]] double cost(std::uint32_t beside, std::uint32_t slots) const noexcept {
        double const by = slots > 1 ? slope() : 0.0;
        if (!(by > 0) || beside == 0) return 1;
        double const step = by / static_cast<double>(slots - 1);
        double const others = static_cast<double>((std::min)(beside, slots - 1));
        return std::exp(step * others) + others / 2 * (std::exp(step) - 1);
    }
    /// Tasks it was learned from that still count.
    [[nodiscard]] double tasks() const noexcept { return tasks_; }

    /// Appends what was learned.
    void write(byte_writer& out) const {
        for (double const x : {tasks_, xx_, xy_, yy_}) out.real(x);
    }
    /// Reads what `write` has appended; the reader says if it is not that, and this is then of no use.
    void read(byte_reader& in) {
        for (double* const x : {&tasks_, &xx_, &xy_, &yy_}) *x = in.real();
        in.expect(tasks_ >= 0 && tasks_ <= remembered + 1 && xx_ >= 0 && xx_ <= tasks_ && yy_ >= 0 &&
                  yy_ <= widest * widest * tasks_ && detail::is_finite(xy_));
    }
    /// Takes in what another one has learned.
    void merge(crowding const& other) noexcept {
        double const all = tasks_ + other.tasks_, kept = all > remembered ? remembered / all : 1.0;
        xx_ = kept * (xx_ + other.xx_);
        xy_ = kept * (xy_ + other.xy_);
        yy_ = kept * (yy_ + other.yy_);
        tasks_ = kept * all;
    }

  private:
    static constexpr double remembered = 2000;          // tasks, then older ones fade
    static constexpr double widest = 3.912023005428146; // ln 50
    double tasks_ = 0, xx_ = 0, xy_ = 0, yy_ = 0;       // within jobs
};

} // namespace straggle::predict
