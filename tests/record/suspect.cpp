// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/record/suspect.hpp>

#include <doctest/doctest.h>

#include <type_traits>

using namespace straggle;

static_assert(std::is_aggregate_v<suspect<>>);
static_assert(std::is_same_v<suspect<>, suspect<std::uint32_t, outcome<double>>>);

TEST_CASE("suspect: which task, what is left of it, and why") {
    suspect<> const a{7, 12.5, {3, 2, 1, "late"}};
    CHECK(a.row == 7);
    CHECK(*a.left == 12.5);
    CHECK(a.why == comparison{3, 2, 1, "late"});
    CHECK(a == suspect<>{7, 12.5, {3, 2, 1, "late"}});
    CHECK_FALSE(a == suspect<>{8, 12.5, {3, 2, 1, "late"}});
    CHECK_FALSE(a == suspect<>{7, status::insufficient_evidence, {3, 2, 1, "late"}});
    CHECK_FALSE(a == suspect<>{7, 12.5, {3, 2, 1, "flink"}});
}
