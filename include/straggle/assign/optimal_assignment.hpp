// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Assigns rows to columns with the largest possible sum of values: overall, and for any number of rows.
#pragma once

#include <straggle/assign/detail/best_pairs.hpp>
#include <straggle/assign/detail/few_rows.hpp>
#include <straggle/assign/detail/open_places.hpp>
#include <straggle/assign/greedy_assignment.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/no_index.hpp>

#include <algorithm>
#include <cstddef>
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
/// makes the first k the best k. Nothing is examined that cannot beat the best path found: the best pairs of
/// each row come first, and rows are ordered by their upper bound at their last examination, as prices only
/// rise. For the same reason, a list of a row's best pairs at earlier prices bounds both those pairs and all
/// others; the others are postponed until no known path yields as much as they could.
///
/// Ties between pairs are broken as in `greedy_assignment`, and a tie is no reason to move a row; among
/// assignments of the same sum, the same input always gives the same result.
/// @par Cost
/// O(rows (pairs + rows^2) log) at worst; 24 bytes for each of the 128 best pairs of a row, or for a quarter
/// of its pairs if that is more, 136 per row and 48 per column, 16 more per step of the longest search;
/// allocates nothing in the steady state
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
        if (pairs.rows() <= detail::few_rows::most_rows && room.size() <= detail::few_rows::most_columns) {
            detail::expect_pairs(pairs);
            if (few_rows_.solve(pairs, room, out, admit)) return;
        }
        detail::expect_assignable(pairs, room); // also for pairs that few_rows rejected
        prepare(pairs, room, out);
        while (find_best_path(pairs)) {
            std::uint32_t const first = row_at_begin(pairs);
            for (waiting_row const& w : looked_at_)
                if (w.row != first) wait(w);
            looked_at_.clear();
            if (!admit(first)) continue;
            raise_prices();
            move_along(pairs);
            out.push_back({first, none});
        }
        for (assigned_pair& a : out) a.pair = rows_[a.row].pair;
    }

  private:
    using edge = detail::best_pairs::edge;
    static constexpr std::uint32_t none = detail::no_index;
    // The price of a column that never has room.
    static constexpr double no_price = (std::numeric_limits<double>::max)();

    // A row without a column, and the upper bound for a path that starts with it.
    struct waiting_row {
        double at_most;
        double second; // of the pair with that bound
        std::uint32_t row;
    };
    struct row_state {
        double value = 0;                 // of the pair
        std::uint32_t pair = none;        // the pair it has
        std::uint32_t next_holder = none; // of the same column
    };
    struct column_state {
        std::uint32_t room;                            // left
        std::uint32_t via_pair = none, via_row = none; // the last step of the best path
        std::uint32_t holder = none;                   // one of the rows there
        bool is_passed = false;
    };
    static bool brings_less(waiting_row const& a, waiting_row const& b) noexcept {
        if (a.at_most != b.at_most) return a.at_most < b.at_most;
        return a.second != b.second ? a.second < b.second : a.row > b.row;
    }

    void prepare(assignable_pairs const& p, std::span<std::uint32_t const> room,
                 std::vector<assigned_pair>& out) {
        std::size_t const rows = p.rows(), columns = room.size();
        out.clear();
        out.reserve(rows);
        offers_.assign(columns, {});
        columns_.clear();
        columns_.reserve(columns);
        for (std::uint32_t const r : room) columns_.push_back({r});
        reached_.clear();
        reached_.reserve(columns);
        open_.clear();
        open_.reserve(columns);
        waiting_.clear();
        waiting_.reserve(rows);
        looked_at_.clear();
        looked_at_.reserve(rows);
        rows_.assign(rows, {});
        best_pairs_.prepare(p);
        for (std::size_t j = 0; j < columns; ++j) offers_[j].price = room[j] > 0 ? 0 : no_price;
        for (std::uint32_t row = 0; row < rows; ++row) wait(best_of(p, row));
    }

    [[nodiscard]] waiting_row best_of(assignable_pairs const& p, std::uint32_t row) {
        waiting_row best{0, 0, row};
        auto const enough = [&](double at_most) { return at_most < best.at_most; };
        auto const use = [&](edge const& e) {
            double const gain = e.value - offers_[e.column].price;
            if (gain > best.at_most || (gain == best.at_most && p.second[e.pair] > best.second))
                best = {gain, p.second[e.pair], row};
            return false;
        };
        if (best_pairs_.for_best(p, offers_, row, enough, use)) return best;
        if (best_pairs_.renew(p, offers_, row) && best_pairs_.for_best(p, offers_, row, enough, use))
            return best;
        best_pairs_.for_all(p, row, use);
        return best;
    }
    void wait(waiting_row const& row) {
        if (!(row.at_most > 0)) return;
        waiting_.push_back(row);
        std::push_heap(waiting_.begin(), waiting_.end(), brings_less);
    }
    waiting_row next_waiting() {
        std::pop_heap(waiting_.begin(), waiting_.end(), brings_less);
        waiting_row const next = waiting_.back();
        waiting_.pop_back();
        return next;
    }

    // Finds the path with the largest gain from any row; false if none gains anything.
    bool find_best_path(assignable_pairs const& p) {
        forget_path();
        for (;;) {
            bool const is_open = find_best_open();
            bool const look = !waiting_.empty() && may_be_best(p, waiting_.front());
            if (look && (!is_open || waiting_.front().at_most >= open_.best().gain)) {
                looked_at_.push_back(best_of(p, next_waiting().row));
                begin_at(p, looked_at_.back().row);
            } else if (is_open) {
                detail::open_place const best = open_.best();
                open_.close_best();
                if (best.row == none)
                    pass(p, best.column);
                else
                    look_further(p, best.row);
            } else {
                return end_ != none;
            }
        }
    }
    [[nodiscard]] bool may_be_best(assignable_pairs const& p, waiting_row const& w) const {
        if (end_ == none) return true;
        column_state const& end = columns_[end_];
        if (rows_[end.via_row].pair != none) return w.at_most >= found_;
        return brings_less({found_, p.second[end.via_pair], end.via_row}, w);
    }

    void forget_path() {
        for (std::uint32_t const column : reached_) {
            offers_[column].gain = 0;
            columns_[column].is_passed = false;
        }
        reached_.clear();
        open_.clear();
        end_ = none;
        found_ = 0;
        best_pairs_.begin_search();
    }

    // Moves the open place with the largest gain to the front. Drops places that cannot beat the best path
    // found, and columns with a better path, which is open as well.
    bool find_best_open() {
        while (!open_.empty()) {
            detail::open_place const best = open_.best();
            if (!(best.gain > found_)) {
                open_.clear();
                break;
            }
            if (best.row != none ||
                (best.gain == offers_[best.column].gain && !columns_[best.column].is_passed))
                return true;
            open_.close_best();
        }
        return false;
    }

    // A full column: one of its rows could move on.
    void pass(assignable_pairs const& p, std::uint32_t column) {
        columns_[column].is_passed = true;
        for (std::uint32_t row = columns_[column].holder; row != none; row = rows_[row].next_holder)
            move_on(p, row, column);
    }
    void move_on(assignable_pairs const& p, std::uint32_t row, std::uint32_t column) {
        double const so_far = gain_without(row, column);
        if (reach_best(p, row, so_far, [&](double at_most) { return !(so_far + at_most > found_); })) return;
        // The other pairs become relevant only when no known path yields as much, which is rare.
        open_.open({so_far + best_pairs_.rest(row), none, row});
    }
    void look_further(assignable_pairs const& p, std::uint32_t row) {
        std::uint32_t const column = p.column[rows_[row].pair];
        if (best_pairs_.lengthen(p, offers_, row))
            move_on(p, row, column);
        else
            reach_all(p, row, gain_without(row, column));
    }
    // The gain of the path to a column if one of its rows leaves.
    [[nodiscard]] double gain_without(std::uint32_t row, std::uint32_t column) const {
        return offers_[column].gain - (rows_[row].value - offers_[column].price);
    }

    // Starts at a row without a column.
    void begin_at(assignable_pairs const& p, std::uint32_t row) {
        auto const enough = [&](double at_most) { return at_most < found_; };
        if (reach_best(p, row, 0, enough)) return;
        if (end_ == none) {
            // A first path to compare with.
            best_pairs_.for_all(p, row, [&](edge const& e) {
                if (columns_[e.column].room > 0 && e.value >= found_) reach(p, e, row, e.value);
            });
            if (enough(best_pairs_.rest(row))) return;
        }
        if (best_pairs_.renew(p, offers_, row) && reach_best(p, row, 0, enough)) return;
        reach_all(p, row, 0);
    }
    // Calls `reach` for the best pairs.
    // @return as `for_best`
    template <class Enough>
    bool reach_best(assignable_pairs const& p, std::uint32_t row, double so_far, Enough&& enough) {
        return best_pairs_.for_best(p, offers_, row, enough,
                                    [&](edge const& e) { return look_at(p, e, row, so_far) < found_; });
    }
    void reach_all(assignable_pairs const& p, std::uint32_t row, double so_far) {
        best_pairs_.for_all(p, row, [&](edge const& e) { look_at(p, e, row, so_far); });
    }
    double look_at(assignable_pairs const& p, edge const& e, std::uint32_t row, double so_far) {
        detail::column_offer const& o = offers_[e.column];
        double const gain = so_far + (e.value - o.price);
        if (gain >= o.gain && gain >= found_) reach(p, e, row, gain);
        return gain;
    }
    // Requires a path at least as good as the best so far to the column, and as the best found.
    void reach(assignable_pairs const& p, edge const& e, std::uint32_t row, double gain) {
        column_state& c = columns_[e.column];
        double& most = offers_[e.column].gain;
        if (c.room > 0) {
            if (!(gain > found_) && !wins_tie(p, e.pair, row)) return;
            found_ = gain;
            end_ = e.column;
        } else {
            // A passed column could be reached again only by rounding.
            if (!(gain > most) || !(gain > found_) || c.is_passed) return;
            open_.open({gain, e.column, none});
        }
        if (most == 0) reached_.push_back(e.column);
        most = gain;
        c.via_pair = e.pair;
        c.via_row = row;
    }
    // A tie is no reason to move a row.
    [[nodiscard]] bool wins_tie(assignable_pairs const& p, std::uint32_t pair, std::uint32_t row) const {
        if (end_ == none || rows_[row].pair != none) return false;
        std::uint32_t const other = columns_[end_].via_pair;
        if (rows_[columns_[end_].via_row].pair != none) return true;
        return p.second[pair] != p.second[other] ? p.second[pair] > p.second[other] : pair < other;
    }

    [[nodiscard]] std::uint32_t row_at_begin(assignable_pairs const& p) const {
        std::uint32_t row = columns_[end_].via_row;
        while (rows_[row].pair != none) row = columns_[p.column[rows_[row].pair]].via_row;
        return row;
    }

    void raise_prices() {
        for (std::uint32_t const column : reached_)
            if (columns_[column].is_passed && offers_[column].gain > found_)
                offers_[column].price += offers_[column].gain - found_;
    }

    // Every row on the path moves on, the last to a column with room.
    void move_along(assignable_pairs const& p) {
        --columns_[end_].room;
        for (std::uint32_t column = end_;;) {
            column_state& c = columns_[column];
            std::uint32_t const row = c.via_row, before = rows_[row].pair;
            if (before != none) let_go(p.column[before], row);
            rows_[row].pair = c.via_pair;
            rows_[row].value = p.value[c.via_pair];
            rows_[row].next_holder = c.holder;
            c.holder = row;
            if (before == none) return;
            column = p.column[before];
        }
    }
    void let_go(std::uint32_t column, std::uint32_t row) {
        std::uint32_t* at = &columns_[column].holder;
        while (*at != row) at = &rows_[*at].next_holder;
        *at = rows_[row].next_holder;
    }

    detail::few_rows few_rows_; // solves small problems
    detail::best_pairs best_pairs_;
    std::vector<detail::column_offer> offers_; // of columns
    std::vector<column_state> columns_;
    std::vector<row_state> rows_;
    std::vector<waiting_row> waiting_, looked_at_;
    // Of the current path: its gain, the column with room at its end, and the columns reached.
    double found_ = 0;
    std::uint32_t end_ = none;
    std::vector<std::uint32_t> reached_;
    detail::open_places open_; // some of them outdated
};

} // namespace straggle::assign
