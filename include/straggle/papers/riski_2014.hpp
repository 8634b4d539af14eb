// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// RiskI, exactly as in the paper: its predictor of times, its profit, its assignment and its kill rule, each
/// as intended and, where that differs, as printed.
///
/// | | `papers::riski_2014` | default | why the default differs |
/// |---|---|---|---|
/// | candidates | above the mean of the running | late for their siblings | half are above a mean |
/// | a prediction | the most similar profile | the 10 most similar tasks | a profile has few times |
/// | weights | a node's pairs, no intercept | the fleet's pairs too, affine | else useless factors weigh |
/// | profit | difference of the means | `expected_gain` | only the end of the job counts |
/// | many stragglers | one after the other | all at once | the first takes the best node of the second |
/// | the original | killed where its copy must win | both race | samples are no bounds |
///
/// Source: S. Zheng, X. Liao, X. Liu, Risk intelligence: making profit from uncertainty in data processing
/// system, The Scientific World Journal, article 398235 (2014).
#pragma once

#include <straggle/assign/assigner.hpp>
#include <straggle/assign/assigner_options.hpp>
#include <straggle/assign/kill_rule.hpp>
#include <straggle/assign/profit.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/detect/average_time.hpp>
#include <straggle/papers/detail/riski_profiles.hpp>
#include <straggle/predict/factors.hpp>
#include <straggle/predict/task_profile.hpp>
#include <straggle/predict/weights.hpp>
#include <straggle/record/attempt.hpp>
#include <straggle/record/field.hpp>
#include <straggle/stats/empirical.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::papers::riski_2014 {

/// How similar a time is to a range of times, as equation 4 prints it: 1 - min(|t - t_max|, |t_min - t|) /
/// max(t, t_avg). It is 1 at both ends of the range and dips in between: the best predicted times count as
/// dissimilar to the range. `predict::real_similarity` is 1 inside.
/// @param t the time, not negative, in any unit
/// @param low and `high`: the range of times, `0 <= low <= high`
/// @param mean of the times in the range
/// @return from 0 to 1, 0 if the formula is negative; `status::out_of_domain` for an invalid time or range
/// @par Cost
/// O(1); allocates nothing
[[nodiscard]] constexpr outcome<double> real_similarity_as_printed(double t, double low, double high,
                                                                   double mean) noexcept {
    if (!detail::is_finite(t) || !detail::is_finite(low) || !detail::is_finite(high) ||
        !detail::is_finite(mean) || !(t >= 0) || !(low >= 0) || !(low <= high))
        return status::out_of_domain;
    double const to_low = t < low ? low - t : t - low, to_high = t < high ? high - t : t - high;
    double const off = (std::min)(to_low, to_high);
    double const scale =
        (std::max)(t, (std::min)((std::max)(mean, low), high)); // the mean may have been rounded
    if (!(off > 0)) return 1.0;                                 // scale may be 0 here
    return off < scale ? 1 - off / scale : 0.0;
}

/// Section 5 as intended: the nearest profile predicts, and a time inside its range counts as predicted.
struct corrected {
    /// The profile at the smallest distance.
    static constexpr bool nearest = true;
    /// Equation 4, but 1 inside the range.
    [[nodiscard]] static constexpr outcome<double> similarity(double t, double low, double high,
                                                              double mean) noexcept {
        return predict::real_similarity(t, low, high, mean);
    }
};
/// Section 5 as printed. Algorithm 1, line 4, keeps a profile when `d(x, y) > d`, starting with d = 0: it
/// finds the least similar profile, and none if all are at distance 0.
struct as_printed {
    /// The profile at the largest distance.
    static constexpr bool nearest = false;
    /// Equation 4.
    [[nodiscard]] static constexpr outcome<double> similarity(double t, double low, double high,
                                                              double mean) noexcept {
        return real_similarity_as_printed(t, low, high, mean);
    }
};

/// Limits of a predictor. The paper keeps everything.
struct predictor_options {
    std::size_t most_profiles = 1024; ///< per node; beyond, the oldest profile is dropped. At least 1
    std::size_t most_times = 256;     ///< per profile; beyond, its oldest time is dropped. At least 1
};

/// Algorithm 1: predicts the time of a task on a node from the times of the most similar task that has run
/// there.
///
/// A profile is a combination of factors that has run on a node, with all its times: the range [t_min, t_max]
/// and the probabilities within it. Each finished task is compared with every profile of its node (equations
/// 2 to 4), and the weights of that node are refitted: nonnegative least squares with sum 1. The paper
/// does not specify the case of a node that has run nothing, the scale of a factor (here the range of the
/// node's profiles), or ties (here the first profile wins).
///
/// @tparam Record the user's record of a task
/// @tparam Profile a `predict::task_profile`
/// @tparam Reading `corrected` or `as_printed`
/// @par Cost
/// `predict` O(profiles x factors); `observe` O(profiles x factors^2): for comparison with the paper;
/// otherwise use `predict::similar_tasks`. Memory bounded by the options, for each node
/// @par Guarantees
/// deterministic. Only allocation can throw: then the task is half learned at worst
template <class Record, class Profile, class Reading = corrected>
    requires predict::task_profile_for<Profile, Record>
