// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/gang/end_watch.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using straggle::gang::end_watch;

struct jobs_of {
    int tasks = 8, nodes = 8;
    double cv = 0.1, length = 100, resolution = 0;
    bool waits = false; // for the slowest
    bool says_waits = false;
};
void run(end_watch& watch, jobs_of const& how, int jobs, std::mt19937_64& engine,
         std::uint64_t first_job = 0) {
    auto const clock = [&](double t) {
        return how.resolution > 0 ? how.resolution * std::floor(t / how.resolution) : t;
    };
    for (int j = 0; j < jobs; ++j) {
        double const start = 200.0 * j + 0.123;
        std::vector<double> work;
        for (int t = 0; t < how.tasks; ++t)
            work.push_back(how.length * std::exp(how.cv * std::normal_distribution<>()(engine)));
        double const longest = *std::max_element(work.begin(), work.end());
        for (int t = 0; t < how.tasks; ++t) {
            double const own = work[static_cast<std::size_t>(t)];
            double const end =
                start + (how.waits ? longest + 0.01 * std::generate_canonical<double, 53>(engine) : own);
            watch.observe({.node = static_cast<std::uint32_t>(t % how.nodes),
                           .job = first_job + static_cast<std::uint64_t>(j),
                           .start = clock(start),
                           .end = clock(end),
                           .waited = how.says_waits ? longest - own + 1e-6 : 0});
        }
    }
}

TEST_CASE("end_watch: five jobs whose tasks end together are gangs") {
    std::mt19937_64 engine(1);
    end_watch watch;
    run(watch, {.waits = true}, 4, engine);
    CHECK_FALSE(watch.looks_like_gangs());
    run(watch, {.waits = true}, 1, engine, 4);
    CHECK(watch.looks_like_gangs());
    // Other jobs follow, whose tasks do not.
    run(watch, {}, 20, engine, 100);
    CHECK_FALSE(watch.looks_like_gangs());
}

TEST_CASE("end_watch: in 2000 clusters without gangs none is seen") {
    std::mt19937_64 engine(2);
    int seen = 0;
    for (int i = 0; i < 2000; ++i) {
        end_watch watch;
        for (std::uint64_t part = 0; part < 10; ++part) {
            run(watch, {.tasks = 4 + i % 5, .nodes = 3 + i % 4, .cv = i % 2 == 0 ? 0.02 : 0.3}, 6, engine,
                6 * part);
            if (watch.looks_like_gangs()) {
                ++seen;
                break;
            }
        }
    }
    CHECK(seen == 0);
}

TEST_CASE("end_watch: waits that are known, few tasks, few nodes and coarse clocks say nothing") {
    std::mt19937_64 engine(3);
    for (jobs_of const& how :
         {jobs_of{.waits = true, .says_waits = true}, jobs_of{.tasks = 3, .waits = true},
          jobs_of{.nodes = 2, .waits = true}, jobs_of{.cv = 0.01, .length = 1.4, .resolution = 1}}) {
        end_watch watch;
        run(watch, how, 40, engine);
        CHECK_FALSE(watch.looks_like_gangs());
    }
    end_watch coarse;
    run(coarse, {.length = 150, .resolution = 1, .waits = true}, 10, engine);
    CHECK(coarse.looks_like_gangs());
}

} // namespace
