// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/assign/optimal_assignment.hpp>

#include "pairs.hpp"

#include "../../bench/support/hungarian.hpp"

#include <support/allocations.hpp>
#include <support/contract_trap.hpp>
#include <support/golden.hpp>
#include <support/seed.hpp>

#include <numeric>

using namespace straggle;
using namespace straggle_test;

namespace {

auto at_most(std::size_t rows) {
    return [rows](std::uint32_t) mutable { return rows > 0 && rows-- > 0; };
}

// The tables of tests/golden/assignment.py.
pair_table golden_pairs(std::size_t rows, std::size_t columns, std::uint64_t seed, std::string const& shape) {
    golden_sequence next(seed);
    std::vector<double> of_row(rows), of_column(columns);
    for (double& x : of_row) x = next.unit();
    for (double& x : of_column) x = next.unit();
    pair_table t;
    for (double const x : of_row) {
        std::vector<double> values;
        for (double const y : of_column) {
            double const noise = next.unit();
            bool const there = next.unit() < 0.8;
            double value = noise;
            if (shape == "sum") value = 400 * x - 150 * y + 5 * noise;
            if (shape == "product") value = 1000 * x * (0.2 + y) * (1 + noise);
            if (shape == "whole") value = std::floor(10 * noise) + 1;
            values.push_back(there ? value : 0.0);
        }
        t.add_row(values);
    }
    for (std::size_t c = 0; c < columns; ++c) t.room.push_back(static_cast<std::uint32_t>(next.unit() * 3));
    return t;
}

// Hungarian method with potentials on a full table, as in textbooks, a column for each place: the largest sum
// of `most` rows. The others take columns that are worth more than any pair.
double textbook(pair_table const& t, std::size_t most) {
    std::size_t const n = t.first.size() - 1;
    std::vector<std::uint32_t> column_at;
    for (std::uint32_t c = 0; c < t.room.size(); ++c) column_at.insert(column_at.end(), t.room[c], c);
    std::size_t const places = column_at.size(), without = n - std::min(n, most), m = places + without + n;
    double const more = t.value.empty() ? 1 : 1 + *std::max_element(t.value.begin(), t.value.end());
    std::vector<double> values(t.room.size());
    std::vector<std::size_t> row_of;
    auto const value_of = [&](std::size_t place) {
        return place < places ? values[column_at[place]] : place < places + without ? more : 0.0;
    };
    auto const read_row = [&](std::size_t row) {
        std::fill(values.begin(), values.end(), 0.0);
        for (std::uint32_t i = t.first[row]; i < t.first[row + 1]; ++i) values[t.column[i]] = t.value[i];
    };
    auto const costs_of_row = [&](std::size_t row) {
        read_row(row);
        return [&](std::size_t place) { return -value_of(place); };
    };
    straggle_bench::hungarian(n, m, costs_of_row, row_of);
    double sum = 0;
    for (std::size_t j = 1; j <= places; ++j) {
        if (row_of[j] == 0) continue;
        read_row(row_of[j] - 1);
        sum += value_of(j - 1);
    }
    return sum;
}

} // namespace

TEST_CASE("optimal: somebody takes the second best, so that the sum is the largest") {
    assign::optimal_assignment solver;
    CHECK(columns_of(solver, table_of({{8, 9}, {1, 8}}, {1, 1})) == columns{0, 1}); // greedy: 10
    CHECK(columns_of(solver, table_of({{9, 8}, {8, 1}}, {1, 1})) == columns{1, 0});
    CHECK(columns_of(solver, table_of({{9, 8}, {8, 1}}, {2, 0})) == columns{0, 0});
    // Somebody has to go without: not the first.
    CHECK(columns_of(solver, table_of({{5, 4}, {6, 0}, {0, 7}}, {1, 1})) == columns{unassigned, 0, 1});
    CHECK(columns_of(solver, table_of({{5, 4}, {6, 0}, {0, 7}}, {1, 2})) == columns{1, 0, 1});
    // A chain of three moves.
    CHECK(columns_of(solver, table_of({{9, 8, 0}, {0, 9, 8}, {9, 0, 0}, {0, 0, 2}}, {1, 1, 1})) ==
          columns{1, 2, 0, unassigned});
}

