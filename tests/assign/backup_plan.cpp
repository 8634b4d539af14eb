// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/assign/backup_plan.hpp>

#include <support/contract_trap.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace straggle;
using namespace straggle_test;

TEST_CASE("backup_refusal: every reason has a name of its own, those about a node come first") {
    std::set<std::string> names;
    for (std::size_t i = 0; i <= static_cast<std::size_t>(assign::backup_refusal::over_limit); ++i)
        names.insert(std::string(to_string(static_cast<assign::backup_refusal>(i))));
    CHECK(names.size() == 14);
    CHECK(to_string(assign::backup_refusal::unknown_node) == "unknown_node");
    CHECK(to_string(assign::backup_refusal::same_node) == "same_node");
    CHECK(to_string(assign::backup_refusal::cannot_run) == "cannot_run");
    CHECK(to_string(assign::backup_refusal::unlikely_to_win) == "unlikely_to_win");
    CHECK(to_string(assign::backup_refusal::may_not_copy) == "may_not_copy");
    CHECK(to_string(assign::backup_refusal::over_limit) == "over_limit");
    CHECK(static_cast<std::size_t>(assign::backup_refusal::unlikely_to_win) + 1 ==
          assign::node_refusal_count);
}

TEST_CASE("node_counts: by reason, and added up") {
    assign::node_counts a{.acceptable = 3}, b{.acceptable = 1};
    a.refused[static_cast<std::size_t>(assign::backup_refusal::no_slot)] = 5;
    b.refused[static_cast<std::size_t>(assign::backup_refusal::no_slot)] = 2;
    b.refused[static_cast<std::size_t>(assign::backup_refusal::not_profitable)] = 4;
    a += b;
    CHECK(a.acceptable == 4);
    CHECK(a[assign::backup_refusal::no_slot] == 7);
    CHECK(a[assign::backup_refusal::not_profitable] == 4);
    CHECK(a[assign::backup_refusal::same_node] == 0);
    CHECK(a.total_refused() == 11);
    CHECK(a != b);
    contract_trap const trap;
    CHECK_THROWS_AS((void)a[assign::backup_refusal::slots_taken], broken_contract);
}

TEST_CASE("backup_choice: says nothing until somebody writes it") {
    assign::backup_choice const choice;
    CHECK_FALSE(choice.copy);
    CHECK_FALSE(choice.reason);
    CHECK_FALSE(choice.runner_up);
    CHECK(choice.refused_by.empty());
    assign::backup_plan const plan;
    CHECK(plan.choices.empty());
    CHECK(plan.copies == 0);
    CHECK(plan.profit == 0);
}
