// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// How the library reads a record it does not own: each field is a projection (a pointer to member or any
/// callable) whose result satisfies a named concept. The record type stays the user's.
#pragma once

#include <straggle/base/config.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

namespace straggle::inline STRAGGLE_ABI::base {

/// Stands for a field that a record lacks.
struct no_field {};

} // namespace straggle::base

namespace straggle::inline STRAGGLE_ABI::detail {

// A field that a record has.
template <class Field>
concept given = !std::same_as<std::remove_cvref_t<Field>, base::no_field>;

template <class Projection, class Object>
concept member_of = requires(Projection const& p, Object const& o) { o.*p; } ||
                    requires(Projection const& p, Object const& o) { (o.*p)(); };

// A raw or smart pointer to the object with the member.
template <class Projection, class Record>
concept member_behind = !member_of<Projection, Record> && requires(Record const& r) { std::as_const(*r); } &&
                        member_of<Projection, std::remove_cvref_t<decltype(*std::declval<Record const&>())>>;

// std::invoke for one const argument, without <functional>, which would double the size of this header.
template <class Projection, class Record>
constexpr decltype(auto) project(Projection const& projection, Record const& record)
    requires(std::is_member_pointer_v<Projection>
                 ? member_of<Projection, Record> || member_behind<Projection, Record>
                 : requires { projection(record); })
{
    if constexpr (member_behind<Projection, Record>)
        return project(projection, std::as_const(*record));
    else if constexpr (std::is_member_function_pointer_v<Projection>)
        return (record.*projection)();
    else if constexpr (std::is_member_object_pointer_v<Projection>)
        return (record.*projection);
    else
        return projection(record);
}

template <class Projection, class Record>
using projected_t = decltype(project(std::declval<Projection const&>(), std::declval<Record const&>()));

// std::optional and similar types; a raw pointer is not one.
template <class T>
concept optional_like = requires(T const& t) {
    { t.has_value() } -> std::convertible_to<bool>;
    *t;
};

template <class T>
struct unwrapped {
    using type = T;
};
template <optional_like T>
struct unwrapped<T> {
    using type = std::remove_cvref_t<decltype(*std::declval<T const&>())>;
};
template <class T>
using unwrapped_t = typename unwrapped<std::remove_cvref_t<T>>::type;

// The result of a projection, without a std::optional around it.
template <class Projection, class Record>
using field_value_t = unwrapped_t<projected_t<Projection, Record>>;

template <class T>
constexpr bool is_present(T const& field) noexcept {
    if constexpr (optional_like<T>)
        return field.has_value();
    else
        return true;
}

template <class T>
constexpr decltype(auto) unwrap(T const& field) {
    if constexpr (optional_like<T>)
        return *field;
    else
        return (field);
}

template <class T>
concept text = std::convertible_to<T const&, std::string_view>;

// Wider types would be truncated.
template <class T>
concept amount =
    std::is_arithmetic_v<T> && !std::same_as<T, bool> && (!std::is_integral_v<T> || sizeof(T) <= 8);

} // namespace straggle::detail

namespace straggle::inline STRAGGLE_ABI::base {

/// A projection of `Record`: a pointer to a data member or to a const member function without parameters, of
/// the record or of what it points to (raw and smart pointers that are not null), or a callable.
template <class Projection, class Record>
concept projection_of = requires(Projection const& p, Record const& r) { detail::project(p, r); };

/// Names a node, a job or a task: text, or any regular type (default constructible, copyable, comparable)
/// except `bool` that has a `std::hash`. Text is stored as `std::string`, other types as themselves.
template <class T>
concept identifier = detail::text<T> || (std::regular<T> && !std::same_as<T, bool> && requires(T const& t) {
                         { std::hash<T>{}(t) } -> std::convertible_to<std::size_t>;
                     });

/// A length of time: any arithmetic type except `bool` and integers of more than 64 bits, or a
/// `std::chrono::duration` of one, or a similar type. Integers keep exact sums; the unit does not matter as
/// long as it is consistent within a range of records.
template <class T>
concept duration_like = detail::amount<T> || requires(T const& t) {
    typename T::rep;
    typename T::period;
    { t.count() } -> std::convertible_to<typename T::rep>;
    requires detail::amount<typename T::rep>;
};

/// A point in time: it can be copied, two of them can be ordered, and their difference is a length of time.
template <class T>
concept time_like = std::totally_ordered<T> && std::copyable<T> && !std::same_as<T, bool> &&
                    !std::is_pointer_v<T> && requires(T const& a, T const& b) {
                        { b - a } -> duration_like;
                    };

/// A time with an epoch: an arithmetic type, or a `std::chrono::time_point` or similar type.
template <class Time>
concept clock_time = detail::amount<Time> || requires(Time const& t) {
    { t.time_since_epoch().count() } -> std::convertible_to<long double>;
    requires detail::amount<std::remove_cvref_t<decltype(t.time_since_epoch().count())>>;
    { t - t } -> std::same_as<std::remove_cvref_t<decltype(t.time_since_epoch())>>;
};

} // namespace straggle::base

namespace straggle::inline STRAGGLE_ABI::detail {

// A length of time as a number: seconds if it knows its unit, otherwise its own unit. Other amounts
// unchanged.
template <base::duration_like Duration>
constexpr double to_time(Duration const& d) noexcept {
    if constexpr (std::is_arithmetic_v<Duration>)
        return static_cast<double>(d);
    else
        return static_cast<double>(d.count()) * static_cast<double>(Duration::period::num) /
               static_cast<double>(Duration::period::den);
}

} // namespace straggle::detail
