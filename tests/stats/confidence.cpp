// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/stats/confidence.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

namespace {

using straggle::status;
using straggle::stats::confidence_level;

static_assert(confidence_level{0.95}.value() == 0.95);
static_assert(confidence_level{0.5}.tail() == 0.25);
static_assert(*confidence_level::from(0.9) == confidence_level{0.9});
static_assert(confidence_level{0.9} != confidence_level{0.95});
static_assert(std::is_trivially_copyable_v<confidence_level> && sizeof(confidence_level) == sizeof(double));
static_assert(!std::is_default_constructible_v<confidence_level>, "which level must be said");
static_assert(!std::is_convertible_v<confidence_level, double>, "must not pass for a probability");

// A level that is written down may stand where a level is wanted; tests/compile_fail has the wrong ones.
constexpr double tail_of(confidence_level level) {
    return level.tail();
}
static_assert(tail_of(0.5) == 0.25);

TEST_CASE("confidence: levels from outside are checked") {
    using limits = std::numeric_limits<double>;
    for (double const level : {0.95, 0.5, limits::min(), limits::denorm_min(), 1 - limits::epsilon() / 2}) {
        auto const got = confidence_level::from(level);
        REQUIRE(got.has_value());
        CHECK(got->value() == level);
        CHECK(got->tail() > 0); // there is a tail left, however near to 1 the level is
        CHECK(got->tail() <= 0.5);
    }
    for (double const level :
         {0.0, -0.0, 1.0, 1.5, 95.0, -0.95, limits::quiet_NaN(), limits::infinity(), -limits::infinity()})
        CHECK(confidence_level::from(level).reason() == status::out_of_domain);
}

TEST_CASE("confidence: the tail is half of what the level leaves") {
    CHECK(confidence_level{0.95}.tail() == doctest::Approx(0.025).epsilon(1e-15));
    CHECK(confidence_level{0.75}.tail() == 0.125);
}

} // namespace
