// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/record/comparison.hpp>

#include <doctest/doctest.h>

using namespace straggle;

TEST_CASE("comparison: reasons are equal when all of them is") {
    comparison const reason{2.5, 1.2, 1.0, "late"};
    CHECK(reason == comparison{2.5, 1.2, 1.0, "late"});
    CHECK(reason != comparison{2.5, 1.2, 1.0, "mantri"});
    CHECK(comparison{}.rule.empty());
}
