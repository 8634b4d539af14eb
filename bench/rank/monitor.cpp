// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Watching nodes for good (DSB algorithm 1 as a component): `observe` per attempt and `rank` per pair of a
/// job and a node, against ranking all attempts anew, against the per-tracker sums of Hadoop MR1 in several
/// hash maps, and against a std::map of pairs with Welford's update. Then storing and merging, and the bytes
/// a pair takes.
///
/// The rivals check nothing, know no time, and stop at the mean and deviation of each node.

#include "support/completions.hpp"

#include <straggle/rank/monitor.hpp>
#include <straggle/rank/rank_nodes.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#if defined(__GLIBC__)
#include <malloc.h>
#endif
#if STRAGGLE_BENCH_HAS_ROBIN_MAP
#include <tsl/robin_map.h>
#endif
#if STRAGGLE_BENCH_HAS_ABSL
#include <absl/container/flat_hash_map.h>
#endif

namespace {

// Bytes that are held now: std::allocator passes the size of all memory that it frees.
std::size_t bytes_held = 0;

} // namespace

// Not inlined: the compiler would see free() meet memory from operator new, and warn.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
    bytes_held += bytes;
    if (void* const p = std::malloc(bytes != 0 ? bytes : 1)) return p;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept {
    std::free(p);
}
[[gnu::noinline]] void operator delete(void* p, std::size_t bytes) noexcept {
    bytes_held -= bytes;
    std::free(p);
}

namespace {

using straggle_bench::order;

template <class Id, class Duration>
struct record {
    using id_type = Id;
    Id job, node;
    Duration duration;
};
template <class Duration>
using plain = record<std::uint32_t, Duration>;
using texts = record<std::string, std::int64_t>;

template <class Record>
constexpr auto fields =
    straggle::attempt_fields{.job = &Record::job, .node = &Record::node, .duration = &Record::duration};
template <class Record>
using fields_type = std::remove_const_t<decltype(fields<Record>)>;
template <class Record>
using monitor = straggle::monitor<Record, fields_type<Record>>;

void set_id(std::uint32_t& id, char const*, std::uint32_t number, char const*) {
    id = number;
}
void set_id(std::string& id, char const* before, std::uint32_t number, char const* after) {
    id = before + std::to_string(number) + after;
}

// Jobs that overlap in time, as a log of completions has them; the arguments are nodes, attempts and tasks
// per job. Where a job has far fewer tasks than there are nodes, nearly each attempt is a pair.
template <class Record, order How>
std::vector<Record> history(benchmark::State const& state) {
    auto const nodes = static_cast<std::uint32_t>(state.range(0));
    auto const size = static_cast<std::size_t>(state.range(1));
    auto const tasks = static_cast<std::size_t>(state.range(2));
    auto const log = straggle_bench::completions(size, tasks, nodes, How);
    std::vector<Record> records(size);
    for (std::size_t i = 0; i < size; ++i) {
        set_id(records[i].job, "job_201102040848_", log[i].job, "");
        set_id(records[i].node, "node", log[i].node, ".example");
        records[i].duration = static_cast<decltype(Record::duration)>(log[i].took);
    }
    return records;
}

// The library.
template <class Record>
struct watching {
    monitor<Record> all{fields<Record>};
    void observe(Record const& r) { all.observe(r); }
    std::size_t rank() { return all.rank().levels(); }
    [[nodiscard]] std::size_t pairs() const { return all.pairs(); }
};

// The library without slowdowns, which no rival computes.
template <class Record>
struct watching_scores : watching<Record> {
    watching_scores() { this->all = monitor<Record>(fields<Record>, {.ranking = {.slowdowns = false}}); }
};

// What the library does without a monitor: keep every attempt and rank them all.
template <class Record>
struct batch {
    std::vector<Record> all;
    straggle::node_ranker<Record, fields_type<Record>> ranker{fields<Record>};
    void observe(Record const& r) { all.push_back(r); }
    std::size_t rank() { return ranker.rank(all).levels(); }
    [[nodiscard]] std::size_t pairs() const { return all.size(); }
};

struct welford {
    double n = 0, mean = 0, m2 = 0;
    void add(double x) {
        n += 1;
        double const d = x - mean;
        mean += d / n;
        m2 += d * (x - mean);
    }
    void merge(welford const& other) {
        double const d = other.mean - mean, both = n + other.n;
        mean += d * other.n / both;
        m2 += other.m2 + d * d * n * other.n / both;
        n = both;
    }
    // Adds what one job has on the node, in deviations of the job.
    void add_scores(welford const& durations, double job_mean, double job_sd) {
        merge({durations.n, (durations.mean - job_mean) / job_sd, durations.m2 / (job_sd * job_sd)});
    }
    [[nodiscard]] double sd() const { return std::sqrt(m2 / n); }
};

template <class Key, class Value>
using std_map = std::unordered_map<Key, Value>;
#if STRAGGLE_BENCH_HAS_ROBIN_MAP
template <class Key, class Value>
using robin_map = tsl::robin_map<Key, Value>;
#endif
#if STRAGGLE_BENCH_HAS_ABSL
template <class Key, class Value>
using absl_map = absl::flat_hash_map<Key, Value>;
#endif

// Of a map of jobs to maps of nodes.
template <class Jobs>
std::size_t pairs_in(Jobs const& jobs) {
    std::size_t n = 0;
    for (auto const& [job, nodes] : jobs) n += nodes.size();
    return n;
}

// Hadoop MR1: every job keeps count, sum and sum of squares for every task tracker.
template <class Record, template <class, class> class Map>
struct job_sums {
    using id = typename Record::id_type;
    struct data_statistics {
        double count = 0, sum = 0, sum_squares = 0;
        void add(data_statistics const& other) {
            count += other.count;
            sum += other.sum;
            sum_squares += other.sum_squares;
        }
        [[nodiscard]] double mean() const { return sum / count; }
        [[nodiscard]] double variance() const {
            return (std::max)(sum_squares / count - mean() * mean(), 0.0);
        }
    };
    Map<id, Map<id, data_statistics>> jobs;
    Map<id, welford> nodes;

