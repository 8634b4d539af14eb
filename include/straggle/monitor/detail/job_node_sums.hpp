// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `monitor/monitor.hpp`: the sums over the attempts of one job on one node within one time
/// step, in 32 bytes; and the sums of a job whose steps have expired.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/size.hpp>
#include <straggle/stats/moments.hpp>
#include <straggle/stats/tick_moments.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Exact sums that outgrew their pair, which then only refers to them.
class wide_sums {
  public:
    [[nodiscard]] stats::tick_moments& operator[](std::uint64_t place) {
        return sums_[detail::to_size(place)];
    }
    [[nodiscard]] stats::tick_moments const& operator[](std::uint64_t place) const {
        return sums_[detail::to_size(place)];
    }

    // Stores `m` and returns its place. Everything that may throw comes first.
    [[nodiscard]] std::uint64_t keep(stats::tick_moments const& m) {
        if (free_ == none) {
            sums_.push_back(m);
            return sums_.size() - 1;
        }
        std::uint64_t const place = free_;
        free_ = (*this)[place].count();
        (*this)[place] = m;
        return place;
    }
    // Never allocates, not even in a copy: the count of a free place links to the next free one.
    void give_back(std::uint64_t place) noexcept {
        (*this)[place] = stats::tick_moments::from({free_, {}, {}});
        free_ = place;
    }

  private:
    static constexpr std::uint64_t none = ~std::uint64_t{0};

    std::vector<stats::tick_moments> sums_;
    std::uint64_t free_ = none;
};

// Exact, for nonnegative integer ticks.
class tick_pair {
  public:
    using value_type = std::int64_t;
    using moments_type = stats::tick_moments;
    using wide_type = wide_sums;
    // Ticks are exact without an origin.
    struct origin_type {
        [[nodiscard]] static constexpr origin_type at(std::int64_t) noexcept { return {}; }
    };

    std::uint32_t node = 0;

    explicit tick_pair(std::uint32_t its_node) noexcept : node(its_node) {}

    STRAGGLE_ALWAYS_INLINE void add(std::int64_t ticks, origin_type, wide_sums& wide) {
        std::uint64_t const sum = sum_ + static_cast<std::uint64_t>(ticks);
        uint128 square = square_;
        std::uint64_t const lost = detail::add(square, default_wide::square(ticks));
        if ((lost | static_cast<std::uint64_t>(sum < sum_)) != 0 || n_ >= most) [[unlikely]] {
            stats::tick_moments m;
            m.add(ticks);
            merge(m, wide);
            return;
        }
        sum_ = sum;
        square_ = square;
        ++n_;
    }

    void merge(stats::tick_moments const& other, wide_sums& wide) {
        if (is_wide()) {
            wide[sum_].merge(other);
            return;
        }
        stats::tick_moments m = moments(wide);
        m.merge(other);
        stats::tick_sums const s = m.sums();
        if (s.n <= most && s.sum.hi == 0 && s.squares.top == 0) {
            sum_ = s.sum.lo;
            square_ = s.squares.low;
            n_ = static_cast<std::uint32_t>(s.n);
        } else {
            sum_ = wide.keep(m);
            n_ = in_wide;
        }
    }

    [[nodiscard]] stats::tick_moments moments(wide_sums const& wide) const noexcept {
        if (is_wide()) return wide[sum_];
        return stats::tick_moments::from({n_, {sum_, 0}, {square_, 0}});
    }

    void release(wide_sums& wide) const noexcept {
        if (is_wide()) wide.give_back(sum_);
    }

    // The moments of all pairs together; calls visit(pair, place) for each in passing.
    template <class Visit>
    [[nodiscard]] static stats::tick_moments together(std::span<tick_pair const> pairs, wide_sums const& wide,
                                                      Visit&& visit) {
        // As in tick_moments::add_all: no carry checks while sums stay in the low words.
        low_sums const low = low_words(pairs, visit);
        std::uint64_t const bits = low.bits, size = pairs.size();
        if (low.count_bits >> 31 == 0 && (((bits | size) >> 32) == 0 || (bits >> 46 == 0 && size >> 16 == 0)))
            return stats::tick_moments::from({low.n, {low.sum, 0}, {low.square, 0}});
        stats::tick_moments m;
        for (tick_pair const& p : pairs) m.merge(p.moments(wide));
        return m;
    }

    // A single duration.
    [[nodiscard]] bool is_single() const noexcept { return n_ == 1; }
    [[nodiscard]] std::int64_t single() const noexcept { return static_cast<std::int64_t>(sum_); }

  private:
    static constexpr std::uint32_t in_wide = 0xffffffffu, most = in_wide - 1;

    [[nodiscard]] bool is_wide() const noexcept { return n_ == in_wide; }

