// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/mitigate/plan.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string_view>

using namespace straggle;
using mitigate::plan_note;

TEST_CASE("plan: empty at first; a state is looked up by row") {
    mitigation_plan plan;
    CHECK(plan.nodes().empty());
    CHECK(plan.copies().empty());
    CHECK(plan.kills().empty());
    CHECK(plan.notes().empty());
    CHECK(plan.state(0) == node_state::healthy);
    detail::plan_writer out(plan);
    out.nodes().resize(3);
    out.nodes()[1].state = node_state::excluded;
    CHECK(plan.state(1) == node_state::excluded);
    CHECK(plan.state(3) == node_state::healthy);
    out.clear();
    CHECK(plan.nodes().empty());
}

TEST_CASE("plan: a note stands there once") {
    mitigation_plan plan;
    detail::plan_writer out(plan);
    out.note(plan_note::storm);
    out.note(plan_note::stale_feed);
    out.note(plan_note::storm);
    CHECK(plan.notes().size() == 2);
    CHECK(plan.has(plan_note::storm));
    CHECK_FALSE(plan.has(plan_note::fail_open));
}

TEST_CASE("plan: notes have names of their own") {
    std::set<std::string_view> names;
    for (std::size_t n = 0; n < mitigate::plan_note_count; ++n)
        names.insert(to_string(static_cast<plan_note>(n)));
    CHECK(names.size() == mitigate::plan_note_count);
    CHECK(to_string(plan_note::placement_stopped) == "placement_stopped");
    CHECK(to_string(plan_note::stale_feed) == "stale_feed");
}
