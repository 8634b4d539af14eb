// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include "../fuzz/bytes.cpp"

#include <straggle/base/bytes.hpp>
#include <straggle/base/interner.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/contract_trap.hpp"
#include "../support/corpus.hpp"
#include "../support/seed.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>

namespace {

using straggle::byte_reader;
using straggle::byte_writer;
using straggle::open_frame;
using straggle::status;

using byte_vector = std::vector<std::byte>;
using int64_limits = std::numeric_limits<std::int64_t>;
using uint64_limits = std::numeric_limits<std::uint64_t>;

byte_vector bytes_of(std::initializer_list<int> values) {
    byte_vector result;
    for (int const v : values) result.push_back(static_cast<std::byte>(v));
    return result;
}

// What a writer makes of calls, and a reader over bytes.
template <class Calls>
byte_vector written(Calls const& calls) {
    byte_writer out;
    calls(out);
    return {out.payload().begin(), out.payload().end()};
}

enum fixed : unsigned char {};

static_assert(std::is_nothrow_default_constructible_v<byte_reader> &&
              std::is_trivially_copyable_v<byte_reader>);
static_assert(noexcept(std::declval<byte_reader&>().u64()) &&
              noexcept(std::declval<byte_reader&>().varint()) &&
              noexcept(std::declval<byte_reader&>().text()) &&
              noexcept(std::declval<byte_reader&>().identifier<int>()));

// --- golden bytes

TEST_CASE("bytes: numbers are little-endian") {
    CHECK(written([](byte_writer& out) { out.u8(0xA5); }) == bytes_of({0xA5}));
    CHECK(written([](byte_writer& out) { out.u32(0x01020384); }) == bytes_of({0x84, 3, 2, 1}));
    CHECK(written([](byte_writer& out) { out.tag(0x01020384); }) == bytes_of({0x84, 3, 2, 1}));
    CHECK(written([](byte_writer& out) { out.u64(0x0102030405060708); }) ==
          bytes_of({8, 7, 6, 5, 4, 3, 2, 1}));
    CHECK(written([](byte_writer& out) { out.i64(-2); }) ==
          bytes_of({0xFE, 255, 255, 255, 255, 255, 255, 255}));
    CHECK(written([](byte_writer& out) { out.i64(int64_limits::min()); }) ==
          bytes_of({0, 0, 0, 0, 0, 0, 0, 0x80}));
    CHECK(written([](byte_writer& out) { out.real(1.0); }) == bytes_of({0, 0, 0, 0, 0, 0, 0xF0, 0x3F}));
    CHECK(written([](byte_writer& out) { out.real(-0.0); }) == bytes_of({0, 0, 0, 0, 0, 0, 0, 0x80}));
    CHECK(written([](byte_writer& out) { out.real(-123.456); }) ==
          bytes_of({0x77, 0xBE, 0x9F, 0x1A, 0x2F, 0xDD, 0x5E, 0xC0}));
    CHECK(written([](byte_writer& out) {
              out.flag(false);
              out.flag(true);
          }) == bytes_of({0, 1}));
}

TEST_CASE("bytes: numbers of variable length") {
    std::pair<std::uint64_t, byte_vector> const golden[] = {
        {0, bytes_of({0})},
        {127, bytes_of({0x7F})},
        {128, bytes_of({0x80, 0x01})},
        {300, bytes_of({0xAC, 0x02})},
        {16383, bytes_of({0xFF, 0x7F})},
        {16384, bytes_of({0x80, 0x80, 0x01})},
        {std::uint64_t{1} << 63, bytes_of({0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01})},
        {uint64_limits::max(), bytes_of({255, 255, 255, 255, 255, 255, 255, 255, 255, 0x01})}};
    for (auto const& [value, bytes] : golden) {
        CAPTURE(value);
        std::uint64_t const v = value;
        CHECK(written([&](byte_writer& out) { out.varint(v); }) == bytes);
        CHECK(written([&](byte_writer& out) { out.count(v); }) == bytes);
        byte_reader in(bytes);
        CHECK(in.varint() == value);
        CHECK(in.at_end());
    }
    for (unsigned shift = 0; shift < 64; ++shift)
        for (int const off : {-1, 0, 1}) {
            std::uint64_t const value = (std::uint64_t{1} << shift) + static_cast<std::uint64_t>(off);
            byte_vector const bytes = written([&](byte_writer& out) { out.varint(value); });
            REQUIRE(bytes.size() == (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7);
            byte_reader in(bytes);
            REQUIRE(in.varint() == value);
            REQUIRE(in.at_end());
        }
}

TEST_CASE("bytes: numbers of variable length that no writer would write") {
    auto const reason = [](byte_vector const& bytes) {
        byte_reader in(bytes);
        CHECK(in.varint() == 0);
        return in.reason();
    };
    CHECK(reason({}) == status::truncated);
    CHECK(reason(bytes_of({0x80})) == status::truncated);
    CHECK(reason(bytes_of({255, 255, 255, 255, 255, 255, 255, 255, 255})) == status::truncated);
    CHECK(reason(bytes_of({0x80, 0x00})) == status::corrupt);
    CHECK(reason(bytes_of({0xFF, 0x80, 0x00})) == status::corrupt);
    CHECK(reason(bytes_of({255, 255, 255, 255, 255, 255, 255, 255, 255, 0x00})) == status::corrupt);
    CHECK(reason(bytes_of({255, 255, 255, 255, 255, 255, 255, 255, 255, 0x02})) == status::corrupt);
    CHECK(reason(bytes_of({255, 255, 255, 255, 255, 255, 255, 255, 255, 0x81})) == status::corrupt);
    CHECK(reason(bytes_of({255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0x01})) == status::corrupt);
}

TEST_CASE("bytes: text and identifiers") {
    CHECK(written([](byte_writer& out) { out.text("abc"); }) == bytes_of({3, 'a', 'b', 'c'}));
    CHECK(written([](byte_writer& out) { out.text({}); }) == bytes_of({0}));
    CHECK(written([](byte_writer& out) { out.identifier(std::string("\0z", 2)); }) == bytes_of({2, 0, 'z'}));
    CHECK(written([](byte_writer& out) { out.identifier("literal"); }) ==
          bytes_of({7, 'l', 'i', 't', 'e', 'r', 'a', 'l'}));

    auto const of = [](auto id) { return written([&](byte_writer& out) { out.identifier(id); }); };
    CHECK(of(0) == bytes_of({0}));
    CHECK(of(-1) == bytes_of({1}));
    CHECK(of(1u) == bytes_of({2}));
    CHECK(of(63) == bytes_of({0x7E}));
    CHECK(of(64) == bytes_of({0x80, 0x01}));
    CHECK(of(-64) == bytes_of({0x7F}));
    CHECK(of(-65) == bytes_of({0x81, 0x01}));
    CHECK(of(std::int16_t{300}) == bytes_of({0xD8, 0x04}));
    CHECK(of(-300L) == bytes_of({0xD7, 0x04}));
    CHECK(of(rack{-300}) == bytes_of({0xD7, 0x04}));
    CHECK(of(std::uint8_t{200}) == bytes_of({0x90, 0x03}));
    CHECK(of(std::numeric_limits<std::int32_t>::max()) == bytes_of({0xFE, 0xFF, 0xFF, 0xFF, 0x0F}));
    CHECK(of(int64_limits::max()) == bytes_of({0xFE, 255, 255, 255, 255, 255, 255, 255, 255, 0x01}));
    CHECK(of(int64_limits::min()) == bytes_of({0xFF, 255, 255, 255, 255, 255, 255, 255, 255, 0x01}));
    CHECK(of(std::uint64_t{1} << 63) == bytes_of({0x80, 128, 128, 128, 128, 128, 128, 128, 128, 0x02}));
    CHECK(of(uint64_limits::max()) == bytes_of({0xFE, 255, 255, 255, 255, 255, 255, 255, 255, 0x03}));
}

// Where the compiler computes.
constexpr std::array<std::byte, 14> constant_bytes = {
    std::byte{1}, std::byte{2}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0xAC}, std::byte{2},
    std::byte{3}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0},    std::byte{0}};