TEST_CASE("optimal: the largest of all sums, exactly where values are whole numbers") {
    std::uint64_t const seed = seed_or(31);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    assign::optimal_assignment solver;
    std::vector<assign::assigned_pair> out;
    for (int i = 0; i < 3000; ++i) {
        auto const t = random_pairs(engine, engine() % 7, engine() % 6, 1 + engine() % 20, 1 + engine() % 3);
        double const best = everything_tried(t).best();
        solver(t.view(), t.room, out);
        check_valid(t, out);
        CHECK(t.sum(out) == best);
    }
}

TEST_CASE("optimal: the largest of all sums, but for rounding where values are not whole") {
    std::uint64_t const seed = seed_or(32);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    assign::optimal_assignment solver;
    std::vector<assign::assigned_pair> out;
    for (int i = 0; i < 3000; ++i) {
        auto t = random_pairs(engine, engine() % 7, engine() % 6, 0, 1 + engine() % 3);
        double const scale = std::ldexp(1.0, static_cast<int>(engine() % 1000) - 500);
        for (double& x : t.value) x *= scale;
        double const best = everything_tried(t).best();
        solver(t.view(), t.room, out);
        CHECK(std::fabs(t.sum(out) - best) <= 1e-14 * best); // six values, a few roundings each
    }
}

TEST_CASE("optimal: few rows in a full table and many rows give the same") {
    std::uint64_t const seed = seed_or(36);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    assign::optimal_assignment solver;
    std::vector<assign::assigned_pair> few, many;
    for (int i = 0; i < 600; ++i) {
        // Rows without pairs change nothing but the way.
        bool const whole = i % 2 == 0;
        auto t = random_pairs(engine, 1 + engine() % 7, 1 + engine() % 6, whole ? 1 + engine() % 20 : 0,
                              1 + engine() % 3);
        double const best = everything_tried(t).best();
        std::size_t const limit = 1 + engine() % 8;
        double const limited = everything_tried(t).best(limit);
        solver(t.view(), t.room, few);
        auto padded = t;
        for (int row = 0; row < 70; ++row) padded.first.push_back(padded.first.back());
        solver(padded.view(), padded.room, many);
        check_valid(padded, many);
        CHECK(std::fabs(padded.sum(many) - best) <= (whole ? 0 : 1e-14 * best));
        if (!whole) CHECK(many == few); // no two sums are equal
        solver(padded.view(), padded.room, many, at_most(limit));
        CHECK(std::fabs(padded.sum(many) - limited) <= (whole ? 0 : 1e-14 * limited));
    }
    // Larger than anybody can try: rows at and beyond the limit of the full table, unsorted and sorted.
    for (std::size_t const rows : {30u, 64u}) {
        for (std::size_t const columns : {8u, 40u, 256u}) {
            auto t = random_pairs(engine, rows, columns, 0, 2);
            solver(t.view(), t.room, few);
            for (int row = 0; row < 70; ++row) t.first.push_back(t.first.back());
            solver(t.view(), t.room, many);
            CHECK(std::fabs(t.sum(few) - t.sum(many)) <= 1e-12 * t.sum(many));
        }
    }
}

