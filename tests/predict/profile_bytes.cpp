// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Profile stores as bytes: there and back in every state, and bytes that are anything but a store.

#include <straggle/predict/detail/profile_bytes.hpp>
#include <straggle/predict/profile_store.hpp>

#include "../fuzz/profiles.cpp"
#include "../support/allocations.hpp"
#include "../support/corpus.hpp"
#include "../support/damage.hpp"
#include "../support/seed.hpp"
#include "scanned_records.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace straggle;
using straggle_test::categorical;
using straggle_test::numeric;
using straggle_test::random_rows;

namespace {

using bytes = std::vector<std::byte>;
constexpr double infinity = std::numeric_limits<double>::infinity();

void check_same(predict::profile_store const& a, predict::profile_store const& b, random_rows& data) {
    REQUIRE(a.size() == b.size());
    REQUIRE(a.counts() == b.counts());
    REQUIRE(std::equal(a.ranges().begin(), a.ranges().end(), b.ranges().begin(), b.ranges().end()));
    predict::nearest_scratch scratch;
    std::vector<predict::neighbor> found_a, found_b;
    for (int i = 0; i < 5; ++i) {
        auto const row = data.row(), weights = data.weights();
        REQUIRE(a.nearest(row, weights, 20, infinity, scratch, found_a) ==
                b.nearest(row, weights, 20, infinity, scratch, found_b));
        REQUIRE(found_a == found_b);
    }
    std::vector<double> row_a(a.factors()), row_b(b.factors());
    for (std::size_t i = 0; i < a.size(); ++i) {
        REQUIRE(a.sample(i, row_a) == b.sample(i, row_b));
        REQUIRE(straggle_test::same_row(row_a, row_b));
    }
    REQUIRE(a.serialize() == b.serialize());
}

// The beginning of a frame of a store with one number and one code, up to its records.
byte_writer begun(std::uint64_t records, std::uint64_t added, std::uint64_t evicted) {
    byte_writer out;
    out.count(2);
    out.u8(0);
    out.u8(1);
    for (std::uint64_t const n : {added, evicted, std::uint64_t{5}, std::uint64_t{6}}) out.varint(n);
    out.count(records);
    return out;
}
void record(byte_writer& out, std::uint64_t skipped, double number, double code, double time) {
    out.varint(skipped);
    for (double const x : {number, code, time}) out.real(x);
}
status read(byte_writer out, std::size_t capacity = 100) {
    bytes const sealed = std::move(out).seal(frame_kind("prof"), 1);
    std::vector<predict::factor_kind> const kinds{predict::factor_kind::numeric,
                                                  predict::factor_kind::categorical};
    predict::profile_store store(kinds, {.capacity = capacity});
    std::vector<double> const row{1, 2};
    REQUIRE(store.add(row, 3) == status::ok);
    bytes const before = store.serialize();
    status const s = store.restore(sealed);
    if (s == status::ok)
        CHECK(store.serialize() == sealed);
    else
        CHECK(store.serialize() == before);
    return s;
}

} // namespace

TEST_CASE("profile bytes: there and back in every state, and on alike") {
    std::uint64_t const seed = straggle_test::seed_or(5301);
    INFO("seed ", seed);
    for (std::uint64_t round = 0; round < 12; ++round) {
        CAPTURE(round);
        random_rows data(seed + round);
        predict::profile_store store(data.kinds, {.capacity = 150});
        std::mt19937_64 chance(round);
        bytes memory;
        for (int i = 0; i < 600; ++i) {
            (void)(data.draw() % 2 == 0 ? store.add(data.row(), i, chance) : store.add(data.row(), i));
            if (i % 70 == 0) (void)store.add(data.row(), -1);
            if (data.draw() % 16 != 0) continue;
            predict::profile_store back(data.kinds, {.capacity = 150});
            (void)back.add(data.row(), 1); // to be forgotten
            memory = store.serialize(std::move(memory));
            REQUIRE(back.restore(memory) == status::ok);
            check_same(back, store, data);
            std::mt19937_64 same_chance = chance;
            predict::profile_store on = store;
            for (int more = 0; more < 100; ++more) {
                auto const row = data.row();
                (void)on.add(row, more, chance);
                (void)back.add(row, more, same_chance);
            }
            check_same(back, on, data);
            if (data.draw() % 4 == 0) store = back;
        }
    }
    std::vector<predict::factor_kind> const kinds{predict::factor_kind::numeric};
    predict::profile_store empty(kinds), back(kinds);
    std::vector<double> const row{1};
    (void)back.add(row, 1);
    CHECK(back.restore(empty.serialize()) == status::ok);
    CHECK(back.empty());
}

