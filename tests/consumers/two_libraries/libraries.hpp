// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// What the two libraries offer to the program, and what they share.
#pragma once

#include <straggle/base/contract.hpp>
#include <straggle/base/library_version.hpp>
#include <straggle/record/attempt.hpp>

#include <cstdint>
#include <vector>

struct attempt {
    int job, node;
    std::int64_t took;
};
inline constexpr straggle::attempt_fields fields{
    .job = &attempt::job, .node = &attempt::node, .duration = &attempt::took};

// What a library found out.
struct account {
    straggle::version const* version; // where it is in this program
    std::vector<double> means;        // of the nodes, as ranked
    std::vector<int> avoided;
};

namespace avoid {
account judge(std::vector<attempt> const& attempts);
void break_a_contract();
} // namespace avoid

namespace watch {
account judge(std::vector<attempt> const& attempts);
straggle::base::contract_handler install(straggle::base::contract_handler handler);
} // namespace watch
