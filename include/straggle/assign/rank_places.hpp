// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Where does a new task run best? Orders free nodes by when the task would end there, and omits those that
/// are worse than waiting.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/record/node_state.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::assign {

/// The properties of a node that matter for a new task.
struct free_place {
    std::uint32_t row = 0;   ///< set by the caller
    std::uint32_t free = 0;  ///< idle slots
    std::uint32_t slots = 1; ///< all slots
    node_state state = node_state::healthy;
    double slowdown = 1;      ///< how many times as long a task takes there
    bool fails = false;       ///< its latest attempts failed
    std::uint32_t number = 0; ///< of the node, the same in every call
};

/// A node for a new task, and when the task would end there.
struct ranked_place {
    std::uint32_t row = 0; ///< of the node
    double end = 0;        ///< from now on; 0 if unknown
    friend constexpr bool operator==(ranked_place const&, ranked_place const&) = default;
};

/// Ranks the free nodes for a new task, best first.
///
/// Nodes that fail come after all others of their state: otherwise a quickly failing task would return to the
/// same idle node forever. Healthy nodes are ordered by the task's time there; differences below 3 % count as
/// ties, which go to the node with the largest share of idle slots, then by a hash of node and task: so ties
/// spread, and the same facts give the same answer for any order of the nodes. A last resort follows only if
/// the task would end there before it would end on a healthy slot it has to wait for; if a healthy slot is
/// free, there is no wait.
///
/// Source: ours.
/// @param usual time of the task on a node of slowdown 1; 0: unknown
/// @param wait until a healthy slot is free; infinite: never
/// @param task any number that identifies the task
/// @param out written, its memory reused
/// @par Cost
/// O(n log n)
/// @par Guarantees
/// deterministic
inline void rank_places(std::span<free_place const> nodes, double usual, double wait, std::uint64_t task,
                        std::vector<ranked_place>& out) {
    out.clear();
    double const time = usual > 0 ? usual : 0.0;
    double best = std::numeric_limits<double>::infinity();
    bool any = false;
    for (free_place const& n : nodes) {
        if (n.state != node_state::healthy) continue;
        best = (std::min)(best, n.slowdown);
        any = any || n.free > 0;
    }
    double const waiting = any ? 0.0 : wait;
    double const otherwise = waiting + time * (best < std::numeric_limits<double>::infinity() ? best : 1.0);
    // Sort by one number: steps of 3 %, offset for other states and failing nodes, with the share of busy
    // slots as the fraction, to 34 bits.
    constexpr double steps = 65536;
    auto const order = [](free_place const& n) {
        double const step = std::floor(std::log(n.slowdown) / 0.03 + 0.5) + steps / 2;
        double const behind = (n.state == node_state::healthy ? 0.0 : 2.0) + (n.fails ? 1.0 : 0.0);
        double const idle = n.free < n.slots ? static_cast<double>(n.free) / n.slots : 1.0;
        return behind * steps + std::clamp(step, 0.0, steps - 1) + (1 - idle);
    };
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        free_place const& n = nodes[i];
        if (n.free == 0 || !(n.slowdown > 0)) continue;
        bool const last = n.state == node_state::last_resort;
        if (n.state != node_state::healthy && !last) continue;
        // If the task's time is unknown, use a last resort only when nothing else will become free.
        if (last && !(time > 0 ? time * n.slowdown < otherwise
                               : !(waiting < std::numeric_limits<double>::infinity())))
            continue;
        out.push_back({static_cast<std::uint32_t>(i), order(n)});
    }
    std::uint64_t const salt = detail::spread(task);
    std::sort(out.begin(), out.end(), [&](ranked_place const& a, ranked_place const& b) {
        if (a.end < b.end || b.end < a.end) return a.end < b.end;
        std::uint64_t const x = detail::spread(nodes[a.row].number ^ salt),
                            y = detail::spread(nodes[b.row].number ^ salt);
        return x != y ? x < y : a.row < b.row;
    });
    for (ranked_place& p : out) {
        free_place const& n = nodes[p.row];
        p = {n.row, time * n.slowdown};
    }
}

} // namespace straggle::assign
