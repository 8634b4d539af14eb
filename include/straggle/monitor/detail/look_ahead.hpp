// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `monitor/monitor.hpp`: many attempts at a time, so that what one needs comes from memory
/// while others are worked on.
#pragma once

#include <straggle/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace straggle::inline STRAGGLE_ABI::detail {

// Indices that have been looked up, or `none` where that is to be done.
struct looked_up {
    static constexpr std::uint32_t none = (std::numeric_limits<std::uint32_t>::max)();
    std::uint32_t job = none, node = none;
    std::uint64_t erasures = 0; // before; had there been more since, an index might be another's
    [[nodiscard]] constexpr bool both() const noexcept { return job != none && node != none; }
};

// Where nobody has looked yet.
struct not_looked_up {};

// In blocks: all look-ups of a block first, each step asking for what the next one needs. Returns how often
// observe(record, indices) is true.
template <class Store, class Record, class LookUp, class Observe>
std::size_t observe_ahead(Store const& held, std::span<Record const> records, LookUp&& look_up,
                          Observe&& observe) {
    constexpr std::size_t block = 32;
    std::size_t entered = 0;
    for (std::size_t begin = 0; begin < records.size(); begin += block) {
        std::size_t const left = records.size() - begin, size = left < block ? left : block;
        std::span<Record const> const some = records.subspan(begin, size);
        looked_up known[block];
        for (std::size_t i = 0; i < size; ++i) {
            known[i] = look_up(some[i]);
            if (known[i].job != looked_up::none) held.prefetch_row(known[i].job);
        }
        for (std::size_t i = 0; i < size; ++i)
            if (known[i].both()) held.prefetch_index(known[i].job, known[i].node);
        for (std::size_t i = 0; i < size; ++i)
            if (known[i].both()) held.prefetch_pair(known[i].job, known[i].node);
        for (std::size_t i = 0; i < size; ++i) entered += observe(some[i], known[i]) ? 1u : 0u;
    }
    return entered;
}

} // namespace straggle::detail
