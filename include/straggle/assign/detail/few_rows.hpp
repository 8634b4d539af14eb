// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `assign/optimal_assignment.hpp`: the same paths for few rows and columns, in a full table.
/// Scans whole rows, several columns at once and without branches: a branch on a value is mispredicted half
/// of the time, which costs as much as twenty columns. For the same reason, scans look only for values;
/// positions are looked up once they are needed.
#pragma once

#include <straggle/assign/greedy_assignment.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/no_index.hpp>
#include <straggle/base/simd.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

class few_rows {
  public:
    static constexpr std::size_t most_rows = 64, most_columns = 256;

    // Like optimal_assignment; false if pairs violate a contract.
    template <class Admit>
    [[nodiscard]] bool solve(assign::assignable_pairs const& p, std::span<std::uint32_t const> room,
                             std::vector<assign::assigned_pair>& out, Admit& admit) {
        if (!prepare(p, room, out)) return false;
        std::size_t assigned = 0;
        while (find_best_path()) {
            std::uint32_t const first = row_at_begin(p);
            wait_no_longer(first);
            if (!admit(first)) continue;
            raise_prices();
            move_along();
            out[assigned++] = {first, no_index};
        }
        out.resize(assigned);
        for (assign::assigned_pair& a : out) a.pair = pair_of(p, a.row, column_of_[a.row]);
        return true;
    }

  private:
    static constexpr double missing = std::numeric_limits<double>::lowest();
    static constexpr double passed = (std::numeric_limits<double>::max)();
    static constexpr double from_waiting = -1; // instead of a row: the best waiting row
    using lanes = simd::short_lanes;
    using lane_mask = simd::short_mask;
    static constexpr std::size_t step = sizeof(lanes) / sizeof(double);

    // Builds the table; false, before any visible output, if a contract is violated.
    [[nodiscard]] bool prepare(assign::assignable_pairs const& p, std::span<std::uint32_t const> room,
                               std::vector<assign::assigned_pair>& out) {
        std::size_t const rows = p.rows();
        width_ = (room.size() + step - 1) / step * step;
        if (values_.size() < rows * width_) values_.resize(rows * width_);
        for (std::size_t j = 0; j < width_; ++j) {
            room_[j] = j < room.size() ? room[j] : 0;
            has_room_[j] = room_[j] > 0 ? ~std::uint64_t{0} : 0;
            is_open_[j] = 0;
            price_[j] = 0;
            holder_[j] = no_index;
        }
        waiting_count_ = 0;
        knows_most_second_ = false;
        for (std::uint32_t row = 0; row < rows; ++row) {
            column_of_[row] = next_holder_[row] = no_index;
            if (p.first[row] == p.first[row + 1]) continue;
            if (!lay_out(p, row, room.size())) return false;
            waiting_[waiting_count_++] = row;
        }
        out.resize(rows);
        find_most_waiting();
        return true;
    }

    // The values of a row with pairs; false if they violate a contract.
    [[nodiscard]] bool lay_out(assign::assignable_pairs const& p, std::uint32_t row,
                               std::size_t columns) noexcept {
        std::size_t const begin = p.first[row], end = p.first[row + 1];
        double* const values = &values_[row * width_];
        if (end - begin != columns || end > p.column.size()) {
            if (!is_row_assignable(p, row, columns)) return false;
            std::fill_n(values, width_, missing);
            for (std::size_t i = begin; i < end; ++i) values[p.column[i]] = p.value[i];
            return true;
        }
        // All columns in order: each pair's index is its column.
        std::uint32_t const* const column = p.column.data() + begin;
        double const* const value = p.value.data() + begin;
        std::uint32_t misplaced = 0;
        for (std::uint32_t j = 0; j < columns; ++j) misplaced |= column[j] ^ j;
        lane_mask broken{};
        std::uint64_t broken_behind = 0;
        std::size_t j = 0;
        for (; j + step <= columns; j += step) {
            lanes const v = simd::load_short(value + j);
            broken = broken | bits_of_no_gain(simd::bits_of(v));
            store(values + j, v);
        }
        for (; j < columns; ++j) {
            values[j] = value[j];
            broken_behind |= bits_of_no_gain(std::bit_cast<std::uint64_t>(value[j]));
        }
        for (; j < width_; ++j) values[j] = missing;
        return misplaced == 0 && (simd::any_bits(broken) | broken_behind) >> 63 == 0;
    }
    [[nodiscard]] static double second_of(assign::assignable_pairs const& p, std::uint32_t row,
                                          std::uint32_t column) noexcept {
        return p.second[pair_of(p, row, column)];
    }

