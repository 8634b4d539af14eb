// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// P-Cores with number (DSB section 4.2.4): top_k_intersection against the literal way: sort by deviation,
/// sort by mean, put the first k of each into sets and intersect them.

#include <straggle/blacklist/top_k_intersection.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <vector>

namespace {

using node = straggle::ranked_node<std::uint32_t>;

std::vector<node> overlapping(std::size_t size) {
    std::vector<node> nodes(size);
    std::uint64_t state = 7;
    auto const uniform = [&] {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<double>(state >> 11) * 0x1p-53;
    };
    for (std::uint32_t i = 0; i < size; ++i) {
        nodes[i].id = nodes[i].seen = i;
        nodes[i].n = 30;
        nodes[i].mean = uniform();
        nodes[i].sd = 0.5 + uniform();
        nodes[i].ci = {nodes[i].mean - 1, nodes[i].mean + 1};
    }
    return nodes;
}

void BM_straggle(benchmark::State& state) {
    auto const nodes = overlapping(static_cast<std::size_t>(state.range(0)));
    straggle::blacklist::top_k_intersection policy(static_cast<std::size_t>(state.range(1)));
    straggle::blacklist::selection_scratch scratch;
    std::vector<straggle::blacklist::candidate> out;
    for (auto _ : state) {
        out.clear();
        policy.select(std::span<node const>(nodes), scratch, out);
        benchmark::DoNotOptimize(out.data());
    }
}

void BM_sort_and_set(benchmark::State& state) {
    auto const nodes = overlapping(static_cast<std::size_t>(state.range(0)));
    auto const k = static_cast<std::ptrdiff_t>(state.range(1));
    for (auto _ : state) {
        auto by_mean = nodes, by_deviation = nodes;
        std::sort(by_mean.begin(), by_mean.end(),
                  [](node const& a, node const& b) { return a.mean > b.mean; });
        std::sort(by_deviation.begin(), by_deviation.end(),
                  [](node const& a, node const& b) { return a.sd > b.sd; });
        std::set<std::uint32_t> a, b, common, either;
        for (auto it = by_mean.begin(); it != by_mean.begin() + k; ++it) a.insert(it->id);
        for (auto it = by_deviation.begin(); it != by_deviation.begin() + k; ++it) b.insert(it->id);
        std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(common, common.end()));
        std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(),
                                      std::inserter(either, either.end()));
        for (auto it = either.begin(); static_cast<std::ptrdiff_t>(common.size()) < k; ++it)
            common.insert(*it);
        benchmark::DoNotOptimize(common.size());
    }
}

// The same without copying the nodes and without trees: the best plain code.
void BM_sort_indices(benchmark::State& state) {
    auto const nodes = overlapping(static_cast<std::size_t>(state.range(0)));
    auto const k = static_cast<std::ptrdiff_t>(state.range(1));
    std::vector<std::uint32_t> a(nodes.size()), b, common, either;
    for (auto _ : state) {
        for (std::uint32_t i = 0; i < a.size(); ++i) a[i] = i;
        b = a;
        std::sort(a.begin(), a.end(), [&](auto x, auto y) { return nodes[x].mean > nodes[y].mean; });
        std::sort(b.begin(), b.end(), [&](auto x, auto y) { return nodes[x].sd > nodes[y].sd; });
        std::sort(a.begin(), a.begin() + k);
        std::sort(b.begin(), b.begin() + k);
        common.clear();
        either.clear();
        std::set_intersection(a.begin(), a.begin() + k, b.begin(), b.begin() + k, std::back_inserter(common));
        std::set_symmetric_difference(a.begin(), a.begin() + k, b.begin(), b.begin() + k,
                                      std::back_inserter(either));
        for (std::size_t i = 0; static_cast<std::ptrdiff_t>(common.size()) < k; ++i)
            common.push_back(either[i]);
        benchmark::DoNotOptimize(common.data());
        a.resize(nodes.size());
    }
}

void sizes(benchmark::internal::Benchmark* b) {
    b->Args({10, 6})->Args({100, 20})->Args({1'000, 50})->Args({10'000, 500})->Args({100'000, 500});
}

BENCHMARK(BM_straggle)->Apply(sizes)->Name("BM_top_k_intersection/straggle");
BENCHMARK(BM_sort_and_set)->Apply(sizes)->Name("BM_top_k_intersection/sort_and_set");
BENCHMARK(BM_sort_indices)->Apply(sizes)->Name("BM_top_k_intersection/sort_indices");

} // namespace
