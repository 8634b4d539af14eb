// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Pairs to assign, the best that can be done with them by trying everything, and what must be true of any
/// assignment.
#pragma once

#include <straggle/assign/greedy_assignment.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace straggle_test {

/// Owns what `assignable_pairs` looks at; rows by rows of values, 0 for a pair that is missing.
struct pair_table {
    std::vector<std::uint32_t> first{0}, column, room;
    std::vector<double> value, second;

    void add_row(std::vector<double> const& values, std::vector<double> const& seconds = {}) {
        for (std::uint32_t c = 0; c < values.size(); ++c) {
            if (!(values[c] > 0)) continue;
            column.push_back(c);
            value.push_back(values[c]);
            second.push_back(seconds.empty() ? 0.5 : seconds[c]);
        }
        first.push_back(static_cast<std::uint32_t>(column.size()));
    }
    [[nodiscard]] straggle::assign::assignable_pairs view() const { return {first, column, value, second}; }
    [[nodiscard]] double sum(std::vector<straggle::assign::assigned_pair> const& assigned) const {
        double total = 0;
        for (auto const& a : assigned) total += value[a.pair];
        return total;
    }
};

inline pair_table table_of(std::vector<std::vector<double>> const& rows, std::vector<std::uint32_t> room) {
    pair_table t;
    for (auto const& row : rows) t.add_row(row);
    t.room = std::move(room);
    return t;
}

/// Whole numbers up to `most`, or reals where it is 0; some missing, some columns without room.
template <class Engine>
pair_table random_pairs(Engine& engine, std::size_t rows, std::size_t columns, std::uint64_t most,
                        std::uint64_t most_room = 2) {
    pair_table t;
    for (std::size_t r = 0; r < rows; ++r) {
        std::vector<double> values;
        for (std::size_t c = 0; c < columns; ++c) {
            double const x = most > 0 ? static_cast<double>(1 + engine() % most)
                                      : static_cast<double>(engine() >> 11) * 0x1p-53;
            values.push_back(engine() % 4 == 0 ? 0 : x);
        }
        t.add_row(values);
    }
    for (std::size_t c = 0; c < columns; ++c)
        t.room.push_back(static_cast<std::uint32_t>(engine() % (most_room + 1)));
    return t;
}

/// The largest sum of at most k pairs, for every k up to the number of rows, by trying everything.
class everything_tried {
  public:
    explicit everything_tried(pair_table const& t) : t_(t), room_(t.room), best_(t.first.size(), 0.0) {
        go(0, 0, 0);
        for (std::size_t k = 1; k < best_.size(); ++k) best_[k] = (std::max)(best_[k], best_[k - 1]);
    }
    [[nodiscard]] double best(std::size_t most) const { return best_[(std::min)(most, best_.size() - 1)]; }
    [[nodiscard]] double best() const { return best_.back(); }

  private:
    void go(std::uint32_t row, std::size_t pairs, double sum) {
        if (row + 1 == t_.first.size()) {
            best_[pairs] = (std::max)(best_[pairs], sum);
            return;
        }
        go(row + 1, pairs, sum);
        for (std::uint32_t i = t_.first[row]; i < t_.first[row + 1]; ++i) {
            std::uint32_t& room = room_[t_.column[i]];
            if (room == 0) continue;
            --room;
            go(row + 1, pairs + 1, sum + t_.value[i]);
            ++room;
        }
    }
    pair_table const& t_;
    std::vector<std::uint32_t> room_;
    std::vector<double> best_;
};

/// No row twice, no column beyond its room, and every pair is one of its row.
inline void check_valid(pair_table const& t, std::vector<straggle::assign::assigned_pair> const& assigned) {
    std::vector<std::uint32_t> room = t.room;
    std::vector<bool> seen(t.first.size(), false);
    for (auto const& a : assigned) {
        REQUIRE(a.row + 1 < t.first.size());
        CHECK_FALSE(seen[a.row]);
        seen[a.row] = true;
        REQUIRE((a.pair >= t.first[a.row] && a.pair < t.first[a.row + 1]));
        REQUIRE(room[t.column[a.pair]] > 0);
        --room[t.column[a.pair]];
    }
}

/// Solvers are asked for the column of each row; nothing where it has none.
template <class Solver, class... Admit>
std::vector<std::optional<std::uint32_t>> columns_of(Solver& solver, pair_table const& t, Admit... admit) {
    std::vector<straggle::assign::assigned_pair> out;
    solver(t.view(), t.room, out, admit...);
    check_valid(t, out);
    std::vector<std::optional<std::uint32_t>> columns(t.first.size() - 1);
    for (auto const& a : out) columns[a.row] = t.column[a.pair];
    return columns;
}
using columns = std::vector<std::optional<std::uint32_t>>;
inline constexpr std::nullopt_t unassigned = std::nullopt;

} // namespace straggle_test
