// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `base/interner.hpp`: an ordered set of indices, for identifiers chosen so that their
/// hashes collide.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/grow.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// An AA tree (A. Andersson, Balanced search trees made simple, 1993). `Compare` says how the sought value
// compares with that of an index: negative, 0 or positive. Everything that may throw comes before any change.
class ordered_index {
  public:
    static constexpr std::uint32_t none = (std::numeric_limits<std::uint32_t>::max)();

    // The nodes from the root to the position of a value.
    struct way {
        std::array<std::uint32_t, 72> nodes{}; // a tree of 2^32 nodes is less than 2 * 33 deep
        std::array<bool, 72> right{};          // direction taken at each node
        std::size_t length = 0;
        std::uint32_t at = 0; // 0: not found
    };

    [[nodiscard]] bool empty() const noexcept { return root_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    [[nodiscard]] std::uint32_t operator[](std::uint32_t at) const { return nodes_[at].value; }

    template <class Compare>
    [[nodiscard]] std::uint32_t find(Compare const& compare) const {
        for (std::uint32_t t = root_; t != 0;) {
            int const c = compare(nodes_[t].value);
            if (c == 0) return nodes_[t].value;
            t = c < 0 ? nodes_[t].left : nodes_[t].right;
        }
        return none;
    }

    template <class Compare>
    [[nodiscard]] way descend(Compare const& compare) const {
        way w;
        for (w.at = root_; w.at != 0;) {
            int const c = compare(nodes_[w.at].value);
            if (c == 0) break;
            step(w, c > 0);
        }
        return w;
    }

    // Reserves room for one more.
    void make_room() {
        if (nodes_.empty()) nodes_.push_back({}); // a sentinel at level 0
        make_room_for_one(nodes_);
    }
    // @pre there is room, and the value is not in the tree
    void attach(way const& w, std::uint32_t value) {
        std::uint32_t child = free_;
        if (child != 0) {
            free_ = nodes_[child].right;
            nodes_[child] = {0, 0, 1, value};
        } else {
            child = static_cast<std::uint32_t>(nodes_.size());
            nodes_.push_back({0, 0, 1, value});
        }
        ++size_;
        for (std::size_t k = w.length; k-- > 0;) {
            std::uint32_t const t = w.nodes[k];
            (w.right[k] ? nodes_[t].right : nodes_[t].left) = child;
            child = split(skew(t));
        }
        root_ = child;
    }

    // @pre the value is in the tree
    template <class Compare>
    void erase(Compare const& compare) {
        way w = descend(compare);
        std::uint32_t const found = w.at;
        std::uint32_t gone = found;
        if (nodes_[found].left != 0) { // then there is a right child too: the next value takes its place
            for (step(w, true); nodes_[w.at].left != 0;) step(w, false);
            gone = w.at;
            nodes_[found].value = nodes_[gone].value;
        }
        std::uint32_t child = nodes_[gone].right;
        nodes_[gone].right = free_;
        free_ = gone;
        --size_;
        for (std::size_t k = w.length; k-- > 0;) {
            std::uint32_t const t = w.nodes[k];
            (w.right[k] ? nodes_[t].right : nodes_[t].left) = child;
            child = lower(t);
        }
        root_ = child;
    }

    void clear() noexcept {
        if (!nodes_.empty()) nodes_.resize(1);
        root_ = free_ = 0;
        size_ = 0;
    }

    void swap(ordered_index& other) noexcept {
        nodes_.swap(other.nodes_);
        std::swap(root_, other.root_);
        std::swap(free_, other.free_);
        std::swap(size_, other.size_);
    }

  private:
    struct node {
        std::uint32_t left = 0, right = 0, level = 0, value = none;
    };

    void step(way& w, bool right) const noexcept {
        w.nodes[w.length] = w.at;
        w.right[w.length++] = right;
        w.at = right ? nodes_[w.at].right : nodes_[w.at].left;
    }
    // Removes a left child on the same level.
    std::uint32_t skew(std::uint32_t t) noexcept {
        std::uint32_t const left = nodes_[t].left;
        if (t == 0 || nodes_[left].level != nodes_[t].level) return t;
        nodes_[t].left = nodes_[left].right;
        nodes_[left].right = t;
        return left;
    }
    // Removes two consecutive right children on the same level.
    std::uint32_t split(std::uint32_t t) noexcept {
        std::uint32_t const right = nodes_[t].right;
        if (t == 0 || nodes_[nodes_[right].right].level != nodes_[t].level) return t;
        nodes_[t].right = nodes_[right].left;
        nodes_[right].left = t;
        ++nodes_[right].level;
        return right;
    }
    // Lowers the level after a child's level fell.
    std::uint32_t lower(std::uint32_t t) noexcept {
        std::uint32_t const left = nodes_[nodes_[t].left].level, right = nodes_[nodes_[t].right].level;
        std::uint32_t const level = (left < right ? left : right) + 1;
        if (level < nodes_[t].level) {
            nodes_[t].level = level;
            if (level < right) nodes_[nodes_[t].right].level = level;
        }
        t = skew(t);
        nodes_[t].right = skew(nodes_[t].right);
        if (std::uint32_t const r = nodes_[t].right; r != 0) nodes_[r].right = skew(nodes_[r].right);
        t = split(t);
        nodes_[t].right = split(nodes_[t].right);
        return t;
    }

    std::vector<node> nodes_;
    std::uint32_t root_ = 0, free_ = 0; // free nodes form a list
    std::size_t size_ = 0;
};

} // namespace straggle::detail
