// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of `record/task_reader.hpp`, of the evidence in `rank/detail/` and of
/// `mitigate/detail/task_stage.hpp`: sorts rows by an evenly distributed number, such as a hash or an index;
/// pays from about a hundred rows, where mispredicted comparisons would take most of the time.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/grow.hpp>
#include <straggle/base/projection.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Rows from `first` on, before `last`.
struct row_share {
    std::uint32_t first, last;
};

// Memory that `spread_sort` keeps between calls, so that it allocates nothing once it has grown.
template <class Row>
struct spread_sort_scratch {
    std::vector<Row> rows{};
    std::vector<std::uint32_t> ends{};              // of shares
    std::vector<row_share> large{}, large_within{}; // shares that are not small
};

// Minimum number of rows to distribute; shares up to the second size are left to `sort_neighbours`.
inline constexpr std::size_t worth_dealing = 24, small_share = 8;

// Distributes rows to shares by the upper bits of their keys, and lists the large shares. `ends[s]` is the
// end of share s.
template <class Row, class Key>
void deal_rows(std::span<Row const> rows, Row* out, std::vector<std::uint32_t>& ends,
               std::vector<row_share>& large, Key key) {
    std::uint64_t least = ~std::uint64_t{0}, largest = 0;
    for (Row const& r : rows) {
        std::uint64_t const k = key(r);
        least = k < least ? k : least;
        largest = k > largest ? k : largest;
    }
    constexpr std::size_t most = std::size_t{1} << 16;
    std::size_t const shares = (std::min)(std::bit_ceil(rows.size()), most);
    int const wide = static_cast<int>(std::bit_width(largest - least));
    int const bits = static_cast<int>(std::bit_width(shares)) - 1;
    int const drop = wide > bits ? wide - bits : 0;
    auto const share_of = [&](Row const& r) { return static_cast<std::size_t>((key(r) - least) >> drop); };
    ends.assign(shares + 1, 0);
    for (Row const& r : rows) ++ends[share_of(r) + 1];
    large.clear();
    std::uint32_t end = 0;
    for (std::uint32_t& e : ends) {
        std::uint32_t const first = std::exchange(end, end + e);
        if (e > small_share) large.push_back({first, end});
        e = end;
    }
    for (Row const& r : rows) out[ends[share_of(r)]++] = r;
}
// One function for all calls, as pointers.
template <class Row, class Before>
STRAGGLE_NEVER_INLINE void sort_share(std::span<Row> rows, Before before) {
    std::sort(rows.data(), rows.data() + rows.size(), before);
}
// Sorts nearly sorted rows: each is at most a small share away from its place. Few neighbors are out of
// order, so the branch is predictable.
template <class Row, class Before>
void sort_neighbours(std::span<Row> rows, Before before) {
    for (std::size_t i = 1; i < rows.size(); ++i) {
        if (!before(rows[i], rows[i - 1])) continue;
        Row const row = rows[i];
        std::size_t at = i;
        do rows[at] = rows[at - 1];
        while (--at > 0 && before(row, rows[at - 1]));
        rows[at] = row;
    }
}

// Sorts rows: distributes by key, and many rows of one key by `next`. `before` must order by key first, then
// by `next`. O(n) if these are evenly spread between their extremes; always O(n log n).
template <class Row, class Key, class Next, class Before>
void spread_sort(std::vector<Row>& rows, spread_sort_scratch<Row>& scratch, Key key,
                 [[maybe_unused]] Next next, Before before) {
    if (rows.size() < worth_dealing) {
        sort_share(std::span(rows), before);
        return;
    }
    reserve_for(scratch.rows, rows.size());
    scratch.rows.resize(rows.size());
    deal_rows(std::span<Row const>(rows), scratch.rows.data(), scratch.ends, scratch.large, key);
    rows.swap(scratch.rows);
    for (row_share const& s : scratch.large) {
        std::span<Row> const share = std::span(rows).subspan(s.first, s.last - s.first);
        if constexpr (given<Next>) {
            auto const is_alike = [&](Row const& r) { return key(r) == key(share.front()); };
            if (share.size() >= worth_dealing && std::all_of(share.begin(), share.end(), is_alike)) {
                Row* const out = scratch.rows.data() + s.first;
                deal_rows(std::span<Row const>(share), out, scratch.ends, scratch.large_within, next);
                for (row_share const& within : scratch.large_within)
                    sort_share(std::span(out + within.first, within.last - within.first), before);
                std::copy(out, out + share.size(), share.begin());
                continue;
            }
        }
        sort_share(share, before);
    }
    sort_neighbours(std::span(rows), before);
}
// The same if many rows of one key are rare.
template <class Row, class Key, class Before>
void spread_sort(std::vector<Row>& rows, spread_sort_scratch<Row>& scratch, Key key, Before before) {
    spread_sort(rows, scratch, key, base::no_field{}, before);
}

} // namespace straggle::detail