    // Sums over pairs that stay in the low words, and the union of their bits. A wide pair has all bits of
    // its count set.
    struct low_sums {
        std::uint64_t n = 0, sum = 0, bits = 0;
        uint128 square{};
        std::uint32_t count_bits = 0;
    };
    // Never inlined: inside a ranking, GCC 12 with AVX-512 kept one of the sums in a vector register spilled
    // to the stack, and every pair waited for it.
    template <class Visit>
    STRAGGLE_NEVER_INLINE static low_sums low_words(std::span<tick_pair const> pairs, Visit& visit) {
        low_sums s;
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            tick_pair const& p = pairs[i];
            visit(p, i);
            s.n += p.n_;
            s.count_bits |= p.n_;
            s.sum += p.sum_;
            s.bits |= p.sum_ | p.square_.hi;
            default_wide::accumulate(s.square, p.square_);
        }
        return s;
    }

    std::uint32_t n_ = 0;
    std::uint64_t sum_ = 0; // or the place in wide_sums
    uint128 square_{};
};

// Pairs of reals never outgrow their fields.
struct no_wide_sums {};

// Running mean and squared deviations (Welford 1962, Chan et al. 1979) of floating-point durations, relative
// to an origin shared by the whole job: its first duration. As one of the job's own n durations, it is at
// most sqrt(n) standard deviations from their mean, and rounding errors are proportional to that, not to the
// size of the durations.
class real_sums {
  public:
    [[nodiscard]] std::uint64_t count() const noexcept { return n_; }
    // Of the durations minus the origin.
    [[nodiscard]] double mean() const noexcept { return mean_; }
    [[nodiscard]] double sum_of_squared_deviations() const noexcept { return m2_; }
    [[nodiscard]] static real_sums from(std::uint64_t n, double mean, double m2) noexcept {
        real_sums s;
        s.n_ = n;
        s.mean_ = mean;
        s.m2_ = m2;
        return s;
    }
    // The same relative to an origin that is larger by `by`.
    [[nodiscard]] real_sums moved(double by) const noexcept { return from(n_, mean_ - by, m2_); }

    STRAGGLE_ALWAYS_INLINE void add(double x) noexcept {
        ++n_;
        double const d = x - mean_;
        mean_ += d / static_cast<double>(n_);
        m2_ += d * (x - mean_);
    }
    void merge(real_sums const& other) noexcept {
        if (n_ == 0) {
            *this = other;
            return;
        }
        if (other.n_ == 0) return;
        double const mine = static_cast<double>(n_), theirs = static_cast<double>(other.n_);
        double const step = other.mean_ - mean_, share = theirs / (mine + theirs);
        n_ += other.n_;
        mean_ += step * share;
        m2_ += other.m2_ + step * (step * (mine * share));
    }

  private:
    std::uint64_t n_ = 0;
    double mean_ = 0;
    double m2_ = 0;
};

class real_pair {
  public:
    using value_type = double;
    using moments_type = real_sums;
    using wide_type = no_wide_sums;
    struct origin_type {
        double value = 0;
        [[nodiscard]] static constexpr origin_type at(double first) noexcept { return {first}; }
    };

    std::uint32_t node = 0;

    explicit real_pair(std::uint32_t its_node) noexcept : node(its_node) {}

    STRAGGLE_ALWAYS_INLINE void add(double x, origin_type origin, no_wide_sums&) noexcept {
        sums_.add(x - origin.value);
    }
    void merge(real_sums const& other, no_wide_sums&) noexcept { sums_.merge(other); }
    [[nodiscard]] real_sums const& moments(no_wide_sums const&) const noexcept { return sums_; }
    void release(no_wide_sums&) const noexcept {}

    [[nodiscard]] std::uint64_t count() const noexcept { return sums_.count(); }
    [[nodiscard]] double mean() const noexcept { return sums_.mean(); }
    [[nodiscard]] double sum_of_squared_deviations() const noexcept {
        return sums_.sum_of_squared_deviations();
    }

  private:
    real_sums sums_;
};

// Moments of a whole job from those of its pairs, relative to the job's origin.
class real_total {
  public:
    STRAGGLE_ALWAYS_INLINE void add(std::uint64_t n, double mean, double m2) noexcept {
        double const weighted = static_cast<double>(n) * (mean - step_);
        n_ += n;
        sum_ += weighted;
        squares_ += m2 + weighted * (mean - step_);
    }
    void add(real_sums const& s) noexcept { add(s.count(), s.mean(), s.sum_of_squared_deviations()); }
    [[nodiscard]] std::uint64_t count() const noexcept { return n_; }
    // Whether the origin is so far from the mean that squares have lost a digit: then repeat, with a closer
    // origin.
    [[nodiscard]] bool is_skewed() const noexcept {
        double const between = sum_ / static_cast<double>(n_) * sum_;
        return between > 0.9 * squares_;
    }
    // Restarts with an origin close to the mean.
    [[nodiscard]] real_total nearer(double origin) const noexcept {
        real_total t;
        double const moved = origin + (step_ + sum_ / static_cast<double>(n_));
        t.step_ = moved - origin; // the step after rounding
        return t;
    }
    [[nodiscard]] stats::moments moments(double origin) const noexcept {
        return stats::moments::from({origin + step_, n_, sum_, squares_});
    }

  private:
    std::uint64_t n_ = 0;
    double step_ = 0, sum_ = 0, squares_ = 0;
};

} // namespace straggle::detail
