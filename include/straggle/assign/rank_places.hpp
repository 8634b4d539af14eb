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
    double crowding = 0;      ///< logarithm of how many times as long if all other slots are busy
};

/// A node for a new task, and when the task would end there.
struct ranked_place {
    std::uint32_t row = 0; ///< of the node
    double end = 0;        ///< from now on; 0 if unknown
    friend constexpr bool operator==(ranked_place const&, ranked_place const&) = default;
};

} // namespace straggle::assign

namespace straggle::inline STRAGGLE_ABI::detail {

// Which places a new task may take, and their order.
class place_order {
  public:
    place_order(std::span<assign::free_place const> nodes, double usual, double wait) noexcept
        : time_(usual > 0 ? usual : 0.0) {
        constexpr double never = std::numeric_limits<double>::infinity();
        double best = never;
        bool any = false;
        for (assign::free_place const& n : nodes) {
            if (n.state != node_state::healthy) continue;
            best = (std::min)(best, n.slowdown);
            any = any || n.free > 0;
        }
        waiting_ = any ? 0.0 : wait;
        otherwise_ = waiting_ + time_ * (best < never ? best : 1.0);
    }
    [[nodiscard]] bool accepts(assign::free_place const& n) const noexcept {
        if (n.free == 0 || !(n.slowdown > 0)) return false;
        if (n.state != node_state::last_resort) return n.state == node_state::healthy;
        // If the task's time is unknown, use a last resort only when nothing else will become free.
        return time_ > 0 ? time_ * n.slowdown < otherwise_
                         : !(waiting_ < std::numeric_limits<double>::infinity());
    }
    // Sort by one number: steps of 3 %, offset for other states and failing nodes, with the share of busy
    // slots as the fraction, to 34 bits. A task slows the others there by as much as they slow it.
    [[nodiscard]] static double key(assign::free_place const& n) noexcept {
        constexpr double steps = 65536;
        double const longer = std::log(n.slowdown) + 2 * n.crowding * others(n);
        double const step = std::floor(longer / 0.03 + 0.5) + steps / 2;
        double const behind = (n.state == node_state::healthy ? 0.0 : 2.0) + (n.fails ? 1.0 : 0.0);
        return behind * steps + std::clamp(step, 0.0, steps - 1) + busy(n);
    }
    // The key after the free slots have changed.
    [[nodiscard]] static double key_again(double key, assign::free_place const& n) noexcept {
        return n.crowding > 0 ? place_order::key(n) : std::floor(key) + busy(n);
    }
    [[nodiscard]] double end(assign::free_place const& n) const noexcept {
        double const alone = time_ * n.slowdown;
        return n.crowding > 0 ? alone * std::exp(n.crowding * others(n)) : alone;
    }

  private:
    // The share of the other slots that are busy beside a new task.
    [[nodiscard]] static double others(assign::free_place const& n) noexcept {
        return n.free < n.slots && n.slots > 1 ? static_cast<double>(n.slots - n.free) / (n.slots - 1.0)
                                               : 0.0;
    }
    [[nodiscard]] static double busy(assign::free_place const& n) noexcept {
        return 1 - (n.free < n.slots ? static_cast<double>(n.free) / n.slots : 1.0);
    }

    double time_, waiting_ = 0, otherwise_ = 0;
};

// A place with its key; `tie` spreads tasks over places of one key.
struct queued_place {
    double key;
    std::uint64_t tie;
    std::uint32_t at;

    [[nodiscard]] bool is_before(queued_place const& other) const noexcept {
        if (key < other.key || other.key < key) return key < other.key;
        return tie != other.tie ? tie < other.tie : at < other.at;
    }
};

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::assign {

/// Ranks the free nodes for a new task, best first.
///
/// Nodes that fail come after all others of their state: otherwise a quickly failing task would return to the
/// same idle node forever. Healthy nodes are ordered by the task's time there, and by how much it slows the
/// tasks beside it; differences below 3 % count as ties, which go to the node with the largest share of idle
/// slots, then by a hash of node and task: so ties spread, and the same facts give the same answer for any
/// order of the nodes. A last resort follows only if the task would end there before it would end on a
/// healthy slot it has to wait for; if a healthy slot is free, there is no wait.
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
    detail::place_order const order(nodes, usual, wait);
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (order.accepts(nodes[i])) out.push_back({static_cast<std::uint32_t>(i), order.key(nodes[i])});
    std::uint64_t const salt = detail::spread(task);
    std::sort(out.begin(), out.end(), [&](ranked_place const& a, ranked_place const& b) {
        if (a.end < b.end || b.end < a.end) return a.end < b.end;
        std::uint64_t const x = detail::spread(nodes[a.row].number ^ salt),
                            y = detail::spread(nodes[b.row].number ^ salt);
        return x != y ? x < y : a.row < b.row;
    });
    for (ranked_place& p : out) p = {nodes[p.row].row, order.end(nodes[p.row])};
}

/// Places tasks one after the other: each takes a slot of the node that `rank_places` would put first by
/// then. Stops early when all nodes of that node's state are full: the caller then knows what waits.
///
/// @param nodes as for `rank_places`; their `free` is reduced
/// @param usual and `wait`, `task`: as for `rank_places`, the same for all tasks
/// @param tasks how many
/// @param queue memory to reuse
/// @param out appended to, one entry for each task that has a place
/// @return how many have one
/// @par Cost
/// O(n), and O(log n) for each task
/// @par Guarantees
/// deterministic
inline std::size_t fill_places(std::span<free_place> nodes, double usual, double wait, std::uint64_t task,
                               std::size_t tasks, std::vector<detail::queued_place>& queue,
                               std::vector<ranked_place>& out) {
    queue.clear();
    detail::place_order const order(nodes, usual, wait);
    std::uint64_t const salt = detail::spread(task);
    bool any_healthy = false;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        free_place const& n = nodes[i];
        if (!order.accepts(n)) continue;
        any_healthy = any_healthy || n.state == node_state::healthy;
        queue.push_back({order.key(n), detail::spread(n.number ^ salt), static_cast<std::uint32_t>(i)});
    }
    if (any_healthy) // a last resort follows all of these, and only if it still pays by then
        queue.erase(std::remove_if(queue.begin(), queue.end(),
                                   [&](detail::queued_place const& p) {
                                       return nodes[p.at].state != node_state::healthy;
                                   }),
                    queue.end());
    auto const is_after = [](detail::queued_place const& a, detail::queued_place const& b) {
        return b.is_before(a);
    };
    std::make_heap(queue.begin(), queue.end(), is_after);
    std::size_t placed = 0;
    for (; placed < tasks && !queue.empty(); ++placed) {
        std::pop_heap(queue.begin(), queue.end(), is_after);
        detail::queued_place& first = queue.back();
        free_place& n = nodes[first.at];
        out.push_back({n.row, order.end(n)});
        --n.free;
        if (n.free == 0) {
            queue.pop_back();
        } else {
            first.key = order.key_again(first.key, n);
            std::push_heap(queue.begin(), queue.end(), is_after);
        }
    }
    return placed;
}

} // namespace straggle::assign
