// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/learn/feature_matrix.hpp>

#include "../support/contract_trap.hpp"

#include <doctest/doctest.h>

#include <array>
#include <type_traits>
#include <vector>

using namespace straggle;
using straggle_test::broken_contract;

static_assert(std::is_trivially_copyable_v<learn::feature_matrix<double>>);
static_assert(
    std::is_same_v<decltype(learn::feature_matrix(std::vector<double>{}, 1)), learn::feature_matrix<double>>);
static_assert(
    std::is_same_v<decltype(learn::feature_matrix(std::array<float, 2>{}, 1)), learn::feature_matrix<float>>);
static_assert(std::is_same_v<decltype(learn::feature_matrix(std::span<double const>{}, 1)),
                             learn::feature_matrix<double>>);

TEST_CASE("feature_matrix: rows of a table") {
    std::vector<double> const table{1, 2, 3, 4, 5, 6};
    learn::feature_matrix const m(table, 3);
    CHECK(m.rows() == 2);
    CHECK(m.columns() == 3);
    CHECK_FALSE(m.empty());
    CHECK(m.row(1)[0] == 4);
    CHECK(m.row(1).size() == 3);
    CHECK(m.values().data() == table.data());
    CHECK(m.values().size() == 6);
}

TEST_CASE("feature_matrix: nothing") {
    learn::feature_matrix<float> const none;
    CHECK(none.rows() == 0);
    CHECK(none.columns() == 0);
    CHECK(none.empty());
    CHECK(none.values().empty());
    learn::feature_matrix const no_rows(std::vector<double>{}, 4);
    CHECK(no_rows.rows() == 0);
    CHECK(no_rows.columns() == 4);
    CHECK(learn::feature_matrix(std::vector<double>{}, 0).empty());
    CHECK(none.between(0, 0).empty());
}

TEST_CASE("feature_matrix: a window of rows") {
    std::vector<float> const table{1, 2, 3, 4, 5, 6, 7, 8};
    learn::feature_matrix const m(table, 2);
    learn::feature_matrix const middle = m.between(1, 2);
    CHECK(middle.rows() == 2);
    CHECK(middle.columns() == 2);
    CHECK(middle.row(0)[1] == 4);
    CHECK(middle.row(1)[0] == 5);
    CHECK(m.between(4, 0).empty());
    CHECK(m.between(0, 4).values().size() == 8);
}

TEST_CASE("feature_matrix: in constant expressions") {
    static constexpr std::array<double, 4> table{1, 2, 3, 4};
    constexpr learn::feature_matrix m(table, 2);
    static_assert(m.rows() == 2 && m.row(1)[1] == 4 && m.between(1, 1).row(0)[0] == 3);
}

TEST_CASE("feature_matrix: contracts") {
    straggle_test::contract_trap const trap;
    std::vector<double> const table(6);
    CHECK_THROWS_AS(learn::feature_matrix(table, 4), broken_contract);
    CHECK_THROWS_AS(learn::feature_matrix(table, 7), broken_contract);
    CHECK_THROWS_AS(learn::feature_matrix(table, 0), broken_contract);
    learn::feature_matrix const m(table, 3);
    CHECK_THROWS_AS((void)m.row(2), broken_contract);
    CHECK_THROWS_AS((void)m.between(1, 2), broken_contract);
    CHECK_THROWS_AS((void)m.between(3, 0), broken_contract);
    CHECK_THROWS_AS((void)m.between(2, static_cast<std::size_t>(-1)), broken_contract);
}
