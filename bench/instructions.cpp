// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Kernels whose instructions are counted, not timed: counts repeat on any load of the machine, so a
/// regression shows. `instructions.py` runs each kernel under callgrind, which counts inside `counted` only.

#include "support/lcg.hpp"
#include "support/scheduler_job.hpp"

#include <straggle/straggle.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

using straggle_bench::lcg;

double sink = 0;

} // namespace

// Callgrind starts to count on entry and stops on return; the script looks for this name.
extern "C" [[gnu::noinline]] void counted(void (*work)(void*), void* context) {
    work(context);
}

namespace {

template <class Work>
void count(Work work) {
    work(); // fills caches and scratch: the steady state is what counts
    counted([](void* context) { (*static_cast<Work*>(context))(); }, &work);
}

template <class Id, class Duration>
struct record {
    Id job, node;
    Duration duration;
};

template <class Id, class Duration, class MakeId>
void rank_nodes(MakeId make_id) {
    using attempt = record<Id, Duration>;
    constexpr straggle::attempt_fields fields{
        .job = &attempt::job, .node = &attempt::node, .duration = &attempt::duration};
    std::vector<attempt> attempts;
    lcg random;
    for (std::uint32_t i = 0; i < 100'000; ++i) {
        std::uint32_t const job = i / 100 + random() % 8;
        attempts.push_back(
            {make_id(job), make_id(random() % 1000), static_cast<Duration>(1000 + random() % 999)});
    }
    straggle::node_ranker<attempt, std::remove_const_t<decltype(fields)>> ranker(fields);
    count([&] { sink += static_cast<double>(ranker.rank(attempts).levels()); });
}

struct ended {
    std::uint32_t job, node;
    std::int64_t duration;
};
constexpr straggle::attempt_fields ended_fields{
    .job = &ended::job, .node = &ended::node, .duration = &ended::duration};

// A few hundred jobs run at a time; nearly every attempt is the only one of its job on its node.
std::vector<ended> ends_of_attempts() {
    std::vector<ended> attempts;
    lcg random;
    for (std::uint32_t i = 0; i < 100'000; ++i) {
        std::uint32_t const job = i / 100 + random() % 100;
        attempts.push_back({job, random() % 1000, 1000 + random() % 999});
    }
    return attempts;
}

using watch = straggle::monitor<ended, std::remove_const_t<decltype(ended_fields)>>;

// `known`: the pairs of jobs and nodes exist already; otherwise all of them are new.
void monitor_observe(bool known) {
    auto const attempts = ends_of_attempts();
    watch monitor(ended_fields);
    count([&] {
        if (!known) monitor.clear();
        for (ended const& a : attempts) monitor.observe(a);
        sink += static_cast<double>(monitor.pairs());
    });
}

void monitor_rank() {
    watch monitor(ended_fields);
    for (ended const& a : ends_of_attempts()) monitor.observe(a);
    count([&] { sink += static_cast<double>(monitor.rank().levels()); });
}

void intervals(std::size_t size) {
    lcg random;
    std::vector<double> low, high;
    std::vector<std::uint32_t> level(size);
    for (std::size_t i = 0; i < size; ++i) {
        double const mean = random.uniform() + random.uniform() + random.uniform() - 1.5;
        double const half = 0.2 + 0.3 * random.uniform();
        low.push_back(mean - half);
        high.push_back(mean + half);
    }
    straggle::rank::p_cores cores;
    count([&] { sink += static_cast<double>(cores.levels(low, high, level).value()); });
}

void top_k() {
    lcg random;
    std::vector<straggle::ranked_node<std::uint32_t>> nodes(10'000);
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        nodes[i].seen = i;
        nodes[i].mean = random.uniform();
        nodes[i].sd = random.uniform();
    }
    straggle::blacklist::top_k_intersection policy(500);
    straggle::blacklist::selection_scratch scratch;
    std::vector<straggle::blacklist::candidate> out;
    count([&] {
        out.clear();
        policy.select(std::span<straggle::ranked_node<std::uint32_t> const>(nodes), scratch, out);
        sink += out.front().value;
    });
}

void take_snapshot() {
    straggle_bench::scheduler_job const job = straggle_bench::make_job(100'000, 5);
    straggle_bench::progress_of_job watched = straggle_bench::watch(job);
    count([&] {
        sink += static_cast<double>(watched.running(job.running, straggle_bench::task_fields, job.now).used);
    });
}

// Many suspects, so that sorting them counts too.
template <class Rule>
void scan(Rule rule) {
    straggle_bench::progress_of_job watched = straggle_bench::watch(straggle_bench::make_job(100'000, 50));
    straggle::detect::straggler_scan scan{rule};
    count([&] { sink += static_cast<double>(scan(watched.view()).size()); });
}

void quantile(bool whole) {
    lcg random;
    std::vector<double> p, dof;
    for (int i = 0; i < 1000; ++i) {
        p.push_back(0.0005 + 0.999 * random.uniform());
        dof.push_back(whole ? 1.0 + random() % 200 : 1.0 + 200 * random.uniform());
    }
    count([&] {
        for (std::size_t i = 0; i < p.size(); ++i)
            sink += straggle::stats::student_t_quantile(p[i], dof[i]).value();
    });
}

void critical() {
    straggle::stats::student_t_critical const at(0.95);
    count([&] {
        for (std::uint64_t dof = 1; dof <= 10'000; ++dof) sink += at(dof);
    });
}

} // namespace

int main(int argc, char** argv) {
    std::string_view const kernel = argc > 1 ? argv[1] : "";
    auto const number = [](std::uint32_t i) { return i; };
    auto const text = [](std::uint32_t i) { return "node-" + std::to_string(100'000 + i) + ".example"; };
    if (kernel == "student_t_quantile_integer")
        quantile(true);
    else if (kernel == "student_t_quantile_real")
        quantile(false);
    else if (kernel == "student_t_critical")
        critical();
    else if (kernel == "rank_nodes_double")
        rank_nodes<std::uint32_t, double>(number);
    else if (kernel == "rank_nodes_ticks")
        rank_nodes<std::uint32_t, std::int64_t>(number);
    else if (kernel == "rank_nodes_text_ids")
        rank_nodes<std::string, std::int64_t>(text);
    else if (kernel == "monitor_observe_new")
        monitor_observe(false);
    else if (kernel == "monitor_observe_known")
        monitor_observe(true);
    else if (kernel == "monitor_rank")
        monitor_rank();
    else if (kernel == "p_cores_1000")
        intervals(1000);
    else if (kernel == "p_cores_100000")
        intervals(100'000);
    else if (kernel == "top_k_intersection")
        top_k();
    else if (kernel == "job_progress_running")
        take_snapshot();
    else if (kernel == "scan_late")
        scan(straggle::detect::late{.alpha = 0.5});
    else {
        std::fputs("usage: instructions KERNEL (see instructions.json for the names)\n", stderr);
        return 2;
    }
    std::printf("%g\n", sink);
}
