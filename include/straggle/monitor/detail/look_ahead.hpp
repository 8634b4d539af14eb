// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `monitor/monitor.hpp`: processes attempts in batches, so that their memory accesses
/// overlap.
#pragma once

#include <straggle/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace straggle::inline STRAGGLE_ABI::detail {

// The locations of an attempt's job, node and pair, now or earlier; `none` if they must be looked up.
struct looked_up {
    static constexpr std::uint32_t none = (std::numeric_limits<std::uint32_t>::max)();
    std::uint32_t job, node;
    std::uint32_t pair; // its probable number in the job's latest step
    std::uint64_t
        erasures; // at that time; if it has changed since, an index may belong to another identifier
    static constexpr looked_up nowhere() noexcept { return {none, none, none, 0}; }
    // Indices have 31 bits.
    [[nodiscard]] constexpr bool both() const noexcept { return ((job | node) >> 31) == 0; }
};

// No lookup yet: a separate type, since a run-time check costs 21 instructions per attempt.
struct not_looked_up {};

// In blocks: first all lookups of a block, each stage prefetching for the next. Returns how often
// observe(record, found) is true.
template <class Store, class Record, class LookUp, class Observe>
std::size_t observe_ahead(Store const& held, std::span<Record const> records, LookUp&& look_up,
                          Observe&& observe) {
    constexpr std::size_t block = 32;
    std::size_t entered = 0;
    for (std::size_t begin = 0; begin < records.size(); begin += block) {
        std::size_t const left = records.size() - begin, size = left < block ? left : block;
        Record const* const some = records.data() + begin;
        looked_up found[block];
        for (std::size_t i = 0; i < size; ++i) {
            found[i] = look_up(some[i]);
            if (found[i].job != looked_up::none) [[likely]]
                held.prefetch_row(found[i].job);
        }
        for (std::size_t i = 0; i < size; ++i)
            if (found[i].both()) [[likely]]
                held.prefetch_index(found[i].job, found[i].node);
        for (std::size_t i = 0; i < size; ++i)
            if (found[i].both()) [[likely]]
                found[i].pair = held.prefetch_pair(found[i].job, found[i].node);
        for (std::size_t i = 0; i < size; ++i) entered += observe(some[i], found[i]) ? 1u : 0u;
    }
    return entered;
}

} // namespace straggle::detail