constexpr bool read_in_constant_evaluation() {
    byte_reader in(constant_bytes);
    bool const fine = in.flag() && in.u32() == 2 && in.varint() == 300 && in.identifier<int>() == -2;
    return fine && in.u64() == 0 && in.reason() == status::truncated &&
           open_frame(constant_bytes, 1, 1).reason() == status::truncated;
}
static_assert(read_in_constant_evaluation());

// --- there and back

TEST_CASE("bytes: doubles come back bit for bit") {
    using limits = std::numeric_limits<double>;
    std::vector<std::uint64_t> patterns = {0x7FF8000000000000u, 0xFFF8000000000000u, 0x7FF8DEADBEEF0001u,
                                           0x7FF0000000000001u, 0xFFFFFFFFFFFFFFFFu};
    for (double const v : {0.0, -0.0, 0.1, limits::infinity(), -limits::infinity(), limits::denorm_min(),
                           (limits::max)(), (limits::min)(), limits::lowest()})
        patterns.push_back(std::bit_cast<std::uint64_t>(v));
    byte_writer out;
    for (std::uint64_t const p : patterns) out.real(std::bit_cast<double>(p));
    byte_reader in(out.payload());
    for (std::uint64_t const p : patterns) CHECK(std::bit_cast<std::uint64_t>(in.real()) == p);
    CHECK(in.at_end());
}

