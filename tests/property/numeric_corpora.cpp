// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// The fuzz targets of the numeric entry points, each with its corpus: there is one of that name in every
// target.

#define LLVMFuzzerTestOneInput fuzz_one_set_of_intervals
#include "../fuzz/levels.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_one_quantile
#include "../fuzz/student_t.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_one_run_of_moments
#include "../fuzz/moments.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_one_assignment
#include "../fuzz/assignment.cpp"
#undef LLVMFuzzerTestOneInput

#include "support/corpus.hpp"
#include "support/seed.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace {

// Bytes of no meaning, as the fuzzer begins with.
void show_noise(int (*target)(std::uint8_t const*, std::size_t), int times) {
    std::uint64_t const seed = straggle_test::seed_or(20261122);
    CAPTURE(seed);
    std::mt19937_64 draw(seed);
    for (int i = 0; i < times; ++i) {
        std::vector<std::uint8_t> bytes(draw() % 300);
        for (auto& b : bytes) b = static_cast<std::uint8_t>(draw());
        CHECK(target(bytes.data(), bytes.size()) == 0);
    }
}

} // namespace

TEST_CASE("corpus of levels: peeled off as algorithm 3 says") {
    straggle_test::replay_corpus(__FILE__, "levels", fuzz_one_set_of_intervals);
    show_noise(fuzz_one_set_of_intervals, 200);
}

TEST_CASE("corpus of student_t: the inverse of its distribution function") {
    straggle_test::replay_corpus(__FILE__, "student_t", fuzz_one_quantile);
    show_noise(fuzz_one_quantile, 200);
}

TEST_CASE("corpus of moments: those of 128-bit sums and of two passes") {
    straggle_test::replay_corpus(__FILE__, "moments", fuzz_one_run_of_moments);
    show_noise(fuzz_one_run_of_moments, 200);
}

TEST_CASE("corpus of assignment: what trying everything brings") {
    straggle_test::replay_corpus(__FILE__, "assignment", fuzz_one_assignment);
    show_noise(fuzz_one_assignment, 100);
}
