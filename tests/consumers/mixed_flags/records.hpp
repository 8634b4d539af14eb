// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// What the units share: plain records, so that nothing but the library's own tag keeps their functions apart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct attempt {
    int job, node;
    std::int64_t took;
    double seconds;
    std::string host;
    double input;
};

struct running_task {
    int host;
    double progress, started, left;
};

struct machine {
    int id, free;
};

// What a mitigator is told.
struct ended_task {
    int job, task, node;
    double start, end;
};
struct live_task {
    int job, task, node;
    double start, progress;
};

std::vector<attempt> attempts_of_a_cluster();

using results = std::vector<double>;
results use_plain();
results use_vectors();
results use_fast_math();
