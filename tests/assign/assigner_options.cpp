// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/assign/assigner_options.hpp>

#include <doctest/doctest.h>

using namespace straggle;

TEST_CASE("assigner options: the defaults") {
    constexpr assign::assigner_options options;
    static_assert(options.kill == assign::kill_rule::race);
    static_assert(options.slots == assign::reservation::shared());
    static_assert(options.launch == 0 && options.price_over_budget);
}
