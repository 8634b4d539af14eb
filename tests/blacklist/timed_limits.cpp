// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "windows.hpp"

#include <straggle/blacklist/blacklister.hpp>
#include <straggle/blacklist/rolling_blacklister.hpp>
#include <straggle/blacklist/timed_limits.hpp>

#include <support/contract_trap.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace straggle;
using namespace straggle_test;

namespace {

// So many of ten nodes are slow, the first the slowest; those before `from` are silent.
auto slow_nodes(std::size_t how_many, std::size_t from = 0) {
    std::vector<double> scores(10, 0.0);
    for (std::size_t i = 0; i < from; ++i) scores[i] = silent;
    for (std::size_t i = from; i < from + how_many; ++i) scores[i] = 20.0 - static_cast<double>(i);
    return window_of(scores);
}
auto const nobody = slow_nodes(0);

std::vector<std::size_t> numbers(std::span<verdict<std::string> const> verdicts) {
    std::vector<std::size_t> result;
    for (auto const& v : verdicts) result.push_back(std::stoul(v.id.substr(v.id.size() - 6)) - 100000);
    return result;
}
using ids = std::vector<std::size_t>;

// How many of so many newcomers a limit lets through in a window.
template <class Limit>
std::size_t let_through(Limit& limit, std::int64_t window, std::size_t newcomers) {
    limit.begin(blacklist::fleet_view(nobody, window), newcomers);
    std::size_t through = 0;
    for (std::size_t i = 0; i < newcomers; ++i) {
        if (!limit.admits(i)) continue;
        limit.take(i);
        ++through;
    }
    return through;
}

constexpr blacklist::dominated easily{.q = 0.1};

} // namespace

TEST_CASE("rate_limit: a full bucket at first, then so many per window") {
    blacklist::rate_limit limit(2, 3);
    CHECK(let_through(limit, 100, 9) == 3);
    CHECK(let_through(limit, 101, 9) == 2);
    CHECK(let_through(limit, 102, 1) == 1); // one is left
    CHECK(let_through(limit, 103, 9) == 3);
    CHECK(let_through(limit, 104, 0) == 0);
    CHECK(let_through(limit, 200, 9) == 3); // no more than it holds
    // One in a window of its own.
    blacklist::rate_limit one(1);
    for (std::int64_t w = 1; w < 20; ++w) CHECK(let_through(one, w, 3) == 1);
}

TEST_CASE("rate_limit: fractions of a token add up, over skipped windows, too") {
    blacklist::rate_limit tenth(0.1);
    CHECK(let_through(tenth, 0, 5) == 1);
    for (std::int64_t w = 1; w < 10; ++w) CHECK(let_through(tenth, w, 5) == 0);
    CHECK(let_through(tenth, 10, 5) == 1);
    CHECK(let_through(tenth, 19, 5) == 0);
    CHECK(let_through(tenth, 20, 5) == 1);
    CHECK(let_through(tenth, 50, 5) == 1);
    blacklist::rate_limit never_again(0, 2);
    CHECK(let_through(never_again, 1, 5) == 2);
    CHECK(let_through(never_again, std::numeric_limits<std::int64_t>::max(), 5) == 0);
    blacklist::rate_limit from_the_beginning(1, 4);
    CHECK(let_through(from_the_beginning, std::numeric_limits<std::int64_t>::min(), 5) == 4);
    CHECK(let_through(from_the_beginning, std::numeric_limits<std::int64_t>::max(), 5) == 4);
}

TEST_CASE("rate_limit: a window asked about again starts where it first did") {
    blacklist::rate_limit limit(1, 2);
    CHECK(let_through(limit, 1, 2) == 2);
    CHECK(let_through(limit, 1, 2) == 2);
    CHECK(let_through(limit, 2, 2) == 1);
    CHECK(let_through(limit, 2, 2) == 1);
    CHECK(let_through(limit, 3, 2) == 1);
}

TEST_CASE("rate_limit with a blacklister: every call is a window, every candidate a newcomer") {
    blacklister b(easily, blacklist::rate_limit{1, 2});
    auto const first = b.decide(slow_nodes(4));
    CHECK(numbers(first.blacklisted()) == ids{0, 1});
    auto const second = b.decide(slow_nodes(4));
    CHECK(numbers(second.blacklisted()) == ids{0});
    CHECK(numbers(second.spared()) == ids{1, 2, 3});
    CHECK(second.spared()[0].spared_by == "rate_limit");
    (void)b.decide(nobody);
    auto const fourth = b.decide(slow_nodes(4));
    CHECK(numbers(fourth.blacklisted()) == ids{0, 1});
}

TEST_CASE("rate_limit with a keeper: who stays out needs no token, nor does a relapse") {
    auto keeper =
        rolling_blacklister_of<std::string>(easily, blacklist::escalating{8, 8}, blacklist::rate_limit{1, 2});
    CHECK(numbers(keeper.decide(slow_nodes(4), 1).blacklisted()) == ids{0, 1});
    CHECK(numbers(keeper.decide(slow_nodes(2, 2), 2).blacklisted()) == ids{0, 1, 2});
    CHECK(numbers(keeper.decision().spared()) == ids{3});
    CHECK(numbers(keeper.decide(slow_nodes(1, 3), 3).blacklisted()) == ids{0, 1, 2, 3});

    auto trial = rolling_blacklister_of<std::string>(
        easily, blacklist::probation{blacklist::escalating{1, 8}}, blacklist::rate_limit{0, 1});
    CHECK(trial.decide(slow_nodes(1), 1).blacklisted().size() == 1);
    CHECK(trial.decide(slow_nodes(0, 1), 2).on_probation().size() == 1);
    CHECK(trial.decide(slow_nodes(1), 3).blacklisted().size() == 1);
}

