// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `predict/sibling_times.hpp`: states of ids that come and go, no more than so many.
#pragma once

#include <straggle/base/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// States by id. `State::seen` says which was touched last. Places are given to others once an id has gone.
template <class State>
class id_places {
  public:
    struct entry {
        std::uint64_t id;
        std::uint32_t place;
    };

    [[nodiscard]] State* find(std::uint64_t id) noexcept {
        auto const at = lower(id);
        return at != ids_.end() && at->id == id ? &states_[at->place] : nullptr;
    }
    [[nodiscard]] State const* find(std::uint64_t id) const noexcept {
        auto const at = std::lower_bound(ids_.begin(), ids_.end(), id, before);
        return at != ids_.end() && at->id == id ? &states_[at->place] : nullptr;
    }
    // The state of an id, made if it has none. If there are too many, the one not seen for longest is told to
    // `leaves` and goes.
    template <class Leaves>
    State& get(std::uint64_t id, std::size_t most, Leaves&& leaves) {
        if (State* const there = find(id)) return *there;
        if (ids_.size() >= most && !ids_.empty()) {
            entry out = ids_.front();
            for (entry const& e : ids_)
                if (states_[e.place].seen < states_[out.place].seen) out = e;
            leaves(states_[out.place]);
            erase(out.id);
        }
        if (free_.empty()) {
            free_.reserve(states_.size() + 1);
            states_.emplace_back();
            free_.push_back(static_cast<std::uint32_t>(states_.size() - 1));
        }
        ids_.insert(lower(id), {id, free_.back()});
        State& state = states_[free_.back()];
        free_.pop_back();
        return state;
    }
    void erase(std::uint64_t id) {
        auto const at = lower(id);
        if (at == ids_.end() || at->id != id) return;
        states_[at->place] = State{};
        free_.push_back(at->place);
        ids_.erase(at);
    }
    [[nodiscard]] std::size_t size() const noexcept { return ids_.size(); }
    // In ascending order of the ids.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (entry const& e : ids_) visit(e.id, states_[e.place]);
    }

  private:
    static bool before(entry const& e, std::uint64_t id) noexcept { return e.id < id; }
    [[nodiscard]] typename std::vector<entry>::iterator lower(std::uint64_t id) noexcept {
        return std::lower_bound(ids_.begin(), ids_.end(), id, before);
    }

    std::vector<entry> ids_{}; // by id
    std::vector<State> states_{};
    std::vector<std::uint32_t> free_{};
};

} // namespace straggle::detail
