// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: evidence that adds up over windows.
#pragma once

#include <straggle/base/config.hpp>

#include <array>
#include <cmath>
#include <cstddef>

namespace straggle::inline STRAGGLE_ABI::detail {

// ln(e^a + e^b)
inline double log_sum(double a, double b) noexcept {
    return a > b ? a + std::log1p(std::exp(b - a)) : b + std::log1p(std::exp(a - b));
}

// An e-detector of the Shiryaev-Roberts kind for a shift of scores that are at most 0 on average where
// nothing is wrong.
//
// Source: Shin, Ramdas, Rinaldo, "E-detectors" (2022). Where nothing is wrong the sum over all windows in
// which a change may have begun has mean (number of windows), so a threshold of m is passed once in m windows
// or less often. Ours: scores are clipped by who makes them, and an increment pays for the moment generating
// function of a clipped exponential variable, which is above that of a normal one: logarithms of times have
// tails like that (those of a Pareto distribution exactly).
class slow_detector {
  public:
    // The largest score of a task that counts, in standard deviations.
    static constexpr double clip = 3.5;

    void reset() noexcept { log_sum_ = {}; }
    // Scores of some tasks, and how many tasks they are worth.
    void add(double score, double tasks) noexcept {
        for (std::size_t k = 0; k < rates.size(); ++k) {
            log_sum_[k] += rates[k] * score - prices[k] * tasks;
            if (log_sum_[k] < lowest) log_sum_[k] = lowest;
        }
    }
    // Another window in which a change may begin.
    void next_window() noexcept {
        for (double& l : log_sum_) l = log_sum(l, 0.0);
    }
    // The logarithm of the evidence, with scores that are not final yet.
    [[nodiscard]] double log_evidence(double score, double tasks) const noexcept {
        double all = lowest - 1;
        for (std::size_t k = 0; k < rates.size(); ++k)
            all = log_sum(all, log_sum_[k] + rates[k] * score - prices[k] * tasks);
        return all - log_of_rates;
    }

    template <class Writer>
    void write(Writer& out) const {
        for (double const l : log_sum_) out.real(l);
    }
    template <class Reader>
    void read(Reader& in) {
        for (double& l : log_sum_) {
            l = in.real();
            in.expect(l >= lowest && l < 1e300);
        }
    }

  private:
    static constexpr double lowest = -50;
    static constexpr std::array<double, 6> rates{0.05, 0.1, 0.2, 0.4, 0.8, 1.2};
    static constexpr std::array<double, 6> prices{0.00135, 0.0056, 0.0243, 0.117, 0.46, 1.15};
    static constexpr double log_of_rates = 1.791759469228055; // ln 6

    std::array<double, 6> log_sum_{};
};

// The same for attempts that do not end: what is counted is the cumulative hazard that a node's attempts were
// exposed to, and how many of them ended.
//
// Source: the log-rank statistic as an e-value, ter Schure, Grünwald et al. "The safe log-rank test" (2020).
class hung_detector {
  public:
    void reset() noexcept { log_sum_ = {}; }
    void add(double exposed, double ended) noexcept {
        for (std::size_t k = 0; k < log_ratio.size(); ++k) {
            log_sum_[k] += ended * log_ratio[k] + (1 - ratio[k]) * exposed;
            if (log_sum_[k] < lowest) log_sum_[k] = lowest;
        }
    }
    void next_window() noexcept {
        for (double& l : log_sum_) l = log_sum(l, 0.0);
    }
    [[nodiscard]] double log_evidence() const noexcept {
        return log_sum(log_sum_[0], log_sum_[1]) - 0.6931471805599453;
    }
    template <class Writer>
    void write(Writer& out) const {
        for (double const l : log_sum_) out.real(l);
    }
    template <class Reader>
    void read(Reader& in) {
        for (double& l : log_sum_) {
            l = in.real();
            in.expect(l >= lowest && l < 1e300);
        }
    }

  private:
    static constexpr double lowest = -20;
    // How often the attempts of a hung node end, compared with others.
    static constexpr std::array<double, 2> ratio{0.02, 0.1};
    static constexpr std::array<double, 2> log_ratio{-3.912023005428146, -2.302585092994046};

    std::array<double, 2> log_sum_{};
};

} // namespace straggle::detail
