// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

#include <straggle/assign/greedy_assignment.hpp>

#include "pairs.hpp"

#include <support/allocations.hpp>
#include <support/contract_trap.hpp>
#include <support/seed.hpp>

#include <limits>

using namespace straggle;
using namespace straggle_test;

namespace {

// What the definition says: all pairs sorted, taken while both sides are free.
double greedy_by_sorting(pair_table const& t) {
    struct entry {
        double value, second;
        std::uint32_t row, column;
    };
    std::vector<entry> all;
    for (std::uint32_t r = 0; r + 1 < t.first.size(); ++r)
        for (std::uint32_t i = t.first[r]; i < t.first[r + 1]; ++i)
            all.push_back({t.value[i], t.second[i], r, t.column[i]});
    std::sort(all.begin(), all.end(), [](entry const& a, entry const& b) {
        if (a.value != b.value) return a.value > b.value;
        if (a.second != b.second) return a.second > b.second;
        return a.row != b.row ? a.row < b.row : a.column < b.column;
    });
    auto room = t.room;
    std::vector<bool> done(t.first.size(), false);
    double sum = 0;
    for (entry const& e : all) {
        if (done[e.row] || room[e.column] == 0) continue;
        done[e.row] = true;
        --room[e.column];
        sum += e.value;
    }
    return sum;
}

} // namespace

TEST_CASE("in_turn: each row takes the best that is left, as the rows come") {
    assign::assignment_in_turn solver;
    CHECK(columns_of(solver, table_of({{3, 5}, {1, 9}, {4, 4}}, {1, 1})) == columns{1, 0, unassigned});
    CHECK(columns_of(solver, table_of({{3, 5}, {1, 9}, {4, 4}}, {1, 2})) == columns{1, 1, 0});
    CHECK(columns_of(solver, table_of({{0, 5}, {0, 9}}, {7, 1})) == columns{1, unassigned});
    auto const odd = [](std::uint32_t row) { return row % 2 == 1; };
    CHECK(columns_of(solver, table_of({{3, 5}, {1, 9}, {4, 4}}, {1, 1}), odd) ==
          columns{unassigned, 1, unassigned});
}

TEST_CASE("greedy: the best pair first") {
    assign::greedy_assignment solver;
    CHECK(columns_of(solver, table_of({{3, 5}, {1, 9}, {4, 4}}, {1, 1})) == columns{unassigned, 1, 0});
    CHECK(columns_of(solver, table_of({{8, 9}, {1, 8}}, {1, 1})) == columns{1, 0}); // 10; the best is 16
    std::vector<assign::assigned_pair> out;
    auto const t = table_of({{3, 5}, {1, 9}, {4, 4}}, {1, 2});
    solver(t.view(), t.room, out);
    CHECK(out == std::vector<assign::assigned_pair>{{1, 3}, {0, 1}, {2, 4}}); // in the order of their values
}

TEST_CASE("greedy and in_turn: ties go to the larger second, then to the first row and column") {
    pair_table t;
    t.add_row({5, 5, 5}, {0.1, 0.7, 0.7});
    t.add_row({5, 5, 5}, {0.9, 0.8, 0.7});
    t.add_row({5, 5, 5}, {0.9, 0.8, 0.7});
    t.room = {1, 1, 1};
    assign::greedy_assignment greedy;
    std::vector<assign::assigned_pair> out;
    greedy(t.view(), t.room, out);
    CHECK(out == std::vector<assign::assigned_pair>{{1, 3}, {2, 7}, {0, 2}});
    assign::assignment_in_turn in_turn;
    CHECK(columns_of(in_turn, t) == columns{1, 0, 2});
}

TEST_CASE("greedy is what sorting all pairs gives, on random tables") {
    std::uint64_t const seed = seed_or(21);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    assign::greedy_assignment greedy;
    assign::assignment_in_turn in_turn;
    std::vector<assign::assigned_pair> out;
    for (int i = 0; i < 500; ++i) {
        auto const t = random_pairs(engine, engine() % 12, engine() % 12, i % 3 == 0 ? 0 : 1 + engine() % 6);
        greedy(t.view(), t.room, out);
        check_valid(t, out);
        CHECK(t.sum(out) == doctest::Approx(greedy_by_sorting(t)).epsilon(1e-12)); // order of addition
        in_turn(t.view(), t.room, out);
        check_valid(t, out);
    }
}

