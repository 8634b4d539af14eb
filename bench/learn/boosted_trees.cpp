// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Boosted trees against XGBoost (exact splits, one thread), as ML-NA trains them: eta 0.1, depth 12.
/// `train/<rival>` goes from a table to trees, `predict/<rival>` from rows to probabilities; both must give
/// the same probabilities before they are timed. XGBoost predicts in place, its fastest way for a table: no
/// matrix is made, and nothing is cached between calls.

#include <straggle/learn/boosted_trees_trainer.hpp>

#include "../support/lcg.hpp"

#include <benchmark/benchmark.h>

#if STRAGGLE_BENCH_HAS_XGBOOST
#include <xgboost/c_api.h>
#endif

#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace {

// ------------------------------------------------------------------------------------------------ examples

struct examples {
    std::size_t columns = 0;
    std::uint32_t rounds = 0;
    std::vector<float> table{};
    std::vector<std::uint8_t> labels{};

    straggle::learn::feature_matrix<float> all() const {
        return straggle::learn::feature_matrix(table, columns);
    }
    straggle::learn::boosted_trees_options how() const { return {.rounds = rounds}; }
};

// Nodes with a tendency that every feature shows with much noise; a quarter of them are weak.
examples const& make(std::size_t rows, std::size_t columns, std::uint32_t rounds, int percent_missing) {
    static std::map<std::tuple<std::size_t, std::size_t, std::uint32_t, int>, examples> known;
    examples& set = known[{rows, columns, rounds, percent_missing}];
    if (!set.table.empty()) return set;
    straggle_bench::lcg random;
    set.columns = columns;
    set.rounds = rounds;
    for (std::size_t r = 0; r < rows; ++r) {
        double const tendency = 2 * random.uniform() - 1;
        for (std::size_t c = 0; c < columns; ++c) {
            double const x = tendency + 2 * (random.uniform() + random.uniform() - 1);
            set.table.push_back(100 * random.uniform() < percent_missing
                                    ? std::numeric_limits<float>::quiet_NaN()
                                    : static_cast<float>(x));
        }
        set.labels.push_back(tendency + 0.5 * (random.uniform() - 0.5) > 0.5 ? 1 : 0);
    }
    return set;
}

// ------------------------------------------------------------------------------------------------ rivals

struct straggle_trees {
    straggle::learn::boosted_trees_trainer trainer;

    explicit straggle_trees(examples const& set) : trainer(set.how()) {}
    bool train(examples const& set) { return trainer.fit(set.all(), set.labels) == straggle::status::ok; }
    void predict(examples const& set, std::vector<double>& out) { trainer.model().predict(set.all(), out); }
};

// Row by row, as a scheduler queries.
struct straggle_row : straggle_trees {
    using straggle_trees::straggle_trees;
    void predict(examples const& set, std::vector<double>& out) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = trainer.predict(set.all().row(i));
    }
};

#if STRAGGLE_BENCH_HAS_XGBOOST

class xgboost_trees {
  public:
    explicit xgboost_trees(examples const&) {}
    xgboost_trees(xgboost_trees const&) = delete;
    xgboost_trees& operator=(xgboost_trees const&) = delete;
    ~xgboost_trees() { forget(); }

    bool train(examples const& set) {
        forget();
        std::vector<float> const labels(set.labels.begin(), set.labels.end());
        auto const set_parameter = [&](char const* name, std::string const& value) {
            return XGBoosterSetParam(booster_, name, value.c_str()) == 0;
        };
        straggle::learn::boosted_trees_options const how = set.how();
        bool good = XGDMatrixCreateFromMat(set.table.data(), labels.size(), set.columns,
                                           std::numeric_limits<float>::quiet_NaN(), &data_) == 0 &&
                    XGDMatrixSetFloatInfo(data_, "label", labels.data(), labels.size()) == 0 &&
                    XGBoosterCreate(&data_, 1, &booster_) == 0 && set_parameter("tree_method", "exact") &&
                    set_parameter("objective", "binary:logistic") && set_parameter("nthread", "1") &&
                    set_parameter("verbosity", "0") && set_parameter("eta", std::to_string(how.eta)) &&
                    set_parameter("max_depth", std::to_string(how.max_depth));
        for (std::uint32_t round = 0; good && round < how.rounds; ++round)
            good = XGBoosterUpdateOneIter(booster_, static_cast<int>(round), data_) == 0;
        return good;
    }

