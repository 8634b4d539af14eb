// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The seed of random tests: the same each time unless the environment variable STRAGGLE_TEST_SEED says
/// otherwise. Put `INFO("seed ", seed)` in front of the checks so that a failure prints it.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace straggle_test {

inline std::uint64_t seed_or(std::uint64_t usual) {
    char const* const given = std::getenv("STRAGGLE_TEST_SEED");
    return given ? std::strtoull(given, nullptr, 10) : usual;
}

} // namespace straggle_test
