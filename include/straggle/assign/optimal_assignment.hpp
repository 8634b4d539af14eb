// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Rows to columns so that the sum of values is the largest possible: of all assignments, and of those of any
/// number of rows.
#pragma once

#include <straggle/assign/greedy_assignment.hpp>
#include <straggle/base/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::assign {

/// The assignment of the largest sum; a row stays without a column where that is better.
///
/// One row after the other gets a column, always the one with which the sum grows most: it takes the column
/// that is best for it, who was there moves on to the next best, and so on until a column has room. A row
/// that has a column keeps having one, though maybe another. So the first k rows are the best k rows, for
/// every k: a limit on their number, kept by `admit`, leaves the best assignment of that size.
///
/// Source: shortest augmenting paths with prices on the columns (Jonker and Volgenant 1987, A shortest
/// augmenting path algorithm for dense and sparse linear assignment problems). Changed: rectangular, with
/// room in columns, pairs missing, rows left out; a path begins at whichever row makes it best, not at a
/// given one, which makes the first k the best k. Nothing is looked at that cannot lead to more than what was
/// found: of each row the best pairs come first, and rows wait by what they could bring at most when they
/// were last looked at, as prices only rise.
///
/// Ties between pairs go as in `greedy_assignment`, and nobody moves for nothing; of several assignments of
/// the same sum the same input always gives the same.
/// @par Cost O(rows (pairs + rows^2)) at worst; 16 bytes per pair, 72 per row and 41 per column; allocates
/// nothing in the steady state
/// @par Accuracy exact where sums of values are, as with whole numbers; else the sum is off by no more than
/// rounding: a few units in the last place of the largest value for each row
/// @par Guarantees deterministic; only allocation can throw, before `admit` is asked anything
class optimal_assignment {
  public:
    static constexpr std::string_view name = "optimal";

    /// Assigns.
    template <class Admit = admit_all>
    void operator()(assignable_pairs const& pairs, std::span<std::uint32_t const> room,
                    std::vector<assigned_pair>& out, Admit&& admit = {}) {
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
        for (assigned_pair& a : out) a.pair = pair_of_[a.row];
    }

  private:
    static constexpr std::uint32_t none = detail::no_place;

    // A row without a column, and what it can bring at best as the begin of a path.
    struct waiting_row {
        double at_most;
        double second; // of the pair that brings so much
        std::uint32_t row;
    };
    struct edge {
        double value;
        std::uint32_t column;
        std::uint32_t pair;
    };
    static bool brings_less(waiting_row const& a, waiting_row const& b) noexcept {
        if (a.at_most != b.at_most) return a.at_most < b.at_most;
        return a.second != b.second ? a.second < b.second : a.row > b.row;
    }

    void prepare(assignable_pairs const& p, std::span<std::uint32_t const> room,
                 std::vector<assigned_pair>& out) {
        detail::expect_assignable(p, room);
        std::size_t const rows = p.rows(), columns = room.size();
        out.clear();
        out.reserve(rows);
        room_.assign(room.begin(), room.end());
        price_.assign(columns, 0.0);
        gain_.assign(columns, 0.0);
        via_pair_.assign(columns, none);
        via_row_.assign(columns, none);
        is_passed_.assign(columns, false);
        holder_.assign(columns, none);
        for (auto* list : {&open_, &passed_}) {
            list->clear();
            list->reserve(columns);
        }
        next_holder_.assign(rows, none);
        pair_of_.assign(rows, none);
        waiting_.clear();
        waiting_.reserve(rows);
        looked_at_.clear();
        looked_at_.reserve(rows);
        edges_.clear();
        edges_.reserve(p.column.size());
        begin_.assign(1, 0);
        sorted_.clear();
        for (std::uint32_t row = 0; row < rows; ++row) {
            for (std::uint32_t i = p.first[row]; i < p.first[row + 1]; ++i)
                if (room[p.column[i]] > 0) edges_.push_back({p.value[i], p.column[i], i});
            sorted_.push_back(begin_.back());
            begin_.push_back(edges_.size());
        }
        for (std::uint32_t row = 0; row < rows; ++row) wait(best_of(p, row));
    }

