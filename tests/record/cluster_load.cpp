// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/record/cluster_load.hpp>

#include <doctest/doctest.h>

using namespace straggle;

TEST_CASE("cluster_load: what is not told is 0") {
    constexpr cluster_load nothing;
    CHECK(nothing == cluster_load{.now = 0,
                                  .started = 0,
                                  .running = 0,
                                  .suspects = 0,
                                  .slots = 0,
                                  .copies = 0,
                                  .busy = 0,
                                  .waiting = 0});
    CHECK(nothing != cluster_load{.waiting = 1});
}
