// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `assign/assigner.hpp`: the nodes while a plan is made: their states, their room for
/// copies, and which of them are ruled out regardless of profit.
#pragma once

#include <straggle/assign/backup_fields.hpp>
#include <straggle/assign/backup_plan.hpp>
#include <straggle/assign/reservation.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/record/cluster_load.hpp>
#include <straggle/record/node_state.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

class candidate_nodes {
  public:
    // Free slots for copies by node; placing copies decrements them.
    [[nodiscard]] std::vector<std::uint32_t>& room() noexcept { return room_; }
    [[nodiscard]] node_state state(std::size_t node) const { return states_[node]; }

    template <class Nodes, class Fields>
    void read(Nodes& nodes, Fields const& fields, assign::reservation const& reserved,
              cluster_load const& load) {
        constexpr bool occupied = given<decltype(Fields::slots)> && given<decltype(Fields::copies)>;
        STRAGGLE_EXPECTS(occupied || reserved.is_shared());
        room_.clear();
        states_.clear();
        all_healthy_ = true;
        std::uint64_t before = 0;
        for (auto const& node : nodes) {
            assign::node_slots slots;
            slots.free = read_count(project(fields.free, node));
            if constexpr (occupied) {
                slots.slots = read_count(project(fields.slots, node));
                slots.copies = read_count(project(fields.copies, node));
            }
            slots.before = before;
            before += slots.slots;
            room_.push_back(reserved.for_copies(slots, load.waiting > 0));
            node_state state = node_state::healthy;
            if constexpr (given<decltype(Fields::state)>) {
                auto&& told = project(fields.state, node);
                if (is_present(told)) state = unwrap(told);
            }
            states_.push_back(state);
            all_healthy_ = all_healthy_ && state == node_state::healthy;
        }
    }

    // How many of a task's attempts count for the limits: those on nodes that are not healthy count as one.
    template <class RunsOn, class Nodes, class Fields>
    [[nodiscard]] std::uint32_t counted(std::uint32_t attempts, RunsOn const& here, Nodes& nodes,
                                        Fields const& fields) const {
        if (all_healthy_ || attempts < 2) return attempts;
        std::uint32_t place = 0, no_help = 0;
        for (auto const& node : nodes) {
            if (states_[place++] == node_state::healthy) continue;
            auto&& name = project(fields.node, node);
            if (is_present(name)) no_help += count_there(here, unwrap(name));
        }
        if (no_help < 2) return attempts;
        return attempts > no_help ? attempts - no_help + 1 : 1;
    }

    // Why a copy may not go there, as far as no prediction is needed; `attempts` of the task run `here`.
    // Calls `can_run` last.
    template <class RunsOn, class Name, class CanRun>
    [[nodiscard]] std::optional<assign::backup_refusal> refusal(std::size_t node, Name const& name,
                                                                RunsOn const& here, std::uint32_t attempts,
                                                                CanRun&& can_run) const {
        using enum assign::backup_refusal;
        if (!is_present(name)) return unknown_node;
        if (runs_there(here, unwrap(name))) return same_node;
        if (states_[node] == node_state::excluded) return excluded;
        if (room_[node] == 0) return no_slot;
        if (states_[node] == node_state::on_probation && attempts == 0) return on_probation;
        if (!can_run()) return cannot_run;
        return std::nullopt;
    }

  private:
    std::vector<std::uint32_t> room_;
    std::vector<node_state> states_;
    bool all_healthy_ = true;
};

} // namespace straggle::detail
