// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A finished month, as ML-NA learns from it: which machines were weak in all of it, and what its days were
/// like.
#pragma once

#include <straggle/learn/features.hpp>
#include <straggle/learn/forecast.hpp>
#include <straggle/learn/weak_nodes.hpp>

#include <cstddef>
#include <cstdint>
#include <random>

namespace ml_na {

using period = straggle::learn::node_period<std::uint32_t>;

/// How features of the last few days are computed.
inline constexpr straggle::learn::feature_options lately{.look_back = 3};

struct month {
    straggle::status labeled = straggle::status::ok; ///< if not, no machine is called weak
    straggle::learn::weak_nodes found{};             ///< how
    period whole{};                                  ///< each day with all days before it
    period last_days{};                              ///< each day with the two before it
};

/// Looks back on a month. @param engine seeds the groups
inline month look_back(straggle::learn::node_days<std::uint32_t> const& days, std::mt19937_64& engine) {
    month m;
    straggle::learn::weak_node_finder find;
    m.labeled = find(days.table(m.whole.features), engine, m.found);
    for (std::size_t row = 0; row < days.size(); ++row) m.whole.nodes.push_back(days.node(row));
    m.whole.weak = m.found.weak;
    m.last_days.nodes = m.whole.nodes;
    m.last_days.weak = m.whole.weak;
    days.table(m.last_days.features, lately);
    return m;
}

/// Share of its machines that were called weak.
inline double weak_share(month const& m) {
    if (m.found.groups.empty()) return 0;
    return static_cast<double>(m.found.groups[0].nodes) / static_cast<double>(m.whole.nodes.size());
}

} // namespace ml_na
