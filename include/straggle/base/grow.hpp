// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Shared part of all rooms that keep tables: allocates memory for coming additions before anything changes.
#pragma once

#include <straggle/base/config.hpp>

#include <cstddef>
#include <vector>

namespace straggle::inline STRAGGLE_ABI::detail {

// Grows geometrically like push_back, but before any other change.
template <class T>
void make_room_for_one(std::vector<T>& v) {
    if (v.size() == v.capacity()) v.reserve(v.size() < 8 ? 8 : 2 * v.size());
}

// Reserves for a size that is known. Grows geometrically, too, but wastes little where a table is written
// anew in each round and its size hardly changes.
template <class T>
void reserve_for(std::vector<T>& v, std::size_t size) {
    if (size > v.capacity()) v.reserve(size + size / 8);
}

// Resizes to default values; frees the old elements before it allocates.
template <class T>
void resize_anew(std::vector<T>& v, std::size_t size) {
    v.clear();
    if (size > v.capacity()) {
        std::vector<T>().swap(v);
        v.reserve(size + size / 8);
    }
    v.resize(size);
}

} // namespace straggle::detail
