// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/base/spread_sort.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/seed.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

using namespace straggle;

namespace {

struct row {
    std::uint64_t key;
    int second;
    friend bool operator==(row const&, row const&) = default;
};
bool is_before(row const& a, row const& b) {
    return a.key != b.key ? a.key < b.key : a.second < b.second;
}

std::vector<row> rows(std::size_t n, std::uint64_t keys, std::uint64_t times, std::uint64_t plus,
                      std::mt19937_64& g) {
    std::vector<row> out;
    for (std::size_t i = 0; i < n; ++i)
        out.push_back({(keys == 0 ? g() : g() % keys) * times + plus, static_cast<int>(g() % 1000)});
    return out;
}

} // namespace

TEST_CASE("spread_sort: as std::sort, however keys are spread") {
    std::uint64_t const seed = straggle_test::seed_or(31);
    INFO("seed ", seed);
    std::mt19937_64 g(seed);
    detail::spread_sort_scratch<row> scratch;
    for (std::size_t const n : {0u, 1u, 2u, 63u, 64u, 65u, 500u, 3000u})
        for (std::uint64_t const keys : {0u, 1u, 2u, 7u, 100u, 100000u}) // 0: any
            for (std::uint64_t const plus : {std::uint64_t{0}, ~std::uint64_t{0} - 100000}) {
                CAPTURE(n);
                CAPTURE(keys);
                std::vector<row> some = rows(n, keys, 1, plus, g), expected = some;
                std::sort(expected.begin(), expected.end(), is_before);
                detail::spread_sort(some, scratch, [](row const& r) { return r.key; }, is_before);
                CHECK(some == expected);
            }
    // All in one share but for the ends.
    std::vector<row> some = rows(1000, 50, 1, 1000, g);
    some.push_back({0, 1});
    some.push_back({~std::uint64_t{0}, 1});
    std::vector<row> expected = some;
    std::sort(expected.begin(), expected.end(), is_before);
    detail::spread_sort(some, scratch, [](row const& r) { return r.key; }, is_before);
    CHECK(some == expected);
}

TEST_CASE("spread_sort: many rows of one key are dealt again by the next one") {
    std::uint64_t const seed = straggle_test::seed_or(32);
    INFO("seed ", seed);
    std::mt19937_64 g(seed);
    detail::spread_sort_scratch<row> scratch;
    auto const key = [](row const& r) { return r.key; };
    auto const next = [](row const& r) { return static_cast<std::uint64_t>(r.second); };
    for (std::uint64_t const keys : {1u, 3u, 20u, 500u})
        for (int const seconds : {1, 5, 1000}) {
            CAPTURE(keys);
            CAPTURE(seconds);
            std::vector<row> some = rows(2000, keys, keys == 500 ? 1 : 0x0123456789abcdef, 0, g);
            for (row& r : some) r.second %= seconds;
            std::vector<row> expected = some;
            std::sort(expected.begin(), expected.end(), is_before);
            detail::spread_sort(some, scratch, key, next, is_before);
            CHECK(some == expected);
        }
    // Twenty keys of a hundred rows, as tasks of jobs have: few comparisons, where a sort takes six a row.
    std::vector<row> some = rows(2000, 20, 1, 0, g);
    std::size_t compared = 0;
    detail::spread_sort(some, scratch, key, next, [&](row const& a, row const& b) {
        ++compared;
        return is_before(a, b);
    });
    CHECK(compared < 2 * some.size());
}

TEST_CASE("spread_sort: nothing is allocated once it has grown, and evenly spread keys take linear time") {
    std::mt19937_64 g(5);
    detail::spread_sort_scratch<row> scratch;
    std::vector<double> compared; // per row
    for (std::size_t const n : {2000u, 64000u}) {
        std::vector<row> a = rows(n, 0, 1, 0, g), b = rows(n, 0, 1, 0, g);
        std::size_t count = 0;
        auto const counted = [&](row const& x, row const& y) {
            ++count;
            return is_before(x, y);
        };
        detail::spread_sort(a, scratch, [](row const& r) { return r.key; }, counted);
        compared.push_back(static_cast<double>(count) / static_cast<double>(n));
        CHECK(straggle_test::allocations_during([&] {
                  detail::spread_sort(b, scratch, [](row const& r) { return r.key; }, is_before);
              }) == 0);
        CHECK(std::is_sorted(b.begin(), b.end(), is_before));
    }
    CHECK(compared[1] < 1.1 * compared[0]); // of n log n it would be 1.46
}
