// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// LATE in full: which tasks to copy now (the one expected to end last first), the maximum number of copies,
/// and which nodes to avoid.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/detect/detail/rates.hpp>
#include <straggle/stats/order.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detect {

/// How a low rate or a slow node is defined.
enum class late_scale : std::uint8_t {
    quantile,   ///< below that quantile of all: as in the paper
    deviations, ///< more than this many population deviations from the mean: as in Hadoop 1
};

/// Names the tasks that LATE would copy now: among those with a low progress rate and no copy yet, the ones
/// with the longest time to end first, until the cap on copies is reached.
///
/// Source: M. Zaharia, A. Konwinski, A. Joseph, R. Katz, I. Stoica, Improving MapReduce performance in
/// heterogeneous environments, OSDI 2008, section 4: SlowTaskThreshold and SlowNodeThreshold at the 25th
/// percentile, SpeculativeCap 10 % of the slots (of the running tasks if the slots are unknown), and only
/// tasks that have run for a minute. `mr1()` is Hadoop 1's variant (`JobInProgress`, `TaskInProgress`):
/// thresholds in deviations, over the rates of finished tasks too, and a cap of max(10, 1 % of the slots, 10
/// % of the running tasks).
///
/// Unlike the other rules it decides what to copy rather than what is slow: tasks with a copy are excluded
/// (but count against the cap), and the last suspects may be cut off (`detection_note::cap_reached`).
/// `slow_nodes` names the nodes that must not get copies.
///
/// Verdict: value = progress rate, threshold = the low rate, usual = mean rate. The order is by
/// rate / (1 - progress), lowest first.
/// @par Cost
/// O(tasks) expected, plus sorting the suspects; allocates nothing in the steady state
/// @par Guarantees
/// deterministic
struct late_with_caps {
    static constexpr std::string_view name = "late_with_caps";

    late_scale scale = late_scale::quantile; ///< of `slow_task` and `slow_node`
    double slow_task = 0.25;                 ///< SlowTaskThreshold: a quantile in [0, 1], or deviations
    double slow_node = 0.25;                 ///< SlowNodeThreshold: the same
    task_scope over = task_scope::running;   ///< which rates are used
    double cap_of_running = 0.1;             ///< SpeculativeCap: copies as a share of the running tasks
    double cap_of_slots = 0.1;               ///< or, if more, as a share of the slots, if known
    std::uint64_t cap_at_least = 0;          ///< or, if more, this number
    double lag = 60; ///< only tasks that have run this long; one minute, if in seconds
    double tick = 0; ///< minimum elapsed time used

    /// Hadoop 1's version of the rule and its defaults.
    /// @param second a second in the unit of the job's times
    [[nodiscard]] static constexpr late_with_caps mr1(double second = 1.0) noexcept {
        late_with_caps rule;
        rule.scale = late_scale::deviations;
        rule.slow_task = rule.slow_node = 1.0;
        rule.over = task_scope::started;
        rule.cap_of_slots = 0.01;
        rule.cap_at_least = 10;
        rule.lag = 60.0 * second;
        rule.tick = 0.001 * second;
        return rule;
    }

    detection_note detect(job_view const& job, detector_scratch& scratch, std::vector<finding>& out) const {
        std::vector<double>& rates = scratch.values;
        std::size_t const known = detail::collect_rates(job, over, tick, rates);
        if (rates.size() < 2 || job.running.empty()) return detail::lack_of_rates(job);
        detail::mean_and_deviation const usual = detail::mean_and_deviation_of(detail::span_of(rates));
        double const threshold = scale == late_scale::deviations ? detail::below_mean(usual, slow_task)
                                                                 : quantile_of(rates, slow_task);

        std::size_t const first = out.size();
        bool const in_place = known == job.running.size(); // each rate is at the index of its task
        auto const rate_of = [&](std::size_t i) {
            return in_place ? rates[i] : detail::progress_rate(job.running[i], tick);
        };
        auto const is_slow = [&](std::size_t i, double rate) {
            // Branchless: each condition may be mispredicted half of the time.
            return static_cast<unsigned>(rate >= 0) & static_cast<unsigned>(rate < threshold) &
                   static_cast<unsigned>(job.running[i].copies <= 1);
        };
        detail::name_suspects<detail::worst::lowest>(
            job, scratch, out, {0, 0, threshold, usual.mean}, [&](std::size_t i) {
                double const rate = rate_of(i), left = 1.0 - job.running[i].progress;
                bool const old_enough = job.running[i].elapsed >= lag;
                return detail::judgement{rate / (left > 1e-4 ? left : 1e-4), // Hadoop's floor
                                         (is_slow(i, rate) & static_cast<unsigned>(old_enough)) != 0};
            });
        if (out.size() == first) {
            for (std::size_t i = 0; i < job.running.size(); ++i)
                if (is_slow(i, rate_of(i)) != 0) return detection_note::too_early;
            return detection_note::none;
        }
        detection_note const note = cut(job, first, out);
        for (std::size_t i = first; i < out.size(); ++i)
            out[i].value = detail::progress_rate(job.running[out[i].task], tick);
        return note;
    }

