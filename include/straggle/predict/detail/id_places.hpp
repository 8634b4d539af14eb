// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `predict/sibling_times.hpp`: states of ids that come and go, no more than so many.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/leading_count.hpp>

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
        std::size_t const at = lower(id);
        return at != ids_.size() && ids_[at].id == id ? &states_[ids_[at].place] : nullptr;
    }
    [[nodiscard]] State const* find(std::uint64_t id) const noexcept {
        std::size_t const at = lower(id);
        return at != ids_.size() && ids_[at].id == id ? &states_[ids_[at].place] : nullptr;
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
        ids_.insert(ids_.begin() + static_cast<std::ptrdiff_t>(lower(id)), {id, free_.back()});
        State& state = states_[free_.back()];
        free_.pop_back();
        return state;
    }
    void erase(std::uint64_t id) {
        std::size_t const at = lower(id);
        if (at == ids_.size() || ids_[at].id != id) return;
        states_[ids_[at].place] = State{};
        free_.push_back(ids_[at].place);
        ids_.erase(ids_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    [[nodiscard]] std::size_t size() const noexcept { return ids_.size(); }
    // In ascending order of the ids.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (entry const& e : ids_) visit(e.id, states_[e.place]);
    }

  private:
    // The first that is not below `id`. Ids are hashes: which half it is in nobody can predict.
    [[nodiscard]] std::size_t lower(std::uint64_t id) const noexcept {
        return leading_count(ids_.size(), [&](std::size_t i) { return ids_[i].id < id; });
    }

    std::vector<entry> ids_{}; // by id
    std::vector<State> states_{};
    std::vector<std::uint32_t> free_{};
};

} // namespace straggle::detail
