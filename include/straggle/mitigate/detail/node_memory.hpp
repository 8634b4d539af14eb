// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `mitigate/detail/mitigation_loop.hpp`: what was decided about each node, and whether the
/// scheduler followed it.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/record/node_state.hpp>
#include <straggle/record/slowdown.hpp>

#include <cstddef>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::detail {

struct node_memory {
    bool is_allowed = false; // its exclusion passed the limits
    bool is_charged = false; // and the scheduler followed it
    double since = 0;        // when the exclusion was allowed
    double newest_start = -1e300;
    std::uint64_t verdict = 0;   // last round with a verdict on it
    std::size_t row = not_shown; // in the last plan, and what that says of it:
    slowdown slow{};
    std::uint32_t probe_slots = 0;
    node_state state = node_state::healthy;
    std::uint8_t causes = 0;

    static constexpr std::size_t not_shown = static_cast<std::size_t>(-1);
    [[nodiscard]] bool is_shown() const noexcept { return row != not_shown; }

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.is_allowed, self.is_charged, self.since, self.newest_start);
        a.expect(are_finite(self.since, self.newest_start));
    }
};

} // namespace straggle::detail
