// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/detail/dense_attempts.hpp` and `rank/detail/hashed_attempts.hpp`: which jobs and
/// nodes occur, in order of first appearance.
#pragma once

#include <straggle/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// The slots in use, in the order in which they first appeared.
class order_of_appearance {
  public:
    // Never inlined, so that loops in which it is rare keep their registers.
    STRAGGLE_NEVER_INLINE void append(std::size_t slot) {
        slots_.push_back(static_cast<std::uint32_t>(slot));
    }
    [[nodiscard]] std::size_t size() const noexcept { return slots_.size(); }
    [[nodiscard]] std::size_t slot_at(std::size_t place) const noexcept { return slots_[place]; }

  protected:
    void forget() noexcept { slots_.clear(); }

  private:
    std::vector<std::uint32_t> slots_;
};

} // namespace straggle::detail
