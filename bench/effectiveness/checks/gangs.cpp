// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../gangs/gang.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace lab;

namespace {

gang_scenario scenario_of(char const* fault, double factor) {
    gang_scenario s{.name = fault, .fault = fault};
    s.ranks = 8;
    s.steps = 1000;
    s.checkpoint = 100;
    s.spread = 0.05;
    s.factor = factor;
    s.restart = 60;
    return s;
}

TEST_CASE("gangs: a step ends with its slowest rank, and what is not own work is waited") {
    gang_plan const plan = make_gang(scenario_of("for_good", 2), 1);
    gang_job job(plan);
    while (!job.over()) {
        std::vector<step_report> reports;
        double const before = job.now();
        job.step(&reports);
        REQUIRE(reports.size() == 4 * 8);
        std::vector<double> took(8);
        double least = 1e9;
        for (step_report const& r : reports) {
            took[r.rank] += r.duration;
            if (r.section == "communication") least = std::min(least, r.waited);
        }
        for (double const t : took) CHECK(t == doctest::Approx(job.now() - before));
        CHECK(least >= 0);
        CHECK(least < 0.01); // the slowest barely waits
    }
}

TEST_CASE("gangs: a replacement costs the restart and the steps since the checkpoint, and cures the node") {
    gang_plan plan = make_gang(scenario_of("none", 1), 1);
    plan.nodes[2].faults = {{0, 3}};
    gang_job job(plan);
    for (int i = 0; i < 150; ++i) job.step(nullptr);
    double const now = job.now(), lost = job.since_checkpoint();
    CHECK(lost == doctest::Approx(50 * 0.9 * 3).epsilon(0.2));
    CHECK(job.slowdown_of(2) == 3);
    REQUIRE(job.replace(2));
    CHECK(job.slowdown_of(2) == 1);
    CHECK(job.now() == now + 60);
    CHECK(job.steps_left() == 900);
    CHECK(job.since_checkpoint() == 0);
}

TEST_CASE(
    "gangs: the library gains most of what an oracle gains, and loses little where nothing can be gained") {
    for (char const* const fault : {"for_good", "link", "skewed_steps", "skewed_data"}) {
        CAPTURE(fault);
        double nothing = 0, library = 0, oracle = 0;
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            gang_plan const plan = make_gang(scenario_of(fault, fault[0] == 'l' ? 10 : 2), seed);
            nothing += run_gang(plan, "nothing").time;
            library += run_gang(plan, "library").time;
            oracle += run_gang(plan, "oracle").time;
        }
        CHECK(oracle <= nothing);
        if (fault[0] == 's')
            CHECK(library < 1.06 * nothing); // one replacement is tried
        else
            CHECK(nothing - library > 0.75 * (nothing - oracle));
    }
}

} // namespace
