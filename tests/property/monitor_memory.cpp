// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// A monitor runs for months: what it holds depends on what is in the window, never on what has been.

#include "support/allocations.hpp"
#include "support/monitor_cases.hpp"

#include <doctest/doctest.h>
#include <straggle/rank/monitor.hpp>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace straggle;
using straggle_test::live_bytes;
using straggle_test::tick_monitor;

namespace {

constexpr std::int64_t hour = 3600, day = 24 * hour, week = 7 * day;

struct extent {
    std::size_t bytes = 0, pairs = 0, jobs = 0, nodes = 0;
};
template <class Monitor>
void widen(extent& e, Monitor const& m, std::size_t bytes_before) {
    e.bytes = (std::max)(e.bytes, live_bytes() - bytes_before);
    e.pairs = (std::max)(e.pairs, m.pairs());
    e.jobs = (std::max)(e.jobs, m.jobs());
    e.nodes = (std::max)(e.nodes, m.nodes());
}
// At most a tenth more than before.
bool is_flat(extent const& early, extent const& late) {
    auto const no_more = [](std::size_t a, std::size_t b) { return b <= a + a / 10; };
    return no_more(early.bytes, late.bytes) && no_more(early.pairs, late.pairs) &&
           no_more(early.jobs, late.jobs) && no_more(early.nodes, late.nodes);
}

struct noise {
    std::uint64_t state = 9;
    std::uint64_t operator()(std::uint64_t below) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return (state >> 33) % below;
    }
};

struct named {
    std::string_view job, node;
    std::int64_t took, end;
};
constexpr attempt_fields named_fields{
    .job = &named::job, .node = &named::node, .end = &named::end, .duration = &named::took};
using named_monitor = monitor<named, std::remove_const_t<decltype(named_fields)>>;

} // namespace

