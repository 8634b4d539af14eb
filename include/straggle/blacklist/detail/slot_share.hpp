// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `blacklist/limits.hpp` and `blacklist/node_stage.hpp`: how much of a fleet may be out,
/// defined once for both.
#pragma once

#include <straggle/base/config.hpp>

#include <cstddef>

namespace straggle::inline STRAGGLE_ABI::detail {

// Sums of fractional slots or shares may be off by rounding.
inline bool at_most_with_rounding(double x, double limit) noexcept {
    return x <= limit + 1e-9 * (limit + 1.0);
}

// Whether a node with this many slots may join `out` nodes with `out_slots`. In a small fleet the share is
// less than a node: one node may be out anyway, if more than one node remains, and at least half of the
// slots.
inline bool is_in_share(double share, std::size_t fleet_size, double total_slots, std::size_t out,
                        double out_slots, double slots) noexcept {
    if (fleet_size < 3 || !(share > 0)) return false;
    return at_most_with_rounding(out_slots + slots, share * total_slots) ||
           (out == 0 && 2 * slots <= total_slots);
}

} // namespace straggle::detail
