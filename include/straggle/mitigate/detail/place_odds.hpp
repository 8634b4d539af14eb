// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `mitigate/speculator.hpp`: how long a task has left on a node that may be slow right now.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/predict/time_outlook.hpp>
#include <straggle/record/slowdown.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace straggle::inline STRAGGLE_ABI::detail {

// How likely a node is slow right now. The slowdown is uncertain: less or more than usual, equally likely. A
// slowdown that is already known is part of it.
struct place_odds {
    static constexpr double less = 0.70710678118654752, more = 1.4142135623730951;

    std::array<double, 2> chance{};   // of each slowdown
    std::array<double, 2> slow{1, 1}; // relative to the known slowdown

    place_odds() = default;
    place_odds(record::slow_guess const& now, double known) noexcept
        : chance{now.chance / 2, now.chance / 2},
          slow{(std::max)(less * now.by / known, 1.0), (std::max)(more * now.by / known, 1.0)} {}

    [[nodiscard]] double any() const noexcept { return chance[0] + chance[1]; }
    template <class Of>
    [[nodiscard]] double mean_of_slow(Of&& of) const {
        return chance[0] * of(slow[0]) + chance[1] * of(slow[1]);
    }
    // Mean slowdown, relative to the same node when it is not slow.
    [[nodiscard]] double mean() const noexcept {
        return mean_of([](double times) { return times; });
    }
    // Mean of a function of the slowdown.
    template <class Of>
    [[nodiscard]] double mean_of(Of&& of) const {
        if (!(any() > 0)) return of(1.0);
        return (1 - any()) * of(1.0) + mean_of_slow(of);
    }
    // The larger of that mean and the value for a node that is not slow.
    template <class Of>
    [[nodiscard]] double most_of(Of&& of) const {
        double const plain = of(1.0);
        return any() > 0 ? (std::max)(plain, (1 - any()) * plain + mean_of_slow(of)) : plain;
    }
    // A slowdown under which a task would have ended long ago does not explain why it still runs: it hangs or
    // is large. `age`: scaled to a node of slowdown 1.
    [[nodiscard]] place_odds given(predict::time_outlook const& outlook, double age) const noexcept {
        if (!(any() > 0)) return *this;
        place_odds out = *this;
        for (std::size_t s = 0; s < slow.size(); ++s) out.chance[s] *= outlook.survival(age / slow[s]);
        double const all = 1 - any() + out.any();
        for (double& c : out.chance) c /= all;
        return out;
    }
};

// Time left for a task that has run for `age`. `factor`: of the task and its node.
[[nodiscard]] inline predict::time_points left_after(predict::time_outlook const& outlook, double age,
                                                     double factor) noexcept {
    predict::time_points left = outlook.times_after(age / factor);
    for (double& x : left.at) x = (std::max)(x * factor - age, 0.0);
    return left;
}

// The same where the node may be slow right now: mixes the times of both cases by their probability. Never
// less than without: a slow node explains why a task is late, but is no reason to expect an early end.
[[nodiscard]] inline predict::time_points left_after(predict::time_outlook const& outlook, double age,
                                                     double factor, place_odds const& odds) {
    predict::time_points const plain = left_after(outlook, age, factor);
    if (!(odds.any() > 0)) return plain;
    constexpr std::size_t count = predict::time_points::count;
    struct weighed {
        double time, weight;
    };
    std::array<weighed, 3 * count> all{};
    std::array<double, 3> const slow{1, odds.slow[0], odds.slow[1]},
        weight{1 - odds.any(), odds.chance[0], odds.chance[1]};
    for (std::size_t s = 0; s < slow.size(); ++s) {
        predict::time_points const left = s == 0 ? plain : left_after(outlook, age, factor * slow[s]);
        for (std::size_t i = 0; i < count; ++i) all[s * count + i] = {left.at[i], weight[s]};
    }
    std::sort(all.begin(), all.end(), [](weighed const& a, weighed const& b) { return a.time < b.time; });
    predict::time_points out;
    double reached = 0;
    std::size_t next = 0;
    for (weighed const& w : all) {
        reached += w.weight;
        for (; next < count && reached >= static_cast<double>(next) + 0.5; ++next) out.at[next] = w.time;
    }
    for (; next < count; ++next) out.at[next] = all.back().time;
    for (std::size_t i = 0; i < count; ++i) out.at[i] = (std::max)(out.at[i], plain.at[i]);
    return out;
}

} // namespace straggle::detail