class predictor {
    using reader = predict::factor_reader<Record, decltype(Profile::factors)>;
    using node_projection = decltype(Profile::node);

  public:
    /// Type of node names.
    using node_id = owned_identifier_t<detail::field_value_t<node_projection, Record>>;
    /// Type of node names as arguments: `std::string_view` for text.
    using node_key = typename interner<node_id>::key_type;
    /// Number of factors: the length of the weights.
    static constexpr std::size_t factor_count = reader::size;

    /// @param record_profile names the members of a record
    /// @param how limits
    /// @pre there is at least one factor; both limits are at least 1
    explicit predictor(Profile record_profile, predictor_options const& how = {})
        : profile_(std::move(record_profile)),
          options_(how),
          reader_(profile_.factors),
          row_(factor_count),
          even_(factor_count, 1 / static_cast<double>(factor_count)) {
        static_assert(factor_count > 0, "RiskI compares tasks by their factors: name one");
        STRAGGLE_EXPECTS(how.most_profiles > 0 && how.most_times > 0);
    }

    /// Learns from a task that ended (lines 10 to 15).
    /// @return whether it was evidence; if not, `counts` has the reason
    bool observe(Record const& task) {
        auto const& node = detail::project(profile_.node, task);
        double time = 0;
        if (!detail::read_time(profile_, task, node, counts_, time)) return false;
        std::uint32_t const place = ids_.insert(detail::unwrap(node));
        if (place == nodes_.size()) nodes_.emplace_back(factor_count);
        reader_.read(task, row_);
        for (double const x : row_)
            if (!predict::is_factor_value(x)) return detail::reject(counts_, rejection::out_of_range);
        nodes_[place].learn(reader::kinds, row_, time, options_.most_profiles, options_.most_times,
                            Reading::similarity);
        ++counts_.seen;
        ++counts_.used;
        return true;
    }

    /// How long a task would take on a node (lines 1 to 9).
    /// @param task only its factors are read, not its node or time
    /// @param node where it would run
    /// @return the times of the profile, valid until the next call; `status::insufficient_evidence` for a
    /// node that has run nothing, and if `as_printed` finds none
    [[nodiscard]] outcome<stats::empirical_view> predict(Record const& task, node_key node) {
        std::uint32_t const place = ids_.find(node);
        if (place == ids_.none) return status::insufficient_evidence;
        reader_.look_up(task, row_);
        std::vector<double> const* const times =
            nodes_[place].most_similar(reader::kinds, row_, Reading::nearest);
        if (times == nullptr) return status::insufficient_evidence;
        times_.assign(*times);
        return times_.view();
    }

    /// How long a task that has run on a node for a while will still take there: the remainders of the longer
    /// times of its profile (algorithm 2's t_left).
    /// @param task and `node`: as above
    /// @param elapsed its age, in the unit of the times or as a `std::chrono` duration
    /// @return as `predict`; also `status::insufficient_evidence` if it has run longer than all of them;
    /// `status::out_of_domain` for an invalid time
    template <base::duration_like Duration>
    [[nodiscard]] outcome<stats::empirical_view> remaining(Record const& task, node_key node,
                                                           Duration const& elapsed) {
        double const passed = detail::to_time(elapsed);
        if (!detail::is_finite(passed) || !(passed >= 0)) return status::out_of_domain;
        outcome<stats::empirical_view> const times = predict(task, node);
        if (!times) return times;
        stats::empirical_view const left = times->beyond(passed).moved(-passed);
        if (left.empty()) return status::insufficient_evidence;
        return left;
    }

    /// W_k of a node: one weight per factor, in their order; all equal until something was learned.
    /// Valid until the next `observe`.
    [[nodiscard]] std::span<double const> weights_of(node_key node) const {
        std::uint32_t const place = ids_.find(node);
        return place == ids_.none ? std::span<double const>(even_) : nodes_[place].weights();
    }
    /// Number of profiles of a node.
    [[nodiscard]] std::size_t profiles_of(node_key node) const {
        std::uint32_t const place = ids_.find(node);
        return place == ids_.none ? 0 : nodes_[place].size();
    }
    /// What became of all tasks passed to `observe`.
    [[nodiscard]] attempt_counts const& counts() const noexcept { return counts_; }

  private:
    Profile profile_;
    predictor_options options_;
    reader reader_;
    interner<node_id> ids_;
    std::vector<detail::riski_profiles> nodes_;
    attempt_counts counts_;
    std::vector<double> row_, even_;
    stats::empirical times_;
};

/// A predictor whose type is deduced from the fields.
/// @par Example
/// `auto p = papers::riski_2014::predictor_of<task>(profile);`
template <class Record, class Reading = corrected, class Profile>
    requires predict::task_profile_for<Profile, Record>
[[nodiscard]] auto predictor_of(Profile record_profile, predictor_options const& how = {}) {
    return predictor<Record, Profile, Reading>(std::move(record_profile), how);
}

