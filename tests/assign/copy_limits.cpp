// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/assign/copy_limits.hpp>

#include <support/allocations.hpp>
#include <support/contract_trap.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace straggle;
using namespace straggle_test;

namespace {

// How many of so many stragglers a limit lets have a copy.
template <class Limit>
std::size_t let_through(Limit& limit, cluster_load const& load, std::size_t stragglers) {
    using access = detail::limit_access<Limit>;
    access::begin(limit, load, stragglers);
    std::size_t through = 0;
    for (std::uint32_t i = 0; i < stragglers; ++i) {
        assign::backup_request const request{i, 1};
        if (!access::admits(limit, request)) continue;
        access::take(limit, request);
        ++through;
    }
    return through;
}

double const no_number = std::nan(""), infinity = std::numeric_limits<double>::infinity();

} // namespace

TEST_CASE("copies_per_task: so many beside the first attempt") {
    assign::copies_per_task const one, two(2), none(0);
    CHECK(one.admits({0, 1}));
    CHECK_FALSE(one.admits({0, 2}));
    CHECK(two.admits({0, 2}));
    CHECK_FALSE(two.admits({0, 3}));
    CHECK_FALSE(none.admits({0, 1}));
    CHECK(none.admits({0, 0})); // it does not run: that is no copy
    CHECK(one.admits({0, 0}));
}

TEST_CASE("speculative_cap: copies that run count, the share is never exceeded") {
    assign::speculative_cap tenth;
    CHECK(let_through(tenth, {.slots = 30}, 9) == 3);
    CHECK(let_through(tenth, {.slots = 39}, 9) == 3);
    CHECK(let_through(tenth, {.slots = 40, .copies = 1}, 9) == 3);
    CHECK(let_through(tenth, {.slots = 40, .copies = 4}, 9) == 0);
    CHECK(let_through(tenth, {.slots = 40, .copies = 40}, 9) == 0);
    CHECK(let_through(tenth, {.slots = 9}, 9) == 0);
    CHECK(let_through(tenth, {}, 9) == 0); // nobody has said how many slots there are
    assign::speculative_cap all(1), nothing(0);
    CHECK(let_through(all, {.slots = 5}, 9) == 5);
    CHECK(let_through(nothing, {.slots = 5}, 9) == 0);
    for (std::uint64_t slots = 0; slots < 2000; ++slots) { // a share that is not exact in binary
        assign::speculative_cap b(0.01 * static_cast<double>(slots % 101));
        CHECK(let_through(b, {.slots = 100}, 200) == slots % 101);
    }
}

TEST_CASE("retry_budget: tasks that start pay for copies") {
    assign::retry_budget limit({.per_task = 0.1, .burst = 3});
    CHECK(let_through(limit, {.started = 1000}, 9) == 3); // full at first
    CHECK(let_through(limit, {.started = 1000}, 9) == 0);
    CHECK(let_through(limit, {.started = 1009}, 9) == 0);
    CHECK(let_through(limit, {.started = 1010}, 9) == 1); // ten tenths
    CHECK(let_through(limit, {.started = 1030}, 1) == 1);
    CHECK(let_through(limit, {.started = 1030}, 9) == 1); // one was left
    CHECK(let_through(limit, {.started = 9000}, 9) == 3); // no more than it holds
    CHECK(let_through(limit, {.started = 10}, 9) == 0);   // the count began anew
    CHECK(let_through(limit, {.started = 20}, 9) == 1);
    for (std::uint64_t started = 21; started < 30; ++started)
        CHECK(let_through(limit, {.started = started}, 9) == 0);
    CHECK(let_through(limit, {.started = 30}, 9) == 1); // ten times a tenth is one
}

TEST_CASE("retry_budget: and so does time") {
    assign::retry_budget limit({.per_task = 0, .per_time = 0.5, .burst = 2});
    CHECK(let_through(limit, {.now = 100}, 9) == 2);
    CHECK(let_through(limit, {.now = 101}, 9) == 0);
    CHECK(let_through(limit, {.now = 102}, 9) == 1);
    CHECK(let_through(limit, {.now = 102}, 9) == 0); // asked again, it is not there again
    CHECK(let_through(limit, {.now = 90}, 9) == 0);  // the clock went back
    CHECK(let_through(limit, {.now = 92}, 9) == 1);
    CHECK(let_through(limit, {.now = no_number}, 9) == 0);
    CHECK(let_through(limit, {.now = infinity}, 9) == 0);
    CHECK(let_through(limit, {.now = -infinity}, 9) == 0);
    CHECK(let_through(limit, {.now = 94}, 9) == 1); // since 92
    CHECK(let_through(limit, {.now = 1e300}, 9) == 2);
    assign::retry_budget both({.per_task = 0.1, .per_time = 0.5, .burst = 100});
    CHECK(let_through(both, {}, 200) == 100);
    CHECK(let_through(both, {.now = 8, .started = 70}, 200) == 11);
}

