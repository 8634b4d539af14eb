// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/blacklist/detail/failure_watch.hpp>

#include <doctest/doctest.h>

#include <straggle/blacklist/node_decisions.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace {

using straggle::attempt_status;
using straggle::ended_attempt;
using straggle::node_decisions;
using straggle::node_state;
using straggle::blacklist::node_row;
using straggle::detail::failure_watch;

ended_attempt failed(std::uint32_t node, std::uint64_t task, std::uint64_t job = 1) {
    return {.node = node, .job = job, .task = task, .start = 0, .end = 1, .as = attempt_status::failed};
}
ended_attempt done(std::uint32_t node, std::uint64_t task, std::uint64_t job = 1) {
    return {.node = node, .job = job, .task = task, .start = 0, .end = 1};
}

} // namespace

TEST_CASE("a task that failed on two nodes counts for none until it succeeds, then for both") {
    failure_watch w;
    for (std::uint64_t task = 0; task < 6; ++task) w.observe(failed(0, task));
    CHECK(w.distinct(0) == 6);
    for (std::uint64_t task = 0; task < 6; ++task) w.observe(failed(1, task));
    CHECK(w.distinct(0) == 0); // withdrawn
    CHECK(w.distinct(1) == 0);
    for (std::uint64_t task = 0; task < 6; ++task) w.observe(failed(2, task));
    CHECK(w.distinct(2) == 0);
    for (std::uint64_t task = 0; task < 3; ++task) w.observe(done(3, task));
    CHECK(w.distinct(0) == 3); // those could be done
    CHECK(w.distinct(1) == 3);
    CHECK(w.distinct(2) == 3);
    CHECK(w.distinct(3) == 0);
    for (std::uint64_t task = 0; task < 3; ++task) w.observe(done(4, task)); // a copy: nothing more
    CHECK(w.distinct(0) == 3);
}

TEST_CASE("a trial that has begun is not troubled by what was before") {
    failure_watch w;
    w.observe(failed(0, 1));
    w.observe(failed(1, 1));
    w.restart(0);
    w.observe(done(2, 1));
    CHECK(w.distinct(0) == 0);
    CHECK(w.distinct(1) == 1);
}

TEST_CASE("bad tasks are known after a restart as before") {
    failure_watch before;
    for (std::uint64_t task = 0; task < 8; ++task) before.observe(failed(0, task));
    before.observe(failed(1, 0));
    straggle::byte_writer out;
    before.write(out);
    std::vector<std::byte> const frame = std::move(out).seal(1, 1);
    // Without the 24 bytes before and 8 after: a frame that was cut would say so by its checksum.
    std::span<std::byte const> const bytes = std::span<std::byte const>(frame).subspan(24, frame.size() - 32);
    straggle::byte_reader in(bytes);
    failure_watch after;
    REQUIRE(after.read(in, 16) == straggle::status::ok);
    for (failure_watch* const w : {&before, &after}) {
        for (std::uint64_t task = 1; task < 4; ++task)
            w->observe(failed(2, task)); // withdrawn, here as there
        w->observe(failed(0, 5));        // again: counted already
        w->observe(done(3, 0));          // was withdrawn before
    }
    CHECK(before.distinct(0) == 5);
    for (std::uint32_t node = 0; node < 4; ++node) {
        CHECK(after.distinct(node) == before.distinct(node));
        CHECK(after.evidence(node) == before.evidence(node));
        CHECK(after.totals(node).failed == before.totals(node).failed);
        CHECK(after.totals(node).elsewhere == before.totals(node).elsewhere);
    }
    // Every byte that is missing is an error, none an accident.
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        straggle::byte_reader part(bytes.first(length));
        failure_watch w;
        CHECK(w.read(part, 16) != straggle::status::ok);
    }
}

TEST_CASE(
    "a black hole is out after at most 8 failures, whatever the size of the fleet and what fails elsewhere") {
    struct row {
        std::uint32_t nodes;
        std::uint32_t one_in; // attempts elsewhere that fail; 0: none
        bool in_service;      // it worked for a long time before
    };
    for (row const r : {row{5, 0, false}, row{10, 0, true}, row{100, 0, false}, row{1000, 0, true},
                        row{10, 50, true}, row{100, 50, false}, row{1000, 50, true}, row{100, 20, true}}) {
        node_decisions d;
        std::vector<node_row> rows;
        for (std::uint32_t n = 0; n < r.nodes; ++n) rows.push_back({.node = n, .slots = 4});
        double now = 0;
        std::uint64_t task = 0;
        std::mt19937_64 draw(1);
        auto const others = [&](std::uint32_t from) {
            for (std::uint32_t n = from; n < r.nodes; ++n) {
                bool const fails = r.one_in != 0 && draw() % r.one_in == 0;
                d.observe({.node = n,
                           .job = 1 + task / 100,
                           .task = task,
                           .start = now,
                           .end = now + 60,
                           .as = fails ? attempt_status::failed : attempt_status::success},
                          now + 60);
                ++task;
            }
        };
        for (int i = 0; i < 20; ++i, now += 60) others(r.in_service ? 0 : 1);
        d.decide(now, {}, rows, {});
        REQUIRE(d.verdicts().empty());
        int failures = 0;
        for (; failures < 20 && d.state(0) != node_state::excluded; ++failures) {
            now += 0.5; // much less than a window
            d.observe({.node = 0,
                       .job = 1 + task / 100,
                       .task = task,
                       .start = now - 0.5,
                       .end = now,
                       .as = attempt_status::failed},
                      now);
            ++task;
            d.decide(now, {}, rows, {.waiting = 1000});
        }
        CAPTURE(r.nodes);
        CAPTURE(r.one_in);
        CHECK(failures <= 8);
        CHECK(d.failures_of(0).consecutive >= 2);
        CHECK(d.failures_of(0).low > d.failures_of(0).elsewhere - 0.3);
    }
}

