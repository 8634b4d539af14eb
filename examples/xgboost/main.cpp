// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// A forecast works with any classifier: here XGBoost through its C API, beside the trees of the library,
/// which must give the same result.

#include <straggle/learn/boosted_trees_trainer.hpp>
#include <straggle/learn/forecast.hpp>

#include <xgboost/c_api.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

//! [xgboost]
class xgboost {
  public:
    static constexpr std::string_view name = "xgboost";

    xgboost() = default;
    xgboost(xgboost&& other) noexcept : booster_(std::exchange(other.booster_, nullptr)) {}
    xgboost& operator=(xgboost&& other) noexcept {
        std::swap(booster_, other.booster_);
        return *this;
    }
    ~xgboost() { XGBoosterFree(booster_); }

    straggle::status fit(straggle::learn::feature_matrix<double> const& rows,
                         std::span<std::uint8_t const> labels) {
        if (rows.empty()) return straggle::status::insufficient_evidence;
        std::vector<float> const values(rows.values().begin(), rows.values().end());
        std::vector<float> const wanted(labels.begin(), labels.end());
        DMatrixHandle data = nullptr;
        bool good = XGDMatrixCreateFromMat(values.data(), rows.rows(), rows.columns(), NAN, &data) == 0 &&
                    XGDMatrixSetFloatInfo(data, "label", wanted.data(), wanted.size()) == 0;
        XGBoosterFree(std::exchange(booster_, nullptr));
        good = good && XGBoosterCreate(&data, 1, &booster_) == 0;
        constexpr std::pair<char const*, char const*> parameters[] = {{"objective", "binary:logistic"},
                                                                      {"tree_method", "exact"},
                                                                      {"eta", "0.1"},
                                                                      {"max_depth", "12"},
                                                                      {"nthread", "1"}};
        for (auto const& [key, value] : parameters)
            good = good && XGBoosterSetParam(booster_, key, value) == 0;
        for (int round = 0; round < 100 && good; ++round)
            good = XGBoosterUpdateOneIter(booster_, round, data) == 0;
        XGDMatrixFree(data);
        return good ? straggle::status::ok : straggle::status::out_of_domain;
    }

    [[nodiscard]] double predict(std::span<double const> row) const {
        if (booster_ == nullptr) return 0.5;
        std::vector<float> const values(row.begin(), row.end());
        DMatrixHandle data = nullptr;
        bst_ulong size = 0;
        float const* out = nullptr;
        double p = 0.5;
        if (XGDMatrixCreateFromMat(values.data(), 1, values.size(), NAN, &data) == 0 &&
            XGBoosterPredict(booster_, data, 0, 0, 0, &size, &out) == 0 && size == 1)
            p = static_cast<double>(*out);
        XGDMatrixFree(data);
        return p;
    }

  private:
    BoosterHandle booster_ = nullptr;
};
static_assert(straggle::learn::classifier<xgboost>);
//! [xgboost]

int main() {
    // Nodes whose three features drift; they are weak in the next month if the first two are high.
    std::vector<straggle::learn::node_period<int>> months(5);
    std::uint64_t state = 1;
    auto const unit = [&state] {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<double>(state >> 11) * 0x1p-53;
    };
    for (std::size_t m = 0; m < months.size(); ++m)
        for (int node = 0; node < 100; ++node) {
            months[m].nodes.push_back(node);
            for (int k = 0; k < 3; ++k) months[m].features.push_back(unit());
            auto const* const before =
                m == 0 ? nullptr : &months[m - 1].features[3 * static_cast<std::size_t>(node)];
            months[m].weak.push_back(before != nullptr && before[0] + before[1] > 1.4 ? 1 : 0);
        }

    straggle::learn::forecaster<int, xgboost> theirs;
    straggle::learn::forecaster<int, straggle::learn::boosted_trees_trainer> ours;
    std::vector<straggle::learn::node_forecast<int>> a, b;
    if (theirs.fit(months) != straggle::status::ok || ours.fit(months) != straggle::status::ok ||
        theirs.forecast(months.back(), a) != straggle::status::ok ||
        ours.forecast(months.back(), b) != straggle::status::ok)
        return 1;
    double apart = 0;
    std::size_t weak = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        apart = std::max(apart, std::fabs(a[i].probability - b[i].probability));
        weak += b[i].probability >= 0.5;
    }
    std::printf("%zu of %zu nodes are likely to be weak next month; the two differ by at most %.1g\n", weak,
                a.size(), apart);
    return apart <= 1e-6 ? 0 : 1;
}
