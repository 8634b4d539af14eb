// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How well a node runs tasks: the moments of its scores, their confidence interval (DSB algorithm 2), and
/// the concept for custom estimators.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/rank/normalizer.hpp>
#include <straggle/record/slowdown.hpp>
#include <straggle/stats/interval.hpp>
#include <straggle/stats/moments.hpp>
#include <straggle/stats/tick_moments.hpp>

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::rank {

/// Moments of scores, summed exactly on a grid of 2^-44: for any order of arrival and any splitting and
/// merging, the result is identical to the last bit. Scores that differ only by rounding noise count as
/// equal, so that equal scores have exactly spread 0.
///
/// All attempts of one job on one node are added together, by their exact sums: therefore a `monitor`, which
/// keeps only those sums, gets the same bits as a ranking of every record.
///
/// @par Cost
/// 48 bytes; add, add_group and merge O(1); allocates nothing
/// @par Accuracy
/// a score is kept to 2.9e-14 absolute; scores beyond +-262144 are clamped
/// @par Guarantees
/// noexcept (except for broken contracts); deterministic
class score_moments {
  public:
    /// Adds one score. @pre it is finite
    STRAGGLE_ALWAYS_INLINE void add(double score) noexcept { ticks_.add(to_ticks(score)); }
    /// Adds the attempts of one job on the node: the moments of their durations, scored by the job's scale.
    /// The same as `add` for a single duration.
    void add_group(stats::tick_moments const& durations, affine_scale<std::int64_t> const& scale) {
        auto const mean = durations.mean_parts();
        double const spread = durations.sum_of_squared_deviations() * scale.factor * scale.factor;
        ticks_.add_group(to_ticks(scale(mean.floor, mean.fraction)), durations.count(), to_squares(spread));
    }
    /// Adds all scores of another object.
    constexpr void merge(score_moments const& other) noexcept { ticks_.merge(other.ticks_); }
    /// Removes all scores of another object. @pre all of them were added before
    constexpr void unmerge(score_moments const& other) { ticks_.unmerge(other.ticks_); }

    /// Number of scores.
    [[nodiscard]] constexpr std::uint64_t count() const noexcept { return ticks_.count(); }
    /// The mean score. @pre `count() > 0`
    [[nodiscard]] constexpr double mean() const { return ticks_.mean() * (1.0 / grid); }
    /// The sum of (z - mean)^2; 0 exactly when all scores are equal.
    [[nodiscard]] constexpr double sum_of_squared_deviations() const noexcept {
        return ticks_.sum_of_squared_deviations() * (1.0 / grid) * (1.0 / grid);
    }

    /// The exact sums on the grid, for storing them.
    [[nodiscard]] constexpr stats::tick_moments const& ticks() const noexcept { return ticks_; }
    /// Restores scores from the sums that `ticks` returned.
    [[nodiscard]] static constexpr score_moments from(stats::tick_moments const& ticks) noexcept {
        score_moments m;
        m.ticks_ = ticks;
        return m;
    }

    friend constexpr bool operator==(score_moments const&, score_moments const&) = default;

  private:
    static constexpr double grid = 0x1p44;
    static constexpr double bound = 0x1p18;

    static std::int64_t to_ticks(double score) noexcept {
        double const low = score > -bound ? score : -bound;
        double const s = grid * (low < bound ? low : bound);
        // Rounds half away from zero. Branchless: half of the sign predictions would fail.
        return static_cast<std::int64_t>(s + std::copysign(0.5, s));
    }

    // On the grid of squares of scores, 2^-88; loses less than one step.
    static stats::tick_squares to_squares(double spread) noexcept {
        if (!(spread > 0)) return {};
        constexpr double most = 0x1p100; // 2^64 scores at the limit
        std::uint64_t const bits = std::bit_cast<std::uint64_t>(spread < most ? spread : most);
        std::uint64_t const digits = (bits & 0xfffffffffffffu) | 0x10000000000000u;
        int const shift = static_cast<int>(bits >> 52) - 1075 + 88;
        if (shift < 0) return {{shift > -53 ? digits >> -shift : 0, 0}, 0};
        int const words = shift / 64, rest = shift % 64;
        std::uint64_t const low = digits << rest, high = rest == 0 ? 0 : digits >> (64 - rest);
        if (words == 0) return {{low, high}, 0};
        if (words == 1) return {{0, low}, high};
        return {{0, 0}, low};
    }

    stats::tick_moments ticks_;
};

} // namespace straggle::rank

