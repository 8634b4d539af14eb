// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/rank_nodes.hpp`: the nodes of several rankers brought together.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/rank/relative_times.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// By node: what was added up of it, in the order in which nodes were first told.
template <class NodeId, class Scores, class Times>
class merged_nodes {
  public:
    void clear() noexcept {
        ids_.clear();
        scores_.clear();
        times_.clear();
        pairs_.clear();
    }
    // A ranker whose nodes are in slots below a number.
    void begin_shard(std::size_t slots) { place_.resize(slots); }
    void add(std::size_t slot, typename interner<NodeId>::key_type id, Scores const& scores,
             Times const& times) {
        std::uint32_t const at = ids_.insert(id);
        if (at == scores_.size()) {
            scores_.emplace_back();
            times_.emplace_back();
        }
        scores_[at].merge(scores);
        times_[at].merge(times);
        place_[slot] = at;
    }
    // The shard compares two of its nodes, both of which have been added.
    void link(std::size_t slot, std::size_t other) { pairs_.push_back({place_[slot], place_[other]}); }
    // To be called at the end.
    void join() {
        links_.reset(size());
        for (auto const& [a, b] : pairs_) links_.join(a, b);
    }

    [[nodiscard]] std::size_t size() const noexcept { return scores_.size(); }
    [[nodiscard]] NodeId const& id(std::size_t i) const { return ids_[static_cast<std::uint32_t>(i)]; }
    [[nodiscard]] Scores const& scores(std::size_t i) const noexcept { return scores_[i]; }
    [[nodiscard]] Times const& times(std::size_t i) const noexcept { return times_[i]; }
    // A number that all nodes have that are compared with each other.
    [[nodiscard]] std::uint32_t component(std::size_t i) noexcept {
        return links_.component(static_cast<std::uint32_t>(i));
    }

  private:
    interner<NodeId> ids_;
    std::vector<Scores> scores_;
    std::vector<Times> times_;
    std::vector<std::uint32_t> place_; // of the slots of a shard
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_;
    node_links links_;
};

} // namespace straggle::detail
