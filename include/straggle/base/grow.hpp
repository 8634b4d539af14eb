// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of all rooms that keep tables: allocates memory for coming additions before anything changes.
#pragma once

#include <straggle/base/config.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Grows geometrically like push_back, but before any other change.
template <class T>
void make_room_for(std::vector<T>& v, std::size_t more) {
    std::size_t const size = v.size() + more;
    if (size > v.capacity()) v.reserve((std::max)({size, 2 * v.size(), std::size_t{8}}));
}
template <class T>
void make_room_for_one(std::vector<T>& v) {
    make_room_for(v, 1);
}

// Reserves for a size that is known. Grows geometrically, too, but wastes little where a table is written
// anew in each round and its size hardly changes.
template <class T>
void reserve_for(std::vector<T>& v, std::size_t size) {
    if (size > v.capacity()) v.reserve(size + size / 8);
}

} // namespace straggle::detail
