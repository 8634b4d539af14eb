// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// From records to node moments (DSB equation 1 and algorithm 2): rank_nodes against grouping with hash maps
/// (std::unordered_map, tsl::robin_map, absl::flat_hash_map), against sorting, and against algorithm 1 as
/// printed.
///
/// rank_nodes does more than its rivals here: it checks every record, counts what it rejects, and ranks.

#include "support/completions.hpp"

#include <straggle/rank/rank_nodes.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#if STRAGGLE_BENCH_HAS_ROBIN_MAP
#include <tsl/robin_map.h>
#endif
#if STRAGGLE_BENCH_HAS_ABSL
#include <absl/container/flat_hash_map.h>
#endif

namespace {

template <class Duration>
struct record {
    std::uint32_t job;
    std::uint32_t node;
    Duration duration;
};

template <class Duration>
constexpr auto fields = straggle::attempt_fields{
    .job = &record<Duration>::job, .node = &record<Duration>::node, .duration = &record<Duration>::duration};

using straggle_bench::order;

// Jobs that overlap in time, as a log of completions has them; the arguments are records and tasks per job.
template <class Duration>
std::vector<record<Duration>> history(benchmark::State const& state, std::uint32_t nodes, order how) {
    auto const size = static_cast<std::size_t>(state.range(0));
    auto const tasks = static_cast<std::size_t>(state.range(1));
    std::vector<record<Duration>> records;
    records.reserve(size);
    for (straggle_bench::completion const& c : straggle_bench::completions(size, tasks, nodes, how))
        records.push_back({c.job, c.node, static_cast<Duration>(c.took)});
    return records;
}

struct welford {
    double n = 0, mean = 0, m2 = 0;
    void add(double x) {
        n += 1;
        double const d = x - mean;
        mean += d / n;
        m2 += d * (x - mean);
    }
    [[nodiscard]] double sd() const { return std::sqrt(m2 / n); }
};

// `Slowdowns`: the default; without them it computes levels and scores alone, like the rivals.
template <class Duration, order How, bool Slowdowns = true>
void BM_straggle(benchmark::State& state) {
    auto const records = history<Duration>(state, 1000, How);
    straggle::node_ranker<record<Duration>, std::remove_const_t<decltype(fields<Duration>)>> ranker(
        fields<Duration>, {.slowdowns = Slowdowns});
    for (auto _ : state) benchmark::DoNotOptimize(ranker.rank(records).levels());
    state.SetItemsProcessed(state.iterations() * state.range(0));
    state.SetComplexityN(state.range(0));
}

struct text_record {
    std::string job, node;
    std::int64_t duration;
};

template <order How>
std::vector<text_record> text_history(benchmark::State const& state) {
    std::vector<text_record> records;
    for (auto const& r : history<std::int64_t>(state, 1000, How))
        records.push_back({"job_201102040848_" + std::to_string(r.job),
                           "node" + std::to_string(r.node) + ".example", r.duration});
    return records;
}

template <order How, bool Slowdowns = true>
void BM_straggle_text_ids(benchmark::State& state) {
    auto const records = text_history<How>(state);
    constexpr straggle::attempt_fields text_fields{
        .job = &text_record::job, .node = &text_record::node, .duration = &text_record::duration};
    straggle::node_ranker<text_record, std::remove_const_t<decltype(text_fields)>> ranker(
        text_fields, {.slowdowns = Slowdowns});
    for (auto _ : state) benchmark::DoNotOptimize(ranker.rank(records).levels());
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

template <template <class...> class Map, class Record>
void group_with_maps(benchmark::State& state, std::vector<Record> const& records) {
    for (auto _ : state) {
        Map<decltype(Record::job), welford> jobs;
        Map<decltype(Record::node), welford> nodes;
        for (auto const& r : records) jobs[r.job].add(static_cast<double>(r.duration));
        for (auto const& r : records) {
            welford const& job = jobs[r.job];
            if (double const sd = job.sd(); sd > 0)
                nodes[r.node].add((static_cast<double>(r.duration) - job.mean) / sd);
        }
        benchmark::DoNotOptimize(nodes.size());
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

template <template <class...> class Map, order How>
void BM_map_text_ids(benchmark::State& state) {
    group_with_maps<Map>(state, text_history<How>(state));
}

template <template <class...> class Map, order How>
void BM_map(benchmark::State& state) {
    group_with_maps<Map>(state, history<double>(state, 1000, How));
}

// Not a rival but a bound: the two passes that a job's mean and deviation require, into tables of known size,
// with nothing checked, counted or ranked, and sums that lose the variance of long durations. If it
// `Compares`, also what any comparison of the nodes within a job requires: the logarithm of each duration,
// its mean over the job, and how far each node lies from it; what joins the jobs is left out.
template <order How, bool Compares = false>
void BM_bare_passes(benchmark::State& state) {
    auto const records = history<double>(state, 1000, How);
    struct sums {
        double n = 0, x = 0, xx = 0, log = 0;
    };
    struct scale {
        double mean = 0, factor = 0, log = 0;
    };
    std::vector<sums> jobs(static_cast<std::size_t>(state.range(0) / state.range(1))), nodes(1000);
    std::vector<scale> scales(jobs.size());
    std::vector<double> logs(records.size());
    auto const add = [](sums& s, double x, double log) {
        s.n += 1;
        s.x += x;
        s.xx += x * x;
        if (Compares) s.log += log;
    };
    for (auto _ : state) {
        std::fill(jobs.begin(), jobs.end(), sums{});
        std::fill(nodes.begin(), nodes.end(), sums{});
        for (std::size_t i = 0; i < records.size(); ++i) {
            if (Compares) logs[i] = std::log(records[i].duration);
            add(jobs[records[i].job], records[i].duration, logs[i]);
        }
        for (std::size_t j = 0; j < jobs.size(); ++j) {
            sums const& s = jobs[j];
            double const mean = s.x / s.n;
            scales[j] = {mean, 1 / std::sqrt(s.xx / s.n - mean * mean), s.log / s.n};
        }
        for (std::size_t i = 0; i < records.size(); ++i) {
            scale const& s = scales[records[i].job];
            add(nodes[records[i].node], (records[i].duration - s.mean) * s.factor, logs[i] - s.log);
        }
        benchmark::DoNotOptimize(nodes.data());
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

template <order How>
void BM_sort(benchmark::State& state) {
    auto const records = history<double>(state, 1000, How);
    for (auto _ : state) {
        auto a = records;
        std::sort(a.begin(), a.end(), [](auto const& x, auto const& y) { return x.job < y.job; });
        for (std::size_t i = 0; i < a.size();) {
            std::size_t j = i;
            welford job;
            for (; j < a.size() && a[j].job == a[i].job; ++j) job.add(a[j].duration);
            for (double const sd = job.sd(); i < j; ++i)
                a[i].duration = sd > 0 ? (a[i].duration - job.mean) / sd : 0;
        }
        std::sort(a.begin(), a.end(), [](auto const& x, auto const& y) { return x.node < y.node; });
        std::vector<welford> nodes;
        for (std::size_t i = 0; i < a.size(); ++i) {
            if (i == 0 || a[i].node != a[i - 1].node) nodes.emplace_back();
            nodes.back().add(a[i].duration);
        }
        benchmark::DoNotOptimize(nodes.size());
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

// Algorithm 1 as printed looks at every task for every task: O(n^2), so only small sizes.
void BM_literal_algorithm_1(benchmark::State& state) {
    auto const records = history<double>(state, 1000, order::by_time);
    for (auto _ : state) {
        std::vector<welford> nodes(1000);
        for (auto const& r : records) {
            double sum = 0, squares = 0;
            std::size_t n = 0;
            for (auto const& s : records)
                if (s.job == r.job) sum += s.duration, ++n;
            double const mean = sum / static_cast<double>(n);
            for (auto const& s : records)
                if (s.job == r.job) squares += (s.duration - mean) * (s.duration - mean);
            if (squares > 0)
                nodes[r.node].add((r.duration - mean) / std::sqrt(squares / static_cast<double>(n)));
        }
        benchmark::DoNotOptimize(nodes.data());
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

// One history on several threads of the caller: each ranks its own jobs, then one combines the nodes; against
// one ranker over all records in order of time. Manual time: processor time of the slowest thread, and of
// combining, so that it means the same on a machine with other work. Distributing the records by job is not
// part of it: a scheduler has them by job, and a reader distributes them as it reads.
double processor_seconds() {
    std::timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

using tick_record = record<std::int64_t>;
using tick_ranker = straggle::node_ranker<tick_record, std::remove_const_t<decltype(fields<std::int64_t>)>>;

void BM_one(benchmark::State& state) {
    auto const records = history<std::int64_t>(state, 1000, order::by_time);
    tick_ranker all(fields<std::int64_t>);
    for (auto _ : state) {
        double const begin = processor_seconds();
        benchmark::DoNotOptimize(all.rank(records).levels());
        state.SetIterationTime(processor_seconds() - begin);
    }
}

void BM_shards(benchmark::State& state, std::size_t count) {
    std::vector<std::vector<tick_record>> parts(count);
    std::vector<tick_ranker> shards(count, tick_ranker(fields<std::int64_t>));
    std::size_t levels = 0;
    {
        auto const records = history<std::int64_t>(state, 1000, order::by_time);
        for (tick_record const& r : records) {
            tick_record own = r;
            own.job /= static_cast<std::uint32_t>(count); // so that each shard's jobs are dense, as all are
            parts[r.job % count].push_back(own);
        }
        levels = straggle::rank_nodes(records, fields<std::int64_t>).levels();
    }
    for (auto _ : state) {
        std::vector<double> took(count);
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < count; ++i)
            threads.emplace_back([&, i] {
                double const begin = processor_seconds();
                shards[i].rank(parts[i]);
                took[i] = processor_seconds() - begin;
            });
        for (std::thread& t : threads) t.join();
        double const begin = processor_seconds();
        if (shards.front().rank_shards(shards).levels() != levels) state.SkipWithError("not the same");
        state.SetIterationTime(*std::max_element(took.begin(), took.end()) + processor_seconds() - begin);
    }
}

void sizes(benchmark::internal::Benchmark* b) {
    b->ArgNames({"records", "tasks"})->Unit(benchmark::kMillisecond);
    for (std::int64_t tasks : {100, 10})
        for (std::int64_t records : {1'000, 10'000, 100'000, 1'000'000}) b->Args({records, tasks});
}
void large(benchmark::internal::Benchmark* b) {
    sizes(b);
    b->Args({10'000'000, 100});
}
void fitted(benchmark::internal::Benchmark* b) {
    large(b);
    b->Complexity(benchmark::oN);
}
void threaded(benchmark::internal::Benchmark* b) {
    b->ArgNames({"records", "tasks"})->UseManualTime()->Unit(benchmark::kMillisecond);
    for (std::int64_t records : {1'000'000, 10'000'000, 100'000'000}) b->Args({records, 100});
}
void small(benchmark::internal::Benchmark* b) {
    b->ArgNames({"records", "tasks"})->Args({10'000, 100})->Unit(benchmark::kMillisecond);
}

template <class Register>
void named(char const* name, Register function, void (*arguments)(benchmark::internal::Benchmark*)) {
    benchmark::RegisterBenchmark((std::string("BM_rank_nodes/") + name).c_str(), function)->Apply(arguments);
}

#if STRAGGLE_BENCH_HAS_ROBIN_MAP
template <class... Types>
using robin_map = tsl::robin_map<Types...>;
#endif

template <template <class...> class Map>
void with_map(std::string const& name) {
    named((name + "_by_time").c_str(), BM_map<Map, order::by_time>, large);
    named((name + "_random").c_str(), BM_map<Map, order::random>, large);
    named((name + "_text_ids_by_time").c_str(), BM_map_text_ids<Map, order::by_time>, sizes);
}

[[maybe_unused]] bool const registered = [] {
    named("straggle_double_by_time", BM_straggle<double, order::by_time>, fitted);
    named("straggle_ticks_by_time", BM_straggle<std::int64_t, order::by_time>, fitted);
    named("straggle_double_scores_by_time", BM_straggle<double, order::by_time, false>, sizes);
    named("straggle_ticks_scores_by_time", BM_straggle<std::int64_t, order::by_time, false>, sizes);
    named("straggle_double_scores_random", BM_straggle<double, order::random, false>, large);
    named("straggle_ticks_scores_random", BM_straggle<std::int64_t, order::random, false>, large);
    named("bare_passes_by_time", BM_bare_passes<order::by_time>, sizes);
    named("bare_comparison_by_time", BM_bare_passes<order::by_time, true>, sizes);
    named("sort_by_time", BM_sort<order::by_time>, sizes);
    named("straggle_double_random", BM_straggle<double, order::random>, fitted);
    named("straggle_ticks_random", BM_straggle<std::int64_t, order::random>, fitted);
    named("bare_passes_random", BM_bare_passes<order::random>, large);
    named("straggle_text_ids_by_time", BM_straggle_text_ids<order::by_time>, sizes);
    named("straggle_text_ids_scores_by_time", BM_straggle_text_ids<order::by_time, false>, sizes);
    with_map<std::unordered_map>("unordered_map");
#if STRAGGLE_BENCH_HAS_ROBIN_MAP
    with_map<robin_map>("robin_map");
#endif
#if STRAGGLE_BENCH_HAS_ABSL
    with_map<absl::flat_hash_map>("flat_hash_map");
#endif
    named("one", BM_one, threaded);
    named("one_shard", [](benchmark::State& state) { BM_shards(state, 1); }, threaded);
    named("two_shards", [](benchmark::State& state) { BM_shards(state, 2); }, threaded);
    named("literal_algorithm_1", BM_literal_algorithm_1, small);
    return true;
}();

} // namespace