TEST_CASE("bytes: everything comes back") {
    std::mt19937_64 draw(straggle_test::seed_or(2));
    std::string megabyte(1 << 20, '\0');
    for (char& c : megabyte) c = static_cast<char>(draw() % 3);
    byte_writer out;
    out.text(megabyte);
    out.text("");
    out.text(std::string_view("\0", 1));
    for (std::int64_t const v : {int64_limits::min(), int64_limits::max(), std::int64_t{0}, std::int64_t{-1}})
        out.i64(v);
    out.u64(uint64_limits::max());
    out.u32(std::numeric_limits<std::uint32_t>::max());
    out.u8(255);
    out.flag(true);
    out.tag(17);
    out.count(3);
    out.identifier("one");
    out.identifier(std::string_view("two"));
    out.identifier(std::string("three"));

    byte_reader in(out.payload());
    CHECK(in.text() == megabyte);
    CHECK(in.text().empty());
    CHECK(in.text() == std::string_view("\0", 1));
    CHECK(in.i64() == int64_limits::min());
    CHECK(in.i64() == int64_limits::max());
    CHECK(in.i64() == 0);
    CHECK(in.i64() == -1);
    CHECK(in.u64() == uint64_limits::max());
    CHECK(in.u32() == std::numeric_limits<std::uint32_t>::max());
    CHECK(in.u8() == 255);
    CHECK(in.flag());
    CHECK(in.tag(17));
    REQUIRE(in.count(4) == 3);
    straggle::interner<std::string> names;
    for (int i = 0; i < 2; ++i) names.insert(in.identifier<std::string>());
    std::string last = "before";
    in.identifier(last);
    CHECK(names.ids()[0] == "one");
    CHECK(names.ids()[1] == "two");
    CHECK(last == "three");
    CHECK(in.at_end());
}

// Every value of one type is read as that of another exactly if it fits.
template <class To, class From>
void fits_or_is_corrupt(From from) {
    byte_writer out;
    out.identifier(from);
    byte_reader in(out.payload());
    To const to = in.identifier<To>();
    CAPTURE(from);
    if (std::in_range<To>(from)) {
        REQUIRE(in.at_end());
        REQUIRE(std::cmp_equal(to, from));
    } else {
        REQUIRE(in.reason() == status::corrupt);
        REQUIRE(to == 0);
    }
}

