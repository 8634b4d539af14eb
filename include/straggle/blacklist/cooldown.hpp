// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Nodes that are slow now: blocked for the length of a task, on the evidence of two late tasks.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/record/field.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::blacklist {

/// When a node is blocked, for how long, and how many may be blocked. Shares and task times; no absolute
/// times.
struct cooldown_options {
    std::uint32_t stragglers = 2; ///< consecutive stragglers on a node that block it; at least 1
    double remembers = 3;         ///< usual task times for which a straggler counts; more than 0
    double lasts = 1;             ///< usual task times for which a node is blocked; more than 0
    double most = 0.2;            ///< largest share of the fleet blocked at a time, in [0, 1]
};

/// Nodes that get no new tasks for a short while, counted from their last late task.
///
/// A blacklist finds a weak node only at the end of its window, and requires more evidence than a single task
/// can give; until then, a node that has just become slow keeps getting tasks. Here two late tasks are
/// enough, and a wrong exclusion ends within the time of a task. Report the node of a task when its copy is
/// launched: by then a detector has suspected the task, and the assigner has found that another node would
/// finish sooner. Do not report the node of every suspect if the detector also names slightly late tasks: on
/// the simulated cluster of the experiments that made jobs a third longer. A node that stays slow makes its
/// next task late and is blocked again, until the blacklist catches it. While tasks wait, no node is blocked:
/// a slow slot is better than none.
///
/// Source: Flink's `slow-task-detector` with its blocklist (since 1.16): the nodes of slow tasks get no tasks
/// for a minute (`execution.batch.speculative.block-slow-node-duration`). Changed: two tasks instead of one;
/// task times instead of a minute; the blacklist's default limit, so that a wrong detector cannot empty the
/// cluster; and no blocking while tasks wait.
/// @par Example
/// `cooldown<std::string> slow_now;  slow_now.observe("host-7", now, usual, hosts.size());`, and then a
/// node's state for the `assigner` is `slow_now.avoids(h.name, now, waiting) ? node_state::excluded :
/// node_state::healthy`
/// @par Cost
/// O(nodes with late tasks) per call; memory for the largest number of such nodes so far. Allocates nothing
/// in the steady state, except for names longer than any before
/// @par Guarantees
/// deterministic; strong exception guarantee; independent of the unit of time
template <base::identifier NodeId>
class cooldown {
  public:
    /// Type of node names as arguments: `std::string_view` for text.
    using node_key = typename interner<NodeId>::key_type;
    static constexpr std::string_view name = "cooldown"; ///< for reports

    /// @pre the options are in their ranges
    explicit cooldown(cooldown_options options = {}) : options_(options) {
        STRAGGLE_EXPECTS(options.stragglers >= 1);
        STRAGGLE_EXPECTS(options.remembers > 0 && detail::is_finite(options.remembers));
        STRAGGLE_EXPECTS(options.lasts > 0 && detail::is_finite(options.lasts));
        STRAGGLE_EXPECTS(options.most >= 0 && options.most <= 1);
    }

    /// Reports a late task on a node. Blocks the node from `now` on if it is the last straggler needed; a
    /// node that is already blocked is blocked again from `now` on.
    /// @param node the node
    /// @param now on the caller's clock, which must never go back
    /// @param usual usual time of a task, in the unit of the clock
    /// @param fleet how many nodes there are
    /// @return whether the node is now blocked; false, with no other effect, if `now` is not a number or
    /// `usual` is not above 0; false and counted in `spared` if the limit is reached
    bool observe(node_key node, double now, double usual, std::size_t fleet) {
        if (!detail::is_finite(now) || !(usual > 0) || !detail::is_finite(usual)) return false;
        entry* place = nullptr;
        std::size_t blocked = 0;
        for (entry& e : entries_) {
            bool const is_it = e.node == node;
            if (is_it || (!(now < e.until) && !(now < e.counts_until) && !place)) place = &e;
            if (is_it && now < e.until) return renew(e, now, usual);
            blocked += now < e.until ? 1u : 0u;
        }
        if (!place || place->node != node) {
            NodeId own(node);
            if (!place) place = &entries_.emplace_back();
            place->node = std::move(own);
            place->until = place->counts_until = now;
            place->stragglers = 0;
        }
        if (!(now < place->counts_until)) place->stragglers = 0;
        place->counts_until = now + options_.remembers * usual;
        if (++place->stragglers < options_.stragglers) return false;
        double const limit = options_.most * static_cast<double>(fleet);
        if (!(static_cast<double>(blocked + 1) <= limit + 1e-9 * (limit + 1))) {
            ++spared_;
            return false;
        }
        return renew(*place, now, usual);
    }

    /// Whether a node is blocked at `now`.
    /// @param node the node
    /// @param now on the caller's clock
    /// @param waiting tasks without a slot: if any, no node is blocked
    [[nodiscard]] bool avoids(node_key node, double now, std::uint64_t waiting = 0) const noexcept {
        if (waiting != 0) return false;
        for (entry const& e : entries_)
            if (e.node == node) return now < e.until;
        return false;
    }
    /// How many nodes are blocked at `now`.
    [[nodiscard]] std::size_t blocked(double now) const noexcept {
        std::size_t n = 0;
        for (entry const& e : entries_) n += now < e.until ? 1u : 0u;
        return n;
    }
    /// How often the limit spared a node.
    [[nodiscard]] std::uint64_t spared() const noexcept { return spared_; }
    /// The options.
    [[nodiscard]] cooldown_options const& options() const noexcept { return options_; }
    /// Ends all blocks.
    void clear() noexcept {
        entries_.clear();
        spared_ = 0;
    }

  private:
    struct entry {
        NodeId node{};
        double until = 0;        // end of the block
        double counts_until = 0; // until then its stragglers count
        std::uint32_t stragglers = 0;
    };
    bool renew(entry& e, double now, double usual) const noexcept {
        e.until = now + options_.lasts * usual;
        return true;
    }

    cooldown_options options_;
    std::vector<entry> entries_; // each node at most once
    std::uint64_t spared_ = 0;
};

} // namespace straggle::blacklist
