// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The schedulers that the DSB experiments compare, by name.
#pragma once

#include "../cluster/policy.hpp"
#include "blacklists.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace policies {

/// A scheduler and what it has avoided.
struct scheduler {
    std::unique_ptr<cluster::policy> decides{};
    std::vector<blacklist_log> const* log = nullptr;
};

/// What a scheduler is made of.
struct scheduler_options {
    double window = 3600; ///< seconds
    std::uint32_t nodes = 0;
    std::uint64_t seed = 1;
    std::optional<std::size_t> k{}; ///< of `dsb_2019`: P-Cores with number
};

/// `none`: no copies, no machine avoided. `yarn`: YARN's speculation. `dsb_2019`: that, and the paper's
/// blacklist; `dsb_2019 told` counts attempts whose copy won, `dsb_2019 filled` fills up to k from the next
/// levels. `straggle_blacklist`: YARN's speculation and the library's default blacklist. `straggle`: that
/// blacklist, `node_aware` and the assigner.
scheduler make_scheduler(std::string const& name, scheduler_options const& how);

} // namespace policies
