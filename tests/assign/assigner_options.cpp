// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/assign/assigner_options.hpp>

#include <doctest/doctest.h>

using namespace straggle;

TEST_CASE("assigner options: the defaults") {
    constexpr assign::assigner_options options;
    static_assert(options.rule == assign::assignment_rule::optimal);
    static_assert(options.kill == assign::kill_rule::race);
    static_assert(options.slots == assign::reservation::shared());
    static_assert(options.launch == 0 && options.price_by_load && options.price_over_budget);
    CHECK(to_string(options.rule) == "optimal");
}

TEST_CASE("assignment_rule: named as the solvers are") {
    CHECK(to_string(assign::assignment_rule::in_turn) == "in_turn");
    CHECK(to_string(assign::assignment_rule::greedy) == "greedy");
    static_assert(assign::assignment_solver<assign::assignment_in_turn> &&
                  assign::assignment_solver<assign::greedy_assignment> &&
                  assign::assignment_solver<assign::optimal_assignment>);
}
