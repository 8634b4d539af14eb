// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Cells must never say that a record is further away than it is. And where they say little, or everything is
// equally near, the answers of a store are those of a list all the same.

#include <straggle/predict/detail/profile_cells.hpp>
#include <straggle/predict/profile_store.hpp>

#include "../support/seed.hpp"
#include "scanned_records.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using namespace straggle;
using straggle_test::categorical;
using straggle_test::numeric;
using straggle_test::random_rows;
using straggle_test::scanned_records;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double square(double x) {
    return x * x;
}

// Stores and lists of the same records, more than it takes for cells to be looked at.
struct both {
    predict::profile_store store;
    scanned_records list;

    explicit both(std::vector<predict::factor_kind> const& kinds)
        : store(kinds, {.capacity = 4000}), list(kinds, 4000) {}
    void add(std::vector<double> const& row, double time) {
        REQUIRE(store.add(row, time) == status::ok);
        list.add(row, time);
    }
    void check(std::vector<double> const& row, std::vector<double> const& weights, std::size_t k,
               double within = infinity) const {
        predict::nearest_scratch scratch;
        std::vector<predict::neighbor> found;
        (void)store.nearest(row, weights, k, within, scratch, found);
        REQUIRE(found == list.nearest(row, weights, k, within));
    }
};

} // namespace

TEST_CASE("profile cells: a grid keeps the order, and differences but for one cell") {
    std::mt19937_64 draw(straggle_test::seed_or(5231));
    auto const uniform = [&] { return static_cast<double>(draw() >> 11) * 0x1p-53; };
    for (double const low : {0.0, -1.0, 1e9, -1e300, 1e-300})
        for (double const extent : {1.0, 1e-6, 1e12, 1e300, 0x1p-1000, 1e-305}) {
            CAPTURE(low);
            CAPTURE(extent);
            auto const grid = detail::factor_grid::around(low, low + extent);
            for (int i = 0; i < 2000; ++i) {
                double const a = low + (2 * uniform() - 0.5) * extent,
                             b = low + (2 * uniform() - 0.5) * extent;
                int const x = grid.of((std::min)(a, b)), y = grid.of((std::max)(a, b));
                REQUIRE((0 <= x && x <= y && y <= detail::last_cell));
                if (y - x > 1) // then there are cells at all
                    REQUIRE((std::max)(a, b) - (std::min)(a, b) >=
                            (y - x - 1) / grid.cells_per_unit * (1 - 0x1p-30));
            }
        }
    auto const none = detail::factor_grid::around(detail::encoded_missing, -detail::encoded_missing);
    CHECK(none.of(5) == 0);
    CHECK(none.of(detail::encoded_missing) == 0);
    auto const widest = detail::factor_grid::around(-predict::largest_factor, predict::largest_factor);
    CHECK(widest.of(detail::encoded_missing) == detail::last_cell);
    CHECK(widest.of(0) == detail::last_cell / 2);
}

