// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/mitigate/mitigator_options.hpp>

#include <doctest/doctest.h>

using namespace straggle;

TEST_CASE("mitigator_options: the defaults are those of its parts, switched on, without other deciders") {
    mitigator_options const o;
    CHECK(o.is_enabled);
    CHECK(o.decider == 0);
    CHECK(o.actions.most == 0);
    CHECK(o.effects.left_alone == 0);
    CHECK(o.nodes.share_of_slots == node_stage_options{}.share_of_slots);
    CHECK(o.copies.straggler_threshold == mitigate::speculator_options{}.straggler_threshold);
}
