// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Where a copy can go, for policies that take any free node: the first node to report gets the container.
#pragma once

#include "../cluster/draw.hpp"
#include "../cluster/policy.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lab {

class free_slots {
  public:
    /// @param allowed whether a node may get copies at all
    template <class Allowed>
    void look(cluster_view const& view, Allowed allowed) {
        free_.clear();
        left_.assign(view.nodes.size(), 0);
        for (std::uint32_t n = 0; n < view.nodes.size(); ++n) {
            left_[n] = allowed(n) ? view.nodes[n].free() : 0;
            if (left_[n] > 0) free_.push_back(n);
        }
    }
    bool none() const { return free_.empty(); }
    std::span<std::uint32_t const> nodes() const { return free_; }

    /// Takes any node that has a free slot and runs no attempt of the task, all equally likely.
    /// @param attempts those of the task that run, among others of its job
    std::optional<std::uint32_t> take(std::span<running_attempt const> attempts, std::uint32_t task,
                                      draw& random) {
        std::size_t const from = free_.empty() ? 0 : random.below(free_.size());
        for (std::size_t i = 0; i < free_.size(); ++i) {
            std::uint32_t const n = free_[(from + i) % free_.size()];
            bool const there = std::any_of(attempts.begin(), attempts.end(), [&](running_attempt const& a) {
                return a.task == task && a.node == n;
            });
            if (there) continue;
            use(n);
            return n;
        }
        return std::nullopt;
    }
    void use(std::uint32_t node) {
        if (--left_[node] == 0) std::erase(free_, node);
    }

  private:
    std::vector<std::uint32_t> free_, left_;
};

} // namespace lab
