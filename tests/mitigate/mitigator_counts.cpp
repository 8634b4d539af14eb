// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/mitigate/mitigator_counts.hpp>

#include <doctest/doctest.h>

using namespace straggle;

TEST_CASE("mitigator_counts: all are zero at first, and compare") {
    mitigate::mitigator_counts a, b;
    CHECK(a == b);
    CHECK(a.decisions == 0);
    b.other_clock = 1;
    CHECK_FALSE(a == b);
}
