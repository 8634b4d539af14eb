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

using straggle::detail::default_wide;
using straggle::detail::portable_wide;
using straggle::stats::basic_tick_moments;
using straggle::stats::tick_moments;
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

// The same for its rule `group`.
template <class Wide>
basic_tick_moments<Wide> sum_of_groups(straggle_test::golden_row const& row) {
    basic_tick_moments<Wide> m;
    straggle_test::golden_sequence next(row.integer<std::uint64_t>(2));
    for (std::int64_t i = 0; i < row.integer(1); ++i) {
        std::array<std::uint64_t, 5> drawn{};
        for (std::uint64_t& d : drawn) d = next();
        std::int64_t const mean = static_cast<std::int64_t>(drawn[0]) >> (drawn[1] % 64);
        std::uint64_t const values = (drawn[1] >> (8 + drawn[2] % 56)) + 1;
        std::array<std::uint64_t, 4> deviations{drawn[4], drawn[3], drawn[2], 0};
        for (std::uint64_t shift = 16 + drawn[3] % 176; shift > 0; --shift)
            for (std::size_t word = 0; word < 3; ++word)
                deviations[word] = deviations[word] >> 1 | deviations[word + 1] << 63;
        if (i % 3 == 0) deviations = {};
        m.add_group(mean, values, {{deviations[0], deviations[1]}, deviations[2]});
    }
    return m;
}

template <class Wide>
basic_tick_moments<Wide> sum_of(straggle_test::golden_row const& row) {
    return row.text(0) == "group" ? sum_of_groups<Wide>(row) : sum_of<Wide>(values_of(row));
}

// A number of up to 192 bits, as its words, lowest first.
std::array<std::uint64_t, 3> words_of(std::string const& hex) {
    std::array<std::uint64_t, 3> words{};
    for (std::size_t i = 0; i < hex.size(); ++i) {
        std::size_t const nibble = hex.size() - 1 - i;
        std::uint64_t const digit = static_cast<std::uint64_t>(std::stoi(hex.substr(i, 1), nullptr, 16));
        words[nibble / 16] |= digit << (4 * (nibble % 16));
    }
    return words;
}
straggle::stats::tick_squares squares_of(std::array<std::uint64_t, 3> const& words) {
    return {{words[0], words[1]}, words[2]};
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
        auto const m = sum_of<Wide>(row);
        REQUIRE(m.count() == row.integer<std::uint64_t>(13, 16));
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
        REQUIRE(same_bits(sum_of<portable_wide>(row), sum_of<default_wide>(row)));
    }
}

TEST_CASE_TEMPLATE("tick moments: the sums are the exact ones, and are all there is to know", Wide,
                   portable_wide, default_wide) {
    using moments = basic_tick_moments<Wide>;
    for (auto const& row : straggle_test::golden_table("tick_moments.csv")) {
        INFO(row.text(0), " n ", row.text(1), " seed ", row.text(2), " offset ", row.text(3));
        auto const m = sum_of<Wide>(row);
        auto const sums = m.sums();
        auto const sum = words_of(row.text(14));
        REQUIRE(sums.n == row.integer<std::uint64_t>(13, 16));
        REQUIRE((sums.sum == straggle::detail::uint128{sum[0], sum[1]}));
        REQUIRE((sums.squares == squares_of(words_of(row.text(15)))));
        REQUIRE((moments::from(sums) == m));
        REQUIRE(m.is_plausible());

        // The least squares with which it could be, and one less.
        auto least_squares = words_of(row.text(16));
        auto edge = sums;
        edge.squares = squares_of(least_squares);
        REQUIRE(moments::from(edge).is_plausible());
        for (std::size_t word = 0; word < 3 && least_squares[word]-- == 0; ++word) {
        }
        edge.squares = squares_of(least_squares);
        bool const none_left = words_of(row.text(16)) == std::array<std::uint64_t, 3>{};
        REQUIRE(moments::from(edge).is_plausible() == none_left); // then it wrapped round to the most
    }
    moments const nothing;
    CHECK(nothing.is_plausible());
    CHECK((moments::from({}) == nothing));
    CHECK_FALSE(moments::from({0, {1, 0}, {}}).is_plausible());
    CHECK_FALSE(moments::from({0, {}, {{1, 0}, 0}}).is_plausible());
    CHECK_FALSE(moments::from({1, {0, 1}, {}}).is_plausible());
    CHECK_FALSE(moments::from({1, {~std::uint64_t{0}, ~std::uint64_t{0}}, {}}).is_plausible()); // sum -1
    CHECK(moments::from({1, {~std::uint64_t{0}, ~std::uint64_t{0}}, {{1, 0}, 0}}).is_plausible());
}

