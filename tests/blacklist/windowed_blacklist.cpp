// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/blacklist/dominated.hpp>
#include <straggle/blacklist/windowed_blacklist.hpp>

#include <support/allocations.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace straggle;

namespace {

struct attempt {
    int job;
    std::string node;
    std::int64_t took, end;
};
constexpr attempt_fields fields{
    .job = &attempt::job, .node = &attempt::node, .end = &attempt::end, .duration = &attempt::took};

} // namespace

template <>
struct straggle::task_traits<attempt> {
    static constexpr auto fields = ::fields;
};

namespace {

using monitor_type = monitor<attempt, std::remove_const_t<decltype(fields)>>;
using keeper_type = rolling_blacklister<std::string, blacklist::clearly_dominated>;

// One job of `nodes` x `tasks` attempts that ends within [begin, begin + 100); node 0 is slow if asked for.
std::vector<attempt> job_at(std::int64_t begin, bool slow, int nodes = 8, int tasks = 6) {
    std::vector<attempt> attempts;
    for (int task = 0; task < tasks; ++task)
        for (int node = 0; node < nodes; ++node) {
            std::int64_t const took =
                1000 + 13 * ((7 * task + 5 * node) % 11) + (slow && node == 0 ? 900 : 0);
            attempts.push_back({static_cast<int>(begin), "n" + std::to_string(node), took, begin + task});
        }
    return attempts;
}

} // namespace

TEST_CASE("a windowed_blacklist decides like its parts") {
    windowed_blacklist watch(monitor_type(fields, {.window = 100}), keeper_type{});
    monitor_type monitor(fields, {.window = 100});
    keeper_type keeper;
    std::size_t avoided = 0;
    for (std::int64_t begin = 0; begin < 3000; begin += 100) {
        for (attempt const& a : job_at(begin, begin < 1500)) {
            CHECK(watch.observe(a) == monitor.observe(a));
        }
        std::int64_t const now = begin + 100;
        auto const& decision = watch.decide(now);
        auto const& expected = keeper.decide(monitor.rank(now), monitor.window_number(now));
        REQUIRE(decision.blacklisted().size() == expected.blacklisted().size());
        CHECK(decision.on_probation().size() == expected.on_probation().size());
        CHECK(decision.window() == begin / 100);
        auto const latest = watch.latest();
        CHECK(latest->window() == decision.window());
        for (char const* const node : {"n0", "n1"}) CHECK(watch.avoids(node) == latest->avoids(node));
        for (auto const& v : decision.blacklisted()) CHECK(v.id == "n0");
        avoided += decision.blacklisted().size();
    }
    CHECK(avoided > 5);
    CHECK(watch.decision().blacklisted().empty()); // it has recovered
}

TEST_CASE("a watch passes on what was censored") {
    windowed_blacklist watch(monitor_type(fields, {.window = 100}), keeper_type{});
    windowed_blacklist same(monitor_type(fields, {.window = 100}), keeper_type{});
    for (attempt const& a : job_at(0, true)) {
        CHECK(watch.observe_censored(a));
        CHECK(same.observe_censored(a, a.end));
    }
    CHECK(watch.monitor().counts().attempts.used == 48);
    CHECK(same.monitor().counts() == watch.monitor().counts());
    CHECK(watch.decide(100).avoids("n0"));
    CHECK(same.decide(100).avoids("n0"));
}

TEST_CASE("a watch has a short name where traits name the fields") {
    windowed_blacklist<monitor<attempt>> watch({.window = 100});
    windowed_blacklist same(monitor_of<attempt>(fields, {.window = 100}));
    for (std::int64_t const begin : {0, 20, 40, 60})
        for (attempt const& a : job_at(begin, true, 10, 20)) {
            CHECK(watch.observe(a));
            CHECK(same.observe(a));
        }
    CHECK(watch.decide(100).avoids("n0"));
    CHECK(same.decide(100).avoids("n0"));
}

TEST_CASE("a window is decided on once") {
    windowed_blacklist watch(monitor_type(fields, {.window = 100}), keeper_type{});
    for (attempt const& a : job_at(0, true)) watch.observe(a);
    CHECK(watch.decide(100).avoids(std::string("n0")));
    std::uint64_t const sentence_ends = static_cast<std::uint64_t>(watch.decision().blacklisted()[0].until);
    for (std::int64_t now = 100; now < 200; now += 9) {
        for (attempt const& a : job_at(now, true)) watch.observe(a, 199);
        CHECK(watch.decide(now).avoids(std::string("n0")));
        CHECK(watch.decision().window() == 0);
        CHECK(static_cast<std::uint64_t>(watch.decision().blacklisted()[0].until) == sentence_ends);
    }
    watch.decide(250);
    CHECK(watch.decision().window() == 1);
    watch.decide(150); // time does not run backwards
    CHECK(watch.decision().window() == 1);
}

