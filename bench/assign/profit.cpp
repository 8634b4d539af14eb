// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The expected gain of a copy on each of 1000 nodes with 1024 samples each, for a straggler of which one
/// number or 64 samples are known: presorted samples and their running sums, against the two straightforward
/// ways: sort a node's samples for every query, or scan them once for every number.
///
/// The samples are made, and for straggle sorted, outside the measured time: a node's samples change when a
/// task ends there, and are queried whenever there is a straggler.

#include <straggle/assign/profit.hpp>

#include "support/lcg.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace {

constexpr std::size_t nodes = 1000, samples = 1024, stragglers = 61;
constexpr double slot_price = 0.1;

// Long-tailed times; each node has its own speed.
std::vector<double> times_of(std::size_t n, double scale, straggle_bench::lcg& next) {
    std::vector<double> times(n);
    for (double& t : times) t = scale * (0.5 - std::log(1 - next.uniform()));
    return times;
}

struct cluster {
    std::vector<std::vector<double>> times; // in order of arrival
    std::vector<straggle::stats::empirical> sorted;
    std::vector<std::vector<double>> remaining; // of each straggler
    std::vector<straggle::stats::empirical> remaining_sorted;

    explicit cluster(std::size_t known)
        : times(nodes), sorted(nodes), remaining(stragglers), remaining_sorted(stragglers) {
        straggle_bench::lcg next;
        for (std::size_t i = 0; i < nodes; ++i) {
            times[i] = times_of(samples, 50 + 100 * next.uniform(), next);
            sorted[i].assign(times[i]);
        }
        for (std::size_t i = 0; i < stragglers; ++i) {
            remaining[i] = times_of(known, 100 + 100 * next.uniform(), next);
            remaining_sorted[i].assign(remaining[i]);
        }
    }
};

// What a query needs, without a next-slowest task.
struct sums {
    double won = 0;
    std::size_t wins = 0;
    // The mean of min(r, x) is that of r minus that of the gain.
    [[nodiscard]] double profit(std::vector<double> const& remaining) const {
        double total = 0;
        for (double const r : remaining) total += r;
        double const pairs = static_cast<double>(samples * remaining.size());
        double const mean = won / pairs;
        benchmark::DoNotOptimize(wins);
        return mean - slot_price * (total / static_cast<double>(remaining.size()) - mean);
    }
};

// The best profit of one straggler after the other, best(straggler): the branch predictor would learn a
// single one.
template <class Best>
void each_straggler(benchmark::State& state, Best best) {
    std::size_t straggler = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(best(straggler));
        straggler = (straggler + 1) % stragglers;
    }
}

template <class Value>
void best_node(benchmark::State& state, Value value) {
    cluster const all(static_cast<std::size_t>(state.range(0)));
    each_straggler(state, [&](std::size_t straggler) {
        double best = -1e300;
        for (std::size_t node = 0; node < nodes; ++node) best = (std::max)(best, value(all, straggler, node));
        return best;
    });
}

void BM_straggle(benchmark::State& state) {
    straggle::assign::expected_gain const policy{.slot_price = slot_price};
    best_node(state, [&](cluster const& all, std::size_t straggler, std::size_t node) {
        return policy.value({all.remaining_sorted[straggler].view(), all.sorted[node].view()})->profit;
    });
}

// Sorts a copy of the samples, sums them up and looks up the numbers.
void BM_sort_per_query(benchmark::State& state) {
    std::vector<double> sorted, before(samples + 1);
    best_node(state, [&](cluster const& all, std::size_t straggler, std::size_t node) {
        sorted = all.times[node];
        std::sort(sorted.begin(), sorted.end());
        for (std::size_t i = 0; i < samples; ++i) before[i + 1] = before[i] + sorted[i];
        sums s;
        for (double const r : all.remaining[straggler]) {
            auto const k =
                static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), r) - sorted.begin());
            s.won += static_cast<double>(k) * r - before[k];
            s.wins += k;
        }
        return s.profit(all.remaining[straggler]);
    });
}

// Scans the unsorted samples for every number.
void BM_one_pass(benchmark::State& state) {
    best_node(state, [&](cluster const& all, std::size_t straggler, std::size_t node) {
        sums s;
        for (double const r : all.remaining[straggler])
            for (double const x : all.times[node]) {
                bool const win = x < r;
                s.won += win ? r - x : 0.0;
                s.wins += win;
            }
        return s.profit(all.remaining[straggler]);
    });
}

// The same with eight independent sums, so that no addition waits for another: the best plain code.
void BM_one_pass_in_lanes(benchmark::State& state) {
    best_node(state, [&](cluster const& all, std::size_t straggler, std::size_t node) {
        constexpr std::size_t lanes = 8;
        double won[lanes] = {};
        std::size_t wins[lanes] = {};
        double const* const times = all.times[node].data();
        for (double const r : all.remaining[straggler])
            for (std::size_t i = 0; i < samples; i += lanes)
                for (std::size_t j = 0; j < lanes; ++j) {
                    double const x = times[i + j];
                    bool const win = x < r;
                    won[j] += win ? r - x : 0.0;
                    wins[j] += win;
                }
        sums s;
        for (std::size_t j = 0; j < lanes; ++j) {
            s.won += won[j];
            s.wins += wins[j];
        }
        return s.profit(all.remaining[straggler]);
    });
}

void known(benchmark::internal::Benchmark* b) {
    b->ArgName("known")->Arg(1)->Arg(64)->Unit(benchmark::kMicrosecond);
}

BENCHMARK(BM_straggle)->Apply(known)->Name("BM_profit/straggle");
BENCHMARK(BM_sort_per_query)->Apply(known)->Name("BM_profit/sort_per_query");
BENCHMARK(BM_one_pass)->Apply(known)->Name("BM_profit/one_pass");
BENCHMARK(BM_one_pass_in_lanes)->Apply(known)->Name("BM_profit/one_pass_in_lanes");

} // namespace
