// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "mitigate/small_cluster.hpp"

#include <straggle/base/archive.hpp>
#include <straggle/base/bytes.hpp>
#include <straggle/mitigate/lease.hpp>
#include <straggle/mitigate/mitigator.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace straggle;
using mitigate::lease;

TEST_CASE("lease: one holder at a time, who may hold on to it, and give it back") {
    lease l;
    CHECK(l.take(7, 100, 30));
    CHECK(l == lease{7, 1, 130});
    CHECK_FALSE(l.take(8, 110, 30));
    CHECK(l.held_by_another(8, 110));
    CHECK_FALSE(l.held_by_another(7, 110));
    CHECK(l.take(7, 120, 30));
    CHECK(l == lease{7, 1, 150});
    CHECK(l.take(8, 150, 30)); // it has run out
    CHECK(l == lease{8, 2, 180});
    l.release(7);
    CHECK(l.holder == 8);
    l.release(8);
    CHECK(l.take(7, 151, 30));
    CHECK(l.term == 3);
    for (double const bad : {0.0, -1.0, std::nan(""), HUGE_VAL}) CHECK_FALSE(l.take(7, 160, bad));
    CHECK_FALSE(l.take(0, 160, 30));
    CHECK_FALSE(l.take(7, std::nan(""), 30));
    lease far;
    CHECK_FALSE(far.take(7, 1.7e308, 1e308)); // an end that could not be read again
    CHECK(far == lease{});
}

TEST_CASE("lease: it comes back from bytes") {
    lease l{.holder = 3, .term = 9, .until = 12.5}, read;
    byte_writer out;
    base::write_fields(out, l);
    byte_reader in(out.payload());
    base::read_fields(in, read);
    CHECK(in.finish() == status::ok);
    CHECK(read == l);
    lease bad{.holder = 3, .term = 9, .until = HUGE_VAL};
    byte_writer other;
    base::write_fields(other, bad);
    byte_reader again(other.payload());
    base::read_fields(again, read);
    CHECK_FALSE(again.ok());
}

TEST_CASE("lease: of two deciders on one cluster one is refused, and its exclusions end") {
    mitigator_options one, two;
    one.effects.left_alone = two.effects.left_alone = 0;
    one.decider = 1;
    two.decider = 2;
    straggle_test::small_cluster a({.nodes = 20}, one), b({.nodes = 20}, two);
    a.healths[7] = b.healths[7] = straggle_test::health::slow;
    lease shared;
    int both = 0;
    bool has_a = false;
    for (int i = 0; i < 1200; ++i) {
        if (i < 900) shared.take(1, a.now() + 1, 50);
        shared.take(2, b.now() + 1, 50);
        a.m.hold(shared);
        b.m.hold(shared);
        a.step();
        b.step();
        has_a = has_a || a.excluded() != 0;
        both += a.excluded() != 0 && b.excluded() != 0 ? 1 : 0;
        if (i < 900) REQUIRE(b.m.plan().has(mitigate::plan_note::not_the_decider));
    }
    CHECK(has_a);
    CHECK(both == 0);
    CHECK(a.m.plan().has(mitigate::plan_note::not_the_decider));
    CHECK(a.excluded() == 0);
    CHECK_FALSE(b.m.plan().has(mitigate::plan_note::not_the_decider));
}
