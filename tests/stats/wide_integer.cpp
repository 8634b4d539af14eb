// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/stats/detail/wide_integer.hpp>

#include <doctest/doctest.h>

#include "../support/golden.hpp"
#include "../support/seed.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace straggle::detail;

constexpr std::uint64_t all_ones = ~std::uint64_t{0};
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

uint256 from_hex(std::string const& hex) {
    uint256 a{};
    for (std::size_t digit = 0; digit < hex.size(); ++digit) {
        char const c = hex[hex.size() - 1 - digit];
        std::uint64_t const value = static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
        a[digit / 16] |= value << (4 * (digit % 16));
    }
    return a;
}
uint128 low_half(uint256 const& a) {
    REQUIRE((a[2] == 0 && a[3] == 0));
    return {a[0], a[1]};
}

template <class Wide>
void check_golden(straggle_test::golden_row const& row) {
    if (row.text(0) == "double") {
        // Bit for bit: a tie that goes the wrong way is off by half a unit only.
        REQUIRE(to_double(from_hex(row.text(1))) == row.real(2));
    } else if (row.text(0) == "multiply") {
        std::uint64_t const a = row.integer<std::uint64_t>(1, 16), b = row.integer<std::uint64_t>(2, 16);
        REQUIRE((Wide::multiply(a, b) == low_half(from_hex(row.text(3)))));
    } else {
        REQUIRE(row.text(0) == "divide");
        std::uint64_t const quotient =
            Wide::divide(low_half(from_hex(row.text(1))), row.integer<std::uint64_t>(2, 16));
        REQUIRE(quotient == row.integer<std::uint64_t>(3, 16));
    }
}

TEST_CASE("wide integer: products, quotients and roundings of an independent source") {
    for (auto const& row : straggle_test::golden_table("wide_integer.csv", false)) {
        INFO(row.text(0), " ", row.text(1), " ", row.text(2));
        check_golden<portable_wide>(row);
        check_golden<default_wide>(row);
    }
}

#if STRAGGLE_HAS_INT128
// The operands at which carries are born and lost, and some others.
std::vector<std::uint64_t> operands(std::mt19937_64& draw, std::size_t random) {
    std::vector<std::uint64_t> a{0, 1, 2, 3, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x100000001};
    for (std::uint64_t const x : {std::uint64_t{1} << 62, std::uint64_t{1} << 63, all_ones})
        for (std::uint64_t const d : {all_ones, std::uint64_t{0}, std::uint64_t{1}}) a.push_back(x + d);
    for (std::size_t i = 0; i < random; ++i) a.push_back(draw() >> (draw() % 64));
    return a;
}

TEST_CASE("wide integer: portable and native arithmetic give the same bits") {
    std::uint64_t const seed = straggle_test::seed_or(11);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    std::vector<std::uint64_t> const values = operands(draw, 200);
    for (std::uint64_t const a : values) {
        std::int64_t const signed_a = static_cast<std::int64_t>(a);
        REQUIRE((portable_wide::square(signed_a) == native_wide::square(signed_a)));
        for (std::uint64_t const b : values) {
            uint128 const product = native_wide::multiply(a, b);
            REQUIRE((portable_wide::multiply(a, b) == product));
            if (b == 0) continue;
            uint128 const dividend{draw(), b > 1 ? a % b : 0};
            std::uint64_t const quotient = native_wide::divide(dividend, b);
            REQUIRE(portable_wide::divide(dividend, b) == quotient);
            if (a < all_ones) { // a * b + rest below (a + 1) * b
                uint128 with_rest = product;
                add(with_rest, {draw() % b, 0});
                if (with_rest.hi < b) REQUIRE(portable_wide::divide(with_rest, b) == a);
            }
        }
    }
}

TEST_CASE("wide integer: sums and differences agree with the compiler's") {
    std::uint64_t const seed = straggle_test::seed_or(12);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    std::vector<std::uint64_t> const values = operands(draw, 12);
    for (std::uint64_t const a_lo : values)
        for (std::uint64_t const a_hi : values)
            for (std::uint64_t const b_lo : values)
                for (std::uint64_t const b_hi : values) {
                    native_uint128 const a = native_wide::join({a_lo, a_hi}),
                                         b = native_wide::join({b_lo, b_hi});
                    uint128 sum{a_lo, a_hi}, difference{a_lo, a_hi};
                    std::uint64_t const carry = add(sum, {b_lo, b_hi});
                    std::uint64_t const borrow = subtract(difference, {b_lo, b_hi});
                    bool const right = native_wide::join(sum) == a + b && (carry == 1) == (a + b < a) &&
                                       carry < 2 && native_wide::join(difference) == a - b &&
                                       (borrow == 1) == (a < b) && borrow < 2;
                    REQUIRE(right);
                }
}
#endif

