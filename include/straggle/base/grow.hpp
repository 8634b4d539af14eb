// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of `blacklist/ranked_blacklist.hpp`, `detect/job_progress.hpp` and
/// `monitor/detail/window_store.hpp`: memory for what is about to be added, asked for while nothing has
/// changed yet.
#pragma once

#include <straggle/base/config.hpp>

#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Grows like push_back, but before anything else is changed.
template <class T>
void make_room_for_one(std::vector<T>& v) {
    if (v.size() == v.capacity()) v.reserve(v.size() < 8 ? 8 : 2 * v.size());
}

} // namespace straggle::detail
