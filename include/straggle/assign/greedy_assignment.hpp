// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Rows to columns, each row once at most, each column as often as it has room: what may be assigned, and the
/// two ways to do it that never take anything back. Plain numbers; that rows are stragglers and columns nodes
/// is the business of `assigner.hpp`. The best way is in `optimal_assignment.hpp`.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/contract.hpp>
#include <straggle/base/finite.hpp>
#include <straggle/base/no_index.hpp>
#include <straggle/base/span_of.hpp>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::assign {

/// The pairs that may be assigned, row by row.
/// @pre where it is used: all spans but `first` are of one length, less than 2^32, `first` is at most that
/// and does not fall; every value is finite and more than 0
struct assignable_pairs {
    std::span<std::uint32_t const> first;  ///< the pairs of row i are those from first[i] up to first[i + 1]
    std::span<std::uint32_t const> column; ///< of each pair, rising within a row
    std::span<double const> value;         ///< what the pair brings; the sum is to be large
    std::span<double const> second;        ///< decides between equal values: the larger is better

    /// How many rows there are.
    [[nodiscard]] constexpr std::size_t rows() const noexcept { return first.empty() ? 0 : first.size() - 1; }
};

/// A pair that was assigned.
struct assigned_pair {
    std::uint32_t row = 0;  ///< of the pair
    std::uint32_t pair = 0; ///< its place among the pairs
    friend constexpr bool operator==(assigned_pair const&, assigned_pair const&) = default;
};

/// Lets every row have a column.
struct admit_all {
    /// True.
    constexpr bool operator()(std::uint32_t) const noexcept { return true; }
};

/// The slot that puts stragglers and nodes together: `matching(pairs, room, out, admit)` writes to `out`, in
/// the order in which rows got a column. `room` says how many rows each column takes. `admit(row)` is asked
/// about each row that would get a column, once; what it refuses is left out for good.
template <class Matching>
concept matching =
    std::copyable<Matching> &&
    requires(Matching& matching, assignable_pairs const& pairs, std::span<std::uint32_t const> room,
             std::vector<assigned_pair>& out, bool (*admit)(std::uint32_t)) {
        matching(pairs, room, out, admit);
        { Matching::name } -> std::convertible_to<std::string_view>;
    };

} // namespace straggle::assign

