// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Histories of tasks as bytes, as the fuzzer sees them.

#define LLVMFuzzerTestOneInput fuzz_one_history
#include "../fuzz/similar_tasks.cpp"
#undef LLVMFuzzerTestOneInput

#include "../support/corpus.hpp"
#include "../support/seed.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

TEST_CASE("similar_tasks bytes: the corpus of the fuzzer") {
    straggle_test::replay_corpus(__FILE__, "similar_tasks", fuzz_one_history);
}

TEST_CASE("similar_tasks bytes: what the fuzzer does, on random tasks and edits") {
    std::mt19937_64 draw(straggle_test::seed_or(5303));
    for (int round = 0; round < 300; ++round) {
        std::uint64_t const tasks = draw() % 96, edits = draw() % 4;
        std::vector<std::uint8_t> bytes{static_cast<std::uint8_t>(tasks)};
        for (std::uint64_t i = 0; i < 3 * tasks; ++i)
            bytes.push_back(static_cast<std::uint8_t>(i % 3 == 0 ? draw() % 256 : draw() % 240));
        for (std::uint64_t i = 0; i < edits; ++i) {
            bytes.push_back(static_cast<std::uint8_t>(draw() % 8));
            bytes.push_back(static_cast<std::uint8_t>(draw()));
            bytes.push_back(static_cast<std::uint8_t>(draw() % 3 == 0 ? draw() : draw() % 4));
        }
        fuzz_one_history(bytes.data(), bytes.size());
    }
}
