// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/record/task_reader.hpp>

#include <doctest/doctest.h>

using namespace straggle;

TEST_CASE("race_book: a race is known until its last attempt has ended, and a round more") {
    detail::race_book races;
    races.begin_round();
    races.add(3, 10.5);
    races.add(7, 20.5);
    for (int round = 0; round < 5; ++round) { // one attempt of 7 runs on, none of 3
        races.begin_round();
        races.keep(1);
        races.keep(7);
        races.keep(9);
        CHECK((races.find(3) != nullptr) == (round == 0));
        REQUIRE(races.find(7) != nullptr);
        CHECK(races.find(7)->copies_after == 20.5);
        CHECK(races.find(1) == nullptr);
        CHECK(races.find(9) == nullptr);
    }
    races.begin_round();
    CHECK(races.find(7) != nullptr);
    races.begin_round();
    CHECK(races.find(7) == nullptr);
}

TEST_CASE("race_book: what is stored comes back") {
    detail::race_book races, restored;
    races.begin_round();
    races.add(3, 10.5);
    races.begin_round();
    races.keep(3);
    races.add(4, 1.5);
    byte_writer out;
    races.write(out);
    byte_reader in(out.payload());
    restored.read(in);
    REQUIRE(in.ok());
    for (std::uint64_t const task : {3u, 4u}) {
        REQUIRE(restored.find(task) != nullptr);
        CHECK(restored.find(task)->copies_after == races.find(task)->copies_after);
    }
    restored.begin_round();
    restored.keep(3);
    CHECK(restored.find(3) != nullptr);
}
