// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A mitigator inside a program that runs on oneTBB: four groups of workers, each with an arena, of which one
/// is three times as slow. Work stealing cannot help a task that a slow worker has started.

#include <straggle/mitigate.hpp>

#include <oneapi/tbb.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

using straggle::attempt_status;
struct attempt {
    unsigned job = 0, task = 0, group = 0;
    double start = 0, end = 0;
    attempt_status how = attempt_status::success;
    std::shared_ptr<std::atomic<bool>> done = std::make_shared<std::atomic<bool>>(); // of the task
};
struct worker_group {
    unsigned name, slots, busy;
    double factor; // unknown to the mitigator
    tbb::task_arena arena{2, 0};
    straggle::node_state said = straggle::node_state::healthy;
};
auto const now = [] { return (tbb::tick_count::now() - tbb::tick_count()).seconds(); };

double run(bool is_enabled, unsigned jobs, unsigned tasks) { // how long a job takes
    auto straggler = straggle::mitigator_of<attempt, attempt, worker_group>(
        straggle::attempt_fields{.job = &attempt::job,
                                 .task = &attempt::task,
                                 .node = &attempt::group,
                                 .start = &attempt::start,
                                 .end = &attempt::end,
                                 .status = &attempt::how},
        straggle::running_fields{
            .job = &attempt::job, .task = &attempt::task, .node = &attempt::group, .start = &attempt::start},
        straggle::node_fields{
            .node = &worker_group::name, .slots = &worker_group::slots, .busy = &worker_group::busy},
        {.is_enabled = is_enabled});
    std::vector<worker_group> groups{{0, 2, 0, 1}, {1, 2, 0, 1}, {2, 2, 0, 3}, {3, 2, 0, 1}};
    std::vector<attempt> running;
    tbb::concurrent_bounded_queue<attempt> ended;

    auto const start = [&](attempt a, std::size_t row) {
        ++groups[row].busy;
        a.group = groups[row].name;
        a.start = now();
        running.push_back(a);
        double const takes = (8 + (a.job * 31 + a.task * 17) % 10 * 0.4) / 1000 * groups[row].factor;
        groups[row].arena.enqueue([&ended, a, takes] {
            while (now() < a.start + takes && !*a.done) // works in pieces, and checks in between
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            auto const how = a.done->exchange(true) ? attempt_status::killed : attempt_status::success;
            ended.push({a.job, a.task, a.group, a.start, now(), how, a.done});
        });
    };
    auto const take_end = [&] { // waits for the end of an attempt; returns whether its task ended with it
        attempt a;
        ended.pop(a);
        --groups[a.group].busy;
        std::erase_if(running, [&](attempt const& r) { return r.done == a.done && r.group == a.group; });
        straggler.observe(a, now());
        return a.how == attempt_status::success;
    };

    double const begin = now();
    for (unsigned job = 0; job < jobs; straggler.finish(job++)) {
        double const submitted = now();
        for (unsigned begun = 0, left = tasks; left > 0; left -= take_end()) {
            for (; begun < tasks; ++begun) {
                auto const places = straggler.rank_places(job, groups, {.waiting = tasks - begun - 1});
                if (places.empty()) break; // the task waits
                start({job, begun}, places[0].row);
            }
            auto const& plan = straggler.decide(now(), running, groups, {.waiting = tasks - begun});
            for (auto const& n : plan.nodes())
                if (std::exchange(groups[n.row].said, n.state) != n.state)
                    std::printf("group %zu is %s\n", n.row, straggle::mitigate::reason(n).c_str());
            for (auto const& c : plan.copies())
                if (groups[c.node_row].busy < groups[c.node_row].slots) start(running[c.row], c.node_row);
        }
        std::printf("job %u: %.1f ms\n", job, 1000 * (now() - submitted));
    }
    while (!running.empty()) take_end(); // copies that lost
    return (now() - begin) / jobs;
}

int main() {
    tbb::global_control const threads(tbb::global_control::max_allowed_parallelism, 9);
    double const without = run(false, 40, 12), with = run(true, 40, 12);
    std::printf("a job takes %.1f ms, and %.1f ms without\n", 1000 * with, 1000 * without);
}
