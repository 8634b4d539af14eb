// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `monitor/monitor.hpp`: what is kept of the attempts that one job has on one node within
/// one bucket of time, in 32 bytes.
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

// Exact sums that outgrew their pair, which is then only a reference to them.
class wide_sums {
  public:
    [[nodiscard]] stats::tick_moments& operator[](std::uint64_t place) {
        return sums_[detail::to_size(place)];
    }
    [[nodiscard]] stats::tick_moments const& operator[](std::uint64_t place) const {
        return sums_[detail::to_size(place)];
    }

    // A place for `m`. What may throw comes first.
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
    // Allocates nothing, also not in a copy: a place that is free tells in its count which other one is.
    void give_back(std::uint64_t place) noexcept {
        (*this)[place] = stats::tick_moments::from({free_, {}, {}});
        free_ = place;
    }

  private:
    static constexpr std::uint64_t none = ~std::uint64_t{0};

    std::vector<stats::tick_moments> sums_;
    std::uint64_t free_ = none;
};

// Exact, for integer ticks that are not negative.
class tick_pair {
  public:
    using value_type = std::int64_t;
    using moments_type = stats::tick_moments;
    using wide_type = wide_sums;

    std::uint32_t node = 0;

    tick_pair() = default;
    tick_pair(std::uint32_t its_node, std::uint32_t its_slot) noexcept : node(its_node), tail_(its_slot) {}

    [[nodiscard]] std::uint32_t slot() const noexcept { return tail_ & slot_mask; }

    void add(std::int64_t ticks, wide_sums& wide) {
        std::uint64_t const sum = sum_ + static_cast<std::uint64_t>(ticks);
        uint128 square = square_;
        std::uint64_t const lost = detail::add(square, default_wide::square(ticks));
        if ((lost | static_cast<std::uint64_t>(sum < sum_)) != 0 || n() >= most) [[unlikely]] {
            stats::tick_moments m;
            m.add(ticks);
            merge(m, wide);
            return;
        }
        sum_ = sum;
        square_ = square;
        tail_ += slot_mask + 1;
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
            tail_ = (static_cast<std::uint32_t>(s.n) << slot_bits) | slot();
        } else {
            sum_ = wide.keep(m);
            tail_ |= ~slot_mask;
        }
    }

    [[nodiscard]] stats::tick_moments moments(wide_sums const& wide) const noexcept {
        if (is_wide()) return wide[sum_];
        return stats::tick_moments::from({n(), {sum_, 0}, {square_, 0}});
    }

    void release(wide_sums& wide) const noexcept {
        if (is_wide()) wide.give_back(sum_);
    }

    // The moments of all pairs together; calls visit(pair, place) for each on the way.
    template <class Visit>
    [[nodiscard]] static stats::tick_moments together(std::span<tick_pair const> pairs, wide_sums const& wide,
                                                      Visit&& visit) {
        // As in tick_moments::add_all: as long as nothing can leave the low words, nobody asks about carries.
        // A pair that went wide has all bits of its count set.
        std::uint64_t n = 0, low_sum = 0, sum_bits = 0, square_bits = 0;
        std::uint32_t tail_bits = 0;
        uint128 square{};
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            tick_pair const& p = pairs[i];
            visit(p, i);
            n += p.n();
            tail_bits |= p.tail_;
            low_sum += p.sum_;
            sum_bits |= p.sum_;
            square_bits |= p.square_.hi;
            default_wide::accumulate(square, p.square_);
        }
        std::uint64_t const bits = sum_bits | square_bits, size = pairs.size();
        if (tail_bits >> 31 == 0 && (((bits | size) >> 32) == 0 || (bits >> 46 == 0 && size >> 16 == 0)))
            return stats::tick_moments::from({n, {low_sum, 0}, {square, 0}});
        stats::tick_moments m;
        for (tick_pair const& p : pairs) m.merge(p.moments(wide));
        return m;
    }

    // The duration, when there is but one.
    [[nodiscard]] bool is_single() const noexcept { return n() == 1; }
    [[nodiscard]] std::int64_t single() const noexcept { return static_cast<std::int64_t>(sum_); }

  private:
    static constexpr std::uint32_t slot_bits = 8;
    static constexpr std::uint32_t slot_mask = (1u << slot_bits) - 1;
    static constexpr std::uint32_t most = (1u << 24) - 2;

    [[nodiscard]] std::uint32_t n() const noexcept { return tail_ >> slot_bits; }
    [[nodiscard]] bool is_wide() const noexcept { return n() > most; }

    std::uint32_t tail_ = 0; // count and slot
    std::uint64_t sum_ = 0;  // or the place in wide_sums
    uint128 square_{};
};

// Nothing outgrows a pair of reals.
struct no_wide_sums {};

// Running mean and squared deviations (Welford 1962, Chan et al. 1979), for floating-point durations.
class real_pair {
  public:
    using value_type = double;
    using moments_type = real_pair;
    using wide_type = no_wide_sums;

    std::uint32_t node = 0;

    real_pair() = default;
    real_pair(std::uint32_t its_node, std::uint32_t its_slot) noexcept : node(its_node), slot_(its_slot) {}

    [[nodiscard]] std::uint32_t slot() const noexcept { return slot_; }
    [[nodiscard]] std::uint64_t count() const noexcept { return n_; }
    [[nodiscard]] double mean() const noexcept { return mean_; }
    [[nodiscard]] double sum_of_squared_deviations() const noexcept { return m2_; }
    // Itself: it keeps all there is to know.
    [[nodiscard]] real_pair const& moments(no_wide_sums const&) const noexcept { return *this; }
    [[nodiscard]] static real_pair from(std::uint64_t n, double mean, double m2) noexcept {
        real_pair p;
        p.n_ = n;
        p.mean_ = mean;
        p.m2_ = m2;
        return p;
    }

    void add(double x, no_wide_sums&) noexcept {
        ++n_;
        double const d = x - mean_;
        mean_ += d / static_cast<double>(n_);
        m2_ += d * (x - mean_);
    }

    void merge(real_pair const& other, no_wide_sums&) noexcept {
        if (n_ == 0) {
            n_ = other.n_;
            mean_ = other.mean_;
            m2_ = other.m2_;
            return;
        }
        double const mine = static_cast<double>(n_), theirs = static_cast<double>(other.n_);
        double const step = other.mean_ - mean_, share = theirs / (mine + theirs);
        n_ += other.n_;
        mean_ += step * share;
        m2_ += other.m2_ + step * (step * (mine * share));
    }

    void release(no_wide_sums&) const noexcept {}

  private:
    std::uint32_t slot_ = 0;
    std::uint64_t n_ = 0;
    double mean_ = 0;
    double m2_ = 0;
};

// The moments of a whole job from those of its pairs, in two passes: nothing cancels.
inline stats::moments moments_of_groups(std::span<real_pair const> pairs) noexcept {
    double const base = pairs.front().mean();
    std::uint64_t n = 0;
    double sum = 0;
    for (real_pair const& p : pairs) {
        n += p.count();
        sum += static_cast<double>(p.count()) * (p.mean() - base);
    }
    double const origin = base + sum / static_cast<double>(n);
    double rest = 0, squares = 0;
    for (real_pair const& p : pairs) {
        double const d = p.mean() - origin, weighted = static_cast<double>(p.count()) * d;
        rest += weighted;
        squares += p.sum_of_squared_deviations() + weighted * d;
    }
    return stats::moments::from({origin, n, rest, squares});
}

} // namespace straggle::detail