    [[nodiscard]] static std::uint32_t pair_of(assign::assignable_pairs const& p, std::uint32_t row,
                                               std::uint32_t column) noexcept {
        std::uint32_t const begin = p.first[row], end = p.first[row + 1];
        // In a row with all pairs up to that column, the index is the column.
        if (column < end - begin && p.column[begin + column] == column) return begin + column;
        auto const columns = p.column.subspan(begin, end - begin);
        return begin + static_cast<std::uint32_t>(std::lower_bound(columns.begin(), columns.end(), column) -
                                                  columns.begin());
    }

    // The largest value among the waiting rows, for four columns at a time, so that their latencies overlap.
    void find_most_waiting() noexcept {
        std::size_t j = 0;
        for (; j + 4 * step <= width_; j += 4 * step) {
            lanes a = simd::splat_short(missing), b = a, c = a, d = a;
            for (std::size_t i = 0; i < waiting_count_; ++i) {
                double const* const values = values_.data() + waiting_[i] * width_ + j;
                a = simd::larger(simd::load_short(values), a);
                b = simd::larger(simd::load_short(values + step), b);
                c = simd::larger(simd::load_short(values + 2 * step), c);
                d = simd::larger(simd::load_short(values + 3 * step), d);
            }
            store(most_waiting_ + j, a);
            store(most_waiting_ + j + step, b);
            store(most_waiting_ + j + 2 * step, c);
            store(most_waiting_ + j + 3 * step, d);
        }
        for (; j < width_; j += step) find_most_waiting(j);
    }
    // The same for one column.
    void find_most_waiting(std::size_t j) noexcept {
        lanes most = simd::splat_short(missing);
        for (std::size_t i = 0; i < waiting_count_; ++i) // there may be no rows, and no values
            most = simd::larger(simd::load_short(values_.data() + waiting_[i] * width_ + j), most);
        store(most_waiting_ + j, most);
    }
    void wait_no_longer(std::uint32_t row) noexcept {
        std::size_t left = 0;
        for (std::size_t i = 0; i < waiting_count_; ++i) {
            std::uint32_t const other = waiting_[i];
            waiting_[left] = other;
            left += other != row ? 1u : 0u;
        }
        waiting_count_ = left;
        if (left <= 8) return find_most_waiting(); // rescanning is as fast as checking
        double const* const values = &values_[row * width_];
        for (std::size_t j = 0; j < width_; j += step) {
            lanes const v = simd::load_short(values + j), most = simd::load_short(most_waiting_ + j);
            if (simd::any_bits(~simd::less(v, most)) != 0) find_most_waiting(j);
        }
    }

    bool find_best_path() noexcept {
        passed_count_ = 0;
        end_ = no_index;
        lanes best = simd::splat_short(0.0), open = simd::splat_short(0.0);
        for (std::size_t j = 0; j < width_; j += step) {
            lanes const gain = simd::load_short(most_waiting_ + j) - simd::load_short(price_ + j);
            store(gain_ + j, gain);
            store(via_ + j, simd::splat_short(from_waiting));
            best = simd::larger(of_those(has_room_ + j, gain), best);
            open = simd::larger(of_those(is_open_ + j, gain), open);
        }
        found_ = simd::largest_lane(best);
        for (double most = simd::largest_lane(open); most > found_;) most = pass(first_with(is_open_, most));
        for (std::size_t i = 0; i < passed_count_; ++i) is_open_[passed_[i]] = ~std::uint64_t{0};
        return found_ > 0;
    }

    [[nodiscard]] static lanes choose(lane_mask mask, lanes yes, lanes no) noexcept {
        return std::bit_cast<lanes>((mask & simd::bits_of(yes)) | (~mask & simd::bits_of(no)));
    }
    // 0, which is no gain, for the others.
    [[nodiscard]] static lanes of_those(std::uint64_t const* which, lanes gain) noexcept {
        lane_mask mask;
        std::memcpy(&mask, which, sizeof mask);
        return std::bit_cast<lanes>(mask & simd::bits_of(gain));
    }
    static void store(double* to, lanes const& v) noexcept { std::memcpy(to, &v, sizeof v); }

