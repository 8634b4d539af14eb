// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `predict/sibling_times.hpp`: a bounded table of states by id.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/base/idle_order.hpp>
#include <straggle/base/interner.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// States by id. `State::seen` orders them by last use. The places of removed ids are reused.
template <class State>
class id_places {
  public:
    [[nodiscard]] State* find(std::uint64_t id) noexcept {
        std::uint32_t const at = ids_.find(id);
        return at == ids_.none ? nullptr : &states_[at];
    }
    [[nodiscard]] State const* find(std::uint64_t id) const noexcept {
        std::uint32_t const at = ids_.find(id);
        return at == ids_.none ? nullptr : &states_[at];
    }
    // The state of an id, created if needed. If the table is full, the least recently seen state is passed to
    // `leaves` and removed.
    template <class Leaves>
    State& get(std::uint64_t id, std::size_t most, Leaves&& leaves) {
        if (State* const there = find(id)) return *there;
        if (ids_.size() >= most && ids_.size() != 0) {
            std::uint64_t const out = idle_.oldest([this](std::uint64_t of) {
                State const* const there = find(of);
                return there == nullptr ? nullptr : &there->seen;
            });
            leaves(*find(out));
            erase(out);
        }
        idle_.make_room(ids_.size(), [this](auto&& visit) {
            for (std::uint32_t at = 0; at < ids_.bound(); ++at)
                if (ids_.contains(at)) visit(ids_[at], states_[at].seen);
        });
        make_room_for_one(states_);
        std::uint32_t const at = ids_.insert(id);
        if (at == states_.size()) states_.emplace_back();
        idle_.add(id, states_[at].seen);
        return states_[at];
    }
    void erase(std::uint64_t id) {
        std::uint32_t const at = ids_.find(id);
        if (at == ids_.none) return;
        states_[at] = State{};
        ids_.erase(at);
    }
    [[nodiscard]] std::size_t size() const noexcept { return ids_.size(); }
    // Least recently seen first.
    template <class Visit>
    void for_each(Visit&& visit) const {
        std::vector<std::uint32_t> order;
        for (std::uint32_t at = 0; at < ids_.bound(); ++at)
            if (ids_.contains(at)) order.push_back(at);
        std::sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
            return states_[a].seen != states_[b].seen ? states_[a].seen < states_[b].seen : ids_[a] < ids_[b];
        });
        for (std::uint32_t const at : order) visit(ids_[at], states_[at]);
    }

  private:
    interner<std::uint64_t> ids_{};
    std::vector<State> states_{}; // by index
    idle_order<std::uint64_t> idle_{};
};

} // namespace straggle::detail
