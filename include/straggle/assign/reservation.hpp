// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which slots are kept free for copies: how many may a normal task, or a copy, still take on a node?
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>

#include <algorithm>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::assign {

/// The slots of one node. What is neither free nor taken by a copy is taken by a normal task.
struct node_slots {
    std::uint32_t slots = 0;  ///< all of them
    std::uint32_t free = 0;   ///< those that nothing runs on
    std::uint32_t copies = 0; ///< those that copies run on
    std::uint64_t before =
        0; ///< of all nodes before this one, in an order of the cluster that does not change
};

/// How the slots of a cluster are shared between normal tasks and copies.
///
/// Copies that are to start early need slots to start on; what is kept for them is missing elsewhere.
/// Source: evaluation framework (Phan et al. 2019), section 7.1: a fraction x of 1, 0.95, 0.9, 0.75 or 0.5 of
/// all slots for normal tasks and the rest for copies, "evenly reserved across the nodes", or *Shared*, where
/// any slot is for tasks and copies alike, which did best there.
///
/// Ours: slots are whole. Of the first c slots of the cluster (1 - x) c are reserved, cut to a whole number,
/// and each node keeps what it adds to that: together never more than the share, and less than one slot below
/// it. With x = 0.9 and nodes of four slots two nodes of five keep one.
/// @par Cost
/// O(1), allocates nothing
/// @par Guarantees
/// noexcept; as long as neither tasks nor copies are on slots of the other, for_tasks +
/// for_copies is what is free
class reservation {
  public:
    /// Any slot is for tasks and copies alike; the default.
    [[nodiscard]] static constexpr reservation shared() noexcept { return reservation(); }
    /// Any slot is for tasks and copies alike.
    constexpr reservation() noexcept = default;
    /// @param for_tasks x: the fraction of the slots for normal tasks
    /// @pre `for_tasks` is in [0, 1]
    explicit constexpr reservation(double for_tasks) : fraction_(for_tasks), shared_(false) {
        STRAGGLE_EXPECTS(for_tasks >= 0.0 && for_tasks <= 1.0);
    }

    /// Whether any slot is for tasks and copies alike.
    [[nodiscard]] constexpr bool is_shared() const noexcept { return shared_; }

    /// How many slots of a node are kept for copies; none where they are shared.
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
    /// @param tasks_wait whether normal tasks wait for slots; once none does, copies may take any slot, which
    /// is all they can do with x = 1: "the copies can only start at the end of the execution"
    [[nodiscard]] constexpr std::uint32_t for_copies(node_slots const& node,
                                                     bool tasks_wait = true) const noexcept {
        if (shared_ || !tasks_wait) return node.free;
        return (std::min)(node.free, less(reserved(node), node.copies));
    }

    friend constexpr bool operator==(reservation const&, reservation const&) = default;

  private:
    // Not below 0: what the caller says of a node may not add up.
    static constexpr std::uint32_t less(std::uint32_t a, std::uint32_t b) noexcept {
        return a > b ? a - b : 0;
    }
    [[nodiscard]] constexpr std::uint64_t reserved_of_first(std::uint64_t slots) const noexcept {
        // The small step forward keeps (1 - 0.9) * 10 from becoming less than 1 by rounding.
        double const c = static_cast<double>(slots);
        return static_cast<std::uint64_t>((1.0 - fraction_) * c + (1e-9 + 1e-15 * c));
    }

    double fraction_ = 1;
    bool shared_ = true;
};

} // namespace straggle::assign
