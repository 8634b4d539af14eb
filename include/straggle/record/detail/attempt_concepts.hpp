// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `attempt.hpp`: which fields provide a time.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/record/field.hpp>

#include <concepts>
#include <type_traits>

namespace straggle::inline STRAGGLE_ABI::detail {

template <class Fields>
concept fields_aggregate = requires(Fields const& f) {
    f.job;
    f.node;
    f.duration;
    f.start;
    f.end;
    f.status;
    f.task;
    f.input;
};

// Comparing signed with unsigned numbers, or integers with reals, would silently go wrong.
template <class Start, class End>
concept on_one_clock =
    std::is_integral_v<Start> == std::is_integral_v<End> &&
    std::is_signed_v<Start> == std::is_signed_v<End> && requires(Start const& start, End const& end) {
        { end < start } -> std::convertible_to<bool>;
        { end - start } -> base::duration_like;
    };

// Not in all aggregates from which a time is read.
template <class Fields>
concept has_waited = requires { requires given<decltype(Fields::waited)>; };

template <class Fields, class Record>
concept has_duration =
    given<decltype(Fields::duration)> && record::duration_field<decltype(Fields::duration), Record>;
template <class Fields, class Record>
concept has_start_and_end =
    !given<decltype(Fields::duration)> && record::time_field<decltype(Fields::start), Record> &&
    record::time_field<decltype(Fields::end), Record> &&
    on_one_clock<field_value_t<decltype(Fields::start), Record>,
                 field_value_t<decltype(Fields::end), Record>>;

// Both numbers, or both std::chrono::durations.
template <class Fields, class Record>
consteval bool waits_in_unit_of_duration() {
    if constexpr (!has_waited<Fields>) {
        return true;
    } else if constexpr (!record::duration_field<decltype(Fields::waited), Record>) {
        return false;
    } else if constexpr (has_duration<Fields, Record>) {
        return std::is_arithmetic_v<field_value_t<decltype(Fields::waited), Record>> ==
               std::is_arithmetic_v<field_value_t<decltype(Fields::duration), Record>>;
    } else {
        return std::is_arithmetic_v<field_value_t<decltype(Fields::waited), Record>> ==
               std::is_arithmetic_v<field_value_t<decltype(Fields::start), Record>>;
    }
}

} // namespace straggle::detail
