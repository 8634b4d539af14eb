// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/rank_nodes.hpp`: combines the nodes of several rankers.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/interner.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/rank/detail/job_effects.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Sums per node, in order of first appearance.
template <class NodeId, class Scores>
class merged_nodes {
  public:
    void clear() noexcept {
        ids_.clear();
        scores_.clear();
    }
    // Starts a ranker whose node slots are below a number.
    void begin_shard(std::size_t slots) { place_.assign(slots, job_effects::nowhere); }
    void add(std::size_t slot, typename interner<NodeId>::key_type id, Scores const& scores) {
        std::uint32_t const at = ids_.insert(id);
        if (at == scores_.size()) scores_.emplace_back();
        scores_[at].merge(scores);
        place_[slot] = at;
    }
    // For each slot of the last shard.
    [[nodiscard]] std::span<std::uint32_t const> places() const noexcept { return span_of(place_); }

    [[nodiscard]] std::size_t size() const noexcept { return scores_.size(); }
    [[nodiscard]] NodeId const& id(std::size_t i) const { return ids_[static_cast<std::uint32_t>(i)]; }
    [[nodiscard]] Scores const& scores(std::size_t i) const noexcept { return scores_[i]; }

  private:
    interner<NodeId> ids_;
    std::vector<Scores> scores_;
    std::vector<std::uint32_t> place_;
};

} // namespace straggle::detail