TEST_CASE("without a window every call decides") {
    windowed_blacklist watch(monitor_type(fields), keeper_type{});
    for (attempt const& a : job_at(0, false, 8, 1)) watch.observe(a);
    CHECK(watch.decide(0).blacklisted().empty());
    for (attempt const& a : job_at(500, true)) watch.observe(a);
    CHECK(watch.decide(0).avoids(std::string("n0")));
    watch.decide(0);
    CHECK(watch.decide(0).window() == 3);
}

TEST_CASE("a watch that nothing was shown decides to avoid no node") {
    windowed_blacklist watch(monitor_type(fields, {.window = 100, .slide = 10}), keeper_type{});
    auto const before = watch.latest();
    CHECK(before->blacklisted().empty());
    CHECK(watch.decide(12345).blacklisted().empty());
    auto const after = watch.latest();
    CHECK(after->window() == 1233);
}

TEST_CASE("the fleet can be named") {
    // Ten more nodes are idle: two of eighteen may be avoided then, but only one of eight.
    std::vector<std::string> fleet;
    for (int node = 0; node < 18; ++node) fleet.push_back("n" + std::to_string(node));
    auto const shown = [](auto& watch) {
        for (attempt a : job_at(0, true)) {
            if (a.node == "n1") a.took += 900;
            watch.observe(a);
        }
    };
    windowed_blacklist narrow(monitor_type(fields, {.window = 100}), keeper_type{});
    shown(narrow);
    CHECK(narrow.decide(100).blacklisted().size() == 1);
    windowed_blacklist wide(monitor_type(fields, {.window = 100}), keeper_type{});
    shown(wide);
    CHECK(wide.decide(100, fleet).blacklisted().size() == 2);
}

TEST_CASE("a snapshot stays as it was while decisions go on") {
    windowed_blacklist watch(monitor_type(fields, {.window = 100}), keeper_type{});
    for (attempt const& a : job_at(0, true)) watch.observe(a);
    watch.decide(100);
    auto const then = watch.latest();
    for (std::int64_t begin = 100; begin < 2000; begin += 100) {
        for (attempt const& a : job_at(begin, false)) watch.observe(a);
        watch.decide(begin + 100);
    }
    CHECK(then->avoids(std::string("n0")));
    auto const now = watch.latest();
    CHECK(now->blacklisted().empty());
}

TEST_CASE("deciding again and again allocates nothing") {
    windowed_blacklist watch(monitor_type(fields, {.window = 400, .slide = 100}), keeper_type{});
    std::vector<std::vector<attempt>> jobs;
    for (std::int64_t begin = 0; begin < 20000; begin += 100)
        jobs.push_back(job_at(begin, begin % 3000 < 900));
    std::size_t before = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (i == 120) before = straggle_test::allocation_count();
        for (attempt const& a : jobs[i]) watch.observe(a);
        watch.decide(static_cast<std::int64_t>(i + 1) * 100);
    }
    CHECK(straggle_test::allocation_count() == before);
}

TEST_CASE("a score that is in ten windows counts once") {
    // Node 0 is slow for the first step of ten. Everything after it is good, and it gets probes when it may.
    monitor_type::options const sliding{.window = 1000, .slide = 100};
    windowed_blacklist watch(monitor_type(fields, sliding), keeper_type{});
    monitor_type monitor(fields, sliding);
    keeper_type unaware; // of windows that overlap: what the watch does for its keeper
    std::uint32_t strikes = 0, strikes_unaware = 0;
    std::int64_t back = 0;
    for (std::int64_t begin = 0; begin < 6000; begin += 100) {
        bool const slow = begin == 0;
        for (attempt const& a : job_at(begin, slow, 8, 4)) {
            bool const node_0 = a.node == "n0";
            bool const probe = a.end == begin;
            if (!node_0 || (!watch.decision().avoids(a.node) && (probe || !watch.decision().tries(a.node))))
                watch.observe(a);
            if (!node_0 ||
                (!unaware.decision().avoids(a.node) && (probe || !unaware.decision().tries(a.node))))
                monitor.observe(a);
        }
        watch.decide(begin + 100);
        unaware.decide(monitor.rank(begin + 100), monitor.window_number(begin + 100));
        strikes = (std::max)(strikes, watch.keeper().exclusion_of("n0").strikes);
        strikes_unaware = (std::max)(strikes_unaware, unaware.exclusion_of("n0").strikes);
        std::string const n0 = "n0";
        if (watch.decision().avoids(n0) || watch.decision().tries(n0)) back = begin + 200;
    }
    CHECK(strikes == 1);
    CHECK(strikes_unaware > 1);
    CHECK(back > 100);
    CHECK(back <= 100 + 1000 + 200); // the window has moved on by its length, and one step
}
