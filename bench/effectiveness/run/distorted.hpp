// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What can stand between a cluster and a policy: news that come late, wrong or not at all, and a scheduler
/// that does only a part of what it is advised to.
#pragma once

#include "../cluster/policy.hpp"

#include <cstdint>
#include <memory>

namespace lab {

struct distortions {
    double late_ends = 0;       ///< a policy learns of an end up to so many seconds later, all equally likely
    double lost_reports = 0;    ///< share of the reports of progress that do not arrive
    double skew = 0;            ///< clocks of nodes are up to so many seconds ahead or behind
    std::uint32_t obeys = 1;    ///< each so many-th plan; placement is asked of the others, too
    bool excludes_only = false; ///< no copy, no kill, no placement; which nodes get tasks is obeyed
    friend bool operator==(distortions const&, distortions const&) = default;
};

/// A policy that sees the cluster so, and is obeyed so.
std::unique_ptr<policy> distorted(std::unique_ptr<policy> of, distortions const& how, std::uint64_t seed);

} // namespace lab