TEST_CASE("profile cells: sums of squares are not more than they are, and little less") {
    std::uint64_t const seed = straggle_test::seed_or(5232);
    INFO("seed ", seed);
    for (std::uint64_t round = 0; round < 300; ++round) {
        CAPTURE(round);
        random_rows data(seed + round);
        std::size_t const factors = data.kinds.size(), stride = 2 * detail::leaf_size;
        std::vector<std::vector<double>> rows;
        for (int i = 0; i < 64; ++i) rows.push_back(data.row());
        auto const query = data.row(), weights = data.weights();
        std::vector<detail::factor_grid> grids;
        std::vector<double> ranges;
        std::vector<detail::factor_term> terms;
        for (std::size_t k = 0; k < factors; ++k) {
            detail::factor_extent e;
            bool gaps = false;
            for (auto const& row : rows) {
                gaps = gaps || predict::is_missing_factor(row[k]);
                if (!predict::is_missing_factor(row[k])) (void)e.include({row[k], row[k]});
            }
            grids.push_back(detail::factor_grid::around(e.low, e.high));
            ranges.push_back(data.kinds[k] == predict::factor_kind::categorical ? 1.0
                             : e.high > e.low                                   ? e.high - e.low
                                                                                : 0.0);
            if (weights[k] > 0)
                terms.push_back(detail::make_term(
                    k, data.kinds[k] == predict::factor_kind::numeric, query[k],
                    detail::scale_of(std::sqrt(weights[k]), detail::per_range_of(ranges[k])), weights[k],
                    gaps));
        }
        detail::cell_query cells;
        cells.assign(terms, grids);
        for (double const measured : {0.0, 1e-3, 0.3, 1.0, 3.0}) { // 0: as it was assigned
            CAPTURE(measured);
            if (measured > 0) cells.measure(measured);
            for (std::size_t leaf = 0; leaf < rows.size(); leaf += detail::leaf_size) {
                std::vector<detail::profile_cell> of((factors + 1) / 2 * stride);
                for (std::size_t i = 0; i < detail::leaf_size; ++i)
                    for (std::size_t k = 0; k < factors; ++k)
                        of[k / 2 * stride + 2 * i + k % 2] =
                            grids[k].of(detail::encode_factor(rows[leaf + i][k]));
                auto const [first, last] =
                    detail::cell_squares(of.data(), stride, 0, cells.constant(), cells.terms());
                for (std::size_t i = 0; i < detail::leaf_size; ++i) {
                    double const d =
                        predict::weighted_distance(data.kinds, rows[leaf + i], query, ranges, weights);
                    double const squares = square(d / cells.step()) * (1 + 0x1p-40) + detail::least_sum;
                    unsigned const bit = 1u << i;
                    if (squares < 0x1p30)
                        REQUIRE((detail::which_within(first, last, static_cast<std::int32_t>(squares)) &
                                 bit) != 0);
                    // Of numbers alone, what is at most twice the distance that is measured: two cells and a
                    // step are lost in each at most, one of two is not known of any.
                    bool numbers = measured > 0 && d <= 2 * measured && cells.step() < measured / 100;
                    for (auto const& t : terms) numbers = numbers && t.form == detail::term_form::number;
                    double const lost = 3 * cells.step() * std::sqrt(static_cast<double>(factors));
                    double const least =
                        square((std::max)(0.0, (std::min)(d, measured) - lost) / cells.step());
                    if (numbers && least > 1 && d > 0)
                        REQUIRE(
                            (detail::which_within(first, last, static_cast<std::int32_t>(least * 0.99) - 1) &
                             bit) == 0);
                }
                // The keys go up, each place comes once, and none that has been visited.
                unsigned const visited = static_cast<unsigned>(data.draw()) & 0xff;
                detail::cell_keys const keys(first, last, visited);
                unsigned seen = visited;
                float key = keys.least();
                for (int n = std::popcount(~visited & 0xff); n > 0; --n) {
                    REQUIRE(key < 0x1p31F);
                    unsigned const bit = 1u << detail::place_of_key(key);
                    REQUIRE((seen & bit) == 0);
                    seen |= bit;
                    auto const within = static_cast<std::int32_t>(key * (1 + 0x1p-18F));
                    REQUIRE((detail::which_within(first, last, within) & bit) != 0);
                    float const next = keys.least_above(key);
                    REQUIRE(next > key);
                    key = next;
                }
                REQUIRE(seen == 0xff);
                REQUIRE(key > 0x1p40F);
            }
        }
    }
}

TEST_CASE("profile cells: one outlier, and all the rest in one cell") {
    both b({predict::factor_kind::numeric, predict::factor_kind::numeric});
    random_rows data(straggle_test::seed_or(5233));
    for (int i = 0; i < 5000; ++i) b.add({i == 3000 ? 1e12 : data.uniform(), data.uniform() * 1e-9}, i % 5);
    b.store.arrange();
    for (int i = 0; i < 20; ++i)
        for (std::size_t const k : {1u, 20u})
            for (std::vector<double> const& weights :
                 std::vector<std::vector<double>>{{1, 0}, {1, 1}, {1, 1e-16}, {1e-16, 1}})
                b.check({data.uniform(), data.uniform() * 1e-9}, weights, k);
}

TEST_CASE("profile cells: values that leave the grid") {
    both b({predict::factor_kind::numeric, predict::factor_kind::numeric, predict::factor_kind::categorical});
    random_rows data(straggle_test::seed_or(5234));
    for (int i = 0; i < 9000; ++i) {
        double const now = 1.6e9 + 10.0 * i; // the store holds the last 4000
        b.add({now, i % 1000 == 0 ? -1e6 * i : data.uniform(), static_cast<double>(i / 50)}, i % 5);
        if (i > 4000 && i % 97 == 0)
            for (std::size_t const k : {1u, 9u})
                b.check({now - 2e4 * data.uniform(), data.uniform(), static_cast<double>(i / 60)},
                        {1, 0.5, data.uniform()}, k);
    }
}

TEST_CASE("profile cells: many that are equally near are told apart by their age") {
    both b({predict::factor_kind::numeric, predict::factor_kind::categorical, predict::factor_kind::numeric});
    random_rows data(straggle_test::seed_or(5235));
    for (int i = 0; i < 6000; ++i)
        b.add({static_cast<double>(data.draw() % 4), static_cast<double>(data.draw() % 3),
               data.draw() % 5 == 0 ? predict::missing_factor : static_cast<double>(data.draw() % 3)},
              i % 5);
    for (bool const arranged : {false, true}) {
        if (arranged) b.store.arrange();
        for (int i = 0; i < 40; ++i) {
            double const a = static_cast<double>(data.draw() % 9) / 2, c = static_cast<double>(i % 4);
            for (std::size_t const k : {1u, 7u, 8u, 9u, 100u})
                for (double const within : {infinity, 1.0, 0.0})
                    b.check({a, c, 1}, {1, 0.5, 0.25}, k, within);
        }
    }
}
