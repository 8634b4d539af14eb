// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/assign/kill_rule.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace straggle;

namespace {

bool kills(std::vector<double> const& remaining, std::vector<double> const& copy, double launch = 0) {
    stats::empirical r, x;
    r.assign(remaining);
    x.assign(copy);
    CHECK_FALSE(assign::kills_straggler(assign::kill_rule::race, r.view(), x.view(), launch));
    return assign::kills_straggler(assign::kill_rule::when_certain, r.view(), x.view(), launch);
}

} // namespace

TEST_CASE("kill rule: only if the worst of the copy is less than the best of the straggler") {
    CHECK(kills({50}, {20, 49})); // figure 9(d): the remaining time is known
    CHECK_FALSE(kills({50}, {20, 50}));
    CHECK_FALSE(kills({50}, {20, 51}));
    CHECK(kills({50, 90}, {20, 49}));
    CHECK_FALSE(kills({48, 90}, {20, 49}));
    CHECK(kills({50}, {20, 40}, 9));
    CHECK_FALSE(kills({50}, {20, 40}, 10));
}

TEST_CASE("kill rule: nothing is killed on no evidence") {
    CHECK_FALSE(kills({}, {20}));
    CHECK_FALSE(kills({50}, {}));
    CHECK_FALSE(kills({}, {}));
}

TEST_CASE("kill rule: constant expression, names") {
    static constexpr double x[] = {3.0}, sums[] = {0.0, 3.0};
    static constexpr stats::empirical_view known(x, sums);
    static_assert(assign::kills_straggler(assign::kill_rule::when_certain, known.moved(1), known));
    static_assert(!assign::kills_straggler(assign::kill_rule::race, known.moved(1), known));
    CHECK(to_string(assign::kill_rule::race) == "race");
    CHECK(to_string(assign::kill_rule::when_certain) == "when_certain");
}
