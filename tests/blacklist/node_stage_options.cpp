// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/blacklist/node_stage.hpp>
#include <straggle/blacklist/node_stage_options.hpp>

#include <doctest/doctest.h>

using namespace straggle;

TEST_CASE("the defaults are the documented ones") {
    node_stage_options const options{};
    CHECK(options.evidence.least_slowdown == 1.1);
    CHECK(options.share_of_slots == 0.2);
    CHECK(options.windows_per_error == 1000);
    CHECK(options.first_exclusion < options.longest_exclusion);
    node_stage const made(options);
    CHECK(made.verdicts().empty());
}
