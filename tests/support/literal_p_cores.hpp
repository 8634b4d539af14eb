// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// P-Cores exactly as the paper prints it, O(n^2) edges and all: the oracle of the tests and a rival of the
/// bench. Shares no code with the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace straggle_test {

/// An input element of DSB algorithm 3.
struct machine {
    double low = 0;
    double high = 0;
    std::vector<std::uint32_t> out_edge{};
    std::vector<std::uint32_t> in_edge{};
};

/// The three readings of line 7.
enum class literal_rule {
    printed,        ///< High_1 <= Low_2, as algorithm 3 prints it
    text,           ///< High_1 < Low_2, as section 4.2.3 says
    not_same_point, ///< as printed, except between two copies of one point
};

/// Line 7 of algorithm 3.
inline bool literal_edge(literal_rule rule, machine const& a, machine const& b) {
    switch (rule) {
    case literal_rule::printed:
        return a.high <= b.low;
    case literal_rule::text:
        return a.high < b.low;
    case literal_rule::not_same_point: {
        bool const same_point = a.low == a.high && b.low == b.high && a.low == b.low;
        return a.high <= b.low && !same_point;
    }
    }
    return false;
}

/// Lines 1 to 13: fills the edge sets of all pairs.
inline void literal_edges(std::vector<machine>& machines, literal_rule rule) {
    for (machine& m : machines) {
        m.out_edge.clear();
        m.in_edge.clear();
    }
    for (std::uint32_t i = 0; i < machines.size(); ++i) {
        for (std::uint32_t j = 0; j < machines.size(); ++j) {
            if (i == j || !literal_edge(rule, machines[i], machines[j])) continue;
            machines[i].out_edge.push_back(j);
            machines[j].in_edge.push_back(i);
        }
    }
}

/// Lines 14 to 20: who has no edge out.
inline std::vector<std::uint32_t> literal_weakest(std::vector<machine> const& machines) {
    std::vector<std::uint32_t> ids;
    for (std::uint32_t i = 0; i < machines.size(); ++i)
        if (machines[i].out_edge.empty()) ids.push_back(i);
    return ids;
}

/// "Repeatedly records the weakest nodes at each iteration, removes them from the graph with all related
/// inward edges until there are no remaining nodes."
/// @return the iteration in which each node leaves; nothing when nodes remain but none can leave (a cycle)
inline std::optional<std::vector<std::uint32_t>> literal_levels(std::vector<machine>& machines,
                                                                literal_rule rule) {
    literal_edges(machines, rule);
    std::vector<std::size_t> edges_left(machines.size());
    for (std::size_t i = 0; i < machines.size(); ++i) edges_left[i] = machines[i].out_edge.size();
    std::vector<std::uint32_t> level(machines.size());
    std::vector<std::uint32_t> leaving = literal_weakest(machines);
    std::vector<std::uint32_t> next;
    std::size_t removed = 0;
    for (std::uint32_t iteration = 0; !leaving.empty(); ++iteration) {
        next.clear();
        for (std::uint32_t const node : leaving) {
            level[node] = iteration;
            ++removed;
            for (std::uint32_t const from : machines[node].in_edge)
                if (--edges_left[from] == 0) next.push_back(from);
        }
        std::swap(leaving, next);
    }
    if (removed != machines.size()) return std::nullopt;
    return level;
}

} // namespace straggle_test
