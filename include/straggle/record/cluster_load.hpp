// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How busy the cluster is: what decides whether a slot that a decision takes away is missed by anybody.
#pragma once

#include <cstdint>

namespace straggle {

/// What a scheduler knows of its queue and slots when it asks for a decision.
struct cluster_load {
    std::uint64_t waiting = 0; ///< tasks that are ready to run and have no slot
    std::uint64_t slots = 0;   ///< slots of all nodes that are not away; 0: count them from the nodes
    std::uint64_t busy = 0;    ///< slots that run something; read where `slots` is given

    friend constexpr bool operator==(cluster_load const&, cluster_load const&) = default;
};

} // namespace straggle
