// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/mitigate/speculator_options.hpp>

#include <straggle/mitigate/speculator.hpp>

#include <doctest/doctest.h>

using straggle::mitigate::speculator_options;

TEST_CASE("speculator_options: reach the parts that they are for") {
    speculator_options options{.least_win = 0.4};
    options.races.of_task = 0.6;
    options.times.most_jobs = 7;
    straggle::mitigate::speculator<> const planner(options);
    CHECK(planner.options().least_win == 0.4);
    CHECK(planner.races().of_task(1) == doctest::Approx(0.6));
    CHECK(planner.times().options().most_jobs == 7);
}

TEST_CASE("speculator_options: defaults are shares and factors, none is a time") {
    speculator_options const o;
    CHECK(o.straggler_threshold > 1);
    for (double const share : {o.least_win, o.most_copies, o.storm, o.races.of_task, o.slot_price}) {
        CHECK(share > 0);
        CHECK(share < 1);
    }
    CHECK(o.copies_per_task >= 1);
    CHECK_FALSE(o.kill_hung);
}
