// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Jobs that are numbers in one record and text in the other are never the same.
// expect: \.job of attempts that ended and of those that run can never be equal

#include <straggle/blacklist/dynamic_blacklist.hpp>

#include <string>

#ifdef STRAGGLE_CONTROL
using id = int;
#else
using id = std::string;
#endif

struct ended {
    int job, node;
    double start, end;
};
struct task {
    id job;
    int node;
    double start;
};

void decide() {
    straggle::attempt_fields const ends{
        .job = &ended::job, .node = &ended::node, .start = &ended::start, .end = &ended::end};
    straggle::running_fields const runs{.job = &task::job, .node = &task::node, .start = &task::start};
    straggle::dynamic_blacklist<ended, std::remove_const_t<decltype(ends)>, task,
                                std::remove_const_t<decltype(runs)>>
        list(ends, runs, {});
}
