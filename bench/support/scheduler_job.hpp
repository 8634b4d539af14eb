// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A job as a scheduler has it in memory, for the benchmarks of detectors: its running tasks, some of them on
/// slow hosts, and those that have finished.
#pragma once

#include "lcg.hpp"

#include <straggle/detect/job_progress.hpp>
#include <straggle/record/running.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace straggle_bench {

/// A running task as its scheduler keeps it.
struct task {
    std::uint32_t host;
    double progress;
    double started;
    double input;
    std::int32_t attempts;
};

/// A task that has finished.
struct done_task {
    std::uint32_t host;
    double took;
    double input;
};

/// A job and the time it is looked at.
struct scheduler_job {
    std::vector<task> running;
    std::vector<done_task> done;
    double now = 0;

    [[nodiscard]] std::size_t tasks() const { return running.size() + done.size(); }
};

inline constexpr straggle::running_fields task_fields{.node = &task::host,
                                                      .start = &task::started,
                                                      .progress = &task::progress,
                                                      .input = &task::input,
                                                      .copies = &task::attempts};

/// Makes running tasks and as many that have finished, ten running ones per host, in random order of hosts.
/// Tasks take 100 on good hosts. `slow_per_cent` of the hosts need seven times as long; their tasks have
/// begun earlier and done less, so that every rule suspects these tasks and no others.
inline scheduler_job make_job(std::size_t tasks, std::uint32_t slow_per_cent, std::uint64_t seed = 42) {
    lcg random{seed};
    auto const hosts = static_cast<std::uint32_t>(tasks / 10);
    auto const between = [&](double low, double high) { return low + (high - low) * random.uniform(); };
    scheduler_job job;
    job.now = 1000;
    job.running.reserve(tasks);
    job.done.reserve(tasks);
    for (std::size_t i = 0; i < tasks; ++i) {
        std::uint32_t const host = random() % hosts;
        bool const slow = host % 100 < slow_per_cent;
        double const elapsed = slow ? between(160, 200) : between(60, 70);
        double const progress = elapsed / 100 * (slow ? 0.15 : 1.0) * between(0.92, 1.08);
        job.running.push_back({host, progress, job.now - elapsed, between(0.95, 1.05), 1});
    }
    for (std::size_t i = 0; i < tasks; ++i) {
        std::uint32_t host = random() % hosts;
        while (host % 100 < slow_per_cent) host = random() % hosts;
        job.done.push_back({host, between(92, 108), between(0.95, 1.05)});
    }
    return job;
}

/// The same job as the library keeps it.
using progress_of_job = straggle::detect::job_progress<std::uint32_t, double>;
inline progress_of_job watch(scheduler_job const& job) {
    progress_of_job watched(job.tasks());
    for (done_task const& d : job.done) watched.observe(d.host, d.took, d.input);
    watched.running(job.running, task_fields, job.now);
    return watched;
}

} // namespace straggle_bench
