// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/ranking.hpp`: converts the relative times of all nodes to slowdowns.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/rank/detail/relative_times.hpp>
#include <straggle/record/slowdown.hpp>
#include <straggle/stats/student_t.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Input and result for one node.
struct slowdown_row {
    time_sums<double> times;
    std::uint32_t component = 0;
    bool is_judged = false; // has enough tasks
    double ratio = 0;       // mean of its tasks relative to the others of the same jobs
    double share = 0;       // share of the tasks of its component
    double value = 0;       // relative to some node of its component
    double variance = 0;    // of a task, relative to its mean squared; then of the log value
    double freedom = 0;     // degrees of freedom: jobs behind the variance
    slowdown slow{};
};

// The ratio of a node to the others of its jobs is rho = (sum of m r) / (sum of m o), whatever its share of
// the jobs: under a proportional slowdown, r = rho o in each job. The others are not a common yardstick,
// since each node is among the others of the rest. If nodes meet about as often as their numbers of tasks
// suggest, rho = s (1 - p) / (S - p s), with the node's share p of the tasks and S the mean of all p s; hence
// s = rho S / (1 - p + p rho). The result is s in units of the middle node of the component.
//
// The variance is that of ratios between jobs, so that what the tasks of one job have in common counts once.
// As many nodes have few jobs, variances are shrunk toward the common one, to the degree that they agree (an
// empirical Bayes moderation as in Smyth 2004, doi:10.2202/1544-6115.1027).
class slowdown_estimate {
  public:
    static constexpr std::uint64_t least_tasks = 8, least_jobs = 3;

    std::vector<slowdown_row> rows; // fill in before `solve`, read afterwards
    node_links links;               // for the components; use while filling in rows

    // Sums over nodes are integers, because the order of nodes depends on the input.
    STRAGGLE_NEVER_INLINE void solve() {
        compare();
        settle_variances();
        std::size_t known = 0;
        visit_components([&](auto const& nodes) { known += nodes.size(); });
        if (known == 0) return;
        double const tail = 0.025 / static_cast<double>(known); // two-sided, simultaneous for all nodes
        double const limit = stats::student_t_quantile_upper(tail, 1e9).value_or(8.0);
        visit_components([&](auto const& nodes) { tell(nodes, tail, limit); });
    }

  private:
    // Visits groups of comparable judged nodes, sorted by value.
    template <class Visit>
    void visit_components(Visit const& visit) const {
        for (std::size_t first = 0, last = 0; first < order_.size(); first = last) {
            while (last < order_.size() && rows[order_[last]].component == rows[order_[first]].component)
                ++last;
            if (last - first >= 2) visit(std::span<std::uint32_t const>(order_).subspan(first, last - first));
        }
    }

    static constexpr double grid = 0x1p20;
    // Integer sums, so that the order of summands does not matter.
    static void bring(std::uint64_t& to, double x) noexcept {
        to += static_cast<std::uint64_t>((x < 0x1p30 ? x : 0x1p30) * grid);
    }

