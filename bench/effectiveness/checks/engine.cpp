// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The simulated cluster against runs computed by hand.
#include "support.hpp"

#include "../cluster/attempt.hpp"
#include "../cluster/speed.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

namespace {

using namespace lab;
using lab_checks::small_plan;
using lab_checks::told;

TEST_CASE("work is integrated through changes of speed") {
    node_spec n;
    n.speed = 2;
    n.faults = {{10, 4}, {20, 1}, {30, 20}};
    CHECK(slowdown_at(n, 5) == 1);
    CHECK(slowdown_at(n, 10) == 4);
    CHECK(work_between(n, 0, 40) == doctest::Approx(20 + 5 + 20 + 1));
    CHECK(time_of(n, 5, 10 + 5 + 8) == doctest::Approx(24));
    CHECK(time_of(n, 0, 10) == doctest::Approx(5));
    CHECK(time_of(n, 40, 1) == doctest::Approx(50));
    CHECK(work_between(n, 7, time_of(n, 7, 33.3)) == doctest::Approx(33.3));
}

TEST_CASE("tasks go in waves over free slots") {
    plan p = small_plan(2, 6, 10);
    told t;
    result const r = run(p, t);
    CHECK(r.job_times[0] == doctest::Approx(30));
    CHECK(r.useful == doctest::Approx(60));
    CHECK(r.wasted == 0);
    CHECK(r.attempts == 6);
    CHECK(r.first_wait == doctest::Approx((0 + 10 + 20) / 3.0));
}

TEST_CASE("the first attempt to finish wins, the other is killed") {
    plan p = small_plan(2, 1, 100);
    p.nodes[0].faults = p.nodes[1].faults = {{0, 10}};
    told t;
    bool copied = false;
    t.does = [&](cluster_view const& v, decisions& out) {
        if (copied || v.now < 20) return;
        auto const on = v.running[0].node;
        p.nodes[1 - on].faults.clear(); // the copy is fast: 20 + 100
        out.copies.push_back({0, 0, 1 - on});
        copied = true;
    };
    result const r = run(p, t);
    CHECK(r.job_times[0] == doctest::Approx(120));
    CHECK(r.copies == 1);
    CHECK(r.won == 1);
    CHECK(r.useful == doctest::Approx(100));
    CHECK(r.wasted == doctest::Approx(120));
    REQUIRE(t.ended.size() == 2);
    CHECK(t.ended[0].how == ending::finished);
    CHECK(t.ended[0].copy);
    CHECK(t.ended[1].how == ending::killed);
    CHECK(t.ended[1].outrun);
}

TEST_CASE("a node that goes away loses its tasks and gets none") {
    plan p = small_plan(1, 2, 10);
    p.nodes[0].away = {{15, 40}};
    told t;
    CHECK(run(p, t).job_times[0] == doctest::Approx(50));
    REQUIRE(t.ended.size() == 3);
    CHECK(t.ended[1].how == ending::lost);
    CHECK(t.ended[1].end == doctest::Approx(15));
    CHECK(t.ended[2].number == 1);
}

TEST_CASE("where all attempts fail they fail soon, and are made again") {
    plan p = small_plan(1, 1, 10);
    p.hole_time = 2;
    p.nodes[0].holes = {{0, 5}};
    told t;
    CHECK(run(p, t).job_times[0] == doctest::Approx(6 + 10));
    REQUIRE(t.ended.size() == 4);
    CHECK(t.ended[0].how == ending::failed);
    CHECK(t.ended[0].took() == doctest::Approx(2));
}

TEST_CASE("attempts that fail are as many as they should be") {
    plan p = small_plan(50, 5000, 10);
    p.failures = 0.1;
    told t;
    result const r = run(p, t);
    CHECK(static_cast<double>(r.attempts) / 5000 == doctest::Approx(1 / 0.9).epsilon(0.02));
    CHECK(r.wasted / r.useful == doctest::Approx(0.05 / 0.9).epsilon(0.1));
}

TEST_CASE("nodes get what the policy says") {
    plan p = small_plan(3, 30, 10);
    told t;
    SUBCASE("nothing while excluded") {
        t.does = [](cluster_view const& v, decisions& out) {
            out.nodes[1] = v.now < 50 ? service::none : service::normal;
        };
        p.copies_first = true; // decided before the first tasks are placed
        (void)run(p, t);
        for (auto const& a : t.ended) CHECK_FALSE((a.node == 1 && a.start < 50));
        CHECK(std::any_of(t.ended.begin(), t.ended.end(), [](auto const& a) { return a.node == 1; }));
    }
    SUBCASE("a last resort is asked when all others are busy, and the policy may say no") {
        p.copies_first = true;
        p.jobs[0].tasks.resize(2);
        t.does = [](cluster_view const&, decisions& out) { out.nodes[0] = service::last_resort; };
        (void)run(p, t);
        for (auto const& a : t.ended) CHECK(a.node != 0);
    }
}

TEST_CASE("a policy is offered all free nodes in order, and gets the one it chooses") {
    plan p = small_plan(4, 3, 10);
    p.copies_first = true;
    told t;
    t.does = [](cluster_view const&, decisions& out) { out.nodes[0] = out.nodes[2] = service::none; };
    std::vector<std::vector<std::uint32_t>> offered;
    t.places = [&](std::span<std::uint32_t const> free) {
        offered.emplace_back(free.begin(), free.end());
        return free.size() == 2 ? policy::wait : 0u;
    };
    SUBCASE("one that is out, too") {
        CHECK(run(p, t).job_times[0] == doctest::Approx(20));
        REQUIRE(offered.size() >= 3);
        CHECK(offered[0] == std::vector<std::uint32_t>{0, 1, 2, 3});
        CHECK(offered[1] == std::vector<std::uint32_t>{1, 2, 3});
        CHECK(offered[2] == std::vector<std::uint32_t>{2, 3});
    }
    SUBCASE("or any of those in service") {
        p.jobs[0].tasks.assign(400, {10, 0});
        t.places = [](auto const&) { return policy::any; };
        (void)run(p, t);
        std::size_t on_first = 0;
        for (auto const& a : t.ended) {
            CHECK((a.node == 1 || a.node == 3));
            on_first += a.node == 1;
        }
        CHECK(on_first == 200);
    }
}

TEST_CASE("a task whose only attempt is killed waits again") {
    plan p = small_plan(1, 1, 10);
    told t;
    t.does = [](cluster_view const& v, decisions& out) {
        if (v.now == 4) out.kills.push_back({0, 0, 0});
    };
    CHECK(run(p, t).job_times[0] == doctest::Approx(5 + 10));
    CHECK_FALSE(t.ended[0].outrun);
}

TEST_CASE("copies before waiting tasks, or after them") {
    for (bool const first : {true, false}) {
        plan p = small_plan(2, 3, 10);
        p.copies_first = first;
        p.jobs[0].tasks[1].work = 100;
        told t;
        t.does = [&](cluster_view const& v, decisions& out) {
            for (running_attempt const& a : v.running)
                if (a.task == 1 && a.attempts == 1 && v.now >= 10) out.copies.push_back({0, 1, 1 - a.node});
        };
        (void)run(p, t);
        double copied = -1, third = -1;
        for (auto const& a : t.ended) {
            if (a.copy) copied = a.start;
            if (a.task == 2 && !a.copy) third = a.start;
        }
        CHECK((first ? copied : third) == doctest::Approx(10));
        CHECK((first ? third : copied) > 10);
    }
}

TEST_CASE("progress grows, and says as much as its mode lets it") {
    for (auto const mode : {progress_mode::exact, progress_mode::noisy, progress_mode::jumping,
                            progress_mode::phased, progress_mode::absent}) {
        plan p = small_plan(1, 1, 100);
        p.progress = mode;
        p.report_interval = 2;
        p.jobs[0].phases = {0.1, 0.2, 0.7};
        told t;
        double last = 0, at_65 = -1;
        t.does = [&](cluster_view const& v, decisions&) {
            CHECK(v.running[0].progress.has_value() ==
                  (mode != progress_mode::absent && v.running[0].reported > 0));
            double const shown = v.running[0].progress.value_or(0);
            CHECK(shown >= last);
            CHECK(shown < 1);
            CHECK(v.now - v.running[0].reported <= (mode == progress_mode::absent ? 100 : 2));
            if (v.now == 65) at_65 = shown;
            last = shown;
        };
        (void)run(p, t);
        if (mode == progress_mode::exact) CHECK(at_65 == doctest::Approx(0.64).epsilon(0.02));
        if (mode == progress_mode::noisy) CHECK(at_65 == doctest::Approx(0.64).epsilon(0.4));
        if (mode == progress_mode::jumping) CHECK(at_65 == doctest::Approx(0.9));
        if (mode == progress_mode::phased)
            CHECK(at_65 == doctest::Approx((2 + 0.34 / 0.7) / 3).epsilon(0.02));
    }
}

TEST_CASE("stages begin when the one before is over, and a job ends with the last of them") {
    plan p = small_plan(2, 3, 10); // two waves: 20
    for (double const work : {7.0, 4.0}) {
        job_spec stage;
        stage.follows = true;
        stage.tasks.assign(2, {work, 0});
        p.jobs.push_back(stage);
    }
    job_spec other;
    other.arrival = 100;
    other.tasks.assign(1, {5, 0});
    p.jobs.push_back(other);
    told t;
    result const r = run(p, t);
    REQUIRE(r.job_times.size() == 2);
    CHECK(r.job_times[0] == doctest::Approx(20 + 7 + 4));
    CHECK(r.job_times[1] == doctest::Approx(5));
    for (auto const& a : t.ended)
        if (a.job == 1) CHECK(a.start == doctest::Approx(20));
}

TEST_CASE("a job of stages takes as long as the slowest tasks of each") {
    plan p = small_plan(40, 40, 10); // a slot for each task: the maximum of 40 lognormal times, 5 times
    p.lucks = {{luck_kind::lognormal, 0.5}};
    p.heartbeat = 0.001;
    p.jobs.resize(5, p.jobs[0]);
    for (std::size_t i = 1; i < p.jobs.size(); ++i) p.jobs[i].follows = true;
    told t;
    double const all = run(p, t).job_times.front();
    std::vector<double> slowest(5);
    for (auto const& a : t.ended) slowest[a.job] = std::max(slowest[a.job], a.took());
    double sum = 0;
    for (double const s : slowest) sum += s;
    CHECK(all == doctest::Approx(sum).epsilon(0.001));
}

TEST_CASE("a copy pays its start-up") {
    plan p = small_plan(2, 1, 100);
    p.launch = 1;
    p.copy_start = 20;
    p.nodes[0].faults = p.nodes[1].faults = {{0, 10}};
    told t;
    t.does = [&](cluster_view const& v, decisions& out) {
        if (v.now != 20) return;
        p.nodes[1 - v.running[0].node].faults.clear();
        out.copies.push_back({0, 0, 1 - v.running[0].node});
    };
    CHECK(run(p, t).job_times[0] == doctest::Approx(20 + 1 + 20 + 100));
}

TEST_CASE("attempts that others stop are as many as they should be, and are made again") {
    plan p = small_plan(50, 5000, 10);
    p.preempted = 0.2;
    told t;
    result const r = run(p, t);
    CHECK(static_cast<double>(r.attempts) / 5000 == doctest::Approx(1 / 0.8).epsilon(0.02));
    for (auto const& a : t.ended) CHECK(a.how != ending::failed);
}

TEST_CASE("the time of a service is no job time") {
    plan p = small_plan(3, 4, 10);
    job_spec service;
    service.is_service = true;
    service.tasks.assign(1, {500, 0});
    p.jobs.insert(p.jobs.begin(), service);
    told t;
    result const r = run(p, t);
    REQUIRE(r.job_times.size() == 1);
    CHECK(r.job_times[0] == doctest::Approx(20)); // on the two other nodes
    CHECK(r.makespan == doctest::Approx(500));
}

TEST_CASE("a run that cannot end is stopped") {
    plan p = small_plan(1, 1, 10);
    p.nodes[0].holes = {{0, std::numeric_limits<double>::infinity()}};
    told t;
    CHECK(run(p, t).stuck);
}

TEST_CASE("luck is the attempt's, whatever the policy does") {
    plan p = small_plan(10, 100, 10);
    p.lucks = {{luck_kind::lognormal, 0.5}};
    told one, two;
    two.does = [](cluster_view const&, decisions& out) { out.nodes[3] = service::none; };
    (void)run(p, one);
    (void)run(p, two);
    auto const by_task = [](auto const& a, auto const& b) { return a.task < b.task; };
    std::sort(one.ended.begin(), one.ended.end(), by_task);
    std::sort(two.ended.begin(), two.ended.end(), by_task);
    REQUIRE(one.ended.size() == two.ended.size());
    for (std::size_t i = 0; i < one.ended.size(); ++i)
        CHECK(one.ended[i].took() == doctest::Approx(two.ended[i].took()));
}

} // namespace
