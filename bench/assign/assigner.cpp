// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Which straggler gets a copy on which node: the optimal assignment against the textbook Hungarian method,
/// O(n^3) on a full matrix, and against greedy and sequential choices. `BM_<profits>/<rival>/<stragglers>`;
/// there are as many nodes as stragglers, the hardest case, except in `plenty`, with four times as many. The
/// two optimal rivals give the same sum, which is checked before they are timed; the counter `of_best` is the
/// share of it that the others reach. `BM_choose` is the whole decision: filters, predictions from 32
/// samples, profits, plan.

#include <straggle/assign/assigner.hpp>
#include <straggle/assign/optimal_assignment.hpp>

#include <benchmark/benchmark.h>

#include "support/hungarian.hpp"
#include "support/lcg.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct table {
    std::size_t rows = 0, columns = 0;
    std::vector<double> full; // row by row, 0 where there is no profit
    std::vector<std::uint32_t> first{0}, column, room;
    std::vector<double> value, second;

    [[nodiscard]] straggle::assign::assignable_pairs view() const { return {first, column, value, second}; }
    [[nodiscard]] double sum(std::vector<straggle::assign::assigned_pair> const& assigned) const {
        double total = 0;
        for (auto const& a : assigned) total += value[a.pair];
        return total;
    }
};

enum class profits {
    uniform,   // independent
    realistic, // the straggler's remaining time minus that of a copy there, with noise
    scaled,    // a common factor per straggler and per node, with noise
    whole,     // whole numbers up to ten: most have ties
    plenty,    // like realistic, with four nodes per straggler
};

table made(profits kind, std::size_t rows, std::uint64_t seed = 42) {
    straggle_bench::lcg next{seed};
    table t;
    t.rows = rows;
    t.columns = kind == profits::plenty ? 4 * rows : rows;
    std::vector<double> left(t.rows), slowdown(t.columns);
    for (double& x : left) x = 100 - 300 * std::log(1 - next.uniform());
    for (double& x : slowdown) x = 1 + 2 * next.uniform();
    for (std::size_t i = 0; i < t.rows; ++i) {
        for (std::size_t j = 0; j < t.columns; ++j) {
            double const noise = next.uniform();
            double x = noise;
            if (kind == profits::realistic || kind == profits::plenty)
                x = left[i] - 60 * slowdown[j] * (0.7 + 0.6 * noise);
            if (kind == profits::scaled) x = left[i] / slowdown[j] * (1 + 0.3 * noise);
            if (kind == profits::whole) x = 1 + std::floor(10 * noise);
            t.full.push_back(x > 0 ? x : 0);
            if (!(x > 0)) continue;
            t.column.push_back(static_cast<std::uint32_t>(j));
            t.value.push_back(x);
            t.second.push_back(0.5);
        }
        t.first.push_back(static_cast<std::uint32_t>(t.column.size()));
    }
    t.room.assign(t.columns, 1);
    return t;
}

// Several tables solved in turn, many if they are small: the branch predictor would learn a single one by
// heart.
std::vector<table> tables(profits kind, std::size_t rows) {
    std::vector<table> all;
    for (std::size_t i = 0; i < (rows <= 50 ? 256u : rows <= 200 ? 8u : 1u); ++i)
        all.push_back(made(kind, rows, 42 + i));
    return all;
}

// A straggler without a copy is paired at value 0.
double textbook(table const& t, std::vector<std::size_t>& row_of) {
    std::size_t const n = t.rows, m = t.columns;
    auto const costs_of_row = [&](std::size_t row) {
        return [full = t.full.data() + row * m](std::size_t column) { return -full[column]; };
    };
    straggle_bench::hungarian(n, m, costs_of_row, row_of);
    double sum = 0;
    for (std::size_t j = 1; j <= m; ++j)
        if (row_of[j] != 0) sum += t.full[(row_of[j] - 1) * m + j - 1];
    return sum;
}

void BM_textbook(benchmark::State& state, profits kind) {
    auto const all = tables(kind, static_cast<std::size_t>(state.range(0)));
    std::vector<std::size_t> row_of;
    std::size_t next = 0;
    for (auto _ : state) benchmark::DoNotOptimize(textbook(all[next++ % all.size()], row_of));
}

