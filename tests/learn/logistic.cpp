// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// The logistic loss in single precision against its definition in double.

#include <straggle/learn/detail/logistic.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace straggle::detail;

namespace {
double literal_probability(float margin) {
    return 1 / (1 + std::exp(-static_cast<double>(margin)));
}
} // namespace

TEST_CASE("logistic: probability and margin") {
    for (float const margin : {-80.0F, -17.0F, -1.0F, -1e-3F, 0.0F, 0.25F, 3.0F, 16.0F, 80.0F})
        CHECK(static_cast<double>(probability_of(margin)) ==
              doctest::Approx(literal_probability(margin)).epsilon(3e-7)); // four roundings
    CHECK(probability_of(0) == 0.5F);
    CHECK(probability_of(1e30F) == 1);
    CHECK(probability_of(-1e30F) > 0); // e^-88.7
    CHECK(probability_of(-1e30F) < 1e-38F);
    CHECK(margin_of(0.5F) == 0);
    for (float const p : {0.01F, 0.125F, 0.75F, 0.99F})
        CHECK(static_cast<double>(probability_of(margin_of(p))) ==
              doctest::Approx(static_cast<double>(p)).epsilon(1e-5));
}

TEST_CASE("logistic: slopes are the derivatives, and curvatures never quite 0") {
    for (float const margin : {-10.0F, -2.0F, 0.0F, 0.5F, 4.0F}) {
        double const p = literal_probability(margin);
        for (float const label : {0.0F, 1.0F}) {
            loss_slope const s = slope_of(margin, label);
            CHECK(std::fabs(static_cast<double>(s.first) - (p - static_cast<double>(label))) < 1e-7);
            CHECK(std::fabs(static_cast<double>(s.second) - p * (1 - p)) < 1e-7);
        }
    }
    CHECK(slope_of(30, 1).first == 0);
    CHECK(slope_of(30, 1).second == 1e-16F);
    CHECK(slope_of(-80, 0).second == 1e-16F);
    CHECK(static_cast<double>(slope_of(-30, 0).second) == doctest::Approx(9.3576e-14).epsilon(1e-4));
}

TEST_CASE("logistic: the loss is bounded") {
    CHECK(static_cast<double>(log_loss(0.25F, true)) == doctest::Approx(std::log(4.0)).epsilon(1e-6));
    CHECK(static_cast<double>(log_loss(0.25F, false)) == doctest::Approx(std::log(4.0 / 3)).epsilon(1e-6));
    CHECK(log_loss(1, true) == 0);
    CHECK(static_cast<double>(log_loss(0, true)) == doctest::Approx(16 * std::log(10.0)).epsilon(1e-6));
    CHECK(static_cast<double>(log_loss(1, false)) == doctest::Approx(16 * std::log(10.0)).epsilon(1e-6));
}

TEST_CASE("logistic: what is missing") {
    constexpr float lacking = std::numeric_limits<float>::quiet_NaN();
    for (float const x : {lacking, -lacking, std::numeric_limits<float>::signaling_NaN()}) {
        CHECK(is_missing(x));
        CHECK(is_missing(static_cast<double>(x)));
    }
    for (float const x : {0.0F, -0.0F, 1e-45F, -3.4e38F, std::numeric_limits<float>::infinity()}) {
        CHECK_FALSE(is_missing(x));
        CHECK_FALSE(is_missing(static_cast<double>(x)));
    }
}