template <class From>
void fits_everywhere_or_is_corrupt() {
    using limits = std::numeric_limits<From>;
    std::vector<From> values = {limits::min(), limits::max(), 0, 1, static_cast<From>(-1)};
    for (int shift = 0; shift < limits::digits; ++shift)
        for (int const off : {-2, -1, 0, 1}) {
            auto const near_it =
                static_cast<From>((std::uint64_t{1} << shift) + static_cast<std::uint64_t>(off));
            values.push_back(near_it);
            values.push_back(static_cast<From>(~near_it));
        }
    for (From const v : values) {
        fits_or_is_corrupt<std::int8_t>(v);
        fits_or_is_corrupt<std::uint8_t>(v);
        fits_or_is_corrupt<std::int16_t>(v);
        fits_or_is_corrupt<std::uint16_t>(v);
        fits_or_is_corrupt<std::int32_t>(v);
        fits_or_is_corrupt<std::uint32_t>(v);
        fits_or_is_corrupt<std::int64_t>(v);
        fits_or_is_corrupt<std::uint64_t>(v);
    }
}

TEST_CASE("bytes: whole identifiers of any type are read as any other that can hold them") {
    fits_everywhere_or_is_corrupt<std::int8_t>();
    fits_everywhere_or_is_corrupt<std::uint8_t>();
    fits_everywhere_or_is_corrupt<std::int16_t>();
    fits_everywhere_or_is_corrupt<std::uint16_t>();
    fits_everywhere_or_is_corrupt<std::int32_t>();
    fits_everywhere_or_is_corrupt<std::uint32_t>();
    fits_everywhere_or_is_corrupt<std::int64_t>();
    fits_everywhere_or_is_corrupt<std::uint64_t>();
    CHECK(byte_reader(bytes_of({0xD7, 0x04})).identifier<rack>() == rack{-300});
    CHECK(byte_reader(bytes_of({0x90, 0x03})).identifier<fixed>() == fixed{200});
}

TEST_CASE("bytes: whole identifiers that no writer would write") {
    auto const reason = [](byte_vector const& bytes) {
        byte_reader in(bytes);
        CHECK(in.identifier<std::uint64_t>() == 0);
        return in.reason();
    };
    CHECK(reason({}) == status::truncated);
    CHECK(reason(bytes_of({0x80})) == status::truncated);
    CHECK(reason(bytes_of({0x80, 0x00})) == status::corrupt);
    CHECK(reason(bytes_of({0x80, 0x80, 0x00})) == status::corrupt);
    CHECK(reason(bytes_of({0xFE, 255, 255, 255, 255, 255, 255, 255, 255, 0x04})) == status::corrupt);
    CHECK(reason(bytes_of({0xFE, 255, 255, 255, 255, 255, 255, 255, 255, 0x83})) == status::truncated);
    CHECK(reason(bytes_of({0xFE, 255, 255, 255, 255, 255, 255, 255, 255, 0x83, 1})) == status::corrupt);
    byte_vector const lowest = bytes_of({0xFF, 255, 255, 255, 255, 255, 255, 255, 255, 0x03});
    byte_reader in(lowest); // -2^64
    CHECK(in.identifier<std::int64_t>() == 0);
    CHECK(in.reason() == status::corrupt);
}

// --- failures