    // The first column in a mask with the largest value, and whether there are others.
    // @param most that value
    struct best_columns {
        std::uint32_t first;
        bool is_only;
    };
    [[nodiscard]] static best_columns columns_with(std::uint64_t const* which, double const* numbers,
                                                   double most, std::size_t width) noexcept {
        alignas(64) static constexpr std::uint64_t places[8] = {1, 2, 4, 8, 16, 32, 64, 128};
        static_assert(step <= 8);
        lanes const wanted = simd::splat_short(most);
        best_columns best{no_index, true};
        for (std::size_t begin = 0; begin < width; begin += 64) {
            lane_mask place, found{};
            std::memcpy(&place, places, sizeof place);
            std::size_t const end = (std::min)(width, begin + 64);
            for (std::size_t j = begin; j < end; j += step) {
                lane_mask mask;
                std::memcpy(&mask, which + j, sizeof mask);
                found = found | (mask & simd::less_equal(wanted, simd::load_short(numbers + j)) & place);
                place = place << step;
            }
            std::uint64_t const bits = simd::any_bits(found);
            if (bits == 0) continue;
            best.is_only = best.first == no_index && (bits & (bits - 1)) == 0;
            if (best.first == no_index)
                best.first =
                    static_cast<std::uint32_t>(begin) + static_cast<std::uint32_t>(std::countr_zero(bits));
        }
        return best;
    }
    [[nodiscard]] std::uint32_t first_with(std::uint64_t const* which, double gain) const noexcept {
        std::uint32_t j = 0;
        while (j + 1 < width_ && (gain_[j] != gain || which[j] == 0)) ++j;
        return j;
    }

    // A full column: one of its rows could move on.
    // @return the gain of the best path to an open column
    double pass(std::uint32_t column) noexcept {
        double const gain = gain_[column];
        gain_[column] = passed; // cannot gain more
        is_open_[column] = 0;
        passed_gain_[passed_count_] = gain;
        passed_[passed_count_++] = column;
        double most = 0;
        for (std::uint32_t row = holder_[column]; row != no_index; row = next_holder_[row])
            most = reach_from(row, gain - (values_[row * width_ + column] - price_[column]));
        return most;
    }
    // Reaches all columns from a row by a path with the gain so far; a tie is no reason to move.
    double reach_from(std::uint32_t row, double so_far) noexcept {
        double const* const values = &values_[row * width_];
        lanes const begin = simd::splat_short(so_far), me = simd::splat_short(static_cast<double>(row));
        lanes best = simd::splat_short(0.0), open = simd::splat_short(0.0);
        for (std::size_t j = 0; j < width_; j += step) {
            lanes const gain = begin + (simd::load_short(values + j) - simd::load_short(price_ + j));
            lanes const before = simd::load_short(gain_ + j), after = simd::larger(gain, before);
            store(via_ + j, choose(simd::less(before, gain), me, simd::load_short(via_ + j)));
            store(gain_ + j, after);
            best = simd::larger(of_those(has_room_ + j, gain), best);
            open = simd::larger(of_those(is_open_ + j, after), open);
        }
        if (double const most = simd::largest_lane(best); most > found_) {
            found_ = most;
            end_ = first_with(has_room_, most);
        }
        return simd::largest_lane(open);
    }

