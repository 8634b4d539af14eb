// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `assign/optimal_assignment.hpp`: the same paths for a few rows and columns, in a full
/// table whose rows are looked at whole, several columns at once and without a branch. A branch that depends
/// on a value is taken by surprise every other time, which costs as much as twenty columns.
#pragma once

#include <straggle/assign/greedy_assignment.hpp>
#include <straggle/base/config.hpp>
#include <straggle/base/simd.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

template <class = void>
class basic_few_rows {
  public:
    static constexpr std::size_t most_rows = 64, most_columns = 256;

    // As optimal_assignment does.
    template <class Admit>
    void solve(assign::assignable_pairs const& p, std::span<std::uint32_t const> room,
               std::vector<assign::assigned_pair>& out, Admit& admit) {
        prepare(p, room, out);
        while (find_best_path()) {
            std::uint32_t const first = row_at_begin();
            for (std::size_t i = 0; i < looked_at_; ++i) {
                auto const [row, at_most] = looks_[i];
                bring_[row] = row == first ? nothing : at_most;
            }
            if (!admit(first)) continue;
            raise_prices();
            move_along();
            out.push_back({first, no_place});
        }
        for (assign::assigned_pair& a : out) {
            std::uint32_t pair = p.first[a.row];
            while (p.column[pair] != column_of_[a.row]) ++pair;
            a.pair = pair;
        }
    }

  private:
    static constexpr double nothing = -1; // less than any gain
    static constexpr double missing = std::numeric_limits<double>::lowest();
    static constexpr double passed = (std::numeric_limits<double>::max)();
    static constexpr std::size_t step = simd::lane_count;

    struct look {
        std::uint32_t row;
        double at_most;
    };
    struct best_place {
        double value;
        std::size_t place;
    };

    void prepare(assign::assignable_pairs const& p, std::span<std::uint32_t const> room,
                 std::vector<assign::assigned_pair>& out) {
        rows_ = p.rows();
        width_ = (room.size() + step - 1) / step * step;
        out.clear();
        out.reserve(rows_);
        values_.assign(rows_ * width_, missing);
        seconds_.resize(rows_ * width_);
        for (std::size_t j = 0; j < width_; ++j) {
            price_[j] = gain_[j] = via_[j] = 0;
            room_[j] = j < room.size() ? room[j] : 0;
            has_room_[j] = room_[j] > 0 ? ~std::uint64_t{0} : 0;
            is_open_[j] = 0;
            holder_[j] = no_place;
        }
        std::fill_n(bring_, (rows_ + step - 1) / step * step, nothing);
        for (std::uint32_t row = 0; row < rows_; ++row) {
            double* const values = &values_[row * width_];
            double* const seconds = &seconds_[row * width_];
            double most_value = nothing, most_second = 0;
            for (std::uint32_t i = p.first[row]; i < p.first[row + 1]; ++i) {
                std::uint32_t const j = p.column[i];
                seconds[j] = p.second[i];
                values[j] = room_[j] > 0 ? p.value[i] : missing;
                most_value = (std::max)(most_value, values[j]);
                most_second = p.second[i] > most_second ? p.second[i] : most_second;
            }
            bring_[row] = most_value;
            most_second_[row] = most_second;
            column_of_[row] = no_place;
            next_holder_[row] = no_place;
        }
        passed_count_ = looked_at_ = 0;
    }

    bool find_best_path() noexcept {
        forget_path();
        best_place waits = best_of(bring_, rows_);
        for (;;) {
            bool const may_pass = open_.value > found_;
            if (may_be_best(waits) && (!may_pass || waits.value >= open_.value)) {
                look_from(static_cast<std::uint32_t>(waits.place));
                waits = best_of(bring_, rows_);
            } else if (may_pass) {
                pass(open_.place);
            } else {
                return end_ != no_place;
            }
        }
    }
    // Among equals, only one with a pair that comes before the best so far; `waits` becomes that one.
    [[nodiscard]] bool may_be_best(best_place& waits) const noexcept {
        if (!(waits.value > 0) || waits.value < found_) return false;
        if (waits.value > found_ || !is_direct_) return true;
        for (std::size_t row = waits.place + 1; row < rows_; ++row)
            if (bring_[row] == found_ && most_second_[row] > most_second_[waits.place]) waits.place = row;
        double const second = most_second_[waits.place];
        return second > direct_second_ || (second == direct_second_ && waits.place < direct_row_);
    }

