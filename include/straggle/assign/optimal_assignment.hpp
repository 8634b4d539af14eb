// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Assigns rows to columns with the largest possible sum of values: overall, and for any number of rows.
#pragma once

#include <straggle/assign/greedy_assignment.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/no_index.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::assign {

/// The assignment with the largest sum; a row stays without a column if that is better.
///
/// Rows get columns one at a time, always the row that increases the sum most: it takes its best column, the
/// displaced row takes its next-best column, and so on until a column has room. A row that has a column keeps
/// one, though possibly a different one. So the first k rows are the best k rows, for every k: a limit on
/// their number, enforced by `admit`, leaves the best assignment of that size.
///
/// Source: shortest augmenting paths with prices on the columns (Jonker and Volgenant 1987, A shortest
/// augmenting path algorithm for dense and sparse linear assignment problems). Changed: rectangular, with
/// room in columns, missing pairs, and rows left out; a path starts at whichever row makes it best, which
/// makes the first k the best k.
///
/// Ties between pairs are broken as in `greedy_assignment`, and a tie is no reason to move a row; among
/// assignments of the same sum, the same input always gives the same result.
/// @par Cost
/// O(assigned rows (pairs + rows^2 + columns^2)) at worst; 13 bytes per row and 40 per column; allocates
/// nothing in the steady state
/// @par Accuracy
/// exact if sums of values are, as with whole numbers; otherwise the sum is off by rounding only: a few units
/// in the last place of the largest value for each row
/// @par Guarantees
/// deterministic; only allocation can throw, before `admit` is asked anything
class optimal_assignment {
  public:
    static constexpr std::string_view name = "optimal";

    /// Assigns.
    template <class Admit = admit_all>
    void operator()(assignable_pairs const& pairs, std::span<std::uint32_t const> room,
                    std::vector<assigned_pair>& out, Admit&& admit = {}) {
        detail::expect_assignable(pairs, room);
        out.clear();
        out.reserve(pairs.rows());
        pair_of_.assign(pairs.rows(), none);
        at_most_.assign(pairs.rows(), no_price);
        is_read_.assign(pairs.rows(), false);
        columns_.clear();
        columns_.reserve(room.size());
        for (std::uint32_t const r : room) columns_.push_back({.room = r, .price = r > 0 ? 0 : no_price});
        for (;;) {
            std::uint32_t const end = find_best_path(pairs);
            if (end == none) break;
            std::uint32_t const first = row_at_begin(pairs, end);
            if (!admit(first)) {
                at_most_[first] = 0;
                continue;
            }
            raise_prices(columns_[end].gain);
            move_along(pairs, end);
            out.push_back({first, none});
        }
        for (assigned_pair& a : out) a.pair = pair_of_[a.row];
    }

  private:
    static constexpr std::uint32_t none = detail::no_index;
    // The price of a column that never has room.
    static constexpr double no_price = (std::numeric_limits<double>::max)();

    struct column_state {
        std::uint32_t room;                    // left
        double price;                          // what a path must yield to end in a full column
        double gain = 0;                       // of the best path to it; 0: none
        std::uint32_t row = none, pair = none; // the last step of that path
        bool is_passed = false;                // what its rows could do instead is known
    };

    // Finds the path with the largest gain from any row.
    // @return the column with room at its end; `none` if no path gains anything
    std::uint32_t find_best_path(assignable_pairs const& p) {
        for (column_state& c : columns_) {
            c.gain = 0;
            c.is_passed = false;
        }
        found_ = 0;
        is_read_.assign(p.rows(), false);
        // Prices only rise: a row gains at most what it did when it was last read.
        for (;;) {
            std::uint32_t next = none;
            for (std::uint32_t row = 0; row < p.rows(); ++row)
                if (pair_of_[row] == none && !is_read_[row] && at_most_[row] > 0 &&
                    (next == none || at_most_[row] > at_most_[next]))
                    next = row;
            if (next == none || at_most_[next] < found_) break;
            at_most_[next] = reach_from(p, next, 0);
            is_read_[next] = true;
        }
        for (;;) {
            std::uint32_t best = none;
            for (std::uint32_t c = 0; c < columns_.size(); ++c)
                if (columns_[c].gain > 0 && !columns_[c].is_passed && (best == none || is_better(p, c, best)))
                    best = c;
            if (best == none || columns_[best].room > 0) return best;
            // A full column: one of its rows could move on.
            column_state& full = columns_[best];
            full.is_passed = true;
            for (std::uint32_t row = 0; row < p.rows(); ++row)
                if (pair_of_[row] != none && p.column[pair_of_[row]] == best)
                    reach_from(p, row, full.gain - (p.value[pair_of_[row]] - full.price));
        }
    }
    // @param so_far the gain of the path to the row
    // @return the largest gain from there
    double reach_from(assignable_pairs const& p, std::uint32_t row, double so_far) {
        double most = 0;
        for (std::uint32_t i = p.first[row]; i < p.first[row + 1]; ++i) {
            column_state& c = columns_[p.column[i]];
            double const gain = so_far + (p.value[i] - c.price);
            most = gain > most ? gain : most;
            // A passed column could be reached again only by rounding.
            if (!(gain > 0) || gain < found_ || gain < c.gain || c.is_passed) continue;
            if (gain == c.gain && (pair_of_[row] != none || !is_better_pair(p, i, c.pair))) continue;
            c.gain = gain;
            c.row = row;
            c.pair = i;
            if (c.room > 0) found_ = gain;
        }
        return most;
    }
    [[nodiscard]] static bool is_better_pair(assignable_pairs const& p, std::uint32_t a, std::uint32_t b) {
        return p.second[a] != p.second[b] ? p.second[a] > p.second[b] : a < b;
    }
    // A tie is no reason to move a row.
    [[nodiscard]] bool is_better(assignable_pairs const& p, std::uint32_t a, std::uint32_t b) const {
        column_state const &x = columns_[a], &y = columns_[b];
        if (x.gain != y.gain) return x.gain > y.gain;
        if ((x.room > 0) != (y.room > 0)) return x.room > 0;
        bool const x_moves = pair_of_[x.row] != none, y_moves = pair_of_[y.row] != none;
        if (x_moves != y_moves) return y_moves;
        return is_better_pair(p, x.pair, y.pair);
    }

    [[nodiscard]] std::uint32_t row_at_begin(assignable_pairs const& p, std::uint32_t end) const {
        std::uint32_t row = columns_[end].row;
        while (pair_of_[row] != none) row = columns_[p.column[pair_of_[row]]].row;
        return row;
    }
    void raise_prices(double found) {
        for (column_state& c : columns_)
            if (c.is_passed && c.gain > found) c.price += c.gain - found;
    }
    // Every row on the path moves on, the last to a column with room.
    void move_along(assignable_pairs const& p, std::uint32_t end) {
        --columns_[end].room;
        for (std::uint32_t column = end;;) {
            column_state const& c = columns_[column];
            std::uint32_t const before = pair_of_[c.row];
            pair_of_[c.row] = c.pair;
            if (before == none) return;
            column = p.column[before];
        }
    }

    std::vector<column_state> columns_;
    std::vector<std::uint32_t> pair_of_; // of each row
    std::vector<double> at_most_;        // what a path from each row gains; 0 for a refused one
    std::vector<bool> is_read_;          // rows, for the current path
    double found_ = 0;                   // the largest gain of a path that ends where there is room
};

} // namespace straggle::assign