    // The row at the start of the path, which is fully known from here on. Ties as in `greedy_assignment`:
    // larger second, then first row, then first column.
    [[nodiscard]] std::uint32_t row_at_begin(assign::assignable_pairs const& p) noexcept {
        std::uint32_t row = no_index, column = end_;
        if (column == no_index) {
            // Columns with room have no price.
            auto const [first, is_only] = columns_with(has_room_, most_waiting_, found_, width_);
            std::tie(row, column) = is_only ? std::pair{best_waiting(p, first), first} : best_direct(p);
            end_ = column;
        } else {
            while (via_[column] != from_waiting) column = column_of_[static_cast<std::size_t>(via_[column])];
            row = best_waiting(p, column);
        }
        via_[column] = static_cast<double>(row);
        return row;
    }
    [[nodiscard]] std::pair<std::uint32_t, std::uint32_t>
    best_direct(assign::assignable_pairs const& p) noexcept {
        if (!knows_most_second_) find_most_second(p);
        std::pair<std::uint32_t, std::uint32_t> best{no_index, no_index};
        double most_second = missing;
        for (std::size_t i = 0; i < waiting_count_; ++i) {
            std::size_t const begin = waiting_[i] * width_;
            lanes most = simd::splat_short(0.0);
            for (std::size_t j = 0; j < width_; j += step)
                most = simd::larger(of_those(has_room_ + j, simd::load_short(&values_[begin + j])), most);
            if (simd::largest_lane(most) < found_) continue;
            for (std::uint32_t j = 0; j < width_; ++j) {
                if (values_[begin + j] != found_ || has_room_[j] == 0) continue;
                double const second = second_of(p, waiting_[i], j);
                if (best.first != no_index && !(second > most_second)) continue;
                best = {waiting_[i], j};
                most_second = second;
            }
            if (!(most_second < most_second_)) break; // no other row has more
        }
        return best;
    }
    // No pair has more.
    void find_most_second(assign::assignable_pairs const& p) noexcept {
        double const* const seconds = p.second.data();
        std::size_t i = p.first.front();
        std::size_t const end = p.first.back();
        lanes a = simd::splat_short(missing), b = a;
        for (; i + 2 * step <= end; i += 2 * step) {
            a = simd::larger(simd::load_short(seconds + i), a);
            b = simd::larger(simd::load_short(seconds + i + step), b);
        }
        most_second_ = simd::largest_lane(simd::larger(a, b));
        for (; i < end; ++i) most_second_ = (std::max)(most_second_, seconds[i]);
        knows_most_second_ = true;
    }
    [[nodiscard]] std::uint32_t best_waiting(assign::assignable_pairs const& p,
                                             std::uint32_t column) const noexcept {
        std::uint32_t best = no_index;
        for (std::size_t i = 0; i < waiting_count_; ++i) {
            std::uint32_t const row = waiting_[i];
            if (values_[row * width_ + column] != most_waiting_[column]) continue;
            if (best == no_index || second_of(p, row, column) > second_of(p, best, column)) best = row;
        }
        return best;
    }

    void raise_prices() noexcept {
        for (std::size_t i = 0; i < passed_count_; ++i)
            if (passed_gain_[i] > found_) price_[passed_[i]] += passed_gain_[i] - found_;
    }
    void move_along() noexcept {
        if (--room_[end_] == 0) {
            has_room_[end_] = 0;
            is_open_[end_] = ~std::uint64_t{0};
        }
        for (std::uint32_t column = end_;;) {
            auto const row = static_cast<std::uint32_t>(via_[column]);
            std::uint32_t const before = column_of_[row];
            if (before != no_index) let_go(before, row);
            column_of_[row] = column;
            next_holder_[row] = holder_[column];
            holder_[column] = row;
            if (before == no_index) return;
            column = before;
        }
    }
    void let_go(std::uint32_t column, std::uint32_t row) noexcept {
        std::uint32_t* at = &holder_[column];
        while (*at != row) at = &next_holder_[*at];
        *at = next_holder_[row];
    }

    std::size_t width_ = 0;
    std::vector<double> values_; // row by row
    // Of columns; `via` is the row before; masks have all bits set or none; open: full and not passed.
    double most_waiting_[most_columns], price_[most_columns], gain_[most_columns], via_[most_columns];
    std::uint64_t has_room_[most_columns], is_open_[most_columns];
    std::uint32_t room_[most_columns], holder_[most_columns];
    std::uint32_t passed_[most_columns];
    std::size_t passed_count_ = 0;
    double passed_gain_[most_columns];
    // Of rows; those waiting for a column, in order.
    std::uint32_t column_of_[most_rows], next_holder_[most_rows], waiting_[most_rows];
    std::size_t waiting_count_ = 0;
    double most_second_ = missing;
    bool knows_most_second_ = false;
    // Of the current path: its gain, and where it ends if it is not a single pair.
    double found_ = 0;
    std::uint32_t end_ = no_index;
};
} // namespace straggle::detail
