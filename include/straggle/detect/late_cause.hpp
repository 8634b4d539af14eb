// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Why is a task late: because of its node, its input, the crowd on its node, its whole job, or itself?
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/predict/time_outlook.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace straggle::inline STRAGGLE_ABI::detect {

/// What makes a task late.
enum class late_by : std::uint8_t {
    node,   ///< its node is slow, or hangs
    input,  ///< it has more to do
    crowd,  ///< more runs beside it on its node than beside its siblings
    kind,   ///< its whole job takes longer than jobs of its kind usually do
    itself, ///< none of these: bad luck, or work that no record shows
};
/// Number of causes.
inline constexpr std::size_t late_by_count = 5;

/// The name of the enumerator, for logs and JSON.
[[nodiscard]] constexpr std::string_view to_string(late_by by) noexcept {
    constexpr std::array<std::string_view, late_by_count> names{"node", "input", "crowd", "kind", "itself"};
    return names[static_cast<std::size_t>(by)];
}

/// The cause of a late task: how probably each explains the largest part of its time, and which part.
struct late_cause {
    std::array<double, late_by_count> probability{};        ///< their sum is 1; all 0: not known
    std::array<double, late_by_count> times{1, 1, 1, 1, 1}; ///< how many times as long it takes by each

    /// Whether the cause was looked for.
    [[nodiscard]] constexpr bool is_known() const noexcept { return probability[at(likeliest())] > 0; }
    /// The cause with the highest probability.
    [[nodiscard]] constexpr late_by likeliest() const noexcept {
        std::size_t best = 0;
        for (std::size_t i = 1; i < late_by_count; ++i)
            if (probability[i] > probability[best]) best = i;
        return static_cast<late_by>(best);
    }
    /// The probability of a cause.
    [[nodiscard]] constexpr double probability_of(late_by by) const noexcept { return probability[at(by)]; }
    /// How many times as long the task takes because of it.
    [[nodiscard]] constexpr double times_by(late_by by) const noexcept { return times[at(by)]; }

    friend constexpr bool operator==(late_cause const&, late_cause const&) = default;

  private:
    [[nodiscard]] static constexpr std::size_t at(late_by by) noexcept {
        return static_cast<std::size_t>(by);
    }
};

/// One of the possible states of a task's node.
struct node_case {
    double chance = 1;              ///< its probability
    predict::log_factor slowdown{}; ///< how many times as long tasks then take there
};

/// What is known of a late task, apart from the times of its siblings.
struct late_facts {
    double low = 0; ///< it takes longer than that in total: its age, or a lower estimate
    double high = (std::numeric_limits<double>::infinity)(); ///< and less than that
    double usual = 1; ///< what a task of its job takes, with its usual input, on a usual node
    /// its node, before the time of this task is considered; empty: usual
    std::span<node_case const> node{};
    /// further cases that consider it already, as a guess from all tasks that run there does
    std::span<node_case const> node_now{};
    predict::log_factor input{}; ///< by its input, against its siblings
    predict::log_factor crowd{}; ///< by the crowd on its node, against its siblings
    predict::log_factor kind{};  ///< its job against jobs of its kind
};

} // namespace straggle::detect

namespace straggle::inline STRAGGLE_ABI::detail {

// Sums over what the node, the input and the crowd may contribute. Logarithms are relative to the usual time.
class blame_sum {
  public:
    blame_sum(predict::time_outlook const& job, detect::late_facts const& facts) noexcept
        : job_(job),
          facts_(facts),
          low_(facts.low > 0 ? std::log(facts.low / facts.usual) : -1e300),
          high_(std::log(facts.high / facts.usual)),
          has_high_(facts.high <= (std::numeric_limits<double>::max)()) {}

    // Cases of the node with a probability of `chance` together, given the time of the task.
    void add(std::span<detect::node_case const> nodes, double chance) noexcept {
        if (!(chance > 0)) return;
        sums now = sums_of(nodes, has_high_);
        if (!(now.all > 0)) now = sums_of(nodes, false); // beyond all times that siblings ever took
        if (!(now.all > 0)) return;
        double const share = chance / now.all;
        for (std::size_t i = 0; i < now.largest.size(); ++i) {
            total_.largest[i] += share * now.largest[i];
            total_.parts[i] += share * now.parts[i];
        }
        total_.all += chance;
    }
    [[nodiscard]] detect::late_cause result() const noexcept {
        detect::late_cause out;
        if (!(total_.all > 0)) return out;
        for (std::size_t i = 0; i < total_.largest.size(); ++i) {
            out.probability[i] = total_.largest[i] / total_.all;
            out.times[i] = std::exp(total_.parts[i] / total_.all);
        }
        return out;
    }

