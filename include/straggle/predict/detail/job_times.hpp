// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `predict/sibling_times.hpp`: the times of one job and of one kind as counts on a
/// logarithmic scale, with the quantiles and curves derived from them.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/predict/detail/input_effect.hpp>
#include <straggle/predict/detail/time_shape.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace straggle::inline STRAGGLE_ABI::detail {

inline constexpr double no_input = -(std::numeric_limits<double>::max)();

// Whether it can be a logarithm of a time or an input, or a difference of two.
[[nodiscard]] inline bool is_log(double x) noexcept {
    return std::fabs(x) < 1e4;
}

// The times of a job's tasks, stopped ones separately, on a scale centered on its first tasks.
struct job_times {
    static constexpr std::size_t early = 9; // stored individually until the scale can be centered

    log_counts ended{}, stopped{};
    std::array<double, early> first{};
    std::array<bool, early> first_ended{};
    double origin = 0;       // logarithm of the time at the center of the bins
    double input = no_input; // logarithm of the first input; other sizes are relative to it
    input_sums inputs{}, crowd{};
    std::uint64_t seen = 0;
    std::uint32_t kind = (std::numeric_limits<std::uint32_t>::max)();
    std::uint32_t known = 0; // entries of `first`
    bool centred = false;

    void add(double log, bool has_ended) noexcept {
        if (!centred && known < early) {
            first[known] = log;
            first_ended[known++] = has_ended;
            return;
        }
        centre();
        constexpr double most = 20000; // per table; beyond this, half is forgotten
        (has_ended ? ended : stopped).add(log_bins::bin(log - origin), 1);
        ended.bound(most);
        stopped.bound(most);
    }
    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.known, self.centred);
        a.expect(self.known <= early && (self.known > 0 || !self.centred));
        for (std::size_t i = 0; i < self.known && i < early; ++i) {
            a(self.first[i], self.first_ended[i]);
            a.expect(is_log(self.first[i]));
        }
        a(self.kind, self.input);
        a.expect(is_log(self.input) || self.input == no_input);
        if (self.input > no_input) a(self.inputs);
        a(self.crowd);
        if (!self.centred) return;
        a(self.origin, self.ended, self.stopped);
        a.expect(is_log(self.origin));
    }
    // Number of tasks that ended.
    [[nodiscard]] double tasks() const noexcept {
        if (centred) return ended.total;
        double sum = 0;
        for (std::size_t i = 0; i < known; ++i) sum += first_ended[i] ? 1 : 0;
        return sum;
    }
    void centre() noexcept {
        if (centred || known == 0) return;
        auto sorted = first;
        std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(known));
        origin = sorted[known / 2];
        for (std::size_t i = 0; i < known; ++i)
            (first_ended[i] ? ended : stopped).add(log_bins::bin(first[i] - origin), 1);
        centred = true;
    }
};
// The Kaplan-Meier point of a job closest to its median.
struct seen_quantile {
    double survival = 1, place = 0, events = 0;

    seen_quantile(log_counts const& ended, log_counts const& stopped) noexcept {
        double at_risk = ended.total + stopped.total, survives = 1;
        for (std::size_t b = 0; b < log_bins::count && at_risk > 0.5; ++b) {
            double const d = static_cast<double>(ended.bins[b]);
            if (d > 0) {
                double const before = survives;
                survives *= 1 - (std::min)(d / at_risk, 1.0);
                events += d;
                if (survival > 0.5) { // the median lies in this bin or beyond
                    double const part = survives < 0.5 ? (before - 0.5) / (before - survives) : 1.0;
                    survival = (std::max)(survives, 0.5);
                    place = static_cast<double>(b) + part;
                }
            }
            at_risk -= d + static_cast<double>(stopped.bins[b]);
        }
    }
    [[nodiscard]] bool is_median() const noexcept { return survival <= 0.5 && events >= 3; }
};

