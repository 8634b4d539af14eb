// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// A small cluster, and what all units share: the plan of one of them is read by another.
#pragma once

#include <straggle/mitigate/mitigator.hpp>

#include <string>
#include <vector>

struct ended {
    std::string job;
    int task, node;
    double start, end;
};
struct running {
    std::string job;
    int task, node;
    double start;
};
struct host {
    int name, slots;
};

inline constexpr straggle::attempt_fields ended_fields{.job = &ended::job,
                                                       .task = &ended::task,
                                                       .node = &ended::node,
                                                       .start = &ended::start,
                                                       .end = &ended::end};
inline constexpr straggle::running_fields running_fields{
    .job = &running::job, .task = &running::task, .node = &running::node, .start = &running::start};
inline constexpr straggle::node_fields host_fields{.node = &host::name, .slots = &host::slots};

// Twenty rounds; node 3 takes three times as long. What was decided in all of them, as text.
template <class Mitigator>
std::string decide_rounds(Mitigator& m) {
    std::vector<host> hosts;
    for (int n = 0; n < 8; ++n) hosts.push_back({n, 2});
    std::string said;
    for (int round = 1; round <= 20; ++round) {
        double const now = 10.0 * round;
        std::string const job = "job" + std::to_string(round / 4);
        std::vector<running> now_running;
        for (int n = 0; n < 8; ++n) {
            m.observe({job, 8 * round + n, n, now - (n == 3 ? 9 : 3) - n % 2, now}, now);
            now_running.push_back({job, 1000 + 8 * round + n, n, now - 1});
        }
        now_running.push_back({job, 1, 3, 1});
        auto const& plan = m.decide(now, now_running, hosts);
        for (auto const& n : plan.nodes()) said += straggle::to_string(n.state).front();
        for (auto const& c : plan.copies()) said += std::to_string(c.row) + ">" + std::to_string(c.node_row);
        for (auto const& p : m.rank_places(job, hosts)) said += "p" + std::to_string(p.row);
        said += ' ';
    }
    return said;
}

std::string decided_by_headers();
std::string decided_by_own_stage();
std::size_t copies_of(straggle::mitigation_plan const& plan); // in the unit of headers