    void forget_path() noexcept {
        std::memset(gain_, 0, width_ * sizeof(double));
        for (std::size_t i = 0; i < passed_count_; ++i) is_open_[passed_[i]] = ~std::uint64_t{0};
        passed_count_ = looked_at_ = 0;
        found_ = 0;
        end_ = no_place;
        is_direct_ = false;
        open_ = {nothing, 0};
    }

    [[nodiscard]] static simd::lanes choose(simd::lane_mask mask, simd::lanes yes, simd::lanes no) noexcept {
        return std::bit_cast<simd::lanes>((mask & simd::bits_of(yes)) | (~mask & simd::bits_of(no)));
    }
    [[nodiscard]] static simd::lane_mask load_mask(std::uint64_t const* from) noexcept {
        simd::lane_mask mask;
        std::memcpy(&mask, from, sizeof mask);
        return mask;
    }
    static void store(double* to, simd::lanes const& v) noexcept { std::memcpy(to, &v, sizeof v); }

    // The best so far in each lane, and where.
    struct lane_best {
        simd::lanes value = simd::splat(nothing), place = simd::splat(0.0);
        STRAGGLE_ALWAYS_INLINE void see(simd::lanes v, simd::lanes at) noexcept {
            place = choose(simd::less(value, v), at, place);
            value = simd::larger(v, value);
        }
        // Of equals the first.
        [[nodiscard]] best_place of_all() const noexcept {
            double values[step], places[step];
            store(values, value);
            store(places, place);
            best_place best{values[0], static_cast<std::size_t>(places[0])};
            for (std::size_t i = 1; i < step; ++i) {
                auto const at = static_cast<std::size_t>(places[i]);
                bool const better = values[i] > best.value || (values[i] == best.value && at < best.place);
                best = better ? best_place{values[i], at} : best;
            }
            return best;
        }
    };
    [[nodiscard]] static simd::lanes first_places() noexcept {
        double first[step];
        for (std::size_t i = 0; i < step; ++i) first[i] = static_cast<double>(i);
        return simd::load(first);
    }

    [[nodiscard]] static best_place best_of(double const* values, std::size_t n) noexcept {
        lane_best best;
        simd::lanes at = first_places();
        for (std::size_t i = 0; i < n; i += step, at = at + simd::splat(static_cast<double>(step)))
            best.see(simd::load(values + i), at);
        return best.of_all();
    }
    // Reaches all columns from a row by a path that adds so much so far; the best end in a column with room.
    // Says which full column is to be passed next.
    // @param most becomes the most that is reached
    best_place reach_from(std::uint32_t row, double so_far, double& most_of_all) noexcept {
        double const* const values = &values_[row * width_];
        simd::lanes const begin = simd::splat(so_far), me = simd::splat(static_cast<double>(row));
        simd::lanes most_here = simd::splat(nothing), at = first_places();
        lane_best best, open;
        for (std::size_t j = 0; j < width_; j += step, at = at + simd::splat(static_cast<double>(step))) {
            simd::lanes const gain = begin + (simd::load(values + j) - simd::load(price_ + j));
            simd::lanes const before = simd::load(gain_ + j);
            store(via_ + j, choose(simd::less(before, gain), me, simd::load(via_ + j)));
            simd::lanes const after = simd::larger(gain, before);
            store(gain_ + j, after);
            most_here = simd::larger(gain, most_here);
            open.see(choose(load_mask(is_open_ + j), after, simd::splat(nothing)), at);
            best.see(choose(load_mask(has_room_ + j), gain, simd::splat(nothing)), at);
        }
        most_of_all = simd::largest_lane(most_here);
        open_ = open.of_all();
        return best.of_all();
    }

