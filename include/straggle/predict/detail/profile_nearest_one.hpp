// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `predict/profile_store.hpp`: finds the single nearest record among few, with the same
/// result as a search for k in half the time. It needs no heap, uses only edges, and if the top is a pair of
/// boxes, searches both groups side by side.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/predict/detail/profile_leaves.hpp>
#include <straggle/predict/detail/profile_search.hpp>
#include <straggle/predict/detail/similarity_lanes.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace straggle::inline STRAGGLE_ABI::detail {

class profile_nearest_one {
  public:
    static constexpr std::uint32_t none = 0xffffffff;

    // @pre there are records
    profile_nearest_one(profile_leaves const& leaves, std::span<factor_term const> terms,
                        double within) noexcept
        : leaves_(leaves), terms_(terms), slack_(terms), best_{within, none} {
        limit_ = slack_.above(within);
    }

    // The slot is `none` if all are too far away.
    [[nodiscard]] profile_hit find() noexcept {
        std::size_t const top = leaves_.top();
        if (top > 0 && leaves_.boxes(top).size() == 2) {
            marked_squares first(*this, top - 1, 0), second(*this, top - 1, 1);
            bool const swapped = second.next < first.next;
            search(top - 1, swapped ? second : first);
            search(top - 1, swapped ? first : second);
        } else {
            marked_squares all(*this, top, 0);
            search(top, all);
        }
        return best_;
    }

  private:
    // The distances of a group's boxes, visited nearest first.
    struct marked_squares {
        alignas(64) double squares[leaf_size];
        double next;
        std::size_t first_box;

        STRAGGLE_ALWAYS_INLINE marked_squares(profile_nearest_one const& all, std::size_t level,
                                              std::size_t group) noexcept
            : first_box(group * leaf_size) {
            eight distances = box_squares(all.leaves_.boxes(level).group(group), all.terms_);
            mark_places(distances, all.most_);
            distances.store_to(squares);
            next = distances.smallest();
        }
    };

    void search(std::size_t level, marked_squares& group) noexcept {
        profile_boxes const& boxes = leaves_.boxes(level);
        while (group.next <= limit_ && group.next < no_box) {
            double const nearest = group.next;
            std::size_t const box = group.first_box + place_of(nearest);
            group.next = least_above(nearest, group.squares);
            if (box >= boxes.size()) continue;
            if (nearest >= tie_ && is_older(boxes, box)) continue;
            if (level == 0) {
                look_at(box);
            } else {
                marked_squares inside(*this, level - 1, box);
                search(level - 1, inside);
            }
        }
    }

    void look_at(std::size_t leaf) noexcept {
        double squares[leaf_size] = {};
        double const least = add_squares(leaves_.leaf(leaf), terms_, squares);
        if (!(least <= limit_)) return;
        // Only the smallest among the live records counts, and possible ties.
        unsigned found = leaves_.alive(leaf);
        bool const all_alive = found == 0xff;
        eight all(squares);
        found &= which_squares(all, all_alive ? (std::min)(limit_, slack_.above_square(least)) : limit_);
        for (; found != 0; found &= found - 1) {
            auto const i = static_cast<std::size_t>(std::countr_zero(found));
            consider({std::sqrt(squares[i]), static_cast<std::uint32_t>(leaf * leaf_size + i)});
        }
    }

    // The youngest among equals wins.
    void consider(profile_hit const& hit) noexcept {
        if (!(hit.distance <= best_.distance)) return;
        if (hit.distance == best_.distance && best_.slot != none &&
            leaves_.number(hit.slot) < leaves_.number(best_.slot))
            return;
        best_ = hit;
        limit_ = slack_.above(hit.distance);
        tie_ = slack_.below(hit.distance);
    }
    [[nodiscard]] STRAGGLE_NEVER_INLINE bool is_older(profile_boxes const& boxes,
                                                      std::size_t box) const noexcept {
        return boxes.youngest(box) <= leaves_.number(best_.slot) &&
               is_no_nearer(boxes, box, terms_, best_.distance);
    }

    profile_leaves const& leaves_;
    std::span<factor_term const> terms_;
    square_slack slack_;
    double most_ = largest_square;
    profile_hit best_;
    double limit_;                     // squared distance up to which records are examined
    double tie_ = simd::plus_infinity; // squares below this are certainly better than the best hit
};

} // namespace straggle::detail
