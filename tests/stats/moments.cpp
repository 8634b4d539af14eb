// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/stats/moments.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/contract_trap.hpp"
#include "../support/golden.hpp"
#include "../support/seed.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using straggle::stats::moments;

static_assert(sizeof(moments) == 40);
static_assert(std::is_trivially_copyable_v<moments>);
static_assert(noexcept(moments{}.add(1.0)) && noexcept(moments{}.merge(moments{})));

// What the documentation states, whatever the number of values.
constexpr double variance_tolerance = 1e-12;

// The rules of tests/golden/moments.py.
std::vector<double> values_of(straggle_test::golden_row const& row) {
    std::vector<double> values(row.integer<std::size_t>(0));
    straggle_test::golden_sequence next(row.integer<std::uint64_t>(1));
    double const offset = row.real(2), width = row.real(3);
    for (double& x : values) x = offset + width * next.unit();
    if (!row.text(4).empty()) values[0] = row.real(4);
    return values;
}

moments sum_of(std::vector<double> const& values) {
    moments m;
    for (double const x : values) m.add(x);
    return m;
}

double relative_error(double got, double exact) {
    return exact == 0 ? std::fabs(got) : std::fabs(got - exact) / std::fabs(exact);
}

void check(moments const& m, straggle_test::golden_row const& row) {
    double const mean = row.real(5), variance = row.real(6);
    REQUIRE(m.count() == row.integer<std::uint64_t>(0));
    CHECK(relative_error(m.population_variance(), variance) <= variance_tolerance);
    CHECK(relative_error(m.sum_of_squared_deviations(), variance * row.real(0)) <=
          variance_tolerance + 1e-15);
    // The mean to the precision of a double, and beyond it in units of the deviation.
    double const blur = straggle_test::ulp_of(mean) + 1e-12 * std::sqrt(variance);
    CHECK(std::fabs(m.mean() - mean) <= blur);
    CHECK(std::fabs((m.origin() - mean) + m.mean_offset()) <= blur);
}

// Takes the smallest and the largest in turn.
std::vector<double> alternating(std::vector<double> const& sorted) {
    std::vector<double> out;
    for (std::size_t low = 0, high = sorted.size(); low < high;) {
        out.push_back(sorted[low++]);
        if (low < high) out.push_back(sorted[--high]);
    }
    return out;
}

TEST_CASE("moments: accuracy in every order of arrival") {
    for (auto const& row : straggle_test::golden_table("moments.csv")) {
        INFO("n ", row.text(0), " seed ", row.text(1));
        std::vector<double> values = values_of(row);
        check(sum_of(values), row);
        std::sort(values.begin(), values.end());
        check(sum_of(values), row); // an outlier comes first or last
        check(sum_of(alternating(values)), row);
        std::reverse(values.begin(), values.end());
        check(sum_of(values), row);
    }
}

TEST_CASE("moments: all values of a range at once have the same bits as one by one") {
    std::vector<double> values;
    for (int i = 0; i < 1600; ++i) values.push_back(1e6 + 0.37 * (i * 7919 % 1009));
    for (std::size_t const before : {0u, 1u, 15u, 16u, 17u, 511u, 700u})
        for (std::size_t const more : {0u, 1u, 15u, 16u, 500u, 512u, 900u}) {
            auto const rest = std::span<double const>(values).subspan(before, more);
            moments one_by_one, at_once;
            for (std::size_t i = 0; i < before; ++i) {
                one_by_one.add(values[i]);
                at_once.add(values[i]);
            }
            for (double const x : rest) one_by_one.add(x);
            at_once.add_all(rest, [](double x, std::size_t) { return x; });
            CHECK(at_once.sums() == one_by_one.sums());
        }
}

TEST_CASE("moments: accuracy when merged from random parts") {
    std::uint64_t const seed = straggle_test::seed_or(31);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    for (auto const& row : straggle_test::golden_table("moments.csv")) {
        INFO("n ", row.text(0), " seed ", row.text(1));
        std::vector<double> const values = values_of(row);
        for (std::size_t const parts : {2u, 7u, 1000u}) {
            // Runs of neighbors; some parts stay empty, some hold one value.
            std::vector<moments> part(parts);
            std::size_t at = 0;
            for (double const x : values) {
                part[at].add(x);
                if (draw() % 1000 < parts) at = draw() % parts;
            }
            while (part.size() > 1) {
                std::swap(part[draw() % part.size()], part.back());
                moments const last = part.back();
                part.pop_back();
                part[draw() % part.size()].merge(last);
            }
            check(part[0], row);
        }
    }
}

