// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Looks up the state of a node in a decision, as a scheduler does for every task that it places: against a
/// std::unordered_map from node to state, and against a scan of the verdicts. One node in a hundred is
/// excluded; nodes are looked up in random order, so that with many of them each lookup waits for memory once
/// or twice.

#include "support/lcg.hpp"

#include <straggle/blacklist/decision.hpp>
#include <straggle/blacklist/detail/verdicts.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace {

using node_id = std::uint32_t;

bool is_weak(node_id node) {
    return node % 100 == 7;
}

straggle::blacklist_decision<node_id> decision_of(node_id nodes) {
    using access = straggle::detail::decision_access;
    straggle::blacklist_decision<node_id> decision;
    access::begin(decision, "bench", straggle::blacklist::selection_note::none, nodes);
    std::size_t excluded = 0;
    for (node_id n = 0; n < nodes; ++n)
        if (is_weak(n)) (void)access::write(decision, excluded++, n, {.slow = {2, 1.8, 2.2, 100}}, {});
    access::end_of_lists(decision, excluded, 0, 0);
    return decision;
}

std::vector<node_id> questions(node_id nodes) {
    straggle_bench::lcg random;
    std::vector<node_id> asked(1 << 16);
    for (node_id& n : asked) n = random() % nodes;
    return asked;
}

template <class Ask>
void ask_all(benchmark::State& state, Ask ask) {
    auto const asked = questions(static_cast<node_id>(state.range(0)));
    std::size_t excluded = 0;
    for (auto _ : state)
        for (node_id const n : asked) excluded += ask(n) ? 1u : 0u;
    benchmark::DoNotOptimize(excluded);
    std::size_t expected = 0;
    for (node_id const n : asked) expected += is_weak(n) ? 1u : 0u;
    if (excluded != expected * static_cast<std::size_t>(state.iterations())) state.SkipWithError("wrong");
    state.counters["per_node"] =
        benchmark::Counter(static_cast<double>(asked.size()),
                           benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void BM_straggle(benchmark::State& state) {
    auto const decision = decision_of(static_cast<node_id>(state.range(0)));
    ask_all(state, [&](node_id n) { return decision.state(n) == straggle::node_state::excluded; });
}

void BM_unordered_map(benchmark::State& state) {
    std::unordered_map<node_id, straggle::node_state> states;
    for (node_id n = 0; n < static_cast<node_id>(state.range(0)); ++n)
        if (is_weak(n)) states[n] = straggle::node_state::excluded;
    ask_all(state, [&](node_id n) {
        auto const at = states.find(n);
        return at != states.end() && at->second == straggle::node_state::excluded;
    });
}

void BM_list(benchmark::State& state) {
    auto const decision = decision_of(static_cast<node_id>(state.range(0)));
    ask_all(state, [&](node_id n) {
        for (auto const& v : decision.blacklisted())
            if (v.id == n) return true;
        return false;
    });
}

void sizes(benchmark::internal::Benchmark* b) {
    b->ArgName("nodes")->Unit(benchmark::kMicrosecond);
    for (std::int64_t const nodes : {100, 1'000, 10'000, 100'000, 1'000'000}) b->Arg(nodes);
}
void sizes_of_lists(benchmark::internal::Benchmark* b) {
    b->ArgName("nodes")->Unit(benchmark::kMicrosecond)->Arg(100)->Arg(1'000)->Arg(10'000);
}

BENCHMARK(BM_straggle)->Apply(sizes)->Name("BM_state/straggle");
BENCHMARK(BM_unordered_map)->Apply(sizes)->Name("BM_state/unordered_map");
BENCHMARK(BM_list)->Apply(sizes_of_lists)->Name("BM_state/list");

} // namespace
