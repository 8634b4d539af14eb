// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/base/finite.hpp>

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace {

using straggle::detail::is_finite;
using limits = std::numeric_limits<double>;

static_assert(is_finite(0.0) && is_finite(-0.0) && is_finite(limits::max()) && is_finite(limits::lowest()));
static_assert(is_finite(limits::min()) && is_finite(limits::denorm_min()));
static_assert(!is_finite(limits::infinity()) && !is_finite(-limits::infinity()));
static_assert(!is_finite(limits::quiet_NaN()));

constexpr std::array<std::uint64_t, 4> significands{0, 1, 0x8000000000000, 0xfffffffffffff};

TEST_CASE("finite: every exponent, both signs, all kinds of significand") {
    for (std::uint64_t exponent = 0; exponent < 0x800; ++exponent)
        for (std::uint64_t sign = 0; sign < 2; ++sign)
            for (std::uint64_t const significand : significands) {
                double const x = std::bit_cast<double>((sign << 63) | (exponent << 52) | significand);
                REQUIRE(is_finite(x) == (exponent != 0x7ff));
                REQUIRE(is_finite(x) == static_cast<bool>(std::isfinite(x)));
            }
}

TEST_CASE("finite: results of arithmetic") {
    double volatile zero = 0, big = limits::max();
    CHECK_FALSE(is_finite(1 / zero));
    CHECK_FALSE(is_finite(zero / zero));
    CHECK_FALSE(is_finite(big * 2));
    CHECK_FALSE(is_finite(std::sqrt(-1 - zero)));
    CHECK(is_finite(big - big));
}

} // namespace
