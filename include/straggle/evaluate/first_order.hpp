// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The cost of a straggler detector in time and energy, before it is deployed: a first-order approximation
/// from its measured characteristics. Every task is one of four cases, detected or not, straggler or not.
///
/// Source: T.-D. Phan, G. Pallez, S. Ibrahim, P. Raghavan, A new framework for evaluating straggler detection
/// mechanisms in MapReduce, ACM TOMPECS (2019), hal-02172590, section 4.2.
///
/// With share of stragglers a, precision p, recall r, detection latency DL, undetected time UT; times
/// relative to the usual time, and energies to that of one task of usual length:
///
/// | case | share | time | energy |
/// |---|---|---|---|
/// | caught: straggler, detected | r a | 1 + DL | 2 + DL |
/// | missed: straggler, not detected | (1 - r) a | UT | UT |
/// | false alarm: detected, no straggler | r a (1 - p) / p | 1 | 1.5 |
/// | left alone: neither | 1 - a (1 + r (1 - p) / p) | 1 | 1 |
///
/// The formulas are correct as printed. What the paper does not mention:
/// - its *time overhead* is the total time; the overhead is 1 less;
/// - a, p and r contradict each other when the last share is negative. With the 75 % of slow nodes of table 7
///   as a, 7 of its 18 rows do: the share of tasks must have been smaller (`largest_straggler_ratio`);
/// - every copy gets a free node, so a false alarm costs energy but no time. If copies compete with tasks, it
/// costs time as well: from table 7 the model predicts 13 % more time for the hierarchical detector than for
/// the default one (row *shared*, a = 0.6), while the paper measured jobs that took 32 % less.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/evaluate/detection_metrics.hpp>
#include <straggle/evaluate/power.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace straggle::inline STRAGGLE_ABI::evaluate {

/// The share of each of the four cases among all tasks; they sum to 1.
struct case_shares {
    double caught = 0;      ///< detected stragglers
    double missed = 0;      ///< undetected stragglers
    double false_alarm = 0; ///< detected tasks that are not stragglers
    double left_alone = 1;  ///< all others
    friend constexpr bool operator==(case_shares const&, case_shares const&) = default;
};

/// A detector's characteristics, as printed in papers.
struct detector_profile {
    double straggler_ratio = 0;   ///< share of the tasks that are stragglers, in [0, 1]
    double precision = 1;         ///< in (0, 1]
    double recall = 0;            ///< in [0, 1]
    double detection_latency = 0; ///< in usual times, at least 0; unused when nothing is caught
    double undetected_time = 1;   ///< in usual times, at least 1; unused when nothing is missed
    friend constexpr bool operator==(detector_profile const&, detector_profile const&) = default;
};

/// Assumptions of the paper.
struct first_order_options {
    double copy_time = 1;        ///< running time of a copy, launch included, in usual times; above 0
    double false_alarm_at = 0.5; ///< progress of a false alarm's task when it is detected, in [0, 1]
    /// Power of a copy relative to that of the task itself, at least 0. 1 on a node that is turned on for it
    /// (class A), `marginal_watts / watts(1)` on one that already runs tasks, 0 if a thread is free.
    double copy_power = 1;

    /// Whether every member is in its range.
    [[nodiscard]] constexpr bool valid() const noexcept {
        return copy_time > 0.0 && detail::is_finite(copy_time) && false_alarm_at >= 0.0 &&
               false_alarm_at <= 1.0 && copy_power >= 0.0 && detail::is_finite(copy_power);
    }
    friend constexpr bool operator==(first_order_options const&, first_order_options const&) = default;
};

/// One of the four cases.
struct case_cost {
    double share = 0;  ///< of all tasks, in [0, 1]
    double time = 0;   ///< of one such task, in usual times
    double energy = 0; ///< of one such task, with its copy, relative to a task of usual length
    friend constexpr bool operator==(case_cost const&, case_cost const&) = default;
};

/// The cost of a task with a detector, on average and in each case.
struct first_order_cost {
    double time = 0;       ///< expected, in usual times
    double energy = 0;     ///< expected, relative to a task of usual length
    case_cost caught;      ///< detected stragglers
    case_cost missed;      ///< undetected stragglers
    case_cost false_alarm; ///< detected tasks that are not stragglers
    case_cost left_alone;  ///< all others

