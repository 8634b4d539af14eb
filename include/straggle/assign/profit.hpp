// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Is a copy of a straggler worth it? What it can be expected to win, what it costs, and how likely it is to
/// be the first.
#pragma once

#include <straggle/assign/detail/race.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/stats/empirical.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::assign {

/// A straggler and a node where a copy of it could run. All times are in one unit, counted from now, and not
/// negative.
struct backup_case {
    /// r: what the straggler still takes where it runs; a single sample if it is known.
    stats::empirical_view remaining{};
    /// X: what a copy would take on the node.
    stats::empirical_view copy{};
    /// o: before the copy runs; added to every X.
    double launch = 0;
    /// s: what the job's next-slowest task still takes. To be done before that gains the job nothing.
    double next_slowest = 0;
    /// What a second of a slot costs now, in seconds of the job, by the load of the cluster; 0 where that is
    /// not known. A policy takes its own price where that is higher.
    double slot_price = 0;
};

/// What a copy is worth, in the unit of the times.
struct backup_value {
    double profit = 0;          ///< gain - cost
    double gain = 0;            ///< what the job can be expected to win
    double cost = 0;            ///< of the slot the copy takes
    double win_probability = 0; ///< that the copy is done before the straggler
    friend constexpr bool operator==(backup_value const&, backup_value const&) = default;
};

/// A rule that says what a copy is worth, and whether that is enough: `value(c)`, `accepts(v)`; `name` stands
/// in reports. Of several nodes the one of the largest profit is the best.
template <class Policy>
concept profit_policy = requires(Policy const& policy, backup_case const& c, backup_value const& v) {
    { policy.value(c) } -> std::same_as<outcome<backup_value>>;
    { policy.accepts(v) } -> std::same_as<bool>;
    { Policy::name } -> std::convertible_to<std::string_view>;
};

} // namespace straggle::assign

