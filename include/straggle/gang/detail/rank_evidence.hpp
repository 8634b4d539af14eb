// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `gang/step_watch.hpp`: the evidence from a rank's steps, since it last looked normal.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/record/slowdown.hpp>
#include <straggle/stats/interval.hpp>
#include <straggle/stats/student_t.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace straggle::inline STRAGGLE_ABI::detail {

// Moments of a sequence that restarts at a change; values beyond `memory` fade.
struct fading_moments {
    static constexpr double memory = 256;
    double n = 0, mean = 0, m2 = 0;

    void add(double x) noexcept {
        double const keep = n < memory ? 1.0 : 1 - 1 / memory;
        n = n * keep + 1;
        double const gap = x - mean;
        mean += gap / n;
        m2 = m2 * keep + gap * (x - mean);
    }
    void clear() noexcept { *this = {}; }
    // The interval of the mean; the deviation is at least `floor`. Unbounded without data.
    [[nodiscard]] stats::interval interval(double tail, double floor) const noexcept {
        constexpr double all = std::numeric_limits<double>::infinity();
        constexpr double fewest = 4;
        if (n < fewest) return {-all, all};
        // The start of the sequence was chosen from the data: take a union over all possible starts.
        auto const t = stats::student_t_quantile_upper(tail / (n * (n + 1)), n - 1);
        if (!t) return {-all, all};
        double const sd = (std::max)(std::sqrt(m2 / (n - 1)), floor);
        double const reach = *t * sd / std::sqrt(n);
        return {mean - reach, mean + reach};
    }
};

// The rank's log gap to the ranks it is compared with, step by step. A cumulative sum (Page 1954) finds when
// it last began to be slow: earlier steps say nothing about the present.
class rank_evidence {
  public:
    // `floor`: standard deviation of such a gap in the whole gang.
    void add(double gap, double least, double floor, std::int64_t step) noexcept {
        constexpr double most = 8; // in deviations: limits the delay before a recovery is seen
        double const drift = (gap - least) / (std::max)(floor, 0.01);
        sum_ = (std::min)((std::max)(sum_ + drift, 0.0), most);
        if (!(sum_ > 0)) {
            clear();
            has_moved_ = false;
            lost_ *= 1 - 1 / fading_moments::memory;
        } else {
            if (!(gaps_.n > 0)) since_ = step;
            gaps_.add(gap);
        }
    }
    void save(double seconds) noexcept {
        saved_.add(seconds);
        if (sum_ > 0) lost_ += seconds;
    }
    // It runs on a different node from here on: earlier data do not apply to that node.
    // Returns `lost()`.
    double move() noexcept {
        has_moved_ = sum_ > 0;
        sum_ = 0;
        clear();
        return std::exchange(lost_, 0.0);
    }

    [[nodiscard]] slowdown slow(double tail, double floor) const noexcept {
        stats::interval const ci = gaps_.interval(tail, floor);
        if (!(ci.high < std::numeric_limits<double>::infinity())) return {};
        return {std::exp(gaps_.mean), std::exp(ci.low), std::exp(ci.high),
                static_cast<std::uint64_t>(gaps_.n)};
    }
    [[nodiscard]] double mean() const noexcept { return gaps_.mean; }
    [[nodiscard]] fading_moments const& saved() const noexcept { return saved_; }
    // Seconds that the gang has waited for it on this node; those of earlier slow periods fade.
    [[nodiscard]] double lost() const noexcept { return lost_; }
    [[nodiscard]] std::int64_t since() const noexcept { return since_; }
    [[nodiscard]] bool has_moved() const noexcept { return has_moved_; }

  private:
    void clear() noexcept {
        gaps_.clear();
        saved_.clear();
    }
    fading_moments gaps_, saved_;
    double sum_ = 0, lost_ = 0;
    std::int64_t since_ = 0;
    bool has_moved_ = false; // while it was slow
};

} // namespace straggle::detail
