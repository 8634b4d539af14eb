// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of P-Cores: the path for many levels. A node can affect the bounds only if no other interval
/// lies inside its own. A small table built from a sample filters out most of the others; if few nodes are
/// left, only they are sorted, otherwise all are.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/rank/detail/p_cores_sort.hpp>

#include <cstddef>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::detail::levels {

// The largest Low by bucket of High: a node whose Low is no larger than one in an earlier bucket contains
// that node.
class low_table {
  public:
    static constexpr int max_log2 = 12;
    static constexpr std::size_t max_size = std::size_t{1} << max_log2;

    low_table(double* table, int log2_buckets, bucket_map const& bucket) noexcept
        : table_(table), size_(std::size_t{1} << log2_buckets), bucket_(bucket) {
        for (std::size_t b = 0; b < size_; ++b) table_[b] = minus_infinity;
    }
    STRAGGLE_ALWAYS_INLINE void add(double low, double high) noexcept {
        double& best = table_[bucket_(high)];
        if (low > best) best = low;
    }
    void finish() noexcept {
        double best = minus_infinity;
        for (std::size_t b = 0; b < size_; ++b) {
            double const here = table_[b];
            table_[b] = best;
            best = here > best ? here : best;
        }
    }
    // A single point at the Low of an interval that contains it is a weaker bound than the interval: keep
    // both.
    template <relation R>
    STRAGGLE_ALWAYS_INLINE bool matters(double low, double high) const noexcept {
        double const best = table_[bucket_(high)];
        return R == relation::touching_points ? low >= best : low > best;
    }

  private:
    double* table_;
    std::size_t size_;
    bucket_map bucket_;
};

// Memory for n nodes, most of it untouched unless there are many levels.
struct frontier_scratch {
    entry* first;         // n
    entry* second;        // n
    bound* bounds;        // n
    std::uint32_t* start; // start_size(n)
    double* table;        // low_table::max_size
};

struct node_range {
    double const* low;
    double const* high;
    std::size_t size;
    double first_high; // the smallest
};

// Up to this many bounds are found by one pass per bound; more are found faster by sorting.
inline constexpr std::size_t max_passes = 16;

// Up to this many bounds are searched for each node's level; beyond, all nodes are sorted.
inline constexpr std::size_t most_searched = 4096;

// Copies the nodes below `b` that may affect the bounds to `scratch.first` and returns their number; a result
// above a quarter of all means that there are too many and the copy may be incomplete.
template <relation R>
std::size_t gather(node_range const& nodes, bound const& b, frontier_scratch const& scratch) noexcept {
    constexpr std::size_t sample = 16384;
    constexpr std::size_t trial = 128;
    double const* const low = nodes.low;
    double const* const high = nodes.high;
    std::size_t const n = nodes.size;
    int const wanted = floor_log2(n) - 1;
    int const log2_buckets = wanted > low_table::max_log2 ? low_table::max_log2 : wanted;
    low_table table(scratch.table, log2_buckets, bucket_map(nodes.first_high, b.low, log2_buckets));
    std::size_t const stride = n / sample + 1;
    for (std::size_t i = 0; i < n; i += stride)
        if (is_below<R>(low[i], high[i], b)) table.add(low[i], high[i]);
    table.finish();
    auto const matters = [&](std::size_t i) {
        return one_if(is_below<R>(low[i], high[i], b)) & one_if(table.matters<R>(low[i], high[i]));
    };
    // A sample shows whether filtering pays. An odd step does not resonate with regular data.
    std::size_t const step = (n / trial) | 1;
    std::size_t tried = 0;
    std::size_t mattering = 0;
    for (std::size_t i = step / 2; i < n; i += step) {
        ++tried;
        mattering += matters(i);
    }
    if (3 * mattering > tried) return n;
    entry* const out = scratch.first;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
        out[kept] = {high[i], low[i], static_cast<std::uint32_t>(i), low[i] < high[i], false};
        kept += matters(i);
    }
    if (stride == 1 || kept < sample / 4) return kept;
    // The sample's table misses some; a table of all remaining nodes does not.
    low_table full(scratch.table, log2_buckets, bucket_map(nodes.first_high, b.low, log2_buckets));
    for (std::size_t i = 0; i < kept; ++i) full.add(out[i].low, out[i].high);
    full.finish();
    std::size_t left = 0;
    for (std::size_t i = 0; i < kept; ++i) {
        entry const e = out[i];
        out[left] = e;
        left += one_if(full.matters<R>(e.low, e.high));
    }
    return left;
}

