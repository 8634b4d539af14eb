// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/blacklist/detail/load_watch.hpp>

#include <doctest/doctest.h>

#include <limits>

using namespace straggle;

TEST_CASE("load: the first look stands, later ones are averaged, then forgotten") {
    detail::load_watch load;
    load.observe(0, 10, 40, 40, 4);
    CHECK(load.busy() == 40);
    load.observe(1, 10, 80, 80, 8);
    CHECK(load.busy() == doctest::Approx(80)); // what was at 0 lasted for no time
    load.observe(2, 10, 60, 60, 6);
    CHECK(load.busy() == doctest::Approx(70).epsilon(0.001));
    CHECK(load.waiting() == doctest::Approx(7).epsilon(0.001));
    for (int t = 3; t < 5000; ++t) load.observe(t, 10, 20, 20, 0);
    CHECK(load.busy() == doctest::Approx(20));
}

TEST_CASE("load: a clock that stands, goes back or has no usual duration changes nothing") {
    detail::load_watch load;
    load.observe(5, 10, 40, 40, 4);
    load.observe(5, 10, 80, 80, 8);
    load.observe(1, 10, 80, 80, 8);
    load.observe(2, 0, 80, 80, 8);
    load.observe(3, std::numeric_limits<double>::quiet_NaN(), 80, 80, 8);
    CHECK(load.busy() == 40);
}

TEST_CASE("load: steps too short to be seen add up, and never make it unknown") {
    detail::load_watch load;
    double const most = (std::numeric_limits<double>::max)();
    load.observe(0, most, 40, 40, 4);
    load.observe(1, most, 80, 80, 8); // a share of 0 of a weight of 0
    CHECK(load.busy() == 40);
    for (double t = 1; t < 400; ++t) load.observe(t, 1e15, 60, 60, 6);
    CHECK(load.busy() == doctest::Approx(60));
    byte_writer out;
    load.write(out);
    byte_reader in(out.payload());
    detail::load_watch again;
    CHECK(again.read(in) == status::ok);
    CHECK(again.busy() == load.busy());
}