    void look_from(std::uint32_t row) noexcept {
        double most_of_all = 0;
        best_place const end = reach_from(row, 0, most_of_all);
        bring_[row] = nothing; // until the path is found
        looks_[looked_at_++] = {row, most_of_all > 0 ? most_of_all : nothing};
        if (!(end.value > 0) || end.value < found_) return;
        // Of equal pairs the one with the larger second, then the first.
        double const* const values = &values_[row * width_];
        double const* const seconds = &seconds_[row * width_];
        std::size_t column = end.place;
        for (std::size_t j = end.place + 1; j < width_; ++j)
            if (values[j] == end.value && has_room_[j] != 0 && seconds[j] > seconds[column]) column = j;
        bool const ties = end.value == found_ && is_direct_;
        if (ties &&
            (seconds[column] < direct_second_ || (seconds[column] == direct_second_ && row > direct_row_)))
            return;
        is_direct_ = true;
        direct_second_ = seconds[column];
        direct_row_ = row;
        found_ = end.value;
        end_ = static_cast<std::uint32_t>(column);
    }
    void pass(std::size_t column) noexcept {
        double const gain = gain_[column];
        gain_[column] = passed; // nothing is more
        is_open_[column] = 0;
        passed_gain_[passed_count_] = gain;
        passed_[passed_count_++] = column;
        for (std::uint32_t row = holder_[column]; row != no_place; row = next_holder_[row]) {
            double most_of_all = 0;
            double const without = gain - (values_[row * width_ + column] - price_[column]);
            best_place const end = reach_from(row, without, most_of_all);
            if (!(end.value > found_)) continue;
            found_ = end.value;
            end_ = static_cast<std::uint32_t>(end.place);
            is_direct_ = false;
        }
    }

    [[nodiscard]] std::uint32_t row_at_begin() noexcept {
        if (is_direct_) via_[end_] = static_cast<double>(direct_row_);
        auto row = static_cast<std::uint32_t>(via_[end_]);
        while (column_of_[row] != no_place) row = static_cast<std::uint32_t>(via_[column_of_[row]]);
        return row;
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
            if (before != no_place) let_go(before, row);
            column_of_[row] = column;
            next_holder_[row] = holder_[column];
            holder_[column] = row;
            if (before == no_place) return;
            column = before;
        }
    }
    void let_go(std::uint32_t column, std::uint32_t row) noexcept {
        std::uint32_t* at = &holder_[column];
        while (*at != row) at = &next_holder_[*at];
        *at = next_holder_[row];
    }

    std::size_t rows_ = 0, width_ = 0;
    std::vector<double> values_, seconds_; // row by row
    // Of columns, as optimal_assignment has them.
    double price_[most_columns], gain_[most_columns], via_[most_columns], passed_gain_[most_columns];
    std::uint64_t has_room_[most_columns],
        is_open_[most_columns]; // all bits or none; open: full and not passed
    std::uint32_t room_[most_columns], holder_[most_columns];
    std::size_t passed_[most_columns], passed_count_ = 0;
    // Of rows.
    double bring_[most_rows],
        most_second_[most_rows]; // at most, as the begin of a path; `nothing` where it is none
    std::uint32_t column_of_[most_rows], next_holder_[most_rows];
    look looks_[most_rows];
    std::size_t looked_at_ = 0;
    // Of the path that is looked for.
    double found_ = 0, direct_second_ = 0;
    std::uint32_t end_ = no_place, direct_row_ = 0;
    bool is_direct_ = false; // it is a single pair
    best_place open_{nothing, 0};
};
using few_rows = basic_few_rows<>;

} // namespace straggle::detail
