// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/stats/tick_moments.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/contract_trap.hpp"
#include "../support/golden.hpp"
#include "../support/seed.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using straggle::basic_tick_moments;
using straggle::tick_moments;
using straggle::detail::default_wide;
using straggle::detail::portable_wide;
using straggle_test::ulps_off;

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

static_assert(sizeof(tick_moments) == 48);
static_assert(std::is_trivially_copyable_v<tick_moments>);
static_assert(noexcept(tick_moments{}.add(1)) && noexcept(tick_moments{}.merge(tick_moments{})));

// The rules of tests/golden/tick_moments.py.
std::vector<std::int64_t> values_of(straggle_test::golden_row const& row) {
    std::string const& rule = row.text(0);
    std::vector<std::int64_t> values(row.integer<std::size_t>(1));
    straggle_test::golden_sequence next(row.integer<std::uint64_t>(2));
    std::int64_t const offset = row.integer(3);
    int const shift = row.integer<int>(4);
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::uint64_t const state = next();
        if (rule == "equal")
            values[i] = offset;
        else if (rule == "ends")
            values[i] = i % 2 == 1 ? most : least;
        else if (rule == "up")
            values[i] = offset + static_cast<std::int64_t>(state >> shift);
        else if (rule == "down")
            values[i] = offset - static_cast<std::int64_t>(state >> shift);
        else if (rule == "first")
            values[i] = i == 0 ? offset : 0;
        else if (rule == "wide")
            values[i] = static_cast<std::int64_t>(state);
        else
            FAIL("unknown rule ", rule);
    }
    return values;
}

template <class Wide>
basic_tick_moments<Wide> sum_of(std::vector<std::int64_t> const& values) {
    basic_tick_moments<Wide> m;
    for (std::int64_t const v : values) m.add(v);
    return m;
}

// All there is to see of two moments is the same to the last bit.
template <class A, class B>
bool same_bits(A const& a, B const& b) {
    if (a.count() != b.count() || a.sum_of_squared_deviations() != b.sum_of_squared_deviations())
        return false;
    return a.count() == 0 || (a.mean() == b.mean() && a.mean_parts().floor == b.mean_parts().floor &&
                              a.mean_parts().fraction == b.mean_parts().fraction &&
                              a.population_variance() == b.population_variance());
}

TEST_CASE_TEMPLATE("tick moments: accuracy against exact integers", Wide, portable_wide, default_wide) {
    double worst_fraction = 0;
    for (auto const& row : straggle_test::golden_table("tick_moments.csv")) {
        INFO(row.text(0), " n ", row.text(1), " seed ", row.text(2), " offset ", row.text(3));
        auto const m = sum_of<Wide>(values_of(row));
        REQUIRE(m.count() == row.integer<std::uint64_t>(1));
        REQUIRE(m.mean_parts().floor == row.integer(6));
        // The documentation states these.
        double const mean = ulps_off(m.mean(), row.real(7), row.real(8));
        double const squares = ulps_off(m.sum_of_squared_deviations(), row.real(9), row.real(10));
        double const variance = ulps_off(m.population_variance(), row.real(11), row.real(12));
        CHECK(mean < 1.5);
        CHECK(squares < 1.5);
        CHECK(variance < 2.5);
        if (row.real(9) == 0) CHECK(m.sum_of_squared_deviations() == 0);
        // What is above the floor: one division, and exact where the mean fits a double together with it.
        REQUIRE(m.mean_parts().fraction >= 0);
        REQUIRE(m.mean_parts().fraction <= 1);
        double const floor = static_cast<double>(m.mean_parts().floor);
        if (std::fabs(floor) < 0x1p52) {
            double const exact = (row.real(7) - floor) + row.real(8);
            worst_fraction = std::max(worst_fraction, std::fabs(m.mean_parts().fraction - exact));
        }
    }
    CHECK(worst_fraction <= 0x1p-53);
}

TEST_CASE("tick moments: portable and native arithmetic give the same bits") {
    for (auto const& row : straggle_test::golden_table("tick_moments.csv")) {
        auto const values = values_of(row);
        REQUIRE(same_bits(sum_of<portable_wide>(values), sum_of<default_wide>(values)));
    }
}

TEST_CASE_TEMPLATE("tick moments: any order of adding, removing and merging gives the same bits", Wide,
                   portable_wide, default_wide) {
    std::uint64_t const seed = straggle_test::seed_or(21);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    using moments = basic_tick_moments<Wide>;
    for (int round = 0; round < 300; ++round) {
        std::vector<std::int64_t> values(1 + draw() % 60);
        for (std::int64_t& v : values) {
            v = static_cast<std::int64_t>(draw()) >> (draw() % 64);
            if (draw() % 8 == 0) v = draw() % 2 == 0 ? least : most;
        }
        moments const expected = sum_of<Wide>(values);

        std::shuffle(values.begin(), values.end(), draw);
        REQUIRE((sum_of<Wide>(values) == expected));

        // In pieces, merged in any shape of tree; with values that come and go on the way.
        std::vector<moments> pieces(1 + draw() % 8);
        for (std::int64_t const v : values) pieces[draw() % pieces.size()].add(v);
        moments guest;
        for (int i = 0; i < 10; ++i) guest.add(static_cast<std::int64_t>(draw()));
        std::int64_t const passing = static_cast<std::int64_t>(draw());
        pieces[0].add(passing);
        pieces.back().merge(guest);
        while (pieces.size() > 1) {
            std::size_t const from = draw() % pieces.size();
            moments const taken = pieces[from];
            pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(from));
            pieces[draw() % pieces.size()].merge(taken);
        }
        pieces[0].unmerge(guest);
        pieces[0].remove(passing);
        REQUIRE((pieces[0] == expected));

        std::shuffle(values.begin(), values.end(), draw);
        for (std::int64_t const v : values) pieces[0].remove(v);
        REQUIRE((pieces[0] == moments{}));
    }
}

