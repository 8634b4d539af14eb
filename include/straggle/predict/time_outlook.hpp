// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The distribution of times of one job's tasks, as a curve: computed by `sibling_times`, and queried for
/// each task, new or running.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/predict/detail/time_shape.hpp>
#include <straggle/record/slowdown.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace straggle::inline STRAGGLE_ABI::predict {

/// A lognormal factor of a time, such as the effect of an input or a node.
struct log_factor {
    double mean = 0;      ///< of its logarithm; 0: no effect
    double deviation = 0; ///< standard deviation of its logarithm; 0: known exactly

    friend constexpr bool operator==(log_factor const&, log_factor const&) = default;
};

/// The slowdown of a node as such a factor.
/// @pre `s.is_known()`, `s.low` > 0
[[nodiscard]] inline log_factor log_factor_of(slowdown const& s) noexcept {
    constexpr double widths = 3.92; // width of a 95 % interval in standard errors
    return {std::log(s.value), std::log(s.high / s.low) / widths};
}

/// A distribution of times as sixteen equally likely values, smallest first.
///
/// Averages over a few dozen numbers are cheap and reproducible; the largest value represents everything
/// above the 94th percentile, so heavy tails are underestimated: on the safe side.
struct time_points {
    static constexpr std::size_t count = 16; ///< number of values
    std::array<double, count> at{};          ///< ascending

    /// The quantile at `share`.
    /// @pre 0 <= `share` <= 1
    [[nodiscard]] double quantile(double share) const noexcept {
        double const place = share * static_cast<double>(count) - 0.5;
        if (!(place > 0)) return at.front();
        auto const i = static_cast<std::size_t>(place);
        if (i + 1 >= count) return at.back();
        return at[i] + (place - static_cast<double>(i)) * (at[i + 1] - at[i]);
    }
    /// The mean.
    /// @par Cost
    /// O(16)
    [[nodiscard]] double mean() const noexcept {
        double sum = 0;
        for (double const x : at) sum += x;
        return sum / static_cast<double>(count);
    }
    friend constexpr bool operator==(time_points const&, time_points const&) = default;
};

/// The distribution of the time of a task of one job on a node of slowdown 1, and of the remaining time of a
/// running task.
///
/// Times scale: on a node of slowdown s, and for more input, the curve is stretched by a `factor`.
/// @par Cost
/// 3 KiB; copies freely, allocates nothing
class time_outlook {
  public:
    /// The median time for factor 1.
    [[nodiscard]] double usual() const noexcept { return usual_; }
    /// How much tasks differ without trouble: the logarithm of the ratio between the median and the lower
    /// sixth of the times. One standard deviation for lognormal times.
    [[nodiscard]] double spread() const noexcept { return spread_; }
    /// What `usual` would be if jobs of its kind did not differ; 0: unknown.
    [[nodiscard]] double usual_of_kind() const noexcept { return of_kind_; }
    /// Number of ended siblings it is based on, excluding those of the kind.
    [[nodiscard]] double siblings() const noexcept { return siblings_; }

