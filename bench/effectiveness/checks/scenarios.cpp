// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Checks the frozen table, what seeds make of it, and that runs are the same everywhere.
#include "../policies/make_policy.hpp"
#include "../run/measurement.hpp"
#include "../run/options.hpp"
#include "../scenarios/scenario.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace {

using namespace lab;

std::filesystem::path const table = std::filesystem::path(LAB_FOLDER) / "scenarios" / "scenarios.csv";

TEST_CASE("the table is as it was frozen") {
    std::ifstream in(table);
    std::string const text{std::istreambuf_iterator<char>(in), {}};
    std::uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
    for (char const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    CHECK(hash == 0x744c6be8c873cdeeu);
    auto const all = read_scenarios(table);
    CHECK(all.size() == 96);
    std::set<std::string> names;
    for (scenario const& s : all) {
        names.insert(s.name);
        CHECK(s.nodes >= 20);
        CHECK(s.nodes <= 500);
        CHECK(s.slots <= 16);
    }
    CHECK(names.size() == all.size());
}

TEST_CASE("load is work over what the nodes can do by design; a seed makes one plan") {
    for (scenario const& s : read_scenarios(table)) {
        if (s.needs_histories()) continue;
        plan const p = make_plan(s, first_tuning_seed, {}), again = make_plan(s, first_tuning_seed, {});
        double work = 0, capacity = 0;
        for (job_spec const& j : p.jobs)
            for (task_spec const& t : j.tasks) work += t.work + p.launch;
        for (node_spec const& n : p.nodes) capacity += n.slots * n.speed;
        // The last of n arrivals in a period is expected at n / (n + 1) of it.
        double const n = static_cast<double>(p.jobs.size());
        CAPTURE(s.name);
        CHECK(work / (capacity * p.jobs.back().arrival * (n + 1) / n) ==
              doctest::Approx(s.load).epsilon(0.06));
        CHECK(healthy_load(s, p) >= s.load * 0.999);
        CHECK(p.jobs.size() >= 120);
        CHECK(p.jobs.back().arrival == again.jobs.back().arrival);
        CHECK(p.jobs.back().arrival != make_plan(s, first_reporting_seed, {}).jobs.back().arrival);
    }
}

TEST_CASE("the same seed makes the same run, by any compiler") {
    // Results of g++ 12.
    struct {
        char const* scenario;
        char const* policy;
        std::uint64_t digest;
    } const runs[] = {{"episodes-60", "nothing", 0x02c9e6a8ad1d9da5u},
                      {"quiet-spread", "spark4", 0xedfa55fcba6e559fu},
                      {"episodes-60", "hadoop", 0x19c55c550aaf5afeu},
                      {"episodes-60", "dolly", 0x8612bd7bd68dae64u},
                      {"04-pareto_size-slow_40-80", "late", 0x327ac54e9c2a93fcu},
                      {"51-sizes_hidden-episodes-60", "flink_limited", 0x808458f0f306f3e7u}};
    auto const all = read_scenarios(table);
    for (auto const& r : runs) {
        auto const s =
            std::find_if(all.begin(), all.end(), [&](scenario const& x) { return x.name == r.scenario; });
        REQUIRE(s != all.end());
        plan const p = make_plan(*s, first_tuning_seed, {});
        auto const decides = find_policy(r.policy).make(
            {.nodes = s->nodes, .slots = s->nodes * s->slots, .heartbeat = p.heartbeat, .seed = p.seed});
        CAPTURE(r.scenario);
        CAPTURE(r.policy);
        CHECK(run(p, *decides).digest == r.digest);
    }
}

TEST_CASE("a row of results is read as it was written") {
    measurement m;
    m.scenario = "a";
    m.policy = "b";
    m.seed = 1000007;
    m.jobs = 5;
    m.mean = 1.5;
    m.p99 = 2.25;
    m.stuck = true;
    m.digest = 0xfedcba9876543210u;
    measurement const r = from_row(to_row(m));
    CHECK(to_row(r) == to_row(m));
    CHECK(r.digest == m.digest);
    CHECK(r.stuck);
    CHECK_THROWS((void)from_row("a,b,1"));
}

TEST_CASE("a comparison is the ratio of the means, and half of its interval") {
    comparison const c = compare({9, 22, 27}, {10, 20, 30});
    CHECK(c.point == doctest::Approx(-2 / 60.0));
    CHECK(c.half_width > 0.05);
    CHECK(compare({11, 22, 33}, {10, 20, 30}).half_width == doctest::Approx(0));
    CHECK(std::isinf(compare({1}, {2}).half_width));
}

TEST_CASE("patterns choose names") {
    CHECK(fits("quiet-60", "quiet*"));
    CHECK(fits("quiet-60", "*-60"));
    CHECK(fits("quiet-60", "q*t*0"));
    CHECK(fits("quiet-60", "quiet-60"));
    CHECK_FALSE(fits("quiet-60", "quiet"));
    CHECK_FALSE(fits("quiet-60", "*-8*"));
}

} // namespace