TEST_CASE("wide integer: adding a square and taking it out again") {
    std::uint64_t const seed = straggle_test::seed_or(13);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    for (int i = 0; i < 20000; ++i) {
        uint128 const start{draw() % 4 == 0 ? all_ones : draw(), draw() % 4 == 0 ? all_ones : draw()};
        std::int64_t const x = i % 16 == 0 ? least : i % 16 == 1 ? most : static_cast<std::int64_t>(draw());
        uint128 const square = default_wide::square(x);
        uint128 a = start, b = start;
        std::uint64_t const carry = add_square(a, square);
        REQUIRE(carry == add(b, square));
        REQUIRE((a == b));
        REQUIRE(subtract(a, square) == carry);
        REQUIRE((a == start));
    }
}

TEST_CASE_TEMPLATE("wide integer: squares of the extremes", Wide, portable_wide, default_wide) {
    CHECK((Wide::square(least) == uint128{0, std::uint64_t{1} << 62}));
    CHECK((Wide::square(most) == uint128{1, (std::uint64_t{1} << 62) - 1}));
    CHECK((Wide::square(-1) == uint128{1, 0}));
    CHECK((Wide::square(0) == uint128{}));
}

TEST_CASE("wide integer: negation in two's complement") {
    for (uint128 const a : {uint128{0, 0}, uint128{1, 0}, uint128{all_ones, all_ones}, uint128{0, 1},
                            uint128{0, std::uint64_t{1} << 63}, uint128{5, 7}}) {
        uint128 sum = a;
        add(sum, negated(a));
        CHECK((sum == uint128{}));
        CHECK((negated(negated(a)) == a));
    }
    CHECK(is_negative({0, std::uint64_t{1} << 63}));
    CHECK(is_negative({all_ones, all_ones}));
    CHECK_FALSE(is_negative({all_ones, (std::uint64_t{1} << 63) - 1}));
    CHECK_FALSE(is_negative({}));
}

TEST_CASE("wide integer: 256 bits: adding at a place and subtracting undo each other") {
    std::uint64_t const seed = straggle_test::seed_or(14);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    auto const word = [&] { return draw() % 3 == 0 ? (draw() % 2 == 0 ? all_ones : 0) : draw(); };
    for (int i = 0; i < 20000; ++i) {
        uint256 const start{word(), word(), word(), word()};
        uint128 const b{word(), word()};
        for (std::size_t shift = 0; shift < 4; ++shift) {
            uint256 sum = start;
            add_limbs(sum, b, shift);
            uint256 shifted{};
            for (std::size_t k = 0; k < 2; ++k)
                if (shift + k < 4) shifted[shift + k] = k == 0 ? b.lo : b.hi;
            REQUIRE((subtract(sum, shifted) == start));
            REQUIRE((subtract(sum, start) == shifted));
            for (std::size_t k = 0; k < shift; ++k) REQUIRE(sum[k] == start[k]);
        }
    }
    uint256 full{all_ones, all_ones, all_ones, 0};
    add_limbs(full, {1, 0}, 0); // a carry all the way up
    CHECK((full == uint256{0, 0, 0, 1}));
    CHECK((subtract(full, {1, 0, 0, 0}) == uint256{all_ones, all_ones, all_ones, 0}));
}

TEST_CASE("wide integer: powers of two") {
    for (int e = -1022; e <= 1023; ++e) REQUIRE(power_of_two(e) == std::ldexp(1.0, e));
}

// All of it where the compiler computes.
static_assert(portable_wide::multiply(all_ones, all_ones) == uint128{1, all_ones - 1});
static_assert(default_wide::multiply(all_ones, all_ones) == uint128{1, all_ones - 1});
static_assert(portable_wide::divide({0, 1}, 2) == std::uint64_t{1} << 63);
static_assert(to_double({0, 0, 0, std::uint64_t{1} << 63}) == 0x1p255);
static_assert(to_double({all_ones, all_ones, all_ones, all_ones}) == 0x1p256);

} // namespace