    // Computes ratios, shares and values; sorts the judged nodes into order_ by component and value.
    void compare() {
        tasks_.assign(rows.size() + 1, 0);
        order_.clear();
        for (slowdown_row& row : rows) {
            row.slow = {};
            if (row.component >= tasks_.size()) tasks_.resize(std::size_t{row.component} + 1);
            tasks_[row.component] += row.times.tasks;
        }
        for (std::uint32_t i = 0; i < rows.size(); ++i) {
            slowdown_row& row = rows[i];
            time_sums<double> const& t = row.times;
            row.is_judged = row.is_judged && t.tasks >= least_tasks && t.jobs >= least_jobs && t.here > 0 &&
                            t.elsewhere > 0;
            if (!row.is_judged) continue;
            row.ratio = t.here / t.elsewhere;
            row.share = static_cast<double>(t.tasks) / static_cast<double>(tasks_[row.component]);
            row.value = row.ratio / ((1 - row.share) + row.share * row.ratio);
            order_.push_back(i);
        }
        std::sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) {
            slowdown_row const &x = rows[a], &y = rows[b];
            if (x.component != y.component) return x.component < y.component;
            if (x.value != y.value) return x.value < y.value;
            return a < b;
        });
    }

    void settle_variances() {
        std::uint64_t between = 0, jobs_free = 0, within = 0, tasks_free = 0;
        for (std::uint32_t const i : order_) {
            slowdown_row& row = rows[i];
            time_sums<double> const& t = row.times;
            double const rho = row.ratio;
            double const squares = t.here_squared - 2 * rho * t.both + rho * rho * t.elsewhere_squared;
            // Effective number of jobs of equal weight.
            double const jobs = t.elsewhere * t.elsewhere / t.elsewhere_squared;
            row.freedom = jobs > 1.25 ? jobs - 1 : 0.25;
            double const mean = t.here / t.weight;
            row.variance =
                squares > 0 ? squares / (t.weight * mean * mean) * (row.freedom + 1) / row.freedom : 0.0;
            bring(between, row.variance * row.freedom);
            bring(jobs_free, row.freedom);
            bring(within, t.within / (mean * mean));
            tasks_free += t.tasks - t.jobs;
        }
        double const jobs = static_cast<double>(jobs_free) / grid;
        double const of_tasks =
            tasks_free > 0 ? static_cast<double>(within) / grid / static_cast<double>(tasks_free) : 0.0;
        double const of_jobs = jobs > 0 ? static_cast<double>(between) / grid / jobs : 0.0;
        // A few jobs may agree by chance.
        double const few = 4;
        double const usual = tasks_free > 0
                                 ? (std::max)((jobs * of_jobs + few * 2 * of_tasks) / (jobs + few), of_tasks)
                                 : of_jobs;
        double const strength = agreement(usual, jobs);
        for (std::uint32_t const i : order_) {
            slowdown_row& row = rows[i];
            double const free = row.freedom + strength;
            row.variance = (row.freedom * row.variance + strength * usual) / free;
            row.freedom = free;
        }
    }

    // Weight of the common variance in jobs: decreases with the excess of differences between nodes over
    // chance.
    [[nodiscard]] double agreement(double usual, double jobs) const {
        if (!(usual > 0)) return 1;
        std::uint64_t seen = 0, expected = 0, all = 0;
        for (std::uint32_t const i : order_) {
            slowdown_row const& row = rows[i];
            double const off = row.variance / usual - 1;
            bring(seen, row.freedom * (off * off < 64 ? off * off : 64));
            bring(expected, 2);
            bring(all, row.freedom);
        }
        double const most = (std::max)(jobs, 4.0);
        if (all == 0) return most;
        double const excess = static_cast<double>(seen) - static_cast<double>(expected);
        double const spread = excess / static_cast<double>(all);
        return spread > 0 ? (std::min)((std::max)(2 / spread, 4.0), most) : most;
    }

    // Computes the slowdowns of one component, whose nodes are sorted by value.
    void tell(std::span<std::uint32_t const> nodes, double tail, double limit) {
        for (std::uint32_t const i : nodes) {
            slowdown_row& row = rows[i];
            row.value = std::log(row.value);
            row.variance = row.variance / row.times.weight * (1 - row.share);
        }
        middle const m = middle_of(nodes);
        for (std::uint32_t const i : nodes) {
            slowdown_row& row = rows[i];
            double const share = is_near(row, m) ? m.variance / row.variance : 0.0;
            // The reference has its own error, partly shared with the node.
            double const variance = row.variance * (1 - 2 * share) + m.variance;
            double const step = t_of(tail, limit, row.freedom) * std::sqrt((std::max)(variance, 0.0));
            double const at = row.value - m.at, low = std::exp(at - step), high = std::exp(at + step);
            if (is_finite(step) && low > 0 && is_finite(high))
                row.slow = {std::exp(at), low, high, row.times.tasks};
        }
    }

    // The reference: the middle node, refined to the mean of all nodes within chance of it. The middle node
    // alone would carry its sampling error, and if many nodes are slow it is not the middle of the healthy
    // ones.
    struct middle {
        double at = 0, variance = 0;
        double from = 0; // nodes close to this are averaged
    };
    [[nodiscard]] static bool is_near(slowdown_row const& row, middle const& m) noexcept {
        double const off = row.value - m.from;
        return off * off < 6.25 * row.variance;
    }
    [[nodiscard]] middle middle_of(std::span<std::uint32_t const> nodes) const {
        std::size_t const half = nodes.size() / 2;
        slowdown_row const &above = rows[nodes[half]],
                           &below = rows[nodes[nodes.size() % 2 != 0 ? half : half - 1]];
        middle m{(above.value + below.value) / 2, (above.variance + below.variance) / 4, 0};
        m.from = m.at;
        for (int round = 0; round < 4; ++round) {
            double sum = 0, all = 0;
            middle const now{m.at, 0, m.at};
            for (std::uint32_t const i : nodes) {
                slowdown_row const& row = rows[i];
                if (!(row.variance > 0) || !is_near(row, now)) continue;
                sum += row.value / row.variance;
                all += 1 / row.variance;
            }
            if (!(all > 0)) break;
            m = {sum / all, 1 / all, now.at};
        }
        return m;
    }
    // Quantiles for many degrees of freedom, expanded around the normal quantile (Abramowitz and Stegun
    // 26.7.5).
    static double t_of(double tail, double limit, double dof) {
        if (dof < 64) return stats::student_t_quantile_upper(tail, dof).value_or(1e9);
        double const x = limit, xx = x * x;
        return x + x * (xx + 1) / (4 * dof) + x * ((5 * xx + 16) * xx + 3) / (96 * dof * dof) +
               x * (((3 * xx + 19) * xx + 17) * xx - 15) / (384 * dof * dof * dof);
    }

    std::vector<std::uint64_t> tasks_; // by component
    std::vector<std::uint32_t> order_;
};

} // namespace straggle::detail
