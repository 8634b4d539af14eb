// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/learn/detail/kmeans_nearest.hpp>

#include <support/seed.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

using namespace straggle;

namespace {

// As exactly as it can be told: the differences of doubles in long double.
double distance(double const* a, double const* b, std::size_t columns) {
    long double sum = 0;
    for (std::size_t c = 0; c < columns; ++c) {
        long double const d = static_cast<long double>(a[c]) - static_cast<long double>(b[c]);
        sum += d * d;
    }
    return static_cast<double>(std::sqrt(sum));
}

struct tally {
    std::size_t certain = 0, open = 0;
};

// `apart`: of the centers, in units of the rows; the smaller, the more of them are equally near.
tally check(std::size_t columns, double scale, double apart, std::mt19937_64& engine) {
    constexpr std::size_t count = 7, n = 60;
    std::normal_distribution<double> normal;
    detail::padded_rows rows, centers;
    rows.resize(n, columns);
    centers.resize(count, columns);
    double largest = 0;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < columns; ++c) {
            rows.row(i)[c] = scale * normal(engine) * (c % 3 == 2 ? 1e-9 : 1.0);
            largest = (std::max)(largest, std::fabs(rows.row(i)[c]));
        }
    for (std::size_t k = 0; k < count; ++k)
        for (std::size_t c = 0; c < columns; ++c)
            centers.row(k)[c] =
                std::clamp(0.1 * rows.row(0)[c] + scale * apart * normal(engine), -largest, largest);
    detail::open_centers open;
    open.make_room(n, columns);
    open.set_rows(rows, largest);
    open.centers_move(count);
    tally all;
    std::vector<double> const gap(count, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        std::vector<double> exact, at_least(count, 0.0);
        for (std::size_t k = 0; k < count; ++k)
            exact.push_back(distance(rows.row(i), centers.row(k), columns));
        auto const own = static_cast<std::uint32_t>(i % count);
        at_least[(own + 1) % count] = 2 * exact[own] + scale; // too far away: so many is no multiple of four
        REQUIRE(open.list(own, at_least.data(), gap.data(), exact[own], 1.0) == count - 2);
        detail::open_centers::nearest_center const found = open.find(i, own, centers, at_least.data());
        std::size_t nearest = own;
        for (std::uint32_t const k : open.listed()) {
            REQUIRE(at_least[k] <= exact[k]);
            if (exact[k] < exact[nearest]) nearest = k;
        }
        REQUIRE(at_least[own] <= exact[own]);
        ++all.open;
        if (!found.is_certain) continue;
        ++all.certain;
        REQUIRE(found.center == nearest);
        REQUIRE(found.most >= exact[nearest]);
        REQUIRE(found.most <= exact[nearest] + 1e-4 * largest * std::sqrt(static_cast<double>(columns)));
    }
    return all;
}

} // namespace

TEST_CASE("open_centers: what single precision tells is so, at any scale") {
    std::uint64_t const seed = straggle_test::seed_or(5);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    tally far, near, equal;
    auto const add = [](tally& to, tally const& t) {
        to.certain += t.certain;
        to.open += t.open;
    };
    for (std::size_t const columns : {1u, 2u, 7u, 16u, 17u, 90u, 300u})
        for (double const scale : {1.0, 1e-300, 1e-40, 1e30, 1e150})
            for (int round = 0; round < 10; ++round) {
                add(far, check(columns, scale, 1.0, engine));
                add(near, check(columns, scale, 1e-6, engine));
                add(equal, check(columns, scale, 0.0, engine));
            }
    CHECK(far.certain > far.open * 99 / 100);
    CHECK(near.certain < near.open); // and it does not tell what it cannot know
    CHECK(equal.certain == 0);
}
