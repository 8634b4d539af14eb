// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The machines of a plan as SimGrid knows them, with the faults that change their speed.
#pragma once

#include "plan.hpp"

#include <simgrid/s4u.hpp>

#include <vector>

namespace cluster {

struct machine {
    simgrid::s4u::Host* host = nullptr;
    simgrid::s4u::Disk* disk = nullptr;
};

/// Builds the platform; the master has a host of its own that draws no power.
std::vector<machine> build_machines(plan const& what, simgrid::s4u::Host*& master);

/// Starts the actors that make machines faster and slower; they end with the last regular actor.
void start_faults(plan const& what, std::vector<machine> const& machines);

} // namespace cluster
