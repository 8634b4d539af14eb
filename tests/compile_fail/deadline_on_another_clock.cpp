// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Starts in seconds, and a deadline as a point in time of a clock.
// expect: \.start and \.deadline of attempts that run have to be points in time of one clock

#include <straggle/mitigate/mitigator.hpp>

#include <chrono>

#ifdef STRAGGLE_CONTROL
using when = double;
#else
using when = std::chrono::system_clock::time_point;
#endif

struct ended {
    int job;
    int task, node;
    double start, end;
};
struct task {
    int job;
    int task;
    int node;
    double start;
    when deadline;
};
struct host {
    int name;
};

void decide() {
    straggle::mitigator m{straggle::attempt_fields{.job = &ended::job,
                                                   .task = &ended::task,
                                                   .node = &ended::node,
                                                   .start = &ended::start,
                                                   .end = &ended::end},
                          straggle::running_fields{.job = &task::job,
                                                   .task = &task::task,
                                                   .node = &task::node,
                                                   .start = &task::start,
                                                   .deadline = &task::deadline},
                          straggle::node_fields{.node = &host::name}};
}
