// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/blacklist/node_verdict.hpp>

#include <doctest/doctest.h>

using namespace straggle;
using namespace straggle::blacklist;

TEST_CASE("causes are a set") {
    std::uint8_t const causes =
        static_cast<std::uint8_t>(cause::slow) | static_cast<std::uint8_t>(cause::failing);
    CHECK(has(causes, cause::slow));
    CHECK(has(causes, cause::failing));
    CHECK_FALSE(has(causes, cause::hung));
    CHECK_FALSE(has(0, cause::denied));
}

TEST_CASE("reasons have names") {
    CHECK(to_string(spared::no) == "no");
    CHECK(to_string(spared::by_load) == "by_load");
    CHECK(to_string(spared::by_caller) == "by_caller");
}

TEST_CASE("a verdict that was never given holds nothing against the node") {
    node_verdict const v{};
    CHECK(v.state == node_state::healthy);
    CHECK(v.causes == 0);
    CHECK_FALSE(v.slow.is_known());
}