    // Calls `use` for the pairs of a row, the best first, as long as it wants more. They are sorted as far as
    // somebody has looked. More of them than there are rows are of no use: one of so many has room.
    template <class Use>
    void for_best_edges(assignable_pairs const& p, std::uint32_t row, Use&& use) {
        std::size_t const begin = begin_[row], end = (std::min)(begin_[row + 1], begin + p.rows());
        for (std::size_t i = begin; i < end; ++i) {
            if (i == sorted_[row]) sort_more(p, row, end);
            if (!use(edges_[i])) return;
        }
    }
    void sort_more(assignable_pairs const& p, std::uint32_t row, std::size_t end) {
        auto const better = [&p](edge const& a, edge const& b) {
            return detail::is_better_pair(p, a.pair, b.pair);
        };
        std::size_t const from = sorted_[row], as_many = (std::max)(from - begin_[row], std::size_t{16});
        std::size_t const to = (std::min)(from + as_many, end);
        auto const at = [this](std::size_t i) { return edges_.begin() + static_cast<std::ptrdiff_t>(i); };
        if (to < begin_[row + 1]) std::nth_element(at(from), at(to), at(begin_[row + 1]), better);
        std::sort(at(from), at(to), better);
        sorted_[row] = to;
    }

    [[nodiscard]] waiting_row best_of(assignable_pairs const& p, std::uint32_t row) {
        waiting_row best{0, 0, row};
        for_best_edges(p, row, [&](edge const& e) {
            if (e.value < best.at_most) return false; // and so do all that follow
            double const gain = e.value - price_[e.column];
            if (gain > best.at_most || (gain == best.at_most && p.second[e.pair] > best.second))
                best = {gain, p.second[e.pair], row};
            return true;
        });
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

    // The path that adds most, whichever row it begins at; false if none adds anything.
    bool find_best_path(assignable_pairs const& p) {
        forget_path();
        for (;;) {
            std::uint32_t const column = best_to_pass();
            bool const look = !waiting_.empty() && may_be_best(p, waiting_.front());
            if (look && (column == none || waiting_.front().at_most >= gain_[column])) {
                looked_at_.push_back(best_of(p, next_waiting().row));
                reach_from(p, looked_at_.back().row, 0);
            } else if (column != none) {
                pass(p, column);
            } else {
                return end_ != none;
            }
        }
    }
    [[nodiscard]] bool may_be_best(assignable_pairs const& p, waiting_row const& w) const {
        if (end_ == none) return true;
        if (pair_of_[via_row_[end_]] != none) return w.at_most >= found_;
        return brings_less({found_, p.second[via_pair_[end_]], via_row_[end_]}, w);
    }

    void forget_path() {
        std::fill(gain_.begin(), gain_.end(), 0.0);
        for (std::uint32_t const column : passed_) is_passed_[column] = false;
        open_.clear();
        passed_.clear();
        end_ = none;
        found_ = 0;
    }

    // The open column of the largest gain. Those that can lead to no more than was found are open no longer.
    [[nodiscard]] std::uint32_t best_to_pass() {
        std::uint32_t best = none;
        double most = found_;
        std::size_t kept = 0;
        for (std::uint32_t const column : open_) {
            double const gain = gain_[column];
            if (!(gain > found_)) {
                gain_[column] = 0;
                continue;
            }
            if (gain > most) {
                best = column;
                most = gain;
            }
            open_[kept++] = column;
        }
        open_.resize(kept);
        return best;
    }

    // A full column: whoever is there could move on.
    void pass(assignable_pairs const& p, std::uint32_t column) {
        is_passed_[column] = true;
        passed_.push_back(column);
        open_.erase(std::find(open_.begin(), open_.end(), column));
        for (std::uint32_t row = holder_[column]; row != none; row = next_holder_[row])
            reach_from(p, row, gain_without(p, row, column));
    }
    // Of the path to a column, if one of those there goes.
    [[nodiscard]] double gain_without(assignable_pairs const& p, std::uint32_t row,
                                      std::uint32_t column) const {
        return gain_[column] - (p.value[pair_of_[row]] - price_[column]);
    }

    void reach_from(assignable_pairs const& p, std::uint32_t row, double so_far) {
        for_best_edges(p, row, [&](edge const& e) {
            if (so_far + e.value < found_) return false; // and so do all that follow
            double const gain = so_far + (e.value - price_[e.column]);
            if (gain >= gain_[e.column] && gain >= found_) reach(p, e, row, gain);
            return true;
        });
    }
    // By a path that adds no less than the best so far to the column, and than what was found.
    void reach(assignable_pairs const& p, edge const& e, std::uint32_t row, double gain) {
        std::uint32_t const column = e.column;
        if (room_[column] > 0) {
            if (!(gain > found_) && !wins_tie(p, e.pair, row)) return;
            found_ = gain;
            end_ = column;
        } else {
            // A column that was passed could be reached again by rounding only.
            if (!(gain > gain_[column]) || !(gain > found_) || is_passed_[column]) return;
            if (gain_[column] == 0) open_.push_back(column);
        }
        gain_[column] = gain;
        via_pair_[column] = e.pair;
        via_row_[column] = row;
    }
    // Nobody moves for nothing.
    [[nodiscard]] bool wins_tie(assignable_pairs const& p, std::uint32_t pair, std::uint32_t row) const {
        if (end_ == none || pair_of_[row] != none) return false;
        std::uint32_t const other = via_pair_[end_];
        if (pair_of_[via_row_[end_]] != none) return true;
        return p.second[pair] != p.second[other] ? p.second[pair] > p.second[other] : pair < other;
    }

    [[nodiscard]] std::uint32_t row_at_begin(assignable_pairs const& p) const {
        std::uint32_t row = via_row_[end_];
        while (pair_of_[row] != none) row = via_row_[p.column[pair_of_[row]]];
        return row;
    }

    void raise_prices() {
        for (std::uint32_t const column : passed_)
            if (gain_[column] > found_) price_[column] += gain_[column] - found_;
    }

    // Everybody on the path moves on, the last to a column with room.
    void move_along(assignable_pairs const& p) {
        --room_[end_];
        for (std::uint32_t column = end_;;) {
            std::uint32_t const row = via_row_[column], before = pair_of_[row];
            if (before != none) let_go(p.column[before], row);
            pair_of_[row] = via_pair_[column];
            next_holder_[row] = holder_[column];
            holder_[column] = row;
            if (before == none) return;
            column = p.column[before];
        }
    }
    void let_go(std::uint32_t column, std::uint32_t row) {
        std::uint32_t* at = &holder_[column];
        while (*at != row) at = &next_holder_[*at];
        *at = next_holder_[row];
    }

    // Of columns.
    std::vector<std::uint32_t> room_;               // left
    std::vector<double> price_;                     // what a path has to bring to end in a full column
    std::vector<double> gain_;                      // of the best path to it; 0 for none
    std::vector<std::uint32_t> via_pair_, via_row_; // its last step
    std::vector<std::uint32_t> holder_;             // one of the rows there; next_holder_ goes on from it
    std::vector<std::uint32_t> open_;               // full, reached, and not passed
    std::vector<std::uint32_t> passed_;
    std::vector<bool> is_passed_;
    // Of rows.
    std::vector<edge> edges_; // row by row
    std::vector<std::size_t> begin_, sorted_;
    std::vector<std::uint32_t> next_holder_;
    std::vector<std::uint32_t> pair_of_;
    std::vector<waiting_row> waiting_, looked_at_;
    // Of the path that is looked for: what it adds, and the column with room at its end.
    double found_ = 0;
    std::uint32_t end_ = none;
};

} // namespace straggle::assign
