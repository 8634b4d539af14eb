// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `mitigate/speculator.hpp`: how full the node of each task was while the task ran.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/mitigate/copy_rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// For each node, the share of the other slots that are busy beside a task, integrated over time: a task only
// has to remember the integral at its start.
class node_crowds {
  public:
    void advance(double now, std::span<mitigate::place_row const> places, std::uint32_t most) {
        double const passed = has_begun_ && now > now_ ? now - now_ : 0.0;
        for (crowd& c : nodes_) c.sum += c.share * passed;
        for (mitigate::place_row const& p : places) {
            if (p.node >= most) continue;
            if (p.node >= nodes_.size()) nodes_.resize(p.node + std::size_t{1});
            std::uint32_t const busy = p.slots > p.free ? p.slots - p.free : 0;
            nodes_[p.node].share = busy > 1 ? (busy - 1.0) / (p.slots - 1.0) : 0.0;
        }
        if (!has_begun_ || now > now_) now_ = now;
        has_begun_ = true;
    }
    // The integral at a time since the last round or shortly before it.
    [[nodiscard]] double sum(std::uint32_t node, double time) const noexcept {
        return node < nodes_.size() ? nodes_[node].sum + nodes_[node].share * (time - now_) : 0.0;
    }
    // The mean share since a start at which the integral was `sum`; NaN: unknown.
    [[nodiscard]] double mean(std::uint32_t node, double start, double sum_then, double time) const noexcept {
        if (node >= nodes_.size() || !(time > start)) return std::numeric_limits<double>::quiet_NaN();
        return std::clamp((sum(node, time) - sum_then) / (time - start), 0.0, 1.0);
    }

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.has_begun_, self.now_);
        a.expect(is_finite(self.now_));
        a.items(self.nodes_, 16);
    }

  private:
    struct crowd {
        double sum = 0, share = 0;

        template <class Self, class Archive>
        static void fields(Self& self, Archive& a) {
            a(self.sum, self.share);
            a.expect(self.sum >= 0 && is_finite(self.sum) && self.share >= 0 && self.share <= 1);
        }
    };
    std::vector<crowd> nodes_{};
    double now_ = 0;
    bool has_begun_ = false;
};

} // namespace straggle::detail
