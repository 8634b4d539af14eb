// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/assign/small_job_clones.hpp>

#include <doctest/doctest.h>

#include <support/contract_trap.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>

using namespace straggle;
using assign::small_job_clones;

namespace {

// The least number of attempts of each task with which the job straggles seldom enough, counted up.
std::uint32_t least_clones(double share, std::size_t tasks, double left) {
    for (std::uint32_t c = 1;; ++c) {
        double const all_well = std::pow(1 - std::pow(share, c), static_cast<double>(tasks));
        if (1 - all_well <= left * (1 + 1e-12)) return c - 1;
    }
}

} // namespace

TEST_CASE(
    "small_job_clones: as many as it takes, by counting up, and a job then straggles as seldom as promised") {
    small_job_clones clones;
    CHECK(clones.straggler_share() == doctest::Approx(0.05));
    cluster_load const idle{.slots = 100000};
    for (std::size_t tasks = 1; tasks <= 200; ++tasks)
        CHECK(clones.clones_for(tasks, idle) == least_clones(0.05, tasks, 0.05));
    clones.observe(10000, 1500);
    double const share = clones.straggler_share();
    CHECK(share == doctest::Approx(0.149).epsilon(0.01));
    std::mt19937_64 random(1);
    std::bernoulli_distribution late(share);
    for (std::size_t const tasks : {1u, 5u, 10u}) {
        std::uint32_t const more = clones.clones_for(tasks, idle);
        CHECK(more == least_clones(share, tasks, 0.05));
        int straggled = 0;
        constexpr int jobs = 20000;
        for (int j = 0; j < jobs; ++j) {
            bool any = false;
            for (std::size_t t = 0; t < tasks; ++t) {
                bool all = true;
                for (std::uint32_t c = 0; c <= more; ++c) all = late(random) && all;
                any = any || all;
            }
            straggled += any ? 1 : 0;
        }
        CHECK(straggled <= 0.055 * jobs);
    }
}

TEST_CASE("small_job_clones: within its budget all tasks get them, beyond none") {
    small_job_clones const clones; // 5 % straggle: a job of ten takes two clones of each
    REQUIRE(clones.clones_for(10, {.slots = 100000}) == 1);
    CHECK(clones.clones_for(10, {.slots = 200}) == 1);              // ten clones of 200 slots
    CHECK(clones.clones_for(10, {.slots = 199}) == 0);              // are more than a twentieth
    CHECK(clones.clones_for(10, {.slots = 200, .copies = 1}) == 0); // promised to others
    CHECK(clones.clones_for(10, {.slots = 200, .busy = 150}) == 1); // 160 of 200
    CHECK(clones.clones_for(10, {.slots = 200, .busy = 151}) == 0);
    CHECK(clones.clones_for(10, {.slots = 200, .waiting = 151}) == 0);
    CHECK(clones.clones_for(0, {.slots = 200}) == 0);
    CHECK(clones.clones_for(10, {}) == 0);
    CHECK(small_job_clones({.budget = 0}).clones_for(10, {.slots = 1000}) == 0);
}

TEST_CASE(
    "small_job_clones: nothing straggles, everything does; options that make no sense break the contract") {
    small_job_clones never, always;
    never.observe(1000000, 0);
    CHECK(never.clones_for(10, {.slots = 1000}) == 0);
    always.observe(1000000, 2000000);
    CHECK(always.straggler_share() < 1);
    CHECK(always.clones_for(10, {.slots = 1000}) == 0);
    straggle_test::contract_trap const trap;
    CHECK_THROWS_AS(small_job_clones({.stragglers_left = 0}), straggle_test::broken_contract);
    CHECK_THROWS_AS(small_job_clones({.budget = 1.5}), straggle_test::broken_contract);
    CHECK_THROWS_AS(small_job_clones({.utilization = -1}), straggle_test::broken_contract);
}
