// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which factors determine how long a task takes? Learns weights of the factors from pairs of finished tasks:
/// their similarity in each factor, and the similarity of their times.
#pragma once

#include <straggle/base/bytes.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/predict/detail/nonnegative_least_squares.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::predict {

/// How similar a time is to a range of times: 1 inside, approaching 0 with the distance outside.
///
/// Source: RiskI (Zheng et al. 2014), equation 4: 1 - min(|t - t_max|, |t_min - t|) / max(t, t_avg). As
/// printed it is 1 at both ends of the range and dips in between: the best predicted times count as
/// dissimilar to the range (`papers::riski_2014`).
/// @param t the time, not negative, in any unit
/// @param low and `high`: the range of times, `0 <= low <= high`
/// @param mean of the times in the range; if rounding has put it outside, the nearest end is used
/// @return from 0 to 1; `status::out_of_domain` for an invalid time or range
/// @par Cost
/// O(1)
[[nodiscard]] constexpr outcome<double> real_similarity(double t, double low, double high,
                                                        double mean) noexcept {
    if (!detail::is_finite(t) || !detail::is_finite(low) || !detail::is_finite(high) ||
        !detail::is_finite(mean) || !(t >= 0) || !(low >= 0) || !(low <= high))
        return status::out_of_domain;
    if (t >= low && t <= high) return 1.0;
    double const off = t < low ? low - t : t - high;
    double const scale = (std::max)(t, (std::min)((std::max)(mean, low), high));
    return off < scale ? 1 - off / scale : 0.0;
}

/// How similar the times of two tasks are: 1 - |t - u| / max(t, u), the smaller divided by the larger.
///
/// Source: equation 4 with one record as the range.
/// @return as above
/// @par Cost
/// O(1)
[[nodiscard]] constexpr outcome<double> real_similarity(double t, double u) noexcept {
    return real_similarity(t, u, u, u);
}

/// What the weights w minimize, summed over pairs with similarities S_k in the factors and R in time.
enum class weight_objective : std::uint8_t {
    affine,  ///< (R - a - b sum w_k S_k)^2, for the best a and b >= 0
    simplex, ///< (R - sum w_k S_k)^2 for weights that sum to 1: RiskI's
};

/// How weights are learned.
struct weight_options {
    weight_objective objective = weight_objective::affine; ///< what is minimized
    /// With less `evidence()` all weights are equal. From 16 to 32 pairs on, learned weights are better, for
    /// 4 factors as well as 16.
    double least_pairs = 32;
    /// Pairs after which the weight of a pair has fallen to 1/e; 0: nothing fades. Old pairs may no longer
    /// apply: tasks change, and so do the ranges that similarities are measured by.
    double memory = 0;
};

/// Working memory of `weight_fit::fit`. One per thread, for reuse.
/// @par Cost
/// (2 factors + 6) factors numbers, allocated on first use with that many factors
class weight_scratch {
  public:
    /// Reserves memory for fits with this many factors.
    void reserve(std::size_t factors) { problem_.reserve(factors); }

  private:
    friend class weight_fit;
    detail::nonnegative_least_squares problem_;
};