    void observe(Record const& r) {
        double const took = static_cast<double>(r.duration);
        jobs[r.job][r.node].add({1.0, took, took * took});
    }
    std::size_t rank() {
        nodes.clear();
        for (auto const& [job, trackers] : jobs) {
            data_statistics together;
            for (auto const& [node, tracker] : trackers) together.add(tracker);
            double const sd = std::sqrt(together.variance());
            if (!(sd > 0)) continue;
            for (auto const& [node, tracker] : trackers)
                nodes[node].add_scores({tracker.count, tracker.mean(), tracker.variance() * tracker.count},
                                       together.mean(), sd);
        }
        return nodes.size();
    }
    [[nodiscard]] std::size_t pairs() const { return pairs_in(jobs); }
};

template <class Record>
using mr1_sums = job_sums<Record, std_map>;
#if STRAGGLE_BENCH_HAS_ROBIN_MAP
template <class Record>
using robin_sums = job_sums<Record, robin_map>;
#endif
#if STRAGGLE_BENCH_HAS_ABSL
template <class Record>
using absl_sums = job_sums<Record, absl_map>;
#endif

template <class Record>
struct ordered_map {
    using id = typename Record::id_type;
    std::map<std::pair<id, id>, welford> all;
    std::unordered_map<id, welford> nodes;

