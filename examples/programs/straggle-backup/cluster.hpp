// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The nodes on which copies may be launched: their slots, what runs there, and which must not be used.
#pragma once

#include "running.hpp"

#include <straggle/assign/backup_fields.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace straggle_backup {

/// Why a node must not be used.
enum class exclusion : std::uint8_t {
    none,
    by_user,    ///< --avoid
    by_state,   ///< the state in NODES
    by_history, ///< the blacklist
};
[[nodiscard]] std::string_view to_string(exclusion e);

struct cluster_node {
    std::uint32_t id = 0; ///< in the table of names
    std::uint32_t slots = 0, free = 0;
    std::uint32_t running = 0, copies = 0; ///< attempts, and those of them that are copies
    straggle::node_state state = straggle::node_state::healthy;
    exclusion why = exclusion::none;
    std::string told_state{}; ///< in NODES
    std::optional<std::uint32_t> rack{};
    double slowdown = 0; ///< how much longer tasks take there than elsewhere; 0: unknown
};

/// A node that the blacklist would have excluded, except for a limit.
struct spared_node {
    std::uint32_t id = 0;
    std::string_view limit{};
};

enum class slots_from { option, file, history };

struct cluster {
    std::vector<cluster_node> nodes{}; ///< in the order of NODES, else of first appearance
    std::vector<spared_node> spared{};
    std::vector<std::string> unknown_avoided{}; ///< names in --avoid that no file has
    slots_from source = slots_from::history;
    std::uint64_t slots = 0, rows = 0;   ///< all of the nodes; of NODES
    program::unreadable_rows rejected{}; ///< rows of NODES
};

/// All nodes, before any is avoided. A `failure` names file and line.
[[nodiscard]] cluster read_cluster(options const& o, history const& past, snapshot const& now,
                                   name_table& names, bool show_progress);

/// Marks the nodes to avoid according to the user, or to the history.
void avoid(cluster& c, options const& o, history const& past, name_table const& names);

} // namespace straggle_backup