namespace straggle::inline STRAGGLE_ABI::detail {

// The highest bit is set where a value is not finite and more than 0: of those that are, the bits are from 1
// up to those of infinity. For one value or several. By bits, as with -ffast-math NaN may compare as it
// likes.
template <class Bits>
[[nodiscard]] STRAGGLE_ALWAYS_INLINE Bits bits_of_no_gain(Bits bits) noexcept {
    bits = bits - std::uint64_t{1};
    return bits | (bits + ((std::uint64_t{1} << 63) - infinity_bits + 1));
}

// Of a row that has pairs; without a branch for a pair, as which contract is broken is asked only where one
// is.
[[nodiscard]] inline bool is_row_assignable(assign::assignable_pairs const& p, std::size_t row,
                                            std::size_t columns) noexcept {
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    std::size_t const begin = p.first[row], end = p.first[row + 1];
    if (end < begin || end > p.column.size()) return false;
    std::uint32_t const* const column = p.column.data();
    std::uint64_t rises = sign, broken = 0, before = column[begin];
    for (std::size_t i = begin + 1; i < end; ++i) {
        rises &= before - column[i];
        before = column[i];
    }
    rises &= before - columns;
    for (std::size_t i = begin; i < end; ++i)
        broken |= bits_of_no_gain(std::bit_cast<std::uint64_t>(p.value[i]));
    return (rises & sign) != 0 && (broken & sign) == 0;
}
[[nodiscard]] inline bool is_assignable(assign::assignable_pairs const& p, std::size_t columns) noexcept {
    for (std::size_t row = 0; row < p.rows(); ++row)
        if (p.first[row] != p.first[row + 1] && !is_row_assignable(p, row, columns)) return false;
    return true;
}

// That the spans fit together.
inline void expect_pairs(assign::assignable_pairs const& p) {
    std::size_t const pairs = p.column.size();
    STRAGGLE_EXPECTS(p.value.size() == pairs && p.second.size() == pairs && pairs < no_index);
    STRAGGLE_EXPECTS(p.rows() < no_index && (p.first.empty() ? pairs == 0 : p.first.back() <= pairs));
}
inline void expect_assignable(assign::assignable_pairs const& p, std::span<std::uint32_t const> room) {
    expect_pairs(p);
    if (is_assignable(p, room.size())) return;
    for (std::size_t row = 0; row < p.rows(); ++row) STRAGGLE_EXPECTS(p.first[row] <= p.first[row + 1]);
    for (std::size_t i = p.first.front(); i < p.first.back(); ++i) {
        bool const is_finite_and_above_0 =
            bits_of_no_gain(std::bit_cast<std::uint64_t>(p.value[i])) >> 63 == 0;
        STRAGGLE_EXPECTS(is_finite_and_above_0);
        STRAGGLE_EXPECTS(p.column[i] < room.size());
    }
    for (std::size_t row = 0; row < p.rows(); ++row)
        for (std::size_t i = p.first[row]; i + 1 < p.first[row + 1]; ++i)
            STRAGGLE_EXPECTS(p.column[i] < p.column[i + 1]);
}

// Whether one pair is better than another: by value, then by the second number, then the first to appear.
[[nodiscard]] inline bool is_better_pair(assign::assignable_pairs const& p, std::uint32_t a,
                                         std::uint32_t b) {
    if (p.value[a] != p.value[b]) return p.value[a] > p.value[b];
    if (p.second[a] != p.second[b]) return p.second[a] > p.second[b];
    return a < b;
}

// The best pair of a row whose column has room; no_index if there is none.
[[nodiscard]] inline std::uint32_t best_open_pair(assign::assignable_pairs const& p, std::uint32_t row,
                                                  std::span<std::uint32_t const> room) {
    std::uint32_t best = no_index;
    for (std::uint32_t i = p.first[row]; i < p.first[row + 1]; ++i) {
        if (room[p.column[i]] == 0) continue;
        if (best == no_index || is_better_pair(p, i, best)) best = i;
    }
    return best;
}

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::assign {

/// One row after the other, as they come: each takes the best of the columns that still have room.
///
/// Source: RiskI (Zheng et al. 2014), algorithm 2, for one straggler after the other. Right where the order
/// of the rows is their priority. Ties go to the larger `second`, then to the first column.
/// @par Cost
/// O(pairs), 4 bytes per column; allocates nothing in the steady state
/// @par Guarantees
/// deterministic; only allocation can throw, before `admit` is asked anything
class assignment_in_turn {
  public:
    static constexpr std::string_view name = "in_turn";

    /// Assigns.
    template <class Admit = admit_all>
    void operator()(assignable_pairs const& pairs, std::span<std::uint32_t const> room,
                    std::vector<assigned_pair>& out, Admit&& admit = {}) {
        detail::expect_assignable(pairs, room);
        out.clear();
        out.reserve(pairs.rows());
        room_.assign(room.begin(), room.end());
        for (std::uint32_t row = 0; row < pairs.rows(); ++row) {
            std::uint32_t const best = detail::best_open_pair(pairs, row, detail::span_of(room_));
            if (best == detail::no_index || !admit(row)) continue;
            --room_[pairs.column[best]];
            out.push_back({row, best});
        }
    }

  private:
    std::vector<std::uint32_t> room_;
};

/// The best pair first, then the best of those that are left, until rows or columns are used up.
///
/// The sum is at least half of the largest possible. Ties go to the larger `second`, then to the first row,
/// then to the first column.
/// @par Cost
/// O(pairs + looks * pairs of a row): a row is looked at again when the column it wants is full and
/// it would be next, which is seldom more than a few times, and rows * rows times at worst; 8 bytes per row
/// and 4 per column; allocates nothing in the steady state
/// @par Guarantees
/// deterministic; only allocation can throw, before `admit` is asked anything
class greedy_assignment {
  public:
    static constexpr std::string_view name = "greedy";

    /// Assigns.
    template <class Admit = admit_all>
    void operator()(assignable_pairs const& pairs, std::span<std::uint32_t const> room,
                    std::vector<assigned_pair>& out, Admit&& admit = {}) {
        detail::expect_assignable(pairs, room);
        out.clear();
        out.reserve(pairs.rows());
        room_.assign(room.begin(), room.end());
        wishes_.clear();
        wishes_.reserve(pairs.rows());
        for (std::uint32_t row = 0; row < pairs.rows(); ++row) wish(pairs, row);
        while (!wishes_.empty()) {
            std::pop_heap(wishes_.begin(), wishes_.end(), worse{pairs});
            assigned_pair const best = wishes_.back();
            wishes_.pop_back();
            std::uint32_t& room_left = room_[pairs.column[best.pair]];
            if (room_left == 0) {
                wish(pairs, best.row); // something less
            } else if (admit(best.row)) {
                --room_left;
                out.push_back(best);
            }
        }
    }

  private:
    struct worse {
        assignable_pairs const& pairs;
        bool operator()(assigned_pair const& a, assigned_pair const& b) const {
            return detail::is_better_pair(pairs, b.pair, a.pair);
        }
    };
    void wish(assignable_pairs const& p, std::uint32_t row) {
        std::uint32_t const best = detail::best_open_pair(p, row, detail::span_of(room_));
        if (best == detail::no_index) return;
        wishes_.push_back({row, best});
        std::push_heap(wishes_.begin(), wishes_.end(), worse{p});
    }

    std::vector<std::uint32_t> room_;
    std::vector<assigned_pair> wishes_; // of each row that has no column yet
};

} // namespace straggle::assign
