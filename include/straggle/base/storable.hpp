// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Identifiers that can be serialized, to be read by another process or machine.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/base/projection.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::detail {

// An enumeration that can hold every value of its underlying type.
template <class T>
concept enumeration_of_fixed_type = std::is_enum_v<T> && requires { T{0}; };

template <class T>
struct number_of {
    using type = T;
};
template <enumeration_of_fixed_type T>
struct number_of<T> {
    using type = std::underlying_type_t<T>;
};

// Includes characters, which are numbers; excludes types wider than 64 bits.
template <class T>
concept whole_number =
    (std::integral<T> || enumeration_of_fixed_type<T>) && std::integral<typename number_of<T>::type> &&
    !std::same_as<typename number_of<T>::type, bool> && sizeof(T) <= 8;

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::base {

/// An identifier that can be serialized: text, an integer of at most 64 bits, or an enumeration with a fixed
/// underlying type (all `enum class` have one). The bytes of other types, with pointers and padding, would
/// differ between runs.
template <class T>
concept storable_identifier = identifier<T> && (detail::text<T> || detail::whole_number<T>);

/// The serialized form of identifiers of a type, to be written and read with `tag`: text and whole numbers
/// differ; whole numbers of different width or sign do not, because their bytes are the same.
template <storable_identifier Id>
inline constexpr std::uint32_t identifier_form = detail::text<Id> ? 1 : 2;

} // namespace straggle::base
