// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/slowdown_evidence.hpp`: the distribution of one job's attempt times, including
/// unfinished and canceled attempts.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/leading_count.hpp>
#include <straggle/base/spread_sort.hpp>
#include <straggle/rank/detail/pooled_times.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Kaplan-Meier and Nelson-Aalen estimates for logarithms of times.
//
// Source: Kaplan and Meier (1958), Nelson (1972), Aalen (1978); the mass left after the last event is placed
// at the longest running attempt (Efron 1967). For hazards, the times of other jobs serve as a prior (Susarla
// and Van Ryzin 1976, Hjort 1990).
class censored_times {
  public:
    void clear() noexcept {
        times_.clear();
        events_ = 0;
        longest_ = second_ = {};
    }
    // An attempt that ended, or that has run for this long so far.
    void add(double log_time, bool ended, std::uint32_t node) {
        times_.push_back({log_time, node, ended});
        events_ += ended ? 1 : 0;
    }

    // Sorts the attempts; required before everything below. O(n log n)
    void sort() {
        if (times_.empty()) return;
        double const lowest = times_.front().at - 8; // most lie above this, and are spread evenly
        spread_sort(
            times_, sorted_,
            [lowest](time const& t) {
                double const by = t.at > lowest ? t.at - lowest : 0.0;
                return static_cast<std::uint64_t>(static_cast<std::int64_t>((by < 16 ? by : 16.0) * 0x1p40));
            },
            [](time const& a, time const& b) {
                return a.at < b.at || (a.at == b.at && a.ended && !b.ended);
            });
        if (points_.size() < times_.size()) points_.resize(times_.size());
        std::size_t last = times_.size() - 1;
        longest_ = times_[last];
        while (last > 0 && times_[last].node == longest_.node) --last;
        if (times_[last].node != longest_.node) second_ = times_[last];
    }
    // The median of the ended attempts; the upper one of two. @pre one has ended
    [[nodiscard]] double median_of_ended() const noexcept {
        std::size_t before = events_ / 2 + 1, i = 0;
        while (before > 0) before -= times_[i++].ended ? 1u : 0u;
        return times_[i - 1].at;
    }
    // Measures times from `origin`; clamps them to +-`widest`.
    void count_from(double origin, double widest) noexcept {
        auto const moved = [=](double at) {
            double const by = at - origin, most = by < widest ? by : widest;
            return most > -widest ? most : -widest;
        };
        for (time& t : times_) t.at = moved(t.at);
        for (time* t : {&longest_, &second_})
            if (t->at > -1e299) t->at = moved(t->at);
    }

    // Fits everything except hazards. O(n)
    void fit() {
        std::size_t const n = times_.size();
        double survival = 1;
        for (std::size_t i = 0; i < n; ++i) {
            double mass = 0;
            if (times_[i].ended)
                mass = survival / static_cast<double>(n - i);
            else if (i + 1 == n)
                mass = survival;
            survival -= mass;
            points_[i].mass = mass;
            points_[i].survival = survival;
        }
        double sum = 0, squares = 0;
        for (std::size_t i = n; i-- > 0;) {
            point& p = points_[i];
            double const at = times_[i].at;
            sum += p.mass * at;
            squares += p.mass * at * at;
            p.sum_from = sum;
        }
        mean_ = sum;
        variance_ = squares - sum * sum;
        if (!(variance_ > 0)) variance_ = 0;
    }
    // The same for hazards only. Other jobs complement the few long-running siblings, weighted as `pool`
    // deems them comparable.
    // @param spread usual standard deviation of one time
    void fit_hazards(pooled_times const& pool, double spread) {
        find_suspects();
        find_prior(pool, spread);
        for (std::size_t which = everybody; which <= suspects_; ++which) sum_hazards(which);
    }

    [[nodiscard]] std::size_t events() const noexcept { return events_; }
    [[nodiscard]] double mean() const noexcept { return mean_; }
    [[nodiscard]] double variance() const noexcept { return variance_; }

    // The share that takes longer, and the mean time of those; the argument itself if nothing is known.
    struct rest {
        double share, mean;
    };
    [[nodiscard]] rest beyond(double log_time) const noexcept {
        std::size_t const i = after(log_time);
        if (i == times_.size()) return {i == 0 ? 1.0 : 0.0, log_time};
        double const share = i == 0 ? 1.0 : points_[i - 1].survival;
        if (!(share > 1e-9)) return {share, log_time};
        double const mean = points_[i].sum_from / share;
        return {share, mean > log_time ? mean : log_time};
    }
    [[nodiscard]] double survival(double log_time) const noexcept { return beyond(log_time).share; }
    [[nodiscard]] double mean_beyond(double log_time) const noexcept { return beyond(log_time).mean; }
    // By how much the longest attempt exceeds the longest on another node; negative if it did not end.
    [[nodiscard]] double lead() const noexcept {
        return longest_.ended && second_.at > -1e299 ? longest_.at - second_.at : -1.0;
    }
    // Calls visit(spacing) for the longest tenth of the times, at least for one: the gap to the next shorter
    // time, multiplied by the number of attempts that got that far. No calls if the longest attempt has not
    // ended.
    template <class Visit>
    void for_each_spacing(Visit&& visit) const {
        if (!(lead() >= 0)) return;
        std::size_t const n = times_.size();
        double sum = 0;
        for (std::size_t i = n - (std::max)(n / 10, std::size_t{1}); i < n; ++i) {
            sum += static_cast<double>(n - i) * (times_[i].at - times_[i - 1].at);
            if (!times_[i].ended) continue;
            visit(sum);
            sum = 0;
        }
    }

