// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `base/interner.hpp`: how identifiers of a type are stored, looked up, hashed and compared.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/detail/text_hash.hpp>
#include <straggle/base/projection.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::detail {

template <class T>
struct owned_identifier {
    using type = T;
    using key = T const&;

    // Whether their order certainly agrees with their equality.
    static constexpr bool is_ordered = std::is_integral_v<T> || std::is_enum_v<T>;
    // Whether hashes are stored: a user's hash may throw, so erasing must not recompute it.
    static constexpr bool remembers_hashes = !std::is_arithmetic_v<T>;

    STRAGGLE_ALWAYS_INLINE static std::uint64_t hash(key id, std::uint64_t with) {
        return hash_number(std::hash<T>{}(id), with);
    }
    static bool same(T const& a, key b) { return a == b; }
    static int compare(key id, T const& other) noexcept {
        if constexpr (is_ordered)
            return id < other ? -1 : static_cast<int>(other < id);
        else
            return 0;
    }
};

// Text is stored as std::string even if a projection yields a view: the records may be destroyed.
template <text T>
struct owned_identifier<T> {
    using type = std::string;
    using key = std::string_view;

    static constexpr bool is_ordered = true;
    static constexpr bool remembers_hashes = false;

    static std::uint64_t hash(key id, std::uint64_t with) { return hash_text(id, with); }
    static bool same(type const& a, key b) { return same_text(a, b); }
    static int compare(key id, type const& other) noexcept { return id.compare(other); }
};

} // namespace straggle::detail
