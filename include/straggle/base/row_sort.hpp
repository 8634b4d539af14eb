// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of the rooms that sort few rows, or rarely: one function for rows of all types. `std::sort`
/// is compiled anew for each type and each order, to 2 or 3 KB.
#pragma once

#include <straggle/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Rows of which only the size is known.
class plain_rows {
  public:
    using order = bool (*)(void const* before, void const* a, void const* b);

    plain_rows(void* rows, std::size_t bytes, order goes_first, void const* before) noexcept
        : rows_(static_cast<unsigned char*>(rows)), bytes_(bytes), is_before_(goes_first), before_(before) {}

    STRAGGLE_NEVER_INLINE void sort(std::size_t count) const {
        constexpr std::size_t few = 16;
        if (count <= few) {
            for (std::size_t i = 1; i < count; ++i)
                for (std::size_t at = i; at > 0 && is_before(at, at - 1); --at) swap(at, at - 1);
            return;
        }
        for (std::size_t top = count / 2; top-- > 0;) sink(top, count);
        for (std::size_t left = count; left-- > 1;) {
            swap(0, left);
            sink(0, left);
        }
    }

  private:
    [[nodiscard]] unsigned char* at(std::size_t i) const noexcept { return rows_ + i * bytes_; }
    [[nodiscard]] bool is_before(std::size_t a, std::size_t b) const {
        return is_before_(before_, at(a), at(b));
    }
    // The top of a heap is the row that comes last.
    void sink(std::size_t top, std::size_t count) const {
        for (std::size_t below = 2 * top + 1; below < count; top = below, below = 2 * top + 1) {
            if (below + 1 < count && is_before(below, below + 1)) ++below;
            if (!is_before(top, below)) return;
            swap(top, below);
        }
    }
    STRAGGLE_NEVER_INLINE void swap(std::size_t i, std::size_t j) const noexcept {
        unsigned char *a = at(i), *b = at(j), *const end = a + bytes_;
        for (; end - a >= 8; a += 8, b += 8) {
            std::uint64_t x = 0, y = 0;
            std::memcpy(&x, a, sizeof x);
            std::memcpy(&y, b, sizeof y);
            std::memcpy(a, &y, sizeof y);
            std::memcpy(b, &x, sizeof x);
        }
        for (; a != end; ++a, ++b) std::swap(*a, *b);
    }

    unsigned char* rows_;
    std::size_t bytes_;
    order is_before_;
    void const* before_;
};

// Sorts rows. `before` must order them completely, or the order of equal ones must not matter. O(n log n).
// Rows of 16 bytes take as long as with `std::sort` if there are 8, and 2 to 5 times as long from 100 on.
template <class Row, class Before>
void sort_rows(std::vector<Row>& rows, Before const& before) {
    static_assert(std::is_trivially_copyable_v<Row>);
    plain_rows(
        rows.data(), sizeof(Row),
        [](void const* order, void const* a, void const* b) {
            return static_cast<bool>((*static_cast<Before const*>(order))(*static_cast<Row const*>(a),
                                                                          *static_cast<Row const*>(b)));
        },
        &before)
        .sort(rows.size());
}

} // namespace straggle::detail
