// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/learn/tree_node.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <type_traits>

using namespace straggle;

static_assert(sizeof(learn::tree_node) == 16 && std::is_trivially_copyable_v<learn::tree_node>);

namespace {
constexpr float infinite = std::numeric_limits<float>::infinity();
constexpr float lacking = std::numeric_limits<float>::quiet_NaN();
} // namespace

TEST_CASE("tree_node: what a question says of itself") {
    for (bool const left : {false, true}) {
        learn::tree_node const n =
            learn::tree_node::split(7, learn::tree_node::most_columns - 1, -2.5F, left, 3.5F);
        CHECK_FALSE(n.is_leaf());
        CHECK(n.column() == learn::tree_node::most_columns - 1);
        CHECK(n.threshold() == -2.5F);
        CHECK(n.default_left() == left);
        CHECK(n.gain() == 3.5F);
        CHECK(n.left() == 7);
        CHECK(n.right() == 8);
        CHECK(n.value() == 0);
    }
}

TEST_CASE("tree_node: what a leaf says of itself") {
    learn::tree_node const n = learn::tree_node::leaf(5, -0.25F);
    CHECK(n.is_leaf());
    CHECK(n.value() == -0.25F);
    CHECK(n.gain() == 0);
    CHECK(n.column() == 0);
    CHECK(n.left() == 5);
    CHECK(n.right() == 5);
    CHECK(learn::tree_node() == learn::tree_node::leaf(0, 0));
}

TEST_CASE("tree_node: less goes left, missing by default") {
    for (float const threshold : {-infinite, -1.5F, -0.0F, 0.0F, 1e-45F, 2.0F, infinite})
        for (bool const left : {false, true}) {
            learn::tree_node const n = learn::tree_node::split(1, 0, threshold, left, 0);
            for (float const x : {-infinite, -2.0F, -1.5F, -0.0F, 0.0F, 1e-45F, 2.0F, 3e38F, infinite}) {
                CAPTURE(x);
                CAPTURE(threshold);
                CHECK(n.next(x) == (x < threshold ? 1u : 2u));
                if (std::isfinite(x)) CHECK(n.next_if_finite(x) == n.next(x));
            }
            for (float const x : {lacking, -lacking, std::numeric_limits<float>::signaling_NaN()})
                CHECK(n.next(x) == (left ? 1u : 2u));
        }
}

TEST_CASE("tree_node: nobody leaves a leaf") {
    learn::tree_node const n = learn::tree_node::leaf(9, 1);
    for (float const x : {-infinite, -3.4e38F, 0.0F, 3.4e38F, infinite, lacking, -lacking}) {
        CHECK(n.next(x) == 9);
        if (std::isfinite(x)) CHECK(n.next_if_finite(x) == 9);
    }
}

TEST_CASE("tree_node: what counts as finite") {
    using detail::all_finite;
    double const most = static_cast<double>((std::numeric_limits<float>::max)());
    for (double const x : {0.0, -0.0, 1.0, most, -most, 5e-324}) {
        std::array<double, 3> const row{1, x, 2};
        CHECK(all_finite(std::span<double const>(row)));
    }
    for (double const x : {std::nan(""), -std::nan(""), HUGE_VAL, -HUGE_VAL, 2 * most, -1e300}) {
        std::array<double, 3> const row{1, x, 2};
        CHECK_FALSE(all_finite(std::span<double const>(row)));
    }
    for (float const x : {lacking, infinite, -infinite}) {
        std::array<float, 2> const row{x, 2};
        CHECK_FALSE(all_finite(std::span<float const>(row)));
    }
    CHECK(all_finite(std::span<float const>()));
    std::array<float, 2> const largest{-3.4028234e38F, 3.4028234e38F};
    CHECK(all_finite(std::span<float const>(largest)));
}