// Lists of pairs are of use, too short, out of date and made anew only where there are many.
TEST_CASE("optimal: many rows, as textbooks have it") {
    std::uint64_t const seed = seed_or(38);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    auto const unit = [&] { return static_cast<double>(engine() >> 11) * 0x1p-53; };
    assign::optimal_assignment solver;
    std::vector<assign::assigned_pair> out;
    enum class shape { apart, same_wanted, product };
    struct {
        std::size_t rows, columns;
        double most; // 0: not whole
        std::uint32_t most_room;
        shape of;
    } const tables[] = {{90, 300, 0, 1, shape::same_wanted},   {150, 150, 300, 1, shape::same_wanted},
                        {120, 400, 40, 1, shape::same_wanted}, {150, 40, 1000, 5, shape::same_wanted},
                        {150, 150, 3, 2, shape::apart},        {150, 150, 0, 1, shape::apart},
                        {70, 20, 500, 2, shape::same_wanted},  {180, 122, 0, 1, shape::product},
                        {230, 67, 0, 2, shape::product},       {190, 280, 700, 1, shape::product}};
    for (auto const& of : tables) {
        pair_table t;
        std::vector<double> at_column(of.columns);
        for (double& x : at_column) x = unit();
        for (std::size_t r = 0; r < of.rows; ++r) {
            double const left = 0.2 - std::log(1 - unit());
            std::vector<double> values;
            for (double const x : at_column) {
                double value = unit();
                if (of.of == shape::same_wanted) value = left - x * (0.3 + 0.6 * value);
                if (of.of == shape::product) value = left / (1 + 2 * x) * (1 + 0.3 * value);
                values.push_back(of.most > 0 ? std::floor(of.most * value) : value);
            }
            t.add_row(values);
        }
        for (std::size_t c = 0; c < of.columns; ++c)
            t.room.push_back(of.most_room == 1 ? 1 : static_cast<std::uint32_t>(engine() % of.most_room));
        CAPTURE(of.rows);
        CAPTURE(of.columns);
        CAPTURE(of.most);
        for (std::size_t const limit : {of.rows, of.rows / 2, of.rows / 5}) {
            CAPTURE(limit);
            double const best = textbook(t, limit);
            solver(t.view(), t.room, out, at_most(limit));
            check_valid(t, out);
            CHECK(out.size() <= limit);
            CHECK(std::fabs(t.sum(out) - best) <= (of.most > 0 ? 0 : 1e-12 * best));
        }
    }
}

TEST_CASE("optimal: of a limited number of rows the best, for every limit") {
    std::uint64_t const seed = seed_or(33);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    assign::optimal_assignment solver;
    std::vector<assign::assigned_pair> out;
    for (int i = 0; i < 1000; ++i) {
        auto const t = random_pairs(engine, 1 + engine() % 6, 1 + engine() % 5, 1 + engine() % 20);
        everything_tried const tried(t);
        for (std::size_t k = 0; k < t.first.size(); ++k) {
            solver(t.view(), t.room, out, at_most(k));
            check_valid(t, out);
            CHECK(out.size() <= k);
            CHECK(t.sum(out) == tried.best(k));
        }
    }
}

TEST_CASE("optimal: rows that are refused are as if they were not there") {
    std::uint64_t const seed = seed_or(34);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    assign::optimal_assignment solver;
    std::vector<assign::assigned_pair> out;
    for (int i = 0; i < 500; ++i) {
        auto const t = random_pairs(engine, 1 + engine() % 6, 1 + engine() % 5, 9);
        std::uint64_t const refused = engine();
        std::vector<int> asked(t.first.size(), 0);
        solver(t.view(), t.room, out, [&](std::uint32_t row) {
            ++asked[row];
            return (refused >> row & 1) == 0;
        });
        check_valid(t, out);
        for (int const n : asked) CHECK(n <= 1);
        pair_table without;
        without.room = t.room;
        for (std::uint32_t row = 0; row + 1 < t.first.size(); ++row) {
            std::vector<double> values(t.room.size(), 0.0);
            if ((refused >> row & 1) == 0)
                for (std::uint32_t p = t.first[row]; p < t.first[row + 1]; ++p)
                    values[t.column[p]] = t.value[p];
            without.add_row(values);
        }
        CHECK(t.sum(out) == everything_tried(without).best());
    }
}

TEST_CASE("optimal: as SciPy's linear_sum_assignment and HiGHS have it") {
    assign::optimal_assignment solver;
    assign::greedy_assignment greedy;
    std::vector<assign::assigned_pair> out;
    for (auto const& row : golden_table("assignment.csv")) {
        auto const rows = row.integer<std::size_t>(0), columns = row.integer<std::size_t>(1);
        auto const limit = row.integer<std::size_t>(4);
        CAPTURE(rows);
        CAPTURE(columns);
        CAPTURE(row.text(3));
        CAPTURE(limit);
        auto const t = golden_pairs(rows, columns, row.integer<std::uint64_t>(2), row.text(3));
        // A rounding or two in each of the rows on both sides; whole numbers to the bit.
        double const best = row.real(5), tolerance = row.text(3) == "whole" ? 0 : 1e-12 * best;
        if (limit >= rows) {
            solver(t.view(), t.room, out);
            check_valid(t, out);
            CHECK(std::fabs(t.sum(out) - best) <= tolerance);
            greedy(t.view(), t.room, out);
            CHECK(t.sum(out) <= best + tolerance);
        }
        solver(t.view(), t.room, out, at_most(limit));
        check_valid(t, out);
        CHECK(out.size() <= limit);
        CHECK(std::fabs(t.sum(out) - best) <= tolerance);
    }
}

