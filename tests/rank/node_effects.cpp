// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/rank/detail/node_effects.hpp>

#include <doctest/doctest.h>

#include <cstdint>

using namespace straggle;

TEST_CASE("largest_step: the same from wherever the search begins, and few questions from close by") {
    constexpr std::uint32_t steps = 64;
    for (std::uint32_t last = 0; last < steps; ++last) // holds up to here
        for (std::uint32_t near = 0; near <= steps + 1; ++near) {
            CAPTURE(last);
            CAPTURE(near);
            int asked = 0;
            std::uint32_t const found = detail::largest_step(steps, near, [&](std::uint32_t step) {
                CHECK((step > 0 && step < steps));
                ++asked;
                return step <= last;
            });
            CHECK(found == last);
            CHECK(asked <= 12); // twice six
            if (near == last && last > 0 && last + 1 < steps) CHECK(asked == 2);
        }
}