/// Learns the weights of factors from pairs of finished tasks: w_k >= 0, sum w_k = 1.
///
/// A pair is described by the similarity of its tasks in each factor (S_k = 1 - difference_k^2) and of their
/// times (R, see `real_similarity`). The weights should make pairs similar by sum w_k S_k have similar times.
///
/// Source: RiskI, equations 2 and 3: least squares of S w against R, which is `simplex`. It has no intercept
/// and a fixed sum, so that w must also reproduce the mean and the scale of R, which gives weight to
/// irrelevant factors. The default is therefore `affine`: least squares with any intercept and w >= 0 of any
/// sum, divided by the sum afterwards. Measured (`simplex` in parentheses; error is that of the median time
/// of the 32 nearest tasks):
/// - simulated tasks in the situation of table 2, 4000 pairs: irrelevant factors get 2 % of the weight in
/// total (24 %); error 4.7 s (6.4 s), 7.5 s with equal weights; with very skewed inputs 13 s (20 s), 20 s;
/// - tasks held out of three real histories, factors job, node, input, hour and a random number: the random
/// number gets 2, 3 and 0 % (6, 44 and 0 %); error 66.4, 2.19 and 31.9 s (68.2, 2.22 and 31.9 s), with equal
/// weights 62.5, 2.25 and 33.8 s.
///
/// Stores means and sums of products of deviations of S and R, never of S and R themselves: nothing cancels.
/// @par Example
/// `weight_fit fit(2); fit.observe(similarities, *real_similarity(t, u)); ... fit.fit(weights, scratch);`
/// @par Cost
/// 80 bytes and 4 (factors + 1)(factors + 6) of memory, allocated at construction
/// @par Guarantees
/// deterministic; of two factors with identical similarities in all pairs, the first gets the weight of both
class weight_fit {
  public:
    /// Starts without pairs.
    /// @pre `factors > 0`; `options.memory` is 0 or at least 1, and finite; `options.least_pairs` is finite
    explicit weight_fit(std::size_t factors, weight_options const& options = {})
        : factors_(factors), options_(options), sums_((factors + 1) * (factors + 6) / 2) {
        STRAGGLE_EXPECTS(factors > 0);
        STRAGGLE_EXPECTS((options.memory == 0 || options.memory >= 1) && detail::is_finite(options.memory));
        STRAGGLE_EXPECTS(detail::is_finite(options.least_pairs));
    }

    /// Number of factors.
    [[nodiscard]] std::size_t factors() const noexcept { return factors_; }
    /// What it was made with.
    [[nodiscard]] weight_options const& options() const noexcept { return options_; }
    /// Number of pairs added, faded or not.
    [[nodiscard]] std::uint64_t pairs() const noexcept { return pairs_; }
    /// Number of pairs rejected.
    [[nodiscard]] std::uint64_t rejected() const noexcept { return rejected_; }
    /// Effective number of pairs after fading; at most `memory`, if that is not 0.
    [[nodiscard]] double evidence() const noexcept { return n_; }

    /// Whether a pair can be used: all numbers are in [0, 1].
    [[nodiscard]] static bool accepts(std::span<double const> similarities, double real) noexcept {
        bool good = is_share(real);
        for (double const s : similarities) good = good && is_share(s);
        return good;
    }

    /// Adds one pair.
    /// @param similarities of the two tasks in each factor, in [0, 1]
    /// @param real similarity of their times, in [0, 1]
    /// @pre `similarities.size() == factors()`
    /// @return `status::out_of_domain` if a number is not in [0, 1]: the pair is only counted in `rejected()`
    /// @par Cost
    /// O(factors^2); allocates nothing
    status observe(std::span<double const> similarities, double real) {
        STRAGGLE_EXPECTS(similarities.size() == factors_);
        if (!accepts(similarities, real)) {
            ++rejected_;
            return status::out_of_domain;
        }
        double const keep = options_.memory > 0 ? 1 - 1 / options_.memory : 1.0;
        double const before = keep * n_, step = 1 / (before + 1);
        ++pairs_;
        n_ = before + 1;
        double* const mean = sums_.data();
        double* const off = mean + width();
        for (std::size_t k = 0; k < width(); ++k) {
            off[k] = (k < factors_ ? similarities[k] : real) - mean[k];
            mean[k] += off[k] * step;
        }
        add_products(keep, before * step);
        return status::ok;
    }

    /// Merges another fit, as if both had seen everything at the same time.
    /// @pre `other.factors() == factors()`
    /// @par Cost
    /// O(factors^2); allocates nothing
    /// @par Accuracy
    /// the order of merging does not matter, up to rounding
    void merge(weight_fit const& other) {
        STRAGGLE_EXPECTS(other.factors_ == factors_);
        pairs_ += other.pairs_;
        rejected_ += other.rejected_;
        if (!(other.n_ > 0)) return;
        double const before = n_, n = other.n_;
        n_ += n;
        for (std::size_t i = 2 * width(); i < sums_.size(); ++i) sums_[i] += other.sums_[i];
        double* const mean = sums_.data();
        double* const off = mean + width();
        for (std::size_t k = 0; k < width(); ++k) {
            off[k] = other.sums_[k] - mean[k];
            mean[k] += off[k] * (n / n_);
        }
        add_products(1, before * (n / n_));
    }