    /// The expected energy of a task, in joules.
    /// @param usual_seconds usual time of the tasks
    /// @param watts power drawn by a task; `power_model::watts(1)` in the paper's model, a core per node
    [[nodiscard]] constexpr double joules(double usual_seconds, double watts) const noexcept {
        return energy * watts * usual_seconds;
    }
    friend constexpr bool operator==(first_order_cost const&, first_order_cost const&) = default;
};

/// The largest share of stragglers that is consistent with a precision and a recall: `p / (p + r (1 - p))`.
/// With more, there would be more false alarms than tasks that are not stragglers.
/// Source: ours; the fourth share of section 4.2 is not negative.
/// @return `status::out_of_domain` unless both are in [0, 1]; `status::insufficient_evidence` when both are 0
/// @par Cost
/// O(1); allocates nothing
/// @par Guarantees
/// usable in constant expressions
[[nodiscard]] constexpr outcome<double> largest_straggler_ratio(double precision, double recall) {
    if (!(precision >= 0.0 && precision <= 1.0) || !(recall >= 0.0 && recall <= 1.0))
        return status::out_of_domain;
    return detail::ratio_of(precision, precision + recall * (1.0 - precision));
}

/// The shares of the four cases from straggler ratio, precision and recall.
/// Source: section 4.2.
/// @param straggler_ratio in [0, 1]
/// @param precision in (0, 1]; anything if no straggler is detected
/// @param recall in [0, 1]
/// @return `status::out_of_domain` for other values, and if they contradict each other by more than rounding
/// (1e-12); `status::insufficient_evidence` if something is detected but no straggler is (precision 0): then
/// these three numbers do not determine how often
/// @par Cost
/// O(1); allocates nothing
/// @par Guarantees
/// usable in constant expressions
[[nodiscard]] constexpr outcome<case_shares> shares_of(double straggler_ratio, double precision,
                                                       double recall) {
    if (!(straggler_ratio >= 0.0 && straggler_ratio <= 1.0) || !(recall >= 0.0 && recall <= 1.0))
        return status::out_of_domain;
    case_shares s{.caught = recall * straggler_ratio, .missed = (1.0 - recall) * straggler_ratio};
    if (s.caught > 0.0) {
        if (!(precision > 0.0 && precision <= 1.0)) return status::out_of_domain;
        s.false_alarm = s.caught * (1.0 - precision) / precision;
    } else if (precision == 0.0) {
        return status::insufficient_evidence;
    }
    double const ordinary = 1.0 - straggler_ratio;
    if (!(s.false_alarm <= ordinary + 1e-12)) return status::out_of_domain;
    s.false_alarm = (std::min)(s.false_alarm, ordinary);
    s.left_alone = ordinary - s.false_alarm;
    return s;
}

/// The cost of tasks, from the shares of the cases.
/// Source: section 4.2; other options than the defaults are substituted into the same schedules.
/// @param shares each in [0, 1], together 1 (to 1e-9)
/// @param detection_latency at least 0; ignored if nothing is caught
/// @param undetected_time at least 1; ignored if nothing is missed
/// @param options assumptions of the model
/// @return `status::out_of_domain` for other values, and on overflow
/// @pre `options.valid()`
/// @par Cost
/// O(1); allocates nothing
/// @par Accuracy
/// of the model: first order. It assumes that a caught straggler is overtaken, and that a copy starts at once
/// on a free node. Numeric: relative 1e-15
/// @par Guarantees
/// deterministic; usable in constant expressions
[[nodiscard]] constexpr outcome<first_order_cost> predict_cost(case_shares const& shares,
                                                               double detection_latency,
                                                               double undetected_time,
                                                               first_order_options const& options = {}) {
    STRAGGLE_EXPECTS(options.valid());
    double const all = shares.caught + shares.missed + shares.false_alarm + shares.left_alone;
    if (!(shares.caught >= 0.0 && shares.missed >= 0.0 && shares.false_alarm >= 0.0 &&
          shares.left_alone >= 0.0 && all >= 1.0 - 1e-9 && all <= 1.0 + 1e-9))
        return status::out_of_domain;
    double const latency = shares.caught > 0.0 ? detection_latency : 0.0;
    double const undetected = shares.missed > 0.0 ? undetected_time : 1.0;
    if (!detail::is_length(latency) || !(undetected >= 1.0) || !detail::is_finite(undetected))
        return status::out_of_domain;

    double const copy = options.copy_time;
    double const left = 1.0 - options.false_alarm_at;
    double const alarm_copy = (std::min)(copy, left); // the first to end ends both
    double const alarm_time = options.false_alarm_at + alarm_copy;
    first_order_cost c;
    c.caught = {shares.caught, latency + copy, latency + copy + copy * options.copy_power};
    c.missed = {shares.missed, undetected, undetected};
    c.false_alarm = {shares.false_alarm, alarm_time, alarm_time + alarm_copy * options.copy_power};
    c.left_alone = {shares.left_alone, 1.0, 1.0};
    for (case_cost const* one : {&c.caught, &c.missed, &c.false_alarm, &c.left_alone}) {
        c.time += one->share * one->time;
        c.energy += one->share * one->energy;
    }
    if (!detail::is_finite(c.time) || !detail::is_finite(c.energy)) return status::out_of_domain;
    return c;
}

