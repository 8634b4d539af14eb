// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The policies that are compared, by name. Each is in a file of its own, which adds it to the list.
#pragma once

#include "../cluster/policy.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lab {

/// What is known about a cluster before anything runs.
struct setup {
    std::uint32_t nodes = 0;
    std::uint32_t slots = 0; ///< of all nodes
    double heartbeat = 1;    ///< seconds between two rounds
    double launch = 0;       ///< seconds before an attempt begins to work
    std::uint64_t seed = 1;  ///< of the run, for policies that draw
};

struct policy_entry {
    std::string_view name;
    std::string_view what; ///< in one line
    bool is_rival = false; ///< an existing policy to compare with: neither the library nor a yardstick
    std::unique_ptr<policy> (*make)(setup const&) = nullptr;
    bool on_request = false; ///< runs only if it is named
};

/// All of them, sorted by name.
std::vector<policy_entry> const& all_policies();

/// @throws std::runtime_error if there is no such policy
policy_entry const& find_policy(std::string_view name);

/// A static object of this type adds a policy.
struct add_policy {
    explicit add_policy(policy_entry const& entry);
};

} // namespace lab
