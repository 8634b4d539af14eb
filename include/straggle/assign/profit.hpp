// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Is a copy of a straggler worth it? Its expected gain, its cost, and its probability to finish first.
#pragma once

#include <straggle/assign/detail/race.hpp>
#include <straggle/assign/job_goal.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/stats/empirical.hpp>

#include <algorithm>
#include <concepts>
#include <string_view>
#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::assign {

/// A straggler and a node where a copy of it could run. All times are in one unit, counted from now, and not
/// negative.
struct backup_case {
    /// r: time the straggler still needs where it runs; a single sample if it is known.
    stats::empirical_view remaining{};
    /// X: what a copy would take on the node.
    stats::empirical_view copy{};
    /// o: start-up time of the copy; added to every X.
    double launch = 0;
    /// s: time the job's next-slowest task still needs. Finishing earlier gains the job nothing.
    double next_slowest = 0;
    /// Current cost of one second of a slot in seconds of the job, from the load of the cluster; 0 if
    /// unknown. A policy uses its own price if that is higher.
    double slot_price = 0;
    /// What the job is to achieve; by default to end early.
    job_goal goal{};
};

/// The value of a copy, in the unit of the times.
struct backup_value {
    double profit = 0;          ///< gain - cost
    double gain = 0;            ///< expected time the job saves
    double cost = 0;            ///< of the slot that the copy takes
    double win_probability = 0; ///< that the copy finishes before the straggler
    friend constexpr bool operator==(backup_value const&, backup_value const&) = default;
};

/// A rule for the value of a copy, and whether that value is sufficient: `value(c)`, `accepts(v)`; `name`
/// appears in reports. Among several nodes, the one with the largest profit is the best.
template <class Policy>
concept profit_policy = requires(Policy const& policy, backup_case const& c, backup_value const& v) {
    { policy.value(c) } -> std::same_as<outcome<backup_value>>;
    { policy.accepts(v) } -> std::same_as<bool>;
    { Policy::name } -> std::convertible_to<std::string_view>;
};

} // namespace straggle::assign