/// The cost of tasks with a detector of given characteristics.
/// @return as `shares_of` and `predict_cost`
/// @pre `options.valid()`
/// @par Cost
/// O(1); allocates nothing
/// @par Guarantees
/// deterministic; usable in constant expressions
[[nodiscard]] constexpr outcome<first_order_cost> predict_cost(detector_profile const& d,
                                                               first_order_options const& options = {}) {
    outcome<case_shares> const shares = shares_of(d.straggler_ratio, d.precision, d.recall);
    if (!shares) return shares.reason();
    return predict_cost(*shares, d.detection_latency, d.undetected_time, options);
}

/// The cost of tasks with a measured detector. Uses the counts themselves, so that a detector that names no
/// task, or only the wrong ones, has a cost too.
/// @return `status::insufficient_evidence` if no task was judged; otherwise as `predict_cost` of shares
/// @pre `options.valid()`
/// @par Cost
/// O(1); allocates nothing
/// @par Guarantees
/// deterministic; usable in constant expressions
[[nodiscard]] constexpr outcome<first_order_cost> predict_cost(detection_metrics const& measured,
                                                               first_order_options const& options = {}) {
    detection_counts const& n = measured.counts();
    if (n.judged() == 0) return status::insufficient_evidence;
    auto const share = [&](std::uint64_t tasks) {
        return static_cast<double>(tasks) / static_cast<double>(n.judged());
    };
    case_shares const shares{share(n.caught()), share(n.missed()), share(n.false_alarms()),
                             share(n.judged() - n.stragglers() - n.false_alarms())};
    return predict_cost(shares, measured.detection_latency().value_or(0.0),
                        measured.undetected_time().value_or(1.0), options);
}

/// What detectors are ranked by; smaller is better.
enum class rank_by : std::uint8_t {
    time,         ///< expected time
    energy,       ///< expected energy
    energy_delay, ///< their product
};

/// The name of the enumerator, for logs and JSON.
[[nodiscard]] constexpr std::string_view to_string(rank_by by) noexcept {
    switch (by) {
    case rank_by::time:
        return "time";
    case rank_by::energy:
        return "energy";
    case rank_by::energy_delay:
        return "energy_delay";
    }
    return "unknown";
}

/// Orders detectors by their predicted cost, best first; ties in the given order.
/// @param costs one per detector, from `predict_cost`
/// @param by what to minimize
/// @param order filled with indices into `costs`; those without a cost come last, in the given order
/// @return the number of detectors with a cost
/// @pre `order.size() == costs.size()`, less than 2^32
/// @par Cost
/// O(n log n); allocates nothing
/// @par Guarantees
/// deterministic; usable in constant expressions
constexpr std::size_t rank_detectors(std::span<outcome<first_order_cost> const> costs, rank_by by,
                                     std::span<std::uint32_t> order) {
    STRAGGLE_EXPECTS(order.size() == costs.size());
    auto const key = [&](std::uint32_t i) {
        first_order_cost const& c = *costs[i];
        return by == rank_by::time ? c.time : by == rank_by::energy ? c.energy : c.time * c.energy;
    };
    std::size_t ranked = 0;
    std::uint32_t index = 0;
    for (outcome<first_order_cost> const& cost : costs) {
        if (cost) order[ranked++] = index;
        ++index;
    }
    std::size_t without = ranked;
    for (index = 0; index < costs.size(); ++index)
        if (!costs[index]) order[without++] = index;
    std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(ranked),
              [&](std::uint32_t a, std::uint32_t b) {
                  double const x = key(a), y = key(b);
                  return x != y ? x < y : a < b;
              });
    return ranked;
}

} // namespace straggle::evaluate
