// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: evidence that accumulates over windows.
#pragma once

#include <straggle/base/config.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace straggle::inline STRAGGLE_ABI::detail {

// ln(e^a + e^b)
inline double log_sum(double a, double b) noexcept {
    return a > b ? a + std::log1p(std::exp(b - a)) : b + std::log1p(std::exp(a - b));
}

// One factor for each steepness at which scores are counted.
using score_rates = std::array<double, 6>;
inline constexpr score_rates rates_of_scores{0.1, 0.2, 0.3, 0.5, 0.8, 1.2};
// Scores of a task are clipped here, in standard deviations.
inline constexpr double widest_score = 3.5;

// The price of a score: the log moment generating function under the null hypothesis, learned from tasks of
// finished jobs. Starts as that of a clipped exponential variable (logarithms of Pareto times are
// exponential) and never falls below that of a normal one.
class score_prices {
  public:
    // Learns the score of a task against its siblings.
    void learn(double score) noexcept {
        double const x = score < -widest_score ? -widest_score : score > widest_score ? widest_score : score;
        if (weight_ < most) weight_ += 1;
        double const by = 1 / weight_;
        for (std::size_t k = 0; k < rates_of_scores.size(); ++k) {
            double const e = std::exp(rates_of_scores[k] * x);
            high_[k] += by * (e - high_[k]);
            low_[k] += by * (1 / e - low_[k]);
        }
    }
    // For scores, and for scores with the sign reversed.
    [[nodiscard]] score_rates upward() const noexcept { return prices(high_); }
    [[nodiscard]] score_rates downward() const noexcept { return prices(low_); }

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.weight_, self.high_, self.low_);
        a.expect(self.weight_ >= 1 && self.weight_ <= most);
        for (score_rates const& side : {self.high_, self.low_})
            for (double const x : side) a.expect(x > 0 && x < 1e300);
    }

  private:
    static constexpr double most = 4096;
    // exp of 0.0056, 0.0243, 0.0595, 0.2, 0.46, 1.15
    static constexpr score_rates first{1.005616, 1.024598, 1.061306, 1.221403, 1.584074, 3.158193};

    static score_rates prices(score_rates const& means) noexcept {
        score_rates result;
        for (std::size_t k = 0; k < result.size(); ++k) {
            double const rate = rates_of_scores[k], normal = rate * rate / 2;
            double const learned = std::log(means[k]);
            result[k] = 1.05 * (learned > normal ? learned : normal);
        }
        return result;
    }

    double weight_ = 100;
    score_rates high_ = first, low_ = first;
};

// Log evidence for each alternative; values below `Lowest` are dropped.
template <std::size_t N, int Lowest>
class log_evidences {
  public:
    void reset() noexcept { log_sum_ = {}; }
    // Starts another window, in which a change may begin.
    void next_window() noexcept {
        for (double& l : log_sum_) l = log_sum(l, 0.0);
    }
    // Keeps the stronger of two: either alone is a valid e-value.
    void merge(log_evidences const& other) noexcept {
        for (std::size_t k = 0; k < N; ++k)
            if (other.log_sum_[k] > log_sum_[k]) log_sum_[k] = other.log_sum_[k];
    }

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.log_sum_);
        for (double const l : self.log_sum_) a.expect(l >= lowest && l < 1e300);
    }

  protected:
    static constexpr double lowest = Lowest;

    void add_to(std::size_t k, double log_evidence) noexcept {
        log_sum_[k] += log_evidence;
        if (log_sum_[k] < lowest) log_sum_[k] = lowest;
    }

    std::array<double, N> log_sum_{};
};

// An e-detector of the Shiryaev-Roberts kind for a shift of scores whose mean is at most 0 under the null
// hypothesis.
//
// Source: Shin, Ramdas, Rinaldo, "E-detectors" (2022). Under the null hypothesis, the sum over all windows in
// which a change may have begun has the number of windows as its mean, so a threshold of m is passed at most
// once in m windows. Ours: scores are clipped, and prices are learned.
class slow_detector : public log_evidences<6, -50> {
  public:
    // Adds the scores of some tasks, and their weight in tasks.
    void add(double score, double tasks, score_rates const& prices) noexcept {
        for (std::size_t k = 0; k < prices.size(); ++k)
            add_to(k, rates_of_scores[k] * score - prices[k] * tasks);
    }
    // Log evidence, including scores that are not final yet.
    [[nodiscard]] double log_evidence(double score, double tasks, score_rates const& prices) const noexcept {
        double all = lowest - 1;
        for (std::size_t k = 0; k < prices.size(); ++k) all = log_sum(all, with(k, score, tasks, prices));
        return all - log_of_rates;
    }
    // Whether log_evidence is above a threshold. For most nodes the largest term shows that it is not.
    [[nodiscard]] bool is_above(double threshold, double score, double tasks,
                                score_rates const& prices) const noexcept {
        constexpr double log_of_terms = 1.945910149055313, rounding = 1e-9; // ln 7
        double most = lowest - 1;
        for (std::size_t k = 0; k < prices.size(); ++k) {
            double const term = with(k, score, tasks, prices);
            most = term > most ? term : most;
        }
        return most + log_of_terms - log_of_rates + rounding > threshold &&
               log_evidence(score, tasks, prices) > threshold;
    }

  private:
    static constexpr double log_of_rates = 1.791759469228055; // ln 6

    [[nodiscard]] double with(std::size_t k, double score, double tasks,
                              score_rates const& prices) const noexcept {
        return log_sum_[k] + rates_of_scores[k] * score - prices[k] * tasks;
    }
};

// The same for attempts that do not end: compares the cumulative hazard to which a node's attempts were
// exposed with the number of them that ended.
//
// Source: the log-rank statistic as an e-value, ter Schure, Grünwald et al. "The safe log-rank test" (2020).
class hung_detector : public log_evidences<2, -20> {
  public:
    // How often attempts on a hung node end, relative to others.
    static constexpr double ratio_of_hung = 0.02;

    void add(double exposed, double ended) noexcept {
        for (std::size_t k = 0; k < log_ratio.size(); ++k)
            add_to(k, ended * log_ratio[k] + (1 - ratio[k]) * exposed);
    }
    // Keeps the evidence behind a decision until attempts end.
    void settle(double log_evidence) noexcept { log_sum_.fill((std::max)(log_evidence, lowest)); }
    [[nodiscard]] double log_evidence() const noexcept {
        return log_sum(log_sum_[0], log_sum_[1]) - log_of_terms;
    }
    // Whether the log evidence is above a threshold.
    [[nodiscard]] bool is_above(double threshold) const noexcept {
        double const most = log_sum_[0] > log_sum_[1] ? log_sum_[0] : log_sum_[1];
        constexpr double rounding = 1e-9; // the mean is at most the larger one
        return most + rounding > threshold && log_evidence() > threshold;
    }

  private:
    static constexpr double log_of_terms = 0.6931471805599453; // ln 2
    // A hung node, and a less clear case.
    static constexpr std::array<double, 2> ratio{ratio_of_hung, 0.1};
    static constexpr std::array<double, 2> log_ratio{-3.912023005428146, -2.302585092994046};
};

} // namespace straggle::detail