namespace straggle::inline STRAGGLE_ABI::detail {

// Says in one line what a type lacks; the concept would take dozens.
template <class Policy>
consteval bool explain_profit() {
    using namespace assign;
    constexpr bool is_object = std::is_class_v<Policy>;
    constexpr bool is_named = requires {
        { Policy::name } -> std::convertible_to<std::string_view>;
    };
    constexpr bool values = requires(Policy const& policy, backup_case const& c) { policy.value(c); };
    constexpr bool accepts = requires(Policy const& policy, backup_value const& v) { policy.accepts(v); };
    static_assert(
        is_object,
        "what a copy is worth is said by an object, such as assign::expected_gain{}, not by a number");
    static_assert(!is_object || is_named,
                  "a profit policy needs a name (a lambda has none: write a struct): add "
                  "static constexpr std::string_view name = \"...\"");
    static_assert(!is_object || values,
                  "a profit policy needs outcome<backup_value> value(backup_case const&) const");
    static_assert(!is_object || accepts, "a profit policy needs bool accepts(backup_value const&) const");
    static_assert(!is_object || !is_named || !values || !accepts || profit_policy<Policy>,
                  "value has to return an outcome<backup_value>, and accepts a bool");
    return true;
}

// Checks that apply to all policies.
[[nodiscard]] constexpr status check_case(assign::backup_case const& c) {
    if (c.remaining.empty() || c.copy.empty()) return status::insufficient_evidence;
    if (!is_finite(c.launch) || !(c.launch >= 0)) return status::out_of_domain;
    if (!is_finite(c.next_slowest) || !(c.next_slowest >= 0)) return status::out_of_domain;
    if (!is_finite(c.slot_price) || !(c.slot_price >= 0)) return status::out_of_domain;
    if (!(c.goal.weight >= 0 && c.goal.missed >= 0) || is_nan(c.goal.deadline)) return status::out_of_domain;
    if (!(c.remaining[0] >= 0 && c.copy[0] >= 0)) return status::out_of_domain;
    return status::ok;
}

[[nodiscard]] constexpr outcome<assign::backup_value> finite_value(assign::backup_value const& v) noexcept {
    if (!is_finite(v.gain) || !is_finite(v.cost) || !is_finite(v.profit)) return status::out_of_range;
    return v;
}

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::assign {

/// The job's expected gain minus the cost of the copy's slot. The library's default.
///
/// r and X + o are independent. The gain is E[(max(r, s) - max(X + o, s))+]: a late copy loses nothing, since
/// the straggler continues, and time before s, when the next-slowest task of the job ends, gains nothing.
/// With s = 0 it is E[(r - X - o)+]. The copy holds its slot until the first of both finishes, so the cost is
/// `slot_price` E[min(r, X + o)]. The slot time that the straggler saves if the copy wins is not credited.
///
/// If the job has a deadline d, time before d gains nothing (`job_goal`), so s is
/// at least d, and the fall of the probability to miss it, P(r > d) P(X + o <= d) if s <= d, counts `missed`
/// times. A weight multiplies the gain.
///
/// Source: ours; figure 9 of RiskI (Zheng et al. 2014), which that paper's own formula does not express
/// (`papers::riski_2014::profit`).
///
/// The slot price is the value of one second of a slot in seconds of the job. In a full cluster the slot is
/// taken from another task, and delays a job that runs on k slots by 1/k seconds: use 1 / k for the usual
/// number of slots per job. 0 if slots are idle and free of charge. At 1 with s = 0, profit > 0 exactly if
/// all attempts together are expected to take less slot time with the copy than without: speculation that
/// frees resources, as in Mantri. A case may contain the price from the load: the higher one applies.
/// @par Cost
/// value O(min(a log b, a + b)) for a samples on one side and b >= a on the other; allocates
/// nothing
/// @par Accuracy
/// gain and cost over price are off by at most 4 units in the last place of the largest time; for partial
/// views, as accurate as their means
struct expected_gain {
    static constexpr std::string_view name = "expected_gain";

    double slot_price = 0.1; ///< seconds of the job per second of a slot; at least 0 (ours)
    double least_win_probability =
        0.5; ///< a copy must be first with at least this probability; in [0, 1] (ours)

    /// The value of a copy. The win probability is P(X + o < r); a tie is not a win.
    /// @pre `slot_price` and `least_win_probability` are in their ranges
    /// @return `status::insufficient_evidence` if one of the distributions is empty, `status::out_of_domain`
    /// if a time, launch, next-slowest time or price is negative, or one of the latter three not finite,
    /// `status::out_of_range` if a sum over all pairs overflows
    [[nodiscard]] STRAGGLE_ALWAYS_INLINE constexpr outcome<backup_value> value(backup_case const& c) const {
        expect_ranges();
        if (status const s = detail::check_case(c); s != status::ok) return s;
        if (c.goal != job_goal{}) return worth_for_goal(c);
        return worth(detail::race(c.remaining, c.copy.moved(c.launch), c.next_slowest), c.slot_price);
    }
    /// Whether to launch a copy: the profit is positive and the win probability sufficient.
    [[nodiscard]] constexpr bool accepts(backup_value const& v) const noexcept {
        return v.profit > 0 && v.win_probability >= least_win_probability;
    }

  private:
    STRAGGLE_ALWAYS_INLINE constexpr void expect_ranges() const {
        STRAGGLE_EXPECTS(detail::is_finite(slot_price) && slot_price >= 0);
        STRAGGLE_EXPECTS(least_win_probability >= 0 && least_win_probability <= 1);
    }

    [[nodiscard]] STRAGGLE_ALWAYS_INLINE constexpr outcome<backup_value>
    worth(detail::race_means const& means, double price) const {
        double const cost = (std::max)(slot_price, price) * means.earlier;
        return detail::finite_value({means.won - cost, means.won, cost, means.wins});
    }

    [[nodiscard]] constexpr outcome<backup_value> worth_for_goal(backup_case const& c) const {
        auto const copy = c.copy.moved(c.launch);
        double const d = c.goal.deadline;
        bool const has_deadline = c.goal.has_deadline();
        detail::race_means means =
            detail::race(c.remaining, copy, has_deadline ? (std::max)(c.next_slowest, d) : c.next_slowest);
        if (has_deadline && c.next_slowest <= d) {
            double const late =
                1 - static_cast<double>(c.remaining.count_up_to(d)) / static_cast<double>(c.remaining.size());
            double const in_time =
                static_cast<double>(copy.count_up_to(d)) / static_cast<double>(copy.size());
            means.won += c.goal.missed * late * in_time;
        }
        means.won *= c.goal.weight;
        return worth(means, c.slot_price);
    }
};

} // namespace straggle::assign