TEST_CASE("monitor memory: a million jobs in a month, in a window that slides, finished or not") {
    for (bool const finishing : {false, true}) {
        noise draw;
        std::size_t const before = live_bytes();
        tick_monitor m(straggle_test::ticks, {.window = 6 * hour, .slide = hour});
        extent first_week, later;
        std::int64_t const jobs = 1'000'000, month = 4 * week;
        std::int64_t now = 0;
        for (int job = 0; job < jobs; ++job) {
            now = month * job / jobs;
            for (int task = 0; task < 5; ++task)
                m.observe({job, static_cast<int>(draw(200)), static_cast<std::int64_t>(100 + draw(50)),
                           now - static_cast<std::int64_t>(draw(60))},
                          now);
            if (finishing) m.finish(job);
            if (job % 1000 == 0) {
                if (job % 20'000 == 0) (void)m.rank(now);
                widen(now < week ? first_week : later, m, before);
            }
        }
        MESSAGE("most bytes held in the first week: ", first_week.bytes, ", later: ", later.bytes);
        CHECK(is_flat(first_week, later));
        CHECK(later.nodes == 200);
        CHECK(later.jobs < (finishing ? 1000u : 12'000u));
        CHECK(m.counts().attempts.used == 5'000'000);
        CHECK(m.rank(now + week).fleet_size() == 0);
        CHECK(m.pairs() + m.jobs() + m.nodes() == 0);
    }
}

TEST_CASE("monitor memory: without a window, as long as jobs are finished") {
    noise draw;
    std::size_t const before = live_bytes();
    tick_monitor m(straggle_test::ticks);
    extent early, late;
    for (int job = 0; job < 400'000; ++job) {
        for (int task = 0; task < 6; ++task)
            m.observe({job, static_cast<int>(draw(50)), static_cast<std::int64_t>(100 + draw(50))});
        if (job >= 10) m.finish(job - 10);
        if (job % 1000 == 0) widen(job < 100'000 ? early : late, m, before);
    }
    MESSAGE("most bytes held in the first quarter: ", early.bytes, ", later: ", late.bytes);
    CHECK(is_flat(early, late));
    CHECK(m.jobs() == 10);
    CHECK(m.rank().usable_jobs() == 400'000);
}

TEST_CASE("monitor memory: nodes that change their names for months") {
    std::size_t const before = live_bytes();
    named_monitor m(named_fields, {.window = day, .slide = hour});
    extent early, late;
    for (std::int64_t i = 0; i < 300'000; ++i) {
        std::string const node =
            "a-virtual-machine-with-a-name-that-is-long-enough-" + std::to_string(i / 20);
        std::string const job = "a-job-with-a-name-that-is-long-enough-" + std::to_string(i / 10);
        std::int64_t const now = 8 * week * i / 300'000;
        m.observe({job, node, 100 + i % 17, now});
        if (i % 50 == 49) m.finish(job);
        if (i % 100 == 0) {
            if (i % 10'000 == 0) (void)m.rank(now);
            widen(i < 100'000 ? early : late, m, before);
        }
    }
    MESSAGE("most bytes held in the first third: ", early.bytes, ", later: ", late.bytes);
    CHECK(is_flat(early, late));
    CHECK(late.nodes < 700);
}

TEST_CASE("monitor memory: about 120 bytes per pair, never more than 200") {
    for (auto const& [jobs, nodes, most] :
         {std::tuple{10, 20'000, 200.0}, std::tuple{100, 2000, 200.0}, std::tuple{2000, 100, 200.0}}) {
        std::size_t const before = live_bytes();
        tick_monitor m(straggle_test::ticks);
        for (int i = 0; i < jobs * nodes; ++i) m.observe({i % jobs, i / jobs, 100 + i % 7});
        // Jobs and nodes beside their pairs: stated as about 150 bytes each; names are numbers here.
        double const others = 150.0 * (jobs + nodes);
        double const per_pair =
            (static_cast<double>(live_bytes() - before) - others) / static_cast<double>(m.pairs());
        MESSAGE(jobs, " jobs on ", nodes, " nodes: bytes per pair ", per_pair);
        CHECK(m.pairs() == static_cast<std::size_t>(jobs * nodes));
        CHECK(per_pair <= most);
        CHECK(static_cast<double>(live_bytes() - before) >= 64.0 * static_cast<double>(m.pairs()));
    }
}

TEST_CASE("monitor memory: a small job costs about 200 bytes with its first pair, a finished one nothing") {
    auto const bytes_of = [](int jobs, int pairs, bool finish) {
        std::size_t const before = live_bytes();
        auto m = std::make_unique<tick_monitor>(straggle_test::ticks);
        for (int job = 0; job < jobs; ++job) {
            for (int node = 0; node < pairs; ++node) m->observe({job, node, 100 + node});
            if (finish) m->finish(job);
        }
        return static_cast<double>(live_bytes() - before);
    };
    double const per_job = bytes_of(1 << 15, 1, false) / (1 << 15);
    MESSAGE("bytes per job with one pair: ", per_job);
    CHECK(per_job <= 300);
    CHECK(bytes_of(1 << 15, 6, true) < 20'000);
}

TEST_CASE("monitor memory: bytes read back take a small multiple of their size") {
    // Many nodes, and in each of many steps one small job finished on the last of them: a table of all nodes
    // for each step would be hundreds of times the bytes.
    constexpr int nodes = 4000, steps = 100;
    tick_monitor::options const windows{.window = 200, .slide = 1};
    tick_monitor m(straggle_test::ticks, windows);
    for (int node = 0; node < nodes; ++node) m.observe({-1, node, 100 + node, 0});
    for (int step = 0; step < steps; ++step) {
        for (int task = 0; task < 6; ++task) m.observe({step, nodes - 6 + task, 100 + task, step});
        REQUIRE(m.finish(step));
    }
    std::vector<std::byte> const bytes = m.serialize();
    std::size_t const before = live_bytes();
    tick_monitor back(straggle_test::ticks, windows);
    REQUIRE(back.restore(bytes) == straggle::status::ok);
    double const times = static_cast<double>(live_bytes() - before) / static_cast<double>(bytes.size());
    MESSAGE(bytes.size(), " bytes become ", times, " times as many");
    CHECK(times < 25);
    CHECK(back.serialize() == bytes);
}
