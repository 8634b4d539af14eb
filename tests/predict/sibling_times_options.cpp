// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/predict/sibling_times.hpp>
#include <straggle/predict/sibling_times_options.hpp>

#include <doctest/doctest.h>

using namespace straggle;

TEST_CASE("sibling_times_options: defaults give a job more weight than its kind") {
    predict::sibling_times const times;
    CHECK(times.options().job_weight < times.options().kind_weight); // in tasks that its data must outweigh
    CHECK(times.options().most_kinds <= times.options().most_jobs);
}
