// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Makes durations of different jobs comparable: the normalized execution value of DSB equation 1, and the
/// concept for custom normalizers.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/stats/moments.hpp>
#include <straggle/stats/tick_moments.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::rank {

/// Maps the durations of one job to scores: (x - origin - shift) * factor. The origin is separate so that
/// durations far from zero lose no digits.
template <class Value>
struct affine_scale {
    Value origin{};    ///< in the unit of the durations
    double shift = 0;  ///< center minus origin
    double factor = 1; ///< 1 / spread

    /// The score of a duration; no unit.
    [[nodiscard]] constexpr double operator()(Value x) const noexcept {
        if constexpr (std::integral<Value>) {
            // Unsigned arithmetic cannot overflow here; in practice the two are far less than 2^63 apart.
            auto const distance = static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(origin);
            return (static_cast<double>(static_cast<std::int64_t>(distance)) - shift) * factor;
        } else {
            return ((x - origin) - shift) * factor;
        }
    }
    /// The score of a duration with a fraction of a tick, such as a mean of ticks.
    [[nodiscard]] constexpr double operator()(Value whole, double fraction) const noexcept
        requires std::integral<Value>
    {
        return affine_scale{origin, shift - fraction, factor}(whole);
    }
};

/// A normalizer that needs only the count, mean and variance of a job: it works on a stream and on exact
/// ticks.
template <class Normalizer>
concept moment_normalizer =
    std::copy_constructible<Normalizer> &&
    requires(Normalizer const& n, stats::tick_moments const& ticks, stats::moments const& reals) {
        { n.fit(ticks) } -> std::same_as<outcome<affine_scale<std::int64_t>>>;
        { n.fit(reals) } -> std::same_as<outcome<affine_scale<double>>>;
    };

/// A normalizer that needs all durations of a job at once. `normalize(durations, scratch)` replaces the
/// durations by scores; `scratch` has the same length and any content. A score may be NaN if a single sibling
/// has none. Returns `status::ok`, or why the job gives no scores.
template <class Normalizer>
concept sibling_normalizer =
    std::copy_constructible<Normalizer> && requires(Normalizer const& n, std::span<double> values) {
        { n.normalize(values, values) } -> std::same_as<status>;
    };

/// A normalizer that first divides each duration by the attempt's input.
template <class Normalizer>
concept input_normalizer = requires(Normalizer const& n) {
    n.per_input();
    requires moment_normalizer<std::remove_cvref_t<decltype(n.per_input())>> ||
                 sibling_normalizer<std::remove_cvref_t<decltype(n.per_input())>>;
};

/// Any type that converts the durations of a job's tasks to scores that are comparable across jobs.
template <class Normalizer>
concept normalizer =
    moment_normalizer<Normalizer> || sibling_normalizer<Normalizer> || input_normalizer<Normalizer>;

/// The normalized execution value: z = (D - mean) / sd over the accepted attempts of the job, with the
/// population standard deviation.
///
/// Source: DSB equation 1. Changed: jobs with fewer than five tasks give no scores by default; with two tasks
/// the scores are always +1 and -1, which is no information (|z| never exceeds sqrt(n - 1)). `min_tasks = 2`
/// is the paper's choice.
///
/// @par Accuracy
/// for ticks at any offset, a score is within about 4 ULP, or within 2^-53 ticks / sd if the duration nearly
/// equals the mean
/// @par Cost
/// O(1) per job and per attempt; allocates nothing
struct z_score {
    std::uint64_t min_tasks = 5; ///< a job with fewer accepted attempts gives no scores

    /// The scale of a job.
    /// @return `status::insufficient_evidence` below `min_tasks`, `status::no_spread` when all durations are
    /// equal
    [[nodiscard]] outcome<affine_scale<std::int64_t>> fit(stats::tick_moments const& job) const {
        if (status const s = judge(job.count()); s != status::ok) return s;
        double const squares = job.sum_of_squared_deviations();
        if (!(squares > 0)) return status::no_spread;
        auto const mean = job.mean_parts();
        return affine_scale<std::int64_t>{mean.floor, mean.fraction, factor(job.count(), squares)};
    }
    /// The same for floating-point durations.
    /// @return also `status::out_of_range` if squares of durations overflow, from about 1e154 on
    [[nodiscard]] outcome<affine_scale<double>> fit(stats::moments const& job) const {
        if (status const s = judge(job.count()); s != status::ok) return s;
        double const squares = job.sum_of_squared_deviations();
        if (!detail::is_finite(squares)) return status::out_of_range;
        if (!(squares > 0)) return status::no_spread;
        return affine_scale<double>{job.origin(), job.mean_offset(), factor(job.count(), squares)};
    }

  private:
    constexpr status judge(std::uint64_t tasks) const noexcept {
        return tasks < 2 || tasks < min_tasks ? status::insufficient_evidence : status::ok;
    }
    // 1 / sd, with a single division unless that overflows.
    static double factor(std::uint64_t n, double squares) noexcept {
        double const quotient = static_cast<double>(n) / squares;
        if (!detail::is_finite(quotient)) return std::sqrt(static_cast<double>(n)) / std::sqrt(squares);
        return std::sqrt(quotient);
    }
};

/// Normalizes durations per unit of input instead of durations: removes data skew from the score, so that a
/// node is not blamed for getting more work. If any attempt of a job lacks a positive input size, the whole
/// job is normalized by plain durations.
///
/// Source: ours; DSB section 4.2.2 does not correct for data skew.
/// @tparam Base the normalizer that converts the rates to scores
template <class Base = z_score>
    requires moment_normalizer<Base> || sibling_normalizer<Base>
struct work_rate {
    Base base{}; ///< converts the rates to scores

    /// The normalizer applied to durations per unit of input.
    [[nodiscard]] constexpr Base const& per_input() const noexcept { return base; }
};

} // namespace straggle::rank
