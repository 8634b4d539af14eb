// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Random numbers that are the same everywhere and whatever a policy does: each thing that chance decides has
/// an engine of its own, made from what it is about, not from how many draws were made before.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

namespace lab {

/// SplitMix64 (Steele, Lea, Flood 2014): small, and any seed is a good one.
class draw {
  public:
    using result_type = std::uint64_t;

    explicit draw(std::uint64_t seed) : state_(seed) {}
    /// An engine for one purpose and one thing, such as attempt `c` of task `b` of job `a`.
    draw(std::uint64_t seed, std::uint64_t purpose, std::uint64_t a = 0, std::uint64_t b = 0,
         std::uint64_t c = 0)
        : state_(seed) {
        for (std::uint64_t const part : {purpose, a, b, c}) state_ = (*this)() ^ (part * 0x9e3779b97f4a7c15u);
    }

    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
    result_type operator()() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

    /// From [0, 1).
    double uniform() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }
    double uniform(double from, double to) { return from + (to - from) * uniform(); }
    /// From 0 to n - 1; the bias of at most n in 2^53 does not matter here.
    std::size_t below(std::size_t n) { return static_cast<std::size_t>(uniform() * static_cast<double>(n)); }
    double exponential(double mean) { return -mean * std::log(1 - uniform()); }
    double normal() {
        double const r = std::sqrt(-2 * std::log(1 - uniform())); // drawn first, whoever compiles it
        return r * std::cos(2 * std::numbers::pi * uniform());
    }
    /// With mean 1.
    double lognormal(double sigma) { return std::exp(sigma * normal() - sigma * sigma / 2); }
    /// With mean 1, but for what is cut off: the longest in ten thousand. @pre `alpha > 1`
    double pareto(double alpha) {
        double const left = 1 - uniform();
        return (alpha - 1) / alpha * std::pow(left > 1e-4 ? left : 1e-4, -1 / alpha);
    }

    template <class T>
    void shuffle(std::vector<T>& items) {
        for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
    }

  private:
    std::uint64_t state_;
};

} // namespace lab
