// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `assign/profit.hpp`: sums over all pairs of samples of two distributions, without visiting
/// the pairs.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/stats/empirical.hpp>

#include <cstddef>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::detail {

// A sum with separately accumulated rounding errors (Ogita, Rump and Oishi's Sum2): as precise as long_sum
// for so few numbers, and an addition need not wait for the previous error.
class sum_with_errors {
  public:
    constexpr void add(double x) noexcept {
        double const sum = sum_ + x, part = sum - sum_;
        errors_ += (sum_ - (sum - part)) + (x - part);
        sum_ = sum;
    }
    [[nodiscard]] constexpr double value() const noexcept { return sum_ + errors_; }

  private:
    double sum_ = 0, errors_ = 0;
};

// Means over all pairs of an r from one distribution and an x from the other, r and x independent.
struct race_means {
    double wins = 0;    // of x < r
    double won = 0;     // of (max(r, s) - max(x, s))+
    double earlier = 0; // of min(r, x)
};

class race_totals {
  public:
    constexpr void add(std::size_t wins, double won, double earlier) noexcept {
        wins_ += wins;
        won_.add(won > 0 || !is_finite(won) ? won : 0.0); // negative only by rounding
        earlier_.add(earlier);
    }
    [[nodiscard]] constexpr race_means over(std::size_t a, std::size_t b) const noexcept {
        double const pairs = static_cast<double>(a) * static_cast<double>(b);
        return {static_cast<double>(wins_) / pairs, won_.value() / pairs, earlier_.value() / pairs};
    }

  private:
    std::uint64_t wins_ = 0;
    sum_with_errors won_, earlier_;
};

// Total lead of the first k samples over t, which is at least as large as all of them.
STRAGGLE_ALWAYS_INLINE constexpr double ahead(stats::empirical_view const& x, std::size_t k, double t) {
    return static_cast<double>(k) * t - x.sum_of_first(k);
}

// Number of samples below s. Often zero, which saves the search.
STRAGGLE_ALWAYS_INLINE constexpr std::size_t count_in_vain(stats::empirical_view const& x, double s) {
    return s > x[0] ? x.count_below(s) : 0;
}

// One r: the k samples below it contribute k r - (their sum) of won time, `in_vain` of it before s.
STRAGGLE_ALWAYS_INLINE constexpr void add_remaining(race_totals& totals, double r, std::size_t k,
                                                    stats::empirical_view const& x, double s,
                                                    double in_vain) {
    double const rest = static_cast<double>(x.size() - k) * r;
    totals.add(k, r > s ? ahead(x, k, r) - in_vain : 0.0, x.sum_of_first(k) + rest);
}

// For a single r, given the number of samples of x below it, and below s.
STRAGGLE_ALWAYS_INLINE constexpr race_means
race_of_one(double r, std::size_t below_r, stats::empirical_view const& x, double s, std::size_t below_s) {
    race_totals totals;
    add_remaining(totals, r, below_r, x, s, ahead(x, below_s, s));
    return totals.over(1, x.size());
}

// Inlined, like the others here: copying a view right after it was written stalls on store forwarding, which
// takes longer than a search.
STRAGGLE_ALWAYS_INLINE constexpr race_means
race_by_remaining(stats::empirical_view const& r, stats::empirical_view const& x, double s, bool walk) {
    double const in_vain = ahead(x, count_in_vain(x, s), s);
    race_totals totals;
    std::size_t k = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
        double const t = r[i];
        k = walk ? x.count_below(t, k) : x.count_below(t);
        add_remaining(totals, t, k, x, s, in_vain);
    }
    return totals.over(r.size(), x.size());
}

// The same from the other side: the m - k samples of r above x contribute (their sum) - (m - k) x.
STRAGGLE_ALWAYS_INLINE constexpr race_means
race_by_copy(stats::empirical_view const& r, stats::empirical_view const& x, double s, bool walk) {
    double const all = r.sum_of_first(r.size());
    auto const above = [&](std::size_t k) { return static_cast<double>(r.size() - k); };
    auto const behind = [&](std::size_t k, double t) { return all - r.sum_of_first(k) - above(k) * t; };
    double const most = behind(r.count_up_to(s), s);
    race_totals totals;
    std::size_t k = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        double const t = x[i];
        k = walk ? r.count_up_to(t, k) : r.count_up_to(t);
        totals.add(r.size() - k, t > s ? behind(k, t) : most, r.sum_of_first(k) + above(k) * t);
    }
    return totals.over(r.size(), x.size());
}

// Both not empty. Looks up each sample of the smaller one in the larger; walks if they lie close.
STRAGGLE_ALWAYS_INLINE constexpr race_means race(stats::empirical_view const& r,
                                                 stats::empirical_view const& x, double s) {
    if (r.size() == 1) return race_of_one(r[0], x.count_below(r[0]), x, s, count_in_vain(x, s));
    bool const fewer_r = r.size() <= x.size();
    std::size_t const few = fewer_r ? r.size() : x.size(), many = fewer_r ? x.size() : r.size();
    bool const walk = many / few < 64;
    return fewer_r ? race_by_remaining(r, x, s, walk) : race_by_copy(r, x, s, walk);
}

} // namespace straggle::detail