    // The cumulative hazard on a node; for a suspect, as estimated from the other nodes: hung attempts are
    // always at risk and would mask each other. Beyond the longest time elsewhere there are no data, so it
    // continues as the hazard of a Pareto distribution with this index.
    [[nodiscard]] double hazard(double log_time, std::uint32_t node, double index) const noexcept {
        std::size_t const i = after(log_time), which = view_of(node);
        double const known = i == 0 ? 0.0 : points_[i - 1].hazard[which];
        double const elsewhere = longest_without_[which];
        if (elsewhere > -1e299 && log_time > elsewhere) return known + index * (log_time - elsewhere);
        return i == 0 ? known : known + grown(points_[i - 1], which, prior(log_time));
    }

  private:
    // From all nodes, and without each of up to two suspects.
    static constexpr std::size_t everybody = 0, views = 3;

    struct time {
        double at = -1e300;
        std::uint32_t node = 0;
        bool ended = false;
    };
    // Estimates at one of the times.
    struct point {
        double mass = 0;
        double survival = 0;                 // after this time
        std::array<double, views> hazard{};  // up to and including this time
        std::array<double, views> at_risk{}; // after this time
        double prior = 0;                    // weighted number of other jobs' attempts that take longer
        double sum_from = 0;                 // of mass times position, from here on
    };

    // Index of the first longer time.
    [[nodiscard]] std::size_t after(double log_time) const noexcept {
        return leading_count(times_.size(), [&](std::size_t i) { return times_[i].at <= log_time; });
    }

    // The node with the longest attempt, and the one with most attempts running longer than usual.
    void find_suspects() {
        old_.clear();
        for (std::size_t i = times_.size(); i-- > 0 && times_[i].at > 0;)
            if (!times_[i].ended) old_.push_back(times_[i].node);
        std::sort(old_.begin(), old_.end());
        suspect_[0] = longest_.node;
        suspects_ = 1;
        for (std::size_t first = 0, most = 1; first < old_.size();) {
            std::size_t last = first;
            while (last < old_.size() && old_[last] == old_[first]) ++last;
            if (last - first > most && old_[first] != longest_.node) {
                most = last - first;
                suspect_[1] = old_[first];
                suspects_ = 2;
            }
            first = last;
        }
        longest_without_ = {longest_.at, second_.at, longest_.at};
    }
    // Kaplan-Meier estimates where half of the attempts are longer; from there on, other jobs provide the
    // prior. There is no prior if the estimates never fall to one half, or if the job has more long attempts
    // than other jobs explain.
    void find_prior(pooled_times const& pool, double spread) {
        pool_ = &pool;
        weight_ = (std::min)(pool.weight(), static_cast<double>(events_));
        std::size_t const n = times_.size();
        double survival = 1;
        std::size_t i = 0;
        for (; i < n && survival > 0.5; ++i)
            if (times_[i].ended) survival -= survival / static_cast<double>(n - i);
        if (survival > 0.5) weight_ = 0;
        if (!(weight_ > 0)) return;
        // Shift by the standard error of a median: too small a middle would overstate the hazard.
        middle_ = times_[i - 1].at + 1.25 * spread / std::sqrt(static_cast<double>(events_));
        auto const longer = [&](double by) { return static_cast<double>(n - after(middle_ + by)); };
        if (!pool.explains(static_cast<double>(n), longer)) weight_ = 0;
    }
    [[nodiscard]] double prior(double log_time) const noexcept {
        return weight_ > 0 ? weight_ * pool_->survival(log_time - middle_) : 0.0;
    }
    // Growth of the hazard due to other jobs since `from`, with no event in this job.
    [[nodiscard]] static double grown(point const& from, std::size_t which, double prior) noexcept {
        double const at_risk = from.at_risk[which];
        return at_risk > 0 && prior < from.prior ? std::log((from.prior + at_risk) / (prior + at_risk)) : 0.0;
    }
    // The hazard from all nodes, or from all except a suspect.
    void sum_hazards(std::size_t which) noexcept {
        bool const all = which == everybody;
        std::uint32_t const node = all ? 0 : suspect_[which - 1];
        double at_risk = 0, hazard = 0;
        for (time const& t : times_) at_risk += all || t.node != node ? 1 : 0;
        point before;
        before.prior = weight_;
        before.at_risk[which] = at_risk;
        for (std::size_t i = 0; i < times_.size(); ++i) {
            time const& t = times_[i];
            point& p = points_[i];
            if (all) p.prior = prior(t.at);
            hazard += grown(i == 0 ? before : points_[i - 1], which, p.prior);
            if (all || t.node != node) {
                // With few siblings the estimate is uncertain: keep it low.
                if (t.ended) hazard += 1 / (p.prior + at_risk + 1);
                at_risk -= 1;
            }
            p.hazard[which] = hazard;
            p.at_risk[which] = at_risk;
        }
    }
    [[nodiscard]] std::size_t view_of(std::uint32_t node) const noexcept {
        for (std::size_t k = 0; k < suspects_; ++k)
            if (suspect_[k] == node) return k + 1;
        return everybody;
    }

    std::vector<time> times_; // unsorted until sort()
    spread_sort_scratch<time> sorted_;
    std::vector<point> points_; // of each time, in the same order
    std::size_t events_ = 0;
    time longest_, second_; // on two different nodes
    std::array<std::uint32_t, views - 1> suspect_{};
    std::size_t suspects_ = 0;
    std::array<double, views> longest_without_{};
    pooled_times const* pool_ = nullptr; // while fitting hazards
    double weight_ = 0, middle_ = 0; // of the pool: its weight in attempts, and where its median is placed
    std::vector<std::uint32_t> old_; // nodes of attempts that run long
    double mean_ = 0, variance_ = 0;
};

} // namespace straggle::detail