namespace straggle::inline STRAGGLE_ABI::detail {

// Says in one line what a type misses; the concept would say it in dozens.
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

// What all policies ask of a case.
[[nodiscard]] constexpr status check_case(assign::backup_case const& c) {
    if (c.remaining.empty() || c.copy.empty()) return status::insufficient_evidence;
    if (!is_finite(c.launch) || !(c.launch >= 0)) return status::out_of_domain;
    if (!is_finite(c.next_slowest) || !(c.next_slowest >= 0)) return status::out_of_domain;
    if (!is_finite(c.slot_price) || !(c.slot_price >= 0)) return status::out_of_domain;
    if (!(c.remaining[0] >= 0 && c.copy[0] >= 0)) return status::out_of_domain;
    return status::ok;
}

[[nodiscard]] constexpr outcome<assign::backup_value> finite_value(assign::backup_value const& v) noexcept {
    if (!is_finite(v.gain) || !is_finite(v.cost) || !is_finite(v.profit)) return status::out_of_range;
    return v;
}

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::assign {

/// What the job can expect to win, less what the slot of the copy costs. The default of the library.
///
/// r and X + o are independent. The gain is E[(max(r, s) - max(X + o, s))+]: a copy that is too late loses
/// nothing, as the straggler goes on, and the time before s, when the next-slowest task of the job ends,
/// gains nothing. With s = 0 it is E[(r - X - o)+]. The copy holds its slot until the first of both is done,
/// so the cost is `slot_price` E[min(r, X + o)]. The time that the slot of the straggler is free earlier, if
/// the copy wins, is not set against that.
///
/// Source: ours; figure 9 of RiskI (Zheng et al. 2014), which that paper's own formula does not express
/// (`papers::riski_2014::profit`).
///
/// The slot price is what a second of a slot is worth in seconds of the job. In a full cluster the slot is
/// taken from another task, and delays a job that runs on k slots by 1/k seconds: 1 / k for the number of
/// slots a job usually has. 0 where slots are idle and free of charge. At 1 with s = 0, profit > 0 exactly if
/// all attempts together are expected to take less slot time with the copy than without: speculation that
/// frees resources, as Mantri's. A case may say what the load makes of the price: the higher one counts.
/// @par Cost
/// value O(min(a log b, a + b)) for a samples on one side and b >= a on the other; allocates
/// nothing
/// @par Accuracy
/// gain and cost over price are off by 4 units in the last place of the largest time; of views
/// that are parts, as their means
struct expected_gain {
    static constexpr std::string_view name = "expected_gain";

    double slot_price = 0.1;            ///< seconds of the job per second of a slot; at least 0 (ours)
    double least_win_probability = 0.5; ///< a copy must be the first at least so often; in [0, 1] (ours)

    /// What a copy is worth. The win probability is P(X + o < r); a tie is not won.
    /// @pre `slot_price` and `least_win_probability` are in their ranges
    /// @return `status::insufficient_evidence` where one of the distributions is empty,
    /// `status::out_of_domain` for times, a launch, a next-slowest time or a price that are negative, or the
    /// latter three not finite, `status::out_of_range` where a sum over all pairs is too large for a number
    [[nodiscard]] STRAGGLE_ALWAYS_INLINE constexpr outcome<backup_value> value(backup_case const& c) const {
        expect_ranges();
        if (status const s = detail::check_case(c); s != status::ok) return s;
        return worth(detail::race(c.remaining, c.copy.moved(c.launch), c.next_slowest), c.slot_price);
    }
    /// The same for many cases at once. Where the remaining time is a single number, the searches in what the
    /// copies take wait for memory side by side.
    /// @param cases such as one straggler with each of the nodes
    /// @param values where the answers go, each what `value` says of its case
    /// @pre there are as many values as cases; the prices are in their ranges
    void value(std::span<backup_case const> cases, std::span<outcome<backup_value>> values) const {
        expect_ranges();
        STRAGGLE_EXPECTS(cases.size() == values.size());
        for (std::size_t i = 0; i < cases.size(); i += together) {
            std::size_t const some = (std::min)(together, cases.size() - i);
            value_some(cases.subspan(i, some), values.subspan(i, some));
        }
    }
    /// Whether a copy shall be launched: the profit is more than 0 and it wins often enough.
    [[nodiscard]] constexpr bool accepts(backup_value const& v) const noexcept {
        return v.profit > 0 && v.win_probability >= least_win_probability;
    }

  private:
    static constexpr std::size_t together = 32; // cases

    STRAGGLE_ALWAYS_INLINE constexpr void expect_ranges() const {
        STRAGGLE_EXPECTS(detail::is_finite(slot_price) && slot_price >= 0);
        STRAGGLE_EXPECTS(least_win_probability >= 0 && least_win_probability <= 1);
    }

    [[nodiscard]] STRAGGLE_ALWAYS_INLINE constexpr outcome<backup_value>
    worth(detail::race_means const& means, double price) const {
        double const cost = (std::max)(slot_price, price) * means.earlier;
        return detail::finite_value({means.won - cost, means.won, cost, means.wins});
    }

    // At most `together`.
    void value_some(std::span<backup_case const> cases, std::span<outcome<backup_value>> values) const {
        stats::empirical_view copies[together];
        double remaining[together], next_slowest[together];
        std::size_t before_straggler[together] = {}, before_next[together] = {};
        bool any_next = false;
        for (std::size_t i = 0; i < cases.size(); ++i) {
            backup_case const& c = cases[i];
            bool const single = c.remaining.size() == 1 && detail::check_case(c) == status::ok;
            if (single) copies[i] = c.copy.moved(c.launch); // the others stay empty: nothing to search
            remaining[i] = single ? c.remaining[0] : 0.0;
            next_slowest[i] = c.next_slowest;
            any_next = any_next || (single && c.next_slowest > copies[i][0]);
        }
        auto const all = [n = cases.size()](auto* first) { return detail::span_of(first, n); };
        stats::counts_below(all(copies), all(remaining), all(before_straggler));
        if (any_next) stats::counts_below(all(copies), all(next_slowest), all(before_next));
        for (std::size_t i = 0; i < cases.size(); ++i)
            values[i] = copies[i].empty()
                            ? value(cases[i])
                            : worth(detail::race_of_one(remaining[i], before_straggler[i], copies[i],
                                                        next_slowest[i], before_next[i]),
                                    cases[i].slot_price);
    }
};

/// What each of many cases is worth, by any policy: such as one straggler with each of the nodes.
///
/// A policy may have a way of its own to value many at once, `value(cases, values)`; `expected_gain` has.
/// @param policy a `profit_policy`
/// @param cases what is asked
/// @param values where the answers go, each what `value` says of its case
/// @pre there are as many values as cases
/// @par Cost
/// that of `value` for each case at most; `expected_gain`, for a straggler of which one number is
/// known, about a third of it where the samples of the nodes are in no cache; allocates nothing
/// @par Accuracy
/// the same bits as one by one, unless the compiler fuses multiplications and additions
/// (-ffp-contract, which is what GCC does for a processor that can): then within that of `value`
/// @par Example
/// `for (auto& c : cases) c.remaining = straggler; value_all(expected_gain{}, cases, values);`
template <profit_policy Policy>
void value_all(Policy const& policy, std::span<backup_case const> cases,
               std::span<outcome<backup_value>> values) {
    STRAGGLE_EXPECTS(cases.size() == values.size());
    if constexpr (requires { policy.value(cases, values); })
        policy.value(cases, values);
    else
        for (std::size_t i = 0; i < cases.size(); ++i) values[i] = policy.value(cases[i]);
}

} // namespace straggle::assign
