// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of papers::riski_2014: the profiles of a node's tasks, and its weights.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/predict/similarity.hpp>
#include <straggle/predict/weights.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

class riski_profiles {
  public:
    explicit riski_profiles(std::size_t factors)
        : fit_(factors, {.objective = predict::weight_objective::simplex, .least_pairs = 1, .memory = 0}),
          weights_(factors, 1 / static_cast<double>(factors)),
          low_(factors, predict::missing_factor),
          high_(factors, predict::missing_factor),
          ranges_(factors),
          similarities_(factors) {}

    [[nodiscard]] std::size_t size() const noexcept { return profiles_.size(); }
    [[nodiscard]] std::span<double const> weights() const noexcept { return weights_; }

    // The times of the profile nearest to the row or, with algorithm 1 as printed, the farthest from it.
    [[nodiscard]] std::vector<double> const* most_similar(std::span<predict::factor_kind const> kinds,
                                                          std::span<double const> row, bool nearest) const {
        std::vector<double> const* best = nullptr;
        double at = 0;
        for (profile const& p : profiles_) {
            double const d = predict::weighted_distance(kinds, row, p.row, ranges_, weights_);
            if (nearest ? best == nullptr || d < at : d > at) {
                at = d;
                best = &p.times;
            }
        }
        return best;
    }

    // Compares a finished task with all profiles, fits the weights, and stores it.
    template <class Similarity>
    void learn(std::span<predict::factor_kind const> kinds, std::span<double const> row, double time,
               std::size_t most_profiles, std::size_t most_times, Similarity similarity) {
        widen(row);
        profile* same = nullptr;
        for (profile& p : profiles_) {
            if (is_same(p.row, row)) same = &p;
            auto const [low, high] = std::minmax_element(p.times.begin(), p.times.end());
            double mean = 0; // not computed from the sum, which may overflow
            for (std::size_t i = 0; i < p.times.size(); ++i)
                mean += (p.times[i] - mean) / static_cast<double>(i + 1);
            outcome<double> const real = similarity(time, *low, *high, mean);
            if (!real) continue;
            predict::factor_similarities(kinds, row, p.row, ranges_, similarities_);
            fit_.observe(similarities_, *real);
        }
        fit_.fit(weights_, scratch_); // all equal without data to fit
        if (same == nullptr) {
            if (profiles_.size() == most_profiles) profiles_.erase(profiles_.begin());
            same = &profiles_.emplace_back();
            same->row.assign(row.begin(), row.end());
        }
        if (same->times.size() == most_times) same->times.erase(same->times.begin());
        same->times.push_back(time);
    }

  private:
    struct profile {
        std::vector<double> row, times;
    };

    static bool is_same(std::span<double const> x, std::span<double const> y) noexcept {
        for (std::size_t k = 0; k < x.size(); ++k)
            if (x[k] != y[k] && !(predict::is_missing_factor(x[k]) && predict::is_missing_factor(y[k])))
                return false;
        return true;
    }

    // The minimum and maximum of each factor.
    void widen(std::span<double const> row) noexcept {
        for (std::size_t k = 0; k < row.size(); ++k) {
            if (predict::is_missing_factor(row[k])) continue;
            bool const first = predict::is_missing_factor(low_[k]);
            low_[k] = first ? row[k] : (std::min)(low_[k], row[k]);
            high_[k] = first ? row[k] : (std::max)(high_[k], row[k]);
            ranges_[k] = high_[k] - low_[k];
        }
    }

    std::vector<profile> profiles_; // oldest first
    predict::weight_fit fit_;
    predict::weight_scratch scratch_;
    std::vector<double> weights_, low_, high_, ranges_, similarities_;
};

} // namespace straggle::detail
