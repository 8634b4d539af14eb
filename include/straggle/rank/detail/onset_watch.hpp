// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: estimates how likely a node is slow right now.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/rank/detail/slow_detector.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace straggle::inline STRAGGLE_ABI::detail {

// The learned rate at which nodes become slow, per node and window.
class onset_rate {
  public:
    // A window has passed for all nodes, and `onsets` of them became slow.
    void next_window(double nodes, double onsets) noexcept {
        constexpr double keep = 1 - 1.0 / 256;
        windows_ = keep * windows_ + nodes;
        onsets_ = keep * onsets_ + onsets;
        settle();
    }
    void merge(onset_rate const& other) noexcept {
        windows_ += other.windows_;
        onsets_ += other.onsets_;
        settle();
    }
    // The log rate.
    [[nodiscard]] double log() const noexcept { return log_; }

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.windows_, self.onsets_);
        a.expect(self.onsets_ >= 0 && self.onsets_ <= self.windows_ && self.windows_ < 1e15);
        if constexpr (Archive::reads) self.settle();
    }

  private:
    static constexpr double first_windows = 200; // windows per onset, until more is known
    void settle() noexcept { log_ = std::log((1 + onsets_) / (first_windows + windows_)); }

    double windows_ = 0, onsets_ = 0;
    double log_ = -5.298317366548036; // ln(1 / 200)
};

// The learned slowdown of nodes while they are slow, from tasks that ended there: a mean of logarithms.
// Copies cut the longest tasks short, so it errs on the low side.
class onset_extent {
  public:
    void learn(double log_ratio) noexcept {
        constexpr double most = 256; // beyond this, older tasks fade
        tasks_ = (std::min)(tasks_ + 1, most);
        mean_ += (log_ratio - mean_) / tasks_;
    }
    void merge(onset_extent const& other) noexcept {
        mean_ = (tasks_ * mean_ + other.tasks_ * other.mean_) / (tasks_ + other.tasks_);
        tasks_ = (std::min)(tasks_ + other.tasks_ - first_tasks, 256.0);
    }
    [[nodiscard]] double value() const noexcept { return mean_ > 0 ? std::exp(mean_) : 1.0; }

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.tasks_, self.mean_);
        a.expect(self.tasks_ >= first_tasks && self.tasks_ <= 256 && std::fabs(self.mean_) <= 100);
    }

  private:
    static constexpr double first_tasks = 8; // weight of the prior in tasks
    double mean_ = 1.0397207708399179;       // ln 2.8, the mean of ln 2 and ln 4
    double tasks_ = first_tasks;
};

// The probability that a node is slow right now: it became slow in one of the windows, at the learned rate,
// and has stayed slow.
//
// Source: Shiryaev, "On optimum methods in quickest detection problems" (1963): for a small rate, the odds
// are the rate times the Shiryaev-Roberts statistic, as in `slow_detector`. Ours: scores at their learned
// prices, at the steepest rate only, so that a few tasks reveal that a node is slow and a few that it has
// recovered; and since slow nodes do recover, the odds carried into each window are at most four to one.
class onset_filter {
  public:
    void reset() noexcept { log_sum_ = tasks_ = 0; }
    // Adds the scores of some tasks, and their weight in tasks.
    void add(double score, double tasks, score_rates const& prices) noexcept {
        log_sum_ = (std::max)(with(score, tasks, prices), lowest);
        tasks_ = log_sum_ > 0 ? tasks_ + tasks : 0;
    }
    // Sets the log slowdown beyond which scores count from now on. An increase explains part of the earlier
    // scores.
    void count_beyond(double plain, double deviation) noexcept {
        double const more = (plain - plain_) / deviation;
        plain_ = plain;
        log_sum_ = (std::max)(log_sum_ - rates_of_scores[steepest] * tasks_ * more, lowest);
    }
    // Starts another window, in which a node may become slow.
    void begin_window(onset_rate const& rate) noexcept {
        constexpr double log_of_four = 1.3862943611198906;
        log_sum_ = (std::min)(log_sum(log_sum_, 0.0), log_of_four - rate.log());
    }
    // Keeps the stronger of two.
    void merge(onset_filter const& other) noexcept {
        if (other.log_sum_ > log_sum_) *this = other;
    }
    // Includes scores that are not final yet. A probability below 1/64 has no effect and is returned as 0.
    [[nodiscard]] double chance(double score, double tasks, score_rates const& prices,
                                onset_rate const& rate) const noexcept {
        constexpr double log_of_least = -4.143134726391533; // ln(1 / 63)
        double const log_odds = with(score, tasks, prices) + rate.log();
        return log_odds < log_of_least ? 0.0 : 1 / (1 + std::exp(-log_odds));
    }

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.log_sum_, self.tasks_, self.plain_);
        a.expect(self.log_sum_ >= lowest && self.log_sum_ < 1e300 && self.tasks_ >= 0 && self.tasks_ < 1e15 &&
                 std::fabs(self.plain_) <= 1000);
    }

  private:
    static constexpr double lowest = -50;
    static constexpr std::size_t steepest = rates_of_scores.size() - 1;
    [[nodiscard]] double with(double score, double tasks, score_rates const& prices) const noexcept {
        return log_sum_ + rates_of_scores[steepest] * score - prices[steepest] * tasks;
    }

    double log_sum_ = 0; // of the likelihood ratios over all windows in which it may have begun
    double tasks_ = 0;   // weight of the tasks in it
    double plain_ = 0;
};

} // namespace straggle::detail
