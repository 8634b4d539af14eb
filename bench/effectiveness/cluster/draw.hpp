// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Random numbers that are the same everywhere and under every policy: each random event has its own engine,
/// seeded by what the event is about, not by the number of earlier draws.
#pragma once

#include "../../support/split_mix.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

namespace lab {

/// An engine, and what is drawn from it.
class draw : public straggle_bench::split_mix {
  public:
    explicit draw(std::uint64_t seed) : split_mix(seed) {}
    /// An engine for one purpose and one thing, such as attempt `c` of task `b` of job `a`.
    draw(std::uint64_t seed, std::uint64_t purpose, std::uint64_t a = 0, std::uint64_t b = 0,
         std::uint64_t c = 0)
        : split_mix(seed, purpose, a, b, c) {}

    /// From [0, 1).
    double uniform() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }
    double uniform(double from, double to) { return from + (to - from) * uniform(); }
    /// From 0 to n - 1; the bias of at most n in 2^53 does not matter here.
    std::size_t below(std::size_t n) { return static_cast<std::size_t>(uniform() * static_cast<double>(n)); }
    double exponential(double mean) { return -mean * std::log(1 - uniform()); }
    double normal() {
        double const r = std::sqrt(-2 * std::log(1 - uniform())); // drawn first, with every compiler
        return r * std::cos(2 * std::numbers::pi * uniform());
    }
    /// With mean 1.
    double lognormal(double sigma) { return std::exp(sigma * normal() - sigma * sigma / 2); }
    /// With mean 1, except that the longest in ten thousand are cut off. @pre `alpha > 1`
    double pareto(double alpha) {
        double const left = 1 - uniform();
        return (alpha - 1) / alpha * std::pow(left > 1e-4 ? left : 1e-4, -1 / alpha);
    }

    template <class T>
    void shuffle(std::vector<T>& items) {
        for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
    }
};

} // namespace lab
