// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Records of a small cluster with numbers as names, and a mitigator of them that acts on every job.
#pragma once

#include <straggle/mitigate/mitigator.hpp>

#include <cstdint>

namespace straggle_test {

struct ended {
    std::uint32_t job, task, node;
    double start, end;
};
struct running {
    std::uint32_t job, task, node;
    double start;
};
struct plain_host {
    std::uint32_t name, slots;
};

inline auto make_mitigator() {
    straggle::mitigator_options options;
    options.effects.left_alone = 0;
    return straggle::mitigator(
        straggle::attempt_fields{.job = &ended::job,
                                 .task = &ended::task,
                                 .node = &ended::node,
                                 .start = &ended::start,
                                 .end = &ended::end},
        straggle::running_fields{
            .job = &running::job, .task = &running::task, .node = &running::node, .start = &running::start},
        straggle::node_fields{.node = &plain_host::name, .slots = &plain_host::slots}, options);
}

} // namespace straggle_test