TEST_CASE_TEMPLATE("tick moments: a group of equal values, or of values with their deviations", Wide,
                   portable_wide, default_wide) {
    std::uint64_t const seed = straggle_test::seed_or(22);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    using moments = basic_tick_moments<Wide>;
    for (std::int64_t const v : {least, least + 1, std::int64_t{-1}, std::int64_t{0}, std::int64_t{7}, most})
        for (std::uint64_t const n : {0u, 1u, 2u, 1000u}) {
            moments one_by_one, at_once;
            for (std::uint64_t i = 0; i < n; ++i) one_by_one.add(v);
            at_once.add_group(v, n, {});
            REQUIRE((at_once == one_by_one));
        }
    for (int round = 0; round < 500; ++round) {
        // In pairs around a common mean, so that it is whole.
        std::int64_t const mean = static_cast<std::int64_t>(draw()) >> (1 + draw() % 40);
        moments one_by_one, at_once, deviations;
        one_by_one.add(static_cast<std::int64_t>(draw()));
        at_once.merge(one_by_one);
        std::uint64_t const pairs = 1 + draw() % 20;
        for (std::uint64_t i = 0; i < pairs; ++i) {
            std::int64_t const away = static_cast<std::int64_t>(draw() >> (2 + draw() % 60));
            one_by_one.add(mean - away);
            one_by_one.add(mean + away);
            deviations.add(away);
            deviations.add(away);
        }
        at_once.add_group(mean, 2 * pairs, deviations.sums().squares);
        REQUIRE((at_once == one_by_one));
    }
}

TEST_CASE_TEMPLATE("tick moments: a range at once is the same as one by one", Wide, portable_wide,
                   default_wide) {
    std::uint64_t const seed = straggle_test::seed_or(23);
    INFO("seed ", seed);
    std::mt19937_64 draw(seed);
    using moments = basic_tick_moments<Wide>;
    auto const itself = [](std::int64_t v, std::size_t) { return v; };
    // Sizes and values on both sides of the bounds of the short way: 2^16 values of 46 bits, 2^32 of 32.
    for (std::size_t const size : {0u, 1u, 2u, 100u, 65'535u, 65'536u, 65'537u})
        for (int const bits : {1, 31, 32, 33, 45, 46, 47, 62, 63, 64}) {
            CAPTURE(size);
            CAPTURE(bits);
            std::vector<std::int64_t> values(size);
            bool const largest = size % 2 == 0;
            for (std::int64_t& v : values)
                v = static_cast<std::int64_t>((largest ? ~std::uint64_t{0} : draw()) >> (64 - bits));
            moments all, before;
            before.add(-3);
            all.merge(before);
            all.add_all(values, itself);
            before.merge(sum_of<Wide>(values));
            REQUIRE((all == before));
        }
    std::vector<std::int64_t> mixed(300);
    for (std::int64_t& v : mixed) v = static_cast<std::int64_t>(draw()) >> (draw() % 64);
    moments places;
    places.add_all(mixed, [&](std::int64_t const& v, std::size_t i) {
        CHECK(&v == &mixed[i]);
        return v;
    });
    CHECK((places == sum_of<Wide>(mixed)));
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
