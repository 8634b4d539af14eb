// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `monitor/monitor.hpp`: requirements on the fields of its records besides their values.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/record/attempt.hpp>

#include <cstdint>
#include <utility>

namespace straggle::inline STRAGGLE_ABI::detail {

template <class Fields, class Record>
struct end_time {
    using type = std::int64_t;
};
template <class Fields, class Record>
    requires given<decltype(Fields::end)>
struct end_time<Fields, Record> {
    using type = field_value_t<decltype(Fields::end), Record>;
};

// The same fields except the status: all records count as successes.
template <class Fields>
struct fields_of_successes : Fields {
    explicit constexpr fields_of_successes(Fields const& fields) : Fields(fields) {}
    [[no_unique_address]] base::no_field status{};
};

// A value that is reset when it is moved from.
template <class Value>
struct emptied_by_moving {
    Value value{};

    emptied_by_moving() = default;
    emptied_by_moving(emptied_by_moving const&) = default;
    emptied_by_moving(emptied_by_moving&& other) noexcept : value(std::exchange(other.value, {})) {}
    emptied_by_moving& operator=(emptied_by_moving const&) = default;
    emptied_by_moving& operator=(emptied_by_moving&& other) noexcept {
        value = std::exchange(other.value, {});
        return *this;
    }
    ~emptied_by_moving() = default;
};

} // namespace straggle::detail
