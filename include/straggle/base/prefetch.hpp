// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of `mitigate/detail/task_book.hpp` and `mitigate/detail/task_stage.hpp`: prefetches rows of
/// tables.
#pragma once

#include <straggle/base/config.hpp>

#include <cstddef>
#include <cstdint>

namespace straggle::inline STRAGGLE_ABI::detail {

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

} // namespace straggle::detail
