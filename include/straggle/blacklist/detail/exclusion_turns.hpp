// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `blacklist/rolling_blacklister.hpp`: what it knows about a node in one window, and the
/// order in which it asks the limits about nodes.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/blacklist/detail/verdicts.hpp>
#include <straggle/blacklist/exclusion.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// What is kept about a node between windows.
struct node_record {
    blacklist::exclusion now;
    charge against;
    std::int64_t heard = never_heard;  // last window with a score of the node
    std::int64_t judged = never_heard; // last window whose scores counted

    static constexpr std::int64_t never_heard = (std::numeric_limits<std::int64_t>::min)();
};

// One node in one window.
template <class NodeId>
struct node_case {
    static constexpr std::uint32_t none = (std::numeric_limits<std::uint32_t>::max)();

    NodeId const* id = nullptr;
    blacklist::exclusion before;
    node_record after;
    std::uint32_t candidate = none; // index among the candidates
    bool silent = true;             // not in the ranking
    std::string_view spared_by;

    [[nodiscard]] bool was_out() const noexcept { return before.state != node_state::healthy; }
    [[nodiscard]] bool is_out() const noexcept { return after.now.state != node_state::healthy; }
    // Order in which limits are asked: avoided, on probation, newcomers.
    [[nodiscard]] int turn() const noexcept {
        if (!was_out()) return 2;
        return after.now.state == node_state::excluded ? 0 : 1;
    }
    // Order in a decision: avoided, on probation, spared.
    [[nodiscard]] int list() const noexcept {
        if (!spared_by.empty()) return 2;
        return after.now.state == node_state::excluded ? 0 : 1;
    }
};

// Sorts cases in the order in which limits are asked, the last to be released first: avoided nodes, then
// those on probation (both with the most recent exclusion first), then newcomers, worst first. A newcomer
// that is provably slower than a node that is out swaps places with the mildest such node: the newcomer's
// whole interval lies above the interval by which the other was last found weak. Overlapping intervals change
// nothing, so two similar nodes do not alternate.
class guard_turns {
  public:
    template <class NodeId>
    void arrange(std::span<node_case<NodeId> const> cases, std::vector<std::uint32_t>& order) {
        std::sort(order.begin(), order.end(), [cases](std::uint32_t i, std::uint32_t j) {
            node_case<NodeId> const &a = cases[i], &b = cases[j];
            if (a.turn() != b.turn()) return a.turn() < b.turn();
            if (a.turn() == 2) return a.candidate != b.candidate ? a.candidate < b.candidate : i < j;
            if (a.after.now.since != b.after.now.since) return a.after.now.since > b.after.now.since;
            return i < j;
        });
        auto const against = [&](std::size_t place) -> charge const& {
            return cases[order[place]].after.against;
        };
        // A restored exclusion has no interval to compare with, and keeps its place.
        mildest_.clear();
        std::size_t place = 0;
        for (; place < order.size() && cases[order[place]].was_out(); ++place)
            if (against(place).n > 0) mildest_.push_back(place);
        std::sort(mildest_.begin(), mildest_.end(), [&](std::size_t i, std::size_t j) {
            double const a = against(i).ci.high, b = against(j).ci.high;
            return a < b || (!(b < a) && i > j);
        });
        std::size_t next = 0;
        for (; place < order.size() && next < mildest_.size(); ++place)
            if (against(place).n > 0 && against(place).ci.low > against(mildest_[next]).ci.high)
                std::swap(order[place], order[mildest_[next++]]);
    }

  private:
    std::vector<std::size_t> mildest_; // places of nodes that are out, those with the least evidence first
};

} // namespace straggle::detail
