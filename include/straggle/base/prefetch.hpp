// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of `rank/detail/dense_attempts.hpp`, `rank/detail/hashed_attempts.hpp` and
/// `mitigate/detail/task_stage.hpp`: prefetches rows of tables.
#pragma once

#include <straggle/base/config.hpp>

#include <cstddef>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::detail {

// How many records ahead to prefetch; tuned at 1e6 and 1e7 random jobs.
inline constexpr std::size_t prefetch_distance = 24;

// Prefetches a row. The slot is unchecked and may have any value, so the address is computed as a number: a
// pointer far outside its table must not even be formed.
template <class Row>
STRAGGLE_ALWAYS_INLINE void prefetch_row([[maybe_unused]] Row const* rows,
                                         [[maybe_unused]] std::size_t slot) {
    [[maybe_unused]] std::uintptr_t const row = reinterpret_cast<std::uintptr_t>(rows) + slot * sizeof(Row);
    STRAGGLE_PREFETCH(reinterpret_cast<void const*>(row));
    if constexpr (64 % sizeof(Row) != 0) // it may extend into the next cache line
        STRAGGLE_PREFETCH(reinterpret_cast<void const*>(row + sizeof(Row) - 1));
}

// Prefetches a few lines ahead in a sequential read. The hardware does so by itself, but not beyond the end
// of a page. May point past the end: no element is accessed.
template <class Element>
STRAGGLE_ALWAYS_INLINE void prefetch_behind(Element const& element) {
    constexpr std::uintptr_t bytes = std::uintptr_t{24} * 64;
    [[maybe_unused]] auto const at =
        reinterpret_cast<std::uintptr_t>(&reinterpret_cast<unsigned char const&>(element));
    STRAGGLE_PREFETCH(reinterpret_cast<void const*>(at + bytes));
}

} // namespace straggle::detail
