// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Checks that the distortions between a cluster and a policy are as specified, and the scenarios of the
/// second table.
#include "support.hpp"

#include "../cluster/speed.hpp"
#include "../run/distorted.hpp"
#include "../run/options.hpp"
#include "../scenarios/scenario.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

namespace {

using namespace lab;
using lab_checks::small_plan;
using lab_checks::told;

class late_watch final : public policy {
  public:
    std::vector<double>* late;
    explicit late_watch(std::vector<double>* to) : late(to) {}
    void on_task_end(attempt_record const& a, double now) override { late->push_back(now - a.end); }
};

TEST_CASE("ends are reported late by anything up to the most") {
    plan p = small_plan(50, 5000, 10);
    std::vector<double> late;
    auto const seen = distorted(std::make_unique<late_watch>(&late), {.late_ends = 30}, 7);
    CHECK(run(p, *seen).job_times[0] == doctest::Approx(1000)); // the cluster itself is not late
    double sum = 0, most = 0;
    for (double const l : late) sum += l, most = std::max(most, l);
    // Rounds of a second add half a second on average; the last 150 are not passed on.
    CHECK(sum / static_cast<double>(late.size()) == doctest::Approx(15.5).epsilon(0.03));
    CHECK(most <= 31);
    CHECK(late.size() > 4700);
}

TEST_CASE("of reports as many are lost, of clocks all are off, of plans each fifth is obeyed") {
    plan p = small_plan(100, 100, 1000);
    p.report_interval = 1;
    std::size_t looks = 0, fresh = 0, plans = 0;
    double ahead = 0, most = 0;
    auto inner = std::make_unique<told>();
    inner->does = [&](cluster_view const& v, decisions& out) {
        ++plans;
        for (running_attempt const& a : v.running) {
            if (v.now < 10) continue;
            ++looks;
            double const off = a.start; // all began at 0
            ahead += off;
            most = std::max(most, std::fabs(off));
            fresh += v.now - (a.reported - off) < 1;
        }
        out.nodes[0] = plans % 5 == 0 ? service::none : service::normal;
    };
    auto const seen = distorted(std::move(inner), {.lost_reports = 0.8, .skew = 20, .obeys = 5}, 7);
    result const r = run(p, *seen);
    CHECK(static_cast<double>(fresh) / static_cast<double>(looks) == doctest::Approx(0.2).epsilon(0.02));
    CHECK(std::fabs(ahead / static_cast<double>(looks)) < 4); // 20 / sqrt(3 * 100) is 1.2
    CHECK(most > 18);
    CHECK(most <= 20);
    CHECK(r.healthy_out == doctest::Approx(996).epsilon(0.01)); // from the fifth plan on, which is obeyed
}

std::filesystem::path const table = std::filesystem::path(LAB_FOLDER) / "scenarios" / "wild.csv";

scenario find(char const* name) {
    auto const all = read_scenarios(table);
    return *std::find_if(all.begin(), all.end(), [&](scenario const& s) { return s.name == name; });
}

TEST_CASE("a third of the second table is held out") {
    auto const all = read_scenarios(table);
    CHECK(all.size() == 42);
    CHECK(std::count_if(all.begin(), all.end(), [](scenario const& s) { return s.is_held_out; }) == 14);
}

TEST_CASE("load swings by the hour") {
    scenario s = find("swing-80");
    s.min_tasks = s.max_tasks = 1;
    s.more.waves = 200;
    plan const p = make_plan(s, first_tuning_seed, {});
    double const hours = std::floor(p.jobs.back().arrival / 3600);
    REQUIRE(hours >= 2);
    double up = 0, all = 0;
    for (job_spec const& j : p.jobs) {
        if (j.arrival >= 3600 * hours) break;
        all += 1;
        up += std::fmod(j.arrival, 3600) < 1800 ? 1 : 0;
    }
    // The integral of 1 + a sin over the first half, divided by that over the whole.
    CHECK(up / all == doctest::Approx(0.5 + 0.625 / std::numbers::pi).epsilon(0.01));
}

TEST_CASE("there are as many nodes as ever, under other names, but for the moments between") {
    scenario const s = find("renamed-40");
    plan const p = make_plan(s, first_tuning_seed, {});
    CHECK(p.nodes.size() == 6 * s.nodes);
    double there = 0, checks = 0;
    for (double at = 0; at < p.jobs.back().arrival; at += 7) {
        for (node_spec const& n : p.nodes)
            there += std::none_of(n.away.begin(), n.away.end(),
                                  [&](time_span const& gone) { return at >= gone.from && at < gone.to; })
                         ? 1
                         : 0;
        checks += 1;
    }
    double const gap = 5 * 2 * s.task_seconds / p.jobs.back().arrival; // of each place
    CHECK(there / checks / s.nodes == doctest::Approx(1 - gap).epsilon(0.005));
}

TEST_CASE("a service holds its share of the slots all the time") {
    scenario const s = find("service-60");
    plan const p = make_plan(s, first_tuning_seed, {});
    REQUIRE(p.jobs.front().is_service);
    CHECK(p.jobs.front().tasks.size() == 20);
    CHECK(p.jobs.front().tasks.front().work >= p.jobs.back().arrival);
}

TEST_CASE("neighbors are loud for a third of each hour, around its peak") {
    scenario const s = find("neighbors-80");
    plan const p = make_plan(s, first_tuning_seed, {});
    std::size_t loud = 0;
    for (node_spec const& n : p.nodes) {
        if (n.faults.empty()) continue;
        ++loud;
        CHECK(slowdown_at(n, 900) == 2.5);
        CHECK(slowdown_at(n, 2700) == 1);
        CHECK(work_between(n, 0, 3600) == doctest::Approx(n.speed * (2400 + 1200 / 2.5)));
    }
    CHECK(loud == 10);
}

} // namespace
