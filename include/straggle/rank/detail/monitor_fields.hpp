// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// Private part of `rank/monitor.hpp`: requirements on the fields of its records besides their values.
#pragma once

#include <straggle/base/config.hpp>
#include <straggle/record/attempt.hpp>

#include <cstdint>

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

} // namespace straggle::detail
