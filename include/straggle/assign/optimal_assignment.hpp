// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Rows to columns so that the sum of values is the largest possible: of all assignments, and of those of any
/// number of rows.
#pragma once

#include <straggle/assign/detail/few_rows.hpp>
#include <straggle/assign/greedy_assignment.hpp>
#include <straggle/base/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
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
/// were last looked at, as prices only rise. For the same reason a list of a row's best pairs, reckoned with
/// the prices of some time, bounds what they and all others bring ever after; it is reckoned anew when it has
/// cost as much as that by being out of date.
///
/// Ties between pairs go as in `greedy_assignment`, and nobody moves for nothing; of several assignments of
/// the same sum the same input always gives the same.
/// @par Cost
/// O(rows (pairs + rows^2) log) at worst; 24 bytes for each of the 128 best pairs of a row, or for a quarter
/// of its pairs if those are more, 104 per row and 48 per column, 16 more per step of the longest search;
/// allocates nothing in the steady state
/// @par Accuracy
/// exact where sums of values are, as with whole numbers; else the sum is off by no more than
/// rounding: a few units in the last place of the largest value for each row
/// @par Guarantees
/// deterministic; only allocation can throw, before `admit` is asked anything
template <class Void = void>
class basic_optimal_assignment {
  public:
    static constexpr std::string_view name = "optimal";

