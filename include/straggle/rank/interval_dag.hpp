// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The graph behind the P-Cores levels, for inspection: which node is provably slower than which, the
/// transitive reduction, and a drawing in the DOT language. Rankings do not need it.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/rank/p_cores.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::rank {

/// Which edges of an `interval_dag` to draw.
enum class dag_edges : std::uint8_t {
    reduced, ///< only those not implied by transitivity (transitive reduction)
    all,     ///< every edge
};

/// The directed acyclic graph of DSB algorithm 3: an edge from each node to every provably slower one.
///
/// Source: DSB algorithm 3 and figure of section 4.2.3. Changed: edges are not stored. In the order of Low,
/// the nodes that a node points at are a suffix, and those it points at directly are the beginning of that
/// suffix, so n numbers represent up to n (n - 1) / 2 edges.
///
/// For example:
/// @code
/// auto const dag = straggle::interval_dag::from(low, high);
/// if (dag) for (std::uint32_t const slower : dag->edges_of(0)) std::puts(names[slower]);
/// @endcode
/// @par Guarantees
/// deterministic; immutable once built, so any number of threads may read it
class interval_dag {
  public:
    /// A graph without nodes.
    interval_dag() noexcept = default;

    /// The graph of nodes with intervals [low[i], high[i]].
    /// @param low and `high`: finite, low <= high, larger is slower
    /// @param rule when an edge is drawn
    /// @pre both have the same size, less than 2^32
    /// @return `status::out_of_domain` if a bound is NaN or infinite or some low > high
    /// @par Cost
    /// O(n log n) time for any number of edges; 12 bytes per node, plus 64 while building
    [[nodiscard]] static outcome<interval_dag> from(std::span<double const> low, std::span<double const> high,
                                                    edge_rule rule = edge_rule::closed) {
        STRAGGLE_EXPECTS(low.size() == high.size());
        STRAGGLE_EXPECTS(low.size() <= 0xffff'ffffu);
        interval_dag dag;
        if (low.empty()) return dag;
        if (!detail::levels::summarise(low.data(), high.data(), low.size()).valid)
            return status::out_of_domain;
        dag.sort_by_low(low, high, rule);
        dag.find_edges(low, high, rule);
        return dag;
    }

    /// Number of nodes.
    [[nodiscard]] std::size_t size() const noexcept { return begin_.size(); }

    /// The nodes that are provably slower than `node`, in the order of Low; ties: single points first (closed
    /// rule), then by index.
    /// @pre `node < size()`
    /// @par Cost
    /// O(1); noexcept but for the contract
    [[nodiscard]] std::span<std::uint32_t const> edges_of(std::size_t node) const {
        STRAGGLE_EXPECTS(node < size());
        return std::span(by_low_).subspan(begin_[node]);
    }

    /// The edges of `node` in the transitive reduction: no third node is provably slower than `node` and
    /// provably faster than one of these.
    /// @pre `node < size()`
    /// @par Cost
    /// O(1)
    [[nodiscard]] std::span<std::uint32_t const> reduced_edges_of(std::size_t node) const {
        STRAGGLE_EXPECTS(node < size());
        return std::span(by_low_).subspan(begin_[node], reduced_end_[node] - begin_[node]);
    }

    /// The edges of one node, of either kind.
    /// @pre `node < size()`
    [[nodiscard]] std::span<std::uint32_t const> edges_of(std::size_t node, dag_edges which) const {
        return which == dag_edges::all ? edges_of(node) : reduced_edges_of(node);
    }

    /// Number of edges.
    /// @par Cost
    /// O(n)
    [[nodiscard]] std::uint64_t edge_count(dag_edges which = dag_edges::all) const noexcept {
        std::uint64_t count = 0;
        for (std::size_t i = 0; i < size(); ++i)
            count += (which == dag_edges::all ? size() : reduced_end_[i]) - begin_[i];
        return count;
    }

    /// Appends the graph in the DOT language to `out`: nodes `n0`, `n1`, ... labeled with their names, edges
    /// from faster to provably slower.
    /// @param out the text to append to; if an allocation fails, it may be longer than before but stays valid
    /// @param name called with 0 .. size() - 1, returns something convertible to `std::string_view`. Any text
    /// is safe: quotes, backslashes, entities and control characters are escaped and displayed literally;
    /// bytes beyond ASCII pass through and should be UTF-8.
    /// @param which all edges, or only those not implied by transitivity
    /// @par Cost
    /// O(edges drawn + length of the names): up to n^2 / 2 edges
    template <class Name>
        requires std::invocable<Name&, std::size_t> &&
                 std::convertible_to<std::invoke_result_t<Name&, std::size_t>, std::string_view>
    void append_dot(std::string& out, Name&& name, dag_edges which = dag_edges::reduced) const {
        out += "digraph p_cores {\n";
        for (std::size_t i = 0; i < size(); ++i) {
            out += "  ";
            append_node(out, i);
            out += " [label=\"";
            auto&& owner = name(i); // may own the text
            append_escaped(out, std::string_view(owner));
            out += "\"];\n";
        }
        for (std::size_t i = 0; i < size(); ++i) {
            for (std::uint32_t const j : edges_of(i, which)) {
                out += "  ";
                append_node(out, i);
                out += " -> ";
                append_node(out, j);
                out += ";\n";
            }
        }
        out += "}\n";
    }

  private:
    // An edge means "end(i) < begin(j)" on a line where, at the same number, ends of proper intervals come
    // first, then single points, then beginnings of proper intervals.
    void sort_by_low(std::span<double const> low, std::span<double const> high, edge_rule rule) {
        std::size_t const n = low.size();
        std::vector<detail::levels::entry> nodes(n), other(n);
        // The stable sort puts `proper` first among equal ones.
        for (std::size_t i = 0; i < n; ++i)
            nodes[i] = {low[i], low[i], static_cast<std::uint32_t>(i), !(low[i] < high[i]), false};
        if (rule == edge_rule::closed)
            detail::levels::merge_sort<detail::levels::relation::touching_points>(nodes.data(), other.data(),
                                                                                  n);
        else
            detail::levels::merge_sort<detail::levels::relation::apart>(nodes.data(), other.data(), n);
        by_low_.resize(n);
        for (std::size_t i = 0; i < n; ++i) by_low_[i] = nodes[i].node;
    }

    void find_edges(std::span<double const> low, std::span<double const> high, edge_rule rule) {
        std::size_t const n = low.size();
        // first_end[p]: which of by_low_[p ...] ends first.
        std::vector<std::uint32_t> first_end(n);
        std::uint32_t first = by_low_[n - 1];
        for (std::size_t p = n; p-- > 0;) {
            std::uint32_t const i = by_low_[p];
            bool const earlier = high[i] < high[first] ||
                                 (high[i] <= high[first] && low[i] < high[i] && !(low[first] < high[first]));
            if (earlier) first = i;
            first_end[p] = first;
        }
        begin_.resize(n);
        reduced_end_.resize(n);
        // The first index in by_low_ that node i points at, at or after `from`.
        auto const first_after = [&](std::size_t i, std::size_t from) {
            std::size_t size = n - from;
            while (size > 0) {
                std::size_t const half = size / 2;
                std::uint32_t const j = by_low_[from + half];
                if (points_at(rule, low[i], high[i], low[j], high[j])) {
                    size = half;
                } else {
                    from += half + 1;
                    size -= half + 1;
                }
            }
            return from;
        };
        for (std::size_t i = 0; i < n; ++i) {
            std::size_t const begin = first_after(i, 0);
            // Nodes that begin after the first end among the slower ones are reached through that one.
            std::size_t const end = begin < n ? first_after(first_end[begin], begin) : n;
            begin_[i] = static_cast<std::uint32_t>(begin);
            reduced_end_[i] = static_cast<std::uint32_t>(end);
        }
    }

    static void append_node(std::string& out, std::size_t i) {
        char digits[20];
        std::size_t at = sizeof digits;
        do {
            digits[--at] = static_cast<char>('0' + i % 10);
            i /= 10;
        } while (i > 0);
        out += 'n';
        out.append(digits + at, sizeof digits - at);
    }

    static void append_escaped(std::string& out, std::string_view text) {
        constexpr std::string_view hex = "0123456789abcdef";
        for (char const c : text) {
            auto const code = static_cast<unsigned char>(c);
            if (c == '"') {
                out += "\\\"";
            } else if (c == '\\') { // else "\N" would show the node's name, and "\n" would break the line
                out += "\\\\";
            } else if (c == '&') { // else "&lt;" would show as "<"
                out += "&amp;";
            } else if (code < 0x20 || code == 0x7f) {
                out += "\\\\x";
                out += hex[code >> 4];
                out += hex[code & 15];
            } else {
                out += c;
            }
        }
    }

    std::vector<std::uint32_t> by_low_;      // all nodes
    std::vector<std::uint32_t> begin_;       // of each node's edges in by_low_, which extend to its end
    std::vector<std::uint32_t> reduced_end_; // of each node's edges in the transitive reduction
};

} // namespace straggle::rank
