// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `predict/profile_store.hpp`: the nearest records of a query, by way of the boxes.
///
/// The distance of a box is only used to leave out what is certainly too far away, with some slack for
/// rounding; a record is judged by the distance that is reported. So ties are ties.
#pragma once

#include <straggle/config.hpp>
#include <straggle/predict/profile_leaves.hpp>
#include <straggle/predict/similarity_lanes.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace straggle::detail {

struct profile_hit {
    double distance;
    std::uint32_t slot;
};

// The terms of a query in the order of the factors. Those without weight add nothing.
inline void make_terms(profile_leaves const& leaves, std::span<double const> row,
                       std::span<double const> weights, std::vector<factor_term>& terms) {
    terms.clear();
    for (std::size_t k = 0; k < row.size(); ++k)
        if (weights[k] > 0)
            terms.push_back(make_term(k, leaves.is_numeric(k), row[k], leaves.range(k), weights[k],
                                      leaves.missing(k) != 0));
}

// Squares of boxes lie between these, rounding aside: so their last bits can be used for something else, also
// where numbers below the normal ones count as 0, and no infinity is needed to say that there is no box.
inline constexpr double least_square = 0x1p-900;
inline constexpr double largest_square = 0x1p1022;
inline constexpr double no_box = 0x1p1023;

// Sums over the terms of the least square that a record in each of eight boxes can have, about.
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

// Puts the places of eight squares, counted from the end, into their last bits: so no two are equal, the
// least one tells its place, and among equals it is the last.
STRAGGLE_ALWAYS_INLINE void mark_places(eight& squares) noexcept {
    using namespace simd;
    alignas(64) static constexpr std::uint64_t places[leaf_size] = {7, 6, 5, 4, 3, 2, 1, 0};
    squares.each([](lanes& v, std::size_t i) STRAGGLE_INLINE_LAMBDA {
        lane_mask place;
        std::memcpy(&place, places + i, sizeof place);
        v = std::bit_cast<lanes>((bits_of(smaller(v, splat(largest_square))) & ~splat_bits(leaf_size - 1)) |
                                 place);
    });
}
constexpr std::size_t place_of(double marked) noexcept {
    return leaf_size - 1 - (std::bit_cast<std::uint64_t>(marked) & (leaf_size - 1));
}
// The least of eight that is above another, or `no_box`.
STRAGGLE_ALWAYS_INLINE double least_above(double above, double const* squares) noexcept {
    using namespace simd;
    eight rest(squares);
    rest.each([above](lanes& v, std::size_t)
                  STRAGGLE_INLINE_LAMBDA { v = lanes_choose(less(splat(above), v), v, splat(no_box)); });
    return rest.smallest();
}

// Keeps the best in a heap, the worst on top.
class profile_search {
  public:
    // @pre k > 0; room for so many in `hits`; there are records
    profile_search(profile_leaves const& leaves, std::span<factor_term const> terms, std::size_t k,
                   double within, std::vector<profile_hit>& hits) noexcept
        : leaves_(leaves),
          terms_(terms),
          hits_(hits),
          k_(k),
          within_(within),
          slack_(static_cast<double>(terms.size() + 8) * 0x1p-50) {
        hits_.clear();
        limit_ = above(within);
    }

    // Nearest first, the youngest of equals first.
    void run() noexcept {
        search(leaves_.top(), 0);
        std::sort(hits_.begin(), hits_.end(), better{leaves_});
    }

  private:
    struct better {
        profile_leaves const& leaves;
        bool operator()(profile_hit const& a, profile_hit const& b) const noexcept {
            if (a.distance != b.distance) return a.distance < b.distance;
            return leaves.number(a.slot) > leaves.number(b.slot);
        }
    };

    // Visits the boxes of a group, nearest first, until they are too far away.
    void search(std::size_t level, std::size_t group) noexcept {
        profile_boxes const& boxes = leaves_.boxes(level);
        eight distances = box_squares(boxes.group(group), terms_);
        mark_places(distances);
        double next = distances.smallest();
        if (!(next <= limit_)) return;
        double squares[leaf_size];
        distances.store_to(squares);
        do {
            double const nearest = next;
            std::size_t const box = group * leaf_size + place_of(nearest);
            next = least_above(nearest, squares);
            if (box >= boxes.size() || (nearest >= tie_ && is_older_tie(boxes, box))) continue;
            if (next <= limit_) prefetch(level, group * leaf_size + place_of(next));
            if (level == 0)
                search_leaf(box);
            else
                search(level - 1, box);
        } while (next <= limit_ && next < no_box);
    }