    /// The weights: nonnegative, with sum 1.
    /// @param weights overwritten
    /// @param scratch working memory
    /// @pre `weights.size() == factors()`
    /// @return `status::insufficient_evidence` if the evidence is below `least_pairs`; `status::no_spread` if
    /// no factor is more similar when times are, or nothing varies: all weights are then equal.
    /// `status::out_of_range` if the best weights were not reached within a bound on the steps, which has
    /// never been seen: the weights are the best so far
    /// @par Cost
    /// O(factors^3), more if many weights enter and leave on the way; 0.3, 1.1 and 4.7 us for 4, 8 and 16
    /// factors; allocates nothing in the steady state
    /// @par Accuracy
    /// the optimum, up to rounding of the stored sums; but a factor that is a combination of others to 11
    /// digits gets no weight, although it might explain 4e-6 of the remainder
    status fit(std::span<double> weights, weight_scratch& scratch) const {
        return fit_sum(weights, scratch, nullptr, 0);
    }

    /// The weights as if there were additional pairs that are on average like those of `prior`, except for
    /// their means if the objective is `affine`.
    /// @param weights overwritten
    /// @param scratch working memory
    /// @param prior has seen pairs of other tasks
    /// @param prior_pairs number of additional pairs, not negative; counts as 0 if `prior` has seen none
    /// @pre `prior.factors() == factors()`; `prior_pairs` is finite
    /// @return as above; the evidence is that of both, limited to what `prior` has
    status fit(std::span<double> weights, weight_scratch& scratch, weight_fit const& prior,
               double prior_pairs) const {
        STRAGGLE_EXPECTS(prior.factors_ == factors_);
        STRAGGLE_EXPECTS(prior_pairs >= 0 && detail::is_finite(prior_pairs));
        return fit_sum(weights, scratch, &prior, prior.n_ > 0 ? prior_pairs : 0.0);
    }

    /// Forgets all pairs and counts.
    void clear() noexcept {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        n_ = 0;
        pairs_ = rejected_ = 0;
    }

    /// Appends what was learned, without the options.
    /// @par Cost
    /// O(factors^2) bytes
    void write(byte_writer& out) const {
        out.count(factors_);
        out.varint(pairs_);
        out.varint(rejected_);
        out.real(n_);
        for (std::size_t k = 0; k < width(); ++k) out.real(sums_[k]);
        for (std::size_t i = 2 * width(); i < sums_.size(); ++i) out.real(sums_[i]);
    }

    /// Replaces what was learned with what `write` appended; the options stay.
    /// @return `status::wrong_kind` for another number of factors, `status::corrupt` for sums that no pairs
    /// can have, else the status of the reader, which has failed for the same reason. Nothing has changed
    /// then
    /// @par Cost
    /// O(factors^2), one allocation
    status restore(byte_reader& in) {
        if (in.varint() != factors_) in.fail(status::wrong_kind); // unless it has failed before
        weight_fit read(in.ok() ? factors_ : 1, options_);
        read.pairs_ = in.varint();
        read.rejected_ = in.varint();
        read.n_ = in.real();
        for (std::size_t k = 0; k < read.width(); ++k) read.sums_[k] = in.real();
        for (std::size_t i = 2 * read.width(); i < read.sums_.size(); ++i) read.sums_[i] = in.real();
        if (in.ok()) in.expect(read.is_plausible());
        if (in.ok()) *this = std::move(read);
        return in.reason();
    }

  private:
    // Similarities that vary less are constant up to rounding.
    static constexpr double least_variance = 0x1p-80;
    // A smaller correlation is rounding, or useless.
    static constexpr double least_correlation = 0x1p-40;

    // Never reached, and small enough for sums not to overflow.
    static constexpr std::uint64_t most_pairs = std::uint64_t{1} << 60;

    [[nodiscard]] static bool is_share(double x) noexcept { return detail::is_finite(x) && x >= 0 && x <= 1; }
    [[nodiscard]] std::size_t width() const noexcept { return factors_ + 1; }