TEST_CASE("profile bytes: another capacity") {
    std::vector<predict::factor_kind> const kinds{predict::factor_kind::numeric};
    predict::profile_store store(kinds, {.capacity = 10}), larger(kinds, {.capacity = 11}),
        less(kinds, {.capacity = 9});
    std::vector<double> row{0};
    for (int i = 0; i < 15; ++i) {
        row[0] = i;
        (void)store.add(row, i);
    }
    REQUIRE(larger.restore(store.serialize()) == status::ok);
    CHECK(larger.capacity() == 11);
    (void)larger.add(row, 1);
    CHECK(larger.size() == 11);
    CHECK(larger.counts().evicted == 5);
    CHECK(less.restore(store.serialize()) == status::out_of_range);
    CHECK(less.empty());
}

TEST_CASE("profile bytes: every truncation and every flipped bit is noticed, and changes nothing") {
    bytes const good = sample_store(2, 9);
    predict::profile_store victim = fuzz_store(2);
    REQUIRE(victim.restore(sample_store(2, 4)) == status::ok);
    straggle_test::check_damage(victim, good);
}

TEST_CASE("profile bytes: of other factors, or from another time") {
    bytes const good = sample_store(1, 5);
    auto const read_as = [&](std::vector<predict::factor_kind> const& kinds, bytes const& from) {
        predict::profile_store store(kinds);
        return store.restore(from);
    };
    CHECK(read_as({predict::factor_kind::categorical, predict::factor_kind::numeric}, good) == status::ok);
    CHECK(read_as({predict::factor_kind::numeric, predict::factor_kind::categorical}, good) ==
          status::wrong_kind);
    CHECK(read_as({predict::factor_kind::categorical}, good) == status::wrong_kind);
    CHECK(read_as({predict::factor_kind::categorical, predict::factor_kind::numeric,
                   predict::factor_kind::numeric},
                  good) == status::wrong_kind);
    auto const sealed_as = [&](std::uint32_t kind, std::uint32_t version) {
        byte_writer out;
        out.u8(1);
        return read_as({predict::factor_kind::numeric}, std::move(out).seal(kind, version));
    };
    CHECK(sealed_as(frame_kind("prof"), 1) == status::truncated);
    CHECK(sealed_as(frame_kind("prof"), 2) == status::unknown_version);
    CHECK(sealed_as(frame_kind("moni"), 1) == status::wrong_kind);
}

