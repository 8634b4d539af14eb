// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/record/node_state.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string_view>

using namespace straggle;

TEST_CASE("node_state: every state has a name of its own") {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < record::node_state_count; ++i)
        names.insert(to_string(static_cast<node_state>(i)));
    CHECK(names.size() == record::node_state_count);
    CHECK(to_string(static_cast<node_state>(77)) == "unknown");
    CHECK(names == std::set<std::string_view>{"healthy", "last_resort", "on_probation", "excluded", "away"});
}

TEST_CASE("node_state: a node of which nothing is known is healthy") {
    CHECK(node_state{} == node_state::healthy);
}
