// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of `rank/detail/dense_attempts.hpp`, `rank/detail/hashed_attempts.hpp`,
/// `monitor/detail/window_ranker.hpp` and `mitigate/detail/task_stage.hpp`: asks for rows of tables before
/// they are needed.
#pragma once

#include <straggle/base/config.hpp>

#include <cstddef>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::detail {

// How many records ahead their table rows are asked for; tuned at 1e6 and 1e7 random jobs.
inline constexpr std::size_t prefetch_distance = 24;

// Asks for a row that will be needed soon. The slot is not checked yet and may be anything, so the address is
// reckoned as a number: a pointer far outside its table may not even be formed.
template <class Row>
STRAGGLE_ALWAYS_INLINE void prefetch_row([[maybe_unused]] Row const* rows,
                                         [[maybe_unused]] std::size_t slot) {
    [[maybe_unused]] std::uintptr_t const row = reinterpret_cast<std::uintptr_t>(rows) + slot * sizeof(Row);
    STRAGGLE_PREFETCH(reinterpret_cast<void const*>(row));
    if constexpr (64 % sizeof(Row) != 0) // it may reach into the next line of the cache
        STRAGGLE_PREFETCH(reinterpret_cast<void const*>(row + sizeof(Row) - 1));
}

// Asks for what stands some lines behind an element that is read in its turn. The processor asks for the next
// lines by itself, but not beyond the end of a page. There may be nothing: no element is touched.
template <class Element>
STRAGGLE_ALWAYS_INLINE void prefetch_behind(Element const& element) {
    constexpr std::uintptr_t bytes = std::uintptr_t{24} * 64;
    [[maybe_unused]] auto const at =
        reinterpret_cast<std::uintptr_t>(&reinterpret_cast<unsigned char const&>(element));
    STRAGGLE_PREFETCH(reinterpret_cast<void const*>(at + bytes));
}

} // namespace straggle::detail
