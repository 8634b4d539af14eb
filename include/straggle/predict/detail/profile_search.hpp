// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `predict/profile_store.hpp`: finds the nearest records of a query, using the boxes.
///
/// Distances of boxes, and of the cells of records, only exclude what is certainly too far away, with some
/// slack for rounding; records are compared by the exact distance that is reported. So ties are exact.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/span_of.hpp>
#include <straggle/predict/detail/profile_cells.hpp>
#include <straggle/predict/detail/profile_leaves.hpp>
#include <straggle/predict/detail/similarity_lanes.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

struct profile_hit {
    double distance;
    std::uint32_t slot;
};

// A store this small fits the caches: use neither cells nor prefetching.
inline constexpr std::size_t few_slots = 2048;

// Converts the terms to cells.
inline void make_cells(profile_leaves const& leaves, std::span<factor_term const> terms, cell_query& cells) {
    if (leaves.slots() < few_slots)
        cells.clear(terms.size());
    else
        cells.assign(terms, leaves.grids());
}

// Squares of boxes lie between these, up to rounding: so their last bits are free for other use even if
// denormals are flushed, and no infinity is needed to mark a missing box.
inline constexpr double least_square = 0x1p-900;
inline constexpr double largest_square = 0x1p1022;
inline constexpr double no_box = 0x1p1023;

// Approximate lower bounds for the squared distances of the records in eight boxes.
STRAGGLE_ALWAYS_INLINE eight box_squares(double const* edges, std::span<factor_term const> terms) noexcept {
    using namespace simd;
    eight sum(least_square);
    for (factor_term const& t : terms) {
        double const* const low = edges + std::size_t{t.factor} * 2 * leaf_size;
        double const* const high = low + leaf_size;
        lanes const value = splat(t.value), scale = splat(t.scale), weight = splat(t.weight);
        auto const square = [&](std::size_t i) STRAGGLE_INLINE_LAMBDA {
            lanes const d = (larger(load(low + i), smaller(load(high + i), value)) - value) * scale;
            return d * d;
        };
        if (t.form == term_form::number) [[likely]]
            sum.each([&](lanes& s, std::size_t i) STRAGGLE_INLINE_LAMBDA { s = s + square(i); });
        else if (t.form == term_form::number_or_missing)
            sum.each([&](lanes& s, std::size_t i)
                         STRAGGLE_INLINE_LAMBDA { s = s + smaller(square(i), weight); });
        else if (t.form == term_form::code)
            sum.each([&](lanes& s, std::size_t i) STRAGGLE_INLINE_LAMBDA {
                s = s + lanes_where(less(value, load(low + i)) | less(load(high + i), value), weight);
            });
        else if (t.form == term_form::constant)
            sum.each([&](lanes& s, std::size_t) STRAGGLE_INLINE_LAMBDA { s = s + weight; });
    }
    return sum;
}

// Puts the positions of eight squares, counted from the end, into their last bits: so no two are equal, the
// smallest contains its position, and ties go to the last.
// @param most `largest_square`, passed as a variable: for a minimum with a constant GCC emits four
// instructions
STRAGGLE_ALWAYS_INLINE void mark_places(eight& squares, double most) noexcept {
    using namespace simd;
    alignas(64) static constexpr std::uint64_t places[leaf_size] = {7, 6, 5, 4, 3, 2, 1, 0};
    squares.each([most](lanes& v, std::size_t i) STRAGGLE_INLINE_LAMBDA {
        lane_mask place;
        std::memcpy(&place, places + i, sizeof place);
        v = std::bit_cast<lanes>((bits_of(smaller(v, splat(most))) & ~splat_bits(leaf_size - 1)) | place);
    });
}
constexpr std::size_t place_of(double marked) noexcept {
    return leaf_size - 1 - (std::bit_cast<std::uint64_t>(marked) & (leaf_size - 1));
}
// One bit for each of eight squares within the limit.
STRAGGLE_ALWAYS_INLINE unsigned which_squares(eight& squares, double limit) noexcept {
    using namespace simd;
    alignas(64) static constexpr std::uint64_t bits[leaf_size] = {1, 2, 4, 8, 16, 32, 64, 128};
    lane_mask found = splat_bits(0);
    squares.each([&](lanes const& v, std::size_t i) STRAGGLE_INLINE_LAMBDA {
        lane_mask bit;
        std::memcpy(&bit, bits + i, sizeof bit);
        found = found | (less_equal(v, splat(limit)) & bit);
    });
    return static_cast<unsigned>(any_bits(found));
}
// The smallest of eight that is above another, or `no_box`.
STRAGGLE_ALWAYS_INLINE double least_above(double above, double const* squares) noexcept {
    using namespace simd;
    eight rest(squares);
    rest.each([above](lanes& v, std::size_t)
                  STRAGGLE_INLINE_LAMBDA { v = lanes_choose(less(splat(above), v), v, splat(no_box)); });
    return rest.smallest();
}

