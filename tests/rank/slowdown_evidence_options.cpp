// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/rank/slowdown_evidence.hpp>
#include <straggle/rank/slowdown_evidence_options.hpp>

#include <doctest/doctest.h>

using namespace straggle;

TEST_CASE("slowdown_evidence_options: bounds hold for the evidence made with them") {
    slowdown_evidence evidence(slowdown_evidence_options{.max_nodes = 2});
    for (std::uint32_t node = 0; node < 5; ++node)
        evidence.observe({.node = node, .job = 1, .start = 0, .end = 10});
    CHECK(evidence.counts().over_nodes == 3);
}