    // Sum of (column k - its mean)(column l - its mean), k <= l; the last column is R.
    [[nodiscard]] double product(std::size_t k, std::size_t l) const noexcept {
        return sums_[2 * width() + k * (2 * width() - k - 1) / 2 + l];
    }
    void add_products(double keep, double factor) noexcept {
        double const* const off = sums_.data() + width();
        double* to = sums_.data() + 2 * width();
        for (std::size_t k = 0; k < width(); ++k) {
            double const by = factor * off[k];
            for (std::size_t l = k; l < width(); ++l, ++to) *to = keep * *to + by * off[l];
        }
    }

    status fit_sum(std::span<double> weights, weight_scratch& scratch, weight_fit const* prior,
                   double prior_pairs) const {
        STRAGGLE_EXPECTS(weights.size() == factors_);
        std::fill(weights.begin(), weights.end(), 1 / static_cast<double>(factors_));
        double const all = n_ + prior_pairs;
        double const evidence = prior != nullptr ? n_ + (std::min)(prior_pairs, prior->n_) : n_;
        if (!(evidence >= options_.least_pairs) || !(all > 0)) return status::insufficient_evidence;
        detail::nonnegative_least_squares& problem = scratch.problem_;
        problem.begin(factors_);
        double variance = 0; // of R
        if (n_ > 0) variance += add_to(problem, options_.objective, n_ / all);
        if (prior_pairs > 0) variance += prior->add_to(problem, options_.objective, prior_pairs / all);
        bool const affine = options_.objective == weight_objective::affine;
        if (affine && !(variance > least_variance)) return status::no_spread;
        bool const optimal = problem.solve(affine ? least_variance : 0.0,
                                           affine ? least_correlation * std::sqrt(variance) : 0.0);
        double sum = 0;
        for (double const x : problem.solution()) sum += x;
        if (!(sum > 0) || !detail::is_finite(sum)) return status::no_spread;
        for (std::size_t k = 0; k < factors_; ++k) weights[k] = problem.solution()[k] / sum;
        return optimal ? status::ok : status::out_of_range;
    }

    // Adds the normal equations of these pairs, with the given total weight. Returns the weighted variance of
    // R.
    double add_to(detail::nonnegative_least_squares& problem, weight_objective objective,
                  double share) const noexcept {
        std::size_t const real = factors_;
        double const each = share / n_;
        for (std::size_t k = 0; k < factors_; ++k) {
            if (objective == weight_objective::affine) {
                for (std::size_t l = k; l < factors_; ++l) problem.matrix(k, l) += each * product(k, l);
                problem.right(k) += each * product(k, real);
                continue;
            }
            // With sum w = 1 the error is sum w_k (R - S_k): minimize w'Gw, where G has the mean products of
            // those. The u >= 0 with the smallest u'Gu + (1 - sum u)^2 is a multiple of that w: for u = s w
            // with a given w, the best s leaves w'Gw / (1 + w'Gw), which grows with w'Gw.
            double const off = sums_[k] - sums_[real];
            for (std::size_t l = k; l < factors_; ++l) {
                double const products =
                    product(k, l) - product(k, real) - product(l, real) + product(real, real);
                problem.matrix(k, l) += each * products + share * (off * (sums_[l] - sums_[real]) + 1);
            }
            problem.right(k) += share;
        }
        return each * product(real, real);
    }

    // Whether some pairs can have these sums, checked for each pair of columns.
    [[nodiscard]] bool is_plausible() const noexcept {
        bool good = pairs_ <= most_pairs && detail::is_finite(n_) && n_ >= 0 &&
                    n_ <= static_cast<double>(pairs_) && (n_ > 0) == (pairs_ > 0);
        for (double const x : sums_) good = good && detail::is_finite(x);
        for (std::size_t k = 0; k < width() && good; ++k) {
            good = is_share(sums_[k]) && product(k, k) >= 0 && product(k, k) <= n_;
            for (std::size_t l = 0; l < k && good; ++l)
                good = std::fabs(product(l, k)) <=
                       1.001 * std::sqrt(product(l, l)) * std::sqrt(product(k, k)) + 1e-280;
        }
        return good;
    }

    std::size_t factors_;
    weight_options options_;
    std::vector<double> sums_; // means of the columns, room for a row, products of deviations by rows
    double n_ = 0;             // effective number of pairs
    std::uint64_t pairs_ = 0;
    std::uint64_t rejected_ = 0;
};

} // namespace straggle::predict