// What jobs of a kind have shown: the shape around the median, and the median itself.
struct kind_times {
    log_counts shape{};
    input_effect input{};
    double level = 0, weight = 0, spread = 0; // mean, weight and variance of the log medians of its jobs
    double level_input = no_input;            // the input to which the level refers
    std::uint64_t seen = 0;

    // Adds a finished job with this median.
    void add_level(double log, double job_input, double exponent) noexcept {
        if (job_input > no_input) {
            if (weight > 0 && level_input > no_input)
                log -= exponent * (job_input - level_input);
            else
                level_input = job_input;
        }
        constexpr double remembered = 20; // jobs; beyond this, older ones fade
        weight = (std::min)(weight + 1, remembered);
        double const share = 1 / weight, step = log - level;
        if (weight > 1) spread = (1 - share) * (spread + share * step * step);
        level += share * step;
    }
    // The level for a different input.
    [[nodiscard]] double level_at(double other_input, double exponent) const noexcept {
        bool const both = other_input > no_input && level_input > no_input;
        return level + (both ? exponent * (other_input - level_input) : 0.0);
    }
    void merge(kind_times const& other, double most, double exponent) noexcept {
        for (std::size_t b = 0; b < log_bins::count; ++b)
            if (other.shape.bins[b] > 0) shape.add(b, static_cast<double>(other.shape.bins[b]));
        shape.bound(most);
        input.add(other.input);
        double const all = weight + other.weight;
        if (!(all > 0)) return;
        double const share = other.weight / all,
                     there = weight > 0 ? other.level_at(level_input, exponent) : other.level;
        double const step = there - level;
        spread = (1 - share) * spread + share * other.spread + share * (1 - share) * step * step;
        level += share * step;
        if (!(weight > 0)) level_input = other.level_input;
        weight = (std::min)(all, 20.0);
    }
    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.shape, self.input, self.level, self.weight, self.spread, self.level_input);
        a.expect(is_log(self.level) && (is_log(self.level_input) || self.level_input == no_input));
        a.expect(self.weight >= 0 && self.weight <= 20 && self.spread >= 0 && self.spread < 1e8);
    }
};
// Where the tasks of a finished job ended: stopped tasks are redistributed to where the longer ones ended.
struct ended_mass {
    std::array<double, log_bins::count> at{};
    double total = 0;  // tasks
    double median = 0; // as a bin position

    static constexpr double fewest = 3; // ended tasks

    // False if fewer than half of the tasks were seen to end.
    [[nodiscard]] bool read(job_times const& j) noexcept {
        total = j.ended.total + j.stopped.total;
        double at_risk = total, survives = 1;
        for (std::size_t b = 0; b < log_bins::count && at_risk > 0.5; ++b) {
            double const d = static_cast<double>(j.ended.bins[b]);
            at[b] = survives * (std::min)(d / at_risk, 1.0);
            survives -= at[b];
            at_risk -= d + static_cast<double>(j.stopped.bins[b]);
        }
        if (!(j.ended.total >= fewest) || !(survives < 0.5)) return false;
        double sum = 0;
        for (std::size_t b = 0; b < log_bins::count; ++b) {
            if (sum + at[b] >= 0.5) {
                median = static_cast<double>(b) + (at[b] > 0 ? (0.5 - sum) / at[b] : 0.5);
                break;
            }
            sum += at[b];
        }
        return true;
    }
    // Adds it to the counts, with its median at the center.
    void add_to(log_counts& counts, double most) const noexcept {
        constexpr long last = static_cast<long>(log_bins::count) - 1;
        long const shift = static_cast<long>(log_bins::centre) - static_cast<long>(std::floor(median));
        for (long b = 0; b <= last; ++b) {
            double const mass = at[static_cast<std::size_t>(b)];
            if (mass > 0) counts.add(static_cast<std::size_t>(std::clamp(b + shift, 0L, last)), mass * total);
        }
        counts.bound(most);
    }
};

} // namespace straggle::detail