TEST_CASE("moments: merging is associative and commutative up to rounding") {
    std::uint64_t const seed = straggle_test::seed_or(32);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    for (int round = 0; round < 2000; ++round) {
        moments a, b, c;
        double const offset = std::ldexp(1.0, static_cast<int>(draw() % 30));
        for (moments* m : {&a, &b, &c}) {
            double const own = offset + static_cast<double>(draw() % 5);
            for (std::uint64_t n = draw() % 40; n > 0; --n)
                m->add(own + std::ldexp(static_cast<double>(draw()), -64));
        }
        auto const merged = [](moments x, moments const& y) {
            x.merge(y);
            return x;
        };
        moments const left = merged(merged(a, b), c), right = merged(a, merged(b, c)),
                      turned = merged(c, merged(b, a));
        REQUIRE(left.count() == right.count());
        if (left.count() == 0) continue;
        for (moments const& other : {right, turned}) {
            REQUIRE(relative_error(other.population_variance(), left.population_variance()) <=
                    variance_tolerance);
            REQUIRE(std::fabs(other.mean() - left.mean()) <= 2 * straggle_test::ulp_of(left.mean()));
        }
    }
}

TEST_CASE("moments: the sums are all that is needed to go on") {
    std::uint64_t const seed = straggle_test::seed_or(33);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    for (std::size_t const n : {0u, 1u, 2u, 15u, 16u, 17u, 511u, 512u, 513u, 3000u}) {
        moments m;
        for (std::size_t i = 0; i < n; ++i) m.add(1e6 + std::ldexp(static_cast<double>(draw()), -64));
        moments const back = moments::from(m.sums());
        REQUIRE(back.sums() == m.sums());
        REQUIRE(back.count() == n);
        REQUIRE(back.origin() == m.origin());
        REQUIRE(back.sum_of_squared_deviations() == m.sum_of_squared_deviations());
        if (n == 0) continue;
        REQUIRE(back.mean() == m.mean());
        REQUIRE(back.mean_offset() == m.mean_offset());
    }
    CHECK(moments::from({5.0, 0, 1.0, 2.0}).sums() == moments{}.sums()); // nothing is nothing
}

TEST_CASE("moments: a group of which only count, mean and deviations are known") {
    std::uint64_t const seed = straggle_test::seed_or(34);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    for (int round = 0; round < 300; ++round) {
        moments one_by_one, by_groups;
        for (std::uint64_t groups = 1 + draw() % 6; groups > 0; --groups) {
            double const offset = static_cast<double>(draw() % 1000);
            std::vector<double> values(1 + draw() % 50);
            long double mean = 0, squares = 0;
            for (double& x : values) {
                x = offset + std::ldexp(static_cast<double>(draw()), -64);
                one_by_one.add(x);
                mean += static_cast<long double>(x);
            }
            mean /= static_cast<long double>(values.size());
            for (double const x : values)
                squares += (static_cast<long double>(x) - mean) * (static_cast<long double>(x) - mean);
            by_groups.merge(
                moments::from({static_cast<double>(mean), values.size(), 0.0, static_cast<double>(squares)}));
        }
        REQUIRE(by_groups.count() == one_by_one.count());
        // The mean of each of six groups is rounded.
        REQUIRE(std::fabs(by_groups.mean() - one_by_one.mean()) <= 6 * straggle_test::ulp_of(1000.0));
        REQUIRE(relative_error(by_groups.population_variance(), one_by_one.population_variance()) <=
                variance_tolerance);
    }
}

TEST_CASE("moments: equal values have no spread, exactly") {
    for (double const x : {0.0, -0.0, 1.0, 0.1, -3e9, 1e300, -1e300, 5e-324})
        for (int const n : {1, 2, 3, 15, 16, 17, 1000, 65537}) {
            moments m, half;
            for (int i = 0; i < n; ++i) (i % 3 == 0 ? half : m).add(x);
            REQUIRE(half.sum_of_squared_deviations() == 0);
            m.merge(half);
            REQUIRE(m.count() == static_cast<std::uint64_t>(n));
            REQUIRE(m.sum_of_squared_deviations() == 0);
            REQUIRE(m.population_variance() == 0);
            REQUIRE(m.mean() == x);
        }
}