// Bounds on the rounding error of a sum of that many squares. A square above `above` is certainly that of a
// larger distance; below `below`, of a smaller one.
class square_slack {
  public:
    explicit square_slack(std::span<factor_term const> terms) noexcept
        : share_(static_cast<double>(terms.size() + 8) * 0x1p-50) {}
    [[nodiscard]] double above(double distance) const noexcept { return above_square(distance * distance); }
    [[nodiscard]] double above_square(double square) const noexcept {
        return square * (1 + share_) + 2 * least_square;
    }
    [[nodiscard]] double below(double distance) const noexcept {
        return distance * distance * (1 - share_) - 2 * least_square;
    }

  private:
    double share_;
};

// Whether nothing in the box is nearer than that. Uses the distance of a record in the nearest corner,
// computed like any other: all of its steps are monotonic.
inline bool is_no_nearer(profile_boxes const& boxes, std::size_t box, std::span<factor_term const> terms,
                         double distance) noexcept {
    double sums[leaf_size] = {};
    for (factor_term t : terms) {
        if (t.form == term_form::presence) continue; // may be missing as well
        factor_extent const e = boxes.get(box, t.factor);
        double const nearest = t.value < e.low ? e.low : t.value > e.high ? e.high : t.value;
        double leaf[leaf_size];
        for (double& value : leaf) value = nearest;
        if (t.form == term_form::number_or_missing) leaf[0] = encoded_missing;
        t.factor = 0;
        double const least = add_squares(leaf, span_of(&t, 1), sums);
        for (double& sum : sums) sum = least;
    }
    return std::sqrt(sums[0]) >= distance;
}

// Keeps the best hits in a heap, the worst on top.
class profile_search {
  public:
    // @pre k > 0; room for k in `hits`; there are records
    profile_search(profile_leaves const& leaves, std::span<factor_term const> terms, std::size_t k,
                   double within, cell_query& cells, std::vector<profile_hit>& hits) noexcept
        : leaves_(leaves),
          terms_(terms),
          cells_(cells),
          hits_(hits),
          k_(k),
          within_(within),
          slack_(terms),
          is_far_(leaves.slots() >= few_slots) {
        hits_.clear();
        if (cells_.step() > 0)
            least_for_cells_ = cells_.least_step() * cells_.least_step() * (least_limit * least_limit);
        next_steps_ = simd::plus_infinity;
        step_ = cells_.step();
        set_limit(slack_.above(within));
    }

    // Nearest first, ties youngest first.
    void run() noexcept {
        search(leaves_.top(), 0);
        if (hits_.size() > 1) std::sort(hits_.begin(), hits_.end(), better{leaves_});
    }

  private:
    static constexpr unsigned most_ties = 8;
    static constexpr double least_limit = 40; // in cells

    struct better {
        profile_leaves const& leaves;
        bool operator()(profile_hit const& a, profile_hit const& b) const noexcept {
            if (a.distance != b.distance) return a.distance < b.distance;
            return leaves.number(a.slot) > leaves.number(b.slot);
        }
    };