TEST_CASE("profile bytes: a right checksum around nonsense") {
    auto const one = [](double number, double code, double time, std::uint64_t skipped = 0,
                        std::uint64_t added = 1) {
        byte_writer out = begun(1, added, added - 1);
        record(out, skipped, number, code, time);
        return out;
    };
    CHECK(read(one(1, 2, 3)) == status::ok);
    CHECK(read(one(predict::missing_factor, predict::missing_factor, 0)) == status::ok);
    CHECK(read(one(predict::largest_factor, -predict::largest_factor, 1e308)) == status::ok);
    CHECK(read(one(infinity, 2, 3)) == status::corrupt);
    CHECK(read(one(1, 1.7e308, 3)) == status::corrupt);
    for (double const bad : {-1.0, infinity, -infinity, predict::missing_factor})
        CHECK(read(one(1, 2, bad)) == status::corrupt);
    // The number of the record.
    CHECK(read(one(1, 2, 3, 9, 10)) == status::ok);
    CHECK(read(one(1, 2, 3, 10, 10)) == status::corrupt);
    CHECK(read(one(1, 2, 3, UINT64_MAX, UINT64_MAX)) == status::corrupt);
    CHECK(read(one(1, 2, 3, UINT64_MAX - 1, UINT64_MAX)) == status::ok);
    byte_writer second = begun(2, 5, 3);
    record(second, 3, 1, 2, 3);
    record(second, 0, 1, 2, 3);
    CHECK(read(std::move(second)) == status::ok);
    second = begun(2, 5, 3);
    record(second, 4, 1, 2, 3);
    record(second, 0, 1, 2, 3);
    CHECK(read(std::move(second)) == status::corrupt);
    // Counts that do not add up.
    CHECK(read(begun(0, 7, 7)) == status::ok);
    CHECK(read(begun(0, 7, 8)) == status::corrupt);
    CHECK(read(begun(0, 7, 6)) == status::corrupt);
    byte_writer three = begun(3, 3, 0);
    for (int i = 0; i < 3; ++i) record(three, 0, i, i, i);
    CHECK(read(three) == status::ok);
    CHECK(read(three, 2) == status::out_of_range);
    three.u8(0);
    CHECK(read(three) == status::corrupt); // bytes are left
}

TEST_CASE("profile bytes: hostile counts take no memory") {
    for (std::uint64_t const many : {std::uint64_t{100'000}, std::uint64_t{1} << 32, UINT64_MAX}) {
        byte_writer records = begun(many, many, 0);
        record(records, 0, 1, 2, 3);
        byte_writer factors;
        factors.count(many);
        for (byte_writer* out : {&records, &factors}) {
            bytes const sealed = std::move(*out).seal(frame_kind("prof"), 1);
            std::vector<predict::factor_kind> const kinds{predict::factor_kind::numeric,
                                                          predict::factor_kind::categorical};
            predict::profile_store store(kinds, {.capacity = std::size_t{1} << 31});
            std::size_t const before = straggle_test::allocated_bytes();
            CHECK(store.restore(sealed) == status::truncated);
            CHECK(straggle_test::allocated_bytes() - before < 5'000);
        }
    }
    // Real ones take a small multiple of their bytes.
    for (std::uint64_t const kind : {0u, 1u, 2u}) {
        predict::profile_store store(fuzz_kinds(kind), {.capacity = 3000});
        std::vector<double> const row(store.factors(), 1.0);
        for (int i = 0; i < 3000; ++i) (void)store.add(row, i);
        bytes const stored = store.serialize();
        predict::profile_store back(fuzz_kinds(kind), {.capacity = 3000});
        std::size_t const before = straggle_test::allocated_bytes();
        REQUIRE(back.restore(stored) == status::ok);
        CHECK(straggle_test::allocated_bytes() - before < 4 * stored.size());
    }
}

TEST_CASE("profile bytes: the corpus of the fuzzer") {
    straggle_test::replay_corpus(__FILE__, "profiles", LLVMFuzzerTestOneInput);
}

TEST_CASE("profile bytes: what the fuzzer does, on damaged stores with the checksum put right") {
    std::mt19937_64 draw(straggle_test::seed_or(5302));
    for (int round = 0; round < 3000; ++round) {
        bytes input = sample_store(draw() % 3, 1 + draw() % 50);
        for (std::uint64_t flips = 1 + draw() % 4; flips > 0; --flips)
            input[24 + draw() % (input.size() - 24)] =
                static_cast<std::byte>(draw() % 3 == 0 ? draw() : draw() % 4);
        LLVMFuzzerTestOneInput(reinterpret_cast<std::uint8_t const*>(input.data()), input.size());
    }
}