TEST_CASE("optimal: the same sum and, where no values are equal, the same pairs in any order of the input") {
    std::uint64_t const seed = seed_or(35);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    assign::optimal_assignment solver;
    for (int i = 0; i < 100; ++i) {
        std::size_t const n = 1 + engine() % 20, m = 1 + engine() % 20;
        std::vector<std::vector<double>> values(n, std::vector<double>(m));
        for (auto& row : values)
            for (double& x : row) x = static_cast<double>(engine() >> 11) * 0x1p-53;
        std::vector<std::uint32_t> room(m, 1), by_row(n), by_column(m);
        std::iota(by_row.begin(), by_row.end(), 0u);
        std::iota(by_column.begin(), by_column.end(), 0u);
        for (std::size_t k = n; k > 1; --k) std::swap(by_row[k - 1], by_row[engine() % k]);
        for (std::size_t k = m; k > 1; --k) std::swap(by_column[k - 1], by_column[engine() % k]);
        auto shuffled = values;
        for (std::size_t r = 0; r < n; ++r)
            for (std::size_t c = 0; c < m; ++c) shuffled[r][c] = values[by_row[r]][by_column[c]];
        auto const before = columns_of(solver, table_of(values, room));
        auto const after = columns_of(solver, table_of(shuffled, room));
        for (std::size_t r = 0; r < n; ++r) {
            CHECK(after[r].has_value() == before[by_row[r]].has_value());
            if (after[r]) CHECK(by_column[*after[r]] == before[by_row[r]]);
        }
    }
}

TEST_CASE("optimal: ties go to the larger second, then to what comes first") {
    pair_table t;
    t.add_row({5, 5, 5}, {0.1, 0.7, 0.7});
    t.room = {1, 1, 1};
    assign::optimal_assignment solver;
    CHECK(columns_of(solver, t) == columns{1});
    pair_table rivals;
    rivals.add_row({5}, {0.5});
    rivals.add_row({5}, {0.7});
    rivals.add_row({5}, {0.7});
    rivals.room = {1};
    CHECK(columns_of(solver, rivals) == columns{unassigned, 0, unassigned});
    // Whichever of them stands first.
    for (std::vector<double> seconds : {std::vector{0.5, 0.2, 0.7, 0.1, 0.7}, {0.7, 0.2, 0.9, 0.95, 0.1}}) {
        pair_table tied;
        for (double const second : seconds) tied.add_row({5}, {second});
        tied.room = {1};
        columns expected(5, unassigned);
        expected[static_cast<std::size_t>(std::max_element(seconds.begin(), seconds.end()) -
                                          seconds.begin())] = 0;
        CHECK(columns_of(solver, tied) == expected);
        for (int row = 0; row < 70; ++row) tied.first.push_back(tied.first.back());
        expected.resize(75, unassigned);
        CHECK(columns_of(solver, tied) == expected);
    }
    // Everything equal: the first rows, to the first columns.
    auto const equal = table_of(std::vector<std::vector<double>>(5, std::vector<double>(3, 2.0)), {1, 1, 1});
    CHECK(columns_of(solver, equal) == columns{0, 1, 2, unassigned, unassigned});
}

TEST_CASE("optimal: the first is the best pair of all, and of equal ones that which greedy takes") {
    std::uint64_t const seed = seed_or(37);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    assign::optimal_assignment optimal;
    assign::greedy_assignment greedy;
    std::vector<assign::assigned_pair> out, expected;
    for (int i = 0; i < 2000; ++i) {
        auto t = random_pairs(engine, 1 + engine() % 20, 1 + engine() % 20, 1 + engine() % 3);
        for (double& second : t.second) second = static_cast<double>(engine() % 4) / 4;
        optimal(t.view(), t.room, out);
        greedy(t.view(), t.room, expected);
        REQUIRE(out.empty() == expected.empty());
        // The first may move on later; its row is the first nevertheless.
        if (!out.empty()) CHECK(out[0].row == expected[0].row);
        optimal(t.view(), t.room, out, at_most(1));
        CHECK(out == std::vector(expected.begin(), expected.begin() + (expected.empty() ? 0 : 1)));
    }
}