// Admits at most this share of the stragglers.
template <class Solver>
void BM_solver(benchmark::State& state, profits kind, double most) {
    auto const all = tables(kind, static_cast<std::size_t>(state.range(0)));
    Solver solver;
    std::vector<straggle::assign::assigned_pair> out;
    auto const solve = [&](table const& t) {
        double left = most * static_cast<double>(t.rows);
        solver(t.view(), t.room, out, [&](std::uint32_t) { return (left -= 1) >= 0; });
    };
    if (most == 1 && all.front().rows <= 500) { // the textbook method takes too long for larger ones
        std::vector<std::size_t> row_of;
        double best = 0, sum = 0;
        for (table const& t : all) {
            solve(t);
            double const textbooks = textbook(t, row_of), ours = t.sum(out);
            if (Solver::name == straggle::assign::optimal_assignment::name &&
                std::fabs(ours - textbooks) > 1e-9 * textbooks)
                return state.SkipWithError("not the same sum");
            best += textbooks;
            sum += ours;
        }
        state.counters["of_best"] = sum / best;
    }
    std::size_t next = 0;
    for (auto _ : state) {
        solve(all[next++ % all.size()]);
        benchmark::DoNotOptimize(out.data());
    }
}

struct task {
    std::uint32_t host;
    double left;
};
struct host {
    std::uint32_t name;
    int free;
    straggle::stats::empirical times;
};

template <class Matching>
void BM_choose(benchmark::State& state) {
    straggle_bench::lcg next;
    auto const n = static_cast<std::uint32_t>(state.range(0)), m = static_cast<std::uint32_t>(state.range(1));
    std::vector<task> tasks;
    std::vector<host> hosts;
    for (std::uint32_t i = 0; i < n; ++i)
        tasks.push_back({next() % m, 100 - 300 * std::log(1 - next.uniform())});
    for (std::uint32_t j = 0; j < m; ++j) {
        hosts.push_back({j, static_cast<int>(next() % 3), {}});
        double const slowdown = 1 + 2 * next.uniform();
        std::vector<double> samples;
        for (int k = 0; k < 32; ++k) samples.push_back(60 * slowdown * (0.7 + 0.6 * next.uniform()));
        hosts.back().times.assign(samples);
    }
    constexpr straggle::assign::straggler_fields task_fields{.runs_on = &task::host,
                                                             .remaining = &task::left};
    constexpr straggle::assign::backup_node_fields host_fields{.node = &host::name, .free = &host::free};
    auto const predict = [](task const&, host const& h) { return h.times.view(); };
    straggle::assign::assigner assigner(straggle::assign::expected_gain{}, Matching{});
    for (auto _ : state)
        benchmark::DoNotOptimize(assigner.choose(tasks, task_fields, hosts, host_fields, predict).profit);
    state.counters["per_pair"] =
        benchmark::Counter(static_cast<double>(n) * m,
                           benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void rivals(char const* name, profits kind) {
    using namespace straggle;
    auto const add = [&](char const* rival, auto run) {
        auto* b = benchmark::RegisterBenchmark((std::string("BM_") + name + "/" + rival).c_str(), run);
        b->Arg(10)->Arg(20)->Arg(50)->Arg(100)->Arg(200)->Arg(500)->Unit(benchmark::kMicrosecond);
        if (std::string_view(rival) == "straggle") b->Arg(1000)->Arg(2000);
    };
    add("straggle", [kind](benchmark::State& s) { BM_solver<assign::optimal_assignment>(s, kind, 1); });
    add("straggle_a_fifth",
        [kind](benchmark::State& s) { BM_solver<assign::optimal_assignment>(s, kind, 0.2); });
    add("textbook", [kind](benchmark::State& s) { BM_textbook(s, kind); });
    add("greedy", [kind](benchmark::State& s) { BM_solver<assign::greedy_assignment>(s, kind, 1); });
    add("in_turn", [kind](benchmark::State& s) { BM_solver<assign::assignment_in_turn>(s, kind, 1); });
}

[[maybe_unused]] bool const registered = [] {
    rivals("uniform", profits::uniform);
    rivals("realistic", profits::realistic);
    rivals("scaled", profits::scaled);
    rivals("whole", profits::whole);
    rivals("plenty", profits::plenty);
    auto const choose = [](char const* name, void (*run)(benchmark::State&)) {
        benchmark::RegisterBenchmark(name, run)
            ->Args({1, 1000})
            ->Args({20, 1000})
            ->Args({200, 1000})
            ->Unit(benchmark::kMicrosecond);
    };
    choose("BM_choose/in_turn", BM_choose<straggle::assign::assignment_in_turn>);
    choose("BM_choose/greedy", BM_choose<straggle::assign::greedy_assignment>);
    choose("BM_choose/optimal", BM_choose<straggle::assign::optimal_assignment>);
    return true;
}();

} // namespace
