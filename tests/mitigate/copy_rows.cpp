// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/mitigate/copy_rows.hpp>

#include <doctest/doctest.h>

#include <cmath>

using namespace straggle::mitigate;

TEST_CASE("copy_rows: what is not told is not known, and hurts nobody") {
    running_row const t;
    CHECK(t.kind == straggle::detail::no_index);
    CHECK(std::isnan(t.progress));
    CHECK(std::isnan(t.reported));
    CHECK(std::isnan(t.input));
    CHECK(t.attempts == 1);
    CHECK_FALSE(t.is_copy);
    CHECK(t.may_copy);
    place_row const p;
    CHECK(p.free == 0);
    CHECK(p.state == straggle::node_state::healthy);
    CHECK_FALSE(p.slow.is_known());
    CHECK(ended_row{}.how == straggle::attempt_status::success);
    CHECK(copy_notes{} == copy_notes{});
}
