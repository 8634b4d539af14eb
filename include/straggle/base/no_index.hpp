// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of the rooms: an invalid index, as in `interner::none`.
#pragma once

#include <straggle/base/config.hpp>

#include <cstdint>
#include <limits>

namespace straggle::inline STRAGGLE_ABI::detail {

inline constexpr std::uint32_t no_index = (std::numeric_limits<std::uint32_t>::max)();

} // namespace straggle::detail
