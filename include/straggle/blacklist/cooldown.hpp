// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Nodes that are slow now: out for a minute, on the evidence of a single task.
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

/// For how long a node is blocked, and how many may be.
struct cooldown_options {
    double lasts = 60; ///< a minute, if the clock counts seconds; more than 0
    double most = 0.2; ///< largest share of the fleet that is blocked at a time, in [0, 1]
};

/// Nodes that get no new tasks for a short while, each from the last task that it made late.
///
/// A blacklist learns of a weak node when its window is over, and asks for evidence that a single task cannot
/// give; a node that has just become slow gets tasks until then. Here one task is enough, and a wrong
/// exclusion is over in a minute. Block the node of a task as its copy is launched: then a detector has
/// suspected it, and the assigner finds that another node would do the work sooner. To block the node of
/// every suspect is too much for a detector that also names those that are a little late: on the simulated
/// cluster of the experiments it made jobs a third longer. A node that stays slow makes its next task late
/// and is blocked again, until the blacklist knows it.
///
/// Source: Flink's `slow-task-detector` with its blocklist (since 1.16): the nodes of slow tasks get nothing
/// for a minute (`execution.batch.speculative.block-slow-node-duration`). Changed: a limit, the blacklist's
/// default one, so that a wrong detector does not empty the cluster.
/// @par Example
/// `cooldown<std::string> slow_now;  slow_now.block("host-7", now, hosts.size());`, and then a node's
/// state for the `assigner` is `slow_now.avoids(h.name, now) ? node_state::excluded : node_state::healthy`
/// @par Cost O(blocked nodes) for each call; memory for as many as were ever blocked at a time. Allocates
/// nothing in the steady state but for names longer than those before
/// @par Guarantees deterministic; strong exception guarantee
template <base::identifier NodeId>
class cooldown {
  public:
    /// What nodes are asked for by: `std::string_view` for text.
    using node_key = typename interner<NodeId>::key_type;
    static constexpr std::string_view name = "cooldown"; ///< for reports

    /// @pre the options are in their ranges
    explicit cooldown(cooldown_options options = {}) : options_(options) {
        STRAGGLE_EXPECTS(options.lasts > 0 && detail::is_finite(options.lasts));
        STRAGGLE_EXPECTS(options.most >= 0 && options.most <= 1);
    }

    /// Blocks a node from now on; one that is blocked already, anew.
    /// @param node which one
    /// @param now the caller's clock, which never goes back
    /// @param fleet how many nodes there are
    /// @return false, and nothing else, where the limit is reached or `now` is no number; counted in `spared`
    bool block(node_key node, double now, std::size_t fleet) {
        entry* place = nullptr;
        std::size_t blocked = 0;
        for (entry& e : entries_) {
            bool const is_it = e.node == node, is_over = !(now < e.until);
            if (is_it || (is_over && !place)) place = &e;
            if (is_it && !is_over) return renew(e, now);
            blocked += is_over ? 0u : 1u;
        }
        double const limit = options_.most * static_cast<double>(fleet);
        bool const room = static_cast<double>(blocked + 1) <= limit + 1e-9 * (limit + 1);
        if (!room || !detail::is_finite(now)) {
            ++spared_;
            return false;
        }
        NodeId own(node);
        if (!place) place = &entries_.emplace_back();
        place->node = std::move(own);
        place->until = now + options_.lasts;
        return true;
    }

    /// Whether a node is blocked at a time.
    [[nodiscard]] bool avoids(node_key node, double now) const noexcept {
        for (entry const& e : entries_)
            if (e.node == node) return now < e.until;
        return false;
    }
    /// How many nodes are blocked at a time.
    [[nodiscard]] std::size_t blocked(double now) const noexcept {
        std::size_t n = 0;
        for (entry const& e : entries_) n += now < e.until ? 1u : 0u;
        return n;
    }
    /// How often a node was spared.
    [[nodiscard]] std::uint64_t spared() const noexcept { return spared_; }
    /// The options.
    [[nodiscard]] cooldown_options const& options() const noexcept { return options_; }
    /// Blocks nobody any more.
    void clear() noexcept {
        entries_.clear();
        spared_ = 0;
    }

  private:
    struct entry {
        NodeId node{};
        double until = 0;
    };
    bool renew(entry& e, double now) const noexcept {
        e.until = now + options_.lasts;
        return true;
    }

    cooldown_options options_;
    std::vector<entry> entries_; // each node at most once
    std::uint64_t spared_ = 0;
};

} // namespace straggle::blacklist
