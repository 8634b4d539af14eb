// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: how the times of the attempts of one job are distributed,
/// those that have not ended or were cancelled included.
#pragma once

#include <straggle/base/config.hpp>

#include <algorithm>
#include <array>
#include <cmath>
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
        times_.clear();
        events_ = 0;
        is_summed_ = {};
        longest_ = second_ = {-1e300, 0};
    }
    // An attempt that ended, or that has taken so long so far.
    void add(double log_time, bool ended, std::uint32_t node) {
        times_.push_back({log_time, node, ended});
        if (log_time > longest_.at) {
            if (node != longest_.node) second_ = longest_;
            longest_ = {log_time, node, ended};
        } else if (node != longest_.node && log_time > second_.at) {
            second_ = {log_time, node, ended};
        }
    }

    // Takes in what was added. O(n log n)
    void fit() {
        std::sort(times_.begin(), times_.end(), [](time const& a, time const& b) {
            return a.at < b.at || (a.at == b.at && a.ended && !b.ended);
        });
        std::size_t const n = times_.size();
        points_.resize(n);
        double survival = 1, hazard = 0, others = 0;
        events_ = 0;
        std::size_t own = 0; // of the node with the longest attempt, still at risk
        for (time const& t : times_) own += t.node == longest_.node ? 1 : 0;
        for (std::size_t i = 0; i < n; ++i) {
            time const& t = times_[i];
            auto const at_risk = static_cast<double>(n - i);
            double mass = 0;
            if (t.ended) {
                mass = survival / at_risk;
                hazard += 1 / (at_risk + 1); // with few siblings the estimate is uncertain: rather too little
                ++events_;
            } else if (i + 1 == n) {
                mass = survival;
            }
            if (t.node == longest_.node)
                --own;
            else if (t.ended)
                others += 1 / (at_risk - static_cast<double>(own) + 1);
            survival -= mass;
            points_[i] = {mass, survival, hazard, others};
        }
        double sum = 0, squares = 0;
        for (std::size_t i = n; i-- > 0;) {
            point& p = points_[i];
            double const at = times_[i].at;
            sum += p.mass * at;
            squares += p.mass * at * at;
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
    // By how much the longest attempt surpasses the longest one elsewhere; below 0 where it did not end.
    [[nodiscard]] double lead() const noexcept {
        return longest_.ended && second_.at > -1e299 ? longest_.at - second_.at : -1.0;
    }
    // How steep the tail is: of a Pareto distribution, beyond the longest time.
    double tail_index = least_tail_index;
    static constexpr double least_tail_index = 1.5;

    // The cumulative hazard on a node, as the others show it where it has the longest attempt: those that
    // hang are always at risk, and would hide each other. Beyond the longest time elsewhere there are no
    // data: from there on it grows as that of a Pareto distribution.
    [[nodiscard]] double hazard(double log_time, std::uint32_t node) const noexcept {
        std::size_t const i = after(log_time);
        bool const is_longest = node == longest_.node;
        double const known = i == 0 ? 0.0 : is_longest ? points_[i - 1].others : points_[i - 1].hazard;
        double const elsewhere = is_longest ? second_.at : longest_.at;
        return elsewhere > -1e299 && log_time > elsewhere ? known + tail_index * (log_time - elsewhere)
                                                          : known;
    }

    // Which share of the attempts that run on a node is older, at any time where starts are spread evenly, or
    // of those that began together if that is more. O(n) exponentials once, then O(log n).
    [[nodiscard]] double share_older(double log_time, std::uint32_t node) {
        std::size_t const which = node == longest_.node ? 1 : 0;
        double const elsewhere = which == 1 ? second_.at : longest_.at;
        if (!(log_time > 0) || !(elsewhere > -1e299)) return 1; // in the younger half, or with no siblings
        if (!is_summed_[which]) sum_areas(which);
        areas const& a = areas_[which];
        double const survival = std::exp(-hazard(log_time, node));
        double const beyond = elsewhere - log_time;
        if (!(beyond > 0)) return (std::max)(survival, a.tail * std::exp((tail_index - 1) * beyond) / a.all);
        std::size_t const next = after(log_time);
        double const until = (std::min)(times_[next].at, elsewhere);
        double const area = survival * (std::exp(until) - std::exp(log_time)) + points_[next].area[which];
        return (std::max)(survival, area / a.all);
    }

  private:
    struct areas {
        double all = 0, tail = 0; // under the survival curve; beyond the longest time
    };
    struct time {
        double at;
        std::uint32_t node;
        bool ended;
    };
    // What is known at one of the times.
    struct point {
        double mass = 0;
        double survival = 0;          // after it
        double hazard = 0;            // up to and with it
        double others = 0;            // the same without the node with the longest attempt
        std::array<double, 2> area{}; // under both curves, from here on
        double sum_from = 0;          // of mass times place, from here on
    };

    void sum_areas(std::size_t which) noexcept {
        auto const survival = [which](point const& p) {
            return std::exp(-(which == 1 ? p.others : p.hazard));
        };
        double const elsewhere = which == 1 ? second_.at : longest_.at;
        std::size_t const i = after(elsewhere);
        areas& a = areas_[which];
        a.tail = (i == 0 ? 1.0 : survival(points_[i - 1])) * std::exp(elsewhere) / (tail_index - 1);
        double sum = a.tail, next = elsewhere;
        for (std::size_t k = points_.size(); k-- > 0;) {
            double const at = times_[k].at;
            if (at < next) {
                sum += survival(points_[k]) * (std::exp(next) - std::exp(at));
                next = at;
            }
            points_[k].area[which] = sum;
        }
        a.all = sum + std::exp(next);
        is_summed_[which] = true;
    }

    // The first that takes longer.
    [[nodiscard]] std::size_t after(double log_time) const noexcept {
        auto const it = std::upper_bound(times_.begin(), times_.end(), log_time,
                                         [](double at, time const& t) { return at < t.at; });
        return static_cast<std::size_t>(it - times_.begin());
    }

    struct extreme {
        double at = -1e300;
        std::uint32_t node = 0;
        bool ended = false;
    };

    std::vector<time> times_; // as they come, then in order
    std::vector<point> points_;
    std::size_t events_ = 0;
    extreme longest_, second_; // on two nodes
    std::array<areas, 2> areas_{};
    std::array<bool, 2> is_summed_{};
    double mean_ = 0, variance_ = 0;
};
using censored_times = basic_censored_times<>;

} // namespace straggle::detail