    /// Minus the logarithm of the probability that a task takes longer than `time`.
    /// @par Cost
    /// O(1), a logarithm
    [[nodiscard]] double hazard(double time) const noexcept {
        if (!(time > 0)) return 0;
        double const place = detail::log_bins::place(std::log(time) - origin_);
        auto const b = static_cast<std::size_t>(place);
        return hazard_[b] + (place - static_cast<double>(b)) * (hazard_[b + 1] - hazard_[b]);
    }
    /// The probability that a task takes longer than `time`.
    /// @par Cost
    /// O(1), a logarithm and an exponential
    [[nodiscard]] double survival(double time) const noexcept { return std::exp(-hazard(time)); }
    /// The probability that a task that has run for `age` takes longer than `time`.
    [[nodiscard]] double survival_after(double age, double time) const noexcept {
        return time > age ? std::exp(hazard(age) - hazard(time)) : 1.0;
    }
    /// The same for one age and many times: returns a function of the time, valid as long as the outlook.
    /// @par Cost
    /// O(1), a logarithm; then as `survival`
    [[nodiscard]] auto survival_after(double age) const noexcept {
        return [this, age, begun = hazard(age)](double time) noexcept {
            return time > age ? std::exp(begun - hazard(time)) : 1.0;
        };
    }
    /// An age below which a task certainly takes longer than `time` with a probability below `chance`, by
    /// `survival_after`: a bound that is a little too small. 0: none.
    /// @par Cost
    /// O(log 384)
    [[nodiscard]] double early_for(double time, double chance) const noexcept {
        constexpr double rounding = 1e-6;
        double const target = hazard(time) + std::log(chance) - rounding;
        if (!(target > hazard_[0])) return 0;
        double const place = place_of(target);
        return (std::min)(std::exp(origin_ + detail::log_bins::log_at(place)) * (1 - rounding), time);
    }
    /// The total time of a task that has run for `age`, at least `age`; 0 for one that has not started.
    /// @par Cost
    /// O(16 log 384)
    [[nodiscard]] time_points times_after(double age) const noexcept {
        double const begun = hazard(age);
        time_points out;
        if (age > 0 && !(std::log(age) - origin_ < last_log)) { // beyond the stored range: a Pareto tail
            for (std::size_t i = 0; i < time_points::count; ++i)
                out.at[i] = age * std::exp(detail::assumed_tail * exponential_points[i]);
            return out;
        }
        for (std::size_t i = 0; i < time_points::count; ++i) {
            double const place = place_of(begun + exponential_points[i]);
            double const t = std::exp(origin_ + detail::log_bins::log_at(place));
            out.at[i] = t > age ? t : age;
        }
        return out;
    }

    /// The median of these times.
    /// @par Cost
    /// O(log 384)
    [[nodiscard]] double median_after(double age) const noexcept { return median_after(age, hazard(age)); }
    /// The same where `hazard` of that age is known.
    [[nodiscard]] double median_after(double age, double begun) const noexcept {
        double const target = begun + 0.69314718055994531;
        double const t = std::exp(origin_ + detail::log_bins::log_at(place_of(target)));
        return t > age ? t : age;
    }

  private:
    friend class sibling_times;

    static constexpr double last_log =
        (static_cast<double>(detail::log_bins::count) - 1 - detail::log_bins::centre) /
        detail::log_bins::per_unit;
    // -log(1 - p) at the middle of each sixteenth.
    static constexpr std::array<double, time_points::count> exponential_points{
        0.03174869831458027, 0.09844007281325251, 0.16989903679539747, 0.24686007793152581,
        0.33024168687057687, 0.42121346507630353, 0.52129692363328609, 0.63252255874351049,
        0.75768570169751622, 0.90078654533818984, 1.0678406300013559,  1.2685113254635072,
        1.5198257537444133,  1.8562979903656263,  2.3671236141316165,  3.4657359027997265};

    // The position where the hazard reaches a value.
    [[nodiscard]] double place_of(double target) const noexcept {
        std::size_t low = 0, high = detail::log_bins::count;
        while (high - low > 1) {
            std::size_t const middle = low + (high - low) / 2;
            (hazard_[middle] <= target ? low : high) = middle;
        }
        double const rise = hazard_[low + 1] - hazard_[low];
        double const part = rise > 0 ? (target - hazard_[low]) / rise : 0.5;
        return static_cast<double>(low) + (part > 0 ? (part < 1 ? part : 1.0) : 0.0);
    }
    std::array<double, detail::log_bins::count + 1> hazard_{}; // -log survival at the start of each bin
    double origin_ = 0;                                        // logarithm of the time at the center
    double input_ = 0; // mean logarithm of the inputs of its job, where they are known
    double usual_ = 0, of_kind_ = 0, spread_ = 0, siblings_ = 0;
};

} // namespace straggle::predict