TEST_CASE("rate_limit that may be absent still asks newcomers only") {
    static_assert(detail::limit_access<std::optional<blacklist::rate_limit>>::newcomers_only &&
                  !detail::limit_access<std::optional<blacklist::at_most>>::newcomers_only);
    auto keeper = rolling_blacklister_of<std::string>(
        easily, blacklist::escalating{8, 8},
        std::optional<blacklist::rate_limit>{blacklist::rate_limit{0, 1}});
    CHECK(keeper.decide(slow_nodes(2), 1).blacklisted().size() == 1);
    CHECK(keeper.decide(slow_nodes(0, 1), 2).blacklisted().size() == 1);
}

TEST_CASE("release_on_demand: the oldest exclusions end first, and nobody new is taken") {
    double needed = 0;
    auto const demand = [&needed] { return needed; };
    auto keeper = rolling_blacklister_of<std::string>(easily, blacklist::escalating{16, 16},
                                                      blacklist::release_on_demand{demand});
    keeper.decide(slow_nodes(1, 0), 1);
    keeper.decide(slow_nodes(1, 1), 2);
    keeper.decide(slow_nodes(1, 2), 3);
    CHECK(numbers(keeper.decision().blacklisted()) == ids{0, 1, 2});
    needed = 7; // seven are in service
    keeper.decide(slow_nodes(1, 3), 4);
    CHECK(numbers(keeper.decision().blacklisted()) == ids{0, 1, 2});
    CHECK(numbers(keeper.decision().spared()) == ids{3});
    CHECK(keeper.decision().spared()[0].spared_by == "release_on_demand");
    needed = 8.5;
    keeper.decide(slow_nodes(1, 3), 5);
    CHECK(numbers(keeper.decision().blacklisted()) == ids{2});
    CHECK(numbers(keeper.decision().spared()) == ids{0, 1, 3});
    needed = 1000; // there never were so many
    keeper.decide(slow_nodes(1, 3), 6);
    CHECK(keeper.decision().blacklisted().empty());
    for (double none : {0.0, -5.0, std::nan("")}) {
        needed = none;
        auto const all = blacklister(easily, blacklist::release_on_demand{demand}).decide(slow_nodes(9));
        CHECK(all.blacklisted().size() == 9);
    }
}

TEST_CASE("release_on_demand: a small newcomer does not slip in where an old one was released") {
    auto const slots = [](std::string const& id) { return id == name_of(0) ? 8.0 : 1.0; }; // 17 in all
    double needed = 0;
    auto const demand = [&needed] { return needed; };
    auto keeper = rolling_blacklister_of<std::string>(easily, blacklist::escalating{16, 16},
                                                      blacklist::release_on_demand{demand, slots});
    keeper.decide(slow_nodes(1, 0), 1);
    keeper.decide(slow_nodes(1, 1), 2);
    CHECK(numbers(keeper.decision().blacklisted()) == ids{0, 1}); // 8 in service
    needed = 10;
    keeper.decide(slow_nodes(1, 2), 3);
    CHECK(numbers(keeper.decision().blacklisted()) == ids{1}); // 16 in service: node 2 would fit
    CHECK(numbers(keeper.decision().spared()) == ids{0, 2});
    static_assert(blacklist::slot_demand<decltype(demand)> && blacklist::slot_demand<double (*)()> &&
                  !blacklist::slot_demand<double>);
}

TEST_CASE("release_on_demand counts silent nodes that are out") {
    auto keeper = rolling_blacklister_of<std::string>(easily, blacklist::escalating{16, 16},
                                                      blacklist::release_on_demand{[] { return 8; }});
    CHECK(keeper.decide(slow_nodes(2), 1).blacklisted().size() == 2);
    CHECK(keeper.decide(slow_nodes(0, 2), 2).blacklisted().size() == 2); // eight of ten, not six of eight
    CHECK(numbers(keeper.decide(slow_nodes(0, 3), 3).blacklisted()) == ids{0}); // node 2 is silent, not out
}

TEST_CASE("rates that make no sense break the contract") {
    contract_trap const trap;
    double const nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
    CHECK_THROWS_AS(blacklist::rate_limit(-0.1), broken_contract);
    CHECK_THROWS_AS((blacklist::rate_limit{nan}), broken_contract);
    CHECK_THROWS_AS((blacklist::rate_limit{infinity}), broken_contract);
    CHECK_THROWS_AS(blacklist::rate_limit(1, 0.5), broken_contract);
    CHECK_THROWS_AS(blacklist::rate_limit(1, nan), broken_contract);
    CHECK_NOTHROW(blacklist::rate_limit(0, 1));
}