    void prefetch(std::size_t level, std::size_t box) const noexcept {
        if (box >= leaves_.boxes(level).size()) return;
        double const* const from = level == 0 ? leaves_.leaf(box) : leaves_.boxes(level - 1).group(box);
        std::size_t const length = leaves_.factors() * (level == 0 ? leaf_size : 2 * leaf_size);
        for (std::size_t i = 0; i < length; i += leaf_size) STRAGGLE_PREFETCH(from + i);
    }

    void search_leaf(std::size_t l) noexcept {
        double squares[leaf_size] = {};
        if (!(add_squares(leaves_.leaf(l), terms_, squares) <= limit_)) return;
        for (std::size_t i = 0; i < leaf_size; ++i)
            if (squares[i] <= limit_ && leaves_.is_alive(l * leaf_size + i))
                consider({std::sqrt(squares[i]), static_cast<std::uint32_t>(l * leaf_size + i)});
    }

    void consider(profile_hit const& hit) noexcept {
        if (hits_.size() < k_) {
            if (!(hit.distance <= within_)) return;
            hits_.push_back(hit);
            if (hits_.size() < k_) return;
            std::make_heap(hits_.begin(), hits_.end(), better{leaves_});
        } else {
            if (!better{leaves_}(hit, hits_.front())) return;
            replace_worst(hit);
        }
        limit_ = above(hits_.front().distance);
        tie_ = below(hits_.front().distance);
    }

    void replace_worst(profile_hit const& hit) noexcept {
        better const is_better{leaves_};
        profile_hit* const heap = hits_.data();
        std::size_t const n = hits_.size();
        std::size_t at = 0;
        for (std::size_t child = 1; child < n; child = 2 * at + 1) {
            // Added, not branched on: nobody could foresee which one it is.
            if (child + 1 < n) child += is_better(heap[child], heap[child + 1]) ? 1u : 0u;
            if (!is_better(hit, heap[child])) break;
            heap[at] = heap[child];
            at = child;
        }
        heap[at] = hit;
    }

    // Whether everything in the box is older than the worst hit and no nearer. Decided by the distance of a
    // record in the nearest corner, computed as any other: all steps of that are monotonic.
    [[nodiscard]] bool is_older_tie(profile_boxes const& boxes, std::size_t box) const noexcept {
        if (boxes.youngest(box) > leaves_.number(hits_.front().slot)) return false;
        double sums[leaf_size] = {};
        for (factor_term t : terms_) {
            if (t.form == term_form::presence) continue; // can be missing as well
            factor_extent const e = boxes.get(box, t.factor);
            double const nearest = t.value < e.low ? e.low : t.value > e.high ? e.high : t.value;
            double leaf[leaf_size];
            for (double& value : leaf) value = nearest;
            if (t.form == term_form::number_or_missing) leaf[0] = encoded_missing;
            t.factor = 0;
            double const least = add_squares(leaf, {&t, 1}, sums);
            for (double& sum : sums) sum = least;
        }
        return std::sqrt(sums[0]) >= hits_.front().distance;
    }

    // A square above this is that of a larger distance, however it was rounded; below the other of a smaller.
    [[nodiscard]] double above(double distance) const noexcept {
        return distance * distance * (1 + slack_) + 2 * least_square;
    }
    [[nodiscard]] double below(double distance) const noexcept {
        return distance * distance * (1 - slack_) - 2 * least_square;
    }

    profile_leaves const& leaves_;
    std::span<factor_term const> terms_;
    std::vector<profile_hit>& hits_;
    std::size_t k_;
    double within_;
    double slack_;
    double limit_;                     // of squares that are looked at
    double tie_ = simd::plus_infinity; // of squares that are certainly better than the worst hit
};

} // namespace straggle::detail
