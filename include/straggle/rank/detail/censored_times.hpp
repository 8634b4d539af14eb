// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: how the times of the attempts of one job are distributed,
/// those that have not ended or were cancelled included.
#pragma once

#include <straggle/base/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// The Kaplan-Meier and Nelson-Aalen estimates of logarithms of times.
//
// Source: Kaplan and Meier (1958), Nelson (1972), Aalen (1978); what is left beyond the last attempt that is
// still running is put there (Efron 1967).
template <class = void>
class basic_censored_times {
  public:
    void clear() noexcept {
        points_.clear();
        events_ = 0;
        longest_ = second_ = {-1e300, 0};
    }
    // An attempt that ended, or that has taken so long so far.
    void add(double log_time, bool ended, std::uint32_t node) {
        points_.push_back({log_time, ended});
        if (log_time > longest_.at) {
            if (node != longest_.node) second_ = longest_;
            longest_ = {log_time, node};
        } else if (node != longest_.node && log_time > second_.at) {
            second_ = {log_time, node};
        }
    }

    // Takes in what was added. O(n log n)
    void fit() {
        std::sort(points_.begin(), points_.end(), [](point const& a, point const& b) {
            return a.at < b.at || (a.at == b.at && a.ended && !b.ended);
        });
        std::size_t const n = points_.size();
        double survival = 1, hazard = 0;
        events_ = 0;
        for (std::size_t i = 0; i < n; ++i) {
            point& p = points_[i];
            auto const at_risk = static_cast<double>(n - i);
            double mass = 0;
            if (p.ended) {
                mass = survival / at_risk;
                hazard += 1 / (at_risk + 1); // with few siblings the estimate is uncertain: rather too little
                ++events_;
            } else if (i + 1 == n) {
                mass = survival;
            }
            survival -= mass;
            p.mass = mass;
            p.survival = survival;
            p.hazard = hazard;
        }
        double sum = 0, squares = 0;
        for (std::size_t i = n; i-- > 0;) {
            point& p = points_[i];
            sum += p.mass * p.at;
            squares += p.mass * p.at * p.at;
            p.sum_from = sum;
        }
        mean_ = sum;
        variance_ = squares - sum * sum;
        if (!(variance_ > 0)) variance_ = 0;
    }

    [[nodiscard]] std::size_t events() const noexcept { return events_; }
    [[nodiscard]] double mean() const noexcept { return mean_; }
    [[nodiscard]] double variance() const noexcept { return variance_; }

    // Which share takes longer.
    [[nodiscard]] double survival(double log_time) const noexcept {
        std::size_t const i = after(log_time);
        return i == 0 ? 1.0 : i == points_.size() ? 0.0 : points_[i - 1].survival;
    }
    // The mean of those that take longer; the argument where none is known.
    [[nodiscard]] double mean_beyond(double log_time) const noexcept {
        std::size_t const i = after(log_time);
        if (i == points_.size()) return log_time;
        double const share = i == 0 ? 1.0 : points_[i - 1].survival;
        if (!(share > 1e-9)) return log_time;
        double const mean = points_[i].sum_from / share;
        return mean > log_time ? mean : log_time;
    }
    // The cumulative hazard on a node. Beyond the longest time elsewhere there are no data: from there on it
    // grows as that of a Pareto distribution of index 1, a heavier tail than real ones have.
    [[nodiscard]] double hazard(double log_time, std::uint32_t node) const noexcept {
        std::size_t const i = after(log_time);
        double const known = i == 0 ? 0.0 : points_[i - 1].hazard;
        double const elsewhere = node == longest_.node ? second_.at : longest_.at;
        return elsewhere > -1e299 && log_time > elsewhere ? known + (log_time - elsewhere) : known;
    }

  private:
    struct point {
        double at;
        bool ended;
        double mass = 0;
        double survival = 0; // after it
        double hazard = 0;   // up to and with it
        double sum_from = 0; // of mass times place, from here on
    };

    // The first that takes longer.
    [[nodiscard]] std::size_t after(double log_time) const noexcept {
        auto const it = std::upper_bound(points_.begin(), points_.end(), log_time,
                                         [](double t, point const& p) { return t < p.at; });
        return static_cast<std::size_t>(it - points_.begin());
    }

    struct extreme {
        double at = -1e300;
        std::uint32_t node = 0;
    };

    std::vector<point> points_;
    std::size_t events_ = 0;
    extreme longest_, second_; // on two nodes
    double mean_ = 0, variance_ = 0;
};
using censored_times = basic_censored_times<>;

} // namespace straggle::detail
