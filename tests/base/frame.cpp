// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/base/bytes.hpp>
#include <straggle/base/frame.hpp>

#include <doctest/doctest.h>

#include "../support/contract_trap.hpp"
#include "../support/seed.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using straggle::byte_reader;
using straggle::byte_writer;
using straggle::frame_kind;
using straggle::open_frame;
using straggle::status;

using byte_vector = std::vector<std::byte>;

byte_vector bytes_of(std::initializer_list<int> values) {
    byte_vector result;
    for (int const v : values) result.push_back(static_cast<std::byte>(v));
    return result;
}

std::span<std::byte const> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

static_assert(frame_kind("abcd") == 0x64636261);
static_assert(frame_kind("\xFF\x80\x01 ") == 0x200180FF);

// --- checksum: vectors computed bit by bit outside of this library; that of 0...255 is the one an .xz file
// has

constexpr std::array<std::byte, 9> digits = {std::byte{'1'}, std::byte{'2'}, std::byte{'3'},
                                             std::byte{'4'}, std::byte{'5'}, std::byte{'6'},
                                             std::byte{'7'}, std::byte{'8'}, std::byte{'9'}};
static_assert(straggle::detail::crc64(digits) == 0x995DC9BBDF1939FAu, "as in the catalogue of CRCs");

TEST_CASE("frame: the checksum is CRC-64/XZ") {
    using straggle::detail::crc64;
    CHECK(crc64({}) == 0);
    CHECK(crc64(digits) == 0x995DC9BBDF1939FAu);
    CHECK(crc64(bytes_of({0})) == 0x1FADA17364673F59u);
    CHECK(crc64(byte_vector(32)) == 0xC95AF8617CD5330Cu);
    CHECK(crc64(bytes_of("The quick brown fox jumps over the lazy dog")) == 0x5B5EB8C2E54AA1C4u);
    byte_vector all, squares;
    for (unsigned i = 0; i < 256; ++i) all.push_back(static_cast<std::byte>(i));
    for (unsigned i = 0; i < 1000; ++i) squares.push_back(static_cast<std::byte>(i * i * 31 + 7 * i));
    CHECK(crc64(all) == 0x72414B2F65DB3AB0u);
    CHECK(crc64(squares) == 0x0422530F00556040u);
}

TEST_CASE("frame: the checksum eight bytes at a time is that of one bit at a time, wherever the bytes lie") {
    std::mt19937_64 draw(straggle_test::seed_or(1));
    byte_vector pool(300);
    for (std::byte& b : pool) b = static_cast<std::byte>(draw());
    for (std::size_t begin = 0; begin < 9; ++begin)
        for (std::size_t length = 0; length < 70; ++length) {
            auto const part = std::span<std::byte const>(pool).subspan(begin, length);
            std::uint64_t crc = ~std::uint64_t{0};
            for (std::byte const b : part)
                for (int bit = 0; bit < 8; ++bit) {
                    bool const differ = ((crc ^ (static_cast<std::uint64_t>(b) >> bit)) & 1) != 0;
                    crc = (crc >> 1) ^ (differ ? 0xC96C5795D7870F42u : 0);
                }
            REQUIRE(straggle::detail::crc64(part) == ~crc);
        }
}

// There the bytes go one by one, as on a big-endian machine; elsewhere the tests see a copy.
constexpr std::array<std::byte, 4> stored_in_constant_evaluation() {
    std::array<std::byte, 4> bytes{};
    straggle::detail::store_little(bytes.data(), std::uint32_t{0x01020384});
    return bytes;
}
static_assert(stored_in_constant_evaluation() ==
              std::array{std::byte{0x84}, std::byte{3}, std::byte{2}, std::byte{1}});

byte_vector const golden_frame = bytes_of({
    0x8E, 's',  't',  'r',  'a',  'g',  '\r', '\n', // magic
    't',  'e',  's',  't',                          // kind
    3,    0,    0,    0,                            // version
    12,   0,    0,    0,    0,    0,    0,    0,    // length
    3,    'a',  'b',  'c',                          // text
    0,    0,    0,    0,    0,    0,    0,    0x80, // -0.0
    0x11, 0x49, 0x00, 0x3E, 0x72, 0x5E, 0x79, 0x93, // checksum of the above
});

byte_vector make_golden_frame() {
    byte_writer out;
    out.text("abc");
    out.real(-0.0);
    return std::move(out).seal(frame_kind("test"), 3);
}

TEST_CASE("frame: every byte of one") {
    CHECK(make_golden_frame() == golden_frame);
    auto const frame = open_frame(golden_frame, frame_kind("test"), 3);
    REQUIRE(frame.has_value());
    CHECK(frame->version == 3);
    byte_reader in = frame->payload;
    CHECK(in.left() == 12);
    CHECK(in.text() == "abc");
    CHECK(std::signbit(in.real()));
    CHECK(in.at_end());
    CHECK(in.finish() == status::ok);

    byte_vector const empty = byte_writer().seal(frame_kind("test"), 3);
    CHECK(empty ==
          bytes_of({0x8E, 's', 't', 'r', 'a', 'g', '\r', '\n', 't',  'e',  's',  't',  3,    0,    0,   0, 0,
                    0,    0,   0,   0,   0,   0,   0,    0x46, 0xAD, 0x5F, 0x5C, 0x92, 0xCA, 0xFF, 0x39}));
    auto const nothing = open_frame(empty, frame_kind("test"), 3);
    REQUIRE(nothing.has_value());
    CHECK(nothing->payload.at_end());
}

