// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "support/allocations.hpp"

#include <straggle/mitigate/node_states.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace straggle;

TEST_CASE("node_states: who is not in it is healthy; filled again it asks for no memory") {
    mitigate::node_states<std::string> view;
    CHECK(view.state("n") == node_state::healthy);
    auto const fill = [&] {
        view.clear();
        view.add("a node with a name that needs memory of its own",
                 {node_state::excluded, 0, {2, 1.5, 3, 40}});
        view.add("m", {node_state::on_probation, 2, {}});
    };
    fill();
    CHECK(straggle_test::allocations_during(fill) == 0);
    CHECK(view.size() == 2);
    CHECK(view.state("m") == node_state::on_probation);
    CHECK(view.find("m").probe_slots == 2);
    CHECK(view.find("a node with a name that needs memory of its own").slow.value == 2);
    CHECK(view.find("nobody") == mitigate::node_view{});
    view.clear();
    CHECK(view.state("m") == node_state::healthy);
}
