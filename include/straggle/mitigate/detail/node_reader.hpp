// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `mitigate/mitigator.hpp`: maps the entries of a plan to the user's nodes.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/projection.hpp>
#include <straggle/base/ranges.hpp>
#include <straggle/blacklist/node_rows.hpp>
#include <straggle/mitigate/copy_rows.hpp>
#include <straggle/mitigate/node_states.hpp>
#include <straggle/mitigate/plan.hpp>
#include <straggle/record/id_table.hpp>
#include <straggle/record/node.hpp>
#include <straggle/record/record_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

template <class Range>
[[nodiscard]] decltype(auto) row_of(Range& range, std::size_t row) {
    return *std::ranges::next(std::ranges::begin(range),
                              static_cast<std::ranges::range_difference_t<Range>>(row));
}

// The user's nodes, each with its entry in the last plan.
template <class Node, class Fields>
class node_reader : public node_rows<Node, Fields> {
    using base = node_rows<Node, Fields>;
    using base::busy_;
    using base::fields_;
    using base::rows_;
    using base::tables_;
    using base::user_rows_;

  public:
    using base::base;
    using typename base::node_id;

    // A node for `rank_places`: its state is from the last plan, its presence from this call. @pre it has a
    // name
    template <class Loop>
    [[nodiscard]] mitigate::place_row place_of(Node const& node, Loop const& loop) const {
        mitigate::place_row place{.node = tables_.ids.find(unwrap(project(fields_.node, node)))};
        std::uint32_t busy = 0;
        if constexpr (has_slots<Fields>) place.slots = read_count(project(fields_.slots, node), 1);
        if constexpr (has_busy<Fields>)
            busy = read_count(project(fields_.busy, node), 0);
        else if (place.node < busy_.size())
            busy = busy_[place.node];
        loop.describe(place);
        if (read_condition(fields_, node) == record::condition::away)
            place.state = node_state::away;
        else if (place.state == node_state::away)
            place.state = node_state::healthy; // it has returned
        place.free = place.slots > busy ? place.slots - busy : 0;
        return place;
    }

    // The nodes of a range that are present and can run a task, for `rank_places`.
    template <class Nodes, class Loop, class CanRun>
    void read_places(Nodes&& nodes, Loop const& loop, bool full_too, CanRun& can_run,
                     std::vector<mitigate::place_row>& out) const {
        out.clear();
        std::uint32_t row = 0;
        for (Node const& node : nodes) {
            std::uint32_t const at = row++;
            if (!is_present(project(fields_.node, node))) continue;
            mitigate::place_row place = place_of(node, loop);
            place.row = at;
            if (place.state == node_state::away || (place.free == 0 && !full_too)) continue;
            if (can_run(node)) out.push_back(place);
        }
    }
    // The part of a plan that other threads read.
    void fill(mitigate::node_states<node_id>& view, std::span<mitigate::planned_node const> planned) const {
        view.clear();
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            mitigate::planned_node const& n = planned[user_rows_[i]];
            if (n.state != node_state::healthy)
                view.add(tables_.ids[rows_[i].node], {n.state, n.probe_slots, n.slow});
        }
    }
};

} // namespace straggle::detail
