// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `predict/sibling_times.hpp`: the distribution of times on a logarithmic scale, in bins of
/// 1.6 %, and the prior for times before any are known.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <straggle/base/config.hpp>
#include <straggle/base/size.hpp>

namespace straggle::inline STRAGGLE_ABI::detail {

// Bins of a logarithmic scale, from 1/7 of the center to 55 times it.
struct log_bins {
    static constexpr std::size_t count = 384;
    static constexpr double centre = 128;
    static constexpr double per_unit = 64; // bins per factor e

    // The position of a logarithm relative to the center, clamped to the ends.
    [[nodiscard]] static double place(double log) noexcept {
        double const x = centre + log * per_unit;
        constexpr double most = static_cast<double>(count) - 0.5;
        return x > 0 ? (x < most ? x : most) : 0.0;
    }
    [[nodiscard]] static std::size_t bin(double log) noexcept { return static_cast<std::size_t>(place(log)); }
    [[nodiscard]] static double log_at(double place) noexcept { return (place - centre) / per_unit; }
};

// Probability that a time exceeds the start of each bin, relative to the median of its job.
using survival_curve = std::array<double, log_bins::count + 1>;

// Probability that a standard normal number is larger.
[[nodiscard]] inline double normal_tail(double z) noexcept {
    return 0.5 * std::erfc(z * 0.70710678118654752440);
}

// The hazard in which a share of those at risk ends: -log(1 - share), to 4e-16 relative. For the usual small
// shares, five terms of the series of the inverse hyperbolic tangent suffice.
[[nodiscard]] inline double hazard_of(double share) noexcept {
    if (!(share < 0.1)) return -std::log1p(-share);
    double const z = share / (2 - share), s = z * z;
    return 2 * z * (1 + s * (1.0 / 3 + s * (1.0 / 5 + s * (1.0 / 7 + s * (1.0 / 9 + s * (1.0 / 11))))));
}

// Prior mean logarithm of the factor by which trouble lengthens a task.
inline constexpr double assumed_tail = 0.7;

// The prior: nineteen of twenty tasks are lognormal; one runs into trouble that lengthens it by a Pareto
// factor.
[[nodiscard]] inline double assumed_survival(double log) noexcept {
    constexpr double spread = 0.3; // of the lognormal part
    constexpr double trouble = 0.05;
    double const usual = normal_tail(log / spread);
    double const late = log > 0 ? std::exp(-log / assumed_tail) : 1.0;
    return (1 - trouble) * usual + trouble * late;
}

// Counts of logarithms by bin.
struct log_counts {
    std::array<float, log_bins::count> bins{};
    double total = 0;

    void add(std::size_t bin, double weight) noexcept {
        bins[bin] += static_cast<float>(weight);
        total += weight;
    }
    // Halves the counts once there are more than that.
    void bound(double most) noexcept {
        if (!(total > most)) return;
        total = 0;
        for (float& b : bins) {
            b *= 0.5f;
            total += static_cast<double>(b);
        }
    }
    // Nonempty bins only. Rounding makes the total differ from the sum of the bins.
    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        std::uint64_t used = 0, at = 0;
        if constexpr (!Archive::reads)
            for (float const b : self.bins) used += b > 0 ? 1u : 0u;
        a.varint(used);
        double sum = 0;
        for (; used > 0; --used, ++at) {
            if constexpr (!Archive::reads)
                while (!(self.bins[to_size(at)] > 0)) ++at;
            std::uint64_t const least = at;
            a.varint(at);
            bool const is_next = at >= least && at < log_bins::count;
            a.expect(is_next);
            if (!is_next) return;
            auto& bin = self.bins[to_size(at)];
            a(bin);
            bool const is_possible = bin > 0 && bin < 1e9f;
            a.expect(is_possible);
            if (!is_possible) return;
            sum += static_cast<double>(bin);
        }
        a(self.total);
        a.expect(self.total >= sum / 2 && self.total <= 2 * sum);
    }
};

// Combines counts with the prior curve, which weighs as much as `prior` counts.
inline void mix_into(survival_curve& curve, log_counts const& counts, double prior) noexcept {
    double const all = counts.total + prior;
    if (!(all > 0)) return;
    double above = counts.total;
    for (std::size_t b = 0; b <= log_bins::count; ++b) {
        curve[b] = (prior * curve[b] + (above > 0 ? above : 0.0)) / all;
        if (b < log_bins::count) above -= static_cast<double>(counts.bins[b]);
    }
}

// The curve between bins.
[[nodiscard]] inline double curve_at(survival_curve const& curve, double place) noexcept {
    if (!(place > 0)) return 1.0;
    constexpr double most = static_cast<double>(log_bins::count);
    if (!(place < most)) return curve[log_bins::count];
    auto const b = static_cast<std::size_t>(place);
    double const part = place - static_cast<double>(b);
    return curve[b] + part * (curve[b + 1] - curve[b]);
}

// The position where the curve has fallen to a probability.
[[nodiscard]] inline double place_of(survival_curve const& curve, double chance) noexcept {
    std::size_t low = 0, high = log_bins::count; // curve[low] >= chance
    while (high - low > 1) {
        std::size_t const middle = low + (high - low) / 2;
        (curve[middle] >= chance ? low : high) = middle;
    }
    double const fall = curve[low] - curve[high];
    double const part = fall > 0 ? (curve[low] - chance) / fall : 0.5;
    return static_cast<double>(low) + (part > 0 ? (part < 1 ? part : 1.0) : 0.0);
}

} // namespace straggle::detail
