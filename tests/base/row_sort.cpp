// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/base/row_sort.hpp>

#include <doctest/doctest.h>

#include "../support/allocations.hpp"
#include "../support/seed.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

using namespace straggle;

namespace {

// A row of this many bytes, the first of which are its number.
template <std::size_t Bytes>
struct wide_row {
    std::array<unsigned char, Bytes> bytes{};
    friend bool operator==(wide_row const&, wide_row const&) = default;
    friend bool operator<(wide_row const& a, wide_row const& b) { return a.bytes < b.bytes; }
};

template <std::size_t Bytes>
void sorts_as_std_sort(std::mt19937_64& g) {
    for (std::size_t const n : {0u, 1u, 2u, 15u, 16u, 17u, 18u, 100u, 1000u})
        for (unsigned const values : {1u, 2u, 256u}) {
            std::vector<wide_row<Bytes>> rows(n);
            for (auto& r : rows)
                for (auto& byte : r.bytes) byte = static_cast<unsigned char>(g() % values);
            auto expected = rows;
            std::sort(expected.begin(), expected.end());
            CHECK(straggle_test::allocations_during([&] {
                      detail::sort_rows(rows, [](auto const& a, auto const& b) { return a < b; });
                  }) == 0);
            CHECK(rows == expected);
        }
}

} // namespace

TEST_CASE("row_sort: as std::sort, for rows of any size, and without memory") {
    std::uint64_t const seed = straggle_test::seed_or(32);
    CAPTURE(seed);
    std::mt19937_64 g(seed);
    sorts_as_std_sort<1>(g);
    sorts_as_std_sort<4>(g);
    sorts_as_std_sort<8>(g);
    sorts_as_std_sort<12>(g);
    sorts_as_std_sort<24>(g);
    sorts_as_std_sort<61>(g);
}

TEST_CASE("row_sort: up to sixteen equal rows stay in order") {
    struct row {
        int key, at;
    };
    std::vector<row> rows;
    for (int i = 0; i < 16; ++i) rows.push_back({i % 3, i});
    detail::sort_rows(rows, [](row const& a, row const& b) { return a.key < b.key; });
    CHECK(std::is_sorted(rows.begin(), rows.end(), [](row const& a, row const& b) {
        return a.key != b.key ? a.key < b.key : a.at < b.at;
    }));
}
