// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What a copy is worth, and what it costs, when a task may be slow because of its place or because of
/// itself.
#pragma once

#include <straggle/assign/detail/summed_times.hpp>
#include <straggle/assign/job_goal.hpp>
#include <straggle/assign/race_record.hpp>
#include <straggle/base/config.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace straggle::inline STRAGGLE_ABI::assign {

/// A running task and a copy of it on some node. Times are equally likely values in ascending order, in one
/// unit.
struct copy_case {
    std::span<double const> left{};  ///< r: time the task still needs where it runs
    std::span<double const> there{}; ///< X: time of any task of its job on the other node
    double age = 0;                  ///< since the task's start
    double relative = 1;             ///< slowdown of the other node / slowdown of the task's own node
    double of_task = 0; ///< probability that a late task is late because of itself, not its place
    double apart = 0;   ///< how much two attempts of one task differ, `race_record::apart`; 0: not at all
};

/// The value of a copy.
struct copy_worth {
    double saved = 0;           ///< slot time saved by the task
    double taken = 0;           ///< slot time of the copy
    double by_place = 0;        ///< probability that the copy ends first if the place is to blame
    double by_task = 0;         ///< the same if the task is
    double win_probability = 0; ///< of both cases, weighted
    double relative = 1;        ///< as in the case

    /// The saving in slot time of the other node: a slot of a slow node yields less.
    [[nodiscard]] double saved_there() const noexcept { return saved * relative; }
    /// Whether the task then takes less slot time in total than without a copy: no other work has to wait for
    /// it.
    [[nodiscard]] bool saves() const noexcept { return saved_there() > taken; }
};

} // namespace straggle::assign

namespace straggle::inline STRAGGLE_ABI::detail {

// Ratio of a copy's time to its task's time due to chance: equally likely values, the quantiles 1/16, 3/16,
// ..., 15/16 of a lognormal distribution. The single value 1 if attempts do not differ.
class attempt_luck {
  public:
    explicit attempt_luck(double apart) noexcept {
        if (!(apart > 0)) return;
        count_ = factors_.size();
        constexpr std::array<double, 4> quantiles{0.15731068461017067, 0.48877641111466941,
                                                  0.88714655901887607, 1.5341205443525463};
        for (std::size_t i = 0; i < quantiles.size(); ++i) {
            double const longer = std::exp(apart * quantiles[i]);
            factors_[2 * i] = longer;
            factors_[2 * i + 1] = 1 / longer;
        }
    }
    [[nodiscard]] std::span<double const> factors() const noexcept {
        return std::span(factors_).first(count_);
    }