TEST_CASE("retry_budget: in the long run the share, whenever it is asked") {
    assign::retry_budget limit({.per_task = 0.05, .burst = 10});
    std::size_t copies = 0;
    std::uint64_t started = 0;
    for (std::uint64_t round = 0; round < 5000; ++round) {
        started += round * 7919 % 40;
        copies += let_through(limit, {.started = started}, 50);
    }
    double const paid = 10 + 0.05 * static_cast<double>(started);
    CHECK(static_cast<double>(copies) <= paid + 1e-6);
    CHECK(static_cast<double>(copies) >= paid - 1);
}

TEST_CASE("suspect_share_limit: if too many are suspects nobody is admitted") {
    assign::suspect_share_limit limit;
    CHECK(let_through(limit, {.running = 100, .suspects = 30}, 30) == 30);
    CHECK_FALSE(limit.storm());
    CHECK(let_through(limit, {.running = 100, .suspects = 31}, 5) == 0);
    CHECK(limit.storm());
    CHECK(let_through(limit, {.running = 100}, 30) == 30); // at least those asked about
    CHECK(let_through(limit, {.running = 100, .suspects = 3}, 31) == 0);
    CHECK(let_through(limit, {.running = 10, .suspects = 3}, 3) == 3); // 0.3 * 10 is 3
    CHECK(let_through(limit, {}, 1) == 0);                             // nobody has said how many run
    CHECK(let_through(limit, {}, 0) == 0);
    CHECK_FALSE(limit.storm());
    assign::suspect_share_limit always(0), never(1);
    CHECK(let_through(always, {.running = 100}, 1) == 0);
    CHECK(let_through(never, {.running = 100}, 100) == 100);
}

TEST_CASE("copies: unlimited, and a limit that may be absent") {
    record::unlimited none;
    CHECK(let_through(none, {}, 1000) == 1000);
    std::optional<assign::speculative_cap> absent, present(assign::speculative_cap(0.1));
    CHECK(let_through(absent, {.slots = 30}, 9) == 9);
    CHECK(let_through(present, {.slots = 30}, 9) == 3);
    CHECK(detail::limit_row<std::optional<assign::suspect_share_limit>>::names[0] == "suspect_share_limit");
}

TEST_CASE("limits compose: the strictest wins, the first that objects is named") {
    detail::limit_row row(assign::copies_per_task{}, assign::speculative_cap{0.1},
                          assign::suspect_share_limit{0.5});
    row.begin(cluster_load{.running = 10, .slots = 20}, 3);
    CHECK(row.objection(assign::backup_request{0, 1}) == row.none);
    CHECK(row.objection(assign::backup_request{0, 2}) == 0);
    row.take(assign::backup_request{0, 1});
    row.take(assign::backup_request{1, 1});
    CHECK(row.objection(assign::backup_request{2, 1}) == 1);
    CHECK(row.objection(assign::backup_request{2, 2}) == 0);
    row.begin(cluster_load{.running = 10, .slots = 20}, 6);
    CHECK(row.objection(assign::backup_request{0, 1}) == 2);
    CHECK(row.get<2>().storm());
    CHECK(row.names[1] == "speculative_cap");
    detail::limit_row<> empty;
    CHECK(empty.objection(assign::backup_request{0, 9}) == empty.none);
}

TEST_CASE("limits: shares and rates that make no sense break the contract") {
    contract_trap const trap;
    for (double const x : {-0.1, 1.1, no_number}) {
        CHECK_THROWS_AS(assign::speculative_cap{x}, broken_contract);
        CHECK_THROWS_AS(assign::suspect_share_limit{x}, broken_contract);
    }
    for (double const x : {-0.1, no_number, infinity}) {
        CHECK_THROWS_AS(assign::retry_budget({.per_task = x}), broken_contract);
        CHECK_THROWS_AS(assign::retry_budget({.per_time = x}), broken_contract);
    }
    for (double const x : {0.9, no_number, infinity})
        CHECK_THROWS_AS(assign::retry_budget({.burst = x}), broken_contract);
    CHECK_NOTHROW(assign::retry_budget({.per_task = 0, .per_time = 0, .burst = 1}));
}

TEST_CASE("limits allocate nothing") {
    CHECK(allocations_during([] {
              detail::limit_row row(assign::copies_per_task{}, assign::speculative_cap{},
                                    assign::retry_budget{}, assign::suspect_share_limit{});
              row.begin(cluster_load{.running = 10, .slots = 20}, 3);
              row.take(assign::backup_request{
                  row.objection(assign::backup_request{0, 1}) == row.none ? 1u : 0u, 1});
          }) == 0);
}
