// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The cost of labeling a month: k-means for k = 2 to 10 with ten restarts each and the score of each, on
/// rows of 90 features. The rival, scikit-learn, is timed on the same rows by kmeans_sklearn.py.

#include <straggle/learn/kmeans.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <vector>

namespace {

constexpr std::size_t columns = 90;

// The same in kmeans_sklearn.py. `apart`: the distance between the five groups; 0: no groups.
std::vector<double> rows(std::size_t n, double apart) {
    std::vector<double> values;
    std::uint64_t state = 42;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < columns; ++c) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            double const unit = static_cast<double>(state >> 11) * 0x1p-53;
            values.push_back(unit + (c % 5 == i % 5 ? apart : 0.0));
        }
    return values;
}

void BM_sweep(benchmark::State& state) {
    auto const values =
        rows(static_cast<std::size_t>(state.range(0)), static_cast<double>(state.range(1)) / 10);
    straggle::learn::kmeans groups;
    straggle::learn::clustering result;
    double inertia = 0;
    for (auto _ : state) {
        std::mt19937_64 engine(1);
        inertia = 0;
        if (groups.fit(straggle::learn::feature_matrix(values, columns)) != straggle::status::ok)
            std::abort();
        for (std::size_t k = 2; k <= 10; ++k) {
            if (groups.group(k, engine, result) != straggle::status::ok) std::abort();
            benchmark::DoNotOptimize(result.score());
            inertia += result.inertia;
        }
    }
    state.counters["inertia"] = inertia; // of all k together
}

} // namespace

BENCHMARK(BM_sweep)
    ->ArgNames({"rows", "apart_in_tenths"})
    ->ArgsProduct({{100, 1000, 10000}, {0, 10}})
    ->Unit(benchmark::kMillisecond);