TEST_CASE("frame: the reasons for not opening a frame come in order") {
    std::uint32_t const kind = frame_kind("test");
    auto const reason = [&](byte_vector bytes, std::uint32_t newest_version = 3) {
        return open_frame(bytes, kind, newest_version).reason();
    };
    auto const with = [](std::initializer_list<std::pair<std::size_t, int>> changes) {
        byte_vector bytes = golden_frame;
        for (auto const& [at, value] : changes) bytes[at] = static_cast<std::byte>(value);
        return bytes;
    };
    auto const checksum_fixed = [](byte_vector bytes) {
        std::size_t const end = bytes.size() - 8;
        std::uint64_t const crc = straggle::detail::crc64(std::span<std::byte const>(bytes).first(end));
        for (std::size_t i = 0; i < 8; ++i) bytes[end + i] = static_cast<std::byte>(crc >> (8 * i));
        return bytes;
    };
    byte_vector longer = golden_frame;
    longer.push_back(std::byte{0});

    CHECK(reason(golden_frame) == status::ok);
    CHECK(reason(golden_frame, 4) == status::ok);
    CHECK(open_frame(golden_frame, kind, 4)->version == 3);
    CHECK(reason({}) == status::truncated);
    CHECK(reason(byte_vector(31, std::byte{0xFF})) == status::truncated);
    CHECK(reason(byte_vector(32)) == status::wrong_kind);
    CHECK(reason(with({{0, 's'}})) == status::wrong_kind);
    CHECK(reason(with({{7, '\r'}, {8, 'T'}})) == status::wrong_kind);
    CHECK(reason(checksum_fixed(with({{11, 'T'}, {12, 4}, {16, 13}}))) == status::wrong_kind);
    CHECK(open_frame(golden_frame, kind + 1, 3).reason() == status::wrong_kind);
    CHECK(reason(with({{12, 0}, {16, 13}})) == status::truncated);
    CHECK(reason(with({{23, 0xFF}})) == status::truncated);
    CHECK(reason(with(
              {{16, 0xF4}, {17, 255}, {18, 255}, {19, 255}, {20, 255}, {21, 255}, {22, 255}, {23, 255}})) ==
          status::truncated);
    CHECK(reason(with({{12, 4}, {16, 11}})) == status::corrupt);
    CHECK(reason(longer) == status::corrupt);
    CHECK(reason(checksum_fixed(with({{12, 0}}))) == status::corrupt);
    CHECK(reason(with({{12, 4}, {43, 0}})) == status::unknown_version);
    CHECK(reason(with({{15, 0x80}})) == status::unknown_version);
    CHECK(reason(golden_frame, 2) == status::unknown_version);
    CHECK(reason(with({{12, 1}})) == status::corrupt);
    CHECK(reason(checksum_fixed(with({{12, 1}}))) == status::ok);
    CHECK(reason(with({{43, 0}})) == status::corrupt);
    CHECK(reason(with({{25, 'A'}})) == status::corrupt);
}

TEST_CASE("frame: every truncation, extension and single flipped bit of a frame is noticed") {
    byte_writer out;
    for (std::uint64_t i = 0; i < 40; ++i) out.identifier(i * i * i);
    byte_vector const file = std::move(out).seal(9, 1);
    REQUIRE(open_frame(file, 9, 1).has_value());
    for (std::size_t length = 0; length < file.size(); ++length)
        REQUIRE(open_frame(std::span(file).first(length), 9, 1).reason() == status::truncated);
    byte_vector flipped = file;
    for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
        auto const mask = static_cast<std::byte>(1u << (bit % 8));
        flipped[bit / 8] ^= mask;
        status const reason = open_frame(flipped, 9, 1).reason();
        REQUIRE(reason != status::ok);
        REQUIRE((reason == status::corrupt || bit / 8 < 24)); // what is not in the head is for the checksum
        flipped[bit / 8] ^= mask;
    }
    for (std::size_t more = 1; more < 50; ++more) {
        byte_vector longer = file;
        longer.resize(file.size() + more);
        REQUIRE(open_frame(longer, 9, 1).reason() == status::corrupt);
    }
}

TEST_CASE("frame: garbage never opens") {
    std::mt19937_64 draw(straggle_test::seed_or(3));
    byte_vector const good = make_golden_frame();
    std::size_t opened = 0;
    for (int round = 0; round < 20000; ++round) {
        byte_vector bytes(draw() % 200);
        for (std::byte& b : bytes) b = static_cast<std::byte>(draw());
        opened += open_frame(bytes, frame_kind("test"), 3).has_value();
        // With a good head, so that the checksum has to notice.
        bytes = good;
        for (std::size_t i = 24; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(draw());
        opened += open_frame(bytes, frame_kind("test"), 3).has_value();
    }
    CHECK(opened == 0);
}

TEST_CASE("frame: broken contracts") {
    straggle_test::contract_trap const trap;
    CHECK_THROWS_AS((void)byte_writer().seal(1, 0), straggle_test::broken_contract);
    CHECK_THROWS_AS((void)open_frame({}, 1, 0), straggle_test::broken_contract);
}

} // namespace
