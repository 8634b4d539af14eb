// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Assigns rows to columns, each row at most once, each column as often as it has room: the permitted pairs,
/// and the two methods that never revise an assignment. Plain numbers; `assigner.hpp` maps rows to stragglers
/// and columns to nodes. The optimal method is in `optimal_assignment.hpp`.
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

/// The permitted pairs, row by row.
/// @pre on use: all spans except `first` have the same length, less than 2^32; `first` is nondecreasing and
/// at most that length; every value is finite and positive
struct assignable_pairs {
    std::span<std::uint32_t const> first;  ///< row i has the pairs from first[i] to first[i + 1]
    std::span<std::uint32_t const> column; ///< of each pair, ascending within a row
    std::span<double const> value;         ///< the value of the pair; the sum is maximized
    std::span<double const> second;        ///< decides between equal values: the larger is better

    /// Number of rows.
    [[nodiscard]] constexpr std::size_t rows() const noexcept { return first.empty() ? 0 : first.size() - 1; }
};

/// A pair that was assigned.
struct assigned_pair {
    std::uint32_t row = 0;  ///< of the pair
    std::uint32_t pair = 0; ///< its index among the pairs
    friend constexpr bool operator==(assigned_pair const&, assigned_pair const&) = default;
};

/// Lets every row have a column.
struct admit_all {
    /// True.
    constexpr bool operator()(std::uint32_t) const noexcept { return true; }
};

/// The interface that matches stragglers and nodes: `matching(pairs, room, out, admit)` writes to `out`, in
/// the order in which rows got a column. `room` is the number of rows each column takes. `admit(row)` is
/// called once for each row about to get a column; a refused row is left out for good.
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

// Sets the highest bit if a value is not finite and positive: the bits of valid values range from 1 to below
// those of infinity. For one or several values. Uses bits, since with -ffast-math comparisons with NaN are
// unreliable.
template <class Bits>
[[nodiscard]] STRAGGLE_ALWAYS_INLINE Bits bits_of_no_gain(Bits bits) noexcept {
    bits = bits - std::uint64_t{1};
    return bits | (bits + ((std::uint64_t{1} << 63) - infinity_bits + 1));
}

// For a row with pairs; branchless per pair, since the violated contract is identified only if there is one.
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

// Checks that the spans fit together.
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

// Whether one pair is better than another: by value, then by `second`, then by order.
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

/// Rows in the given order: each takes the best of the columns that still have room.
///
/// Source: RiskI (Zheng et al. 2014), algorithm 2, for one straggler after the other. Appropriate if the
/// order of the rows is their priority. Ties go to the larger `second`, then to the first column.
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

/// The best pair first, then the best of the remaining ones, until rows or columns are used up.
///
/// The sum is at least half of the maximum. Ties go to the larger `second`, then to the first row, then to
/// the first column.
/// @par Cost
/// O(pairs + lookups * pairs of a row): a row is examined again if the column it wants is full when its turn
/// comes, usually at most a few times, at worst rows * rows times; 8 bytes per row and 4 per column;
/// allocates nothing in the steady state
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
                wish(pairs, best.row); // its next-best pair
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
    std::vector<assigned_pair> wishes_; // of each row without a column
};

} // namespace straggle::assign