TEST_CASE("moments: neighbouring numbers are not equal") {
    for (double const x : {1.0, 1e9, 0.1, -7.5e15})
        for (int const n : {2, 10, 17, 1000}) {
            moments m;
            for (int i = 0; i < n; ++i) m.add(i % 2 == 0 ? x : std::nextafter(x, 1e300));
            REQUIRE(m.sum_of_squared_deviations() > 0);
        }
}

TEST_CASE("moments: none and one") {
    moments m;
    CHECK(m.count() == 0);
    CHECK(m.sum_of_squared_deviations() == 0);
    {
        straggle_test::contract_trap const trap;
        CHECK_THROWS_AS((void)m.mean(), straggle_test::broken_contract);
        CHECK_THROWS_AS((void)m.mean_offset(), straggle_test::broken_contract);
        CHECK_THROWS_AS((void)m.population_variance(), straggle_test::broken_contract);
    }
    m.merge(moments{});
    CHECK(m.count() == 0);
    m.add(-2.5);
    CHECK(m.count() == 1);
    CHECK(m.mean() == -2.5);
    CHECK(m.population_variance() == 0);
    moments other;
    other.merge(m);
    CHECK(other.mean() == -2.5);
    other.merge(moments{});
    CHECK(other.count() == 1);
}

TEST_CASE("moments: one far away does not blind the rest") {
    // The deviation of what follows is lost in the outlier's, not more: checked where all is exact in a
    // double.
    for (double const far : {0x1p40, -0x1p40, 0x1p50}) {
        moments m;
        m.add(far);
        for (int i = 0; i < 1023; ++i) m.add(i % 2 == 0 ? 1.0 : 3.0);
        double const mean = (far + 512 * 1.0 + 511 * 3.0) / 1024;
        double const squares = far * far + 512 * 1.0 + 511 * 9.0;
        CHECK(std::fabs(m.mean() - mean) <= 1e-15 * std::fabs(far));
        CHECK(relative_error(m.population_variance(), squares / 1024 - mean * mean) <= variance_tolerance);
    }
}

TEST_CASE("moments: merged with itself, everything counts twice") {
    moments m;
    for (double const x : {1.0, 2.0, 4.5}) m.add(x);
    double const squares = m.sum_of_squared_deviations(), mean = m.mean();
    m.merge(m);
    CHECK(m.count() == 6);
    CHECK(m.mean() == doctest::Approx(mean).epsilon(1e-15));
    CHECK(m.sum_of_squared_deviations() == doctest::Approx(2 * squares).epsilon(1e-15));
}

TEST_CASE("moments: what is not finite is not hidden") {
    double const nan = std::numeric_limits<double>::quiet_NaN(),
                 inf = std::numeric_limits<double>::infinity();
    for (double const bad : {nan, inf, -inf})
        for (int const place : {0, 1, 5, 20}) {
            moments m;
            for (int i = 0; i < 30; ++i) m.add(i == place ? bad : 1.0 + i);
            CHECK(std::isnan(m.sum_of_squared_deviations()));
            CHECK(std::isnan(m.population_variance()));
            CHECK_FALSE(std::isfinite(m.mean()));
        }
}

TEST_CASE("moments: a spread too large for a double is not taken for none") {
    moments m;
    for (int i = 0; i < 20; ++i) m.add(i % 2 == 0 ? 1e200 : 3e200);
    CHECK(m.sum_of_squared_deviations() != 0);
    CHECK_FALSE(std::isfinite(m.population_variance()));
}

TEST_CASE("moments: allocates nothing") {
    double seen = 0;
    CHECK(straggle_test::allocations_during([&] {
              moments a, b;
              for (int i = 0; i < 1000; ++i) a.add(i);
              b.merge(a);
              seen = b.mean() + b.population_variance();
          }) == 0);
    CHECK(seen > 0);
}

// All of it where the compiler computes.
constexpr bool computes_in_the_compiler() {
    moments m, half;
    for (int i = 0; i < 32; ++i) (i < 16 ? m : half).add(i % 4);
    m.merge(half);
    return m.count() == 32 && m.mean() == 1.5 && m.sum_of_squared_deviations() == 40 &&
           m.population_variance() == 1.25;
}
static_assert(computes_in_the_compiler());

} // namespace
