// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/record/slowdown.hpp>

#include <doctest/doctest.h>

using namespace straggle;

TEST_CASE("slowdown: an unknown node is taken to be usual, and that is not knowledge") {
    slowdown const unknown;
    CHECK(unknown.value == 1);
    CHECK(unknown.low < unknown.value);
    CHECK_FALSE(unknown.is_known());
    CHECK(slowdown{1.3, 1.2, 1.4, 116}.is_known());
    CHECK(slowdown{1.3, 1.2, 1.4, 116} != slowdown{1.3, 1.2, 1.4, 117});
}