    void predict(examples const& set, std::vector<double>& out) {
        predict(set.table.data(), set.columns, out);
    }

  protected:
    void predict(float const* rows, std::size_t columns, std::span<double> out) {
        char table[200];
        std::snprintf(table, sizeof table,
                      R"({"data": [%llu, false], "shape": [%zu, %zu], "typestr": "<f4", "version": 3})",
                      static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(rows)), out.size(),
                      columns);
        bst_ulong const* shape = nullptr;
        bst_ulong dimensions = 0;
        float const* found = nullptr;
        static constexpr char how[] =
            R"({"type": 0, "training": false, "iteration_begin": 0, "iteration_end": 0,
            "missing": NaN, "strict_shape": false, "cache_id": 0})";
        if (XGBoosterPredictFromDense(booster_, table, how, nullptr, &shape, &dimensions, &found) == 0)
            for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(found[i]);
    }

  private:
    void forget() {
        if (booster_ != nullptr) XGBoosterFree(booster_);
        if (data_ != nullptr) XGDMatrixFree(data_);
        booster_ = nullptr;
        data_ = nullptr;
    }

    BoosterHandle booster_ = nullptr;
    DMatrixHandle data_ = nullptr;
};

struct xgboost_row : xgboost_trees {
    using xgboost_trees::xgboost_trees;
    void predict(examples const& set, std::vector<double>& out) {
        for (std::size_t i = 0; i < out.size(); ++i)
            xgboost_trees::predict(set.table.data() + i * set.columns, set.columns,
                                   std::span(out).subspan(i, 1));
    }
};

#endif

// ------------------------------------------------------------------------------------------------ registry

std::vector<double> expected_of(examples const& set) {
    straggle_trees reference(set);
    std::vector<double> expected(set.labels.size());
    if (reference.train(set)) reference.predict(set, expected);
    return expected;
}

template <class Rival>
bool agrees(Rival& rival, examples const& set) {
    std::vector<double> found(set.labels.size(), -1.0);
    rival.predict(set, found);
    return found == expected_of(set);
}

template <class Rival>
void train(benchmark::State& state, examples const& set) {
    Rival rival(set);
    if (!rival.train(set) || !agrees(rival, set)) return state.SkipWithError("other trees");
    for (auto _ : state) benchmark::DoNotOptimize(rival.train(set));
}

template <class Rival>
void predict(benchmark::State& state, examples const& set) {
    Rival rival(set);
    if (!rival.train(set) || !agrees(rival, set)) return state.SkipWithError("other trees");
    std::vector<double> out(set.labels.size());
    for (auto _ : state) {
        rival.predict(set, out);
        benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(out.size()));
}

int register_all() {
    struct shape {
        std::size_t rows, columns;
        std::uint32_t rounds;
        int percent_missing;
    };
    // A month, nine months (with gaps), and more than ML-NA will ever see.
    static constexpr shape shapes[] = {
        {116, 90, 100, 0}, {116, 90, 100, 10}, {1044, 90, 100, 10}, {10000, 90, 20, 0}, {100000, 20, 5, 0}};
    for (shape const& s : shapes) {
        std::string const where =
            "/rows:" + std::to_string(s.rows) + "/columns:" + std::to_string(s.columns) +
            "/rounds:" + std::to_string(s.rounds) + "/missing:" + std::to_string(s.percent_missing);
        auto const add = [&](std::string const& name, void (*run)(benchmark::State&, examples const&)) {
            benchmark::RegisterBenchmark((name + where).c_str(), [s, run](benchmark::State& state) {
                run(state, make(s.rows, s.columns, s.rounds, s.percent_missing));
            })->Unit(benchmark::kMicrosecond);
        };
        add("train/straggle", &train<straggle_trees>);
        add("predict/straggle", &predict<straggle_trees>);
        add("predict_row_by_row/straggle", &predict<straggle_row>);
#if STRAGGLE_BENCH_HAS_XGBOOST
        add("train/xgboost", &train<xgboost_trees>);
        add("predict/xgboost", &predict<xgboost_trees>);
        if (s.rows <= 10000) add("predict_row_by_row/xgboost", &predict<xgboost_row>);
#endif
    }
    return 0;
}

[[maybe_unused]] int const registered = register_all();

} // namespace
