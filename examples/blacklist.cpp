// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A scheduler that avoids weak nodes: it reports each attempt that ends and each that runs, and obeys the
/// decisions. Ten nodes: one becomes slow and recovers, one fails all its tasks.

#include <straggle/blacklist/dynamic_blacklist.hpp>

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

//! [records]
struct attempt {
    std::string job, host;
    int task = 0;
    double start = 0, end = 0; // minutes
    straggle::attempt_status how = straggle::attempt_status::success;
};
struct running {
    std::string job, host;
    int task = 0;
    double start = 0;
};
struct host {
    std::string name;
    int slots = 4;
};
//! [records]

namespace {

// Numbers from 0 to 1 that look random and are the same everywhere.
double noise(std::uint64_t& state) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 33) / 2147483648.0;
}

} // namespace

int main() {
    //! [blacklist]
    straggle::dynamic_blacklist list(
        straggle::attempt_fields{.job = &attempt::job,
                                 .task = &attempt::task,
                                 .node = &attempt::host,
                                 .start = &attempt::start,
                                 .end = &attempt::end,
                                 .status = &attempt::how},
        straggle::running_fields{
            .job = &running::job, .task = &running::task, .node = &running::host, .start = &running::start},
        straggle::node_fields{.node = &host::name, .slots = &host::slots});
    //! [blacklist]

    std::vector<host> hosts;
    for (int n = 0; n < 10; ++n) hosts.push_back({"n" + std::to_string(n)});
    std::uint64_t state = 1;
    std::vector<attempt> ahead; // still running
    std::string said;
    for (int minute = 0; minute < 360; ++minute) {
        // A job of twenty tasks every two minutes, on the nodes that are in service.
        for (int task = 0; minute % 2 == 0 && task < 20; ++task) {
            host const& h = hosts[static_cast<std::size_t>(task) % hosts.size()];
            auto const* const held = list.decision().find(h.name);
            bool const first = task < 10;
            if (held != nullptr && held->state == straggle::node_state::excluded) continue;
            if (held != nullptr && held->state == straggle::node_state::on_probation && !first) continue;
            bool const slow = h.name == "n4" && minute >= 60 && minute < 240;
            bool const fails = h.name == "n7" && minute >= 120 && minute < 180;
            double const took = fails ? 0.1 : (1 + noise(state)) * (slow ? 2 : 1);
            double const start = minute + noise(state) / 8;
            ahead.push_back({"job-" + std::to_string(minute), h.name, task, start, start + took,
                             fails ? straggle::attempt_status::failed : straggle::attempt_status::success});
        }
        //! [decide]
        double const now = minute + 1;
        std::vector<attempt> still;
        std::vector<running> runs;
        for (attempt const& a : ahead) {
            if (a.end <= now) {
                list.observe(a, now);
            } else {
                still.push_back(a);
                runs.push_back({a.job, a.host, a.task, a.start});
            }
        }
        auto const& decision = list.decide(now, runs, hosts);
        //! [decide]
        ahead = still;

        std::string says;
        for (auto const& v : decision.blacklisted())
            says += " avoid " + v.id + " (" + std::string(v.rule) + "), strike " + std::to_string(v.strikes) +
                    ";";
        for (auto const& v : decision.on_probation()) says += " try " + v.id + ";";
        if (says != said)
            std::cout << minute + 1 << " min:" << (says.empty() ? " all in service" : says) << '\n';
        said = says;
    }
}
