// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// The 32 bytes that are kept of a pair: they have to say exactly what tick_moments say, however large the
// sums become.

#include <straggle/monitor/detail/job_node_sums.hpp>

#include "../support/seed.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

using straggle::detail::no_wide_sums;
using straggle::detail::real_pair;
using straggle::detail::real_sums;
using straggle::detail::real_total;
using straggle::detail::tick_pair;
using straggle::detail::wide_sums;
using straggle::stats::tick_moments;

namespace {

static_assert(sizeof(tick_pair) == 32 && sizeof(real_pair) == 32);

// The most attempts that fit a pair itself.
constexpr std::uint64_t most = (std::uint64_t{1} << 32) - 2;
constexpr tick_pair::origin_type nowhere;

// So many equal values.
tick_moments many(std::uint64_t n, std::int64_t value) {
    tick_moments m;
    m.add_group(value, n, {});
    return m;
}

} // namespace

TEST_CASE("pair sums: the count goes over into wide sums without a trace") {
    for (bool const by_merging : {false, true})
        for (std::uint64_t start = most - 3; start <= most + 2; ++start) {
            CAPTURE(start);
            wide_sums wide;
            tick_pair p(7);
            p.merge(many(start, 5), wide);
            tick_moments expected = many(start, 5);
            for (std::int64_t i = 0; i < 6; ++i) {
                REQUIRE((p.moments(wide) == expected));
                REQUIRE(p.node == 7);
                REQUIRE_FALSE(p.is_single());
                tick_moments one;
                one.add(i);
                expected.add(i);
                if (by_merging)
                    p.merge(one, wide);
                else
                    p.add(i, nowhere, wide);
            }
            REQUIRE((p.moments(wide) == expected));
            p.release(wide);
        }
}

TEST_CASE("pair sums: values of any size are those of tick_moments") {
    std::uint64_t const seed = straggle_test::seed_or(81);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    int wide_ones = 0;
    for (int round = 0; round < 400; ++round) {
        wide_sums wide;
        tick_pair p(1);
        tick_moments expected;
        int const shift = static_cast<int>(1 + draw() % 63);
        for (int i = 0; i < 40; ++i) {
            std::int64_t const v =
                round % 5 == 0 ? INT64_MAX - i : static_cast<std::int64_t>(draw() >> (i == 20 ? 1 : shift));
            tick_moments one;
            one.add(v);
            if (draw() % 4 == 0)
                p.merge(one, wide);
            else
                p.add(v, nowhere, wide);
            expected.add(v);
            REQUIRE((p.moments(wide) == expected));
            REQUIRE(p.is_single() == (i == 0));
            if (i == 0) REQUIRE(p.single() == v);
        }
        auto const sums = expected.sums();
        wide_ones += sums.sum.hi != 0 || sums.squares.top != 0 ? 1 : 0;
    }
    CHECK(wide_ones > 50);
}

TEST_CASE("pair sums: places of wide sums are used again, and each stays with its pair") {
    wide_sums wide;
    std::vector<tick_pair> pairs;
    for (std::uint32_t i = 0; i < 20; ++i) {
        pairs.emplace_back(i);
        for (int k = 0; k < 3; ++k) pairs.back().add(INT64_MAX - static_cast<std::int64_t>(i), nowhere, wide);
    }
    for (std::uint32_t i = 0; i < 20; i += 2) pairs[i].release(wide);
    for (std::uint32_t i = 0; i < 20; i += 2) {
        pairs[i] = tick_pair(i);
        pairs[i].merge(many(most + 1, i), wide);
    }
    for (std::uint32_t i = 0; i < 20; ++i)
        CHECK((pairs[i].moments(wide) ==
               (i % 2 == 0 ? many(most + 1, i) : many(3, INT64_MAX - static_cast<std::int64_t>(i)))));
    CHECK(wide.keep(many(1, 1)) == 20); // no more places than pairs
}

TEST_CASE("pair sums: reals, by adding and by merging, at any offset") {
    std::uint64_t const seed = straggle_test::seed_or(82);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    no_wide_sums none;
    for (int round = 0; round < 300; ++round) {
        double const offset = std::ldexp(1.0, static_cast<int>(draw() % 50));
        std::vector<double> values(1 + draw() % 300);
        for (double& x : values) x = offset + std::ldexp(static_cast<double>(draw() >> 11), -53);
        real_pair::origin_type const origin = real_pair::origin_type::at(values[0]);
        real_pair added(3), merged(3), part(0);
        long double sum = 0;
        for (double const x : values) {
            sum += static_cast<long double>(x) - static_cast<long double>(values[0]);
            added.add(x, origin, none);
            if (draw() % 10 == 0) {
                merged.merge(part.moments(none), none);
                part = real_pair(0);
            }
            part.add(x, origin, none);
        }
        merged.merge(part.moments(none), none);
        long double const mean = sum / static_cast<long double>(values.size());
        long double squares = 0;
        for (double const x : values) {
            long double const d = static_cast<long double>(x) - static_cast<long double>(values[0]) - mean;
            squares += d * d;
        }
        for (real_pair const* p : {&added, &merged}) {
            REQUIRE(p->count() == values.size());
            REQUIRE(p->node == 3);
            // In proportion to the spread, whatever the offset.
            REQUIRE(std::fabs(p->mean() - static_cast<double>(mean)) <= 1e-14);
            REQUIRE(std::fabs(p->sum_of_squared_deviations() - static_cast<double>(squares)) <=
                    1e-13 * static_cast<double>(squares));
        }
    }
    real_pair::origin_type const zero;
    real_pair equal(0), more(0);
    for (int i = 0; i < 1000; ++i) (i % 3 == 0 ? more : equal).add(0.1, zero, none);
    equal.merge(more.moments(none), none);
    CHECK(equal.sum_of_squared_deviations() == 0);
    CHECK(equal.mean() == 0.1);
    equal.merge(real_sums(), none);
    CHECK(equal.count() == 1000);
    CHECK(equal.mean() == 0.1);
}

TEST_CASE("pair sums: the moments of a job from those of its pairs, wherever its first duration lies") {
    std::mt19937_64 draw(83);
    no_wide_sums none;
    for (double const offset : {0.0, 1e3, 1e9, 1e12})
        for (double const first : {0.0, 1.0, 1e6}) { // from the others
            straggle::stats::moments expected;
            std::vector<real_pair> pairs;
            for (std::uint32_t node = 0; node < 7; ++node) pairs.emplace_back(node);
            real_pair::origin_type const origin = real_pair::origin_type::at(offset + first);
            for (int i = 0; i < 500; ++i) {
                double const x = offset + (i == 0 ? first : static_cast<double>(draw() % 1024) / 512);
                expected.add(x);
                pairs[draw() % 2 == 0 ? 0 : 1 + draw() % 6].add(x, origin, none);
            }
            auto const total = [&](real_total t) {
                for (real_pair const& p : pairs) t.add(p.moments(none));
                return t;
            };
            real_total found = total({});
            if (found.is_skewed()) found = total(found.nearer(origin.value));
            CHECK_FALSE(found.is_skewed());
            auto const m = found.moments(origin.value);
            CHECK(m.count() == 500);
            // Rounding is in proportion to the spread, of which the first is a part.
            double const sd = std::sqrt(expected.population_variance());
            CHECK(std::fabs(m.mean() - expected.mean()) <= 1e-13 * sd + 1e-15 * expected.mean());
            CHECK(m.population_variance() == doctest::Approx(expected.population_variance()).epsilon(1e-12));
        }
}