TEST_CASE("greedy is at least half of the best") {
    std::uint64_t const seed = seed_or(22);
    INFO("seed ", seed);
    std::mt19937_64 engine(seed);
    assign::greedy_assignment greedy;
    std::vector<assign::assigned_pair> out;
    for (int i = 0; i < 300; ++i) {
        auto const t = random_pairs(engine, 1 + engine() % 5, 1 + engine() % 5, 12);
        greedy(t.view(), t.room, out);
        double const best = everything_tried(t).best();
        CHECK(t.sum(out) <= best);
        CHECK(2 * t.sum(out) >= best);
    }
}

TEST_CASE("greedy and in_turn ask about each row once, and leave out for good what is refused") {
    auto const t = table_of({{9, 8}, {7, 0}, {6, 5}}, {1, 1});
    std::vector<std::uint32_t> asked;
    auto const but_the_first = [&](std::uint32_t row) {
        asked.push_back(row);
        return row != 0;
    };
    assign::greedy_assignment greedy;
    CHECK(columns_of(greedy, t, but_the_first) == columns{unassigned, 0, 1});
    CHECK(asked == std::vector<std::uint32_t>{0, 1, 2});
    asked.clear();
    assign::assignment_in_turn in_turn;
    CHECK(columns_of(in_turn, t, but_the_first) == columns{unassigned, 0, 1});
    CHECK(asked == std::vector<std::uint32_t>{0, 1, 2});
}

TEST_CASE("greedy and in_turn: nothing to do") {
    assign::greedy_assignment greedy;
    assign::assignment_in_turn in_turn;
    std::vector<assign::assigned_pair> out{{1, 1}};
    greedy({}, {}, out);
    CHECK(out.empty());
    out = {{1, 1}};
    in_turn({}, {}, out);
    CHECK(out.empty());
    for (auto const& t : {table_of({}, {1}), table_of({{0}, {0}}, {1}), table_of({{5}, {5}}, {0})}) {
        CHECK(columns_of(greedy, t) == columns(t.first.size() - 1));
        CHECK(columns_of(in_turn, t) == columns(t.first.size() - 1));
    }
}

TEST_CASE("solvers do not take what is no table of pairs") {
    contract_trap const trap;
    assign::greedy_assignment greedy;
    std::vector<assign::assigned_pair> out;
    auto const good = table_of({{3, 5}, {1, 9}}, {1, 1});
    auto const broken = [&](auto change) {
        pair_table t = good;
        change(t);
        CHECK_THROWS_AS(greedy(t.view(), t.room, out), broken_contract);
    };
    CHECK_NOTHROW(greedy(good.view(), good.room, out));
    broken([](pair_table& t) { t.room = {1}; });
    broken([](pair_table& t) { t.second.pop_back(); });
    broken([](pair_table& t) { t.value.pop_back(); });
    broken([](pair_table& t) { t.first.back() = 5; });
    broken([](pair_table& t) { t.first[0] = 3; });
    broken([](pair_table& t) { t.first.clear(); });
    broken([](pair_table& t) { t.column[1] = 0; });
    for (double const x : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
        broken([x](pair_table& t) { t.value[2] = x; });
}

TEST_CASE("greedy and in_turn allocate nothing the second time") {
    std::mt19937_64 engine(5);
    auto const t = random_pairs(engine, 40, 60, 9);
    assign::greedy_assignment greedy;
    assign::assignment_in_turn in_turn;
    std::vector<assign::assigned_pair> out;
    greedy(t.view(), t.room, out);
    in_turn(t.view(), t.room, out);
    CHECK(allocations_during([&] {
              greedy(t.view(), t.room, out);
              in_turn(t.view(), t.room, out);
          }) == 0);
}