namespace straggle::inline STRAGGLE_ABI::detail {

// Floating-point durations are not reproducible across orders: their scores are summed in floating point,
// which is faster, after rounding to the same grid (up to 128; coarser beyond), so that equal scores stay
// equal.
class rounded_score_moments {
  public:
    void add(double score) noexcept { sums_.add(rounded(score)); }
    void add_group(std::uint64_t n, double mean, double squared_deviations) noexcept {
        if (n == 1)
            add(mean);
        else
            sums_.merge(stats::moments::from({mean, n, 0.0, squared_deviations}));
    }
    void merge(rounded_score_moments const& other) noexcept { sums_.merge(other.sums_); }
    [[nodiscard]] static double rounded(double score) noexcept { return (score + to_grid) - to_grid; }
    [[nodiscard]] stats::moments const& plain() const noexcept { return sums_; }
    [[nodiscard]] static rounded_score_moments from(stats::moments const& sums) noexcept {
        rounded_score_moments m;
        m.sums_ = sums;
        return m;
    }
    [[nodiscard]] std::uint64_t count() const noexcept { return sums_.count(); }
    [[nodiscard]] double mean() const { return sums_.mean(); }
    [[nodiscard]] double sum_of_squared_deviations() const noexcept {
        return sums_.sum_of_squared_deviations();
    }

  private:
    static constexpr double to_grid = 0x1.8p8; // the last bit of numbers near it is 2^-44
    stats::moments sums_;
};

template <class Value>
using score_moments_of = std::conditional_t<std::integral<Value>, rank::score_moments, rounded_score_moments>;

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::rank {

/// The scores of one node, summarized. All numbers are in units of score.
struct node_performance {
    std::uint64_t n = 0;  ///< scores
    double mean = 0;      ///< above 0: slower than siblings elsewhere
    double sd = 0;        ///< of the kind the interval rule uses
    stats::interval ci{}; ///< of the mean
};

/// Count, mean, deviation and interval of a node's scores.
///
/// Source: DSB algorithm 2 (literally, with `t_interval{0.95, deviation_kind::population}`).
/// @param scores a `score_moments`, or plain `moments` of scores
/// @param rule maps count, mean and deviation to an interval
/// @return `status::insufficient_evidence` if the rule gives no interval (fewer than two scores): the node is
/// then unranked, not infinitely uncertain
/// @par Cost
/// O(1); allocates nothing
template <stats::interval_rule Rule = stats::t_interval>
[[nodiscard]] outcome<node_performance> performance_of(auto const& scores, Rule const& rule = Rule{}) {
    std::uint64_t const n = scores.count();
    outcome<double> const sd =
        stats::standard_deviation(n, scores.sum_of_squared_deviations(), rule.deviation());
    if (!sd) return sd.reason();
    double const mean = scores.mean();
    outcome<stats::interval> const ci = rule(n, mean, *sd);
    if (!ci) return ci.reason();
    return node_performance{n, mean, *sd, *ci};
}

/// All that is known about a node when its interval is estimated.
struct node_sample {
    std::uint64_t n = 0;           ///< scores
    double mean = 0;               ///< of the scores; 0 without scores
    double squared_deviations = 0; ///< sum of squared deviations from the mean
    slowdown slow{};               ///< how many times as long its tasks take; unknown if not requested
};

/// The interface that estimates the interval by which nodes are ranked: larger is slower. `estimate(sample)`
/// returns the node's performance, or why it stays unranked.
/// @pre of the result: low and high are finite, low <= high
template <class Estimator>
concept interval_estimator =
    std::copy_constructible<Estimator> && requires(Estimator const& estimator, node_sample const& sample) {
        { estimator.estimate(sample) } -> std::same_as<outcome<node_performance>>;
    };

/// The interval of a node's mean score; the default.
///
/// Source: DSB algorithm 2; see `performance_of`.
/// @tparam Rule maps count, mean and deviation to an interval
/// @par Example
/// `rank_options{.estimator = rank::mean_interval{stats::t_interval(0.99)}}`
template <stats::interval_rule Rule = stats::t_interval>
struct mean_interval {
    Rule rule{}; ///< maps count, mean and deviation to an interval

    /// @return as `performance_of`
    [[nodiscard]] outcome<node_performance> estimate(node_sample const& sample) const {
        struct moments {
            node_sample const& of;
            [[nodiscard]] std::uint64_t count() const noexcept { return of.n; }
            [[nodiscard]] double mean() const noexcept { return of.mean; }
            [[nodiscard]] double sum_of_squared_deviations() const noexcept { return of.squared_deviations; }
        };
        return performance_of(moments{sample}, rule);
    }
};
template <class Rule>
mean_interval(Rule) -> mean_interval<Rule>;

/// The interval of a node's slowdown: ranks nodes by how many times as long their tasks take.
///
/// Source: ours. Mean and deviation stay those of the scores. Needs `rank_options::slowdowns`.
struct slowdown_interval {
    /// @return `status::insufficient_evidence` if the slowdown is unknown
    [[nodiscard]] outcome<node_performance> estimate(node_sample const& sample) const {
        if (!sample.slow.is_known()) return status::insufficient_evidence;
        outcome<node_performance> const by_scores = mean_interval<>{}.estimate(sample);
        if (!by_scores) return by_scores;
        return node_performance{
            by_scores->n, by_scores->mean, by_scores->sd, {sample.slow.low, sample.slow.high}};
    }
};

} // namespace straggle::rank
