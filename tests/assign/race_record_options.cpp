// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/assign/race_record.hpp>
#include <straggle/assign/race_record_options.hpp>

#include <doctest/doctest.h>

using namespace straggle;

TEST_CASE("race_record_options: the prior stands before the first race") {
    assign::race_record const races(assign::race_record_options{.of_task = 0.75});
    CHECK(races.of_task(0) == 0.75);
    CHECK(races.of_task(9) == 0.75);
}
