// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of `record/task_reader.hpp`, of the evidence in `rank/detail/` and of
/// `mitigate/detail/late_scan.hpp`: sorts rows by a number that is spread evenly, as a hash or an index is;
/// also of a hundred rows, where comparisons that are guessed wrong would take most of the time.
#pragma once

#include <straggle/base/config.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// What `spread_sort` keeps from one time to the next, so that it allocates nothing once it has grown.
template <class Row>
struct spread_sort_scratch {
    std::vector<Row> rows{};
    std::vector<std::uint32_t> starts{};
};

// Sorts rows: dealt by the upper bits of their keys, then sorted share by share. `before` must put a row of a
// smaller key first. O(n) where keys are spread evenly between the least and the largest; always O(n log n).
template <class Row, class Key, class Before>
void spread_sort(std::vector<Row>& rows, spread_sort_scratch<Row>& scratch, Key key, Before before) {
    constexpr std::size_t few = 24, share = 2, most = std::size_t{1} << 16;
    std::size_t const n = rows.size();
    if (n < few) {
        std::sort(rows.begin(), rows.end(), before);
        return;
    }
    std::uint64_t least = ~std::uint64_t{0}, largest = 0;
    for (Row const& r : rows) {
        std::uint64_t const k = key(r);
        least = k < least ? k : least;
        largest = k > largest ? k : largest;
    }
    std::size_t const shares = (std::min)(std::bit_ceil(n / share), most);
    int const wide = static_cast<int>(std::bit_width(largest - least));
    int const bits = static_cast<int>(std::bit_width(shares)) - 1;
    int const drop = wide > bits ? wide - bits : 0;
    auto const share_of = [&](Row const& r) { return static_cast<std::size_t>((key(r) - least) >> drop); };
    scratch.starts.assign(shares + 1, 0);
    for (Row const& r : rows) ++scratch.starts[share_of(r) + 1];
    for (std::size_t s = 0; s < shares; ++s) scratch.starts[s + 1] += scratch.starts[s];
    scratch.rows.resize(n);
    for (Row const& r : rows) scratch.rows[scratch.starts[share_of(r)]++] = r; // now each start is the end
    rows.swap(scratch.rows);
    auto const place = [&](std::size_t i) { return rows.begin() + static_cast<std::ptrdiff_t>(i); };
    for (std::size_t s = 0, first = 0; s < shares; ++s) {
        std::size_t const last = scratch.starts[s];
        if (last - first > 1) std::sort(place(first), place(last), before);
        first = last;
    }
}

} // namespace straggle::detail
