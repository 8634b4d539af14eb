// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `assign/optimal_assignment.hpp`: the places from which a path could continue, the most
/// promising first. A binary heap that avoids the unpredictable branch on the larger child: the last element
/// sinks to a leaf and rises from there, as it mostly belongs near the bottom.
/// as it mostly belongs there.
#pragma once

#include <straggle/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// A full column to pass; or a row that was passed, whose unlisted pairs remain.
struct open_place {
    double gain; // upper bound for the path up to there
    std::uint32_t column;
    std::uint32_t row;
};

class open_places {
  public:
    void reserve(std::size_t places) { heap_.reserve(places); }
    void clear() noexcept { heap_.clear(); }
    [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
    // @pre `!empty()`
    [[nodiscard]] open_place best() const noexcept { return heap_.front(); }

    void open(open_place const& place) {
        heap_.push_back(place);
        put_up(heap_.size() - 1, place);
    }
    // @pre `!empty()`
    void close_best() noexcept {
        open_place* const heap = heap_.data();
        open_place const last = heap_.back();
        heap_.pop_back();
        std::size_t const size = heap_.size();
        if (size == 0) return;
        std::size_t at = 0, child = 1;
        for (; child + 1 < size; child = 2 * at + 1) {
            child += heap[child].gain < heap[child + 1].gain ? 1 : 0;
            heap[at] = heap[child];
            at = child;
        }
        if (child < size) {
            heap[at] = heap[child];
            at = child;
        }
        put_up(at, last);
    }

  private:
    void put_up(std::size_t at, open_place const& place) noexcept {
        open_place* const heap = heap_.data();
        while (at > 0) {
            std::size_t const parent = (at - 1) / 2;
            if (!(heap[parent].gain < place.gain)) break;
            heap[at] = heap[parent];
            at = parent;
        }
        heap[at] = place;
    }

    std::vector<open_place> heap_;
};

} // namespace straggle::detail