/// Which tasks are considered (section 6.1): those that have run longer than the average of all running tasks
/// of the job. `detect::average_time{}` averages the finished tasks instead, whose times are known.
struct detector : detect::average_time {
    /// With the paper's settings.
    constexpr detector() noexcept : average_time{.factor = 1.0, .of = basis::running} {}
};

/// The expected profit of RiskI, corrected: t_s - E[X + o], where t_s is the mean of `remaining`.
///
/// Source: equations 5-8 and algorithm 2. The times of the copy are split at t_s, and E = P(X < t_s) U_1 +
/// P(X >= t_s) U_2. Printed is U = avg - t_s, which is negative where the copy wins, while the text accepts E
/// > 0: the sign is turned here. Printed for the second part is avg(t_i, t_j), the mean of the whole range:
/// read as that of the second part, by whose probability it is multiplied. Then the parts add up to the mean
/// of all (law of total expectation), whatever t_s is: E is the difference of the means, the very "direct
/// method" that section 6.2 sets out to replace. `next_slowest` has no part in it, and the slot costs
/// nothing.
/// @par Cost
/// value O(1), O(log n) for the win probability; allocates nothing
/// @par Accuracy
/// that of the two means
struct profit {
    /// The name in reports.
    static constexpr std::string_view name = "riski_2014";

    /// The value of a copy. The win probability is P(X + o < t_s).
    /// @return as `assign::expected_gain`
    [[nodiscard]] constexpr outcome<assign::backup_value> value(assign::backup_case const& c) const {
        if (status const s = detail::check_case(c); s != status::ok) return s;
        stats::empirical_view const copy = c.copy.moved(c.launch);
        outcome<double> const left = c.remaining.mean(), mean = copy.mean();
        if (!left || !mean) return status::out_of_range;
        double const wins = static_cast<double>(copy.count_below(*left)), gain = *left - *mean;
        return detail::finite_value({gain, gain, 0, wins / static_cast<double>(copy.size())});
    }
    /// Whether to launch a copy: "if E(T) > 0".
    [[nodiscard]] constexpr bool accepts(assign::backup_value const& v) const noexcept {
        return v.profit > 0;
    }
};

/// The expected profit of RiskI as printed: with the opposite sign, the second mean over both parts, and t_s
/// in both. It selects copies that lose.
///
/// Source: equations 6 to 8.
/// @par Cost
/// as `profit`, and so is its accuracy
struct profit_as_printed {
    /// The name in reports.
    static constexpr std::string_view name = "riski_2014_as_printed";

    /// E(T) as printed, as profit and gain. The win probability is P(X + o < t_s).
    /// @return as `profit`
    [[nodiscard]] constexpr outcome<assign::backup_value> value(assign::backup_case const& c) const {
        if (status const s = detail::check_case(c); s != status::ok) return s;
        stats::empirical_view const copy = c.copy.moved(c.launch);
        outcome<double> const left = c.remaining.mean(), mean = copy.mean();
        if (!left || !mean) return status::out_of_range;
        double const n = static_cast<double>(copy.size());
        std::size_t const wins = copy.count_below(*left), first = copy.count_up_to(*left);
        double const won = first == 0 ? 0.0 : copy.mean_of(0, first).value_or(0.0) - *left;
        double const e = static_cast<double>(first) / n * won +
                         static_cast<double>(copy.size() - wins) / n * (*mean - *left);
        return detail::finite_value({e, e, 0, static_cast<double>(wins) / n});
    }
    /// Whether to launch a copy: "if E(T) > 0".
    [[nodiscard]] constexpr bool accepts(assign::backup_value const& v) const noexcept {
        return v.profit > 0;
    }
};

/// Algorithm 2, lines 7 to 9, and figure 9(d): the straggler is killed if "remaining time t_left > the worst
/// reexecution time t_max". Where both are ranges: its best remaining time against the copy's worst time.
///
/// Source: line 7 comes after the loop over the nodes, so as printed t_max is that of the last node examined;
/// intended is that of the chosen node.
/// @param remaining time the straggler still needs where it runs
/// @param copy time of its copy on the chosen node
/// @param launch start-up time of the copy, added to its time
/// @return false if one of the distributions is empty
[[nodiscard]] constexpr bool kills_straggler(stats::empirical_view const& remaining,
                                             stats::empirical_view const& copy, double launch = 0) noexcept {
    return assign::kills_straggler(assign::kill_rule::when_certain, remaining, copy, launch);
}

/// Algorithm 2: each straggler in turn gets a copy on the node with the largest profit, and is killed if the
/// copy must win. One copy per task, as in Hadoop; no other limit.
/// @tparam Profit `profit`, or `profit_as_printed`
template <assign::profit_policy Profit = profit>
struct assigner : assign::assigner<Profit, assign::assignment_in_turn> {
    /// @param launch start-up time of a copy, added to its time; at least 0
    explicit assigner(double launch = 0)
        : assign::assigner<Profit, assign::assignment_in_turn>(
              Profit{}, {.kill = assign::kill_rule::when_certain, .launch = launch}) {}
};

} // namespace straggle::papers::riski_2014
