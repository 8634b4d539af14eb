// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Random numbers for benchmark data: fast, and the same everywhere.
#pragma once

#include <cstdint>

namespace straggle_bench {

/// Knuth's 64-bit linear congruential generator; the upper 31 bits are good enough to make data.
struct lcg {
    std::uint64_t state = 42;

    std::uint32_t operator()() {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::uint32_t>(state >> 33);
    }
    /// In [0, 1).
    double uniform() { return (*this)() / 2147483648.0; }
};

} // namespace straggle_bench
