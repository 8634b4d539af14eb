// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Defines selection policies: small types that name the nodes worth avoiding, worst first. Limits decide how
/// many of them may actually be taken out. Also defines the paper's own policy.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/rank/ranking.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::blacklist {

/// A node that a policy considers weak, with the comparison behind it.
struct candidate {
    std::uint32_t node = 0;  ///< index into the nodes passed to the policy
    double value = 0;        ///< what was compared; defined by the policy
    double threshold = 0;    ///< what it was compared with
    std::string_view rule{}; ///< the part of a composed policy that named the node; empty: the policy itself
};

/// A policy's remark on the whole fleet, mostly when it selects no node.
enum class selection_note : std::uint8_t {
    none,                  ///< nothing out of the ordinary
    all_overlap,           ///< one level only: no node is provably slower than another
    too_few_nodes,         ///< fewer ranked nodes than the policy needs to judge
    unreachable_threshold, ///< the policy cannot select any node in a fleet of this size, regardless of the
                           ///< data
};

/// The name of the enumerator, for logs and JSON.
[[nodiscard]] constexpr std::string_view to_string(selection_note n) noexcept {
    switch (n) {
    case selection_note::none:
        return "none";
    case selection_note::all_overlap:
        return "all_overlap";
    case selection_note::too_few_nodes:
        return "too_few_nodes";
    case selection_note::unreachable_threshold:
        return "unreachable_threshold";
    }
    return "unknown";
}

} // namespace straggle::blacklist

namespace straggle::inline STRAGGLE_ABI::detail {

// Pooled count, mean and squared deviations of several nodes (Chan et al. 1979).
struct pooled_moments {
    double n = 0;
    double mean = 0;
    double m2 = 0;

    [[nodiscard]] pooled_moments with(pooled_moments const& other) const noexcept {
        if (!(other.n > 0)) return *this;
        if (!(n > 0)) return other;
        double const total = n + other.n;
        double const step = other.mean - mean;
        return {total, mean + step * (other.n / total), m2 + other.m2 + step * step * (n * other.n / total)};
    }
};

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::blacklist {

/// Working memory of policies, kept between decisions so that the steady state allocates nothing.
struct selection_scratch {
    std::vector<double> values;                ///< numbers to sort
    std::vector<std::uint32_t> order;          ///< indices of nodes
    std::vector<detail::pooled_moments> pools; ///< moments of groups of nodes
};

/// A rule that selects weak nodes among the ranked. `select(nodes, scratch, out)` appends them to `out`,
/// worst first; `nodes` come weakest level first, in order of first appearance within a level. `name` appears
/// in every verdict.
template <class Policy>
concept selection_policy = std::move_constructible<Policy> &&
                           requires(Policy& policy, std::span<ranked_node<std::uint64_t> const> nodes,
                                    selection_scratch& scratch, std::vector<candidate>& out) {
                               { policy.select(nodes, scratch, out) } -> std::same_as<selection_note>;
                               { Policy::name } -> std::convertible_to<std::string_view>;
                           };

} // namespace straggle::blacklist

namespace straggle::inline STRAGGLE_ABI::detail {

// Says in one line what a type lacks; the concept would take dozens.
template <class Policy>
consteval bool explain_selection() {
    using nodes = std::span<ranked_node<std::uint64_t> const>;
    constexpr bool is_object = std::is_class_v<Policy>;
    constexpr bool is_named = requires {
        { Policy::name } -> std::convertible_to<std::string_view>;
    };
    constexpr bool selects =
        requires(Policy& policy, nodes of, blacklist::selection_scratch& scratch,
                 std::vector<blacklist::candidate>& out) { policy.select(of, scratch, out); };
    static_assert(is_object,
                  "a selection is an object, such as blacklist::dominated{}, not a number: how much may be "
                  "taken out is said by a limit, such as blacklist::at_most_slot_fraction{0.2}");
    static_assert(!is_object || is_named, "a selection needs a name (a lambda has none: write a struct): add "
                                          "static constexpr std::string_view name = \"...\"");
    static_assert(
        !is_object || selects,
        "a selection needs select(std::span<Node const>, selection_scratch&, std::vector<candidate>&)");
    static_assert(!is_object || !is_named || !selects || blacklist::selection_policy<Policy>,
                  "select has to return a blacklist::selection_note");
    return true;
}

// Higher mean first, then earlier seen.
template <class Node>
constexpr bool is_worse(Node const& a, Node const& b) noexcept {
    return a.mean > b.mean || (!(b.mean > a.mean) && a.seen < b.seen);
}

template <class Node>
void worst_first(std::span<Node const> nodes, std::span<blacklist::candidate> candidates) {
    std::sort(candidates.begin(), candidates.end(),
              [nodes](blacklist::candidate const& a, blacklist::candidate const& b) {
                  return is_worse(nodes[a.node], nodes[b.node]);
              });
}

template <class Node>
constexpr std::size_t size_of_weakest_level(std::span<Node const> nodes) noexcept {
    std::size_t size = 0;
    while (size < nodes.size() && nodes[size].level == 0) ++size;
    return size;
}

template <class Node>
constexpr double largest_low(std::span<Node const> nodes) noexcept {
    double low = -(std::numeric_limits<double>::max)();
    for (Node const& node : nodes) low = node.ci.low > low ? node.ci.low : low;
    return low;
}

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::blacklist {

/// Every node of level 0: *P-Cores without number*. If all nodes are in one level, it selects none.
///
/// Source: DSB section 4.2.3, algorithm 3. Note what it means: "no node is provably slower" is not "provably
/// slow". With twenty equal nodes of fifty tasks each, it selects nearly every node that is by chance not
/// beaten; hence the library's default is `slower_by`.
///
/// Verdict: value = upper end of the interval, threshold = largest lower end of all.
/// @par Cost
/// O(nodes), plus sorting the selected; allocates nothing
struct weakest_level {
    static constexpr std::string_view name = "weakest_level";

    bool when_all_overlap = false; ///< select all nodes if there is only one level

    template <class Node>
    selection_note select(std::span<Node const> nodes, selection_scratch&,
                          std::vector<candidate>& out) const {
        std::size_t const size = detail::size_of_weakest_level(nodes);
        if (size == nodes.size() && !when_all_overlap)
            return nodes.empty() ? selection_note::too_few_nodes : selection_note::all_overlap;
        double const low = detail::largest_low(nodes);
        std::size_t const first = out.size();
        for (std::uint32_t i = 0; i < size; ++i) out.push_back({i, nodes[i].ci.high, low});
        detail::worst_first(nodes, std::span(out).subspan(first));
        return selection_note::none;
    }
};

} // namespace straggle::blacklist
