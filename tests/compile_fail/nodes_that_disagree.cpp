// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// So are nodes.
// expect: \.node of attempts and of nodes can never be equal

#include <straggle/mitigate/mitigator.hpp>

#include <string>

#ifdef STRAGGLE_CONTROL
using id = int;
#else
using id = std::string;
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
};
struct host {
    id name;
};

void decide() {
    straggle::mitigator m{
        straggle::attempt_fields{.job = &ended::job,
                                 .task = &ended::task,
                                 .node = &ended::node,
                                 .start = &ended::start,
                                 .end = &ended::end},
        straggle::running_fields{
            .job = &task::job, .task = &task::task, .node = &task::node, .start = &task::start},
        straggle::node_fields{.node = &host::name}};
}
