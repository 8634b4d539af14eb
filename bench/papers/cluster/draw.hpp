// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Random numbers that are the same everywhere: one engine, and the transforms the experiments need.
#pragma once

#include "../../support/split_mix.hpp"

#include <straggle/base/random.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

namespace cluster {

/// An engine, and what is drawn from it.
template <straggle::base::random_engine Engine>
class draws : public Engine {
  public:
    using Engine::Engine;

    double uniform() { return straggle::base::uniform_unit(*this); }
    std::size_t below(std::size_t n) {
        return static_cast<std::size_t>(straggle::base::uniform_below(*this, n));
    }
    double exponential(double mean) { return -mean * std::log(1 - uniform()); }
    double normal() {
        double const r = std::sqrt(-2 * std::log(1 - uniform())); // drawn first, with every compiler
        return r * std::cos(2 * std::numbers::pi * uniform());
    }
    /// A factor with median 1.
    double lognormal(double sigma) { return std::exp(sigma * normal()); }
};

/// What the simulations draw from.
using draw = draws<straggle_bench::split_mix>;

} // namespace cluster