TEST_CASE("two black holes that get the same tasks are found once these succeed elsewhere") {
    node_decisions d;
    std::vector<node_row> rows;
    for (std::uint32_t n = 0; n < 20; ++n) rows.push_back({.node = n, .slots = 4});
    double now = 0;
    std::vector<bool> was_out(20);
    for (std::uint64_t task = 0; task < 12; ++task, now += 1) {
        d.observe(failed(0, task), now);
        d.observe(failed(1, task), now);
        d.observe(done(2 + static_cast<std::uint32_t>(task % 18), task), now);
        d.decide(now, {}, rows, {});
        for (std::uint32_t n = 0; n < 20; ++n)
            if (d.state(n) == node_state::excluded) was_out[n] = true;
    }
    CHECK(was_out[0]);
    CHECK(was_out[1]);
    CHECK(std::count(was_out.begin(), was_out.end(), true) == 2);
}

// Tasks are taken from one queue, and failed ones again on another node, in turn with new ones. Holes are
// free at every step, healthy nodes at one in thirty: work flows to the holes.
TEST_CASE("several black holes at once, that fail one another's tasks: each is out after few failures") {
    struct row {
        std::uint32_t holes;
        bool is_cold; // nothing has ended before
        int most;     // attempts of a task, then its job gives up
    };
    for (row const r : {row{2, false, 4}, row{3, false, 4}, row{3, true, 4}, row{4, false, 100}}) {
        node_decisions d;
        std::vector<node_row> rows;
        for (std::uint32_t n = 0; n < 20; ++n) rows.push_back({.node = n, .slots = 4});
        struct queued {
            std::uint64_t task;
            int tries;
            std::uint32_t last;
        };
        std::vector<queued> again;
        std::uint64_t task = 0;
        double now = 0;
        if (!r.is_cold)
            for (; task < 400; ++task, now += 1) {
                d.observe(done(static_cast<std::uint32_t>(task % 20), task, task / 40), now);
                d.decide(now, {}, rows, {});
            }
        std::vector<int> failures(r.holes);
        std::vector<bool> was_out(r.holes);
        for (int step = 0; step < 30; ++step) {
            now += 1;
            for (std::uint32_t n = 0; n < 20; ++n) {
                bool const is_hole = n < r.holes;
                if (d.state(n) == node_state::excluded ||
                    (!is_hole && (step + static_cast<int>(n)) % 30 != 0))
                    continue;
                auto const at =
                    std::find_if(again.begin(), again.end(), [&](queued const& q) { return q.last != n; });
                queued q{task, 0, n};
                if (step % 2 != 0 && at != again.end()) {
                    q = {at->task, at->tries, n};
                    again.erase(at);
                } else {
                    ++task;
                }
                if (!is_hole) {
                    d.observe(done(n, q.task, q.task / 40), now);
                    continue;
                }
                d.observe(failed(n, q.task, q.task / 40), now);
                failures[n] += was_out[n] ? 0 : 1;
                if (++q.tries < r.most) again.insert(again.begin(), q);
            }
            d.decide(now, {}, rows, {.waiting = 100});
            for (auto const& v : d.verdicts()) CHECK(v.node < r.holes);
            for (std::uint32_t n = 0; n < r.holes; ++n)
                if (d.state(n) == node_state::excluded) was_out[n] = true;
        }
        CHECK(std::count(was_out.begin(), was_out.end(), true) == r.holes);
        CAPTURE(r.holes);
        CAPTURE(r.is_cold);
        for (int const f : failures) CHECK(f <= 8);
        for (std::uint32_t n = 0; n < r.holes; ++n) CHECK(d.state(n) != node_state::healthy);
    }
}

TEST_CASE("where three tasks in ten are bad, and each is tried on four nodes, no node is blamed") {
    node_decisions d;
    std::vector<node_row> rows;
    for (std::uint32_t n = 0; n < 20; ++n) rows.push_back({.node = n, .slots = 4});
    std::mt19937_64 draw(7);
    double now = 0;
    for (std::uint64_t task = 0; task < 4000; ++task, now += 1) {
        bool const is_bad = draw() % 10 < 3;
        auto const first = static_cast<std::uint32_t>(draw() % 20);
        for (std::uint32_t k = 0; k < (is_bad ? 4u : 1u); ++k) {
            std::uint32_t const node = (first + k * 7) % 20;
            d.observe(is_bad ? failed(node, task, task / 40) : done(node, task, task / 40), now);
        }
        d.decide(now, {}, rows, {});
        REQUIRE(d.verdicts().empty());
    }
}
