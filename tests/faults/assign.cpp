// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Failed allocations while copies are assigned to nodes.

#include "assign/cluster.hpp"
#include "support/fault_cases.hpp"
#include "support/faults.hpp"

#include <straggle/assign/assigner.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using straggle_test::check_failures;
using straggle_test::seen_of;

struct cluster {
    std::vector<straggle_test::task> tasks;
    std::vector<straggle_test::host> hosts;
};
cluster random_cluster(std::uint64_t seed, std::size_t tasks, std::size_t hosts) {
    std::mt19937_64 engine(seed);
    cluster c{{}, straggle_test::hosts(hosts)};
    for (std::size_t i = 0; i < tasks; ++i) {
        straggle_test::task t{.hosts = {"elsewhere"}};
        for (std::size_t h = 0; h < hosts; ++h)
            t.worth.push_back(1 + static_cast<double>(engine() % 40) + 0.5);
        c.tasks.push_back(t);
    }
    return c;
}

seen_of seen_in(straggle::assign::backup_plan const& p) {
    seen_of s;
    s.see(p.copies);
    s.see(p.profit);
    s.see(p.policy);
    s.see(p.matching);
    for (auto const& b : p.limits) {
        s.see(b.limit);
        s.see(b.refused);
    }
    for (auto const& c : p.choices) {
        s.see(c.straggler);
        s.see(c.copy ? static_cast<int>(c.copy->node) : -1);
        s.see(c.reason ? static_cast<int>(*c.reason) : -1);
        s.see(c.runner_up ? static_cast<int>(c.runner_up->node) : -1);
        s.see(c.nodes.acceptable);
    }
    return s;
}

} // namespace

TEST_CASE("assigner: a failed allocation takes nothing from a limit and leaves the last plan") {
    using namespace straggle;
    cluster const few = random_cluster(1, 3, 2), many = random_cluster(2, 9, 7);
    cluster_load const load{.now = 5, .started = 100, .running = 100, .slots = 60};
    straggle_test::for_each_matching([&](auto const& rule) {
        CAPTURE(rule.name);
        check_failures(
            "choose",
            [&] {
                assign::assigner a{straggle_test::told{}, rule, assign::copies_per_task{},
                                   assign::retry_budget{{.per_task = 0.03, .burst = 9}},
                                   assign::speculative_cap{0.1}};
                a.choose(few.tasks, few.hosts, straggle_test::predicted_time, load);
                return a;
            },
            [&](auto& a) {
                cluster_load later = load;
                later.started = 110;
                a.choose(many.tasks, many.hosts, straggle_test::predicted_time, later);
            },
            [&](auto const& a) {
                auto copy = a; // what is left in its limits
                cluster_load later = load;
                later.started = 150;
                copy.choose(many.tasks, many.hosts, straggle_test::predicted_time, later);
                return std::pair(seen_in(a.plan()), seen_in(copy.plan()));
            });
    });
}
