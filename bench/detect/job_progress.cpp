// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The cost of passing a job to the detectors: reading a snapshot of its running tasks, with hosts that are
/// numbers or names; sorting the finished tasks, a hundredth of them new since the last look; and the whole
/// way from snapshot to suspects by `late`.
///
/// The rivals do what a scheduler would: a std::unordered_map from host to index and a loop over the tasks;
/// sorting and summing up all times again; the rule over the tasks themselves. They check nothing.

#include "support/plain_rules.hpp"
#include "support/scheduler_job.hpp"

#include <straggle/detect/late.hpp>
#include <straggle/detect/straggler_scan.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

namespace plain = straggle_bench::plain;
using straggle_bench::done_task;
using straggle_bench::scheduler_job;

template <class Host>
struct snapshot {
    Host host;
    double progress, started, input;
    std::int32_t attempts;
};
template <class Host>
constexpr straggle::running_fields fields{.node = &snapshot<Host>::host,
                                          .start = &snapshot<Host>::started,
                                          .progress = &snapshot<Host>::progress,
                                          .input = &snapshot<Host>::input,
                                          .copies = &snapshot<Host>::attempts};

void set_host(std::uint32_t& host, std::uint32_t number) {
    host = number;
}
void set_host(std::string& host, std::uint32_t number) {
    host = "node" + std::to_string(number) + ".rack.example";
}

scheduler_job job_of(benchmark::State const& state) {
    return straggle_bench::make_job(static_cast<std::size_t>(state.range(0)), 5);
}

template <class Host>
std::vector<snapshot<Host>> tasks_of(scheduler_job const& job) {
    std::vector<snapshot<Host>> tasks;
    for (auto const& t : job.running) {
        tasks.push_back({Host(), t.progress, t.started, t.input, t.attempts});
        set_host(tasks.back().host, t.host);
    }
    return tasks;
}

// Two snapshots in turn: in the second, a hundredth of the tasks has ended, and as many have begun.
template <class Host>
std::array<std::vector<snapshot<Host>>, 2> two_looks(scheduler_job const& job) {
    auto const tasks = tasks_of<Host>(job);
    std::array<std::vector<snapshot<Host>>, 2> looks{tasks, {}};
    for (std::size_t i = 0; i < tasks.size(); ++i)
        if (i % 100 != 37) looks[1].push_back(tasks[i]);
    for (std::size_t i = 0; looks[1].size() < tasks.size(); i += 7) looks[1].push_back(tasks[i]);
    return looks;
}

template <class Host>
void BM_running(benchmark::State& state) {
    scheduler_job const job = job_of(state);
    auto const tasks = two_looks<Host>(job);
    straggle::detect::job_progress<Host, double> watched;
    watched.running(tasks[0], fields<Host>, job.now); // makes room
    std::size_t look = 0;
    for (auto _ : state)
        benchmark::DoNotOptimize(watched.running(tasks[++look % 2], fields<Host>, job.now).used);
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

template <class Host>
void BM_running_plain(benchmark::State& state) {
    scheduler_job const job = job_of(state);
    auto const tasks = two_looks<Host>(job);
    struct seen {
        std::uint32_t host;
        double progress, elapsed, input;
        std::int32_t attempts;
    };
    std::unordered_map<Host, std::uint32_t> hosts;
    std::vector<seen> running;
    std::size_t look = 0;
    for (auto _ : state) {
        running.clear();
        for (auto const& t : tasks[++look % 2]) {
            auto const host = hosts.try_emplace(t.host, static_cast<std::uint32_t>(hosts.size())).first;
            running.push_back({host->second, t.progress, job.now - t.started, t.input, t.attempts});
        }
        benchmark::DoNotOptimize(running.data());
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

// One in a hundred of the finished tasks is new at each look; after a round of 10 looks the job starts anew.
constexpr std::size_t looks = 10;

template <class Start, class Finish, class Look>
void look_again(benchmark::State& state, scheduler_job const& job, Start start, Finish finish, Look look) {
    std::size_t const fresh = job.done.size() / 100, old = job.done.size() - looks * fresh;
    std::size_t at = job.done.size();
    for (auto _ : state) {
        if (at == job.done.size()) {
            state.PauseTiming();
            start();
            for (at = 0; at < old; ++at) finish(job.done[at]);
            look();
            state.ResumeTiming();
        }
        for (std::size_t const end = at + fresh; at < end; ++at) finish(job.done[at]);
        look();
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

void BM_finished(benchmark::State& state) {
    scheduler_job const job = job_of(state);
    straggle_bench::progress_of_job watched;
    look_again(
        state, job, [&] { watched.clear(); },
        [&](done_task const& d) { watched.observe(d.host, d.took, d.input); },
        [&] { benchmark::DoNotOptimize(watched.view().mean_finished); });
}

void BM_finished_plain(benchmark::State& state) {
    scheduler_job const job = job_of(state);
    std::vector<double> times, sorted, per_input;
    look_again(
        state, job,
        [&] {
            times.clear();
            per_input.clear();
        },
        [&](done_task const& d) {
            times.push_back(d.took);
            per_input.push_back(d.took / d.input);
        },
        [&] {
            sorted = times;
            std::sort(sorted.begin(), sorted.end());
            std::sort(per_input.begin(), per_input.end());
            double const mean = plain::mean_of(times);
            double squares = 0;
            for (double const t : times) squares += (t - mean) * (t - mean);
            benchmark::DoNotOptimize(std::sqrt(squares / static_cast<double>(times.size())));
        });
}

void BM_look(benchmark::State& state) {
    scheduler_job const job = job_of(state);
    straggle_bench::progress_of_job watched = straggle_bench::watch(job);
    straggle::detect::straggler_scan scan{straggle::detect::late{.alpha = 0.5}};
    scan(watched.view()); // sorts the finished tasks
    for (auto _ : state) {
        watched.running(job.running, straggle_bench::task_fields, job.now);
        benchmark::DoNotOptimize(scan(watched.view()).size());
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

void BM_look_plain(benchmark::State& state) {
    scheduler_job const job = job_of(state);
    for (auto _ : state) benchmark::DoNotOptimize(plain::late(job, 0.5).data());
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

void sizes(benchmark::internal::Benchmark* b) {
    b->ArgName("tasks")->Unit(benchmark::kMicrosecond);
    for (std::int64_t const tasks : {1'000, 10'000, 100'000, 1'000'000}) b->Arg(tasks);
}

BENCHMARK(BM_running<std::uint32_t>)->Apply(sizes)->Name("BM_snapshot/straggle_numbers");
BENCHMARK(BM_running_plain<std::uint32_t>)->Apply(sizes)->Name("BM_snapshot/plain_numbers");
BENCHMARK(BM_running<std::string>)->Apply(sizes)->Name("BM_snapshot/straggle_names");
BENCHMARK(BM_running_plain<std::string>)->Apply(sizes)->Name("BM_snapshot/plain_names");
BENCHMARK(BM_finished)->Apply(sizes)->Name("BM_finished/straggle");
BENCHMARK(BM_finished_plain)->Apply(sizes)->Name("BM_finished/plain");
BENCHMARK(BM_look)->Apply(sizes)->Name("BM_look/straggle");
BENCHMARK(BM_look_plain)->Apply(sizes)->Name("BM_look/plain");

} // namespace
