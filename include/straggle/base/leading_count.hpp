// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of `rank/detail/censored_times.hpp` and `assign/detail/summed_times.hpp`: a branchless search
/// in sorted rows, for unpredictable positions.
#pragma once

#include <straggle/base/config.hpp>

#include <cstddef>

namespace straggle::inline STRAGGLE_ABI::detail {

// Length of the prefix for which `holds(row)` is true, assuming that it is false from there on. O(log n); no
// branch depends on a result.
template <class Holds>
[[nodiscard]] STRAGGLE_ALWAYS_INLINE std::size_t leading_count(std::size_t rows,
                                                               Holds const& holds) noexcept {
    std::size_t first = 0;
    for (std::size_t left = rows; left != 0;) {
        std::size_t const half = (left + 1) / 2;
        first += half * (holds(first + half - 1) ? 1u : 0u);
        left -= half;
    }
    return first;
}

} // namespace straggle::detail
