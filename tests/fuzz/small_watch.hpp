// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// A watch whose bounds a few lines reach.
#pragma once

#include "examples/programs/straggle-watch/watch.hpp"

namespace fuzzing {

inline straggle_watch::watch_options small_watch() {
    straggle_watch::watch_options o;
    o.most_running = 20;
    o.mitigator.most_nodes = 10;
    o.mitigator.most_jobs = 64;
    o.longest_line = 4096;
    return o;
}

} // namespace fuzzing
