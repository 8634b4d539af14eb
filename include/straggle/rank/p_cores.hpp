// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// P-Cores: ranks nodes into levels by their performance intervals, the weakest first. Nodes in one level are
/// indistinguishable; for every node outside level 0, some node is provably slower.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/outcome.hpp>
#include <straggle/rank/detail/p_cores_frontier.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace straggle::inline STRAGGLE_ABI::rank {

/// When node j counts as provably slower than node i: an edge from i to j.
///
/// Source: DSB algorithm 3, which prints High_i <= Low_j, and section 4.2.3, which says High_i < Low_j.
/// Changed: with a plain `<=`, two equal zero-width intervals point at each other and the peeling never ends,
/// which happens with real data. Both rules here are strict partial orders, so levels are always defined.
enum class edge_rule : std::uint8_t {
    closed, ///< High_i <= Low_j, unless both are the same single point
    open,   ///< High_i < Low_j
};

/// The name of the enumerator, for logs.
[[nodiscard]] constexpr std::string_view to_string(edge_rule rule) noexcept {
    switch (rule) {
    case edge_rule::closed:
        return "closed";
    case edge_rule::open:
        return "open";
    }
    return "unknown";
}

/// Whether there is an edge from node i to node j: j is provably slower.
///
/// Source: DSB algorithm 3, line 7; see `edge_rule` for the change.
/// @param rule when there is an edge
/// @param low_i and `high_i`, `low_j`, `high_j`: the intervals of the two nodes, all in the same unit
/// @return false if a bound is NaN
/// @par Guarantees
/// noexcept; irreflexive and transitive over valid intervals (low <= high, none NaN)
[[nodiscard]] constexpr bool points_at(edge_rule rule, double low_i, double high_i, double low_j,
                                       double high_j) noexcept {
    if (rule == edge_rule::open) return high_i < low_j;
    return high_i < low_j || (high_i <= low_j && (low_i < high_i || low_j < high_j));
}

/// The interface that ranks intervals into levels. `levels(low, high, level)` writes the level of each
/// interval, 0 for the weakest nodes, and returns the number of levels, or a status if an interval is
/// invalid.
/// @pre of the result: every level is less than the number returned
template <class Ranker>
concept ranker = std::copy_constructible<Ranker> &&
                 requires(Ranker& ranker, std::span<double const> bounds, std::span<std::uint32_t> level) {
                     { ranker.levels(bounds, bounds, level) } -> std::same_as<outcome<std::size_t>>;
                 };

/// Ranks intervals into levels.
///
/// Source: DSB algorithm 3 and section 4.2.3. Changed: no graph is built. An interval order needs none: the
/// levels follow from a descending sequence of bounds (the largest Low; the largest Low among the nodes below
/// it; ...). The result equals peeling the graph of all edges, node by node.
///
/// For example:
/// @code
/// straggle::p_cores cores;
/// auto const count = cores.levels(low, high, level); // level[i] == 0: no node is provably slower than i
/// @endcode
/// @par Guarantees
/// deterministic, and independent of the order of the nodes; one object must not be used by two threads at
/// once (it owns scratch memory), but several objects may. A copy copies the rule, not the scratch memory.
class p_cores {
  public:
    /// @param rule when there is an edge
    /// @par Cost
    /// none; allocates nothing
    explicit p_cores(edge_rule rule = edge_rule::closed) noexcept : rule_(rule) {}

    p_cores(p_cores const& other) noexcept : rule_(other.rule_) {}
    p_cores(p_cores&&) noexcept = default;
    p_cores& operator=(p_cores const& other) noexcept {
        rule_ = other.rule_;
        return *this;
    }
    p_cores& operator=(p_cores&&) noexcept = default;
    ~p_cores() = default;

    /// When there is an edge.
    [[nodiscard]] edge_rule rule() const noexcept { return rule_; }

    /// Makes later calls with up to `n` nodes free of allocations.
    /// @param n number of nodes
    /// @par Cost
    /// 68 bytes per node and 41 kB, most of it touched only with many levels; replaces earlier memory, and
    /// never shrinks
    void reserve(std::size_t n) {
        if (n <= first_.size()) return;
        detail::levels::scratch_array<detail::levels::entry> first(n);
        detail::levels::scratch_array<detail::levels::entry> second(n);
        detail::levels::scratch_array<detail::levels::bound> bounds(n);
        detail::levels::scratch_array<std::uint32_t> start(detail::levels::start_size(n));
        detail::levels::scratch_array<double> table(detail::levels::low_table::max_size);
        first_.swap(first);
        second_.swap(second);
        bounds_.swap(bounds);
        start_.swap(start);
        table_.swap(table);
    }

