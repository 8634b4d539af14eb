// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A distribution known from samples: the probability of a value below t, the mean of those values, and the
/// distribution that remains after a duration t.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/base/ranges.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/stats/interval.hpp>
#include <straggle/stats/long_sum.hpp>
#include <straggle/stats/order.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Length of the prefix of samples with the property.
template <class Property>
constexpr std::size_t count_leading(std::span<double const> x, Property const& property) noexcept {
    return static_cast<std::size_t>(std::partition_point(x.begin(), x.end(), property) - x.begin());
}

// The same, given that the first `first` have it. Walks eight at a time; after a walk the sums are needed,
// too.
template <class Property>
constexpr std::size_t count_leading_from(std::size_t first, std::span<double const> samples,
                                         [[maybe_unused]] double const* sums,
                                         Property const& property) noexcept {
    double const* const x = samples.data();
    std::size_t const n = samples.size();
    for (; n - first >= 8; first += 8) {
        if (property(x[first + 7])) {
            if (!std::is_constant_evaluated()) STRAGGLE_PREFETCH(sums + (std::min)(first + 64, n));
            continue;
        }
        std::size_t more = 0;
        for (std::size_t i = 0; i < 7; ++i) more += property(x[first + i]) ? 1U : 0U;
        return first + more;
    }
    while (first < n && property(x[first])) ++first;
    return first;
}

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::stats {

/// A distribution over samples of equal weight that it does not own: sorted, with their running sums. Cheap
/// to copy; a part of it, or a shifted copy, is a view of the same samples.
///
/// Source: RiskI (Zheng et al. 2014), equation 6: P(a, b) is the share of samples from a to b. Ours: the
/// range is half open, [a, b), so that a value between two ranges is not counted twice. Queries return
/// `status::insufficient_evidence` without samples, `status::out_of_domain` for NaN, and
/// `status::out_of_range` on overflow.
/// @par Cost
/// 40 bytes; look-ups O(log n); nothing allocates
/// @par Accuracy
/// results that do not sum samples are exact, except for one rounding if the view was moved; means are off by
/// at most 2 units in the last place of the largest running sum involved, divided by the count
/// @par Guarantees
/// noexcept except where a contract is checked; reentrant, deterministic; usable in constant expressions
class empirical_view {
  public:
    /// No samples.
    constexpr empirical_view() noexcept = default;

    /// @param sorted finite samples in ascending order
    /// @param sums one more entry than samples: the sums of the first 0, 1, 2, ... of them
    /// @pre `sums.size() == sorted.size() + 1`
    constexpr empirical_view(std::span<double const> sorted, std::span<double const> sums)
        : sorted_(sorted), sums_(sums.data()) {
        STRAGGLE_EXPECTS(sums.size() == sorted.size() + 1);
    }

    /// Number of samples.
    [[nodiscard]] constexpr std::size_t size() const noexcept { return sorted_.size(); }
    /// Whether there are no samples.
    [[nodiscard]] constexpr bool empty() const noexcept { return sorted_.empty(); }
    /// The k-th smallest sample. @pre `k < size()`
    [[nodiscard]] constexpr double operator[](std::size_t k) const {
        STRAGGLE_EXPECTS(k < size());
        return sorted_[k] + shift_;
    }

    /// The smallest sample.
    [[nodiscard]] constexpr outcome<double> lowest() const noexcept { return sample(0); }
    /// The largest sample.
    [[nodiscard]] constexpr outcome<double> highest() const noexcept { return sample(size() - 1); }
    /// The mean of all samples.
    [[nodiscard]] constexpr outcome<double> mean() const noexcept { return mean_of(0, size()); }

    /// The q-quantile by linear interpolation (definition 7 of Hyndman and Fan), like `quantile_in_place`.
    /// @return `status::out_of_domain` for a q outside [0, 1]
    [[nodiscard]] constexpr outcome<double> quantile(double q) const noexcept {
        if (!(q >= 0.0 && q <= 1.0)) return status::out_of_domain;
        if (empty()) return status::insufficient_evidence;
        return finite(at_position(q * static_cast<double>(size() - 1)));
    }

    /// A range that contains the *next* value of the distribution with the given probability, equally likely
    /// to be missed on both sides: its ends are the (n + 1)(1 -+ coverage) / 2-th samples, interpolated.
    ///
    /// Quantiles of few samples lie too far inside: the range from the 10 % to the 90 % quantile of ten
    /// samples contains the next one in 65 % of cases, not in 80 %. This range is right, as long as samples
    /// and the next value are exchangeable: exactly, for every continuous distribution, if (n + 1)(1 -
    /// coverage) / 2 is whole; otherwise exactly for uniform ones, and slightly too wide (at most 82 % for 80
    /// %, with 14 normal samples) for densities that fall toward the ends, as those of times do. Source: S.
    /// S. Wilks, Determination of sample sizes for setting tolerance limits (1941); with quantile definition
    /// 6 of Hyndman and Fan.
    /// @return `status::out_of_domain` for a coverage outside (0, 1); `status::insufficient_evidence` if even
    /// the whole range of the samples is missed more often than that: below 2 / (1 - coverage) - 1 samples, 9
    /// for 80 %
    [[nodiscard]] constexpr outcome<interval> range(double coverage) const noexcept {
        if (!(coverage > 0.0 && coverage < 1.0)) return status::out_of_domain;
        constexpr double whole = 1e-9; // tolerance for rounding to a whole number
        double const n = static_cast<double>(size());
        double const low = (n + 1) * (1 - coverage) / 2 - 1, most = n - 1;
        if (empty() || !(low > -whole)) return status::insufficient_evidence;
        // 9 samples are enough for 80 %, although 10 * (1 - 0.8) / 2 is a little less than 1 in binary.
        double const nearest = static_cast<double>(static_cast<std::size_t>(low + 0.5)), off = low - nearest;
        double const inside = off < whole && off > -whole ? nearest : low;
        interval const ends{at_position(inside), at_position(most - inside)};
        if (!detail::is_finite(ends.low) || !detail::is_finite(ends.high)) return status::out_of_range;
        return ends;
    }

    /// Number of samples less than t; 0 for NaN.
    [[nodiscard]] constexpr std::size_t count_below(double t) const noexcept {
        return detail::count_leading(sorted_, [t, by = shift_](double x) { return x + by < t; });
    }
    /// Number of samples that are at most t.
    [[nodiscard]] constexpr std::size_t count_up_to(double t) const noexcept {
        return detail::count_leading(sorted_, [t, by = shift_](double x) { return x + by <= t; });
    }
    /// The same, given that the first `known` samples are less than t. @pre `known <= size()`
    /// @par Cost
    /// O(1 + result - known): for an ascending sequence of t
    [[nodiscard]] constexpr std::size_t count_below(double t, std::size_t known) const {
        STRAGGLE_EXPECTS(known <= size());
        return detail::count_leading_from(known, sorted_, sums_,
                                          [t, by = shift_](double x) { return x + by < t; });
    }
    /// The same, given that the first `known` samples are at most t. @pre `known <= size()`
    [[nodiscard]] constexpr std::size_t count_up_to(double t, std::size_t known) const {
        STRAGGLE_EXPECTS(known <= size());
        return detail::count_leading_from(known, sorted_, sums_,
                                          [t, by = shift_](double x) { return x + by <= t; });
    }
    /// P(X < t).
    [[nodiscard]] constexpr outcome<double> below(double t) const noexcept {
        if (detail::is_nan(t)) return status::out_of_domain;
        return share(count_below(t));
    }
    /// P(X <= t).
    [[nodiscard]] constexpr outcome<double> up_to(double t) const noexcept {
        if (detail::is_nan(t)) return status::out_of_domain;
        return share(count_up_to(t));
    }
    /// P(a <= X < b), equation 6; 0 if b is not above a.
    [[nodiscard]] constexpr outcome<double> between(double a, double b) const noexcept {
        if (detail::is_nan(a) || detail::is_nan(b)) return status::out_of_domain;
        std::size_t const first = count_below(a), last = count_below(b);
        return share(last > first ? last - first : 0);
    }

    /// The sum of the k smallest samples; not finite if the sum of all overflows. @pre `k <= size()`
    [[nodiscard]] constexpr double sum_of_first(std::size_t k) const {
        STRAGGLE_EXPECTS(k <= size());
        return k == 0 ? 0.0 : sums_[k] - before_ + static_cast<double>(k) * shift_;
    }
    /// The mean of the samples in [first, last).
    /// @return `status::insufficient_evidence` if the range is empty, `status::out_of_range` if the sum
    /// overflows
    [[nodiscard]] constexpr outcome<double> mean_of(std::size_t first, std::size_t last) const noexcept {
        if (first >= last || last > size()) return status::insufficient_evidence;
        double const mean = (sums_[last] - sums_[first]) / static_cast<double>(last - first) + shift_;
        if (!detail::is_finite(mean)) return status::out_of_range; // of the largest doubles
        // Rounding must not move a mean outside the range of its samples.
        return std::clamp(mean, sorted_[first] + shift_, sorted_[last - 1] + shift_);
    }

    /// The distribution of X given X > t: the samples that remain once something has lasted for t. Empty if t
    /// is NaN.
    [[nodiscard]] constexpr empirical_view beyond(double t) const noexcept {
        empirical_view rest = *this;
        std::size_t const gone = detail::is_nan(t) ? size() : count_up_to(t);
        rest.sorted_ = sorted_.subspan(gone);
        if (gone > 0) {
            rest.sums_ += gone;
            rest.before_ = *rest.sums_;
        }
        return rest;
    }
    /// The distribution of X + by: `beyond(t).moved(-t)` is the remaining time after t.
    /// @pre `by` is finite
    [[nodiscard]] constexpr empirical_view moved(double by) const {
        STRAGGLE_EXPECTS(detail::is_finite(by));
        empirical_view other = *this;
        other.shift_ += by;
        return other;
    }

  private:
    [[nodiscard]] static constexpr outcome<double> finite(double x) noexcept {
        if (!detail::is_finite(x)) return status::out_of_range;
        return x;
    }
    [[nodiscard]] constexpr outcome<double> sample(std::size_t k) const noexcept {
        if (empty()) return status::insufficient_evidence;
        return finite(sorted_[k] + shift_);
    }
    [[nodiscard]] constexpr outcome<double> share(std::size_t k) const noexcept {
        if (empty()) return status::insufficient_evidence;
        return static_cast<double>(k) / static_cast<double>(size());
    }
    // Interpolates between the samples on both sides of a position in [0, n - 1].
    [[nodiscard]] constexpr double at_position(double position) const noexcept {
        std::size_t const k = (std::min)(static_cast<std::size_t>(position), size() - 1);
        double const a = sorted_[k], fraction = position - static_cast<double>(k);
        if (!(fraction > 0) || k + 1 == size()) return a + shift_;
        return detail::between(a, sorted_[k + 1], fraction) + shift_;
    }

    std::span<double const> sorted_;
    double const* sums_ = nullptr;
    double before_ = 0; // the first of the sums
    double shift_ = 0;
};

/// A distribution that owns its samples.
///
/// @par Example
/// `empirical times; times.assign(samples); if (*times.view().below(60) > 0.5) ...`
/// @par Cost
/// 16 bytes per sample. Assigning sorts, O(n log n), and allocates nothing once it has held as many samples
/// @par Accuracy
/// every running sum is rounded once
/// @par Guarantees
/// deterministic; the order of the samples does not matter. Only allocation, or the assigned range, can
/// throw, and then there are no samples
class empirical {
  public:
    /// Without samples.
    empirical() = default;
    empirical(empirical const&) = default;
    empirical(empirical&&) = default;
    /// Copies the other object, or changes nothing if an allocation fails.
    empirical& operator=(empirical const& other) { return *this = empirical(other); }
    empirical& operator=(empirical&&) = default;
    ~empirical() = default;

    /// Replaces all samples. Values that are not finite are dropped.
    /// @param samples any input range of numbers
    /// @return the number of dropped values
    template <std::ranges::input_range Samples>
        requires std::convertible_to<std::ranges::range_reference_t<Samples>, double>
    std::size_t assign(Samples&& samples) {
        clear();
        if constexpr (std::ranges::sized_range<Samples>)
            sorted_.reserve(static_cast<std::size_t>(std::ranges::size(samples)));
        std::size_t left_out = 0;
        for (auto&& s : samples) {
            double const x = static_cast<double>(s);
            if (detail::is_finite(x))
                sorted_.push_back(x);
            else
                ++left_out;
        }
        finish();
        return left_out;
    }

    /// Removes all samples but keeps the memory.
    void clear() noexcept {
        sorted_.clear();
        sums_.clear();
    }

    /// The distribution, valid until the samples are replaced, moved or destroyed.
    [[nodiscard]] empirical_view view() const& noexcept {
        return sums_.empty() ? empirical_view{}
                             : empirical_view{detail::span_of(sorted_), detail::span_of(sums_)};
    }
    empirical_view view() const&& = delete; // keep the empirical in a variable first
    /// Number of samples.
    [[nodiscard]] std::size_t size() const noexcept { return view().size(); }

  private:
    void finish() {
        sums_.reserve(sorted_.size() + 1);
        std::sort(sorted_.begin(), sorted_.end());
        detail::long_sum total;
        sums_.push_back(0.0);
        for (double const x : sorted_) {
            total.add(x);
            sums_.push_back(total.value());
        }
    }

    std::vector<double> sorted_;
    std::vector<double> sums_; // one entry more than samples; empty until the samples are sorted
};

} // namespace straggle::stats
