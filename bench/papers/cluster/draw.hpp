// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Random numbers that are the same everywhere: one engine, and the transforms the experiments need.
#pragma once

#include <straggle/base/random.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>

namespace cluster {

/// SplitMix64 (Steele, Lea, Flood 2014): small, and any seed is a good one.
class split_mix {
  public:
    using result_type = std::uint64_t;

    explicit split_mix(std::uint64_t seed) : state_(seed) {}
    /// An engine of its own for each purpose, so that one more draw here changes nothing there.
    split_mix(std::uint64_t seed, std::uint64_t purpose) : state_(seed) {
        state_ = (*this)() ^ (purpose * 0x9e3779b97f4a7c15u);
    }

    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
    result_type operator()() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

  private:
    std::uint64_t state_;
};

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
        double const r = std::sqrt(-2 * std::log(1 - uniform())); // drawn first, whoever compiles it
        return r * std::cos(2 * std::numbers::pi * uniform());
    }
    /// A factor with median 1.
    double lognormal(double sigma) { return std::exp(sigma * normal()); }
};

/// What the simulations draw from.
using draw = draws<split_mix>;

} // namespace cluster
