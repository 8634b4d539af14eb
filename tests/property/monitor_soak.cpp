// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Thirty days of a cluster whose nodes come and go, whose jobs start, end, are finished or are not, and whose
// names are never used twice: what a monitor holds does not grow. STRAGGLE_SOAK_EVENTS says how many events
// there are (.ci/full: 5e7).

#include "support/allocations.hpp"
#include "support/seed.hpp"

#include <doctest/doctest.h>
#include <straggle/rank/monitor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

using namespace straggle;
using straggle_test::live_bytes;

namespace {

struct event {
    std::string job, node;
    std::int64_t took, end; // in seconds
};
constexpr attempt_fields fields{
    .job = &event::job, .node = &event::node, .end = &event::end, .duration = &event::took};

struct noise {
    std::uint64_t state;
    std::uint64_t operator()(std::uint64_t below) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return (state >> 33) % below;
    }
};

// A cluster of 200 nodes of which one is replaced every now and then, and 100 jobs at a time.
class cluster {
  public:
    explicit cluster(std::uint64_t seed) : draw_{seed} {
        for (std::size_t i = 0; i < 200; ++i) replace_node(i);
        for (std::size_t i = 0; i < 100; ++i) replace_job(i);
    }
    // What ended at a time, by its job; tells `over` of the job that ends with it, if one does.
    template <class Over>
    event const& next(std::int64_t now, Over&& over) {
        std::size_t const job = draw_(jobs_.size()), node = draw_(nodes_.size());
        if (draw_(5000) == 0) replace_node(node);
        if (draw_(60) == 0) {
            if (draw_(2) == 0) over(jobs_[job]); // half of them nobody says are over
            replace_job(job);
        }
        event_.job = jobs_[job];
        event_.node = nodes_[node];
        event_.took = 60 + static_cast<std::int64_t>(draw_(600)) * (node == 17 ? 2 : 1);
        event_.end = now - static_cast<std::int64_t>(draw_(30)); // some come late
        return event_;
    }

  private:
    void replace_node(std::size_t i) {
        nodes_.resize((std::max)(nodes_.size(), i + 1));
        nodes_[i] = "a-virtual-machine-with-a-long-name-" + std::to_string(++names_);
    }
    void replace_job(std::size_t i) {
        jobs_.resize((std::max)(jobs_.size(), i + 1));
        jobs_[i] = "application_1700000000000_" + std::to_string(++names_);
    }

    noise draw_;
    std::uint64_t names_ = 0;
    std::vector<std::string> jobs_, nodes_;
    event event_;
};

} // namespace

TEST_CASE("monitor soak: thirty days, and memory is flat after the third") {
    char const* const asked = std::getenv("STRAGGLE_SOAK_EVENTS");
    std::uint64_t const events = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 500'000;
    std::uint64_t const seed = straggle_test::seed_or(95);
    INFO("seed ", seed);
    constexpr std::int64_t hour = 3600, day = 24 * hour;
    std::size_t const before = live_bytes();
    auto m = monitor_of<event>(fields, {.window = hour, .slide = hour / 6});
    cluster c(seed);
    std::size_t early = 0, late = 0, jobs = 0, nodes = 0, pairs = 0;
    std::int64_t last_day = -1;
    std::uint64_t allocated_late = 0;
    for (std::uint64_t i = 0; i < events; ++i) {
        std::int64_t const now = static_cast<std::int64_t>(i * static_cast<std::uint64_t>(30 * day) / events);
        std::size_t allocations = 0;
        event const& e = c.next(now, [&](std::string const& job) { m.finish(job); });
        allocations = straggle_test::allocations_during([&] { m.observe(e, now); });
        if (now > 15 * day) allocated_late += allocations;
        if (i % 64 != 0) continue;
        if (now / (hour / 6) != last_day) {
            last_day = now / (hour / 6);
            (void)m.rank(now);
        }
        std::size_t const held = live_bytes() - before;
        (now < 3 * day ? early : late) = (std::max)(now < 3 * day ? early : late, held);
        jobs = (std::max)(jobs, m.jobs());
        nodes = (std::max)(nodes, m.nodes());
        pairs = (std::max)(pairs, m.pairs());
    }
    MESSAGE(events, " events: most bytes held in the first three days ", early, ", later ", late,
            "; most jobs ", jobs, ", nodes ", nodes, ", pairs ", pairs, "; allocations in the second half ",
            allocated_late);
    CHECK(late <= early + early / 10);
    CHECK(nodes < 400);
    CHECK(m.counts().over_capacity == 0);
    CHECK(m.counts().evicted_jobs == 0);
    CHECK(m.counts().attempts.used == events);
    // A new name may be longer than the one whose place it takes; that is all.
    CHECK(allocated_late < events / 1000);
}