TEST_CASE_TEMPLATE("tick moments: equal values have no spread, exactly", Wide, portable_wide, default_wide) {
    for (std::int64_t const v : {least, least + 1, std::int64_t{-1}, std::int64_t{0}, std::int64_t{7}, most})
        for (int const n : {1, 2, 3, 1000}) {
            auto const m = sum_of<Wide>(std::vector<std::int64_t>(static_cast<std::size_t>(n), v));
            CHECK(m.sum_of_squared_deviations() == 0);
            CHECK(m.population_variance() == 0);
            CHECK(m.mean() == static_cast<double>(v));
            CHECK(m.mean_parts().floor == v);
            CHECK(m.mean_parts().fraction == 0);
        }
}

TEST_CASE_TEMPLATE("tick moments: one tick of difference shows at any offset", Wide, portable_wide,
                   default_wide) {
    for (std::int64_t const v :
         {least, std::int64_t{-1}, std::int64_t{1'000'000'000'000'000'000}, most - 1}) {
        auto const m = sum_of<Wide>({v, v + 1});
        CHECK(m.sum_of_squared_deviations() == 0.5);
        CHECK(m.population_variance() == 0.25);
        CHECK(m.mean_parts().floor == v);
        CHECK(m.mean_parts().fraction == 0.5);
    }
}

TEST_CASE_TEMPLATE("tick moments: counts near 2^64", Wide, portable_wide, default_wide) {
    // Doubling by merging is the only way there. The two ends of the range: everything is as large as it can
    // be.
    for (std::int64_t const v : {least, most}) {
        basic_tick_moments<Wide> m;
        m.add(v);
        for (int doubling = 0; doubling < 63; ++doubling) {
            auto const half = m;
            m.merge(half);
            REQUIRE(m.sum_of_squared_deviations() == 0);
            REQUIRE(m.mean() == static_cast<double>(v));
            REQUIRE(m.mean_parts().floor == v);
            REQUIRE(m.mean_parts().fraction == 0);
        }
        CHECK(m.count() == std::uint64_t{1} << 63);
    }
    basic_tick_moments<Wide> both;
    both.add(least);
    both.add(most);
    for (int doubling = 0; doubling < 62; ++doubling) {
        auto const half = both;
        both.merge(half);
    }
    CHECK(both.mean_parts().floor == -1);
    CHECK(both.mean_parts().fraction == 0.5);
    CHECK(both.population_variance() == 0x1p126); // (2^64 - 1)^2 / 4, rounded
    basic_tick_moments<Wide> tiny; // sums that fit 64 bits, divided by counts that do not fit 63
    tiny.add(-1);
    basic_tick_moments<Wide> zeros;
    zeros.add(0);
    for (int doubling = 0; doubling < 63; ++doubling) {
        auto const half = zeros;
        zeros.merge(half);
    }
    zeros.merge(tiny);
    CHECK(zeros.mean_parts().floor == -1);
    CHECK(zeros.mean_parts().fraction == 1); // 1 - 2^-63, rounded
}

TEST_CASE("tick moments: nothing") {
    tick_moments m;
    CHECK(m.count() == 0);
    CHECK(m.sum_of_squared_deviations() == 0);
    straggle_test::contract_trap const trap;
    CHECK_THROWS_AS((void)m.mean(), straggle_test::broken_contract);
    CHECK_THROWS_AS((void)m.mean_parts().floor, straggle_test::broken_contract);
    CHECK_THROWS_AS((void)m.mean_parts().fraction, straggle_test::broken_contract);
    CHECK_THROWS_AS((void)m.population_variance(), straggle_test::broken_contract);
    CHECK_THROWS_AS(m.remove(1), straggle_test::broken_contract);
    tick_moments other;
    other.add(1);
    CHECK_THROWS_AS(m.unmerge(other), straggle_test::broken_contract);
    CHECK((m == tick_moments{})); // a refused call changes nothing
    other.merge(m);
    CHECK(other.count() == 1);
}

TEST_CASE("tick moments: a moment merged with itself counts twice") {
    tick_moments m;
    for (std::int64_t const v : {-5, 3, 900}) m.add(v);
    tick_moments twice;
    for (std::int64_t const v : {-5, 3, 900, 900, 3, -5}) twice.add(v);
    m.merge(m);
    CHECK((m == twice));
    m.unmerge(m);
    CHECK((m == tick_moments{}));
}

TEST_CASE("tick moments: allocates nothing") {
    double seen = 0;
    CHECK(straggle_test::allocations_during([&] {
              tick_moments a, b;
              for (std::int64_t i = 0; i < 1000; ++i) a.add(i * i);
              b.add(4);
              b.merge(a);
              b.remove(4);
              b.unmerge(a);
              seen = a.mean() + a.population_variance();
          }) == 0);
    CHECK(seen > 0);
}

// All of it where the compiler computes, whichever arithmetic it has.
template <class Wide>
constexpr bool computes_in_the_compiler() {
    basic_tick_moments<Wide> m;
    for (std::int64_t const v : {least, std::int64_t{2}, std::int64_t{4}, std::int64_t{9}}) m.add(v);
    m.remove(least);
    basic_tick_moments<Wide> copy = m;
    copy.merge(m);
    copy.unmerge(m);
    return copy == m && m.count() == 3 && m.mean() == 5 && m.mean_parts().floor == 5 &&
           m.mean_parts().fraction == 0 && m.sum_of_squared_deviations() == 26 &&
           m.population_variance() == 26.0 / 3;
}
static_assert(computes_in_the_compiler<portable_wide>() && computes_in_the_compiler<default_wide>());

} // namespace
