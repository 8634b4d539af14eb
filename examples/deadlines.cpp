// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Jobs with deadlines: a mitigator copies what saves a deadline, and says which jobs will miss theirs.

#include <straggle/mitigate.hpp>

#include <iostream>
#include <optional>
#include <string>
#include <vector>

namespace {

struct attempt {
    std::string job;
    int task;
    std::string node;
    double start, end;
};
//! [fields]
struct task {
    std::string job;
    int number;
    std::string node;
    double start;
    std::optional<double> due; // when its job has to end; empty: no deadline
    double weight;             // how many times as much the job counts as another
};
constexpr straggle::running_fields running{.job = &task::job,
                                           .task = &task::number,
                                           .node = &task::node,
                                           .start = &task::start,
                                           .deadline = &task::due,
                                           .weight = &task::weight};
//! [fields]
struct host {
    std::string name;
    int slots;
};

} // namespace

int main() {
    straggle::mitigator m(straggle::attempt_fields{.job = &attempt::job,
                                                   .task = &attempt::task,
                                                   .node = &attempt::node,
                                                   .start = &attempt::start,
                                                   .end = &attempt::end},
                          running, straggle::node_fields{.node = &host::name, .slots = &host::slots});
    std::vector<host> const hosts{{"a", 4}, {"b", 4}, {"c", 4}, {"d", 4}};

    // Two similar jobs: all but one of their tasks took about 10 s, and the last has been running for 25 s.
    for (std::string const job : {"report", "archive"})
        for (int t = 0; t < 20; ++t)
            m.observe({job, t, hosts[static_cast<std::size_t>(t) % 4].name, 100, 109 + 0.1 * t}, 111);
    std::vector<task> const tasks{{"report", 20, "a", 100, 140, 1}, {"archive", 20, "b", 100, 400, 1}};

    //! [plan]
    auto const& plan = m.decide(125, tasks, hosts);
    for (auto const& j : plan.jobs())
        std::cout << tasks[j.row].job << ": " << straggle::mitigate::reason(j) << '\n';
    for (auto const& c : plan.copies())
        std::cout << "a copy of " << tasks[c.row].job << " on " << hosts[c.node_row].name << '\n';
    //! [plan]
}