    // Visits the boxes of a group, nearest first, until they are too far away. Cells exclude boxes first,
    // then edges where more precision is needed.
    void search(std::size_t level, std::size_t group) noexcept {
        std::size_t const boxes = leaves_.boxes(level).size() - group * leaf_size;
        unsigned visited = boxes < leaf_size ? 0xffu << boxes & 0xffu : 0;
        while (!(by_edges() ? search_edges(level, group, visited) : search_cells(level, group, visited))) {
        }
    }
    [[nodiscard]] bool by_edges() const noexcept { return !(limit_ > least_for_cells_); }

    void visit(std::size_t level, std::size_t box) noexcept {
        if (level == 0)
            search_leaf(box);
        else
            search(level - 1, box);
    }

    // True if nothing is left to visit; false if the steps changed and the group must be examined again.
    bool search_cells(std::size_t level, std::size_t group, unsigned& visited) noexcept {
        profile_boxes const& boxes = leaves_.boxes(level);
        auto const [first, last] =
            cell_squares(boxes.cells(group), 4 * leaf_size, 2 * leaf_size, cells_.constant(), cells_.terms());
        cell_keys const keys(first, last, visited);
        float next = keys.least();
        double const step = step_;
        while (next <= cell_limit_) {
            std::size_t const place = place_of_key(next), box = group * leaf_size + place;
            visited |= 1u << place;
            next = keys.least_above(next);
            if (next <= cell_limit_) prefetch_cells(level, group * leaf_size + place_of_key(next));
            visit(level, box);
            if (step != step_) [[unlikely]]
                return !(next <= cell_limit_of(step));
        }
        return true;
    }

    bool search_edges(std::size_t level, std::size_t group, unsigned visited) noexcept {
        profile_boxes const& boxes = leaves_.boxes(level);
        eight distances = box_squares(boxes.group(group), terms_);
        mark_places(distances, most_);
        double next = distances.smallest();
        if (!(next <= limit_)) return true;
        double squares[leaf_size];
        distances.store_to(squares);
        while (next <= limit_ && next < no_box) {
            double const nearest = next;
            std::size_t const place = place_of(nearest), box = group * leaf_size + place;
            next = least_above(nearest, squares);
            if ((visited >> place & 1) != 0) continue;
            if (nearest >= tie_ && is_older_tie(boxes, box)) continue;
            if (is_far_ && next <= limit_) prefetch(level, group * leaf_size + place_of(next));
            visit(level, box);
        }
        return true;
    }

    void prefetch(std::size_t level, std::size_t box) const noexcept {
        if (box >= leaves_.boxes(level).size()) return;
        double const* const from = level == 0 ? leaves_.leaf(box) : leaves_.boxes(level - 1).group(box);
        std::size_t const length = leaves_.factors() * (level == 0 ? leaf_size : 2 * leaf_size);
        for (std::size_t i = 0; i < length; i += leaf_size) STRAGGLE_PREFETCH(from + i);
    }
    void prefetch_cells(std::size_t level, std::size_t box) const noexcept {
        profile_cell const* const from =
            level == 0 ? leaves_.cells(box) : leaves_.boxes(level - 1).cells(box);
        std::size_t const length = leaves_.cells_length() * (level == 0 ? 1 : 2);
        for (std::size_t i = 0; i < length; i += 4 * leaf_size) STRAGGLE_PREFETCH(from + i);
    }

