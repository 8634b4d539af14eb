// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/assign/slot_price.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <utility>

using namespace straggle;
using assign::slot_price;

TEST_CASE("slot_price: next to nothing while slots idle, beyond bounds while tasks wait") {
    slot_price idle, full;
    for (int t = 0; t < 1000; ++t) {
        idle.observe(t, 0, 100, 60, 10);
        full.observe(t, 5, 100, 0, 10);
    }
    CHECK(idle.price() == doctest::Approx(0.05));
    CHECK(full.price() > 100);
    // A cluster that was full is not cheap at once, nor one that idled dear for ever.
    full.observe(1010, 0, 100, 60, 10);
    CHECK(full.price() > 10);
    for (int t = 1010; t < 3000; ++t) full.observe(t, 0, 100, 60, 10);
    CHECK(full.price() == doctest::Approx(0.05).epsilon(0.01));
}

TEST_CASE("slot_price: half of the time crowded is a price of one") {
    slot_price p;
    for (int t = 0; t < 20000; ++t) p.observe(t, t / 50 % 2 == 0 ? 1 : 0, 100, t / 50 % 2 == 0 ? 0 : 40, 50);
    CHECK(p.crowded() == doctest::Approx(0.5).epsilon(0.15));
    CHECK(p.price() == doctest::Approx(1.05).epsilon(0.35));
    // No task waits, but there is next to nothing left: as good as crowded.
    slot_price q;
    for (int t = 0; t < 1000; ++t) q.observe(t, 0, 200, 3, 10);
    CHECK(q.price() > 100);
}

TEST_CASE("slot_price: another unit gives the same price, and looking often the same as looking seldom") {
    slot_price a, b, seldom;
    for (int t = 0; t <= 4000; ++t) {
        std::uint64_t const waits = t / 400 % 2 == 0 ? 3 : 0;
        a.observe(t, waits, 50, 10, 40);
        b.observe(1000.0 * t, waits, 50, 10, 40000);
        if (t % 10 == 0) seldom.observe(t, waits, 50, 10, 40);
    }
    CHECK(a.price() == doctest::Approx(b.price()).epsilon(1e-9));
    CHECK(a.crowded() == doctest::Approx(seldom.crowded()).epsilon(0.05));
    double const before = a.crowded();
    a.observe(100, 0, 50, 10, 40); // a clock that steps back stands still
    CHECK(a.crowded() == before);
}

TEST_CASE("slot_price: where jobs have many tasks a slot is missed by few of them") {
    slot_price few, some, many, unknown;
    for (int t = 0; t < 2000; ++t) {
        bool const full = t / 50 % 2 == 0;
        for (auto const& [p, tasks] : {std::pair{&few, 5.0}, {&some, 20.0}, {&many, 200.0}, {&unknown, 0.0}})
            p->observe(t, full ? 1 : 0, 100, full ? 0 : 40, 50, tasks);
    }
    double const least = assign::slot_price_options{}.least;
    CHECK(some.price() == unknown.price());
    CHECK(few.price() - least == doctest::Approx(4 * (some.price() - least)));
    CHECK(many.price() - least == doctest::Approx((some.price() - least) / 10));
    // Where slots are always missed they are, however many tasks a job has.
    for (int t = 2000; t < 20000; ++t) many.observe(t, 1, 100, 0, 50, 200);
    CHECK(many.price() > 100);
}
