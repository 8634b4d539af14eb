// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Random numbers that are the same everywhere: the engine of the laboratory and of the papers' simulations.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace straggle_bench {

/// SplitMix64 (Steele, Lea, Flood 2014): any seed is a good one.
class split_mix {
  public:
    using result_type = std::uint64_t;

    explicit split_mix(std::uint64_t seed) : state_(seed) {}
    /// A separate engine for each purpose and thing, such as attempt `c` of task `b` of job `a`, so that
    /// one more draw here changes nothing there.
    template <std::same_as<std::uint64_t>... More>
    split_mix(std::uint64_t seed, std::uint64_t purpose, More... more) : state_(seed) {
        for (std::uint64_t const part : {purpose, more...}) state_ = (*this)() ^ (part * 0x9e3779b97f4a7c15u);
    }

    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return (std::numeric_limits<result_type>::max)(); }
    result_type operator()() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

  private:
    std::uint64_t state_;
};

} // namespace straggle_bench
