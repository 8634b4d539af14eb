// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/mitigate/effect.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <set>
#include <string_view>

using namespace straggle::mitigate;

TEST_CASE("effect: known once its interval has an upper end") {
    CHECK_FALSE(effect{}.is_known());
    CHECK(effect{.value = 0.9, .low = 0.8, .high = 1.1}.is_known());
}

TEST_CASE("action_kind: each has a name of its own") {
    std::set<std::string_view> names;
    for (std::size_t k = 0; k < action_kind_count; ++k) names.insert(to_string(static_cast<action_kind>(k)));
    CHECK(names.size() == action_kind_count);
    CHECK_FALSE(names.contains(""));
}