    /// Assigns.
    template <class Admit = admit_all>
    void operator()(assignable_pairs const& pairs, std::span<std::uint32_t const> room,
                    std::vector<assigned_pair>& out, Admit&& admit = {}) {
        detail::expect_assignable(pairs, room);
        if (pairs.rows() <= detail::basic_few_rows<Void>::most_rows &&
            room.size() <= detail::basic_few_rows<Void>::most_columns)
            return few_rows_.solve(pairs, room, out, admit);
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
    static constexpr std::uint32_t none = detail::no_place;
    // Pairs of a row that are worth a list. As few are looked at one and all.
    static constexpr std::uint32_t few = 12, list_length = 64;
    static constexpr std::uint32_t must_list = none / 2;
    // The price of a column that never has room.
    static constexpr double no_price = (std::numeric_limits<double>::max)();

    // A row without a column, and what it can bring at best as the begin of a path.
    struct waiting_row {
        double at_most;
        double second; // of the pair that brings so much
        std::uint32_t row;
    };
    struct edge {
        double at_most; // the value, less the price of the column at some time
        double value;
        std::uint32_t column;
        std::uint32_t pair;
    };
    struct row_state {
        std::size_t begin;                // of its list
        std::uint32_t capacity;           // of the list; 0 where pairs are few
        std::uint32_t wanted;             // as many as that
        std::uint32_t listed = 0;         // the best pairs, the best first
        std::uint32_t stale = must_list;  // looks at pairs whose prices had risen
        double rest = 0;                  // what the others can bring at most
        std::uint32_t pair = none;        // it has
        std::uint32_t next_holder = none; // of the same column
    };
    struct offer {
        double price = 0; // what a path has to bring to end in a full column
        double gain = 0;  // of the best path to it; 0 for none
    };
    struct column_state {
        std::uint32_t room;                            // left
        std::uint32_t via_pair = none, via_row = none; // the last step of the best path
        std::uint32_t holder = none;                   // one of the rows there
        bool is_passed = false;
    };
    struct open_column {
        double gain;
        std::uint32_t column;
    };
    static bool brings_less(waiting_row const& a, waiting_row const& b) noexcept {
        if (a.at_most != b.at_most) return a.at_most < b.at_most;
        return a.second != b.second ? a.second < b.second : a.row > b.row;
    }
    static bool leads_to_less(open_column const& a, open_column const& b) noexcept {
        return a.gain != b.gain ? a.gain < b.gain : a.column > b.column;
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
        rows_.clear();
        rows_.reserve(rows);
        for (std::size_t j = 0; j < columns; ++j) offers_[j].price = room[j] > 0 ? 0 : no_price;
        std::size_t begin = 0;
        std::uint32_t most = 0;
        for (std::size_t row = 0; row < rows; ++row) {
            std::uint32_t const pairs = p.first[row + 1] - p.first[row];
            most = (std::max)(most, pairs);
            // Twice what is wanted, and a quarter at least: equal pairs are listed all or not at all.
            std::uint32_t const capacity =
                pairs > few ? (std::min)(pairs, (std::max)(pairs / 4, 2 * list_length)) : 0;
            rows_.push_back({begin, capacity, (std::min)(capacity, list_length)});
            begin += capacity;
        }
        if (edges_.size() < begin) edges_.resize(begin);
        if (brings_.size() < most) brings_.resize(most);
        for (std::uint32_t row = 0; row < rows; ++row) wait(best_of(p, row));
    }

    // Calls `use` for the pairs of a row: for all of a few, else the best first until `enough` says of what
    // one could bring at most, before anything is added, that the rest is of no use. As long as those that
    // are listed do, nobody looks at the others, whose memory is far away. More of them than there are rows
    // are of no use: one of so many has room, and has had no other price than 0.
    template <class Enough, class Use>
    void for_best_edges(assignable_pairs const& p, std::uint32_t row, Enough&& enough, Use&& use) {
        row_state& r = rows_[row];
        if (r.capacity > 0) {
            if (r.stale > (p.first[row + 1] - p.first[row]) / 2) list_best(p, row);
            for (edge const *e = edges_.data() + r.begin, *const end = e + r.listed; e != end; ++e) {
                if (enough(e->at_most)) return;
                use(*e);
            }
            if (r.listed >= p.rows() || enough(r.rest)) return;
            if (r.pair != none && r.wanted < r.capacity) { // it was too short, and is so next time
                r.wanted = (std::min)(2 * r.wanted, r.capacity);
                r.stale = must_list;
            }
        }
        for (std::uint32_t i = p.first[row]; i < p.first[row + 1]; ++i)
            use(edge{0, p.value[i], p.column[i], i});
    }
    // The best pairs at the prices of today: as many as are wanted, about, for the least is the one of a
    // sample. To find the very number takes three times as long.
    void list_best(assignable_pairs const& p, std::uint32_t row) {
        row_state& r = rows_[row];
        std::uint32_t const begin = p.first[row], count = p.first[row + 1] - begin;
        for (std::uint32_t i = 0; i < count; ++i)
            brings_[i] = p.value[begin + i] - offers_[p.column[begin + i]].price;
        constexpr std::uint32_t drawn = 64;
        double sample[drawn];
        for (std::uint32_t i = 0; i < drawn; ++i)
            sample[i] = brings_[static_cast<std::size_t>(count) * i / drawn];
        std::size_t const place = (std::min)(std::size_t{drawn} * r.wanted / count, std::size_t{drawn - 1});
        std::nth_element(sample, sample + place, sample + drawn, [](double a, double b) { return a > b; });
        r.rest = sample[place];
        r.listed = r.stale = 0;
        edge* const listed = edges_.data() + r.begin;
        for (std::uint32_t i = 0; i < count; ++i) {
            if (brings_[i] < r.rest) continue;
            if (r.listed == r.capacity) { // too many: the better half of them
                std::uint32_t const half = r.capacity / 2;
                std::nth_element(listed, listed + half, listed + r.listed,
                                 [](edge const& a, edge const& b) { return a.at_most > b.at_most; });
                r.rest = listed[half].at_most;
                r.listed = half;
                if (brings_[i] < r.rest) continue;
            }
            listed[r.listed++] = {brings_[i], p.value[begin + i], p.column[begin + i], begin + i};
        }
        std::sort(listed, listed + r.listed, [&p](edge const& a, edge const& b) {
            if (a.at_most != b.at_most) return a.at_most > b.at_most;
            if (p.second[a.pair] != p.second[b.pair]) return p.second[a.pair] > p.second[b.pair];
            return a.pair < b.pair;
        });
    }

    [[nodiscard]] waiting_row best_of(assignable_pairs const& p, std::uint32_t row) {
        waiting_row best{0, 0, row};
        for_best_edges(
            p, row, [&](double at_most) { return at_most < best.at_most; },
            [&](edge const& e) {
                double const gain = e.value - offers_[e.column].price;
                if (gain > best.at_most || (gain == best.at_most && p.second[e.pair] > best.second))
                    best = {gain, p.second[e.pair], row};
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
            if (look && (column == none || waiting_.front().at_most >= offers_[column].gain)) {
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
    }

    // The open column of the largest gain. Those that can lead to no more than was found are open no longer,
    // nor are they where a better path to them was found, which is open as well.
    [[nodiscard]] std::uint32_t best_to_pass() {
        while (!open_.empty()) {
            open_column const best = open_.front();
            if (!(best.gain > found_)) {
                open_.clear();
                break;
            }
            if (best.gain == offers_[best.column].gain && !columns_[best.column].is_passed)
                return best.column;
            std::pop_heap(open_.begin(), open_.end(), leads_to_less);
            open_.pop_back();
        }
        return none;
    }

    // A full column: whoever is there could move on.
    void pass(assignable_pairs const& p, std::uint32_t column) {
        columns_[column].is_passed = true;
        std::pop_heap(open_.begin(), open_.end(), leads_to_less);
        open_.pop_back();
        for (std::uint32_t row = columns_[column].holder; row != none; row = rows_[row].next_holder)
            reach_from(p, row, gain_without(p, row, column));
    }
    // Of the path to a column, if one of those there goes.
    [[nodiscard]] double gain_without(assignable_pairs const& p, std::uint32_t row,
                                      std::uint32_t column) const {
        return offers_[column].gain - (p.value[rows_[row].pair] - offers_[column].price);
    }

    void reach_from(assignable_pairs const& p, std::uint32_t row, double so_far) {
        std::uint32_t stale = 0;
        for_best_edges(
            p, row, [&](double at_most) { return so_far + at_most < found_; },
            [&](edge const& e) {
                offer const& o = offers_[e.column];
                double const gain = so_far + (e.value - o.price);
                stale += gain < found_ ? 1u : 0u;
                if (gain >= o.gain && gain >= found_) reach(p, e, row, gain);
            });
        rows_[row].stale += stale;
    }
    // By a path that adds no less than the best so far to the column, and than what was found.
    void reach(assignable_pairs const& p, edge const& e, std::uint32_t row, double gain) {
        column_state& c = columns_[e.column];
        double& most = offers_[e.column].gain;
        if (c.room > 0) {
            if (!(gain > found_) && !wins_tie(p, e.pair, row)) return;
            found_ = gain;
            end_ = e.column;
        } else {
            // A column that was passed could be reached again by rounding only.
            if (!(gain > most) || !(gain > found_) || c.is_passed) return;
            open_.push_back({gain, e.column});
            std::push_heap(open_.begin(), open_.end(), leads_to_less);
        }
        if (most == 0) reached_.push_back(e.column);
        most = gain;
        c.via_pair = e.pair;
        c.via_row = row;
    }
    // Nobody moves for nothing.
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

    // Everybody on the path moves on, the last to a column with room.
    void move_along(assignable_pairs const& p) {
        --columns_[end_].room;
        for (std::uint32_t column = end_;;) {
            column_state& c = columns_[column];
            std::uint32_t const row = c.via_row, before = rows_[row].pair;
            if (before != none) let_go(p.column[before], row);
            rows_[row].pair = c.via_pair;
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

    detail::basic_few_rows<Void> few_rows_; // solves what is small
    std::vector<offer> offers_;             // of columns: what every look at a pair needs
    std::vector<column_state> columns_;
    std::vector<row_state> rows_;
    std::vector<edge> edges_;    // listed, row by row
    std::vector<double> brings_; // of the pairs of a row
    std::vector<waiting_row> waiting_, looked_at_;
    // Of the path that is looked for: what it adds, the column with room at its end, and what was reached.
    double found_ = 0;
    std::uint32_t end_ = none;
    std::vector<std::uint32_t> reached_;
    std::vector<open_column> open_; // full columns to pass, a heap, some of them out of date
};

/// A `basic_optimal_assignment` that is instantiated where it is used.
using optimal_assignment = basic_optimal_assignment<>;

} // namespace straggle::assign