  private:
    std::array<double, 8> factors_{1};
    std::size_t count_ = 1;
};

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::assign {

/// The expected values over both times.
///
/// There are two cases. If the place is to blame, a copy is a fresh draw from the times of the siblings. If
/// the task is to blame, because it has more to do or uses a resource that is slow everywhere, the copy takes
/// as long as the task itself, except for the speed of the node and the usual difference between two
/// attempts: without that difference it would never win on an equally fast node. `of_task` weights the cases;
/// `race_record` learns it, and `apart`.
///
/// Source: Zheng et al. 2014, section 6 (the first case alone, uncapped); G. Ananthanarayanan et al., Mantri
/// (2010): at price 1 only copies that save slot time are worth it. Ours: the second case.
/// @pre both spans are not empty, ascending and finite
/// @par Cost
/// O(left (there / 16 + 1) + 8 left / 16), each step a search among sixteen values
[[nodiscard]] inline copy_worth worth_of(copy_case const& c) noexcept {
    double place_saved = 0, place_wins = 0, task_saved = 0, task_wins = 0, all = 0;
    detail::attempt_luck const luck(c.apart);
    detail::for_each_few(c.left, [&](std::span<double const> some_left) {
        detail::summed_times const left(some_left);
        all += left.sum(0, left.size());
        detail::for_each_few(c.there, [&](std::span<double const> some_there) {
            detail::summed_times const there(some_there);
            for (double const r : some_left) {
                std::size_t const shorter = there.below(r);
                place_saved += static_cast<double>(shorter) * r - there.sum(0, shorter);
                place_wins += static_cast<double>(shorter);
            }
        });
        // A task that needs r more takes r * relative + ahead there: on a faster node the longest tasks win.
        for (double const factor : luck.factors()) {
            double const relative = c.relative * factor, ahead = c.age * relative;
            if (!(relative < 1)) continue;
            std::size_t const first = left.up_to(ahead / (1 - relative)), last = left.size();
            double const wins = static_cast<double>(last - first);
            task_saved += (1 - relative) * left.sum(first, last) - wins * ahead;
            task_wins += wins;
        }
    });
    double const left = static_cast<double>(c.left.size()), there = static_cast<double>(c.there.size());
    double const lucks = static_cast<double>(luck.factors().size()), each = 1 / (left * lucks);
    double const p = (1 - c.of_task) / (left * there), t = c.of_task * each;
    copy_worth out;
    out.saved = p * place_saved + t * task_saved;
    out.taken = p * (there * all - place_saved) + t * (lucks * all - task_saved);
    out.by_place = place_wins / (left * there);
    out.by_task = task_wins * each;
    out.win_probability = p * place_wins + t * task_wins;
    out.relative = c.relative;
    return out;
}

/// What a copy of one of its tasks gains a job with a deadline, in time of the job.
struct deadline_gain {
    double in_time = 0;     ///< fall of the probability to miss the deadline, times what missing it costs
    double after = 0;       ///< time saved after the deadline
    double probability = 0; ///< fall of the probability alone
};

/// The gain of a job with a deadline (`job_goal`), over the two cases of `worth_of`.
/// @param c the case
/// @param goal the job's, with a deadline
/// @param others probability that the job's other tasks end before it
/// @pre as `worth_of`
/// @par Cost
/// O(left (there + 8)), allocates nothing
[[nodiscard]] inline deadline_gain gain_of(copy_case const& c, job_goal const& goal, double others) noexcept {
    double const d = (std::max)(goal.deadline, 0.0);
    double in_time[2] = {}, after[2] = {};
    auto const race = [&](std::size_t which, double r, double x) {
        if (!(r > d) || !(x < r)) return;
        if (goal.deadline > 0 && !(x > d)) in_time[which] += 1;
        after[which] += r - (std::max)(x, d);
    };
    detail::attempt_luck const luck(c.apart);
    for (double const r : c.left) {
        for (double const x : c.there) race(0, r, x);
        for (double const factor : luck.factors()) race(1, r, (r + c.age) * c.relative * factor);
    }
    double const left = static_cast<double>(c.left.size());
    double const place = (1 - c.of_task) / (left * static_cast<double>(c.there.size()));
    double const task = c.of_task / (left * static_cast<double>(luck.factors().size()));
    double const fall = others * (place * in_time[0] + task * in_time[1]);
    return {.in_time = goal.weight * goal.missed * fall,
            .after = goal.weight * (place * after[0] + task * after[1]),
            .probability = fall};
}

/// The claim about a race, to be compared with its outcome.
/// @param c the case
/// @param worth `worth_of(c)`
/// @par Cost
/// O(left + there), with one logarithm each
[[nodiscard]] inline race_claim claim_of(copy_case const& c, copy_worth const& worth) noexcept {
    auto const guess = [](std::span<double const> times, double more, double scale) {
        double sum = 0, squares = 0;
        for (double const t : times) {
            double const x = std::log((std::max)((t + more) * scale, (std::numeric_limits<double>::min)()));
            sum += x;
            squares += x * x;
        }
        double const n = static_cast<double>(times.size()), mean = sum / n;
        return log_guess{mean, (std::max)(squares / n - mean * mean, 0.0)};
    };
    return {.claimed = worth.win_probability,
            .age = c.age,
            .relative = c.relative,
            .place = guess(c.there, 0, 1),
            .task = guess(c.left, c.age, c.relative)};
}

} // namespace straggle::assign