    void search_leaf(std::size_t l) noexcept {
        unsigned candidates = leaves_.alive(l);
        bool const all_alive = candidates == 0xff;
        if (!by_edges()) {
            auto const [a, b] =
                cell_squares(leaves_.cells(l), 2 * leaf_size, 0, cells_.constant(), cells_.terms());
            candidates &= which_within(a, b, static_cast<std::int32_t>(cell_limit_));
            if (candidates == 0) return;
        }
        double squares[leaf_size] = {};
        double const least = add_squares(leaves_.leaf(l), terms_, squares);
        if (!(least <= limit_)) return;
        // For one neighbor, only the smallest counts, and possible ties.
        double const limit = k_ == 1 && all_alive ? (std::min)(limit_, slack_.above_square(least)) : limit_;
        eight all(squares);
        candidates &= which_squares(all, limit);
        for (; candidates != 0; candidates &= candidates - 1) {
            auto const i = static_cast<std::size_t>(std::countr_zero(candidates));
            if (squares[i] <= limit_)
                consider({std::sqrt(squares[i]), static_cast<std::uint32_t>(l * leaf_size + i)});
        }
    }

    void consider(profile_hit const& hit) noexcept {
        if (hits_.size() < k_) {
            if (!(hit.distance <= within_)) return;
            hits_.push_back(hit);
            if (hits_.size() < k_) return;
            if (k_ > 1) std::make_heap(hits_.begin(), hits_.end(), better{leaves_});
        } else {
            // Among many ties the youngest win: only edges can exclude boxes then.
            if (hit.distance == hits_.front().distance && ++ties_ == most_ties) {
                least_for_cells_ = simd::plus_infinity;
                step_ = 0;
            }
            if (!better{leaves_}(hit, hits_.front())) return;
            replace_worst(hit);
        }
        tie_ = slack_.below(hits_.front().distance);
        set_limit(slack_.above(hits_.front().distance));
    }

    // Steps must be small compared to the limit, but large enough for cells to be distinguishable.
    void set_limit(double limit) noexcept {
        limit_ = limit;
        if (by_edges()) {
            step_ = 0;
            return;
        }
        if (limit < next_steps_) {
            next_steps_ = limit / 64;
            cells_.measure(std::sqrt(limit));
            step_ = cells_.step();
        }
        cell_limit_ = cell_limit_of(step_);
    }
    // Upper bound, in steps, for the squares of everything within the limit.
    [[nodiscard]] float cell_limit_of(double step) const noexcept {
        double const squares = (limit_ / (step * step) + least_sum) * (1 + 0x1p-18);
        return static_cast<float>(squares < 0x1p30 ? squares : 0x1p30);
    }

    void replace_worst(profile_hit const& hit) noexcept {
        better const is_better{leaves_};
        profile_hit* const heap = hits_.data();
        std::size_t const n = hits_.size();
        std::size_t at = 0;
        for (std::size_t child = 1; child < n; child = 2 * at + 1) {
            // Added instead of branching: the choice is unpredictable.
            if (child + 1 < n) child += is_better(heap[child], heap[child + 1]) ? 1u : 0u;
            if (!is_better(hit, heap[child])) break;
            heap[at] = heap[child];
            at = child;
        }
        heap[at] = hit;
    }

    // Whether everything in the box is older than the worst hit and no nearer.
    [[nodiscard]] STRAGGLE_NEVER_INLINE bool is_older_tie(profile_boxes const& boxes,
                                                          std::size_t box) const noexcept {
        return boxes.youngest(box) <= leaves_.number(hits_.front().slot) &&
               is_no_nearer(boxes, box, terms_, hits_.front().distance);
    }

    profile_leaves const& leaves_;
    std::span<factor_term const> terms_;
    cell_query& cells_;
    std::vector<profile_hit>& hits_;
    std::size_t k_;
    double within_;
    square_slack slack_;
    double most_ = largest_square;
    bool is_far_;                      // records are too many for the caches
    double limit_;                     // squared distance up to which records are examined
    double tie_ = simd::plus_infinity; // squares below this are certainly better than the worst hit
    double least_for_cells_ = simd::plus_infinity; // for smaller limits, use edges
    double next_steps_;                            // smaller limits need new steps
    double step_ = 0;                              // of the cells' terms; 0: use edges
    float cell_limit_ = 0;
    unsigned ties_ = 0;
};
} // namespace straggle::detail