    /// The level of every node.
    /// @param low and `high`: the interval of node i is [low[i], high[i]]: finite, low <= high, larger is
    /// slower
    /// @param level receives the levels; 0 for the weakest, which have no outgoing edge
    /// @pre all three have the same size, less than 2^32
    /// @return the number of levels, 0 without nodes; `status::out_of_domain`, with nothing written, if a
    /// bound is NaN or infinite or some low > high
    /// @par Cost
    /// O(n) for few levels, O(n log n) at worst. Allocates like `reserve(n)`: only if there are more nodes
    /// than ever before. If that fails, nothing is written.
    /// @par Accuracy
    /// exact; -0.0 and +0.0 are equal
    outcome<std::size_t> levels(std::span<double const> low, std::span<double const> high,
                                std::span<std::uint32_t> level) {
        STRAGGLE_EXPECTS(low.size() == high.size() && low.size() == level.size());
        STRAGGLE_EXPECTS(low.size() <= max_nodes);
        if (low.empty()) return std::size_t{0};
        detail::levels::summary const s = detail::levels::summarise(low.data(), high.data(), low.size());
        if (!s.valid) return status::out_of_domain;
        reserve(low.size());
        return with_relation(s, [&]<detail::levels::relation R>(order<R>) {
            return outcome<std::size_t>(rank<R>(low.data(), high.data(), low.size(), s, level.data()));
        });
    }

    /// The nodes of level 0 only: those without an outgoing edge.
    /// @param low and `high`: as for `levels`
    /// @param nodes its front receives the indices of the weakest nodes in ascending order; the rest is left
    /// unspecified
    /// @pre all three have the same size, less than 2^32
    /// @return their number, 0 only without nodes; `status::out_of_domain`, with nothing written, as for
    /// `levels`
    /// @par Cost
    /// O(n); allocates nothing
    /// @par Guarantees
    /// noexcept, may be called by many threads at once
    outcome<std::size_t> weakest(std::span<double const> low, std::span<double const> high,
                                 std::span<std::uint32_t> nodes) const noexcept {
        STRAGGLE_EXPECTS(low.size() == high.size() && low.size() == nodes.size());
        STRAGGLE_EXPECTS(low.size() <= max_nodes);
        std::size_t const n = low.size();
        if (n == 0) return std::size_t{0};
        detail::levels::summary const s = detail::levels::summarise(low.data(), high.data(), n);
        if (!s.valid) return status::out_of_domain;
        return with_relation(s, [&]<detail::levels::relation R>(order<R>) {
            detail::levels::bound const top =
                detail::levels::find_extremes<R>(low.data(), high.data(), n, s).top;
            std::size_t count = 0;
            for (std::size_t i = 0; i < n; ++i) {
                nodes[count] = static_cast<std::uint32_t>(i);
                count += detail::levels::one_if(!detail::levels::is_below<R>(low[i], high[i], top));
            }
            return outcome<std::size_t>(count);
        });
    }

  private:
    static constexpr std::size_t max_nodes = 0xffff'ffffu;

    template <detail::levels::relation R>
    struct order {};

    template <class Work>
    outcome<std::size_t> with_relation(detail::levels::summary const& s, Work&& work) const {
        if (rule_ == edge_rule::open) return work(order<detail::levels::relation::apart>{});
        if (!s.has_points) return work(order<detail::levels::relation::touching>{});
        return work(order<detail::levels::relation::touching_points>{});
    }

    template <detail::levels::relation R>
    std::size_t rank(double const* low, double const* high, std::size_t n, detail::levels::summary const& s,
                     std::uint32_t* level) noexcept {
        auto const [top, first_low, first_high] = detail::levels::find_extremes<R>(low, high, n, s);
        detail::levels::bound* const bounds = bounds_.data();
        bounds[0] = top;
        std::size_t count = 1;
        while (detail::levels::is_below<R>(first_low, first_high, bounds[count - 1])) {
            if (many_levels(n, bounds, count, first_high)) {
                return detail::levels::rank_by_sorting<R>(
                    {low, high, n, first_high}, count,
                    {first_.data(), second_.data(), bounds, start_.data(), table_.data()}, level);
            }
            bounds[count] = detail::levels::next_bound<R>(low, high, n, bounds[count - 1]);
            ++count;
        }
        // No node is below the last bound.
        detail::levels::count_bounds<R>(low, high, n, bounds, count - 1, level);
        return count;
    }

    // Whether going bound by bound does not pay, judged by the progress of the first few.
    static bool many_levels(std::size_t n, detail::levels::bound const* bounds, std::size_t count,
                            double first_high) noexcept {
        constexpr std::size_t cache_resident = 32768;
        if (n > cache_resident) return true;
        if (count < 3) return false;
        if (count == detail::levels::max_passes) return true;
        double const done = bounds[0].low - bounds[count - 1].low;
        double const to_do = bounds[count - 1].low - first_high;
        return to_do >
               done * static_cast<double>(detail::levels::max_passes) / static_cast<double>(count - 1);
    }

    edge_rule rule_;
    detail::levels::scratch_array<detail::levels::entry> first_;
    detail::levels::scratch_array<detail::levels::entry> second_;
    detail::levels::scratch_array<detail::levels::bound> bounds_;
    detail::levels::scratch_array<std::uint32_t> start_;
    detail::levels::scratch_array<double> table_;
};

} // namespace straggle::rank
