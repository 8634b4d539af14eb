// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The slots that are free for copies in one round, and how a machine is chosen among them.
#pragma once

#include "../cluster/draw.hpp"
#include "../cluster/policy.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace policies {

class free_places {
  public:
    /// @param allowed whether a machine may get copies at all
    template <class Allowed>
    free_places(cluster::cluster_view const& view, Allowed allowed) {
        for (std::uint32_t n = 0; n < view.nodes.size(); ++n)
            free_.push_back(allowed(n) ? view.nodes[n].free() : 0);
    }

    std::uint32_t on(std::uint32_t node) const { return free_[node]; }
    std::uint32_t total() const {
        std::uint32_t sum = 0;
        for (std::uint32_t const f : free_) sum += f;
        return sum;
    }
    void take(std::uint32_t node) { --free_[node]; }

    /// Any machine with a free slot that does not run the task, all equally likely: the first machine to
    /// report gets the container.
    std::optional<std::uint32_t> any(cluster::running_view const& task, cluster::draw& random) const {
        std::vector<std::uint32_t> candidates;
        for (std::uint32_t n = 0; n < free_.size(); ++n)
            if (free_[n] > 0 && std::find(task.nodes.begin(), task.nodes.end(), n) == task.nodes.end())
                candidates.push_back(n);
        if (candidates.empty()) return std::nullopt;
        return candidates[straggle::base::uniform_below(random, candidates.size())];
    }

  private:
    std::vector<std::uint32_t> free_;
};

} // namespace policies
