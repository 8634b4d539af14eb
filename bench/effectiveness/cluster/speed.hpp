// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How far an attempt gets on a node whose speed changes.
#pragma once

#include "plan.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace lab {

/// The slowdown of the node at a time, relative to its design.
inline double slowdown_at(node_spec const& node, double time) {
    auto const next = std::upper_bound(node.faults.begin(), node.faults.end(), time,
                                       [](double t, speed_step const& s) { return t < s.from; });
    return next == node.faults.begin() ? 1 : std::prev(next)->slowdown;
}

/// Calls `part(from, to, speed)` for each stretch of constant speed from a time on, until it returns false.
template <class Part>
void for_each_stretch(node_spec const& node, double from, Part part) {
    auto next = std::upper_bound(node.faults.begin(), node.faults.end(), from,
                                 [](double t, speed_step const& s) { return t < s.from; });
    double slowdown = next == node.faults.begin() ? 1 : std::prev(next)->slowdown;
    for (;; ++next) {
        bool const last = next == node.faults.end();
        double const to = last ? std::numeric_limits<double>::infinity() : next->from;
        if (!part(from, to, node.speed / slowdown) || last) return;
        from = to;
        slowdown = next->slowdown;
    }
}

/// The work a slot does from one time to another.
inline double work_between(node_spec const& node, double from, double to) {
    double done = 0;
    if (to > from)
        for_each_stretch(node, from, [&](double a, double b, double speed) {
            done += (std::min(b, to) - a) * speed;
            return b < to;
        });
    return done;
}

/// The time at which a slot has done this much work.
inline double time_of(node_spec const& node, double from, double work) {
    double end = from;
    for_each_stretch(node, from, [&](double a, double b, double speed) {
        end = a + work / speed;
        work -= (b - a) * speed;
        return end > b;
    });
    return end;
}

} // namespace lab