    void observe(Record const& r) { all[{r.job, r.node}].add(static_cast<double>(r.duration)); }
    std::size_t rank() {
        nodes.clear();
        for (auto first = all.begin(); first != all.end();) {
            auto last = first;
            welford job;
            for (; last != all.end() && last->first.first == first->first.first; ++last)
                job.merge(last->second);
            double const sd = job.sd();
            for (; first != last; ++first)
                if (sd > 0) nodes[first->first.second].add_scores(first->second, job.mean, sd);
        }
        return nodes.size();
    }
    [[nodiscard]] std::size_t pairs() const { return all.size(); }
};

template <class Count>
void per_item(benchmark::State& state, Count items) {
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(items));
}

// Every attempt from the first on: most of them bring a new pair, and all memory is allocated.
template <template <class> class Keeper, class Record, order How>
void BM_observe(benchmark::State& state) {
    auto const records = history<Record, How>(state);
    // Once untimed: otherwise the first to run pays for every page that the kernel gives, which malloc keeps.
    {
        Keeper<Record> keeper;
        for (auto const& r : records) keeper.observe(r);
    }
    for (auto _ : state) {
        state.PauseTiming();
        {
            std::size_t const before = bytes_held;
            Keeper<Record> keeper;
            state.ResumeTiming();
            for (auto const& r : records) keeper.observe(r);
            state.PauseTiming();
            state.counters["bytes_per_pair"] =
                static_cast<double>(bytes_held - before) / static_cast<double>(keeper.pairs());
            state.counters["pairs"] = static_cast<double>(keeper.pairs());
        }
        state.ResumeTiming();
    }
    per_item(state, records.size());
}

// The same attempts again and again: every pair exists.
template <template <class> class Keeper, class Record, order How>
void BM_observe_again(benchmark::State& state) {
    auto const records = history<Record, How>(state);
    Keeper<Record> keeper;
    for (auto const& r : records) keeper.observe(r);
    for (auto _ : state)
        for (auto const& r : records) keeper.observe(r);
    per_item(state, records.size());
}

template <template <class> class Keeper, class Record, order How>
void BM_rank(benchmark::State& state) {
    Keeper<Record> keeper;
    for (Record const& r : history<Record, How>(state)) keeper.observe(r);
    for (auto _ : state) benchmark::DoNotOptimize(keeper.rank());
    per_item(state, keeper.pairs());
    state.counters["pairs"] = static_cast<double>(keeper.pairs());
}

template <class Record>
void BM_serialize(benchmark::State& state) {
    watching<Record> w;
    for (Record const& r : history<Record, order::by_time>(state)) w.observe(r);
    std::size_t size = 0;
    for (auto _ : state) {
        auto const bytes = w.all.serialize();
        size = bytes.size();
        benchmark::DoNotOptimize(bytes.data());
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(size));
    per_item(state, w.pairs());
    state.counters["bytes_per_pair"] = static_cast<double>(size) / static_cast<double>(w.pairs());
}

template <class Record>
void BM_restore(benchmark::State& state) {
    watching<Record> w, other;
    for (Record const& r : history<Record, order::by_time>(state)) w.observe(r);
    auto const bytes = w.all.serialize();
    for (auto _ : state)
        if (other.all.restore(bytes) != straggle::status::ok) state.SkipWithError("cannot be read");
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size()));
    per_item(state, w.pairs());
}

// Two shards that have every second attempt each.
template <class Record>
void BM_merge(benchmark::State& state) {
    auto const records = history<Record, order::by_time>(state);
    watching<Record> even, odd;
    for (std::size_t i = 0; i < records.size(); ++i) (i % 2 == 0 ? even : odd).observe(records[i]);
    for (auto _ : state) {
        state.PauseTiming();
        {
            monitor<Record> both = even.all;
            state.ResumeTiming();
            both.merge(odd.all);
            state.PauseTiming();
            benchmark::DoNotOptimize(both.pairs());
        }
        state.ResumeTiming();
    }
    per_item(state, odd.pairs());
}

