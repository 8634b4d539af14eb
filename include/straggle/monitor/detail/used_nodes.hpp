// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `monitor/monitor.hpp`: the nodes referenced by anything in a window.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/span_of.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Ensures that every index of the table, including the next one, has an entry in `rows`.
template <class Row, class Table>
void room_for_all(std::vector<Row>& rows, Table const& table) {
    if (table.bound() < rows.size()) return;
    make_room_for_one(rows);
    rows.resize(table.bound() + 1);
}

// Names of nodes with use counts and order of appearance. A node without uses is removed.
template <class NodeId>
class used_nodes {
  public:
    using key_type = typename interner<NodeId>::key_type;
    static constexpr std::uint32_t none = interner<NodeId>::none;

    [[nodiscard]] interner<NodeId> const& names() const noexcept { return names_; }
    // In order of first appearance.
    [[nodiscard]] std::span<std::uint32_t const> order() const noexcept { return span_of(order_); }

    // The number of a name. A new one must be kept or revoked. Strong guarantee.
    [[nodiscard]] std::uint32_t insert(key_type id, bool& is_new) {
        room_for_all(uses_, names_);
        make_room_for_one(order_);
        std::size_t const before = names_.size();
        std::uint32_t const node = names_.insert(id);
        is_new = names_.size() != before;
        return node;
    }
    void keep(std::uint32_t node) noexcept {
        uses_[node] = 0;
        order_.push_back(node); // insert reserved the room
    }
    void take_back(std::uint32_t node) noexcept { names_.erase(node); }

    void use(std::uint32_t node) noexcept { ++uses_[node]; }
    // Removes one use; true if it was the last, and the number may be reused.
    [[nodiscard]] bool leave(std::uint32_t node) noexcept {
        if (--uses_[node] != 0) return false;
        names_.erase(node);
        is_stale_ = true;
        return true;
    }

    // Removes unused nodes from the order, before their numbers are reused.
    void tidy() noexcept {
        if (!is_stale_) return;
        std::erase_if(order_, [this](std::uint32_t node) { return !names_.contains(node); });
        is_stale_ = false;
    }
    // Reorders the nodes. @pre it is a permutation
    void set_order(std::vector<std::uint32_t> order) noexcept { order_ = std::move(order); }

    void swap(used_nodes& other) noexcept {
        std::swap(names_, other.names_);
        uses_.swap(other.uses_);
        order_.swap(other.order_);
        std::swap(is_stale_, other.is_stale_);
    }

  private:
    interner<NodeId> names_;
    std::vector<std::uint64_t> uses_;  // by node: pairs and finished scores that refer to it
    std::vector<std::uint32_t> order_; // by first appearance
    bool is_stale_ = false;
};

} // namespace straggle::detail
