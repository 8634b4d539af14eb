// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which slots are reserved for copies: how many may a normal task, or a copy, still take on a node?
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>

#include <algorithm>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::assign {

/// The slots of one node. Slots that are neither free nor taken by a copy are taken by a normal task.
struct node_slots {
    std::uint32_t slots = 0;  ///< all of them
    std::uint32_t free = 0;   ///< idle slots
    std::uint32_t copies = 0; ///< slots with copies
    std::uint64_t before = 0; ///< of all nodes before this one, in a fixed order of the cluster
};

/// How the slots of a cluster are shared between normal tasks and copies.
///
/// Copies that are to start early need free slots; slots reserved for them are unavailable to tasks. Source:
/// evaluation framework (Phan et al. 2019), section 7.1: a fraction x of 1, 0.95, 0.9, 0.75 or 0.5 of all
/// slots for normal tasks and the rest for copies, "evenly reserved across the nodes", or *Shared*, where any
/// slot is for tasks and copies alike, which performed best there.
///
/// Ours: slots are whole. Of the first c slots of the cluster, (1 - x) c are reserved, rounded down, and each
/// node reserves what it adds to that: in total never more than the share, and less than one slot below it.
/// With x = 0.9 and nodes of four slots, two nodes of five reserve one.
/// @par Cost
/// O(1), allocates nothing
/// @par Guarantees
/// noexcept; as long as tasks and copies do not occupy each other's slots, for_tasks + for_copies is the
/// number of free slots
class reservation {
  public:
    /// All slots for tasks and copies alike; the default.
    [[nodiscard]] static constexpr reservation shared() noexcept { return reservation(); }
    /// All slots for tasks and copies alike.
    constexpr reservation() noexcept = default;
    /// @param for_tasks x: the fraction of the slots for normal tasks
    /// @pre `for_tasks` is in [0, 1]
    explicit constexpr reservation(double for_tasks) : fraction_(for_tasks), shared_(false) {
        STRAGGLE_EXPECTS(for_tasks >= 0.0 && for_tasks <= 1.0);
    }

    /// Whether all slots are for tasks and copies alike.
    [[nodiscard]] constexpr bool is_shared() const noexcept { return shared_; }

    /// Number of slots of a node reserved for copies; 0 if slots are shared.
    [[nodiscard]] constexpr std::uint32_t reserved(node_slots const& node) const noexcept {
        if (shared_) return 0;
        std::uint64_t const kept =
            reserved_of_first(node.before + node.slots) - reserved_of_first(node.before);
        return static_cast<std::uint32_t>((std::min)(kept, std::uint64_t{node.slots}));
    }
    /// How many normal tasks may still start on a node.
    [[nodiscard]] constexpr std::uint32_t for_tasks(node_slots const& node) const noexcept {
        if (shared_) return node.free;
        std::uint32_t const theirs = node.slots - reserved(node);
        return (std::min)(node.free, less(theirs, less(less(node.slots, node.free), node.copies)));
    }
    /// How many copies may still start on a node.
    /// @param node its slots, and what runs on them
    /// @param tasks_wait whether normal tasks wait for slots; if none does, copies may take any slot, which
    /// is their only chance with x = 1: "the copies can only start at the end of the execution"
    [[nodiscard]] constexpr std::uint32_t for_copies(node_slots const& node,
                                                     bool tasks_wait = true) const noexcept {
        if (shared_ || !tasks_wait) return node.free;
        return (std::min)(node.free, less(reserved(node), node.copies));
    }

    friend constexpr bool operator==(reservation const&, reservation const&) = default;

  private:
    // Not below 0: the caller's numbers for a node may be inconsistent.
    static constexpr std::uint32_t less(std::uint32_t a, std::uint32_t b) noexcept {
        return a > b ? a - b : 0;
    }
    [[nodiscard]] constexpr std::uint64_t reserved_of_first(std::uint64_t slots) const noexcept {
        // The small addition keeps (1 - 0.9) * 10 from becoming less than 1 by rounding.
        double const c = static_cast<double>(slots);
        return static_cast<std::uint64_t>((1.0 - fraction_) * c + (1e-9 + 1e-15 * c));
    }

    double fraction_ = 1;
    bool shared_ = true;
};

} // namespace straggle::assign