// Sorts the first m entries and walks them down from bound `b`. Calls `next(bound)` for each new bound and
// `at(node)` for each entry, both in descending order.
template <relation R, class Next, class At>
STRAGGLE_ALWAYS_INLINE void sweep(frontier_scratch const& scratch, std::size_t m, double first_high, bound b,
                                  Next&& next, At&& at) noexcept {
    entry* const s = sort_by_high<R>(scratch.first, scratch.second, scratch.start, m, first_high, b.low);
    double best = s[0].low;
    bool best_proper = s[0].proper;
    for (std::size_t i = 0; i < m; ++i) {
        if constexpr (R == relation::touching_points)
            best_proper = s[i].low > best ? s[i].proper : best_proper || (s[i].low >= best && s[i].proper);
        best = s[i].low > best ? s[i].low : best;
        s[i].low = best;
        s[i].best_proper = best_proper;
    }
    for (std::size_t i = m; i-- > 0;) {
        // At the bound, only whether the node is a point matters, and its Low was overwritten.
        double const own_low = R == relation::touching_points && s[i].proper ? -no_cap : s[i].high;
        if (is_below<R>(own_low, s[i].high, b)) {
            b = {s[i].low, R == relation::touching_points && !s[i].best_proper ? s[i].low : no_cap};
            next(b);
        }
        at(s[i].node);
    }
}

// level = number of bounds a node is below, for up to `most_searched` bounds.
template <relation R>
void search_bounds(node_range const& nodes, bound const* bounds, std::size_t count, std::uint32_t* start,
                   std::uint32_t* level) noexcept {
    double const highest = bounds[0].low;
    double const lowest = bounds[count - 1].low;
    int const wanted = floor_log2(count) + 4; // mostly at most one bound per bucket
    int const possible = floor_log2(nodes.size);
    int const log2_buckets = wanted < possible ? wanted : possible;
    std::size_t const buckets = std::size_t{1} << log2_buckets;
    bucket_map const bucket(lowest, highest, log2_buckets);
    // start[b + 1]: number of bounds in buckets after b, which is where those of bucket b begin.
    std::size_t k = 0;
    for (std::size_t b = buckets; b-- > 0;) {
        start[b + 1] = static_cast<std::uint32_t>(k);
        while (k < count && bucket(bounds[k].low) >= b) ++k;
    }
    start[0] = static_cast<std::uint32_t>(count);
    for (std::size_t i = 0; i < nodes.size; ++i) {
        double const l = nodes.low[i];
        double const h = nodes.high[i];
        double const from_below = h > lowest ? h : lowest;
        std::size_t const b = bucket(from_below < highest ? from_below : highest);
        std::size_t begin = start[b + 1];
        std::size_t size = start[b] - begin;
        for (; size > 1; size -= size / 2)
            begin += is_below<R>(l, h, bounds[begin + size / 2 - 1]) ? size / 2 : 0;
        // Nodes of this bucket are not below bounds of earlier buckets, and no node is below the last bound.
        level[i] = static_cast<std::uint32_t>(begin + one_if(is_below<R>(l, h, bounds[begin])));
    }
}

// Levels of all nodes, with the first `count` bounds in `scratch.bounds`. Returns the number of levels.
// @pre some node is below the last known bound
template <relation R>
std::size_t rank_by_sorting(node_range const& nodes, std::size_t count, frontier_scratch const& scratch,
                            std::uint32_t* level) noexcept {
    constexpr std::size_t worth_a_table = 256;
    bound const b = scratch.bounds[count - 1];
    if (nodes.size >= worth_a_table) {
        std::size_t const m = gather<R>(nodes, b, scratch);
        if (m <= nodes.size / 4) {
            std::size_t total = count;
            sweep<R>(
                scratch, m, nodes.first_high, b, [&](bound const& next) { scratch.bounds[total++] = next; },
                [](std::uint32_t) {});
            if (total <= max_passes) {
                count_bounds<R>(nodes.low, nodes.high, nodes.size, scratch.bounds, total - 1, level);
                return total;
            }
            if (total <= most_searched) {
                search_bounds<R>(nodes, scratch.bounds, total, scratch.start, level);
                return total;
            }
        }
    }
    count_bounds<R>(nodes.low, nodes.high, nodes.size, scratch.bounds, count, level);
    std::size_t m = 0;
    for (std::size_t i = 0; i < nodes.size; ++i) {
        double const l = nodes.low[i];
        double const h = nodes.high[i];
        scratch.first[m] = {h, l, static_cast<std::uint32_t>(i), l < h, false};
        m += one_if(is_below<R>(l, h, b));
    }
    // Counting only nodes below the last known bound gives one level fewer than there are bounds.
    std::uint32_t total = static_cast<std::uint32_t>(count);
    sweep<R>(
        scratch, m, nodes.first_high, b, [&](bound const&) { ++total; },
        [&](std::uint32_t node) { level[node] = total - 1; });
    return total;
}

} // namespace straggle::detail::levels
