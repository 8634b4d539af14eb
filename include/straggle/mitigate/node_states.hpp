// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The state of each node by name, for threads that place work while another thread decides.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/record/node_state.hpp>
#include <straggle/record/slowdown.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::mitigate {

/// What a thread that places work needs to know about a node.
struct node_view {
    node_state state = node_state::healthy; ///< what to do with it
    std::uint32_t probe_slots = 0;          ///< on probation: attempts that may run there at a time
    slowdown slow{};                        ///< how many times as long tasks take there as elsewhere
    friend constexpr bool operator==(node_view const&, node_view const&) = default;
};

/// The nodes that are not plainly healthy, by name.
/// @tparam Id an `owned_identifier_t`
/// @par Cost
/// `find` and `state` O(1); refilling allocates nothing
template <base::identifier Id>
class node_states {
  public:
    /// The state of a node; nodes not listed are healthy.
    [[nodiscard]] node_state state(typename interner<Id>::key_type node) const { return find(node).state; }
    /// All that is known about a node.
    [[nodiscard]] node_view find(typename interner<Id>::key_type node) const {
        std::uint32_t const at = ids_.find(node);
        return at == interner<Id>::none ? node_view{} : views_[at];
    }
    /// How many nodes are not plainly healthy.
    [[nodiscard]] std::size_t size() const noexcept { return views_.size(); }

    /// Forgets all nodes but keeps the memory.
    void clear() noexcept {
        ids_.clear();
        views_.clear();
    }
    /// Adds a node that is not listed yet.
    void add(typename interner<Id>::key_type node, node_view const& view) {
        views_.push_back(view);
        ids_.insert(node);
    }

  private:
    interner<Id> ids_;
    std::vector<node_view> views_; // by index
};

} // namespace straggle::mitigate
