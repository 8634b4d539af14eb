// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Against queueing theory: exponential arrivals and times, c servers, one queue (M/M/c). A queue forgets so
/// slowly that a run of any reasonable length is off by chance. So the cluster is compared with an exact
/// queue that serves the very same tasks, and that queue, which is fast, with theory.
#include "support.hpp"

#include "../cluster/attempt.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace {

using namespace lab;

// Erlang C: the mean wait, in service times.
double expected_wait(int servers, double load) {
    double const offered = servers * load;
    double term = 1, below = 0;
    for (int k = 0; k < servers; ++k) {
        below += term;
        term *= offered / (k + 1);
    }
    double const all_busy = term / (1 - load);
    return all_busy / (below + all_busy) / (servers * (1 - load));
}

// Each task in turn goes to the server that is free first.
template <class NextArrival, class NextService>
double wait_in_queue(int servers, std::size_t tasks, NextArrival arrival, NextService service) {
    std::priority_queue<double, std::vector<double>, std::greater<>> free;
    for (int i = 0; i < servers; ++i) free.push(0);
    double waited = 0;
    for (std::size_t i = 0; i < tasks; ++i) {
        double const comes = arrival(i), starts = std::max(comes, free.top());
        free.pop();
        free.push(starts + service(i));
        waited += starts - comes;
    }
    return waited / static_cast<double>(tasks);
}

plan queue_of(int servers, double load, std::uint64_t seed) {
    plan p;
    p.nodes.resize(static_cast<std::size_t>(servers));
    p.lucks = {{luck_kind::exponential}};
    p.heartbeat = 0.001; // ends are reported in rounds, which must not show
    p.seed = seed;
    draw arrivals(seed, 99);
    double now = 0;
    for (std::size_t i = 0; i < 40000; ++i) {
        now += arrivals.exponential(1 / (load * servers));
        p.jobs.push_back({.arrival = now, .tasks = {{1, 0}}});
    }
    return p;
}

TEST_CASE("waiting times are those of M/M/c within 2 %") {
    struct {
        int servers;
        double load;
    } const queues[] = {{1, 0.5}, {5, 0.7}, {10, 0.8}};
    std::uint64_t seed = 1;
    for (auto const& q : queues) {
        plan const p = queue_of(q.servers, q.load, ++seed);
        lab_checks::told none;
        double const simulated = run(p, none).first_wait;
        double const same = wait_in_queue(
            q.servers, p.jobs.size(), [&](std::size_t i) { return p.jobs[i].arrival; },
            [&](std::size_t i) {
                return start_attempt(p, {.job = static_cast<std::uint32_t>(i)}).record.took();
            });
        draw d(seed, 7);
        double now = 0;
        double const exact = wait_in_queue(
            q.servers, 8000000, [&](std::size_t) { return now += d.exponential(1 / (q.load * q.servers)); },
            [&](std::size_t) { return d.exponential(1); });
        CAPTURE(q.servers);
        CAPTURE(seed);
        CHECK(std::fabs(simulated / same - 1) < 0.01);
        CHECK(std::fabs(exact / expected_wait(q.servers, q.load) - 1) < 0.01);
        MESSAGE("M/M/" << q.servers << " at load " << q.load << ": " << simulated / same - 1 << " and "
                       << exact / expected_wait(q.servers, q.load) - 1);
    }
}

} // namespace
