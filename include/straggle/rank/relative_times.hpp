// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of `rank/rank_nodes.hpp` and `monitor/monitor.hpp`: how long a node's tasks take in units of
/// the mean of their jobs, so that a ranking can tell slowdowns.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/rank/normalizer.hpp>
#include <straggle/stats/tick_moments.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::detail {

// Sums of what tasks take beyond the mean of their job, in units of that: 0.3 is 30 % longer. Exact ones are
// integers, so that order and merging change no bit.
template <bool Exact>
class relative_times {
    using sum_type = std::conditional_t<Exact, std::int64_t, double>;

  public:
    STRAGGLE_ALWAYS_INLINE void add(double r) noexcept {
        if constexpr (Exact) {
            add_group(1, r, 0);
        } else {
            sum_ += r;
            squares_ += r * r;
        }
    }
    // Some tasks of one job: their mean, and the sum of their squared deviations from it.
    void add_group(std::uint64_t n, double mean, double spread) noexcept {
        if constexpr (Exact) {
            double const r = mean < most ? (mean > -most ? mean : -most) : most;
            auto const count = static_cast<std::int64_t>(n);
            // Wraps rather than overflows: of tasks by the billion at the bound nobody asks for an average.
            sum_ = static_cast<std::int64_t>(
                static_cast<std::uint64_t>(sum_) +
                static_cast<std::uint64_t>(static_cast<std::int64_t>(r * grid) * count));
            double const square = spread / static_cast<double>(n) + r * r;
            squares_ = static_cast<std::int64_t>(
                static_cast<std::uint64_t>(squares_) +
                static_cast<std::uint64_t>(
                    static_cast<std::int64_t>((square < most * most ? square : most * most) * grid) * count));
        } else {
            auto const count = static_cast<double>(n);
            sum_ += count * mean;
            squares_ += spread + count * mean * mean;
        }
    }
    void merge(relative_times const& other) noexcept {
        if constexpr (Exact) {
            sum_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum_) +
                                             static_cast<std::uint64_t>(other.sum_));
            squares_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(squares_) +
                                                 static_cast<std::uint64_t>(other.squares_));
        } else {
            sum_ += other.sum_;
            squares_ += other.squares_;
        }
    }
    // The mean of n, above -1.
    [[nodiscard]] double mean(std::uint64_t n) const noexcept {
        return static_cast<double>(sum_) / unit / static_cast<double>(n);
    }
    // Mean square around the mean.
    [[nodiscard]] double variance(std::uint64_t n) const noexcept {
        double const m = mean(n), v = static_cast<double>(squares_) / unit / static_cast<double>(n) - m * m;
        return v > 0 ? v : 0.0;
    }

    template <class Writer>
    void write(Writer& out) const {
        if constexpr (Exact) {
            out.i64(sum_);
            out.i64(squares_);
        } else {
            out.real(sum_);
            out.real(squares_);
        }
    }
    template <class Reader>
    void read(Reader& in) {
        if constexpr (Exact) {
            sum_ = in.i64();
            squares_ = in.i64();
        } else {
            sum_ = in.real();
            squares_ = in.real();
            in.expect(sum_ - sum_ == 0 && squares_ - squares_ == 0);
        }
    }
    friend bool operator==(relative_times const&, relative_times const&) = default;

  private:
    static constexpr double grid = 0x1p24, most = 256;
    static constexpr double unit = Exact ? grid : 1.0;

    sum_type sum_{}, squares_{};
};

// What a score of a job is in units of the mean of its durations. 0 where that is nothing sensible.
template <class Value>
[[nodiscard]] double relative_unit(rank::affine_scale<Value> const& scale) noexcept {
    double const zero = -scale(Value{}); // how far below 0 a task would score that takes no time
    return zero > 0 ? 1 / zero : 0.0;
}

// Scores of a node, and its relative times.
template <class Scores, bool Exact>
class timed_scores : public Scores {
  public:
    void add(double score, double unit) noexcept {
        Scores::add(score);
        times_.add(score * unit);
    }
    void add_group(stats::tick_moments const& durations, rank::affine_scale<std::int64_t> const& scale,
                   double unit) {
        Scores::add_group(durations, scale);
        add_times(times_, durations, scale, unit);
    }
    void add_group(std::uint64_t n, double mean, double squared_deviations, double unit) noexcept {
        Scores::add_group(n, mean, squared_deviations);
        times_.add_group(n, mean * unit, squared_deviations * unit * unit);
    }
    void merge(timed_scores const& other) noexcept {
        Scores::merge(other);
        times_.merge(other.times_);
    }
    [[nodiscard]] relative_times<Exact> const& times() const noexcept { return times_; }
    [[nodiscard]] relative_times<Exact>& times() noexcept { return times_; }

    static void add_times(relative_times<Exact>& to, stats::tick_moments const& durations,
                          rank::affine_scale<std::int64_t> const& scale, double unit) noexcept {
        auto const mean = durations.mean_parts();
        double const by = scale.factor * unit;
        to.add_group(durations.count(), scale(mean.floor, mean.fraction) * unit,
                     durations.sum_of_squared_deviations() * by * by);
    }

  private:
    relative_times<Exact> times_;
};

} // namespace straggle::detail
