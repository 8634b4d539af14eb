// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// What can happen between a cluster and a policy: reports that arrive late, wrong or not at all, and a
/// scheduler that follows only part of the advice.
#pragma once

#include "../cluster/policy.hpp"

#include <cstdint>
#include <memory>

namespace lab {

struct distortions {
    double late_ends = 0;       ///< a policy learns of an end up to this many seconds later, uniformly
    double lost_reports = 0;    ///< share of the reports of progress that do not arrive
    double skew = 0;            ///< clocks of nodes are up to this many seconds ahead or behind
    std::uint32_t obeys = 1;    ///< only every n-th plan is obeyed; placement is requested in the others, too
    bool excludes_only = false; ///< no copies, kills or placement; only which nodes get tasks is obeyed
    friend bool operator==(distortions const&, distortions const&) = default;
};

/// Wraps a policy in these distortions.
std::unique_ptr<policy> distorted(std::unique_ptr<policy> of, distortions const& how, std::uint64_t seed);

} // namespace lab
