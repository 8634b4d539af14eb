// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "workload.hpp"

namespace cluster {

namespace {

constexpr double block = 64e6;

// Scales a task of average size: its actual work, not the size that a scheduler sees.
task_spec scaled(task_spec t, double factor) {
    t.read *= factor;
    t.fetch *= factor;
    t.flops *= factor;
    t.write *= factor;
    return t;
}

phase_spec phase(std::uint32_t tasks, task_spec const& usual, double spread, draw& random) {
    phase_spec p;
    for (std::uint32_t i = 0; i < tasks; ++i) p.tasks.push_back(scaled(usual, random.lognormal(spread)));
    return p;
}

} // namespace

job_spec word_count(workload_sizes const& s, draw& random) {
    job_spec job{.kind = "WordCount"};
    job.phases.push_back(
        phase(s.maps, {.read = block, .flops = s.flops, .write = block / 50}, s.spread, random));
    job.phases.push_back(phase(s.reduces, {.fetch = block / 20, .flops = s.flops / 4, .write = block / 20},
                               s.reduce_spread, random));
    return job;
}

job_spec sort(workload_sizes const& s, draw& random) {
    job_spec job{.kind = "Sort"};
    job.phases.push_back(
        phase(s.maps, {.read = 6 * block, .flops = s.flops / 3, .write = 6 * block}, s.spread, random));
    double const each = 6 * block * static_cast<double>(s.maps) / static_cast<double>(s.reduces);
    job.phases.push_back(
        phase(s.reduces, {.fetch = each, .flops = s.flops / 2, .write = each}, s.reduce_spread, random));
    return job;
}

job_spec bbp(workload_sizes const& s, draw& random) {
    job_spec job{.kind = "BBP"};
    phase_spec maps;
    for (std::uint32_t i = 0; i < s.maps; ++i) {
        double const late = 0.8 + 0.4 * static_cast<double>(i) / static_cast<double>(s.maps);
        maps.tasks.push_back(scaled({.flops = 1.5 * s.flops}, late * random.lognormal(s.spread / 2)));
        maps.tasks.back().input = late;
    }
    job.phases.push_back(std::move(maps));
    job.phases.push_back(phase(1, {.fetch = 1e6, .flops = s.flops / 10, .write = 1e6}, 0, random));
    return job;
}

std::vector<job_spec> arrivals(std::vector<std::string> const& kinds, workload_sizes const& sizes,
                               double mean_gap, double until, draw& random) {
    std::vector<job_spec> jobs;
    double at = 0;
    for (std::size_t i = 0; at < until; ++i) {
        std::string const& kind = kinds[i % kinds.size()];
        jobs.push_back(kind == "Sort"  ? sort(sizes, random)
                       : kind == "BBP" ? bbp(sizes, random)
                                       : word_count(sizes, random));
        jobs.back().arrival = at;
        at += random.exponential(mean_gap);
    }
    return jobs;
}

} // namespace cluster