TEST_CASE("bytes: the first failure sticks") {
    byte_vector const bytes = bytes_of({7, 1, 1, 1, 1, 1, 1, 1, 1, 1});
    byte_reader in(bytes);
    CHECK(in.ok());
    CHECK(in.reason() == status::ok);
    CHECK(in.u8() == 7);
    CHECK_FALSE(in.at_end());
    CHECK_FALSE(in.tag(7));
    CHECK(in.reason() == status::wrong_kind);
    CHECK(in.left() == 0);
    CHECK(in.u8() == 0);
    CHECK(in.u32() == 0);
    CHECK(in.u64() == 0);
    CHECK(in.i64() == 0);
    CHECK(std::bit_cast<std::uint64_t>(in.real()) == 0);
    CHECK_FALSE(in.flag());
    CHECK(in.varint() == 0);
    CHECK(in.count(1) == 0);
    CHECK(in.text().empty());
    CHECK(in.identifier<std::string>().empty());
    CHECK(in.identifier<int>() == 0);
    std::string text = "old";
    in.identifier(text);
    CHECK(text.empty());
    CHECK_FALSE(in.tag(0));
    CHECK_FALSE(in.expect(true));
    CHECK_FALSE(in.expect(false, status::truncated));
    in.fail(status::no_spread);
    CHECK_FALSE(in.at_end());
    CHECK(in.finish() == status::wrong_kind);
    CHECK(in.reason() == status::wrong_kind);
}

TEST_CASE("bytes: what a reader says of bytes that end early, stay over or make no sense") {
    auto const reason = [](byte_vector const& bytes, auto&& read) {
        byte_reader in(bytes);
        read(in);
        return in.reason();
    };
    byte_vector const three = bytes_of({1, 2, 3});
    CHECK(reason({}, [](byte_reader& in) { (void)in.u8(); }) == status::truncated);
    CHECK(reason(three, [](byte_reader& in) { (void)in.u32(); }) == status::truncated);
    CHECK(reason(three, [](byte_reader& in) { (void)in.tag(0); }) == status::truncated);
    CHECK(reason(byte_vector(7), [](byte_reader& in) { (void)in.u64(); }) == status::truncated);
    CHECK(reason(byte_vector(7), [](byte_reader& in) { (void)in.real(); }) == status::truncated);
    CHECK(reason(bytes_of({2}), [](byte_reader& in) { (void)in.flag(); }) == status::corrupt);
    CHECK(reason(bytes_of({3, 'a', 'b'}), [](byte_reader& in) { (void)in.text(); }) == status::truncated);
    CHECK(reason(three, [](byte_reader& in) { (void)in.finish(); }) == status::corrupt);
    CHECK(reason(three, [](byte_reader& in) { (void)in.expect(in.u8() == 1); }) == status::ok);
    CHECK(reason(three, [](byte_reader& in) { (void)in.expect(in.u8() == 2); }) == status::corrupt);
    CHECK(reason(three, [](byte_reader& in) { (void)in.expect(false, status::wrong_kind); }) ==
          status::wrong_kind);
    CHECK(reason(three, [](byte_reader& in) { in.fail(status::out_of_domain); }) == status::out_of_domain);
    byte_reader nothing;
    CHECK(nothing.at_end());
    CHECK(nothing.u8() == 0);
    CHECK(nothing.reason() == status::truncated);
}

TEST_CASE("bytes: hostile counts make nobody allocate") {
    std::uint64_t const counts[] = {4,
                                    5,
                                    1000000000,
                                    std::uint64_t{1} << 32,
                                    std::uint64_t{1} << 61,
                                    std::uint64_t{1} << 63,
                                    uint64_limits::max()};
    for (std::uint64_t const items : counts)
        for (std::size_t const item :
             {std::size_t{4}, std::size_t{8}, std::numeric_limits<std::size_t>::max()}) {
            byte_writer out;
            out.count(items);
            out.u64(1);
            out.u32(2); // 12 bytes: three of 4, one of 8
            byte_reader in(out.payload());
            std::size_t granted = 1;
            CHECK(straggle_test::allocations_during([&] {
                      granted = in.count(item);
                      std::vector<double> const room(granted);
                  }) == 0);
            CHECK(granted == 0);
            CHECK(in.reason() == status::truncated);
            byte_reader text(out.payload());
            if (items > 12) {
                CHECK(straggle_test::allocations_during([&] { granted = text.text().size(); }) == 0);
                CHECK(granted == 0);
                CHECK(text.reason() == status::truncated);
            }
        }
    byte_writer out;
    out.count(3);
    out.u64(1);
    out.u32(2);
    byte_reader in(out.payload());
    CHECK(in.count(4) == 3);
    CHECK(in.ok());
}

