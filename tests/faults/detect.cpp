// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Failed allocations while running tasks are watched.

#include "detect/jobs.hpp"
#include "support/fault_cases.hpp"
#include "support/faults.hpp"

#include <straggle/detect/average_time.hpp>
#include <straggle/detect/flink.hpp>
#include <straggle/detect/hierarchical.hpp>
#include <straggle/detect/job_progress.hpp>
#include <straggle/detect/largest_gain.hpp>
#include <straggle/detect/late.hpp>
#include <straggle/detect/late_with_caps.hpp>
#include <straggle/detect/mantri.hpp>
#include <straggle/detect/min_progress.hpp>
#include <straggle/detect/over_median.hpp>
#include <straggle/detect/progress_gap.hpp>
#include <straggle/detect/speculative_lag.hpp>
#include <straggle/detect/straggler_scan.hpp>
#include <straggle/detect/without_copies.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using straggle_test::check_failures;
using straggle_test::long_name;
using straggle_test::promise;
using straggle_test::seen_of;

// With so many tasks, and every other far behind.
straggle_test::job_data job_of(std::size_t tasks) {
    straggle_test::job_data job;
    job.nodes.resize(5);
    for (std::size_t i = 0; i < tasks; ++i) {
        straggle::detect::running_task t;
        t.progress = i % 2 == 0 ? 0.1 + 0.0001 * static_cast<double>(i) : 0.9;
        t.elapsed = 100 + static_cast<double>(i % 7);
        t.node = static_cast<std::uint32_t>(i % 2 == 0 ? 0 : 1 + i % 4);
        t.row = static_cast<std::uint32_t>(i);
        job.running.push_back(t);
    }
    for (std::size_t i = 0; i < 12 * tasks; ++i) {
        job.finished.push_back(20 + static_cast<double>(i % 5));
        auto& n = job.nodes[i % 5];
        ++n.finished;
        ++n.compared;
        n.total_time += job.finished.back();
        n.log_mean = 3;
    }
    job.age = 200;
    return job;
}

template <class Detector>
void check_detector(Detector const& detector) {
    auto small = job_of(6), large = job_of(400); // beyond 128 suspects they are sorted in another way
    straggle::detect::job_view const first = small.view(), second = large.view();
    check_failures(
        std::string(Detector::name).c_str(),
        [&] {
            straggle::detect::straggler_scan scan(detector);
            scan(first);
            return scan;
        },
        [&](auto& scan) { scan(second); },
        [](auto const& scan) {
            return std::pair(
                std::vector<straggle::detect::finding>(scan.findings().begin(), scan.findings().end()),
                scan.note());
        });
}

struct running_one {
    std::string host;
    double progress = 0;
    std::int64_t start = 0;
};
constexpr straggle::running_fields running_fields{
    .node = &running_one::host, .start = &running_one::start, .progress = &running_one::progress};
using job = straggle::detect::job_progress<std::string, std::int64_t>;

std::vector<running_one> tasks_on(int nodes, int tasks) {
    std::vector<running_one> all;
    for (int i = 0; i < tasks; ++i) all.push_back({long_name("host", i % nodes), 0.01 * (i % 100), i});
    return all;
}
job job_with(int finished, double input) {
    job j(100);
    j.running(tasks_on(3, 9), running_fields, std::int64_t{50});
    for (int i = 0; i < finished; ++i) j.observe(long_name("host", i % 4), 10.0 + i % 3, input);
    return j;
}
seen_of seen_in(job const& j) {
    job copy = j;
    straggle::detect::job_view const v = copy.view();
    seen_of s;
    for (auto const& t : v.running) {
        for (double const x : {t.progress, t.elapsed, t.input}) s.see(x);
        s.see(j.node(t.node));
        s.see(t.row);
    }
    for (double const x : v.finished) s.see(x);
    for (double const x : v.finished_per_input) s.see(x);
    for (auto const& n : v.nodes) {
        for (double const x : {n.total_time, n.slowdown, n.log_mean}) s.see(x);
        for (auto const x : {n.finished, n.compared}) s.see(x);
        for (auto const x : {n.running, n.most_running}) s.see(x);
    }
    for (double const x : {v.mean_finished, v.sd_finished, v.age, v.finished_input}) s.see(x);
    s.see(v.tasks);
    s.see(j.counts().seen);
    s.see(j.counts().used);
    return s;
}

} // namespace

TEST_CASE("straggler_scan: a failed allocation leaves the last suspects, whatever the rule") {
    using namespace straggle;
    check_detector(detect::average_time{});
    check_detector(detect::over_median{});
    check_detector(detect::over_median::spark_4());
    check_detector(detect::flink{.lower_bound = 1});
    check_detector(detect::progress_gap{});
    check_detector(detect::late{});
    check_detector(detect::late_with_caps{.cap_of_running = 1});
    check_detector(detect::late_with_caps::mr1());
    check_detector(detect::largest_gain<>{.most = 300});
    check_detector(detect::mantri<>{});
    check_detector(detect::hierarchical{detect::average_time{}});
    check_detector(detect::min_progress{detect::average_time{}});
    check_detector(detect::speculative_lag{detect::average_time{}});
    check_detector(detect::task_lag{detect::average_time{}});
    check_detector(detect::without_copies{detect::average_time{}});
}

TEST_CASE("job_progress: a failed allocation changes nothing") {
    for (int const n : {0, 7, 8, 16, 20})
        for (double const before : {1.0, 2.0})
            for (double const input : {1.0, 3.0})
                check_failures(
                    "finished", [=] { return job_with(n, before); },
                    [input](job& j) { j.observe(long_name("host", 50), 12.0, input); }, seen_in);
    check_failures(
        "set_slowdown", [] { return job_with(5, 1); },
        [](job& j) { j.set_slowdown(long_name("host", 50), 2.0); }, seen_in);
    check_failures(
        "view", [other = job_with(20, 2)] { return job(other); }, [](job& j) { (void)j.view(); }, seen_in);
    check_failures(
        "copy assignment", [] { return job_with(5, 1); }, [other = job_with(20, 2)](job& j) { j = other; },
        seen_in);
}

TEST_CASE("job_progress: a snapshot not read to its end leaves none, and the next one is whole") {
    auto const tasks = tasks_on(7, 40);
    check_failures(
        "running", [] { return job_with(5, 2); },
        [&](job& j) { j.running(tasks, running_fields, std::int64_t{60}); }, seen_in, promise::usable);
    std::size_t failures = 0;
    for (bool through = false; !through;) {
        job j = job_with(5, 2);
        try {
            straggle_test::failing_allocations const failing(failures + 1);
            j.running(tasks, running_fields, std::int64_t{60});
            through = true;
        } catch (std::bad_alloc const&) {
            ++failures;
        }
        CHECK(j.view().running.size() == (through ? tasks.size() : 0u));
        CHECK(j.counts().used == (through ? tasks.size() : 0u));
        CHECK(j.view().finished.size() == 5);
    }
    CHECK(failures > 0);
}