void with_names(benchmark::internal::Benchmark* b) {
    b->ArgNames({"nodes", "pairs", "tasks"})->Unit(benchmark::kMillisecond);
}
// The size of the tables, then few and many nodes at one size, then large jobs.
void sizes(benchmark::internal::Benchmark* b) {
    with_names(b);
    for (std::int64_t pairs : {10'000, 100'000, 1'000'000}) b->Args({1000, pairs, 100});
    for (std::int64_t nodes : {100, 10'000, 100'000}) b->Args({nodes, 1'000'000, 100});
    b->Args({100'000, 1'000'000, 1000});
}
void large(benchmark::internal::Benchmark* b) {
    sizes(b);
    b->Args({1000, 10'000'000, 100})->Args({100'000, 10'000'000, 1000});
}
void one_size(benchmark::internal::Benchmark* b) {
    with_names(b);
    b->Args({1000, 1'000'000, 100});
}

using arguments = void(benchmark::internal::Benchmark*);

template <template <class> class Keeper, class Record, order How>
void all_kernels(std::string const& name, arguments* apply) {
    auto const add = [&](char const* kernel, void (*function)(benchmark::State&)) {
        benchmark::RegisterBenchmark(("BM_" + (kernel + name)).c_str(), function)->Apply(apply);
    };
    add("observe/", BM_observe<Keeper, Record, How>);
    // A list of all attempts would only grow.
    if constexpr (!std::is_same_v<Keeper<Record>, batch<Record>>)
        add("observe_again/", BM_observe_again<Keeper, Record, How>);
    if constexpr (requires(Keeper<Record>& keeper) { keeper.rank(); })
        add("rank/", BM_rank<Keeper, Record, How>);
}
template <template <class> class Keeper, class Record>
void both_orders(std::string const& name, arguments* apply) {
    all_kernels<Keeper, Record, order::by_time>(name + "_by_time", apply);
    all_kernels<Keeper, Record, order::random>(name + "_random", apply);
}
template <class Record>
void bytes(std::string const& name) {
    auto const add = [&](char const* kernel, void (*function)(benchmark::State&)) {
        benchmark::RegisterBenchmark(("BM_" + (kernel + name)).c_str(), function)->Apply(one_size);
    };
    add("serialize/", BM_serialize<Record>);
    add("restore/", BM_restore<Record>);
    add("merge/", BM_merge<Record>);
}

[[maybe_unused]] bool const registered = [] {
#if defined(__GLIBC__)
    // Keep what is freed: otherwise chance decides whose memory the kernel has to bring back in each round.
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 1 << 26);
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
#endif
    both_orders<watching, plain<std::int64_t>>("straggle_ticks", large);
    both_orders<watching, plain<double>>("straggle_double", sizes);
    both_orders<watching, texts>("straggle_text_ids", one_size);
    both_orders<watching_scores, plain<std::int64_t>>("straggle_scores_ticks", sizes);
#if STRAGGLE_BENCH_HAS_ROBIN_MAP
    both_orders<robin_sums, plain<std::int64_t>>("robin_sums", sizes);
    both_orders<robin_sums, texts>("robin_sums_text_ids", one_size);
#endif
#if STRAGGLE_BENCH_HAS_ABSL
    both_orders<absl_sums, plain<std::int64_t>>("absl_sums", sizes);
    both_orders<absl_sums, texts>("absl_sums_text_ids", one_size);
#endif
    both_orders<batch, plain<std::int64_t>>("batch_ticks", large);
    both_orders<batch, plain<double>>("batch_double", sizes);
    both_orders<mr1_sums, plain<std::int64_t>>("mr1_sums", sizes);
    both_orders<mr1_sums, texts>("mr1_sums_text_ids", one_size);
    both_orders<ordered_map, plain<std::int64_t>>("ordered_map", sizes);
    both_orders<ordered_map, texts>("ordered_map_text_ids", one_size);
    bytes<plain<std::int64_t>>("straggle_ticks");
    bytes<plain<double>>("straggle_double");
    bytes<texts>("straggle_text_ids");
    return true;
}();

} // namespace