TEST_CASE("bytes: reading allocates nothing") {
    byte_writer out;
    out.text(std::string(1000, 't'));
    out.identifier(std::string(100, 'i'));
    out.real(1.5);
    byte_vector const file = std::move(out).seal(1, 1);
    CHECK(straggle_test::allocations_during([&] {
              auto const frame = open_frame(file, 1, 1);
              byte_reader in = frame->payload;
              if (in.text().size() != 1000 || in.identifier<std::string>().size() != 100)
                  in.fail(status::corrupt);
              if (in.real() != 1.5 || !in.at_end()) std::abort();
          }) == 0);
}

TEST_CASE("bytes: writing into the memory of a former frame allocates nothing") {
    auto const fill = [](byte_writer& out) {
        for (std::uint64_t i = 0; i < 1000; ++i) {
            out.identifier(i);
            out.text("some text");
            out.real(0.5);
        }
    };
    byte_writer first;
    fill(first);
    byte_vector file = std::move(first).seal(1, 1);
    byte_vector const expected = file;
    CHECK(straggle_test::allocations_during([&] {
              byte_writer again(std::move(file));
              fill(again);
              file = std::move(again).seal(1, 1);
          }) == 0);
    CHECK(file == expected);
}

TEST_CASE("bytes: appending many texts stays linear") {
    byte_writer out;
    std::size_t const allocations = straggle_test::allocations_during([&] {
        for (int i = 0; i < 100000; ++i) out.text("0123456789");
        for (std::uint64_t i = 0; i < 100000; ++i) out.identifier(i << 40);
    });
    CHECK(allocations < 60);
}

TEST_CASE("bytes: a writer can be cleared, also after sealing") {
    byte_writer out;
    out.u32(5);
    CHECK(out.payload().size() == 4);
    out.clear();
    CHECK(out.payload().empty());
    out.text("abc");
    byte_writer fresh;
    fresh.text("abc");
    byte_vector const expected = std::move(fresh).seal(1, 3);
    CHECK(std::move(out).seal(1, 3) == expected);
    CHECK(out.payload().empty()); // NOLINT(bugprone-use-after-move): documented
    out.clear();
    out.text("abc");
    CHECK(std::move(out).seal(1, 3) == expected);
}

TEST_CASE("bytes: broken contracts") {
    straggle_test::contract_trap const trap;
    byte_writer out;
    CHECK_THROWS_AS((void)std::move(out).seal(1, 0), straggle_test::broken_contract);
    (void)std::move(out).seal(1, 1); // NOLINT(bugprone-use-after-move): it has not been
    CHECK_THROWS_AS((void)std::move(out).seal(1, 1), straggle_test::broken_contract);
    byte_reader in;
    CHECK_THROWS_AS((void)in.count(0), straggle_test::broken_contract);
    CHECK_THROWS_AS(in.fail(status::ok), straggle_test::broken_contract);
    CHECK_THROWS_AS((void)in.expect(false, status::ok), straggle_test::broken_contract);
    CHECK(in.ok());
}

TEST_CASE("bytes: the corpus of the fuzzer") {
    straggle_test::replay_corpus(__FILE__, "bytes", LLVMFuzzerTestOneInput);
}

TEST_CASE("bytes: what the fuzzer does, on random input") {
    std::mt19937_64 draw(straggle_test::seed_or(4));
    std::vector<std::uint8_t> input;
    for (int round = 0; round < 5000; ++round) {
        input.resize(draw() % 300);
        for (std::uint8_t& b : input) // small numbers often, so that some reads succeed
            b = static_cast<std::uint8_t>(draw() % 4 == 0 ? draw() : draw() % 20);
        LLVMFuzzerTestOneInput(input.data(), input.size());
    }
}

} // namespace