    /// Appends the nodes that must not get copies, by index.
    ///
    /// By quantile: those whose tasks, finished and running, have done less in total than that quantile of
    /// the nodes (the paper: "total progress"). By deviations: those whose finished tasks took longer on
    /// average than mean + slow_node * deviation of the nodes' averages (Hadoop 1; a node without finished
    /// tasks is not slow). Considers the nodes the job has used. Among n nodes, none can be more than sqrt(n
    /// - 1) deviations from the mean: with two nodes, never more than 1.
    /// @par Cost
    /// O(tasks + nodes) expected; allocates nothing in the steady state
    void slow_nodes(job_view const& job, detector_scratch& scratch, std::vector<std::uint32_t>& out) const {
        std::vector<double>& by_node = scratch.node_values;
        std::vector<double>& known = scratch.values;
        by_node.assign(job.nodes.size(), -1.0);
        known.clear();
        bool const by_time = scale == late_scale::deviations;
        for (std::size_t n = 0; n < job.nodes.size(); ++n) {
            double const finished = static_cast<double>(job.nodes[n].finished);
            if (!by_time)
                by_node[n] = finished;
            else if (finished > 0)
                by_node[n] = job.nodes[n].total_time / finished;
        }
        if (!by_time)
            for (running_task const& t : job.running)
                if (t.progress >= 0 && t.node < by_node.size()) by_node[t.node] += t.progress;
        for (double const value : by_node)
            if (value >= 0) known.push_back(value);
        if (known.size() < 2) return;
        double threshold = 0;
        if (by_time) {
            detail::mean_and_deviation const usual = detail::mean_and_deviation_of(detail::span_of(known));
            threshold = usual.mean + slow_node * usual.deviation;
        } else if (outcome<double> const quantile =
                       stats::quantile_in_place(detail::span_of(known), slow_node)) {
            threshold = *quantile;
        }
        for (std::uint32_t n = 0; n < by_node.size(); ++n)
            if (by_node[n] >= 0 && (by_time ? by_node[n] > threshold : by_node[n] < threshold))
                out.push_back(n);
    }

  private:
    // Uses a copy behind the values, which stay in order.
    [[nodiscard]] static double quantile_of(std::vector<double>& values, double q) {
        std::size_t const n = values.size();
        values.resize(2 * n);
        auto const middle = values.begin() + static_cast<std::ptrdiff_t>(n);
        std::copy(values.begin(), middle, middle);
        outcome<double> const quantile = stats::quantile_in_place(detail::span_of(values).subspan(n), q);
        return quantile ? *quantile : 0.0;
    }

    // Hadoop's comparison: with n copies running, may another be started?
    [[nodiscard]] bool at_cap(job_view const& job, std::uint64_t copies) const noexcept {
        if (copies < cap_at_least) return false;
        double const n = static_cast<double>(copies);
        if (job.slots > 0 && n / static_cast<double>(job.slots) < cap_of_slots) return false;
        return !(n / static_cast<double>(job.running.size()) < cap_of_running);
    }

    detection_note cut(job_view const& job, std::size_t first, std::vector<finding>& out) const {
        std::uint64_t copies = detail::copies_of(job);
        std::size_t end = first;
        while (end < out.size() && !at_cap(job, copies)) {
            ++end;
            ++copies;
        }
        if (end == out.size()) return detection_note::none;
        out.resize(end);
        return detection_note::cap_reached;
    }
};

} // namespace straggle::detect
