// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Pairs of tasks for the tests of weights.
#pragma once

#include <straggle/predict/weights.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace straggle_test {

inline constexpr straggle::predict::weight_options affine{
    .objective = straggle::predict::weight_objective::affine, .least_pairs = 1, .memory = 0};
inline constexpr straggle::predict::weight_options literal{
    .objective = straggle::predict::weight_objective::simplex, .least_pairs = 1, .memory = 0};
inline constexpr double tiny = 1e-13; // some roundings of numbers up to 1

struct pair_of_tasks {
    std::vector<double> s;
    double r = 0;
};
using pairs = std::vector<pair_of_tasks>;

inline straggle::predict::weight_fit fit_of(pairs const& data,
                                            straggle::predict::weight_options const& options) {
    straggle::predict::weight_fit fit(data.front().s.size(), options);
    for (pair_of_tasks const& p : data) REQUIRE(fit.observe(p.s, p.r) == straggle::status::ok);
    return fit;
}

struct fitted {
    straggle::status reason = straggle::status::ok;
    std::vector<double> w;
};
inline fitted weights_of(straggle::predict::weight_fit const& fit) {
    straggle::predict::weight_scratch scratch;
    fitted result{straggle::status::ok,
                  std::vector<double>(fit.factors(), std::numeric_limits<double>::quiet_NaN())};
    result.reason = fit.fit(result.w, scratch);
    return result;
}
inline fitted weights_of(pairs const& data, straggle::predict::weight_options const& options) {
    return weights_of(fit_of(data, options));
}

inline double furthest(std::span<double const> a, std::span<double const> b) {
    REQUIRE(a.size() == b.size());
    double most = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
        double const off = std::fabs(a[k] - b[k]);
        if (!(off <= most)) most = off; // NaN, too
    }
    return most;
}
// For lists in braces.
inline double furthest(std::vector<double> const& a, std::vector<double> const& b) {
    return furthest(std::span(a), std::span(b));
}

} // namespace straggle_test
