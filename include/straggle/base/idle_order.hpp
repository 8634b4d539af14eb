// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of `predict/detail/id_places.hpp`, `rank/detail/job_memory.hpp` and
/// `rank/detail/window_store.hpp`: finds the id not seen for longest, at no cost when an id is seen again.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/grow.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// A heap of possibly outdated rows: the id was seen since, or is gone. Rows are corrected when they reach the
// top. Each id has a row whose time is at most that of its last sighting.
template <class Seen>
class idle_order {
  public:
    static constexpr std::uint64_t none = ~std::uint64_t{0};

    // Makes room for more rows before anything changes. `live`: number of ids; `visit_all(f)` calls f(id,
    // seen) for each.
    template <class VisitAll>
    void make_room(std::size_t live, VisitAll&& visit_all, std::size_t more = 1) {
        if (rows_.size() > 2 * live + 8) {
            rows_.clear();
            visit_all([this](std::uint64_t id, Seen seen) { rows_.push_back({seen, id}); });
            std::make_heap(rows_.begin(), rows_.end(), later);
        }
        make_room_for(rows_, more);
    }
    // @pre make_room() was called
    void add(std::uint64_t id, Seen seen) noexcept {
        rows_.push_back({seen, id});
        std::push_heap(rows_.begin(), rows_.end(), later);
    }
    // The id not seen for longest, or none. `seen_of(id)` points to the time of its last sighting, or is null
    // if it is gone.
    template <class SeenOf>
    [[nodiscard]] std::uint64_t oldest(SeenOf&& seen_of) noexcept {
        while (!rows_.empty()) {
            row const top = rows_.front();
            Seen const* const seen = seen_of(top.id);
            if (seen != nullptr && !(*seen > top.seen)) return top.id;
            std::pop_heap(rows_.begin(), rows_.end(), later);
            rows_.pop_back();
            if (seen != nullptr) add(top.id, *seen);
        }
        return none;
    }

  private:
    struct row {
        Seen seen;
        std::uint64_t id;
    };
    static bool later(row const& a, row const& b) noexcept {
        return a.seen > b.seen || (!(b.seen > a.seen) && a.id > b.id);
    }
    std::vector<row> rows_{};
};

} // namespace straggle::detail
