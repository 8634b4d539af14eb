// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `mitigate/detail/mitigation_loop.hpp`: what was decided about each node, and whether the
/// scheduler followed it.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/finite.hpp>

#include <cstddef>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::detail {

struct node_memory {
    bool is_allowed = false; // its exclusion passed the limits
    bool is_charged = false; // and the scheduler followed it
    double since = 0;        // when the exclusion was allowed
    double newest_start = -1e300;
    std::uint64_t verdict = 0;                        // last round with a verdict on it
    std::size_t shown = static_cast<std::size_t>(-1); // index in the last plan

    template <class Self, class Archive>
    static void fields(Self& self, Archive& a) {
        a(self.is_allowed, self.is_charged, self.since, self.newest_start);
        a.expect(are_finite(self.since, self.newest_start));
    }
};

} // namespace straggle::detail