TEST_CASE("optimal: rows come in the order of what they add") {
    auto const t = table_of({{4}, {9}, {6}, {7}}, {3});
    assign::optimal_assignment solver;
    std::vector<assign::assigned_pair> out;
    solver(t.view(), t.room, out);
    CHECK(out == std::vector<assign::assigned_pair>{{1, 1}, {3, 3}, {2, 2}});
    solver(t.view(), t.room, out, [](std::uint32_t row) { return row != 3; });
    CHECK(out == std::vector<assign::assigned_pair>{{1, 1}, {2, 2}, {0, 0}});
    // Rows 1 and 2 both add 5; for row 1 the first would have to move.
    auto const moves = table_of({{10, 6, 0}, {9, 0, 0}, {0, 0, 5}}, {1, 1, 1});
    solver(moves.view(), moves.room, out);
    CHECK(out == std::vector<assign::assigned_pair>{{0, 1}, {2, 3}, {1, 2}});
}

TEST_CASE("optimal: nothing to do, huge and tiny values") {
    assign::optimal_assignment solver;
    std::vector<assign::assigned_pair> out{{1, 1}};
    solver({}, {}, out);
    CHECK(out.empty());
    for (auto const& t : {table_of({}, {1}), table_of({{0}, {0}}, {1}), table_of({{5}, {5}}, {0})}) {
        CHECK(columns_of(solver, t) == columns(t.first.size() - 1));
    }
    double const most = std::numeric_limits<double>::max(), least = std::numeric_limits<double>::denorm_min();
    CHECK(columns_of(solver, table_of({{most, most}, {most, least}}, {1, 1})) == columns{1, 0});
    CHECK(columns_of(solver, table_of({{least, 2 * least}, {0, 2 * least}}, {1, 1})) == columns{0, 1});
}

TEST_CASE("optimal: no pair of a table may be wrong, wherever it is, and then nothing is written") {
    contract_trap const trap;
    assign::optimal_assignment solver;
    constexpr std::size_t columns = 11; // no whole number of lanes
    std::vector<double> values(columns, 3);
    pair_table good;
    good.room.assign(columns, 1);
    good.add_row(values); // all columns
    values[4] = 0;
    good.add_row(values); // all but one
    std::vector<assign::assigned_pair> const before{{7, 8}};
    std::vector<assign::assigned_pair> out = before;
    auto const refused = [&](pair_table const& t) {
        CHECK_THROWS_AS(solver(t.view(), t.room, out), broken_contract);
        CHECK(out == before);
    };
    for (std::size_t i = 0; i < good.value.size(); ++i) {
        CAPTURE(i);
        for (double const x :
             {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
            pair_table t = good;
            t.value[i] = x;
            refused(t);
        }
        pair_table t = good;
        t.column[i] = i == 0 || i == columns ? t.column[i + 1] : t.column[i - 1]; // twice
        refused(t);
        t.column[i] = columns;
        refused(t);
    }
    for (std::uint32_t const first : {0u, 9u, 22u, 0xffffffffu}) {
        pair_table t = good;
        t.first[1] = first; // rows of another length
        if (first == 9u || first == 0u) t.first[0] = 10;
        refused(t);
    }
    CHECK_NOTHROW(solver(good.view(), good.room, out));
    CHECK(out.size() == 2);
}

TEST_CASE("optimal: a solver can be used again, and allocates nothing the second time") {
    std::mt19937_64 engine(6);
    auto const large = random_pairs(engine, 60, 50, 0), small = random_pairs(engine, 4, 3, 9);
    assign::optimal_assignment solver, fresh;
    std::vector<assign::assigned_pair> out, expected;
    solver(large.view(), large.room, out);
    solver(small.view(), small.room, out);
    fresh(small.view(), small.room, expected);
    CHECK(out == expected);
    CHECK(allocations_during([&] {
              solver(large.view(), large.room, out);
              solver(large.view(), large.room, out, at_most(7));
          }) == 0);
    CHECK(out.size() == 7);
}