  private:
    using logs = std::array<double, detect::late_by_count>;
    struct sums {
        logs largest{}, parts{};
        double all = 0;
        double most = -1e300, beyond_most = 1; // the last largest part, and the survival there
    };

    [[nodiscard]] sums sums_of(std::span<detect::node_case const> nodes, bool has_high) const noexcept {
        sums out;
        for (detect::node_case const& n : nodes) {
            if (!(n.chance > 0)) continue;
            for_each(n.slowdown, [&](double by_node, double w) {
                for_each(facts_.input, [&](double by_input, double v) {
                    for_each(facts_.crowd, [&](double by_crowd, double u) {
                        add({by_node, by_input, by_crowd, facts_.kind.mean, 0}, n.chance * w * v * u,
                            has_high, out);
                    });
                });
            });
        }
        return out;
    }
    // Given these parts, the rest is the task's own. Before the task was seen to be late, it was distributed
    // as the times of its siblings.
    void add(logs by, double weight, bool has_high, sums& out) const noexcept {
        std::size_t const own = detect::late_by_count - 1;
        double const explained = by[0] + by[1] + by[2];
        auto const most = std::max_element(by.begin(), by.end() - 1);
        double const age = job_.usual() * std::exp(low_ - explained), hazard = job_.hazard(age);
        double const alive = std::exp(-hazard), over = has_high ? survival(high_ - explained) : 0.0;
        double const mass = weight * (alive - over);
        if (!(mass > 0)) return;
        if (*most != out.most) { // often the same again
            out.most = *most;
            out.beyond_most = survival(*most);
        }
        double const mine = (std::min)((std::max)(out.beyond_most, over), alive);
        out.largest[own] += weight * (mine - over);
        out.largest[static_cast<std::size_t>(most - by.begin())] += weight * (alive - mine);
        by[own] = std::log(job_.median_after(age, hazard) / job_.usual());
        if (has_high) by[own] = (std::min)(by[own], high_ - explained);
        for (std::size_t i = 0; i < by.size(); ++i) out.parts[i] += mass * by[i];
        out.all += mass;
    }
    // Calls visit(value, weight) for three values with the first five moments of a normal distribution.
    template <class Visit>
    static void for_each(predict::log_factor const& f, Visit&& visit) {
        if (!(f.deviation > 0)) return visit(f.mean, 1.0);
        double const apart = 1.7320508075688772 * f.deviation;
        visit(f.mean - apart, 1.0 / 6);
        visit(f.mean, 2.0 / 3);
        visit(f.mean + apart, 1.0 / 6);
    }
    [[nodiscard]] double survival(double log) const noexcept {
        return job_.survival(job_.usual() * std::exp(log));
    }

    predict::time_outlook const& job_;
    detect::late_facts const& facts_;
    double low_, high_;
    bool has_high_;
    sums total_;
};

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::detect {

/// Why a task is late.
///
/// On a logarithmic scale, the time of a task is the usual time of its kind plus five parts: of its job, its
/// node, its input, its crowd, and itself. Four have an estimate with a standard deviation; the fifth is
/// distributed as the times of the siblings. Given that the task takes between `low` and `high` in total, the
/// probability of a cause is that its part is the largest.
///
/// Source: ours. The question is DSB's (section 3.4 and its future work); the method is the posterior
/// distribution of the terms of a sum.
/// @param job the times of its siblings
/// @param facts what is known of the task
/// @return unknown if no time between both is possible
/// @pre `facts.usual` > 0, `facts.low` <= `facts.high`
/// @par Cost
/// for each node case, O(27) times that of `time_outlook::median_after`; O(1) if all parts are known exactly.
/// Allocates nothing
[[nodiscard]] inline late_cause cause_of(predict::time_outlook const& job, late_facts const& facts) noexcept {
    detail::blame_sum sum(job, facts);
    double before = 1;
    for (node_case const& n : facts.node_now) {
        sum.add({&n, 1}, n.chance);
        before -= n.chance;
    }
    constexpr node_case usual;
    sum.add(facts.node.empty() ? std::span(&usual, 1) : facts.node, before);
    return sum.result();
}

} // namespace straggle::detect
